from collections.abc import Callable

from numpy import ndarray

from fastir.engine.columns._ids import Ids
from fastir.engine.join._join import Join
from fastir.engine.join._judged import Judged
from fastir.engine.join._parents import Parents

class Columns(Join):
    def read(
        self, t: int, number: int, queries: Ids, docs: Ids, scores: ndarray, first: int, stop: int
    ) -> tuple[int, int] | None: ...
    def read_run(
        self,
        t: int,
        docs: Ids,
        scores: ndarray | None,
        offsets: ndarray,
        places: ndarray,
        begin: int,
        end: int,
        rows: ndarray | None = None,
    ) -> tuple[int, int, int] | None: ...

def find_duplicates(
    docs: Ids, offsets: ndarray, watch: Callable[[int], object] | None = None
) -> list[tuple[int, int]]: ...
def rows_left(excluded: Judged, parents: Parents | None, docs: Ids, offsets: ndarray, places: ndarray) -> ndarray: ...
def document_rows(
    parents: Parents, docs: Ids, offsets: ndarray, scores: ndarray, query_ids: list[str] | list[int]
) -> tuple[ndarray, tuple[ndarray, ndarray, ndarray], ndarray, int, int]: ...
