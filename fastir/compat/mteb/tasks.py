"""What MTEB's tasks make of rankings and scores: pairs, instructions that change, and queries that were split."""

import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fastir.compat.mteb.scores import calculate_retrieval_scores
from fastir.engine.columns.rows import list_of_each
from fastir.engine.measure import NUM_Q
from fastir.evaluation.drivers.judged import RunJudge
from fastir.evaluation.evaluator import Evaluator

LOGGER = logging.getLogger("mteb._evaluators.retrieval_metrics")
ORIGINAL, CHANGED = "-og", "-changed"  # how the ids of queries end, before and after the instruction changed
MAX_OVER_PREFIX = "max_over_subqueries_"


def calculate_pmrr(
    original_run: Mapping[str, Mapping[str, float]],
    new_run: Mapping[str, Mapping[str, float]],
    changed_qrels: Mapping[str, Iterable[str]],
) -> float:
    """p-MRR: whether documents fall in the ranking as an instruction makes them irrelevant.

    Of the rank r of a document before the change and s after it: s / r - 1 if s <= r (it rose), else 1 - r / s. The
    mean over the documents of a query, and of these means over the queries. A document that is missing from a ranking
    comes after its last one.

    Parameters
    ----------
    original_run, new_run : dict of query_id to dict of doc_id to float
        The ids of their queries end with "-og" and "-changed". Equal scores are ordered by descending id.
    changed_qrels : dict of query_id to list of str
        The documents with changed relevance, by the ids without these ends.

    Returns
    -------
    float
        From -1 to 1.

    Raises
    ------
    ZeroDivisionError
        No query has changed documents and is in both runs.
    TypeError, ValueError
        As by `fastir.evaluate`.

    Notes
    -----
    Source: Weller et al. 2024 (FollowIR), MTEB.
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


def document_ranks(doc_ids: dict[str, list[str]], run: dict[str, Mapping[str, float]]) -> dict[str, dict[str, int]]:
    """Return {query_id: {doc_id: rank}} of these documents; a missing document comes one rank after the last.

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

    Parameters
    ----------
    qrels : dict of query_id to anything
        Queries with instructions; the text before the first "_" of an id is the query's own id.
    results : object
        Not read.
    scores : dict of query_id to dict
        `all_scores` of `calculate_retrieval_scores`, with "ndcg_cut_10".

    Returns
    -------
    float

    Raises
    ------
    KeyError
        A query has no such score.
    ZeroDivisionError
        There is no query.

    Notes
    -----
    Source: Oh et al. 2024 (InstructIR), MTEB.
    """
    least: dict[str, float] = {}
    for query_id in qrels:
        value = scores[query_id]["ndcg_cut_10"]
        base_query = query_id.partition("_")[0]
        least[base_query] = min(least.get(base_query, value), value)
    return sum(least.values()) / len(least)


def paired_accuracy(qrels: Mapping[str, Any], results: Any, scores: Mapping[str, Mapping[str, float]]) -> float:
    """Return the fraction of pairs of queries, "x_q1" and "x_q2", that both have a recall at 1 of 1.

    Parameters
    ----------
    qrels : dict of query_id to anything
        The text before the first "_" of an id is the pair's own id.
    results : object
        Not read.
    scores : dict of query_id to dict
        `all_scores` of `calculate_retrieval_scores`, with "recall_1".

    Returns
    -------
    float
        From 0 to 1.

    Raises
    ------
    KeyError
        A query of a pair has no such score.
    ZeroDivisionError
        There is no query.

    Notes
    -----
    Source: Weller et al. 2024 (NevIR), MTEB.
    """
    pairs = {query_id.partition("_")[0] for query_id in qrels}
    return sum(all(scores[f"{pair}_{one}"]["recall_1"] == 1 for one in ("q1", "q2")) for pair in pairs) / len(pairs)


def max_over_subqueries(
    qrels: Mapping[str, Mapping[str, int]], results: Mapping[str, Mapping[str, float]], k_values: Sequence[int]
) -> dict[str, float]:
    """Return all scores of the original queries: each document gets its largest score over the query's parts.

    Parameters
    ----------
    qrels : dict of query_id to dict of doc_id to int
        The text before the last "_" of an id is the query's own id; the judgments of its last part count.
    results : dict of query_id to dict of doc_id to float
    k_values : sequence of int
        With 1: the recall at 1 is "accuracy".

    Returns
    -------
    dict of str to float
        ``{"max_over_subqueries_ndcg_at_10": mean, ...}``.

    Raises
    ------
    KeyError
        A query of the qrels has no results, or 1 is missing from `k_values`.
    ZeroDivisionError, IndexError, TypeError, ValueError
        As by `calculate_retrieval_scores`.
    """
    merged: dict[str, dict[str, float]] = {}
    judged: dict[str, Mapping[str, int]] = {}
    for query_id, labels in qrels.items():
        base_query = query_id.rpartition("_")[0]
        docs = merged.setdefault(base_query, {})
        for doc_id, score in results[query_id].items():
            docs[doc_id] = max(score, docs.get(doc_id, score))
        judged[base_query] = labels
    return {MAX_OVER_PREFIX + name: value for name, value in table_of_scores(merged, judged, k_values).items()}


def evaluate_p_mrr_change(
    qrels: Mapping[str, Mapping[str, int]],
    results: Mapping[str, Mapping[str, float]],
    changed_qrels: Mapping[str, Iterable[str]],
    k_values: Sequence[int],
) -> dict[str, Any]:
    """p-MRR, and all scores of the queries before ("og") and after ("changed") the instructions changed.

    Parameters
    ----------
    qrels, results : dict of query_id to dict
        Of both; the ids of the queries before end with "-og", those after with "-changed".
    changed_qrels : dict of query_id to list of str
        As for `calculate_pmrr`.
    k_values : sequence of int
        With 1: the recall at 1 is "accuracy".

    Returns
    -------
    dict
        ``{"p-MRR": value, "og": {"ndcg_at_10": mean, ...}, "changed": {...}}``.

    Raises
    ------
    KeyError, ZeroDivisionError, IndexError, TypeError, ValueError
        As by `calculate_pmrr` and `calculate_retrieval_scores`.
    """
    runs: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    judged: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    for both, parts in ((results, runs), (qrels, judged)):
        for query_id, docs in both.items():
            parts[not query_id.endswith(ORIGINAL)][query_id] = docs
    scores: dict[str, Any] = {"p-MRR": calculate_pmrr(runs[0], runs[1], changed_qrels)}
    for place, name in enumerate(("og", "changed")):
        scores[name] = table_of_scores(runs[place], judged[place], k_values)
    return scores


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
