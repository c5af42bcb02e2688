"""The conventions of programs and libraries: `conventions` makes its records of these rows and versions.

If a tool has a defect, such as values above 1 for a repeated id, its convention follows the metric's definition, and
`about` names the defect.

A `Version` is the newest release with which the numbers were compared, by tests/conventions or tests/parity. `since`
and `until` are the first and the last release known to give these numbers; the release before or after was read, too.
`python tests/conventions/newer.py` says which tools have newer releases.
"""

from __future__ import annotations

import math
from typing import Any

from fastir.declared import Record

ANY_LABEL = math.nextafter(0, 1)  # the level of tools to which everything with a rating is relevant
ABOVE_HALF = math.nextafter(0.5, 1)


def row(name: str, about: str, *, fractions: str, **choices: Any) -> dict[str, Any]:
    """The arguments of a Convention. Each row says what its tool does with real-valued labels."""
    return {"name": name, "about": about, "fractions": fractions, **choices}


def several(metrics: str, **choices: Any) -> tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]:
    """(metric, choices) for each of several metrics, all with these choices."""
    return tuple((metric, tuple(choices.items())) for metric in metrics.split())


TREC: dict[str, Any] = {
    "fractions": "cut",
    "queries": "intersection",
    "unranked": "nan",
    "of": several("rbp", p=0.9, gains="scaled"),
}
LISTS: dict[str, Any] = {"ideal": "retrieved", "ap_norm": "min_kR", "ties": "input"}
DCG = "ndcg ndcg_burges dcg dcg_burges"
CWL = "bpm insq inst nerr8 nerr9 nerr10 nerr11 pair_accuracy rbp sdcg"

