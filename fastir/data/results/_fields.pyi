from collections.abc import Callable, Iterable, Sequence
from typing import Any

from numpy import ndarray

from fastir.data.results.report import Report
from fastir.request.provenance import Provenance

class Fields:
    _query_ids: Sequence[Any]
    _names: Sequence[str]
    _values: ndarray
    _late_values: Any  # a function with a method `mean(column, how)`, or None
    _status_codes: ndarray
    _aggregates: Sequence[str]
    _weights: dict[Any, float] | None
    _report: Report | Callable[[], Report]
    _provenance: Provenance | Callable[[], Provenance] | None
    def __init__(
        self,
        query_ids: Sequence[str] | Sequence[int],
        names: Sequence[str],
        values: ndarray | Callable[[], ndarray],
        status_codes: ndarray | Callable[[], ndarray],
        aggregates: Sequence[str],
        report: Report | Callable[[], Report],
        weights: dict[Any, float] | None = None,
        provenance: Provenance | Callable[[], Provenance] | None = None,
    ) -> None: ...
    def keys(self) -> list[str]: ...
    def __getitem__(self, name: str, /) -> float: ...

def status_codes(fields: Fields) -> ndarray: ...
def row_dicts(
    query_ids: Sequence[Any], row: dict[str, float], keys: Iterable[str], values: ndarray
) -> dict[Any, dict[str, float]]: ...
