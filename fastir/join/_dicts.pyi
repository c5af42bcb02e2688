from typing import Any, TypeAlias

from numpy import ndarray

from fastir.join._join import Tally
from fastir.join._judged import Judged
from fastir.measure._measure import Plan

Kinds: TypeAlias = tuple[type[Any] | None, type[Any] | None]

def count_rest(judged: Judged, plan: Plan, uncounted: bytearray) -> int: ...
def judge_dict(
    judged: Judged,
    jobs: list[tuple[Judged, Plan, ndarray, ndarray, int, bool]],
    run: dict[Any, Any],
    releases_gil: bool = False,
) -> tuple[list[Tally], Kinds]: ...
def judge_alone(
    judged: Judged, plan: Plan, shape: tuple[int, int], status: ndarray, ties: int, single: bool, run: object, most: int
) -> tuple[ndarray, ndarray, Tally, Kinds] | None: ...
def longest_ranking(run: object) -> int: ...
