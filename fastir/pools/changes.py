"""How the value of each ranking would change if one more document were judged: exact, for any metric.

A metric follows from the ranks and labels of judged documents (`JudgedRankings`). So each ranking is evaluated as it
is, with a relevant document more that it lacks, and with each of its candidates among the judged documents.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from fastir.judged_rankings import JudgedRankings
from fastir.pools.numbered import Numbered
from fastir.results.report import Report

MOST_ENTRIES = 1 << 20  # of the rankings that are evaluated together: such arrays stay in the caches


class Changes:
    """What one more document with a label brings.

    A ranking has the place of its query times the number of runs, plus that of its run: those of a query stand together.

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

    def __init__(
        self, numbered: Numbered, runs: Iterable[Hashable], label: int, metric: str, options: Mapping[str, Any]
    ) -> None:
        self.label, self.metric, self.options = label, metric, options
        ranked = [numbered.ranked.get(name) for name in runs]
        shape = len(numbered.judgments), len(ranked)
        self.n_runs, self.num_ret = len(ranked), num_ret_of(ranked, shape)
        rankings, ranks, numbers = together(ranked)
        labels = numbered.labels[numbers]
        judged = labels >= 0
        self.judged_ranks, self.labels = ranks[judged], labels[judged]
        self.offsets = np.searchsorted(rankings[judged], np.arange(len(self.num_ret) + 1))
        self.before = np.cumsum(judged)[~judged]
        self.rankings, self.ranks = rankings[~judged], ranks[~judged]
        self.candidates = (np.cumsum(numbered.labels < 0) - 1)[numbers[~judged]]
        known = [[label for label in own.values() if label >= 0] for own in numbered.judgments.values()]
        ideals, more = ([falling(own + extra) for own in known] for extra in ([], [label]))
        every, lists = np.arange(len(self.num_ret)), (self.offsets, self.judged_ranks, self.labels)
        values = self.values(every, lists, ideals)
        self.lacking = (self.values(every, lists, more) - values).reshape(shape)
        entries = np.diff(self.offsets)[self.rankings] + np.array(list(map(len, more)))[self.rankings // self.n_runs]
        ends = (np.flatnonzero(np.diff(np.cumsum(entries) // MOST_ENTRIES, append=-1)) + 1).tolist()
        parts = [
            self.values(self.rankings[start:end], self.inserted(slice(start, end)), more)
            for start, end in zip([0, *ends], ends, strict=False)  # the last end starts nothing
        ]
        self.having = np.concatenate([np.empty(0), *parts]) - values[self.rankings]

    def inserted(self, part: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Offsets, ranks and labels of rankings, each with one candidate among its judged documents."""
        rankings = self.rankings[part]
        sizes = np.diff(self.offsets)[rankings]
        offsets = np.append(0, np.cumsum(sizes))
        shift = offsets[:-1] - self.offsets[rankings]
        rows = np.arange(offsets[-1]) - np.repeat(shift, sizes)
        places = self.before[part] + shift
        ranks = np.insert(self.judged_ranks[rows], places, self.ranks[part])
        labels = np.insert(self.labels[rows], places, self.label)
        return offsets + np.arange(len(offsets)), ranks, labels

    def values(
        self, rankings: np.ndarray, lists: tuple[np.ndarray, np.ndarray, np.ndarray], ideals: list[np.ndarray]
    ) -> np.ndarray:
        """The value of each; NaN, where the metric is undefined, counts as 0, which it would be in no other list."""
        queries, times = np.unique(rankings // self.n_runs, return_counts=True)
        repeated = [
            np.broadcast_to(ideals[query], (n, len(ideals[query])))
            for query, n in zip(queries.tolist(), times.tolist(), strict=True)
        ]
        sizes = np.repeat([ideal.shape[1] for ideal in repeated], times)
        arrays = {
            **dict(zip(("offsets", "ranks", "labels"), lists, strict=True)),
            "num_ret": self.num_ret[rankings],
            "ideal_offsets": np.append(0, np.cumsum(sizes)),
            "ideal_labels": np.concatenate([ideal.ravel() for ideal in repeated]),
            "missing": np.zeros(len(rankings), bool),
        }
        report = Report(in_both=len(rankings))
        made = JudgedRankings._of(list(range(len(rankings))), arrays, None, None, None, report)  # right as made here
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
