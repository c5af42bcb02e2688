from numpy import ndarray

from fastir.engine.measure._measure import Plan
from fastir.engine.threads._blocks import Blocks

class Matrix(Blocks):
    def __init__(
        self,
        plan: Plan,
        scores: ndarray,
        single: bool,
        ties: int,
        items: ndarray,
        labels: ndarray | None,
        offsets: ndarray,
        excluded: ndarray,
        excluded_offsets: ndarray,
        values: ndarray,
        status: ndarray,
        counts: ndarray,
        level: int,
    ) -> None: ...
    def problem(self) -> tuple[int, int, int] | None: ...
