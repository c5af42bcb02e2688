"""MTEB's calculate_retrieval_scores, the metric step of its retrieval and reranking tasks: ``install("mteb")``.

It is replaced as a whole: of its time pytrec_eval takes a quarter, ranking for MRR and the abstention curves the rest.
So is what tasks make of scores and rankings: p-MRR (FollowIR), for which MTEB sorts both rankings once for each
document with changed relevance, robustness@10 (InstructIR), paired accuracy (NevIR), the best of a query's parts
(MIND), and metrics of single queries. Needs MTEB 2.26.6 or later, as older ones treat equal confidences otherwise;
compared with 2.26.24.

**Same**: parameters, the RetrievalEvaluationResult with all its keys in their order, every number and its type:
`all_scores` as pytrec_eval returns them; nDCG, MAP, recall, precision and hit rate as means over the queries that are
in both, rounded to five decimals; MRR as the mean over all queries of the results, not rounded, with scores compared as
float64 and equal ones by document id from the last to the first; the areas below the abstention curves. KeyError for a
query of the results that is not in the qrels, IndexError for one with empty qrels, ZeroDivisionError if no
query is in both.

The other functions have the same parameters and values, and the same log message for a query missing from a run.

**Different on purpose**: a score that is NaN is a ValueError. A cutoff that is given twice counts once. The last bit of
p-MRR is from an exact sum; without a query in both runs it is a ZeroDivisionError, where pandas raises a KeyError.

**Not offered**: the parts of these functions, such as ``nauc`` and ``make_score_dict``; MTEB keeps its own.
"""

import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fastir.analyses.curves.risk_coverage import areas, confidences
from fastir.compat.pytrec_eval import RunOrder, judgments, values_at_cutoffs
from fastir.data.results._fields import row_dicts
from fastir.engine.columns.rows import list_of_each
from fastir.engine.measure import NUM_Q
from fastir.errors import quote
from fastir.evaluation.drivers.judged import RunJudge
from fastir.evaluation.evaluator import Evaluator

__all__ = [
    "calculate_pmrr",
    "calculate_retrieval_scores",
    "evaluate_abstention",
    "evaluate_p_mrr_change",
    "hole",
    "max_over_subqueries",
    "mrr",
    "paired_accuracy",
    "recall_cap",
    "robustness_at_10",
    "top_k_accuracy",
]

LOGGER = logging.getLogger("mteb._evaluators.retrieval_metrics")
# The names of metrics in MTEB's result, and in pytrec_eval's.
MEAN_METRICS = {"NDCG": "ndcg_cut", "MAP": "map_cut", "Recall": "recall", "P": "P", "HitRate": "success"}
DECIMALS = 5
ORIGINAL, CHANGED = "-og", "-changed"  # how the ids of queries end, before and after the instruction changed
MAX_OVER_PREFIX = "max_over_subqueries_"

Judged = Mapping[str, Mapping[str, int]]
Ranked = Mapping[str, Mapping[str, float]]


# ---- all scores of a retrieval task -------------------------------------------------------------------------------
def calculate_retrieval_scores(
    results: dict[str, dict[str, float]],
    qrels: dict[str, dict[str, int]],
    k_values: Sequence[int],
    skip_first_result: bool = False,
) -> Any:
    """All scores of a retrieval task, as an `mteb.types.RetrievalEvaluationResult`.

    `skip_first_result` leaves out the best document of each ranking. The result has all_scores, ndcg, map, recall,
    precision, naucs, mrr, naucs_mrr and hit_rate.

    KeyError or IndexError: a query of the results is not in the qrels, or its judgments are empty. ZeroDivisionError:
    no query is in both. ImportError: MTEB, which has the class of the result, is not installed. Others as by
    `fastir.compat.pytrec_eval.RelevanceEvaluator`.
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
    keys, query_ids, values = values_at_cutoffs(judged, results, MEAN_METRICS.values(), k_values)
    if len(query_ids) < len(results):
        query_id = next(query_id for query_id in results if not qrels.get(query_id))
        kind = IndexError if query_id in qrels else KeyError
        raise kind(f"query {quote(query_id)} of the results has no judgments")
    columns = dict(zip(keys, np.ascontiguousarray(values.T), strict=True))
    tables = {name: {f"{name}@{k}": columns[f"{key}_{k}"] for k in k_values} for name, key in MEAN_METRICS.items()}
    _, ranks = RunOrder(judged, [f"mrr@{k}" for k in k_values]).values(results)
    mrr = dict(zip([f"MRR@{k}" for k in k_values], np.ascontiguousarray(ranks.T), strict=True))
    hit_rate = rounded_means(tables.pop("HitRate"))
    sure = confidences(results)
    return RetrievalEvaluationResult(
        all_scores=row_dicts(query_ids, dict.fromkeys(keys, 0.0), keys, values),
        ndcg=rounded_means(tables["NDCG"]),
        map=rounded_means(tables["MAP"]),
        recall=rounded_means(tables["Recall"]),
        precision=rounded_means(tables["P"]),
        naucs=areas(sure, {name: column for table in tables.values() for name, column in table.items()}),
        mrr={name: sum(column.tolist()) / len(column) for name, column in mrr.items()},
        naucs_mrr=areas(sure, mrr),
        hit_rate=hit_rate,
    )


def rounded_means(table: dict[str, np.ndarray]) -> dict[str, float]:
    return {name: round(sum(column.tolist()) / len(column), DECIMALS) for name, column in table.items()}


# ---- metrics of single queries -------------------------------------------------------------------------------------
# Lists in the order of the results. Equal scores are ordered by descending document id.


def mrr(qrels: Judged, results: Ranked, k_values: Sequence[int]) -> dict[str, list[float]]:
    """The reciprocal rank of the first relevant document, 0 if the first k hold none: ``{"MRR@10": [value, ...]}``.

    KeyError if a query of the results is not in the qrels; the other metrics raise it too, except `hole`.
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


