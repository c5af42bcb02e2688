"""Of which tool and version each convention is, where that was read, and what is going to change: data for the records.

A version is the newest one with which the numbers were compared, by tests/conventions or tests/parity. `since` and
`until` are the first and the last release known to give them: known, because the release before or after was looked at.
`python tests/conventions/newer.py` says which tools have newer releases.
"""

from __future__ import annotations

from typing import NamedTuple


class Version(NamedTuple):
    """What a record says of its tool.

    Attributes
    ----------
    tool : str
        The package, as its index calls it, or the program.
    version : str
        A release, or the commit that was read.
    source : str
        A repository and the files in it, and threads about changes.
    since, until : str
        The first and the last release with these numbers; empty where no other numbers are recorded.
    pending : str
        A change that is announced and not recorded.
    """

    tool: str
    version: str
    source: str
    since: str = ""
    until: str = ""
    pending: str = ""


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
    "xgboost": Version("xgboost", "3.2.0", "dmlc/xgboost, src/metric/rank_metric.cc"),
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
    "haystack": Version("haystack-ai", "3.4.0", HAYSTACK, "3.1.0"),
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
