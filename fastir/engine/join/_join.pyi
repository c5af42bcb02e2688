from numpy import ndarray

from fastir.engine.join._counts import Counts
from fastir.engine.join._judged import Judged
from fastir.engine.join._parents import Parents
from fastir.engine.measure._measure import Plan

class Join:
    removes: bool
    ungrouped: bool
    unknown_queries: dict[bytes, int]
    only_judged: bool
    def __init__(
        self,
        judged: Judged,
        plan: Plan,
        values: ndarray,
        status: ndarray,
        ties: int,
        single: bool,
        only_judged: bool,
        n_threads: int,
        integers: bool = False,
        once: bool = False,
        parents: Parents | None = None,
        excluded: Judged | None = None,
    ) -> None: ...
    def rows_met(self) -> list[int]: ...
    def finish(self, rows: list[int] | None = None) -> Counts: ...
