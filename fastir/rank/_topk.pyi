from numpy import ndarray

from fastir.measure._measure import Plan

class TopK:
    def __init__(
        self, plan: Plan, width: int, ties: int, items: ndarray, labels: ndarray | None, n_threads: int
    ) -> None: ...
    def read(
        self,
        t: int,
        rows: ndarray,
        scores: ndarray | None,
        offsets: ndarray,
        values: ndarray,
        status: ndarray,
        counts: ndarray,
        level: int,
    ) -> tuple[int, int, int] | None: ...
