"""similarity(): how alike two runs rank, query by query.

Rankings of dicts are read where they are: a run of thousands of queries is not copied to be compared once.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.columns._dicts import is_plain
from fastir.columns.ids import is_integer
from fastir.concordance.measures import Paired, read_measures, values_of
from fastir.errors import FastirWarning, NoOverlapError, quote
from fastir.inputs import dicts
from fastir.measure._codes import STATUS_CODES
from fastir.results.report import Report
from fastir.results.results import Results
from fastir.run import Run, as_run
from fastir.text import counted

if TYPE_CHECKING:
    from fastir.run import RunLike

Ranking = tuple[list[Any], np.ndarray]  # ids in rank order, and their scores


class Side:
    """One of the two runs: its rankings by query."""

    def __init__(self, name: str, given: Any) -> None:
        self.name = name
        plain = type(given) is dict and all(type(ranking) is dict for ranking in given.values())
        self.dicts: dict[Any, dict[Any, Any]] | None = dicts.query_dict(given, name) if plain else None
        self.run: Run | None = None
        if self.dicts is not None:
            first = next((doc_id for ranking in self.dicts.values() for doc_id in ranking), "")
            self.integers = is_integer(first)
            if not all(is_plain(ranking, self.integers) for ranking in self.dicts.values()):
                self.dicts = None
        if self.dicts is None:
            self.run = as_run(given, None, None)
            self.integers = self.run.columns()[0].integers
        self.query_ids: dict[Any, None] = dict.fromkeys(self.run if self.run is not None else self.dicts or ())

    def ranking(self, query_id: Any) -> Ranking:
        """As `evaluate` ranks it: ties by id, the larger first; nothing for a query that the run lacks."""
        ranking = (self.dicts or {}).get(query_id, {}) if self.run is None else {}
        if self.run is not None and query_id in self.query_ids:
            ranking = self.run[query_id]
        ids, scores = list(ranking), np.fromiter(ranking.values(), float, len(ranking))
        if len(ids) > 1 and (scores[1:] < scores[:-1]).all():
            return ids, scores
        if np.isnan(scores).any():
            document = ids[int(np.isnan(scores).argmax())]
            raise ValueError(f"{self.name}: the score is NaN, not a number (query {query_id}, document {document})")
        ordered = sorted(zip(scores.tolist(), map(str, ids), ids, strict=True), reverse=True)
        return [doc_id for _, _, doc_id in ordered], np.array([score for score, _, _ in ordered])


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
    for row, query_id in zip(values, query_ids, strict=True):
        (ids_a, scores_a), (ids_b, scores_b) = a.ranking(query_id), b.ranking(query_id)
        places = dict(zip(ids_b, range(len(ids_b)), strict=True))
        place = np.fromiter(map(places.get, ids_a, itertools.repeat(-1)), np.int64, len(ids_a))
        row[:] = values_of(asked.values(), Paired(scores_a, scores_b, place))
    codes = np.where(missing, STATUS_CODES["missing"], STATUS_CODES["evaluated"]).astype(np.uint8)
    report = Report(in_both=int(len(query_ids) - missing.sum()))
    return Results(query_ids, list(asked), values, codes, ["mean"] * len(asked), report)


def check(a: Side, b: Side, query_ids: list[Any], missing: np.ndarray) -> None:
    """The runs must share queries, and their ids must be of one kind; queries that one lacks are said."""
    if missing.all():
        raise NoOverlapError(f"the two runs have no query in common: {first_of(a)} and {first_of(b)}")
    if a.integers != b.integers:
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
