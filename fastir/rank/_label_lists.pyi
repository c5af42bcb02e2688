from typing import Self

from numpy import ndarray

from fastir.measure._measure import Plan

class Groups:
    def __new__(
        cls,
        plan: Plan,
        labels: ndarray,
        scores: ndarray | None,
        offsets: ndarray,
        ideal: ndarray | None,
        ideal_offsets: ndarray | None,
        table: ndarray | None,
        values: ndarray,
        status: ndarray,
        level: int,
        limit: int,
        ties: int,
        single: bool,
    ) -> Self: ...
    def stop_after(self, start: int, rows: int) -> int: ...
    def measure(self, start: int, stop: int) -> tuple[bool, int, int, int]: ...
