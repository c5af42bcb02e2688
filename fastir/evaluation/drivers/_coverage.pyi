from collections.abc import Iterable, Sequence
from typing import TypeAlias

from numpy import ndarray

from fastir.engine.join._counts import Counts
from fastir.evaluation.drivers.prepared import PreparedQrels

_Repairs: TypeAlias = dict[str, tuple[int, str]]

class Overlap:
    prepared: PreparedQrels
    rows: list[int] | None
    counts: Counts
    n_run: int
    run_ids: Sequence[str | int]
    run_repairs: _Repairs
    is_complete: bool
    def __init__(
        self,
        prepared: PreparedQrels,
        status: ndarray,
        counts: Counts,
        n_run: int,
        run_ids: Iterable[str | int],
        run_repairs: _Repairs,
        rows: list[int] | None = None,
    ) -> None: ...
    @property
    def status(self) -> ndarray: ...
    def all_repairs(self, run_repairs: _Repairs) -> _Repairs: ...
