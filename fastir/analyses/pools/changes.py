"""How the value of each ranking would change if one more document were judged: exact, for any metric.

A metric follows from the ranks and labels of judged documents (`JudgedRankings`). So each ranking is evaluated
unchanged, with one more missing relevant document, and with each of its candidates among the judged documents.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from fastir.analyses.pools.contributions import JudgmentRanks
from fastir.data.qrels import label_column
from fastir.data.rankings import JudgedRankings, make_rankings
from fastir.data.results.report import Report
from fastir.engine.columns.rows import list_of_each, occurrences, offsets_from_sizes, repeat

UNJUDGED, IN_POOL = -1, -2  # labels of documents outside of the qrels, and of those that have a negative label there
MAX_ENTRIES = 1 << 20  # of the rankings that are evaluated together: such arrays stay in the caches


class Changes:
    """What one more document with a label brings.

    The index of a ranking is the index of its query times the number of runs, plus the index of its run: the rankings
    of a query are neighbours.
    """

    query_ids: list[Any]
    n_runs: int
    how: str
    num_ret: np.ndarray
    metric: str
    options: Mapping[str, Any]
    all_ranks: np.ndarray
    judged: np.ndarray
    unjudged: np.ndarray
    # int64 of shape (n,): which rankings have which candidates at which ranks, one ranking after the other
    rankings: np.ndarray
    ranks: np.ndarray
    in_pool: np.ndarray  # bool of shape (n_candidates,): whether the candidate has the label IN_POOL
    # float64 of shape (2, n_queries, n_runs): by how much a document outside of a ranking changes the mean of its run:
    # one with the label UNJUDGED, and one with the label IN_POOL
    lacking: np.ndarray
    having: np.ndarray  # float64 of shape (n,): by how much each of these changes the mean of its run

    def __init__(
        self,
        judgment_ranks: JudgmentRanks,
        runs: Iterable[Hashable],
        label: float,
        metric: str,
        options: Mapping[str, Any],
        only_shared: bool = False,
    ) -> None:
        ranked = [judgment_ranks.ranked.get(name) for name in runs]
        shape = len(judgment_ranks.judgments), len(ranked)
        self.query_ids, self.n_runs, self.num_ret = (
            list(judgment_ranks.judgments),
            len(ranked),
            num_ret_by_run(ranked, shape),
        )
        self.metric, self.options, self.how = metric, options, "mean"
        left_out = [np.full(shape[0], of_run is None) if of_run is None else of_run.missing for of_run in ranked]
        self.counts: np.ndarray = (
            np.column_stack(left_out).ravel() == 0 if only_shared else np.ones(len(self.num_ret), bool)
        )
        rankings, self.all_ranks, numbers = join_rankings(ranked)
        own = judgment_ranks.labels[numbers]
        candidates, counted = own < 0, own != UNJUDGED
        every_label = label_column(np.append(judgment_ranks.labels, label))
        self.all_labels: np.ndarray = np.where(candidates, every_label[-1], every_label[numbers])
        self.judged, self.unjudged = np.flatnonzero(counted), np.flatnonzero(candidates)
        self.offsets: np.ndarray = offsets_from_sizes(occurrences(rankings[counted], minlength=len(self.num_ret)))
        self.before: np.ndarray = (np.cumsum(counted) - (own == IN_POOL))[self.unjudged]
        self.rankings, self.ranks = rankings[self.unjudged], self.all_ranks[self.unjudged]
        self.candidates: np.ndarray = (np.cumsum(judgment_ranks.labels < 0) - 1)[numbers[self.unjudged]]
        self.in_pool = judgment_ranks.labels[judgment_ranks.labels < 0] == IN_POOL
        self.keep_negatives(np.flatnonzero(own == IN_POOL))
        judged_labels = [
            [max(label, -1) for label in by_doc.values() if label != UNJUDGED]
            for by_doc in judgment_ranks.judgments.values()
        ]
        ideals, more = (
            [sort_labels(labels + extra, every_label.dtype) for labels in judged_labels] for extra in ([], [label])
        )
        every = np.arange(len(self.num_ret))
        means = Means(self.values(every, self.offsets, self.judged, ideals), self.counts, self.n_runs, self.how)
        self.lacking, self.having = np.zeros((2, *shape)), np.empty(len(self.rankings))
        in_pool = self.in_pool[self.candidates]
        for replaced in (False, True) if len(self.in_pool) and self.in_pool.any() else (False,):
            ideals = [ideal[:-1] if replaced and ideal[-1] < 0 else ideal for ideal in more]
            values = self.values(every, self.offsets, self.judged, ideals)
            self.lacking[int(replaced)] = means.changes(every, values).reshape(shape)
            entries = np.flatnonzero(in_pool == replaced)
            for part in (entries[batch] for batch in self.batches(ideals, self.rankings[entries])):
                values = self.values(self.rankings[part], *self.insert_candidates(part, replaced), ideals)
                self.having[part] = means.changes(self.rankings[part], values)

    def keep_negatives(self, rows: np.ndarray) -> None:
        """Add a copy of these rows, with their negative label, for the rankings in which nothing replaces them."""
        n = len(self.all_labels)
        self.judged[np.searchsorted(self.judged, rows)] = np.arange(n, n + len(rows))
        self.all_ranks = np.append(self.all_ranks, self.all_ranks[rows])
        self.all_labels = np.append(self.all_labels, np.full(len(rows), -1, self.all_labels.dtype))

    def batches(self, ideals: list[np.ndarray], rankings: np.ndarray) -> list[slice]:
        """The candidates of rankings, in parts that need about as much memory."""
        sizes = np.array(list(map(len, ideals)))[rankings // self.n_runs] + np.diff(self.offsets)[rankings]
        ends = np.flatnonzero(np.diff(np.cumsum(sizes) // MAX_ENTRIES, append=-1)) + 1
        return list(itertools.starmap(slice, itertools.pairwise([0, *ends.tolist()])))

    def insert_candidates(self, part: np.ndarray, replaced: bool) -> tuple[np.ndarray, np.ndarray]:
        """The offsets and rows of rankings, each with one more candidate, or with one instead of its negative row."""
        first = self.offsets[self.rankings[part]]
        sizes = self.offsets[self.rankings[part] + 1] - first
        offsets = offsets_from_sizes(sizes)
        shift = offsets[:-1] - first
        copied = self.judged[np.arange(offsets[-1]) - repeat(shift, sizes)]
        if replaced:
            copied[self.before[part] + shift] = self.unjudged[part]
            return offsets, copied
        rows = np.insert(copied, self.before[part] + shift, self.unjudged[part])
        return offsets + np.arange(len(offsets)), rows

    def values(
        self, rankings: np.ndarray, offsets: np.ndarray, rows: np.ndarray, ideals: list[np.ndarray]
    ) -> np.ndarray:
        """The value of each; NaN where the metric is undefined."""
        queries, times = (column.tolist() for column in np.unique(rankings // self.n_runs, return_counts=True))
        repeated = [np.broadcast_to(ideals[q], (n, len(ideals[q]))) for q, n in zip(queries, times, strict=True)]
        sizes = repeat([ideal.shape[1] for ideal in repeated], times)
        arrays = {
            "offsets": offsets,
            "ranks": self.all_ranks[rows],
            "labels": self.all_labels[rows],
            "num_ret": self.num_ret[rankings],
            "ideal_offsets": offsets_from_sizes(sizes),
            "ideal_labels": np.concatenate([ideal.ravel() for ideal in repeated]),
            "missing": np.zeros(len(rankings), bool),
        }
        query_ids = [self.query_ids[q] for q, n in zip(queries, times, strict=True) for _ in range(n)]
        report = Report(in_both=len(rankings))
        judged_rankings = make_rankings(
            JudgedRankings, query_ids, arrays, None, None, None, report
        )  # valid by construction
        results = judged_rankings.evaluate(self.metric, **self.options)
        self.how = results.aggregates[results.names[0]]
        return results.values[:, 0]


class Means:
    """The means of runs, and how they change with the value of one ranking."""

    n_runs: int
    how: str
    counts: np.ndarray
    terms: np.ndarray
    defined: np.ndarray
    totals: np.ndarray
    numbers: np.ndarray
    lost: np.ndarray

    def __init__(self, values: np.ndarray, counts: np.ndarray, n_runs: int, how: str) -> None:
        self.n_runs, self.how, self.counts = n_runs, how, counts
        self.terms, self.defined = self.parts(values, counts)
        self.totals, self.numbers, self.lost = (
            column.reshape(-1, n_runs).sum(axis=0) for column in (self.terms, self.defined, counts & ~self.defined)
        )
        self.before: np.ndarray = self.of(self.totals, self.numbers, self.lost)

    def parts(self, values: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The addend of each value to the total of its run, and whether it counts."""
        defined = counts & ~np.isnan(values)
        terms = np.where(defined, values, 1.0)
        return np.where(defined, np.log(terms) if self.how.startswith("geometric") else terms, 0.0), defined

    def of(self, totals: np.ndarray, numbers: np.ndarray, lost: np.ndarray) -> np.ndarray:
        """The means; NaN where there is none."""
        means = totals if self.how in ("sum", "count") else totals / np.maximum(numbers, 1)
        means = np.where(numbers > 0, np.exp(means) if self.how.startswith("geometric") else means, np.nan)
        return np.where(lost > 0, np.nan, means) if self.how.endswith("_or_nan") else means

    def changes(self, rankings: np.ndarray, values: np.ndarray) -> np.ndarray:
        """By how much the mean of its run changes where each of these rankings, by itself, has another value.

        0 where there was no mean, or is none.
        """
        runs, counts = rankings % self.n_runs, self.counts[rankings]
        terms, defined = self.parts(values, counts)
        step, was = terms - self.terms[rankings], self.defined[rankings]
        numbers = self.numbers[runs] + defined - was
        lost = self.lost[runs] + (counts & ~defined) - (counts & ~was)
        change = self.of(self.totals[runs] + step, numbers, lost) - self.before[runs]
        plain = (self.how == "mean") & (numbers == self.numbers[runs])
        change = np.where(plain, step / np.maximum(numbers, 1), change)  # plain differences round once
        return np.nan_to_num(change, nan=0.0)


def num_ret_by_run(ranked: list[JudgedRankings | None], shape: tuple[int, int]) -> np.ndarray:
    """How many documents each ranking has; None is a run that has no query of the judgments."""
    columns = [np.zeros(shape[0], np.int64) if of_run is None else of_run.num_ret for of_run in ranked]
    return np.column_stack(columns).ravel()


def join_rankings(ranked: list[JudgedRankings | None]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rankings, ranks and numbers of all runs, one ranking after the other."""
    parts = [
        (list_of_each(of_run.offsets) * len(ranked) + place, of_run.ranks, of_run.labels)
        for place, of_run in enumerate(ranked)
        if of_run is not None
    ]
    rankings, ranks, numbers = map(np.concatenate, zip(*parts, strict=True))
    order = np.argsort(rankings, kind="stable")
    return rankings[order], ranks[order], numbers[order]


def sort_labels(labels: list[float], dtype: np.dtype[Any]) -> np.ndarray:
    return np.array(sorted(labels, reverse=True), dtype)