TOOLS = (  # given scores
    row("trec_eval-10", "trec_eval 10; its -c is queries=qrels", **TREC),
    row("trec_eval-9", "trec_eval 9 and pytrec_eval", score_dtype="float32", rounding="v9", **TREC),
    row("ranx", "ranx; equal scores come in no certain order there", fractions="cut", queries="strict", ties="input",
        gains="raw", rounding="v9", bpref_norm="min_nan", negatives="nonrel"),
    row("ir_measures", "ir_measures with its providers; it leaves queries that the run lacks out of NumQ and NumRel",
        fractions="refused", score_dtype="float32", rounding="v9", rank_one="raw", rbp_norm="cwl",
        of=several("mrr@k judged", ties="doc_id_asc", score_dtype="float64")
           + several("compat", ties="doc_id_asc", score_dtype="float64", missing_documents="zero")
           + several(CWL, ties="input", score_dtype="float64")
           + several("alpha_dcg alpha_ndcg err_ia nerr_ia nrbp map_ia p_ia st_recall",
                     ties="doc_id_asc", score_dtype="float64")
           + several("nnrbp", ties="doc_id_asc", score_dtype="float64", empty="nan")
           + several("err nerr ndcg_burges", score_dtype="float64")),
    row("sklearn", "ndcg_score, dcg_score, coverage_error and label_ranking_loss of scikit-learn", fractions="gains",
        ideal="retrieved", ties="input", f_weight="beta", of=several(DCG, ties="average")
           + several("last_rel", ties="pessimistic", no_hit="zero")
           + several("label_ranking_loss", ties="pessimistic")),
    row("lightgbm", "LightGBM with its default label_gain; its ndcg takes the weight of a query without relevant "
        "documents for 1", fractions="refused", gain="exp2", empty="one", **LISTS),
    row("xgboost", "XGBoost with ndcg_exp_gain; its metrics without a cutoff stop at 32 documents (or "
        "lambdarank_num_pair_per_sample), and its ndcg takes the weight of a query without relevant documents for 1",
        fractions="linear", gain="exp2", empty="one", short_rankings="clip", score_dtype="float32",
        of=several("precision", empty="zero"), **LISTS),
    row("catboost", "CatBoost with NDCG:type=Base, to which a document is relevant with a label above 0.5",
        fractions="taken", rel_level=ABOVE_HALF, ideal="retrieved", ap_norm="min_kR", ties="pessimistic",
        short_rankings="clip", of=several("ndcg ndcg_burges recall", empty="one") + several("pfound", max_grade=1)
           + several("auc", ties="average", one_class="zero", fractions="pairs")
           + several("err", refused="takes labels for probabilities in CatBoost, which no option says")),
    row("torchmetrics", "torchmetrics.retrieval; documents with a score of 0 or less count as not relevant",
        fractions="gains", ideal="retrieved", ap_norm="hits", ties="input", f_weight="beta",
        of=several("ndcg ndcg_burges", ties="average") + several("auc", ties="average", one_class="zero")),
    row("sentence-transformers", "InformationRetrievalEvaluator; labels are 0 and 1 there", fractions="ids",
        ap_norm="min_kR", ties="doc_id_asc", empty="skip"),
    row("beir", "BEIR; it rounds to five decimals", fractions="refused", queries="intersection", exclude="query_id",
        score_dtype="float32", rounding="v9",
        of=several("mrr relative_precision hit_rate hole", ties="input", score_dtype="float64", queries="qrels")),
    row("mteb", "MTEB; it rounds all but MRR to five decimals, and tasks with ignore_identical_ids have "
        "exclude=query_id", fractions="refused", queries="intersection", score_dtype="float32", rounding="v9",
        of=several("mrr hole", score_dtype="float64")
           + several("relative_precision", score_dtype="float64", empty="skip")),
    row("mteb-2.17", "MTEB until 2.18.18; its MRR, R_cap, `hole` and accuracy give equal scores the order of the dict",
        fractions="refused", queries="intersection", score_dtype="float32", rounding="v9",
        of=several("mrr hit_rate hole", ties="input", score_dtype="float64")
           + several("relative_precision", ties="input", score_dtype="float64", empty="skip")),
    row("pyserini", "Pyserini's trec_eval, which is trec_eval 9; its judged.k divides the sums over all queries",
        score_dtype="float32", rounding="v9", **TREC),
    row("gdeval", "gdeval.pl; no cutoff is 20 there, and it prints five decimals", fractions="integers",
        queries="intersection", gain="exp2", empty="skip"),
    row("ndeval", "ndeval and pyndeval; they read 20 ranks", fractions="integers", queries="intersection",
        ties="doc_id_asc", rank_one="raw", of=several("nnrbp", empty="nan")),
    row("ptranking", "PTRanking's metrics of lists as long as the cutoff at least; average precision divides there "
        "by the sum of the best labels, which is more than the relevant documents where labels exceed 1",
        fractions="gains", score_dtype="float32", gain="exp2", short_rankings="clip", max_grade="query",
        of=several("ndcg ndcg_burges nerr map", empty="nan"), **LISTS),
    row("tf-ranking", "TF-Ranking 0.5.5; equal scores come in random order there, but in its OPA, and documents with "
        "negative labels are left out; its means of ARP and OPA weigh lists by their sums of labels and by their "
        "pairs", fractions="taken", score_dtype="float32", gain="exp2", short_rankings="clip", ideal="retrieved",
        ties="input", of=several("prefs_simp_ret", ties="pessimistic")),
)  # fmt: skip

