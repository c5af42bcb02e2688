"""Which settings are tried: every point of a grid where they are few, else points of low discrepancy."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from fastir.analyses.fusion.cards import Method
from fastir.analyses.fusion.settings import Setting, check_params, check_weights
from fastir.checks import number, whole_number
from fastir.rendering.text import counted

STEPS = {2: 0.01, 3: 0.05, 4: 0.05}  # of a grid of weights, by the number of runs
N_TRIALS = 2000  # points, where no grid fits
MOST_STEPS = 1 << 16
MAX_TRIALS = 1 << 20  # each keeps a record, and a value of every query


def trial_settings(
    card: Method, names: list[Any], fixed: Mapping[str, Any], grid: Any, n_trials: Any, seed: int
) -> tuple[list[Setting], str]:
    """The settings to be tried, and how they were made.

    Parameters
    ----------
    card : Method
    names : list
        Of the runs.
    fixed : mapping
        Parameters that are not searched.
    grid : None, a step, or the settings
    n_trials : None or int
    seed : int
    """
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
    if not 1 <= n_steps <= MOST_STEPS or not math.isclose(n_steps * step, 1, rel_tol=1e-9):
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
