from collections.abc import Callable
from typing import Any

from numpy import ndarray

from fastir.engine.join._join import Join
from fastir.engine.join._judged import Judged
from fastir.engine.join._parents import Parents
from fastir.engine.measure._measure import Plan
from fastir.errors import DuplicateError, FormatError

class Stream(Join):
    path: str
    is_run: bool
    n_rows: int
    repairs: dict[str, tuple[int, str]]
    def __init__(
        self,
        path: str,
        format: Any,
        judged: Judged,
        plan: Plan,
        values: ndarray,
        status: ndarray,
        ties: int,
        single: bool,
        only_judged: bool,
        n_threads: int,
        once: bool,
        parents: Parents | None,
        excluded: Judged | None = None,
    ) -> None: ...
    def read(self, t: int, number: int, block: ndarray, size: int) -> tuple[int, Callable[[int], Exception] | None]: ...

def repeated(
    doc_id: bytes, query_id: bytes, first: int | None, later: int | None, path: str, is_run: bool
) -> DuplicateError: ...
def out_of_memory(before: int) -> MemoryError: ...
def repeated_in_block(
    doc_id: bytes, query_id: bytes, first: int, later: int, path: str, before: int
) -> DuplicateError: ...
def as_it_is(error: Exception, before: int) -> Exception: ...
def wrong_in_block(message: str, path: str, line: int, column: int | None, shown: str, before: int) -> FormatError: ...
