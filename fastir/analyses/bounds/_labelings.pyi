from typing import Self

from numpy import ndarray

from fastir.engine.measure._measure import Plan
from fastir.engine.rank._judged_ranks import Rows

UNJUDGED: int

class Labelings(Rows):
    def __new__(
        cls,
        plan: Plan,
        offsets: ndarray,
        ranks: ndarray,
        labels: ndarray,
        num_ret: ndarray,
        unseen: ndarray,
        judged_offsets: ndarray,
        judged_labels: ndarray,
        rows: ndarray,
        from_top: ndarray,
        counts: ndarray,
        inside: ndarray,
        below: ndarray,
        order: ndarray,
        starts: ndarray,
        unjudged_labels: ndarray,
        values: ndarray,
    ) -> Self: ...
