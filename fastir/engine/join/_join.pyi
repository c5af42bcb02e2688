from numpy import ndarray

from fastir.engine.join._counts import Counts
from fastir.engine.join._judged import Judged
from fastir.engine.join._parents import Parents
from fastir.engine.measure._measure import Plan

class JoinRules:
    single: bool
    only_judged: bool
    once: bool
    parents: Parents | None
    removes: bool
    def __init__(
        self,
        judged: Judged,
        plan: Plan,
        ties: int,
        single: bool,
        only_judged: bool,
        once: bool,
        parents: Parents | None,
        excluded: Judged | None,
    ) -> None: ...

class Join:
    ungrouped: bool
    unknown_queries: dict[bytes, int]
    only_judged: bool
    def __init__(self, rules: JoinRules, values: ndarray, status: ndarray, n_threads: int, integers: bool) -> None: ...
    def rows_met(self) -> list[int]: ...
    def finish(self, rows: list[int] | None = None) -> Counts: ...
