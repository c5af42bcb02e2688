from typing import Self

from numpy import ndarray

from fastir.engine.measure._measure import Plan
from fastir.engine.threads._blocks import Blocks

WIDTHS: dict[str, int]

class Groups(Blocks):
    def __new__(
        cls,
        plan: Plan,
        labels: ndarray,
        scores: ndarray | None,
        offsets: ndarray,
        ideal: ndarray | None,
        ideal_offsets: ndarray | None,
        values: ndarray,
        status: ndarray,
        level: int,
        limit: int,
        ties: int,
        single: bool,
        levels: ndarray | None = None,
        most: float = 0.0,
    ) -> Self: ...
    def outcome(self) -> tuple[bool, int, int, int, int, int]: ...

# Functions in C only.
