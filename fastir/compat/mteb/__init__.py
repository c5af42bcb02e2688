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

from fastir.compat.mteb.abstention import evaluate_abstention
from fastir.compat.mteb.scores import calculate_retrieval_scores, hole, mrr, recall_cap, top_k_accuracy
from fastir.compat.mteb.tasks import (
    calculate_pmrr,
    evaluate_p_mrr_change,
    max_over_subqueries,
    paired_accuracy,
    robustness_at_10,
)

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
