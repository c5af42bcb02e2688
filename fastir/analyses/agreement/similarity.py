"""similarity(): how alike two runs rank, query by query.

Rankings of dicts are read where they are: a run of thousands of queries is not copied to be compared once.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, SupportsFloat, overload

import numpy as np

from fastir.analyses.agreement._ranking_pair import RankingPair
from fastir.analyses.agreement._rankings import ColumnRankings, DictRankings, Rankings
from fastir.analyses.agreement.measures import is_measure, pair_values, read_measures
from fastir.checks import number
from fastir.data.results.by_run import ResultsByRun
from fastir.data.results.report import Report
from fastir.data.results.results import Results
from fastir.data.run import Run, as_run
from fastir.engine.columns._dicts import has_integer_documents
from fastir.engine.columns._ids import ids_from_arena
from fastir.engine.measure._codes import STATUS_CODES
from fastir.errors import NoOverlapError, quote, warn_caller
from fastir.evaluation.drivers.min_score import without_low
from fastir.evaluation.run_collections import name_the_run, read_runs
from fastir.inputs import dicts
from fastir.inputs.shapes import DICTS, input_shape
from fastir.rendering.look_alikes import quote_first
from fastir.rendering.text import counted

if TYPE_CHECKING:
    from fastir.data.run import RunLike, RunsLike


class Side:
    """One of the two runs: its queries, and its rankings."""

    def __init__(self, name: str, run: Any, min_score: SupportsFloat | None) -> None:
        self.name = name
        try:
            self.open(
                run if min_score is None else without_low(as_run(run, None, None), number("min_score", min_score))
            )
        except Exception as error:
            name_the_run(error, name)
            raise

    def open(self, run_like: Any) -> None:
        if input_shape(run_like, Run) == DICTS:
            self.open_dict(dicts.query_dict(run_like, "run"))
            return
        run = as_run(run_like, None, None)
        if "duplicates" in run.columns.repairs:  # the columns may have a document twice, a dict has its largest score
            self.open_dict(run.to_dict())
            return
        ids, offsets, scores = run.columns.arrays()
        self.query_ids: dict[Any, None] = dict.fromkeys(run)
        self.integers = ids.integers if run.columns.n_rows else None
        self.rankings: Rankings = ColumnRankings(ids_from_arena(ids), run.columns.places(), offsets, scores)

    def open_dict(self, run: dict[Any, Any]) -> None:
        self.query_ids = dict.fromkeys(run)
        self.integers = has_integer_documents(run)
        self.rankings = DictRankings(run, bool(self.integers))


@overload
def similarity(
    a: RunLike, b: RunLike, metrics: str | Iterable[str] = "rbo", *, min_score: SupportsFloat | None = None
) -> Results: ...


@overload
def similarity(
    a: RunsLike, b: None = None, metrics: str | Iterable[str] = "rbo", *, min_score: SupportsFloat | None = None
) -> ResultsByRun: ...


def similarity(
    a: Any, b: Any = None, metrics: str | Iterable[str] = "rbo", *, min_score: SupportsFloat | None = None
) -> Results | ResultsByRun:
    """Measure how similarly two runs, or every two of several runs, rank the documents of each query.

    Parameters
    ----------
    a, b : as for `evaluate`
        Two runs. If `b` is None, `a` has several runs, as for `evaluate_many`.
        Documents with equal scores are tied for ``rbo`` and ``tau``. If a cutoff falls among them, the larger id comes
        first.
    metrics : str or iterable of str
        ``rbo`` (extrapolated), ``rbo_min`` and ``rbo_res``, with the parameters ``p`` (0.9) and ``ties``, as in
        ``rbo(p=0.95, ties=a)``. ``ties=w``: tied documents share a rank. ``ties=a``: each counts by the fraction of
        the tie's orders that rank it so high. ``ties=b``: as ``a``, corrected for the information that ties lose.
        ``overlap@k``, ``jaccard@k`` and ``tau@k``; without ``@k`` they compare whole rankings.
    min_score : float or None
        As for `evaluate`.

    Returns
    -------
    Results, or ResultsByRun with the names "a, b" if `b` is None
        For every query of either run, `a`'s queries first. A query that is missing from one run has the status
        "missing" and counts as an empty ranking: values are 0, ``rbo_res`` is 1, ``tau`` is undefined. **Undefined**
        values are NaN and left out of means: all metrics if neither ranking has a document; ``tau`` if the rankings
        have fewer than two documents in common, or one run ties all of these.

    Raises
    ------
    UnknownMetricError
        A metric or parameter does not exist.
    NoOverlapError
        The runs have no query in common.
    FormatError, DuplicateError, TypeError, ValueError, OSError
        As by `evaluate` for runs; or the ids of the two runs differ in type.

    Warns
    -----
    FastirWarning
        A run has no ranking for a query of the other run.

    Examples
    --------
    >>> import fastir
    >>> bm25 = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}}
    >>> dense = {"q1": {"b": 0.9, "a": 0.8, "d": 0.7}}
    >>> fastir.similarity(bm25, dense, ["rbo", "rbo_min", "rbo_res", "overlap@2", "jaccard"])
    rbo        0.6300
    rbo_min    0.3117
    rbo_res    0.5613
    overlap@2  1.0000
    jaccard    0.5000
    1 query
    """
    if isinstance(b, str) and is_measure(b):  # similarity(runs, "rbo")
        metrics, b = b, None
    measures = read_measures(metrics)
    if b is None:
        runs = read_runs(a, min_score=min_score)
        if len(runs) < 2:
            raise ValueError(f"similarity compares two runs or more, got {len(runs)}")
        pairs = itertools.combinations(runs, 2)
        return ResultsByRun((f"{x}, {y}", similarity(runs[x], runs[y], list(measures))) for x, y in pairs)
    one, other = Side("a", a, min_score), Side("b", b, min_score)
    query_ids = list(one.query_ids | other.query_ids)
    missing = np.array([q not in one.query_ids or q not in other.query_ids for q in query_ids], bool)
    check(one, other, query_ids, missing)
    values = np.empty((len(query_ids), len(measures)))
    pair = RankingPair(one.rankings, other.rankings)
    try:
        for row, query_id in enumerate(query_ids):
            pair.read(query_id)
            values[row] = pair_values(measures.values(), pair)
    except Exception as error:
        name_the_run(error, pair.reading)
        raise
    codes = np.where(missing, STATUS_CODES["missing"], STATUS_CODES["evaluated"]).astype(np.uint8)
    report = Report(in_both=int(len(query_ids) - missing.sum()))
    return Results(query_ids, list(measures), values, codes, ["mean"] * len(measures), report)


def check(a: Side, b: Side, query_ids: list[Any], missing: np.ndarray) -> None:
    """Refuse runs that share no query or have ids of two kinds; warn of queries that are missing from one run."""
    if missing.all():
        one, other = quote_first(a.query_ids, b.query_ids)
        raise NoOverlapError(f"the two runs have no query in common: {one} and {other}")
    if None not in (a.integers, b.integers) and a.integers != b.integers:
        kinds = (f"run {quote(side.name)} has ids that are {'int' if side.integers else 'str'}" for side in (a, b))
        raise TypeError(", ".join(kinds) + "; they never match")
    if missing.any():
        n = counted(
            int(missing.sum()), "query is in one run alone, and counts", "queries are in one run alone, and count"
        )
        example = query_ids[int(missing.argmax())]
        warn_caller(f"{n} as an empty ranking of the other (such as {quote(example)})")