LIST_TOOLS = (  # given lists of ids: evaluators of retrieval for generation
    row("haystack", "Haystack's document evaluators", fractions="gains", ties="input", duplicates="once"),
    row("haystack-2", "Haystack's document evaluators until 3.0, whose MAP divides by the relevant documents that "
        "were retrieved; its MAP and nDCG count every copy of a document, and can exceed 1", fractions="gains",
        ties="input", duplicates="once", ap_norm="hits"),
    row("haystack-1", "Haystack 1's EvaluationResult by ids of documents; its recall_single_hit is hit_rate, its "
        "recall_multi_hit recall, its simulated_top_k_retriever max_depth; queries whose ranking is empty leave its "
        "means, and precision, MAP and nDCG count every copy of a document, and can exceed 1", fractions="ids",
        queries="intersection", ties="input", duplicates="once", gain="binary", empty="one", short_rankings="clip"),
    row("llamaindex", "LlamaIndex's metrics of retrieval; ap, ndcg and granular hit_rate count every copy of a "
        "document there, and can exceed 1; empty lists are errors", fractions="ids", ties="input", duplicates="once",
        of=several("precision recall", duplicates="first")),
    row("mlflow", "MLflow's precision_at_k, recall_at_k and ndcg_at_k; recall and nDCG are 1 there if nothing is "
        "retrieved and nothing relevant, precision counts every copy of a document, and nDCG takes copies for "
        "documents of their own", fractions="ids", ties="input", duplicates="once", short_rankings="clip",
        ideal="num_ret"),
    row("ragas", "Ragas' metrics by ids, and the average precision of its context precision, whose judgments are a "
        "language model's", fractions="ids", ties="input", duplicates="first", ap_norm="hits",
        of=several("precision", empty_ranking="skip") + several("recall", empty="skip")),
    row("trulens", "TruLens' GroundTruthAgreement, to whose precision, recall, mrr and hit rate a chunk with label 0 "
        "is relevant; precision counts every copy of a document there, and precision and recall read on where scores "
        "equal that of the last rank", fractions="taken", ties="input", duplicates="once", short_rankings="clip",
        of=several("ndcg", ideal="num_ret", empty="skip", empty_ranking="skip")
           + several("ndcg@k", ideal="judged", empty_ranking="zero")
           + several("precision", empty="skip", empty_ranking="skip", rel_level=0)
           + several("recall mrr hit_rate", empty="skip", rel_level=0)),
    row("trulens-2.13", "TruLens 2.13.1, where nDCG without a relevant chunk is 0, and so is the precision of an "
        "empty list; recall and nDCG count every copy of a chunk, and can exceed 1; a query without any chunk is NaN",
        fractions="taken", ties="input", duplicates="once", short_rankings="clip", of=several("ndcg", ideal="num_ret")
           + several("ndcg@k", ideal="judged") + several("precision recall mrr hit_rate", empty="skip", rel_level=0)),
    row("deepeval", "the average precision of DeepEval's contextual precision, whose judgments are a language model's",
        fractions="ids", ties="input", ap_norm="hits"),
    row("longmemeval", "LongMemEval's recall_any, recall_all and ndcg_any; sessions are the parents of turns here, "
        "and its ndcg_any of these counts every relevant turn of a session; questions without an answer leave its "
        "means", fractions="ids", ties="input", duplicates="once", gain="binary", discount="jk2", empty="skip"),
    row("spark", "RankingMetrics and RankingEvaluator of Spark; they count every copy of a document, and can exceed "
        "1; graded labels are taken for the ideal in the order in which they are given, and PySpark does not hand "
        "them on", fractions="gains", ties="input", duplicates="once", gain="exp2", ap_norm="min_kR"),
)  # fmt: skip

RANK_EVAL = "; its dcg with normalize is ndcg here, its maximum_relevance is max_grade, and it has no cutoff but k=10"

ITEM_TOOLS = (  # of recommenders, and of engines: users or rated requests are queries, items are in rank order
    row("recbole", "RecBole's metrics at k, and GAUC, whose mean weighs users by their relevant items; its recall of "
        "a user without relevant items, whom its data loaders leave out, is NaN", fractions="ids", ties="input",
        gain="binary", ap_norm="min_kR", of=several("recall", empty="nan") + several("auc", ties="average")),
    row("cornac", "Cornac; its MRR fails where no relevant item is ranked, and its MAP gives equal scores the last "
        "rank of them", fractions="taken", ties="input", gain="binary", empty="skip",
        of=several("auc", ties="pessimistic")),
    row("implicit", "implicit's ranking_metrics_at_k; every item that the test matrix holds is relevant there, one "
        "rated 0, too, which is not relevant here; its precision is relative_precision here, the hits of all users "
        "over the sum of min(K, likes), and its auc is limited_auc, to which n_docs are the columns of the matrix",
        fractions="taken", rel_level=ANY_LABEL, ties="input", gain="binary", ap_norm="min_kR", empty="skip",
        of=several("relative_precision", average="micro")),
    row("rectools", "RecTools, to which every item of a user is relevant, whatever its label above 0; with "
        "divide_by_achievable its NDCG has ideal=judged, with divide_by_k its MAP divides by k", fractions="taken",
        rel_level=ANY_LABEL, ties="input", gain="binary", ideal="full", f_weight="beta", empty="skip"),
    row("replay", "RePlay, to which every item of a user is relevant, whatever its label above 0; in a dict equal "
        "scores keep their order, and its MAP counts every copy of an item, and exceeds 1", fractions="taken",
        rel_level=ANY_LABEL, gain="binary", ap_norm="min_kR", no_hit="zero"),
    row("recommenders", "Recommenders' python_evaluation with relevancy_method=top_k; every rated item is relevant "
        "there, one rated 0, too, which is not relevant here; its map (with k) divides by R, and its "
        "r_precision_at_k leaves users without a hit out of the mean", fractions="taken", rel_level=ANY_LABEL,
        queries="intersection", ties="input", gain="binary", ap_norm="min_kR",
        of=several("ndcg ndcg_burges", queries="qrels")),
    row("lenskit", "LensKit without a gain field; every item of the test list is relevant there, one rated 0, too, "
        "which is not relevant here; its NaN of a list counts as 0 in its means, and its AveragePrecision fails "
        "where nothing is relevant", fractions="taken", rel_level=ANY_LABEL, ties="input", gain="binary",
        discount="jk2", ap_norm="min_nkR", recall_norm="min_kR", short_rankings="clip", of=several("rbp", p=0.85)),
    row("elasticsearch", f"_rank_eval of Elasticsearch; a search that failed is left out of the mean{RANK_EVAL}",
        fractions="cut", ties="input", gain="exp2", ideal="num_ret", short_rankings="clip"),
    row("opensearch", f"_rank_eval of OpenSearch; a search that failed is left out of the mean{RANK_EVAL}",
        fractions="cut", ties="input", gain="exp2", ideal="num_ret", short_rankings="clip"),
    row("opensearch-workbench", "OpenSearch's Search Relevance Workbench; it rounds each query's value to two "
        "decimals, and takes for relevant what has half of the query's largest rating and its 90th percentile, which "
        "rel_level cannot say", fractions="gains", ties="input", gain="exp2", short_rankings="clip"),
    row("quepid", "Quepid's scorers P@10, AP@10, RR@10, ERR@10 and NDCG_CUT@10; its NDCG@10 divides by the ideal "
        "ranking of all rated documents, not of ten, its DCG@10 is NaN where a document has no rating, and the "
        "highest rating of its scale is max_grade", fractions="taken", rel_level=ANY_LABEL, ties="input", gain="exp2",
        short_rankings="clip", max_grade=3, of=several("map", empty="nan")),
)  # fmt: skip

