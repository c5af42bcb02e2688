from numpy import ndarray

from fastir.engine.measure._measure import Plan
from fastir.engine.threads._blocks import Blocks

class TopK(Blocks):
    def __init__(
        self,
        plan: Plan,
        rows: ndarray,
        scores: ndarray | None,
        single: bool,
        ties: int,
        items: ndarray,
        labels: ndarray | None,
        offsets: ndarray,
        values: ndarray,
        status: ndarray,
        counts: ndarray,
        level: int,
    ) -> None: ...
    def problem(self) -> tuple[int, int, int] | None: ...

# Functions in C only.
