"""All scores of a retrieval task at once, and the metrics of single queries that MTEB has beside them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fastir.compat.mteb.abstention import areas, confidences
from fastir.compat.pytrec_eval import RelevanceEvaluator, judgments
from fastir.compat.run_order import RunOrder
from fastir.data.results._fields import row_dicts
from fastir.errors import quote

DECIMALS = 5
# The names of metrics in MTEB's result, and in pytrec_eval's.
MEAN_METRICS = {"NDCG": "ndcg_cut", "MAP": "map_cut", "Recall": "recall", "P": "P", "HitRate": "success"}


def calculate_retrieval_scores(
    results: dict[str, dict[str, float]],
    qrels: dict[str, dict[str, int]],
    k_values: Sequence[int],
    skip_first_result: bool = False,
) -> Any:
    """All scores of a retrieval task.

    Parameters
    ----------
    results : dict of query_id to dict of doc_id to float
    qrels : dict of query_id to dict of doc_id to int
    k_values : sequence of int
    skip_first_result : bool
        Leave out the best document of each ranking.

    Returns
    -------
    mteb.types.RetrievalEvaluationResult
        all_scores, ndcg, map, recall, precision, naucs, mrr, naucs_mrr, hit_rate.

    Raises
    ------
    KeyError, IndexError
        A query of the results is not in the qrels, or its judgments are empty.
    ZeroDivisionError
        No query is in both.
    TypeError, ValueError
        As by `fastir.compat.pytrec_eval.RelevanceEvaluator`.
    ImportError
        MTEB is not installed: the result is of its class.
    """
    try:
        from mteb.types import RetrievalEvaluationResult
    except ModuleNotFoundError as error:
        raise ImportError(f"fastir.compat.mteb: the result is a class of MTEB ({error}); pip install mteb") from error
    if skip_first_result:
        results = {
            query_id: dict(sorted(docs.items(), key=lambda item: item[1], reverse=True)[1:])
            for query_id, docs in results.items()
        }
    judged = judgments(qrels)
    evaluator = RelevanceEvaluator(judged, {f"{name}.{','.join(map(str, k_values))}" for name in MEAN_METRICS.values()})
    query_ids, values = evaluator.measured(results)
    if not query_ids:
        raise ZeroDivisionError("no query is in both the results and the qrels, so there is no mean")
    if len(query_ids) < len(results):
        query_id = next(query_id for query_id in results if not qrels.get(query_id))
        kind = IndexError if query_id in qrels else KeyError
        raise kind(f"query {quote(query_id)} of the results has no judgments")
    columns = dict(zip(evaluator.keys, np.ascontiguousarray(values.T), strict=True))
    tables = {name: {f"{name}@{k}": columns[f"{key}_{k}"] for k in k_values} for name, key in MEAN_METRICS.items()}
    _, ranks = RunOrder(judged, [f"mrr@{k}" for k in k_values]).values(results)
    mrr = dict(zip([f"MRR@{k}" for k in k_values], np.ascontiguousarray(ranks.T), strict=True))
    hit_rate = means(tables.pop("HitRate"))
    sure = confidences(results)
    return RetrievalEvaluationResult(
        all_scores=row_dicts(query_ids, dict.fromkeys(evaluator.keys, 0.0), evaluator.keys, values),
        ndcg=means(tables["NDCG"]),
        map=means(tables["MAP"]),
        recall=means(tables["Recall"]),
        precision=means(tables["P"]),
        naucs=areas(sure, {name: column for table in tables.values() for name, column in table.items()}),
        mrr={name: sum(column.tolist()) / len(column) for name, column in mrr.items()},
        naucs_mrr=areas(sure, mrr),
        hit_rate=hit_rate,
    )


def means(table: dict[str, np.ndarray]) -> dict[str, float]:
    return {name: round(sum(column.tolist()) / len(column), DECIMALS) for name, column in table.items()}


# ---- of single queries ---------------------------------------------------------------------------------------------
# Lists in the order of the results. Equal scores are ordered by descending document id.

Judged = Mapping[str, Mapping[str, int]]
Ranked = Mapping[str, dict[str, float]]


def mrr(qrels: Judged, results: Ranked, k_values: Sequence[int]) -> dict[str, list[float]]:
    """The reciprocal rank of the first relevant document, 0 if the first k hold none: ``{"MRR@10": [value, ...]}``.

    Raises
    ------
    KeyError
        A query of the results is not in the qrels; the other metrics raise it too, except `hole`.
    """
    return {f"MRR@{k}": column for k, column in by_cutoff("mrr", qrels, results, k_values)}


def recall_cap(qrels: Judged, results: Ranked, k_values: Sequence[int]) -> dict[str, list[float | None]]:
    """The relevant documents of the first k by the most possible, None if none are: ``{"R_cap_at_10": values}``."""
    answered = [any(label > 0 for label in qrels[query_id].values()) for query_id in results]
    return {
        f"R_cap_at_{k}": [value if has_relevant else None for value, has_relevant in zip(column, answered, strict=True)]
        for k, column in by_cutoff("recall_cap", qrels, results, k_values)
    }


def top_k_accuracy(qrels: Judged, results: Ranked, k_values: Sequence[int]) -> dict[str, list[float]]:
    """1.0 for each query with a relevant document in the first k, the others left out: ``{"Accuracy@10": ones}``."""
    columns = {
        f"Accuracy@{k}": [value for value in column if value]
        for k, column in by_cutoff("hit_rate", qrels, results, k_values)
    }
    return {name: column for name, column in columns.items() if column}


def hole(qrels: Judged, results: Ranked, k_values: Sequence[int]) -> dict[str, list[float]]:
    """The fraction of the first k documents that are judged for no query: ``{"Hole_at_10": [value, ...]}``."""
    judged: set[str] = set().union(*qrels.values())
    columns: dict[str, list[float]] = {f"Hole_at_{k}": [] for k in k_values if results}
    for docs in results.values():
        ranked = sorted(docs.items(), key=lambda item: (item[1], item[0]), reverse=True)[: max(k_values)]
        unjudged = [doc_id not in judged for doc_id, _ in ranked]
        for k in k_values:
            columns[f"Hole_at_{k}"].append(sum(unjudged[:k]) / k)
    return columns


def by_cutoff(metric: str, qrels: Judged, results: Ranked, k_values: Sequence[int]) -> list[tuple[int, list[float]]]:
    """(k, the values of all queries), 0.0 where the judgments are empty; nothing without results."""
    for query_id in results:
        if query_id not in qrels:
            raise KeyError(query_id)
    if not results:
        return []
    query_ids, values = RunOrder(judgments(qrels), [f"{metric}@{k}" for k in k_values]).values(dict(results))
    rows = dict(zip(query_ids, values.tolist(), strict=True))
    missing = [0.0] * len(k_values)
    table = [rows.get(query_id, missing) for query_id in results]
    return [(k, [row[place] for row in table]) for place, k in enumerate(k_values)]
