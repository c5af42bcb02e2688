"""similarity(): how alike two runs rank, query by query.

Rankings of dicts are read where they are: a run of thousands of queries is not copied to be compared once.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.columns._dicts import has_integer_documents
from fastir.columns._ids import of_arena
from fastir.concordance._pair import Pair
from fastir.concordance._rankings import ColumnRankings, DictRankings, Rankings
from fastir.concordance.measures import read_measures, values_of
from fastir.errors import FastirWarning, NoOverlapError, quote
from fastir.evaluation.many import name_the_run
from fastir.inputs import dicts
from fastir.inputs.shapes import DICTS, shape_of
from fastir.measure._codes import STATUS_CODES
from fastir.results.report import Report
from fastir.results.results import Results
from fastir.run import Run, as_run
from fastir.text import counted

if TYPE_CHECKING:
    from fastir.run import RunLike


class Side:
    """One of the two runs: its queries, and its rankings."""

    def __init__(self, name: str, given: Any) -> None:
        self.name = name
        try:
            self.open(given)
        except Exception as error:
            name_the_run(error, name)
            raise

    def open(self, given: Any) -> None:
        if shape_of(given, Run) == DICTS:
            self.open_dict(dicts.query_dict(given, "run"))
            return
        run = as_run(given, None, None)
        if "duplicates" in run._repairs:  # the columns may have a document twice, a dict has its largest score
            self.open_dict(run.to_dict())
            return
        ids, offsets, scores = run._columns()
        self.query_ids: dict[Any, None] = dict.fromkeys(run)
        self.integers = ids.integers if run._n_rows else None
        self.rankings: Rankings = ColumnRankings(of_arena(ids), run._places(), offsets, scores)

    def open_dict(self, run: dict[Any, Any]) -> None:
        self.query_ids = dict.fromkeys(run)
        self.integers = has_integer_documents(run)
        self.rankings = DictRankings(run, bool(self.integers))


def similarity(run_a: RunLike, run_b: RunLike, measures: str | Iterable[str] = "rbo") -> Results:
    """Say how alike two runs rank the documents of each query.

    Parameters
    ----------
    run_a, run_b : as for `evaluate`
        Documents with equal scores are tied for ``rbo`` and ``tau``; where a cutoff falls among them, the larger id
        comes first.
    measures : str or iterable of str
        ``rbo`` (extrapolated), ``rbo_min`` and ``rbo_res``, with the parameters ``p`` (0.9) and ``ties``: ``w``, tied
        documents share a place, ``a``, the mean over all orders of them, ``b``, corrected for what ties leave open:
        ``rbo(p=0.95, ties=a)``. ``overlap@k``, ``jaccard@k`` and ``tau@k``; without ``@k`` of whole rankings.

    Returns
    -------
    Results
        For every query of either run, those of `run_a` first. A query that one run lacks has the status "missing" and
        counts as an empty ranking: 0, ``rbo_res`` 1, ``tau`` undefined. **Undefined** values are NaN, and left out of
        means: all if neither ranking has a document, ``tau`` if fewer than two are in common or one run ties them all.

    Raises
    ------
    UnknownMetricError
        There is no such measure or parameter.
    NoOverlapError
        The runs have no query in common.
    FormatError, DuplicateError, TypeError, ValueError, OSError
        As by `evaluate` for runs; the ids of the two are of different kinds.

    Warns
    -----
    FastirWarning
        A run lacks queries of the other.

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
    asked = read_measures(measures)
    a, b = Side("run_a", run_a), Side("run_b", run_b)
    query_ids = list(a.query_ids | b.query_ids)
    missing = np.array([q not in a.query_ids or q not in b.query_ids for q in query_ids], bool)
    check(a, b, query_ids, missing)
    values = np.empty((len(query_ids), len(asked)))
    pair = Pair(a.rankings, b.rankings)
    try:
        for row, query_id in enumerate(query_ids):
            pair.read(query_id)
            values[row] = values_of(asked.values(), pair)
    except Exception as error:
        name_the_run(error, pair.reading)
        raise
    codes = np.where(missing, STATUS_CODES["missing"], STATUS_CODES["evaluated"]).astype(np.uint8)
    report = Report(in_both=int(len(query_ids) - missing.sum()))
    return Results(query_ids, list(asked), values, codes, ["mean"] * len(asked), report)


def check(a: Side, b: Side, query_ids: list[Any], missing: np.ndarray) -> None:
    """The runs must share queries, and their ids must be of one kind; queries that one lacks are said."""
    if missing.all():
        raise NoOverlapError(f"the two runs have no query in common: {first_of(a)} and {first_of(b)}")
    if None not in (a.integers, b.integers) and a.integers != b.integers:
        kinds = (f"{side.name} has ids that are {'int' if side.integers else 'str'}" for side in (a, b))
        raise TypeError(", ".join(kinds) + "; they never match")
    if missing.any():
        n = counted(
            int(missing.sum()), "query is in one run alone, and counts", "queries are in one run alone, and count"
        )
        example = query_ids[int(missing.argmax())]
        warnings.warn(f"{n} as an empty ranking of the other (such as {quote(example)})", FastirWarning, stacklevel=3)


def first_of(side: Side) -> str:
    return quote(next(iter(side.query_ids))) if side.query_ids else "nothing"
