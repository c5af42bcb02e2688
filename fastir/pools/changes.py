"""How each run's value of a query would change if one more document were judged: exact, for any metric.

A metric follows from the ranks and labels of judged documents (`JudgedRankings`). So one list of such rows per run has
every query as it is, with a relevant document more that the run does not have, and with each of its unjudged documents
judged; all are evaluated in one call.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from fastir.inputs.judged_arrays import COLUMNS
from fastir.judged_rankings import JudgedRankings
from fastir.results.report import Report

Changes = tuple[float, dict[Any, float]]  # of a document that the run lacks, and of those that it has


class Lists:
    """Rankings that are collected, to be evaluated together."""

    def __init__(self) -> None:
        self.ranks: list[np.ndarray] = []
        self.labels: list[np.ndarray] = []
        self.ideal: list[np.ndarray] = []
        self.sizes: list[int] = []
        self.ideal_sizes: list[int] = []
        self.num_ret: list[int] = []

    def add(self, ranks: np.ndarray, labels: np.ndarray, num_ret: int, ideal: np.ndarray) -> None:
        """As many rankings as `ranks` and `labels` have rows, with the same judgments in all."""
        n = len(ranks)
        self.ranks.append(ranks.ravel())
        self.labels.append(labels.ravel())
        self.ideal.append(np.tile(ideal, n))
        self.sizes += [ranks.shape[1]] * n
        self.ideal_sizes += [len(ideal)] * n
        self.num_ret += [num_ret] * n

    def values(self, metric: str, options: dict[str, Any]) -> np.ndarray:
        """The value of each; NaN, where the metric is undefined, counts as 0, which it would be in no other list."""
        n = len(self.sizes)
        made = {
            "offsets": np.concatenate(([0], np.cumsum(self.sizes))),
            "ranks": np.concatenate(self.ranks),
            "labels": np.concatenate(self.labels),
            "num_ret": np.array(self.num_ret, np.int64),
            "ideal_offsets": np.concatenate(([0], np.cumsum(self.ideal_sizes))),
            "ideal_labels": np.concatenate(self.ideal),
            "missing": np.zeros(n, bool),
        }
        arrays = {name: np.ascontiguousarray(made[name], dtype) for name, dtype in COLUMNS.items()}
        rankings = JudgedRankings._of(list(range(n)), arrays, None, None, None, Report(in_both=n))
        return np.nan_to_num(rankings.evaluate(metric, **options).values[:, 0], nan=0.0)


def changes_of(
    rankings: Mapping[Any, list[Any]],
    labels: Mapping[Any, Mapping[Any, int]],
    metric: str,
    candidates: Mapping[Any, Collection[Any]],
    label: int,
    options: dict[str, Any],
) -> dict[Any, Changes]:
    """For each query of the judgments by how much one more document with this label changes the value of one run.

    Parameters
    ----------
    rankings : dict of query_id to list of doc_id
        Whole rankings.
    labels : dict of query_id to dict of doc_id to label
        Without negative labels.
    candidates : dict of query_id to ids
        The unjudged documents that count.
    """
    lists = Lists()
    unjudged: dict[Any, list[Any]] = {}
    for query_id, judged in labels.items():
        ranking = rankings.get(query_id, [])
        ranks = np.array([rank for rank, doc_id in enumerate(ranking, 1) if doc_id in judged], np.int64)
        found = np.array([judged[ranking[rank - 1]] for rank in ranks.tolist()], np.int32)
        ideal = np.array(sorted(judged.values(), reverse=True), np.int32)
        more = np.sort(np.append(ideal, np.int32(label)))[::-1]
        wanted = candidates[query_id]
        new = np.array([rank for rank, doc_id in enumerate(ranking, 1) if doc_id in wanted], np.int64)
        unjudged[query_id] = [ranking[rank - 1] for rank in new.tolist()]
        lists.add(ranks[None], found[None], len(ranking), ideal)
        lists.add(ranks[None], found[None], len(ranking), more)
        if len(new):
            lists.add(*inserted(ranks, found, new, label), len(ranking), more)
    values = lists.values(metric, options)
    changes, row = {}, 0
    for query_id, doc_ids in unjudged.items():
        own = values[row : row + 2 + len(doc_ids)] - values[row]
        changes[query_id] = float(own[1]), dict(zip(doc_ids, own[2:].tolist(), strict=True))
        row += len(own)
    return changes


def inserted(ranks: np.ndarray, labels: np.ndarray, new: np.ndarray, label: int) -> tuple[np.ndarray, np.ndarray]:
    """A row for each new rank, with it among the others, and its label among theirs."""
    all_ranks = np.column_stack([np.tile(ranks, (len(new), 1)), new])
    all_labels = np.column_stack([np.tile(labels, (len(new), 1)), np.full(len(new), label, labels.dtype)])
    order = np.argsort(all_ranks, axis=1)
    return np.take_along_axis(all_ranks, order, 1), np.take_along_axis(all_labels, order, 1)
