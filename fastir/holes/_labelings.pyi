from typing import Self

from numpy import ndarray

from fastir.measure._measure import Plan
from fastir.threads._blocks import Blocks

HOLE: int

class Labelings(Blocks):
    def __new__(
        cls,
        plan: Plan,
        offsets: ndarray,
        ranks: ndarray,
        labels: ndarray,
        num_ret: ndarray,
        unseen: ndarray,
        known_offsets: ndarray,
        known_labels: ndarray,
        rows: ndarray,
        from_top: ndarray,
        counts: ndarray,
        inside: ndarray,
        below: ndarray,
        order: ndarray,
        values: ndarray,
    ) -> Self: ...
    def check(self) -> None: ...
