from typing import Self

from numpy import ndarray

from fastir.engine.columns.ids import Arena

class Judged:
    query_ids: list[str] | list[int]
    n_queries: int
    def __new__(
        cls, query_ids: list[str] | list[int], doc_ids: list[str] | list[int] | Arena, offsets: ndarray, labels: ndarray
    ) -> Self: ...
    def top_labels(self) -> list[tuple[int, int, str]]: ...
    def status(self, level: int) -> ndarray: ...
    def rows_by_query(self) -> dict[str, int]: ...
