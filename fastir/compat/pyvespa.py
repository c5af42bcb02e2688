"""pyvespa's VespaEvaluator with another `_compute_metrics`: queries, responses and files stay its own.

Import it from here, or call ``fastir.compat.install("pyvespa")``. Compared with pyvespa 1.2.9.

**Same**: all but `_compute_metrics` is pyvespa's own. `_compute_metrics` has the same keys in their order and the same
values: documents in the order of the hits; average precision over the smaller of k and the relevant documents; with
graded judgments only nDCG, with the grades as gains, also fractions; 0 for a query without relevant
documents.

**Different on purpose**: only the first copy of a document among the hits counts, so no value exceeds 1. A grade below
0 is a ValueError.

**Not offered**: the evaluators of matching, of nearest neighbours and of MTEB tasks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fastir import compat
from fastir.compat._id_lists import values

evaluation: Any = compat.importing("vespa.evaluation._base", "pyvespa")

__all__ = ["VespaEvaluator"]

# fastir's names of its metrics, and which of them each of its attributes with cutoffs asks for, in its order.
METRICS = {"accuracy": "hit_rate", **{name: name for name in ("precision", "recall", "mrr", "ndcg", "map")}}
METRICS_AT_K = {
    "accuracy_at_k": ("accuracy",),
    "precision_recall_at_k": ("precision", "recall"),
    "mrr_at_k": ("mrr",),
    "ndcg_at_k": ("ndcg",),
    "map_at_k": ("map",),
}


def _compute_metrics(self: Any, queries_result_list: Sequence[Sequence[tuple[str, float]]]) -> dict[str, float]:
    """The means over the queries, ``{"accuracy@1": mean, ..., "map@100": mean}``; with graded judgments nDCG alone.

    `queries_result_list` has the hits of each query as (doc_id, score), in the order of `self.queries_ids`; scores are
    not looked at. ValueError: a grade is negative or NaN.
    """
    graded = bool(self.relevant_docs) and isinstance(next(iter(self.relevant_docs.values())), dict)
    wanted = {
        f"{name}@{k}": f"{METRICS[name]}@{k}"
        for attribute, names in METRICS_AT_K.items()
        for k in getattr(self, attribute)
        for name in names
        if name == "ndcg" or not graded
    }
    judged = [self.relevant_docs[query_id] for query_id in self.queries_ids]
    table = values(
        [[doc_id for doc_id, _ in hits] for hits in queries_result_list],
        judged if graded else [dict.fromkeys(docs, 1) for docs in judged],
        list(wanted.values()),
        "fastir",
        ap_norm="min_kR",
    )
    columns = np.ascontiguousarray(table.T)
    return {name: sum(column.tolist()) / len(table) for name, column in zip(wanted, columns, strict=True)}


class VespaEvaluator(evaluation.VespaEvaluator):
    """pyvespa's own class with another `_compute_metrics`."""

    _compute_metrics = _compute_metrics
