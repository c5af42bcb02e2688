from numpy import ndarray

from fastir.engine.columns._ids import Ids
from fastir.engine.join._judged import Judged

class QueryFinder:
    def __init__(
        self, judged: Judged, integer_queries: bool, integer_docs: bool, excluded: Judged | None = None
    ) -> None: ...

class FirstPass(QueryFinder):
    def probe(
        self,
        queries: Ids,
        docs: Ids,
        numbers: ndarray,
        scores: ndarray,
        num_ret: ndarray,
        sums: ndarray,
        again: ndarray,
        once: bool,
        left: ndarray | None = None,
    ) -> tuple[int, int]: ...
    def unknown_queries(self) -> set[bytes]: ...

class SecondPass(QueryFinder):
    def __init__(
        self,
        judged: Judged,
        integer_queries: bool,
        integer_docs: bool,
        scores: ndarray,
        ties: int,
        single: bool,
        reads: int,
        excluded: Judged | None = None,
    ) -> None: ...
    def count(
        self,
        queries: Ids,
        docs: Ids,
        numbers: ndarray,
        num_ret: ndarray,
        sums: ndarray,
        before: ndarray,
        alike: ndarray,
    ) -> None: ...
    def ranked(self, before: ndarray, alike: ndarray) -> tuple[ndarray, ndarray, ndarray, ndarray]: ...
