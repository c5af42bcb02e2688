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

Behind _rank there are only numbers: where the judged documents of a query stand, and their labels. No object holds
these for a whole run (they would be a CSR matrix, a row per query): they are handed on query by query, in scratch that
is reused, and only evaluate_ranked() brings a whole one.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from fastir.api import Evaluator, evaluate, evaluate_many
from fastir.errors import DuplicateError, FastirError, FastirWarning, FormatError, NoOverlapError, UnknownMetricError
from fastir.many import ResultsByRun
from fastir.qrels import Qrels
from fastir.reference import explain, metrics
from fastir.results import Results
from fastir.runs import Run

if _TYPE_CHECKING:
    from fastir.accumulator import Accumulator
    from fastir.arrays import evaluate_ranked, evaluate_scores
    from fastir.config import show_config
    from fastir.matrix import evaluate_matrix, evaluate_topk

__version__ = "0.1.0"

_LATE = {   # what is imported when it is first asked for
    "Accumulator": "accumulator", "evaluate_matrix": "matrix", "evaluate_ranked": "arrays", "evaluate_scores": "arrays",
    "evaluate_topk": "matrix", "show_config": "config",
}  # fmt: skip

__all__ = [
    "DuplicateError", "Evaluator", "FastirError", "FastirWarning", "FormatError", "NoOverlapError", "Qrels", "Results",
    "ResultsByRun", "Run", "UnknownMetricError", "evaluate", "evaluate_many", "explain", "metrics", *_LATE,
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    found = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_LATE[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
