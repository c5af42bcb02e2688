from collections.abc import Callable

from numpy import ndarray

from fastir._judged import Judged
from fastir._measure import Plan

def judge_columns(
    judged: Judged, plan: Plan, arena: ndarray, starts: ndarray, lengths: ndarray, scores: ndarray, offsets: ndarray,
    places: ndarray, values: ndarray, status: ndarray, ties: int, single: bool, n_threads: int,
    watch: Callable[[int], object] | None = None,
) -> tuple[int, int, int, int, int, int, int]: ...
def find_duplicates(
    arena: ndarray, starts: ndarray, lengths: ndarray, offsets: ndarray, watch: Callable[[int], object] | None = None
) -> list[tuple[int, int]]: ...
