from typing import Any

from numpy import ndarray

from fastir.join._join import Tally
from fastir.join._judged import Judged
from fastir.measure._measure import Plan

def count_rest(judged: Judged, plan: Plan, uncounted: bytearray) -> int: ...
def judge_dict(
    judged: Judged,
    jobs: list[tuple[Judged, Plan, ndarray, ndarray, int, bool]],
    run: dict[Any, Any],
    breathes: bool = False,
) -> tuple[list[tuple[Tally, bytearray]], tuple[type[Any] | None, type[Any] | None]]: ...
def longest_ranking(run: object) -> int: ...
