"""ranx's `fuse`, `optimize_fusion` and `normalize`, by fastir's fusion."""

from __future__ import annotations

import functools
import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastir.analyses.fusion import fuse as fusing
from fastir.analyses.fusion.cards import METHODS, find_norm
from fastir.analyses.fusion.fuse import RunSet
from fastir.analyses.fusion.settings import Setting, simplex, step_count, value_range
from fastir.analyses.fusion.tune import Trials, column_means
from fastir.compat.ranx.qrels_run import Qrels, Run, in_ranx_order

FUSED_NAMES = {  # what ranx calls a fused run, if not by its method
    **{name: f"comb_{name}" for name in ("min", "max", "med", "sum", "anz", "mnz", "gmnz")},
    "wsum": "weighted_sum",
    "w_bordafuse": "weighted_bordafuse",
    "w_condorcet": "weighted_condorcet",
}


@dataclass(eq=False, repr=False)
class OptimizationReport:
    """What `optimize_fusion` tried: `configs`, a text for each setting, and `results`, the mean of each."""

    method: str
    configs: list[str]
    results: list[float]
    metric: str
    rounding_digits: int = 3
    show_percentages: bool = False

    def __repr__(self) -> str:
        from fastir.rendering import Cell, Table, render

        digits, factor = self.rounding_digits, 1.0
        if self.show_percentages:
            digits, factor = max(0, digits - 2), 100.0
        best = int(np.argmax(self.results))
        rows = [
            [Cell(config), Cell(f"{factor * value:.{digits}f}", strong=place == best)]
            for place, (config, value) in enumerate(zip(self.configs, self.results, strict=True))
        ]
        return render(Table([self.method, self.metric], rows, 1, []), "text")


def check_runs(runs: Any, qrels: Any = None) -> dict[str, Any]:
    """Two runs or more with the same queries, by number."""
    assert_(len(runs) > 1, "Only one run provided")
    read = {str(place): in_ranx_order(run) for place, run in enumerate(runs)}
    first = set(read["0"])
    for place, run in enumerate(read.values()):
        assert_(set(run) == first, f"Runs 0 and {place} query ids do not match")
    if qrels is not None:
        assert_(set(qrels) == first, "Runs and Qrels query ids do not match")
    return read


def assert_(holds: bool, message: str) -> None:
    """ranx asserts, and its callers catch AssertionError."""
    if not holds:
        raise AssertionError(message)


def fuse(runs: Any, norm: str | None = "min-max", method: str = "wsum", params: dict[str, Any] | None = None) -> Run:
    """Fuse runs; `params` are parameters of the method, such as ``{"weights": [0.3, 0.7]}``.

    AssertionError: there is one run, or their queries differ. ValueError, TypeError and OverflowError as by
    `fastir.fuse`.
    """
    rest = dict(params or {})
    fused = fusing.fuse(check_runs(runs), method, norm, rest.pop("weights", None), ties="input", **rest)
    return Run(None, FUSED_NAMES.get(method, method)).hold(fused)


def optimize_fusion(
    qrels: Any,
    runs: Any,
    norm: str | None = "min-max",
    method: str = "wsum",
    metric: str = "ndcg",
    return_optimization_report: bool = False,
    rounding_digits: int = 3,
    show_percentages: bool = False,
    **kwargs: Any,
) -> Any:
    """The parameters with which fused runs have the largest mean, on the queries on which they were sought.

    That mean is too good: `fastir.tune` gives one that is not. `norm` and `method` are as for `fuse`. Keywords are
    `step`, `min_` and `max_` of the method's parameter, such as ``min_k``; `show_progress` shows nothing. With
    `return_optimization_report` the result is a pair: the parameters, and an OptimizationReport of all settings, which
    prints as `rounding_digits` and `show_percentages` say.

    AssertionError, ValueError and TypeError as by `fuse`; also if the method has nothing to be searched or learnt, or a
    keyword is unknown.
    """
    judgments = qrels if isinstance(qrels, Qrels) else Qrels(qrels.to_dict() if hasattr(qrels, "to_dict") else qrels)
    columns = judgments.as_fastir()
    read = check_runs(runs, columns)
    card = METHODS.find(method)
    kwargs.pop("show_progress", None)
    texts, settings = ranx_settings(card, len(read), kwargs)
    if kwargs:
        raise TypeError(f"optimize_fusion() of {method!r} has no parameter {next(iter(kwargs))!r}")
    if return_optimization_report and len(settings) < 2 and card.learnt and not card.param:
        raise ValueError(f"{method} does not support optimization report.")
    trials = Trials(columns, RunSet(read), card, find_norm(norm), "input", metric, {"convention": "ranx"})
    table, learnt = trials.in_sample(settings)
    means = column_means(table)
    best = len(means) - 1 - int(np.argmax(means[::-1])) if settings else 0  # of equal ones the last, as in ranx
    chosen = learnt[best]
    params = {**({} if chosen.weights is None else {"weights": list(chosen.weights)}), **chosen.params}
    if not return_optimization_report:
        return params
    report = OptimizationReport(method, texts, means.tolist(), metric, rounding_digits, show_percentages)
    return params, report


def ranx_settings(card: Any, n_runs: int, kwargs: dict[str, Any]) -> tuple[list[str], list[Setting]]:
    """ranx's settings, with its texts for them; the keywords that say where are taken out."""
    if card.weights == "needed":
        n_steps = step_count("step", float(kwargs.pop("step", 0.1)))
        points = [tuple(round(w, 12) for w in point) for point in simplex(n_runs, n_steps)]
        # ranx leaves out those that add up to 0.9999999, one by one; since Python 3.12 sum() loses less on the way.
        weights = [point for point in points if functools.reduce(operator.add, point) == 1.0]
        return list(map(str, weights)), [Setting(point, {}) for point in weights]
    if not card.tunable:
        raise ValueError(f"{card.name} does not support optimization.")
    if card.param is None:
        return [""], [Setting(None, {})]
    name, (low, high, step) = card.param.name, card.grid
    low, high = kwargs.pop(f"min_{name}", low), kwargs.pop(f"max_{name}", high)
    values: list[Any] = value_range(low, high, kwargs.pop("step", step))
    if card.param.integer or name == "k":
        values = [round(value) for value in values]
    return list(map(str, values)), [Setting(None, {name: value}) for value in values]


def normalize(run: Any, norm: str = "min-max") -> Run:
    """A run with the scores of each query normalised, as by `Run.normalize`."""
    return Run.normalize(run, norm)
