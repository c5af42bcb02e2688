"""The caller's weights and parameters of a method, checked; and several settings as the arrays of a kernel."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fastir.analyses.fusion._recipe import Recipes
from fastir.analyses.fusion.cards import SEGMENTS, Method
from fastir.checks import integer, mapping, number, suggest_choice, whole_number
from fastir.declared import Param
from fastir.errors import quote
from fastir.rendering.text import counted

FUSE_OPTIONS = ("norm", "run_weights", "max_depth", "ties", "names", "columns", "duplicates", "name", "n_threads")


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
        known = set(names)
        for name in weight_by_run:
            if name not in known:
                raise ValueError(f"run_weights: there is no run {quote(name)}{suggest_choice(name, names)}")
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
            from fastir.request.habits import OPTIONS, option_hint

            habits = {**OPTIONS, "weights": "did you mean 'run_weights'?"}
            has = (*FUSE_OPTIONS, *known)
            hint = option_hint(name, has, {word: text for word, text in habits.items() if word not in has})
            hint = hint or f"; it has {', '.join(known) or 'none'}"
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
    tables = np.zeros((1, 1, 0))
    if card.table is not None:
        # a table shows what was learnt, or else the parameter, if that is not for the factors
        shown = card.learnt or (card.param.name if card.param and card.factors is None else "")
        values = [setting.params.get(shown) for setting in settings]
        same = all(value is values[0] for value in values)
        by_setting = [np.asarray(card.table(width, s.params)) for s in (settings[:1] if same else settings)]
        rows, columns = (max(table.shape[axis] for table in by_setting) for axis in (0, 1))
        tables = np.empty((len(by_setting), rows, columns))
        for table, numbers in zip(tables, by_setting, strict=True):
            table[:, : numbers.shape[1]] = numbers
            table[:, numbers.shape[1] :] = numbers[:, -1:] if card.feature == "window" else card.absent
    return Recipes(card.feature, norm, card.rule, card.absent, weights, factors, tables, windows)


# ---- the settings that are tried -------------------------------------------------------------------------------------
STEPS = {2: 0.01, 3: 0.05, 4: 0.05}  # of a grid of weights, by the number of runs
N_TRIALS = 2000  # points, where no grid fits
MAX_STEPS = 1 << 16
MAX_TRIALS = 1 << 20  # each keeps a record, and a value of every query


def trial_settings(
    card: Method, names: list[Any], fixed: Mapping[str, Any], grid: Any, n_trials: Any, seed: int
) -> tuple[list[Setting], str]:
    """The settings to be tried, and how they were made."""
    params = check_params(card, fixed, names, tuned=True)
    if grid is not None and n_trials is not None:
        raise ValueError("grid and n_trials must not be given together")
    param = None if card.weights == "needed" or (card.param and card.param.name in params) else card.param
    if param is None and card.weights != "needed":
        if not card.learnt:
            has = f"its {card.param.name} is fixed" if card.param else "it has no weights and no parameters"
            raise ValueError(f"method {card.name!r} has nothing to tune: {has}")
        return [Setting(None, params)], "none, what is learnt has no choices"
    if isinstance(grid, Iterable):
        entries = list(itertools.islice(grid, MAX_TRIALS + 1))
        if not entries:
            raise ValueError("grid is empty")
        check_size(len(entries))
        listed = [
            Setting(None, check_params(card, {**params, param.name: entry}, names, tuned=True))
            if param is not None
            else Setting(check_weights(card, entry, names), params)
            for entry in entries
        ]
        return listed, "as given"
    count = None if n_trials is None else whole_number("n_trials", n_trials, 1, MAX_TRIALS)
    step = None if grid is None else number("grid", grid, 0, open=True)
    if param is not None:
        low, high, usual = card.grid
        if count is not None:
            values: Iterable[float] = np.linspace(low, high, count).tolist()
            kind = f"{count} values of {param.name} from {low:g} to {high:g}"
        else:
            values = value_range(low, high, step or usual)
            kind = f"all values of {param.name} from {low:g} to {high:g} in steps of {step or usual:g}"
        values = dict.fromkeys(map(round, values)) if param.integer else values
        return [Setting(None, {**params, param.name: value}) for value in values], kind
    n = len(names)
    if count is None and (step or n in STEPS):
        step = step or STEPS[n]
        n_steps = step_count("grid: a step of weights", step)
        check_size(math.comb(n_steps + n - 1, n - 1))
        points: Iterable[tuple[float, ...]] = simplex(n, n_steps)
        kind = f"all weights in steps of {step:g} that add up to 1"
    else:
        points = low_discrepancy(n, count or N_TRIALS, seed)
        n_points = counted(count or N_TRIALS, "point", "points")
        kind = f"{n_points} of low discrepancy among the weights that add up to 1"
    return [Setting(point, params) for point in points], kind


def check_size(n_settings: int) -> None:
    """Refuse a grid of more settings than memory is meant for."""
    if n_settings > MAX_TRIALS:
        raise ValueError(f"grid must be of at most {MAX_TRIALS} settings; use a wider step, or n_trials")


def step_count(option: str, step: float) -> int:
    """How many steps make 1; ValueError if none do, or too many."""
    n_steps = round(1 / step) if step > 0 else 0
    if not 1 <= n_steps <= MAX_STEPS or not math.isclose(n_steps * step, 1, rel_tol=1e-9):
        raise ValueError(f"{option} must divide 1, got {step!r}")
    return n_steps


def value_range(low: float, high: float, step: float) -> list[float]:
    """low, low + step, ..., high, without the errors of adding up."""
    check_size(math.floor(min((high - low) / step, MAX_TRIALS)) + 1)
    digits = max(0, 12 - math.floor(math.log10(max(abs(low), abs(high), step))))
    return [round(low + i * step, digits) for i in range(math.floor((high - low) / step + 1e-9) + 1)]


def simplex(n: int, n_steps: int) -> Iterator[tuple[float, ...]]:
    """All n weights that are multiples of 1 / n_steps and add up to 1, the first weight falling slowest."""
    for bars in itertools.combinations(range(n_steps + n - 1), n - 1):
        edges = (-1, *bars, n_steps + n - 1)
        yield tuple((right - left - 1) / n_steps for left, right in itertools.pairwise(edges))


def low_discrepancy(n: int, count: int, seed: int) -> Iterator[tuple[float, ...]]:
    """Weights that add up to 1: equal ones, and points of a Kronecker sequence, which are spaced evenly.

    The sequence has the powers of the root of x^n = x + 1 as its steps, and a start by the seed. Sorted, a point cuts
    the unit into pieces, which are uniform among all weights.
    """
    yield (1.0 / n,) * n
    root = 2.0
    for _ in range(64):
        root = (1.0 + root) ** (1.0 / n)
    steps = root ** -np.arange(1.0, n)
    start = np.random.default_rng(seed).random(n - 1)
    for i in range(1, count):
        cuts = np.sort((start + i * steps) % 1.0)
        yield tuple(np.diff(cuts, prepend=0.0, append=1.0).tolist())
