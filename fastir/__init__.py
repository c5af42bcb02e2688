"""fastir: the fast, exact evaluation backend of information retrieval.

    qrels   dict, file, table ─▶ Qrels ─▶ _judged ──────────┐
                                                            ▼
    run     dict of dict ─▶ _dicts    judged ids probe the run ───────────┐
            TREC file ────▶ _stream  ┐                                    │
            Run, table ───▶ _columns ┴▶ _join  rows of bytes, hashed ─────┼─▶ _rank ─▶ _measure ─▶ Results
            rows in any order ──────▶ _scatter  hits counted in passing ──┘               ▲  ▲
                                                                                          │  │
    labels in rank order, or with scores ─▶ _arrays ──────────────────────────────────────┤  │
    score matrices, lists of items ─▶ _matrix, _topk ─────────────────────────────────────┘  │
    "ndcg@10" ─ names ─▶ requests ─ plan ─▶ Plan, of functions in _metrics ──────────────────┘

    Results of several runs, or values per query ─ comparison/, with stats/ ─▶ Comparison
    one ranking, one metric ─ explanation/ ─▶ what each document adds
    other tools' calls ─ compat/ ─▶ any of the above; nothing else knows of it

Behind _rank there are only numbers: where the judged documents of a query stand, and their labels. No object holds
these for a whole run (they would be a CSR matrix, a row per query): they are handed on query by query, in scratch that
is reused, and only callers without ids bring a whole one.
"""

from typing import TYPE_CHECKING

from fastir._version import __version__ as __version__
from fastir.errors import DuplicateError, FastirError, FastirWarning, FormatError, NoOverlapError, UnknownMetricError
from fastir.evaluation.evaluator import Evaluator, evaluate, evaluate_many
from fastir.qrels import Qrels
from fastir.request.reference import explain, metrics
from fastir.results.results import Results
from fastir.run import Run

if TYPE_CHECKING:
    from fastir import conventions, plots, stats
    from fastir.comparison.compare import compare
    from fastir.comparison.compare_scores import compare_scores
    from fastir.comparison.comparison import Comparison
    from fastir.config import show_config
    from fastir.conventions import Convention
    from fastir.evaluation.accumulator import Accumulator
    from fastir.evaluation.label_lists import evaluate_ranked, evaluate_scores
    from fastir.evaluation.many_runs import ResultsByRun
    from fastir.evaluation.matrix import evaluate_matrix, evaluate_topk

__all__ = [
    "Accumulator",
    "Comparison",
    "Convention",
    "DuplicateError",
    "Evaluator",
    "FastirError",
    "FastirWarning",
    "FormatError",
    "NoOverlapError",
    "Qrels",
    "Results",
    "ResultsByRun",
    "Run",
    "UnknownMetricError",
    "compare",
    "compare_scores",
    "conventions",
    "evaluate",
    "evaluate_many",
    "evaluate_matrix",
    "evaluate_ranked",
    "evaluate_scores",
    "evaluate_topk",
    "explain",
    "metrics",
    "plots",
    "show_config",
    "stats",
]

# What not every program needs, by the module that has it; imported when it is first asked for. To import them, NumPy is
# enough, so that `from fastir import *` works without SciPy and matplotlib.
LATER = {
    "Accumulator": "evaluation.accumulator",
    "Comparison": "comparison.comparison",
    "Convention": "conventions",
    "ResultsByRun": "evaluation.many_runs",
    "compare": "comparison.compare",
    "compare_scores": "comparison.compare_scores",
    "conventions": "conventions",
    "evaluate_matrix": "evaluation.matrix",
    "evaluate_ranked": "evaluation.label_lists",
    "evaluate_scores": "evaluation.label_lists",
    "evaluate_topk": "evaluation.matrix",
    "plots": "plots",
    "show_config": "config",
    "stats": "stats",
}


def __getattr__(name: str) -> object:
    import importlib

    if name not in LATER:
        raise AttributeError(f"module 'fastir' has no attribute {name!r}")
    module = importlib.import_module(f"fastir.{LATER[name]}")
    globals()[name] = value = getattr(module, name, module)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *LATER})
