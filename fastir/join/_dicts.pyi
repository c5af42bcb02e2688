from typing import Any

from numpy import ndarray

from fastir.join._join import Tally
from fastir.join._judged import Judged
from fastir.measure._measure import Plan

def count_rest(judged: Judged, plan: Plan, rankings: dict[int, dict[Any, Any]]) -> int: ...
def judge_dict(
    judged: Judged, plan: Plan, run: dict[Any, Any], values: ndarray, status: ndarray, ties: int, single: bool
) -> tuple[Tally, dict[int, dict[Any, Any]], tuple[type[Any] | None, type[Any] | None]]: ...
