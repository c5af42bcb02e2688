"""MTEB's calculate_retrieval_scores, the metric step of its retrieval and reranking tasks: ``install("mteb")``.

It is replaced as a whole: of its time pytrec_eval takes a quarter, ranking for MRR and the abstention curves the rest.
So are the two metrics of tasks with instructions: p-MRR (FollowIR), for which MTEB sorts both rankings once for each
document whose relevance changed, and robustness@10 (InstructIR).
Needs MTEB 2.26.6 or later, as older ones treat equal confidences otherwise; compared with 2.26.24.

**Same**: parameters, the RetrievalEvaluationResult with all its keys in their order, every number and its type:
`all_scores` as pytrec_eval returns them; nDCG, MAP, recall, precision and hit rate as means over the queries that are
in both, rounded to five decimals; MRR as the mean over all queries of the results, not rounded, with scores compared as
float64 and equal ones by document id from the last to the first; the areas below the abstention curves. KeyError for a
query of the results that is not in the qrels, IndexError for one whose qrels are empty, ZeroDivisionError where no
query is in both.

Of p-MRR and robustness@10 parameters and values, and what MTEB logs of a query that a run lacks.

**Different on purpose**: a score that is NaN is a ValueError. A cutoff that is given twice counts once. The last bit of
p-MRR is that of an exact sum; without a query in both runs it is a ZeroDivisionError, where pandas raises a KeyError.

**Not offered**: what that module makes of these scores (``paired_accuracy``, ``max_over_subqueries`` and so on, which a
few tasks call); its ``recall_cap`` and ``hole`` are metrics of fastir's.
"""

import itertools
import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fastir.compat.pytrec_eval import RelevanceEvaluator, judgments
from fastir.compat.run_order import RunOrder
from fastir.errors import quote
from fastir.evaluation.evaluator import Evaluator
from fastir.measure import NUM_Q
from fastir.results._fields import row_dicts
from fastir.runs.judged import covered

DECIMALS = 5
# The names of metrics in MTEB's result, and in pytrec_eval's.
MEANS = {"NDCG": "ndcg_cut", "MAP": "map_cut", "Recall": "recall", "P": "P", "HitRate": "success"}
RATES = np.linspace(0, 1, 11)[:-1]  # the shares of the queries that are left out
LOGGER = logging.getLogger("mteb._evaluators.retrieval_metrics")
ORIGINAL, CHANGED = "-og", "-changed"  # how the ids of queries end, before and after the instruction changed
BLOCK = 256  # rankings whose scores are laid out at once


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
        MTEB, whose class the result is, is not installed.
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
    evaluator = RelevanceEvaluator(judged, {f"{name}.{','.join(map(str, k_values))}" for name in MEANS.values()})
    query_ids, values = evaluator.measured(results)
    if not query_ids:
        raise ZeroDivisionError("no query is in both the results and the qrels, so there is no mean")
    if len(query_ids) < len(results):
        query_id = next(query_id for query_id in results if not qrels.get(query_id))
        kind = IndexError if query_id in qrels else KeyError
        raise kind(f"query {quote(query_id)} of the results has no judgments")
    columns = dict(zip(evaluator.keys, np.ascontiguousarray(values.T), strict=True))
    tables = {name: {f"{name}@{k}": columns[f"{key}_{k}"] for k in k_values} for name, key in MEANS.items()}
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


# ---- instructions ----------------------------------------------------------------------------------------------