# ---- abstention ----------------------------------------------------------------------------------------------------
# How sure a run is of each query, by its scores. A curve is the mean of a metric over the remaining queries if those
# with the least confidence are left out. The area below it is normalised: 0 for leaving out queries at random, 1 for
# leaving out the worst ones. `analyses.curves.risk_coverage` computes all of it.


def evaluate_abstention(results: Ranked, metric_scores: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """The normalised areas of some metrics, ``{"nAUC_NDCG@10_max": area, ...}``, for each of the confidences.

    `metric_scores` has for each metric a value for each query, in the order of `results`. The confidences are the
    largest score (max), the scores' deviation (std) and the lead over the second (diff1). An area is NaN if leaving out
    the worst queries changes nothing. IndexError without results. Source: Gisserot-Boukhlef et al. 2024, MTEB.
    """
    if not results:
        raise IndexError("the results are empty")
    columns = {name: np.array(values) for name, values in metric_scores.items()}
    return areas(confidences(results), columns) if columns else {}


# ---- scores of tasks -----------------------------------------------------------------------------------------------
def calculate_pmrr(original_run: Ranked, new_run: Ranked, changed_qrels: Mapping[str, Iterable[str]]) -> float:
    """p-MRR, from -1 to 1: whether documents fall in the ranking as an instruction makes them irrelevant.

    For the rank r of a document before the change and s after it, the value is s / r - 1 if s <= r (it rose), else 1 -
    r / s. It is averaged over the documents of a query, and then over the queries. A document that is missing from a
    ranking comes after its last one; equal scores are ordered by descending id.

    The ids of queries end with "-og" in the original run and with "-changed" in the new one; `changed_qrels` has the
    documents with changed relevance, by the ids without these ends. ZeroDivisionError: no query has changed documents
    and is in both runs. TypeError and ValueError as by `fastir.evaluate`. Source: Weller et al. 2024 (FollowIR), MTEB.
    """
    changed: dict[str, list[str]] = {}
    for query_id, doc_ids in changed_qrels.items():
        if query_id + ORIGINAL not in original_run or query_id + CHANGED not in new_run:
            LOGGER.warning("Query %s not found in the runs for calculating p-MRR", query_id)
        elif listed := list(doc_ids):
            changed[query_id] = listed
    if not changed:
        raise ZeroDivisionError("no query with changed documents is in both runs, so there is no mean")
    before, after = (
        document_ranks(changed, {query_id: run[query_id + end] for query_id in changed})
        for run, end in ((original_run, ORIGINAL), (new_run, CHANGED))
    )
    means = []
    for query_id, doc_ids in changed.items():
        ranks = ((before[query_id][doc_id], after[query_id][doc_id]) for doc_id in doc_ids)
        means.append(math.fsum(s / r - 1 if s <= r else 1 - r / s for r, s in ranks) / len(doc_ids))
    return math.fsum(means) / len(means)


def document_ranks(doc_ids: dict[str, list[str]], run: Ranked) -> dict[str, dict[str, int]]:
    """Return {query_id: {doc_id: rank}}; a missing document comes one rank after the last.

    The join knows documents by their labels: here each of a query has its own.
    """
    distinct = {query_id: list(dict.fromkeys(ids)) for query_id, ids in doc_ids.items()}
    qrels = {query_id: {doc_id: label for label, doc_id in enumerate(ids, 1)} for query_id, ids in distinct.items()}
    judged, _ = RunJudge(Evaluator(qrels, NUM_Q).rules.prepared).with_coverage(run, None)
    owners = list_of_each(judged.offsets).tolist()
    ranks = {
        query_id: dict.fromkeys(distinct[query_id], num_ret + 1)
        for query_id, num_ret in zip(judged.query_ids, judged.num_ret.tolist(), strict=True)
    }
    for row, label, rank in zip(owners, judged.labels.tolist(), judged.ranks.tolist(), strict=True):
        query_id = judged.query_ids[row]
        ranks[query_id][distinct[query_id][label - 1]] = rank
    return ranks


def robustness_at_10(qrels: Mapping[str, Any], results: Any, scores: Mapping[str, Mapping[str, float]]) -> float:
    """Robustness at 10: the least nDCG@10 over the instructions of a query, as a mean over the queries.

    The keys of `qrels` are queries with instructions; the text before the first "_" of an id is the query's own id.
    `scores` are `all_scores` of `calculate_retrieval_scores`, and `results` are not read. KeyError: a query has no
    "ndcg_cut_10". ZeroDivisionError: there is no query. Source: Oh et al. 2024 (InstructIR), MTEB.
    """
    least: dict[str, float] = {}
    for query_id in qrels:
        value = scores[query_id]["ndcg_cut_10"]
        base_query = query_id.partition("_")[0]
        least[base_query] = min(least.get(base_query, value), value)
    return sum(least.values()) / len(least)


def paired_accuracy(qrels: Mapping[str, Any], results: Any, scores: Mapping[str, Mapping[str, float]]) -> float:
    """Return the fraction of pairs of queries, "x_q1" and "x_q2", that both have a recall at 1 of 1.

    The keys of `qrels` are the queries; the text before the first "_" of an id is the pair's own id. `scores` are
    `all_scores` of `calculate_retrieval_scores`, and `results` are not read. KeyError: a query of a pair has no
    "recall_1". ZeroDivisionError: there is no query. Source: Weller et al. 2024 (NevIR), MTEB.
    """
    pairs = {query_id.partition("_")[0] for query_id in qrels}
    return sum(all(scores[f"{pair}_{one}"]["recall_1"] == 1 for one in ("q1", "q2")) for pair in pairs) / len(pairs)


def max_over_subqueries(qrels: Judged, results: Ranked, k_values: Sequence[int]) -> dict[str, float]:
    """Return all scores of the original queries: each document gets its largest score over the query's parts.

    The text before the last "_" of an id is the query's own id; the judgments of its last part count. `k_values` has 1:
    the recall at 1 is "accuracy". The result is ``{"max_over_subqueries_ndcg_at_10": mean, ...}``. KeyError: a query of
    the qrels has no results, or 1 is missing from `k_values`. Others as by `calculate_retrieval_scores`.
    """
    merged: dict[str, dict[str, float]] = {}
    judged: dict[str, Any] = {}
    for query_id, labels in qrels.items():
        base_query = query_id.rpartition("_")[0]
        docs = merged.setdefault(base_query, {})
        for doc_id, score in results[query_id].items():
            docs[doc_id] = max(score, docs.get(doc_id, score))
        judged[base_query] = labels
    return {MAX_OVER_PREFIX + name: value for name, value in table_of_scores(merged, judged, k_values).items()}


def evaluate_p_mrr_change(
    qrels: Judged, results: Ranked, changed_qrels: Mapping[str, Iterable[str]], k_values: Sequence[int]
) -> dict[str, Any]:
    """p-MRR, and all scores of the queries before ("og") and after ("changed") the instructions changed.

    The ids of queries before end with "-og", those after with "-changed"; `changed_qrels` is as for `calculate_pmrr`,
    and `k_values` has 1, as the recall at 1 is "accuracy". The result is ``{"p-MRR": value, "og": {"ndcg_at_10": mean,
    ...}, "changed": {...}}``. Errors are as by `calculate_pmrr` and `calculate_retrieval_scores`.
    """
    sides: dict[bool, tuple[dict[str, Any], dict[str, Any]]] = {True: ({}, {}), False: ({}, {})}
    for place, both in enumerate((results, qrels)):
        for query_id, docs in both.items():
            sides[query_id.endswith(ORIGINAL)][place][query_id] = docs
    original, changed = sides[True], sides[False]
    return {
        "p-MRR": calculate_pmrr(original[0], changed[0], changed_qrels),
        "og": table_of_scores(*original, k_values),
        "changed": table_of_scores(*changed, k_values),
    }


def table_of_scores(results: dict[str, Any], qrels: dict[str, Any], k_values: Sequence[int]) -> dict[str, float]:
    """The scores of a retrieval task under the names that a task's result has."""
    scores = calculate_retrieval_scores(results, qrels, k_values)
    table: dict[str, float] = {}
    for name in ("ndcg", "map", "recall", "precision", "mrr", "naucs", "naucs_mrr", "hit_rate"):
        for key, value in getattr(scores, name).items():
            if name.startswith("naucs"):
                table[key.replace("@", "_at_").replace("_P", "_precision").lower()] = value
            else:
                table[f"{name}_at_{key.partition('@')[2]}"] = value
        if name == "recall":
            table["accuracy"] = scores.recall["Recall@1"]
    return table
