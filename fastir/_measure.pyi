from typing import Self

from numpy import ndarray

class Plan:
    n_views: int
    n_slots: int
    reads: int
    judged_only: bool
    max_depth: int
    def __new__(
        cls, views: list, slots: list, reads: int, judged_only: bool, max_depth: int
    ) -> Self: ...

def pause_threads() -> None: ...
