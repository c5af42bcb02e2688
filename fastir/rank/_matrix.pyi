from numpy import ndarray

from fastir.measure._measure import Plan

class Matrix:
    def __init__(
        self,
        plan: Plan,
        n_columns: int,
        single: bool,
        ties: int,
        items: ndarray,
        labels: ndarray | None,
        excluded: ndarray,
        n_threads: int,
    ) -> None: ...
    def read(
        self,
        t: int,
        scores: ndarray,
        offsets: ndarray,
        excluded: ndarray,
        values: ndarray,
        status: ndarray,
        counts: ndarray,
        level: int,
    ) -> tuple[int, int, int] | None: ...
