"""Types of what fastir returns and takes, for annotations; people call the rest of `fastir`, where these are, too."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastir import *  # noqa: F403

__all__ = [  # noqa: F405
    "Agreement",
    "Answer",
    "BiasGroup",
    "BiasSlope",
    "Bounds",
    "Checked",
    "Comparison",
    "ComparisonUnderJudge",
    "Contributions",
    "ConventionsDiff",
    "CustomMetric",
    "Document",
    "Explanation",
    "Fault",
    "Fold",
    "HumanAnswers",
    "Identified",
    "JudgeBias",
    "JudgedDifference",
    "JudgedMean",
    "LeftOut",
    "Method",
    "Metric",
    "Move",
    "Pair",
    "Pool",
    "PrecisionRecallCurve",
    "QueryChange",
    "RankCorrelation",
    "RankedExplanation",
    "RankedLabel",
    "RankingDiff",
    "Report",
    "ReportFile",
    "ResultsByConvention",
    "ResultsByRun",
    "ResultsBySegment",
    "ResultsDiff",
    "ResultsTable",
    "RiskCoverage",
    "RocCurve",
    "Swap",
    "System",
    "TieRange",
    "TieReport",
    "ToJudge",
    "Trial",
    "Tuning",
    "UnderJudge",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'fastir.types' has no attribute {name!r}")
    import fastir

    return getattr(fastir, name)


def __dir__() -> list[str]:
    return [*__all__, "__doc__"]
