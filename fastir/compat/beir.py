"""BEIR's EvaluateRetrieval.evaluate and evaluate_custom: ``fastir.compat.install("beir")``, or call these functions.

They are replaced as a whole, not only their calls of pytrec_eval. These functions do not need BEIR. Compared with BEIR
2.2.0.

**Same**: parameters, keys and their order, and every number: values are summed in the order of the results, and means
are rounded to five decimals. `evaluate` divides by the number of queries that are in both, compares scores as float32,
and orders equal scores by descending document id. `evaluate_custom` divides by the number of queries in the qrels,
compares scores as float64, and keeps equal scores in the order of the input. Unless ``ignore_identical_ids=False``,
`evaluate` removes documents with the id of their query from the caller's `results`, so a later `evaluate_custom`
does not see them. `evaluate_custom` raises KeyError for a query of the results that is not in the qrels (except for
``Hole``). ZeroDivisionError if no query is in both, and for ``R_cap`` of a query without relevant documents. Values are
logged as ``NDCG@10: 0.1234``.

**Different on purpose**: an unknown metric is a ValueError instead of None; so are a NaN score and a cutoff below 1. A
cutoff given twice counts once. `evaluate_custom` logs to BEIR's logger instead of the root logger, and takes only
integer labels.

**Not offered**: the rest of EvaluateRetrieval, which is BEIR's own.
"""

import logging
from collections.abc import Sequence

import numpy as np

from fastir.compat.pytrec_eval import RunOrder, values_at_cutoffs
from fastir.data.qrels import Qrels
from fastir.errors import quote

__all__ = ("evaluate", "evaluate_custom")

logger: logging.Logger = logging.getLogger("beir.retrieval.evaluation")

DECIMALS = 5
CORE_METRICS = {"NDCG": "ndcg_cut", "MAP": "map_cut", "Recall": "recall", "P": "P"}
# The core's metrics by BEIR's names, and by all names that callers may use.
CUSTOM_METRICS = {"MRR": "mrr", "R_cap": "relative_precision(empty=nan)", "Hole": "unjudged", "Accuracy": "hit_rate"}
CUSTOM_NAMES = {
    **dict.fromkeys(("mrr", "mrr@k", "mrr_cut"), "MRR"),
    **dict.fromkeys(("recall_cap", "r_cap", "r_cap@k"), "R_cap"),
    **dict.fromkeys(("hole", "hole@k"), "Hole"),
    **dict.fromkeys(("acc", "top_k_acc", "accuracy", "accuracy@k", "top_k_accuracy"), "Accuracy"),
}


def evaluate(
    qrels: dict[str, dict[str, int]],
    results: dict[str, dict[str, float]],
    k_values: Sequence[int],
    ignore_identical_ids: bool = True,
) -> tuple[dict[str, float], dict[str, float], dict[str, float], dict[str, float]]:
    """nDCG, average precision, recall and precision at each cutoff: four dicts such as ``{"NDCG@1": mean, ...}``.

    Means are rounded to five decimals. Unless ``ignore_identical_ids=False``, documents with the id of their query are
    removed from `results`, which this changes. ZeroDivisionError: no query is in both. TypeError and ValueError as by
    `fastir.compat.pytrec_eval.RelevanceEvaluator`.
    """
    if ignore_identical_ids:
        logger.info(
            "documents with the id of their query are removed from the results; ignore_identical_ids=False keeps them"
        )
        for query_id, docs in results.items():
            docs.pop(query_id, None)
    keys, query_ids, values = values_at_cutoffs(qrels, results, CORE_METRICS.values(), k_values)
    means = dict(zip(keys, rounded_means(values, len(query_ids)), strict=True))
    tables = [{f"{name}@{k}": means[f"{measure}_{k}"] for k in k_values} for name, measure in CORE_METRICS.items()]
    for table in tables:
        log(table)
    return tables[0], tables[1], tables[2], tables[3]


def evaluate_custom(
    qrels: dict[str, dict[str, int]], results: dict[str, dict[str, float]], k_values: Sequence[int], metric: str
) -> dict[str, float]:
    """One of four more metrics at each cutoff, such as ``{"MRR@1": mean, ...}``, rounded to five decimals.

    `metric` is "mrr"; "recall_cap" (``R_cap@k``: hits over the smaller of k and the relevant documents); "hole"
    (``Hole@k``: the fraction of documents that the qrels do not have for any query); "top_k_accuracy" (``Accuracy@k``:
    whether there is a hit); or another name that BEIR has for one of these, in upper or lower case. Nothing is removed
    from `results`.

    ValueError: `metric` is another one, or a cutoff or a score is invalid. KeyError: a query of the results is not in
    the qrels. ZeroDivisionError: the qrels are empty, or for recall_cap a query of the results has no relevant
    document.
    """
    name = CUSTOM_NAMES.get(metric.lower())
    if name is None:
        raise ValueError(f"metric must be one of {', '.join(map(repr, CUSTOM_NAMES))}, got {quote(metric)}")
    if not qrels:
        raise ZeroDivisionError("the qrels are empty, so there is no mean")
    judged = qrels
    if name == "Hole":  # what the qrels have for any query is judged
        known = set().union(*qrels.values())
        judged = {query_id: dict.fromkeys(docs.keys() & known, 0) for query_id, docs in results.items()}
    rows = RunOrder(Qrels.from_dict(judged), [f"{CUSTOM_METRICS[name]}@{k}" for k in k_values], ties="input")
    query_ids, values = rows.values(results)
    if len(query_ids) < len(results):
        raise KeyError(f"query {quote(next(query for query in results if query not in qrels))} is not in the qrels")
    if name == "R_cap" and np.isnan(values).any():
        query_id = query_ids[int(np.isnan(values).any(axis=1).argmax())]
        raise ZeroDivisionError(f"R_cap is not defined for query {quote(query_id)}: it has no relevant document")
    means = rounded_means(values, len(qrels))
    table = dict(zip([f"{name}@{k}" for k in k_values], means, strict=True))
    log(table)
    return table


def rounded_means(values: np.ndarray, n: int) -> list[float]:
    """The sum of each column from the first row to the last, divided by n and rounded."""
    sums = values.cumsum(axis=0)[-1].tolist() if len(values) else [0.0] * values.shape[1]
    return [round(total / n, DECIMALS) for total in sums]


def log(table: dict[str, float]) -> None:
    logger.info("\n")
    for name, value in table.items():
        logger.info("%s: %.4f", name, value)
