"""The option `min_score`: rows whose score is below it are not retrieved.

The kernels leave such rows out where they read them, with `Settings.least`, and count them; `retrieved` makes a Run
without them for what reads all documents of a run itself. A query keeps its ranking if nothing is left of it: it is an
empty one, and not missing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.data.run import Run, as_run
from fastir.engine.columns.rows import LOW, list_of_each, select
from fastir.errors import quote

if TYPE_CHECKING:
    from fastir.inputs.files import Watch
    from fastir.request.plan import Settings

RANKS_TEXT = " needs scores, and the run has ranks: "


def retrieved(
    run: Any, settings: Settings, columns: Mapping[str, str] | None = None, watch: Watch | None = None
) -> Any:
    """A run without the rows whose score is below the option `min_score`."""
    if settings.least == -math.inf:
        return run
    held = as_run(run, columns, settings.options.duplicates, None, settings.lines, watch=watch)
    of_scores = type(run) is dict and all(type(ranking) is dict for ranking in run.values())
    return without_low(held, settings.least, of_scores)


def without_low(held: Run, least: float, of_scores: bool = False) -> Run:
    """A Run without the rows whose score is below `least`; unless it is known to be `of_scores`, ranks are refused."""
    if least == -math.inf:
        return held
    if not of_scores:
        refuse_ranks(held)
    kept = held.columns.numbers >= least
    if kept.all():
        return held
    remaining = select(held, list(range(len(held))), kept)
    first = list_of_each(held.columns.offsets)[int(kept.argmin())]
    low = {LOW: (int((~kept).sum()), f"query {held.columns.query_ids[first]}")}
    remaining.columns.repairs = {**held.columns.repairs, **low}
    return remaining


def refuse_ranks(run: Run, option: str = "min_score") -> None:
    """Refuse a Run of ranks beside an option: scores -1, -2, ... of a table or a file, or n, n - 1, ..., 1 of lists."""
    scores, offsets = run.columns.numbers, run.columns.offsets
    owners, full = list_of_each(offsets), np.diff(offsets) > 0
    if not len(scores) or (scores != np.trunc(scores)).any() or len(scores) == full.sum():
        return
    best = np.maximum.reduceat(scores, offsets[:-1][full])
    order = np.lexsort((scores, owners))
    distinct = ((np.diff(owners[order]) > 0) | (np.diff(scores[order]) > 0)).all()
    backwards = offsets[1:][owners] - np.arange(len(scores))
    if (distinct and ((best == -1) | (best == 0)).all()) or (scores == backwards).all():
        query = run.columns.query_ids[int(owners[0])]
        raise ValueError(
            f"{option}{RANKS_TEXT}the first row of query {quote(query)} has {scores[0]:g}, as made of a rank; if these "
            "are scores, add 0.5 to them, and to min_score"
        )
