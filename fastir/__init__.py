"""fastir: the fast, exact evaluation backend of information retrieval.

    the caller's shapes      ids and columns       numbers only            the caller's shapes
    dict of dict  ┐          ┌ Qrels ┐
    TREC files    ├ inputs ─▶│       ├─ _dicts  ─▶ hits in rank order ─┐
                  ┘          └ Run   ┘                                ├─ _measure ─▶ Results
    ranked labels ────────────────────────────────────────────────────┤
    "ndcg@10" ─ names ─▶ requests ─ plan ─▶ Plan ─────────────────────┘
"""

from fastir.api import Evaluator, evaluate, evaluate_many, evaluate_ranked
from fastir.errors import DuplicateError, FastirError, FastirWarning, FormatError, NoOverlapError, UnknownMetricError
from fastir.many import ResultsByRun
from fastir.names import explain, metrics
from fastir.qrels import Qrels
from fastir.results import Results
from fastir.runs import Run

__version__ = "0.1.0"

__all__ = [
    "DuplicateError", "Evaluator", "FastirError", "FastirWarning", "FormatError", "NoOverlapError", "Qrels", "Results",
    "ResultsByRun", "Run", "UnknownMetricError", "evaluate", "evaluate_many", "evaluate_ranked", "explain", "metrics",
]  # fmt: skip
