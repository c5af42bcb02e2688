from typing import Self

from fastir.engine.measure._grades import Grades, Rows
from fastir.engine.measure.views import Slot, View

class Plan:
    n_views: int
    n_slots: int
    reads: int
    judged_only: bool
    max_depth: int
    average: bool
    def __new__(
        cls,
        views: list[View],
        slots: list[Slot],
        reads: int,
        judged_only: bool,
        max_depth: int,
        average: bool,
        grades: Grades | Rows | None = None,
    ) -> Self: ...

# Functions in C only.
