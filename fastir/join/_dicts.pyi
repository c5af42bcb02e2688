from typing import Any

from numpy import ndarray

from fastir.join._join import Tally
from fastir.join._judged import Judged
from fastir.measure._measure import Plan

def count_rest(judged: Judged, plan: Plan, uncounted: bytearray) -> int: ...
def judge_dict(
    judged: Judged,
    plan: Plan,
    run: dict[Any, Any],
    values: ndarray,
    status: ndarray,
    ties: int,
    single: bool,
    breathes: bool = False,
) -> tuple[Tally, bytearray, tuple[type[Any] | None, type[Any] | None]]: ...
def longest_ranking(run: dict[Any, Any]) -> int: ...
