"""How the value of each ranking would change if one more document were judged: exact, for any metric.

A metric follows from the ranks and labels of judged documents (`JudgedRankings`). So each ranking is evaluated as it
is, with a relevant document more that it lacks, and with each of its candidates among the judged documents.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from fastir.pools.judgment_ranks import Numbered
from fastir.rankings import JudgedRankings
from fastir.results.report import Report

MOST_ENTRIES = 1 << 20  # of the rankings that are evaluated together: such arrays stay in the caches


class Changes:
    """What one more document with a label brings.

    A ranking has the place of its query times the number of runs, plus that of its run; so those of a query stand
    together.

    Parameters
    ----------
    numbered : Numbered
        Judgments and candidates, which have negative labels.
    runs : names of runs
    label : int
    metric, options
        As for `JudgedRankings.evaluate`.

    Attributes
    ----------
    lacking : float64 array of shape (n_queries, n_runs)
        By how much a document that a ranking lacks changes its value.
    rankings, ranks, candidates : int64 arrays of shape (n,)
        Which rankings have which candidates at which ranks, one ranking after the other.
    having : float64 array of shape (n,)
        By how much each of these changes the value of its ranking.
    """

    query_ids: list[Any]
    n_runs: int
    num_ret: np.ndarray
    metric: str
    options: Mapping[str, Any]
    all_ranks: np.ndarray
    all_labels: np.ndarray
    judged: np.ndarray
    own: np.ndarray
    offsets: np.ndarray
    before: np.ndarray
    rankings: np.ndarray
    ranks: np.ndarray
    candidates: np.ndarray
    lacking: np.ndarray
    having: np.ndarray

    def __init__(
        self, numbered: Numbered, runs: Iterable[Hashable], label: int, metric: str, options: Mapping[str, Any]
    ) -> None:
        ranked = [numbered.ranked.get(name) for name in runs]
        shape = len(numbered.judgments), len(ranked)
        self.query_ids, self.n_runs, self.num_ret = list(numbered.judgments), len(ranked), num_ret_of(ranked, shape)
        self.metric, self.options = metric, options
        rankings, self.all_ranks, numbers = together(ranked)
        judged = numbered.labels[numbers] >= 0
        self.all_labels = np.where(judged, numbered.labels[numbers], np.int32(label))
        self.judged, self.own = np.flatnonzero(judged), np.flatnonzero(~judged)
        self.offsets = np.searchsorted(rankings[judged], np.arange(len(self.num_ret) + 1))
        self.before = np.cumsum(judged)[self.own]
        self.rankings, self.ranks = rankings[self.own], self.all_ranks[self.own]
        self.candidates = (np.cumsum(numbered.labels < 0) - 1)[numbers[self.own]]
        known = [[label for label in own.values() if label >= 0] for own in numbered.judgments.values()]
        ideals, more = ([falling(own + extra) for own in known] for extra in ([], [label]))
        every = np.arange(len(self.num_ret))
        values = self.values(every, self.offsets, self.judged, ideals)
        self.lacking = (self.values(every, self.offsets, self.judged, more) - values).reshape(shape)
        parts = [self.values(self.rankings[part], *self.inserted(part), more) for part in self.batches(more)]
        self.having = np.concatenate([np.empty(0), *parts]) - values[self.rankings]

    def batches(self, ideals: list[np.ndarray]) -> list[slice]:
        """The candidates of rankings, in parts that need about as much memory."""
        sizes = np.array(list(map(len, ideals)))[self.rankings // self.n_runs] + np.diff(self.offsets)[self.rankings]
        ends = np.flatnonzero(np.diff(np.cumsum(sizes) // MOST_ENTRIES, append=-1)) + 1
        return list(itertools.starmap(slice, itertools.pairwise([0, *ends.tolist()])))

    def inserted(self, part: slice) -> tuple[np.ndarray, np.ndarray]:
        """The offsets and rows of rankings, each with one candidate among its judged documents."""
        first = self.offsets[self.rankings[part]]
        sizes = self.offsets[self.rankings[part] + 1] - first
        offsets = np.append(0, np.cumsum(sizes))
        shift = offsets[:-1] - first
        copied = self.judged[np.arange(offsets[-1]) - np.repeat(shift, sizes)]
        rows = np.insert(copied, self.before[part] + shift, self.own[part])
        return offsets + np.arange(len(offsets)), rows

    def values(
        self, rankings: np.ndarray, offsets: np.ndarray, rows: np.ndarray, ideals: list[np.ndarray]
    ) -> np.ndarray:
        """The value of each; NaN, where the metric is undefined, counts as 0, which it would be in no other list."""
        queries, times = (found.tolist() for found in np.unique(rankings // self.n_runs, return_counts=True))
        repeated = [np.broadcast_to(ideals[q], (n, len(ideals[q]))) for q, n in zip(queries, times, strict=True)]
        sizes = np.repeat([ideal.shape[1] for ideal in repeated], times)
        arrays = {
            "offsets": offsets,
            "ranks": self.all_ranks[rows],
            "labels": self.all_labels[rows],
            "num_ret": self.num_ret[rankings],
            "ideal_offsets": np.append(0, np.cumsum(sizes)),
            "ideal_labels": np.concatenate([ideal.ravel() for ideal in repeated]),
            "missing": np.zeros(len(rankings), bool),
        }
        query_ids = [self.query_ids[q] for q, n in zip(queries, times, strict=True) for _ in range(n)]
        report = Report(in_both=len(rankings))
        made = JudgedRankings._of(query_ids, arrays, None, None, None, report)  # right as made here
        return np.nan_to_num(made.evaluate(self.metric, **self.options).values[:, 0], nan=0.0)


def num_ret_of(ranked: list[JudgedRankings | None], shape: tuple[int, int]) -> np.ndarray:
    """How many documents each ranking has; None is a run that has no query of the judgments."""
    columns = [np.zeros(shape[0], np.int64) if own is None else own.num_ret for own in ranked]
    return np.column_stack(columns).ravel()


def together(ranked: list[JudgedRankings | None]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rankings, ranks and numbers of all runs, one ranking after the other."""
    parts = [
        (np.repeat(np.arange(len(own)), np.diff(own.offsets)) * len(ranked) + place, own.ranks, own.labels)
        for place, own in enumerate(ranked)
        if own is not None
    ]
    rankings, ranks, numbers = map(np.concatenate, zip(*parts, strict=True))
    order = np.argsort(rankings, kind="stable")
    return rankings[order], ranks[order], numbers[order]


def falling(labels: list[int]) -> np.ndarray:
    return np.array(sorted(labels, reverse=True), np.int32)
