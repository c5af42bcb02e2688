"""What else may give values, where no setting does: other numbers of queries, and other metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from fastir.analyses.identify.columns import Judge, Mean
from fastir.analyses.identify.settings import DataProperties, State, States, conventions
from fastir.analyses.identify.values import Target
from fastir.rendering.text import counted

Wanted = list[tuple[Judge, Target]]
# The numbers by which means may have been divided, of the facts and the number of queries that count.
DIVISORS: tuple[tuple[str, Callable[[DataProperties, int], int]], ...] = (
    ("one more than there are", lambda facts, number: number + 1),
    ("one fewer than there are", lambda facts, number: number - 1),
    ("the run's queries", lambda facts, number: facts.n_run),
    ("the qrels' queries", lambda facts, number: facts.n_qrels),
)


class Explanation(NamedTuple):
    """What would give the reported values, and is no setting of `evaluate`.

    Attributes
    ----------
    sentence : str
    convention : str
        The convention that reads the metrics.
    metrics : list of str
        The metric behind each value.
    values : list of float
        Their values then, unrounded.
    """

    sentence: str
    convention: str
    metrics: list[str]
    values: list[float]


def explanations(wanted: Wanted, facts: DataProperties) -> list[Explanation]:
    """Conventions without other options that give the values by another divisor, or with other metrics."""
    metrics = list(dict.fromkeys(name for _, target in wanted for name in (*target.meanings, *target.others)))
    found: dict[Any, Explanation] = {}
    for convention in conventions(facts):
        states = States(convention, metrics, facts)
        usual = dict(zip(metrics, states.of(()), strict=True))
        for each in (*by_divisor(convention, wanted, usual), *by_metric(convention, wanted, usual)):
            found.setdefault(tuple(np.round(each.values, 12)), each)
    return list(found.values())


def by_divisor(convention: str, wanted: Wanted, states: dict[str, State | None]) -> Iterator[Explanation]:
    for words, divisor in DIVISORS:
        fits: list[tuple[str, Mean, int]] = []
        for judge, target in wanted:
            for name, mean in compute_means(judge, target.meanings, states, averages_only=True).items():
                divided = divisor(judge.facts, mean.number)
                if divided not in (0, mean.number) and target.holds(mean.value * mean.number / divided):
                    fits.append((name, mean, divided))
                    break
            else:
                break
        else:
            places = [target.places for _, target in wanted]
            shown = ", ".join(f"{mean.value:.{each}f}" for (_, mean, _), each in zip(fits, places, strict=True))
            _, mean, divided = fits[0]
            over = f"over {counted(divided, 'query', 'queries')} instead of {mean.number}"
            values = [mean.value * mean.number / divided for _, mean, divided in fits]
            sentence = f"the means of {convention} ({shown}) {over}: {words}"
            yield Explanation(sentence, convention, [name for name, _, _ in fits], values)


def by_metric(convention: str, wanted: Wanted, states: dict[str, State | None]) -> Iterator[Explanation]:
    fits: list[tuple[str, float]] = []
    for judge, target in wanted:
        means = compute_means(judge, (*target.meanings, *target.others), states)
        fits += [(name, mean.value) for name, mean in means.items() if target.holds(mean.value)][:1]
    names = [name for name, _ in fits]
    if len(fits) == len(wanted):
        others = [
            f"{name} has the value of {target.name}, {target.shown},"
            for (_, target), name in zip(wanted, names, strict=True)
            if name in target.others
        ]
        if others:
            yield Explanation(
                f"{' and '.join(others)} under {convention}", convention, names, [each for _, each in fits]
            )


def compute_means(
    judge: Judge, names: tuple[str, ...], states: dict[str, State | None], averages_only: bool = False
) -> dict[str, Mean]:
    """The mean of each metric that the convention has."""
    known = {name: state for name in names if (state := states[name]) is not None}
    if averages_only:
        known = {name: state for name, state in known.items() if state.how.startswith("mean")}
    means = judge.means(known.values(), None)
    return {name: means[state] for name, state in known.items()}
