from typing import Self

from numpy import ndarray

from fastir.engine.measure._measure import Plan
from fastir.engine.threads._blocks import Blocks

class Rows(Blocks):
    def check(self) -> None: ...

class JudgedRanks(Rows):
    def __new__(
        cls,
        plan: Plan,
        offsets: ndarray,
        ranks: ndarray,
        labels: ndarray,
        num_ret: ndarray,
        ideal_offsets: ndarray,
        ideal_labels: ndarray,
        values: ndarray,
    ) -> Self: ...
