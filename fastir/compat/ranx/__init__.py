"""ranx's `Qrels`, `Run`, `evaluate`, `compare`, `Report` and fusion, computed by fastir, without ranx and numba.

    from fastir.compat.ranx import Qrels, Run, evaluate, compare        instead of: from ranx import ...

**Same.** Names of metrics, their numbers and what calls return, as ranx 0.3.21 has them: labels below the level of
``-lN`` have no gain, `rbp` weighs raw labels, negative labels are judged and not relevant, ``@0`` is no cutoff, `bpref`
and `r-precision` ignore any. Attributes of `Qrels` and `Run`, their methods and files. Both sides must have the same
queries, else AssertionError; `make_comparable` changes the run. An evaluation is noted in `Run.scores`, `mean_scores`
and `std_scores`. Values are in the order of the query ids; for dicts, in the order of the qrels. There are no warnings.

**Different on purpose.**

- Dicts are paired by query id, not by position, and `make_comparable` works for them, too, without a change in them.
- Equal scores stay as they came, in a `Run` and in a dict alike. ranx does that for a `Run` of up to 15 documents a
  query; beyond that, and in dicts, its sort shuffles them.
- Labels must be whole numbers: a fraction is an error, where `ranx.Qrels` cuts it off. NaN scores are errors.
- bpref is 0 for a query without relevant documents, and the other queries keep their values; ranx stops there, and how
  many it loses depends on the threads. (Where only relevant documents were judged it is NaN, as there.)
- ``return_mean=False`` gives arrays for all kinds of input and names of metrics.
- All of fastir's metrics can be named. `threads` only says how many; nothing about the process changes.
- `Qrels.qrels` and `Run.run` are plain dicts, `to_typed_list` gives a plain list of arrays. No value of a query that
  is gone stays in `Run.scores`.
- Frames may hold any kind of strings and numbers, `pd_kwargs` are keywords, a file named .gz is compressed, JSON has a
  line per query. A wrong type is a TypeError, where ranx asserts.
- Arrays: the ideal ranking has the largest labels first, for judgments in any order.

- `compare` computes p-values that honour seeds, ties and the pairing of queries; its docstring says what that changes,
  and how to get ranx's values. `Report` has its attributes and exports; it can be printed for any number of runs and
  all metrics.

- `fuse` has ranx's methods and norms, and gives its scores; weights are from 0 up. `optimize_fusion` searches the same
  settings in one pass, and shows no progress.

**Not offered.** `plot` and the functions of `ranx.metrics`. An import of these says so. Levels below 0, dicts together
with arrays.
"""

from typing import NoReturn

from fastir.compat.ranx.compare import Report, compare
from fastir.compat.ranx.evaluate import evaluate
from fastir.compat.ranx.fusion import OptimizationReport, fuse, normalize, optimize_fusion
from fastir.compat.ranx.qrels_run import Qrels, Run

# Names of ranx that are not offered, and the replacement for each.
NOT_OFFERED = {
    "normalization": "normalize has all norms of one run, and fuse the norms of several",
    "plot": "fastir.plots has figures of results and comparisons",
    "metrics": "evaluate computes every metric by its name, and fastir.metrics() lists them",
}

__all__ = [
    "OptimizationReport",
    "Qrels",
    "Report",
    "Run",
    "compare",
    "evaluate",
    "fuse",
    "normalize",
    "optimize_fusion",
]


def __getattr__(name: str) -> NoReturn:
    """The error for a name that is not here: an ImportError, as ``from ... import`` hides an AttributeError's words."""
    if name in NOT_OFFERED:
        raise ImportError(f"fastir.compat.ranx does not offer {name}: {NOT_OFFERED[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
