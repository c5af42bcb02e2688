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
are handed on query by query, in memory that is reused. JudgedRankings keep those of a whole run, for callers who ask.

The folders are five storeys. Each imports only what lies below it, and a test checks this (tests/house/test_layers.py):

    views, bridges   cli  report  plots  rendering       compat  spark
    analyses/        compare  explain  identify  check  bounds  pools  agreement  fusion  curves  under_judge
    evaluation/      evaluate(), Evaluator and their siblings; drivers/  composites/  partial/
    data/            Qrels  Run  JudgedRankings  results/       inputs/   request/
    engine/          columns  join  rank  measure  threads       stats/

    analyses     what is asked of evaluations. A folder, its page, command, function, plot and tests have one name
    drivers      a run of any shape under one set of rules: the driver for its shape hands it to join
    composites   several of these together: metrics whose rules differ, subtopics, preferences, samples
    partial      an evaluation in parts that are merged: in threads, in two passes, in other processes
    compat, cli  calls of other tools and the command line, answered by the boxes below, which know neither
    spark        runs that are DataFrames of Spark, judged where their rows are
"""

import os
from typing import TYPE_CHECKING

from fastir._version import __version__ as __version__
from fastir.errors import DuplicateError, FastirError, FastirWarning, FormatError, NoOverlapError, UnknownMetricError

if not any(name.startswith("_cyutility") for name in os.listdir(os.path.dirname(__file__))):
    raise ImportError(
        f"fastir is not compiled in {os.path.dirname(__file__)}, where its sources are: leave this folder, or compile "
        "it here by pip install -e ."
    )

if TYPE_CHECKING:
    from fastir import compat, conventions, plots, spark, stats
    from fastir.analyses.agreement.correlation import RankCorrelation, Swap, rank_correlation
    from fastir.analyses.agreement.judge_bias import BiasGroup, BiasSlope, JudgeBias, judge_bias
    from fastir.analyses.agreement.judgments import Agreement, agreement
    from fastir.analyses.agreement.similarity import similarity
    from fastir.analyses.bounds.bounds import bounds
    from fastir.analyses.bounds.result import Bounds
    from fastir.analyses.check.check import check
    from fastir.analyses.check.checked import Checked, Fault
    from fastir.analyses.compare.compare import compare
    from fastir.analyses.compare.compare_scores import compare_scores
    from fastir.analyses.compare.comparison import Comparison
    from fastir.analyses.compare.records import Method, Pair, System
    from fastir.analyses.curves.curves import PrecisionRecallCurve, RocCurve, precision_recall_curve, roc_curve
    from fastir.analyses.curves.risk_coverage import RiskCoverage, risk_coverage
    from fastir.analyses.explain.query import ConventionsDiff, explain, explain_conventions
    from fastir.analyses.explain.ranked import RankedExplanation, RankedLabel, explain_ranked
    from fastir.analyses.explain.records import Document, Explanation, Move, RankingDiff
    from fastir.analyses.exposure.expected_exposure import expected_exposure
    from fastir.analyses.fusion.fuse import fuse
    from fastir.analyses.fusion.tune import Fold, Trial, Tuning, tune
    from fastir.analyses.identify.answers import Answer, Identified
    from fastir.analyses.identify.search import identify
    from fastir.analyses.pools.contributions import Contributions, contributions
    from fastir.analyses.pools.leave_one_out import LeftOut, leave_one_out
    from fastir.analyses.pools.pool import Pool, merge_qrels, pool
    from fastir.analyses.pools.to_judge import ToJudge, to_judge
    from fastir.analyses.under_judge.result import (
        ComparisonUnderJudge,
        HumanAnswers,
        JudgedDifference,
        JudgedMean,
        UnderJudge,
    )
    from fastir.analyses.under_judge.under_judge import compare_under_judge, evaluate_under_judge
    from fastir.analyses.verdicts.citations import evaluate_citations
    from fastir.analyses.verdicts.nuggets import evaluate_nuggets
    from fastir.conventions import Convention
    from fastir.data.qrels import Qrels
    from fastir.data.rankings import JudgedRankings
    from fastir.data.results.by_run import ResultsByConvention, ResultsByRun, load_results
    from fastir.data.results.changes import QueryChange, ResultsDiff
    from fastir.data.results.report import Report
    from fastir.data.results.results import Results
    from fastir.data.results.tables import ResultsBySegment, ResultsTable
    from fastir.data.results.ties import TieRange, TieReport
    from fastir.data.run import Run
    from fastir.engine.config import show_config
    from fastir.evaluation.accumulator import Accumulator
    from fastir.evaluation.evaluate import evaluate, evaluate_many, judged_rankings
    from fastir.evaluation.evaluator import Evaluator
    from fastir.evaluation.id_lists import evaluate_lists
    from fastir.evaluation.labels import evaluate_ranked, evaluate_scores
    from fastir.evaluation.matrix import evaluate_matrix, evaluate_topk
    from fastir.evaluation.partial.partial import Partial
    from fastir.report.write import ReportFile, write_report
    from fastir.request.custom import CustomMetric, custom_metric
    from fastir.request.metric import Metric, metric, metrics

__all__ = [
    "Accumulator",
    "Agreement",
    "Answer",
    "BiasGroup",
    "BiasSlope",
    "Bounds",
    "Checked",
    "Comparison",
    "ComparisonUnderJudge",
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
    "HumanAnswers",
    "Identified",
    "JudgeBias",
    "JudgedDifference",
    "JudgedMean",
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
    "ReportFile",
    "Results",
    "ResultsByConvention",
    "ResultsByRun",
    "ResultsBySegment",
    "ResultsDiff",
    "ResultsTable",
    "RiskCoverage",
    "RocCurve",
    "Run",
    "Swap",
    "System",
    "TieRange",
    "TieReport",
    "ToJudge",
    "Trial",
    "Tuning",
    "UnderJudge",
    "UnknownMetricError",
    "agreement",
    "bounds",
    "check",
    "compare",
    "compare_scores",
    "compare_under_judge",
    "compat",
    "contributions",
    "conventions",
    "custom_metric",
    "evaluate",
    "evaluate_citations",
    "evaluate_lists",
    "evaluate_many",
    "evaluate_matrix",
    "evaluate_nuggets",
    "evaluate_ranked",
    "evaluate_scores",
    "evaluate_topk",
    "evaluate_under_judge",
    "expected_exposure",
    "explain",
    "explain_conventions",
    "explain_ranked",
    "fuse",
    "identify",
    "judge_bias",
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
    "risk_coverage",
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
    "Agreement": "analyses.agreement.judgments",
    "Answer": "analyses.identify.answers",
    "BiasGroup": "analyses.agreement.judge_bias",
    "BiasSlope": "analyses.agreement.judge_bias",
    "Bounds": "analyses.bounds.result",
    "Checked": "analyses.check.checked",
    "Comparison": "analyses.compare.comparison",
    "ComparisonUnderJudge": "analyses.under_judge.result",
    "Contributions": "analyses.pools.contributions",
    "Convention": "conventions",
    "ConventionsDiff": "analyses.explain.query",
    "CustomMetric": "request.custom",
    "Document": "analyses.explain.records",
    "Evaluator": "evaluation.evaluator",
    "Explanation": "analyses.explain.records",
    "Fault": "analyses.check.checked",
    "Fold": "analyses.fusion.tune",
    "HumanAnswers": "analyses.under_judge.result",
    "Identified": "analyses.identify.answers",
    "JudgeBias": "analyses.agreement.judge_bias",
    "JudgedDifference": "analyses.under_judge.result",
    "JudgedMean": "analyses.under_judge.result",
    "JudgedRankings": "data.rankings",
    "LeftOut": "analyses.pools.leave_one_out",
    "Method": "analyses.compare.records",
    "Metric": "request.metric",
    "Move": "analyses.explain.records",
    "Pair": "analyses.compare.records",
    "Partial": "evaluation.partial.partial",
    "Pool": "analyses.pools.pool",
    "PrecisionRecallCurve": "analyses.curves.curves",
    "Qrels": "data.qrels",
    "QueryChange": "data.results.changes",
    "RankCorrelation": "analyses.agreement.correlation",
    "RankedExplanation": "analyses.explain.ranked",
    "RankedLabel": "analyses.explain.ranked",
    "RankingDiff": "analyses.explain.records",
    "Report": "data.results.report",
    "ReportFile": "report.write",
    "Results": "data.results.results",
    "ResultsByConvention": "data.results.by_run",
    "ResultsByRun": "data.results.by_run",
    "ResultsBySegment": "data.results.tables",
    "ResultsDiff": "data.results.changes",
    "ResultsTable": "data.results.tables",
    "RiskCoverage": "analyses.curves.risk_coverage",
    "RocCurve": "analyses.curves.curves",
    "Run": "data.run",
    "Swap": "analyses.agreement.correlation",
    "System": "analyses.compare.records",
    "TieRange": "data.results.ties",
    "TieReport": "data.results.ties",
    "ToJudge": "analyses.pools.to_judge",
    "Trial": "analyses.fusion.tune",
    "Tuning": "analyses.fusion.tune",
    "UnderJudge": "analyses.under_judge.result",
    "agreement": "analyses.agreement.judgments",
    "bounds": "analyses.bounds.bounds",
    "check": "analyses.check.check",
    "compare": "analyses.compare.compare",
    "compare_scores": "analyses.compare.compare_scores",
    "compare_under_judge": "analyses.under_judge.under_judge",
    "compat": "compat",
    "contributions": "analyses.pools.contributions",
    "conventions": "conventions",
    "custom_metric": "request.custom",
    "evaluate": "evaluation.evaluate",
    "evaluate_citations": "analyses.verdicts.citations",
    "evaluate_lists": "evaluation.id_lists",
    "evaluate_many": "evaluation.evaluate",
    "evaluate_matrix": "evaluation.matrix",
    "evaluate_nuggets": "analyses.verdicts.nuggets",
    "evaluate_ranked": "evaluation.labels",
    "evaluate_scores": "evaluation.labels",
    "evaluate_topk": "evaluation.matrix",
    "evaluate_under_judge": "analyses.under_judge.under_judge",
    "expected_exposure": "analyses.exposure.expected_exposure",
    "explain": "analyses.explain.query",
    "explain_conventions": "analyses.explain.query",
    "explain_ranked": "analyses.explain.ranked",
    "fuse": "analyses.fusion.fuse",
    "identify": "analyses.identify.search",
    "judge_bias": "analyses.agreement.judge_bias",
    "judged_rankings": "evaluation.evaluate",
    "leave_one_out": "analyses.pools.leave_one_out",
    "load_results": "data.results.by_run",
    "merge_qrels": "analyses.pools.pool",
    "metric": "request.metric",
    "metrics": "request.metric",
    "plots": "plots",
    "pool": "analyses.pools.pool",
    "precision_recall_curve": "analyses.curves.curves",
    "rank_correlation": "analyses.agreement.correlation",
    "risk_coverage": "analyses.curves.risk_coverage",
    "roc_curve": "analyses.curves.curves",
    "show_config": "engine.config",
    "similarity": "analyses.agreement.similarity",
    "spark": "spark",
    "stats": "stats",
    "to_judge": "analyses.pools.to_judge",
    "tune": "analyses.fusion.tune",
    "write_report": "report.write",
}


def __getattr__(name: str) -> object:
    import importlib

    if name not in LATER and name != "types":
        from fastir.request.habits import missing_error

        raise missing_error(__name__, name, missing_name)
    module = importlib.import_module(f"fastir.{LATER.get(name, name)}")
    globals()[name] = value = getattr(module, name, module)
    return value


def missing_name(name: str) -> str:
    """The message for a name that the package does not have: what it is called here."""
    base = f"module 'fastir' has no attribute {name!r}"
    if name.startswith("__"):  # asked for by tools that inspect modules
        return base
    from fastir.request.habits import NAMES, hint

    if found := hint(name, NAMES, __all__):
        return base + found
    from fastir import stats
    from fastir.request.names import is_metric

    if name in stats.__all__:
        return f"{base}; fastir.stats.{name}"
    return f"{base}; a metric is a name: fastir.evaluate(qrels, run, {name!r})" if is_metric(name) else base


def __dir__() -> list[str]:
    from fastir import types

    return sorted({*__all__, "types", "__version__", "__doc__"} - {*types.__all__})
