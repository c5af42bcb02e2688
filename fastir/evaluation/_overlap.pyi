from collections.abc import Iterable, Sequence
from typing import TypeAlias

from numpy import ndarray

from fastir.evaluation.prepared import Prepared
from fastir.join._counts import Counts

Repairs: TypeAlias = dict[str, tuple[int, str]]

class Overlap:
    prepared: Prepared
    status: ndarray
    tally: Counts
    n_run: int
    run_ids: Sequence[str | int]
    run_repairs: Repairs
    clean: bool
    def __init__(
        self,
        prepared: Prepared,
        status: ndarray,
        tally: Counts,
        n_run: int,
        run_ids: Iterable[str | int],
        run_repairs: Repairs,
    ) -> None: ...
    def all_repairs(self, run_repairs: Repairs) -> Repairs: ...
