"""fastir: the fast, exact evaluation backend of information retrieval.

How a dict, a file or a matrix becomes a number. Each box is a folder, whose `__init__` says what goes in and out:

                                          ┌─ threads: a loop over blocks of queries ────┐
    qrels, run     ┌────────┐ ┌─────────┐ │ ┌──────┐      ┌──────┐       ┌─────────┐   │ ┌─────────┐
    dict, file,  ─▶│ inputs │▶│ columns │─┼▶│ join │─────▶│ rank │──────▶│ measure │───┼▶│ results │─▶ ndcg@10: 0.7268
    table          └───┬────┘ └─────────┘ │ └──────┘ hits └──────┘ ranks └─────────┘   │ └─────────┘
                       │       ids, rows  │                  ▲               ▲         │
    labels, scores,    │                  │                  │               │         │
    matrix, items ─────┴──────────────────┼──────────────────┘               │         │
                          arrays, no ids  └──────────────────────────────────┼─────────┘
                   ┌─────────┐                                               │
    "ndcg@10" ────▶│ request │───────────────────────────────────────────────┘
                   └─────────┘ Plan

    a dict     join looks the judged ids of a query up in the run's dict: what it finds are the hits
    a file     inputs reads blocks, columns splits lines into rows, join looks each id up among the judged ones
    a matrix   inputs finds where the scores lie; the judged items of a row are its hits

Then rank counts how many scores are above those of a hit, and measure walks the hits of a query once, in rank order,
and computes all metrics of the Plan at all their cutoffs. Behind join there are only numbers: ranks and labels. They
are handed on query by query, in memory that is reused; of a whole run they are kept where a caller asks for them, as
JudgedRankings.

    runs           a run of any shape under one set of rules: the driver for its shape hands it to join
    rule_sets      several of these together: metrics whose rules differ, subtopics, preferences, samples
    parts          an evaluation in parts that are merged: in threads, in two passes, in other processes
    evaluation     wires these boxes together: evaluate(), Evaluator and their siblings for arrays
    comparison     which of several Results is better, with the tests of `stats`
    concordance    whether two sets of judgments, two leaderboards or two runs agree
    pools          which documents were judged because of which run, and which should be next
    fusion         several runs as one, and the weights for it, chosen honestly
    explanation    what each document of one ranking contributes
    identification which tools, with which options, give values that somebody reported
    report         runs compared, down to the rankings of each query, as a page that people look at
    submission     all faults of a run's file, before it is evaluated
    unjudged       how far documents that nobody judged could change a metric
    compat, cli    calls of other tools and the command line, answered by the boxes above, which know neither
    spark          runs that are DataFrames of Spark, judged where their rows are
"""

from typing import TYPE_CHECKING

from fastir._version import __version__ as __version__
from fastir.errors import DuplicateError, FastirError, FastirWarning, FormatError, NoOverlapError, UnknownMetricError

if TYPE_CHECKING:
    from fastir import compat, conventions, plots, spark, stats
    from fastir.comparison.compare import compare
    from fastir.comparison.compare_scores import compare_scores
    from fastir.comparison.comparison import Comparison
    from fastir.comparison.records import Method, Pair, System
    from fastir.concordance.correlation import RankCorrelation, rank_correlation
    from fastir.concordance.judgments import Agreement, agreement
    from fastir.concordance.similarity import similarity
    from fastir.concordance.swaps import Swap
    from fastir.config import show_config
    from fastir.conventions import Convention
    from fastir.evaluation.accumulator import Accumulator
    from fastir.evaluation.evaluator import Evaluator, evaluate, evaluate_many
    from fastir.evaluation.judged_rankings import judged_rankings
    from fastir.evaluation.labels import evaluate_ranked, evaluate_scores
    from fastir.evaluation.lists import evaluate_lists
    from fastir.evaluation.matrix import evaluate_matrix, evaluate_topk
    from fastir.evaluation.recall_curve import PrecisionRecallCurve, precision_recall_curve
    from fastir.evaluation.roc_curve import RocCurve, roc_curve
    from fastir.explanation.conventions import ConventionsDiff, explain_conventions
    from fastir.explanation.query import explain
    from fastir.explanation.ranked import RankedExplanation, RankedLabel, explain_ranked
    from fastir.explanation.records import Document, Explanation, Move, RankingDiff
    from fastir.fusion.fuse import fuse
    from fastir.fusion.tune import tune
    from fastir.fusion.tuning import Fold, Trial, Tuning
    from fastir.identification.answers import Answer, Identified
    from fastir.identification.search import identify
    from fastir.parts.partial import Partial
    from fastir.pools.contributions import Contributions, contributions
    from fastir.pools.leave_one_out import LeftOut, leave_one_out
    from fastir.pools.merge_qrels import merge_qrels
    from fastir.pools.pool import Pool, pool
    from fastir.pools.to_judge import ToJudge, to_judge
    from fastir.qrels import Qrels
    from fastir.rankings import JudgedRankings
    from fastir.report.write import write_report
    from fastir.request.custom import CustomMetric, custom_metric
    from fastir.request.metric import Metric, metric
    from fastir.request.reference import metrics
    from fastir.results.by_convention import ResultsByConvention
    from fastir.results.by_run import ResultsByRun, load_results
    from fastir.results.changes import QueryChange, ResultsDiff
    from fastir.results.report import Report
    from fastir.results.results import Results
    from fastir.results.tables import ResultsBySegment, ResultsTable
    from fastir.run import Run
    from fastir.submission.check import check
    from fastir.submission.checked import Checked, Fault
    from fastir.unjudged.bounds import bounds
    from fastir.unjudged.result import Bounds

