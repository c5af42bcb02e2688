"""What a caller says of a method, checked; and several settings of one as the arrays of a kernel."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fastir.checks import integer, mapping, meant, number
from fastir.errors import quote
from fastir.fusion._recipe import Recipes
from fastir.fusion.cards import Method


class Setting(NamedTuple):
    """The weights, None where a method has none, and the parameters of a method."""

    weights: tuple[float, ...] | None
    params: dict[str, Any]


def checked_weights(card: Method, weights: Any, names: Sequence[Any]) -> tuple[float, ...] | None:
    """A weight for each run.

    Raises
    ------
    TypeError, ValueError
        The method has none or needs them; they are no numbers from 0 up, one for each run; or all are 0.
    """
    if weights is None:
        if card.weights == "needed":
            raise ValueError(f"method {card.name!r} needs weights, one for each of {len(names)} runs")
        return None
    if not card.weights:
        raise TypeError(f"weights: method {card.name!r} has none")
    if isinstance(weights, Mapping) or hasattr(weights, "items"):
        weight_by_run = mapping("weights", weights, "be a list, or map runs to numbers")
        for name in weight_by_run:
            if name not in names:
                raise ValueError(f"weights: there is no run {quote(name)}{meant(name, names)}")
        for name in names:
            if name not in weight_by_run:
                raise ValueError(f"weights: run {quote(name)} has none")
        weights = [weight_by_run[name] for name in names]
    if isinstance(weights, (str, bytes)) or not hasattr(weights, "__len__"):
        raise TypeError(f"weights must be a list, or map runs to numbers, got {type(weights).__name__}")
    if len(weights) != len(names):
        raise ValueError(f"weights: expected {len(names)}, one for each run, got {len(weights)}")
    checked = tuple(finite(f"weights: that of run {quote(name)}", w, 0) for name, w in zip(names, weights, strict=True))
    if not any(checked):
        raise ValueError("weights: all are 0")
    return checked


def finite(name: str, value: Any, low: float = -math.inf, high: float = math.inf) -> float:
    real = number(name, value, low)
    if not math.isfinite(real) or real > high:
        raise ValueError(f"{name} must be {'finite' if high == math.inf else f'at most {high:g}'}, got {real!r}")
    return real


def checked_params(
    card: Method, params: Mapping[str, Any], names: Sequence[Any], tuned: bool = False
) -> dict[str, Any]:
    """The parameters of a method, with the defaults of those that were not given; `tuned` leaves gaps.

    Raises
    ------
    TypeError, ValueError
        There is no such parameter, one is missing, or out of its range.
    """
    wanted = {param.name: param for param in card.params if tuned or not param.learning}
    known = [*wanted, card.learnt] if card.learnt else list(wanted)
    checked: dict[str, Any] = {}
    for name, value in params.items():
        if name not in known:
            has = f"; it has {', '.join(known)}" if known else "; it has none"
            raise TypeError(f"method {card.name!r} has no parameter {name!r}{meant(name, known) or has}")
        if name in wanted:
            param = wanted[name]
            if param.whole:
                value = integer(name, value)
            checked[name] = finite(name, value, param.low, param.high)
            checked[name] = int(checked[name]) if param.whole else checked[name]
        else:
            checked[name] = learnt_lists(card, value, names)
    for name in () if tuned else known:
        if name not in checked:
            if name == card.learnt or wanted[name].default is None:
                how = ", which fastir.tune learns from judgments" if name == card.learnt else ""
                raise ValueError(f"method {card.name!r} needs {name}{how}")
            checked[name] = wanted[name].default
    return checked


def learnt_lists(card: Method, value: Any, names: Sequence[Any]) -> list[Any]:
    """What was learnt from judgments: a number or a list of numbers for each run."""
    name = card.learnt
    if not hasattr(value, "__len__") or isinstance(value, (str, bytes, Mapping)):
        raise TypeError(f"{name} must be a list with an entry for each run, got {type(value).__name__}")
    if len(value) != len(names):
        raise ValueError(f"{name}: expected {len(names)}, one for each run, got {len(value)}")
    dims = 0 if name == "map_scores" else 1
    lists = [np.array(entry, float) for entry in value]
    for run, entry in zip(names, lists, strict=True):
        if entry.ndim != dims or (dims and not len(entry)):
            raise TypeError(f"{name}: that of run {quote(run)} must be {'a list of numbers' if dims else 'a number'}")
        if not np.isfinite(entry).all():
            raise ValueError(f"{name}: those of run {quote(run)} must be finite")
    sizes = {len(entry) for entry in lists} if dims else set()
    if (card.feature == "segments" and sizes != {10}) or (card.feature == "parts" and len(sizes) > 1):
        raise ValueError(f"{name}: expected {'10' if card.feature == 'segments' else 'as many'} numbers for each run")
    return [entry if dims else float(entry) for entry in lists]


def recipes(card: Method, norm: str | None, settings: Sequence[Setting], n_runs: int, width: int) -> Recipes:
    """Settings of a method for the kernels; `width` is the length of the longest ranking."""
    n = len(settings)
    counts = np.arange(1.0, n_runs + 1)
    weights, factors = np.ones((n, n_runs)), np.zeros((n, n_runs + 1))
    windows = np.zeros(n, np.int64)
    for i, setting in enumerate(settings):
        if setting.weights is not None:
            weights[i] = setting.weights
        if card.factors is not None:
            factors[i, 1:] = card.factors(counts, setting.params)
        windows[i] = len(setting.params["probs"][0]) if card.feature == "parts" else setting.params.get("w", 0)
    if card.table is None:
        tables = np.zeros((1, n_runs, 0))
    else:
        first = settings[0].params
        by_param = not card.learnt and card.factors is None  # what else a parameter is for, no table shows
        one = all(s.params.get(card.learnt) is first.get(card.learnt) for s in settings) and not (
            by_param and any(s.params != first for s in settings)
        )
        by_setting = [np.asarray(card.table(width, setting.params)) for setting in (settings[:1] if one else settings)]
        longest = max(table.shape[1] for table in by_setting)
        tables = np.empty((len(by_setting), n_runs, longest))
        for table, numbers in zip(tables, by_setting, strict=True):
            table[:, : numbers.shape[1]] = numbers
            table[:, numbers.shape[1] :] = numbers[:, -1:] if card.feature == "window" else card.absent
    return Recipes(card.feature, norm, card.rule, card.absent, weights, factors, tables, windows)
