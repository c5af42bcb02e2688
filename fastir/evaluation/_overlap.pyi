from collections.abc import Iterable, Sequence

from numpy import ndarray

from fastir.evaluation.coverage import Counts, Repairs
from fastir.evaluation.prepared import Prepared
from fastir.join._join import Tally

class Overlap:
    prepared: Prepared
    status: ndarray
    tally: Tally | Counts
    n_run: int
    run_ids: Sequence[str | int]
    run_repairs: Repairs
    clean: bool
    def __init__(
        self,
        prepared: Prepared,
        status: ndarray,
        tally: Tally | Counts,
        n_run: int,
        run_ids: Iterable[str | int],
        run_repairs: Repairs,
    ) -> None: ...
    def all_repairs(self, run_repairs: Repairs) -> Repairs: ...
