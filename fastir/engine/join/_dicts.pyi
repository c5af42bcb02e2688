from typing import Any, TypeAlias

from numpy import ndarray

from fastir.engine.join._counts import Counts
from fastir.engine.join._judged import Judged
from fastir.engine.measure._measure import Plan

_Kinds: TypeAlias = tuple[type[Any] | None, type[Any] | None]

def count_rest(judged: Judged, plan: Plan, uncounted: bytearray) -> int: ...
def judge_dict(
    judged: Judged,
    jobs: list[tuple[Judged, Plan, ndarray, ndarray, int, bool]],
    run: dict[Any, Any],
    releases_gil: bool = False,
    rows: list[int] | None = None,
) -> tuple[list[Counts], _Kinds]: ...
def judge_alone(
    judged: Judged,
    plan: Plan,
    shape: tuple[int, int],
    status: ndarray,
    ties: int,
    single: bool,
    run: object,
    most: int,
    min_missing: int,
    exclusions: list[frozenset[Any]] | None = None,
) -> tuple[ndarray, ndarray, Counts, _Kinds, list[int] | None] | None: ...
def is_few(judged: Judged, n_run: int, min_missing: int) -> bool: ...
def rows_if_few(judged: Judged, run: dict[Any, Any], min_missing: int) -> list[int] | None: ...
def longest_ranking(run: object) -> int: ...
