from collections.abc import Mapping

from numpy import ndarray

from fastir._measure import Plan

Counts = tuple[int | None, int, int, int, int, int, int]

class Judged:
    query_ids: list[str]
    n_queries: int
    def __init__(
        self, query_ids: list[str], doc_ids: list[str], order: ndarray, row_offsets: ndarray, row_labels: ndarray
    ) -> None: ...
    def top_labels(self) -> list[tuple[int, int, str]]: ...
    def relevant_status(self, level: int, status: ndarray) -> None: ...
    def prepare_bytes(self) -> None: ...

def encode(text: str) -> bytes: ...
def plain_scores(query_id: str, ranking: Mapping) -> dict[str, float]: ...
def judge_dict(
    judged: Judged, plan: Plan, run: dict, values: ndarray, status: ndarray, ties: int, single: bool
) -> Counts: ...
def judge_columns(
    judged: Judged, plan: Plan, arena: ndarray, starts: ndarray, lengths: ndarray, scores: ndarray, row_offsets: ndarray,
    places: ndarray, values: ndarray, status: ndarray, ties: int, single: bool, n_threads: int,
) -> Counts: ...
def find_duplicates(
    arena: ndarray, starts: ndarray, lengths: ndarray, row_offsets: ndarray
) -> list[tuple[int, int]]: ...