def calculate_pmrr(
    original_run: Mapping[str, Mapping[str, float]],
    new_run: Mapping[str, Mapping[str, float]],
    changed_qrels: Mapping[str, Iterable[str]],
) -> float:
    """p-MRR: whether documents fall in the ranking as an instruction makes them irrelevant.

    Of the rank r of a document before the change and s after it: s / r - 1 if s <= r (it rose), else 1 - r / s. The
    mean over the documents of a query, and of these means over the queries. A document that a ranking lacks stands
    behind it.

    Parameters
    ----------
    original_run, new_run : dict of query_id to dict of doc_id to float
        The ids of their queries end with "-og" and "-changed". Equal scores stand by id, from the last to the first.
    changed_qrels : dict of query_id to list of str
        The documents whose relevance changed, by the ids without these ends.

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
    """{query_id: {doc_id: its rank}} of these documents; one rank more than the ranking has, if it lacks it.

    The join knows documents by their labels: here each of a query has its own.
    """
    distinct = {query_id: list(dict.fromkeys(ids)) for query_id, ids in doc_ids.items()}
    qrels = {query_id: {doc_id: label for label, doc_id in enumerate(ids, 1)} for query_id, ids in distinct.items()}
    judged, _ = covered(Evaluator(qrels, NUM_Q)._prepared, run, None)
    owners = np.repeat(np.arange(len(judged)), np.diff(judged.offsets)).tolist()
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
        Queries with instructions; what stands before the first "_" of an id is the query's own.
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


# ---- abstention ------------------------------------------------------------------------------------------------
# A curve: the mean of a metric over the remaining queries if the queries with the least confidence are left out, at
# each of RATES. The area below it is normalised: 0 for leaving out queries at random, 1 for leaving out the worst ones.


def confidences(results: dict[str, dict[str, float]]) -> dict[str, np.ndarray]:
    """Confidences of a run in each query: the largest score, the scores' deviation, and the lead over the second."""
    sure = {name: np.zeros(len(results)) for name in ("max", "std", "diff1")}
    by_size: dict[int, list[tuple[int, dict[str, float]]]] = {}
    for row, docs in enumerate(results.values()):
        by_size.setdefault(len(docs), []).append((row, docs))
    by_size.pop(0, None)
    for size, alike in by_size.items():
        for start in range(0, len(alike), BLOCK):
            rows, rankings = zip(*alike[start : start + BLOCK], strict=True)
            scores = np.fromiter(itertools.chain.from_iterable(docs.values() for docs in rankings), float)
            scores = scores.reshape(len(rows), size)
            at = list(rows)
            sure["max"][at] = scores.max(axis=1)
            sure["std"][at] = scores.std(axis=1)
            if size > 1:
                scores[np.arange(len(rows)), scores.argmax(axis=1)] = -np.inf
                sure["diff1"][at] = sure["max"][at] - scores.max(axis=1)
    return sure


def areas(sure: dict[str, np.ndarray], table: dict[str, np.ndarray]) -> dict[str, float]:
    """The normalised area of every metric by every confidence; NaN if leaving out the worst queries changes nothing."""
    values = np.stack(list(table.values()))
    best = np.sort(values, axis=1)
    best_curves = curves(levelled(best.reshape(1, -1), best.reshape(-1), values.shape[1]).reshape(best.shape))
    highest, lowest = areas_below(best_curves), best_curves[:, 0] * (RATES[-1] - RATES[0])
    areas_by_kind = {}
    for kind, by in sure.items():
        order = np.argsort(by, stable=True)
        reached = areas_below(curves(levelled(values[:, order], by[order], len(order))))
        with np.errstate(invalid="ignore", divide="ignore"):
            areas_by_kind[kind] = (reached - lowest) / (highest - lowest)
    return {
        f"nAUC_{name}_{kind}": areas_by_kind[kind][row] if highest[row] != lowest[row] else np.nan
        for row, name in enumerate(table)
        for kind in areas_by_kind
    }


def levelled(values: np.ndarray, by: np.ndarray, n: int) -> np.ndarray:
    """The values of each row, with their mean where `by` is equal; every n of these are compared with each other."""
    changes = np.concatenate([[True], by[1:] != by[:-1]])
    changes[::n] = True
    starts = np.flatnonzero(changes)
    sizes = np.diff(starts, append=len(by))
    return np.repeat(np.add.reduceat(values, starts, axis=1) / sizes, sizes, axis=1)


def curves(values: np.ndarray) -> np.ndarray:
    """The mean of each row without its first values, at each of RATES."""
    n = values.shape[1]
    return np.stack([values[:, min(round(rate * n), n - 1) :].mean(axis=1) for rate in RATES], axis=1)


def areas_below(curves: np.ndarray) -> np.ndarray:
    return np.trapezoid(curves, RATES, axis=1)