NAMES = ("fastir", *(each["name"] for each in (*TOOLS, *LIST_TOOLS, *ITEM_TOOLS)))


# ---- releases of tools -----------------------------------------------------------------------------------------------
class Version(Record):
    """What a record says of its tool."""

    tool: str  # the package, as its index calls it, or the program
    version: str  # a release, or the commit that was read
    source: str  # a repository and the files in it, and threads about changes
    since: str = ""  # the first release with these numbers; empty where no other numbers are recorded
    until: str = ""  # the last one
    pending: str = ""  # a change that is announced and not recorded


TREC_EVAL_11 = (
    "trec_eval 11, in Rust by its maintainer, is not released: its documents announce one Python package without "
    "dependencies, measures written in Python, integer labels within a million, and sums that may differ by 1e-5"
)
SEARCH_RELEVANCE = (
    "opensearch-project/search-relevance, src/main/java/org/opensearch/searchrelevance/metrics/calculator"
)
HAYSTACK = "deepset-ai/haystack, haystack/components/evaluators/; pull requests 11959 and 12255"
TRULENS = "truera/trulens, src/feedback/trulens/feedback/groundtruth.py; pull request 2747"
MTEB = "embeddings-benchmark/mteb, mteb/_evaluators/retrieval_metrics.py; pull request 5136"

