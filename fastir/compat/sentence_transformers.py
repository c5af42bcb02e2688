"""InformationRetrievalEvaluator of sentence-transformers with another `compute_metrics`.

Import it from here, or call ``fastir.compat.install("sentence_transformers")`` for all its kinds (sparse, multi-vector,
Nano BEIR). It needs sentence-transformers 6 or later, because older releases do not order equal scores by id. Compared
with 6.2.0.

**Same**: all but `compute_metrics` is sentence-transformers' own. `compute_metrics` has the same keys, values and
types: binary labels, average precision divided by the smaller of k and the number of relevant documents, equal scores
by ascending document id. A document with the id of its query is kept. ZeroDivisionError without queries.

**Different on purpose**: a NaN score is a ValueError.

**Not offered**: `RerankingEvaluator` and the evaluators of cross-encoders, which call scikit-learn for each query.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fastir import compat
from fastir.engine.columns.rows import offsets_from_sizes
from fastir.evaluation.labels import evaluate_ranked

evaluation: Any = compat.importing("sentence_transformers.sentence_transformer.evaluation", "sentence_transformers")

__all__ = ["InformationRetrievalEvaluator", "compute_metrics"]

# For each of its metrics fastir's name, and its attribute that lists the cutoffs.
METRICS = {
    "accuracy@k": ("hit_rate", "accuracy_at_k"),
    "precision@k": ("precision", "precision_recall_at_k"),
    "recall@k": ("recall", "precision_recall_at_k"),
    "ndcg@k": ("ndcg", "ndcg_at_k"),
    "mrr@k": ("mrr", "mrr_at_k"),
    "map@k": ("map", "map_at_k"),
}
# Summed, and divided by the number of queries as a float; the other metrics use NumPy's mean.
SUMMED_METRICS = ("accuracy@k", "mrr@k")


def compute_metrics(self: Any, queries_result_list: Sequence[Sequence[dict[str, Any]]]) -> dict[str, dict[int, float]]:
    """All metrics of an InformationRetrievalEvaluator: ``{"accuracy@k": {1: mean, ...}, ...}``.

    `queries_result_list` has the documents found for each query, ``{"corpus_id": id, "score": float}``, in the order of
    `self.queries_ids`. ZeroDivisionError: there are no queries. ValueError: a score is NaN.
    """
    labels: list[bool] = []
    sizes, n_relevant = [], []
    for query_id, hits in zip(self.queries_ids, queries_result_list, strict=False):
        relevant = self.relevant_docs[query_id]
        labels += [hit["corpus_id"] in relevant for hit in sort_hits(hits)]
        sizes.append(len(hits))
        n_relevant.append(len(relevant))
    wanted = {(name, k): f"{metric}@{k}" for name, (metric, cutoffs) in METRICS.items() for k in getattr(self, cutoffs)}
    results = evaluate_ranked(
        np.array(labels, bool),
        offsets_from_sizes(sizes),
        dict.fromkeys(wanted.values()),
        convention="sentence-transformers",
        ideal_labels=np.ones(sum(n_relevant), bool),
        ideal_offsets=offsets_from_sizes(n_relevant),
    )
    columns = dict(zip(results, np.ascontiguousarray(results.values.T), strict=True))
    table: dict[str, dict[int, float]] = {name: {} for name in METRICS}
    for (name, k), metric in wanted.items():
        column = columns[metric]
        table[name][k] = sum(column.tolist()) / len(self.queries) if name in SUMMED_METRICS else np.mean(column)
    return table


def sort_hits(hits: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
    """Documents by descending score, equal scores by ascending id; unchanged if already sorted without equal scores."""
    scores = [hit["score"] for hit in hits]
    total = sum(scores)
    if total != total and any(score != score for score in scores):
        raise ValueError("queries_result_list: a score is NaN")
    if len(set(scores)) == len(scores) and scores == sorted(scores, reverse=True):
        return hits
    return sorted(hits, key=lambda hit: (-hit["score"], hit["corpus_id"]))


class InformationRetrievalEvaluator(evaluation.InformationRetrievalEvaluator):
    """sentence-transformers' own class with another `compute_metrics`."""

    compute_metrics = compute_metrics
