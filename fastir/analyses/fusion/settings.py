"""The caller's weights and parameters of a method, checked; and several settings as the arrays of a kernel."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fastir.analyses.fusion._recipe import Recipes
from fastir.analyses.fusion.cards import SEGMENTS, Method
from fastir.checks import integer, mapping, meant, number
from fastir.declared import Param
from fastir.errors import quote


class Setting(NamedTuple):
    """The weights (None if the method has none) and the parameters of a method."""

    weights: tuple[float, ...] | None
    params: dict[str, Any]


def check_weights(card: Method, weights: Any, names: Sequence[Any]) -> tuple[float, ...] | None:
    """A weight for each run."""
    if weights is None:
        if card.weights == "needed":
            raise ValueError(f"method {card.name!r} needs run_weights, one for each of {len(names)} runs")
        return None
    if not card.weights:
        raise TypeError(f"run_weights: method {card.name!r} takes no weights")
    if isinstance(weights, Mapping) or hasattr(weights, "items"):
        weight_by_run = mapping("run_weights", weights, "be a list, or map runs to numbers")
        for name in weight_by_run:
            if name not in names:
                raise ValueError(f"run_weights: there is no run {quote(name)}{meant(name, names)}")
        for name in names:
            if name not in weight_by_run:
                raise ValueError(f"run_weights: run {quote(name)} has no weight")
        weights = [weight_by_run[name] for name in names]
    check_length("run_weights", weights, names, "a list, or map runs to numbers")
    checked = tuple(
        finite_number(f"run_weights: the weight of run {quote(name)}", weight, 0)
        for name, weight in zip(names, weights, strict=True)
    )
    if not any(checked):
        raise ValueError("run_weights: all are 0")
    return checked


def check_length(option: str, values: Any, names: Sequence[Any], expected: str) -> None:
    if isinstance(values, (str, bytes, Mapping)) or not hasattr(values, "__len__"):
        raise TypeError(f"{option} must be {expected}, got {type(values).__name__}")
    if len(values) != len(names):
        raise ValueError(f"{option}: expected {len(names)}, one for each run, got {len(values)}")


def finite_number(name: str, value: Any, low: float, high: float = math.inf) -> float:
    real = number(name, value, low)
    if not math.isfinite(real) or real > high:
        raise ValueError(f"{name} must be {'finite' if high == math.inf else f'at most {high:g}'}, got {real!r}")
    return real


def check_params(card: Method, params: Mapping[str, Any], names: Sequence[Any], tuned: bool = False) -> dict[str, Any]:
    """The parameters of a method, with the default of one that was not given; `tuned` leaves gaps."""
    param = card.param if card.param and (tuned or not card.learning) else None
    known = [*([param.name] if param else []), *([card.learnt] if card.learnt else [])]
    checked: dict[str, Any] = {}
    for name, value in params.items():
        if name not in known:
            from fastir.request.option_rows import suggestion

            hint = suggestion(name) or meant(name, known) or f"; it has {', '.join(known) or 'none'}"
            raise TypeError(f"method {card.name!r} has no parameter {name!r}{hint}")
        is_param = param and name == param.name
        checked[name] = check_param(param, value) if param and is_param else learnt_lists(card, value, names)
    for name in () if tuned else known:
        if name not in checked:
            if not param or name == card.learnt or param.default is None:
                how = ", which fastir.tune learns from judgments" if name == card.learnt else ""
                raise ValueError(f"method {card.name!r} needs {name}{how}")
            checked[name] = param.default
    return checked


def check_param(param: Param, value: Any) -> float:
    low, high = param.low or 0, math.inf if param.high is None else param.high
    value = finite_number(param.name, integer(param.name, value) if param.integer else value, low, high)
    return int(value) if param.integer else value


def learnt_lists(card: Method, value: Any, names: Sequence[Any]) -> list[Any]:
    """What was learnt from judgments: a number or a list of numbers for each run."""
    name = card.learnt
    check_length(name, value, names, "a list with an entry for each run")
    dims = 0 if name == "map_scores" else 1
    lists = [np.array(entry, float) for entry in value]
    for run, entry in zip(names, lists, strict=True):
        if entry.ndim != dims or (dims and not len(entry)):
            raise TypeError(
                f"{name}: the value of run {quote(run)} must be {'a list of numbers' if dims else 'a number'}"
            )
        if not np.isfinite(entry).all():
            raise ValueError(f"{name}: the values of run {quote(run)} must be finite")
    sizes = {entry.size for entry in lists}
    if (card.feature == "segments" and sizes != {len(SEGMENTS)}) or (card.feature == "parts" and len(sizes) > 1):
        wanted = len(SEGMENTS) if card.feature == "segments" else "as many"
        raise ValueError(f"{name}: expected {wanted} numbers for each run")
    return [entry if dims else float(entry) for entry in lists]


def recipes(card: Method, norm: str | None, settings: Sequence[Setting], n_runs: int, width: int) -> Recipes:
    """Settings of a method for the kernels; `width` is the length of the longest ranking."""
    n = len(settings)
    weights, factors, windows = np.ones((n, n_runs)), np.zeros((n, n_runs + 1)), np.zeros(n, np.int64)
    for i, setting in enumerate(settings):
        if setting.weights is not None:
            weights[i] = setting.weights
        if card.factors is not None:
            factors[i, 1:] = card.factors(np.arange(1.0, n_runs + 1), setting.params)
        windows[i] = len(setting.params["probs"][0]) if card.feature == "parts" else setting.params.get("w", 0)
    tables = np.zeros((1, n_runs, 0))
    if card.table is not None:
        # a table shows what was learnt, or else the parameter, if that is not for the factors
        shown = card.learnt or (card.param.name if card.param and card.factors is None else "")
        values = [setting.params.get(shown) for setting in settings]
        same = all(value is values[0] for value in values)
        by_setting = [np.asarray(card.table(width, s.params)) for s in (settings[:1] if same else settings)]
        tables = np.empty((len(by_setting), n_runs, max(table.shape[1] for table in by_setting)))
        for table, numbers in zip(tables, by_setting, strict=True):
            table[:, : numbers.shape[1]] = numbers
            table[:, numbers.shape[1] :] = numbers[:, -1:] if card.feature == "window" else card.absent
    return Recipes(card.feature, norm, card.rule, card.absent, weights, factors, tables, windows)
