from numpy import ndarray

from fastir._judged import Judged
from fastir._measure import Plan
from fastir.errors import DuplicateError

class Stream:
    path: str
    is_run: bool
    ungrouped: bool
    foreign: dict[bytes, None]
    n_rows: int
    repairs: dict[str, tuple[int, str]]
    def __init__(
        self, path: str, judged: Judged, plan: Plan, values: ndarray, status: ndarray, ties: int, single: bool,
        n_threads: int,
    ) -> None: ...
    def feed(self, chunk: ndarray, size: int, last: bool) -> int: ...
    def finish(self) -> tuple[int, int, int, int, int, int, int]: ...

def repeated(doc_id: bytes, query_id: bytes, first: int, later: int, path: str) -> DuplicateError: ...
