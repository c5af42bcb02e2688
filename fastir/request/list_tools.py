"""Tools that are given lists of ids: evaluators of retrieval for generation.

Where a tool has a defect, such as values above 1 where an id repeats, its convention follows the metric's definition
and `about` names the defect.
"""

from __future__ import annotations

from fastir.request.convention import Convention, several

LIST_TOOLS = (
    Convention(
        "haystack",
        "Haystack's document evaluators",
        ties="input",
        duplicates="once",
    ),
    Convention(
        "llamaindex",
        "LlamaIndex's metrics of retrieval; ap, ndcg and granular hit_rate count every copy of a document there, and "
        "can exceed 1; empty lists are errors",
        ties="input",
        duplicates="once",
        of=several("precision recall", duplicates="first"),
    ),
    Convention(
        "mlflow",
        "MLflow's precision_at_k, recall_at_k and ndcg_at_k; recall and nDCG are 1 there if nothing is retrieved and "
        "nothing relevant, precision counts every copy of a document, and nDCG takes copies for documents of their own",
        ties="input",
        duplicates="once",
        short_rankings="clip",
        ideal="num_ret",
    ),
    Convention(
        "ragas",
        "Ragas' metrics by ids, and the average precision of its context precision, whose judgments are a language "
        "model's",
        ties="input",
        duplicates="first",
        ap_norm="hits",
        of=several("precision", empty_ranking="skip") + several("recall", empty="skip"),
    ),
    Convention(
        "trulens",
        "TruLens' GroundTruthAgreement; precision counts every copy of a document there, and precision and recall read "
        "on where scores equal that of the last rank",
        ties="input",
        duplicates="once",
        short_rankings="clip",
        of=several("ndcg", ideal="num_ret", empty="skip", empty_ranking="skip")
        + several("ndcg@k", ideal="judged", empty_ranking="zero")
        + several("precision", empty="skip", empty_ranking="skip")
        + several("recall mrr hit_rate", empty="skip"),
    ),
    Convention(
        "deepeval",
        "the average precision of DeepEval's contextual precision, whose judgments are a language model's",
        ties="input",
        ap_norm="hits",
    ),
    Convention(
        "spark",
        "RankingMetrics and RankingEvaluator of Spark; they count every copy of a document, and can exceed 1; graded "
        "labels are taken for the ideal in the order in which they are given, and PySpark does not hand them on",
        ties="input",
        duplicates="once",
        gain="exp2",
        ap_norm="min_kR",
    ),
)
