from numpy import ndarray

from fastir._measure import Plan

KINDS: tuple[str, ...]
PROBLEMS: tuple[str, ...]

def measure_rows(
    plan: Plan, labels: ndarray, scores: ndarray | None, offsets: ndarray, ideal: ndarray | None,
    ideal_offsets: ndarray | None, table: ndarray | None, values: ndarray, status: ndarray, level: int, limit: int,
    ties: int, single: bool, n_threads: int,
) -> tuple[str, int, int, int]: ...