__all__ = [
    "Accumulator",
    "Agreement",
    "Answer",
    "Bounds",
    "Checked",
    "Comparison",
    "Contributions",
    "Convention",
    "ConventionsDiff",
    "CustomMetric",
    "Document",
    "DuplicateError",
    "Evaluator",
    "Explanation",
    "FastirError",
    "FastirWarning",
    "Fault",
    "Fold",
    "FormatError",
    "Identified",
    "JudgedRankings",
    "LeftOut",
    "Method",
    "Metric",
    "Move",
    "NoOverlapError",
    "Pair",
    "Partial",
    "Pool",
    "PrecisionRecallCurve",
    "Qrels",
    "QueryChange",
    "RankCorrelation",
    "RankedExplanation",
    "RankedLabel",
    "RankingDiff",
    "Report",
    "Results",
    "ResultsByConvention",
    "ResultsByRun",
    "ResultsBySegment",
    "ResultsDiff",
    "ResultsTable",
    "RocCurve",
    "Run",
    "Swap",
    "System",
    "ToJudge",
    "Trial",
    "Tuning",
    "UnknownMetricError",
    "agreement",
    "bounds",
    "check",
    "compare",
    "compare_scores",
    "compat",
    "contributions",
    "conventions",
    "custom_metric",
    "evaluate",
    "evaluate_lists",
    "evaluate_many",
    "evaluate_matrix",
    "evaluate_ranked",
    "evaluate_scores",
    "evaluate_topk",
    "explain",
    "explain_conventions",
    "explain_ranked",
    "fuse",
    "identify",
    "judged_rankings",
    "leave_one_out",
    "load_results",
    "merge_qrels",
    "metric",
    "metrics",
    "plots",
    "pool",
    "precision_recall_curve",
    "rank_correlation",
    "roc_curve",
    "show_config",
    "similarity",
    "spark",
    "stats",
    "to_judge",
    "tune",
    "write_report",
]

# The public names and their modules, which are imported at the first use of a name: a program loads what it calls, and
# the command's --help not even NumPy. No more than NumPy is needed for `from fastir import *`.
LATER = {
    "Accumulator": "evaluation.accumulator",
    "Agreement": "concordance.judgments",
    "Answer": "identification.answers",
    "Bounds": "unjudged.result",
    "Checked": "submission.checked",
    "Comparison": "comparison.comparison",
    "Contributions": "pools.contributions",
    "Convention": "conventions",
    "ConventionsDiff": "explanation.conventions",
    "CustomMetric": "request.custom",
    "Document": "explanation.records",
    "Evaluator": "evaluation.evaluator",
    "Explanation": "explanation.records",
    "Fault": "submission.checked",
    "Fold": "fusion.tuning",
    "Identified": "identification.answers",
    "JudgedRankings": "rankings",
    "LeftOut": "pools.leave_one_out",
    "Method": "comparison.records",
    "Metric": "request.metric",
    "Move": "explanation.records",
    "Pair": "comparison.records",
    "Partial": "parts.partial",
    "Pool": "pools.pool",
    "PrecisionRecallCurve": "evaluation.recall_curve",
    "Qrels": "qrels",
    "QueryChange": "results.changes",
    "RankCorrelation": "concordance.correlation",
    "RankedExplanation": "explanation.ranked",
    "RankedLabel": "explanation.ranked",
    "RankingDiff": "explanation.records",
    "Report": "results.report",
    "Results": "results.results",
    "ResultsByConvention": "results.by_convention",
    "ResultsByRun": "results.by_run",
    "ResultsBySegment": "results.tables",
    "ResultsDiff": "results.changes",
    "ResultsTable": "results.tables",
    "RocCurve": "evaluation.roc_curve",
    "Run": "run",
    "Swap": "concordance.swaps",
    "System": "comparison.records",
    "ToJudge": "pools.to_judge",
    "Trial": "fusion.tuning",
    "Tuning": "fusion.tuning",
    "agreement": "concordance.judgments",
    "bounds": "unjudged.bounds",
    "check": "submission.check",
    "compare": "comparison.compare",
    "compare_scores": "comparison.compare_scores",
    "compat": "compat",
    "contributions": "pools.contributions",
    "conventions": "conventions",
    "custom_metric": "request.custom",
    "evaluate": "evaluation.evaluator",
    "evaluate_lists": "evaluation.lists",
    "evaluate_many": "evaluation.evaluator",
    "evaluate_matrix": "evaluation.matrix",
    "evaluate_ranked": "evaluation.labels",
    "evaluate_scores": "evaluation.labels",
    "evaluate_topk": "evaluation.matrix",
    "explain": "explanation.query",
    "explain_conventions": "explanation.conventions",
    "explain_ranked": "explanation.ranked",
    "fuse": "fusion.fuse",
    "identify": "identification.search",
    "judged_rankings": "evaluation.judged_rankings",
    "leave_one_out": "pools.leave_one_out",
    "load_results": "results.by_run",
    "merge_qrels": "pools.merge_qrels",
    "metric": "request.metric",
    "metrics": "request.reference",
    "plots": "plots",
    "pool": "pools.pool",
    "precision_recall_curve": "evaluation.recall_curve",
    "rank_correlation": "concordance.correlation",
    "roc_curve": "evaluation.roc_curve",
    "show_config": "config",
    "similarity": "concordance.similarity",
    "spark": "spark",
    "stats": "stats",
    "to_judge": "pools.to_judge",
    "tune": "fusion.tune",
    "write_report": "report.write",
}


def __getattr__(name: str) -> object:
    import importlib

    if name not in LATER:
        raise AttributeError(f"module 'fastir' has no attribute {name!r}")
    module = importlib.import_module(f"fastir.{LATER[name]}")
    globals()[name] = value = getattr(module, name, module)
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__", "__doc__"})