VERSIONS = {
    "trec_eval-10": Version("trec_eval", "10.0-rc3", "usnistgov/trec_eval, m_*.c", "10.0", pending=TREC_EVAL_11),
    "trec_eval-9": Version(
        "pytrec-eval-terrier", "0.5.11", "usnistgov/trec_eval 9.0.8, m_*.c, which this package compiles", until="9.0.8"
    ),
    "ranx": Version("ranx", "0.3.21", "AmenRa/ranx, ranx/metrics/"),
    "ir_measures": Version("ir-measures", "0.4.3", "terrierteam/ir_measures, ir_measures/providers/"),
    "sklearn": Version("scikit-learn", "1.9.1", "scikit-learn/scikit-learn, sklearn/metrics/_ranking.py"),
    "lightgbm": Version("lightgbm", "4.7.0", "LightGBM, src/metric/rank_metric.hpp and dcg_calculator.cpp"),
    "xgboost": Version("xgboost", "3.4.1", "dmlc/xgboost, src/metric/rank_metric.cc"),
    "catboost": Version("catboost", "1.2.10", "catboost/catboost, catboost/libs/metrics/"),
    "torchmetrics": Version("torchmetrics", "1.9.0", "Lightning-AI/torchmetrics, functional/retrieval/"),
    "sentence-transformers": Version("sentence-transformers", "6.2.0", "InformationRetrievalEvaluator.py"),
    "beir": Version("beir", "2.2.0", "beir-cellar/beir, beir/retrieval/evaluation.py and custom_metrics.py"),
    "mteb": Version("mteb", "2.26.24", MTEB, "2.18.19"),
    "mteb-2.17": Version("mteb", "2.18.18", MTEB, until="2.18.18"),
    "pyserini": Version("pyserini", "1.6.0", "castorini/pyserini, pyserini/eval/trec_eval.py"),
    "gdeval": Version("gdeval.pl", "of ir-measures 0.4.3", "gdeval.pl of TREC's Web track"),
    "ndeval": Version("pyndeval", "0.0.8", "ndeval.c of TREC's Web track"),
    "ptranking": Version("ptranking", "f1d366c", "wildltr/ptranking, ptranking/metric/adhoc/adhoc_metric.py"),
    "tf-ranking": Version("tensorflow-ranking", "0.5.5", "tensorflow/ranking, python/metrics_impl.py"),
    "haystack": Version("haystack-ai", "3.4.1", HAYSTACK, "3.1.0"),
    "haystack-2": Version("haystack-ai", "3.0.0", HAYSTACK, "2.3.0", "3.0.0"),
    "haystack-1": Version(
        "farm-haystack",
        "1.26.4",
        "deepset-ai/haystack v1.26.4, haystack/schema.py, EvaluationResult",
        "1.14.0",
        "1.26.4",
    ),
    "llamaindex": Version(
        "llama-index-core",
        "0.14.25",
        "run-llama/llama_index, llama-index-core/llama_index/core/evaluation/retrieval/metrics.py",
        pending="pull request 22683 of llama_index, open: metrics are to count a document that repeats once",
    ),
    "mlflow": Version("mlflow", "3.17.2", "mlflow/mlflow, mlflow/metrics/metric_definitions.py"),
    "ragas": Version("ragas", "0.4.3", "explodinggradients/ragas, src/ragas/metrics/"),
    "trulens": Version("trulens-feedback", "2.16.0", TRULENS, "2.14.0"),
    "trulens-2.13": Version("trulens-feedback", "2.13.1", TRULENS, "2.13.1", "2.13.1"),
    "deepeval": Version("deepeval", "4.3.1", "confident-ai/deepeval, deepeval/metrics/contextual_precision/"),
    "longmemeval": Version("LongMemEval", "9e0b455", "xiaowu0162/LongMemEval, src/retrieval/eval_utils.py"),
    "spark": Version("pyspark", "4.3.0", "apache/spark, mllib/evaluation/RankingMetrics.scala"),
    "recbole": Version("recbole", "1.2.1", "RUCAIBox/RecBole, recbole/evaluator/metrics.py"),
    "cornac": Version("cornac", "3.0.1", "PreferredAI/cornac, cornac/metrics/ranking.py"),
    "implicit": Version("implicit", "0.7.3", "benfred/implicit, implicit/evaluation.pyx, ranking_metrics_at_k"),
    "rectools": Version("rectools", "0.19.0", "MobileTeleSystems/RecTools, rectools/metrics/"),
    "replay": Version("replay-rec", "0.22.0", "sb-ai-lab/RePlay, replay/metrics/"),
    "recommenders": Version("recommenders", "1.2.1", "recommenders-team/recommenders, python_evaluation.py"),
    "lenskit": Version("lenskit", "2025.8.1", "lenskit/lkpy, src/lenskit/metrics/"),
    "elasticsearch": Version(
        "elasticsearch",
        "19a4254",
        "elastic/elasticsearch, modules/rank-eval",
        pending="pull request 154362 of elasticsearch, open: the ideal of nDCG is to have k documents, and no longer "
        "as many as there are hits",
    ),
    "opensearch": Version("opensearch", "14bd258", "opensearch-project/OpenSearch, modules/rank-eval"),
    "opensearch-workbench": Version(
        "search-relevance", "0b75cf8", f"{SEARCH_RELEVANCE}/Evaluation.java; pull requests 39 and 397", "5ca058e"
    ),
    "quepid": Version("quepid", "f80322f", "o19s/quepid, db/scorers/; pull requests 1242 and 1337", "0e92b09"),
}
