from typing import Self

class Plan:
    n_views: int
    n_slots: int
    reads: int
    judged_only: bool
    max_depth: int
    average: bool
    def __new__(
        cls, views: list, slots: list, reads: int, judged_only: bool, max_depth: int, average: bool
    ) -> Self: ...
