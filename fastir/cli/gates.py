"""Gates: conditions on the numbers of a command; a failure has an exit code of its own, and one line that says why."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from fastir.cli.arguments import UsageError, between_commas
from fastir.request.directions import SIGNS, direction_of

if TYPE_CHECKING:
    from fastir.comparison.comparison import Comparison
    from fastir.results.results import Results


class Bound(NamedTuple):
    """The mean of a metric may not be under a value, or over it."""

    metric: str
    value: float
    option: str

    def failure(self, run: str, results: Results) -> str | None:
        """Why a run fails, or None."""
        mean = results[self.metric]
        word = self.option.rpartition("-")[2]
        if mean != mean:
            return f"run {run}: {self.metric} has no value ({self.option} {self.metric}={self.value:g})"
        if mean < self.value if word == "under" else mean > self.value:
            return f"run {run}: {self.metric} is {mean:.6g}, {word} {self.value:g}"
        return None


def bounds_of(under: list[str] | None, over: list[str] | None) -> list[Bound]:
    """The conditions of --fail-under and --fail-over.

    Raises
    ------
    UsageError
        A word is not METRIC=VALUE, or the option is that of metrics whose better values lie on the other side.
    """
    bounds = []
    for option, words, worse in (("--fail-under", under, "less"), ("--fail-over", over, "more")):
        for word in (part for given in words or () for part in between_commas(given)):
            metric, mark, number = word.rpartition("=")
            try:
                value = float(number) if mark and metric else float("nan")
            except ValueError:
                value = float("nan")
            if value != value:
                raise UsageError(f"{option} {word}: expected METRIC=VALUE, such as ndcg@10=0.42")
            if direction_of(metric) == worse:
                other = "--fail-over" if option == "--fail-under" else "--fail-under"
                raise UsageError(f"{option} {word}: {worse} of {metric} is better; use {other}")
            bounds.append(Bound(metric, value, option))
    return bounds


def failures(bounds: list[Bound], results: Mapping[str, Results]) -> list[str]:
    """Why the runs fail, run by run."""
    found = (bound.failure(run, of_run) for run, of_run in results.items() for bound in bounds)
    return [line for line in found if line is not None]


class Rule(NamedTuple):
    """A run may not be significantly worse than the baseline ("worse"), or lose more than a margin ("drop")."""

    kind: str
    metric: str
    limit: float | None

    def failures(self, comparison: Comparison) -> list[str]:
        sign = SIGNS[direction_of(self.metric)] or 1
        level = round(1 - comparison.method.confidence, 12) if self.limit is None else self.limit
        found = []
        for pair in comparison.pairs:
            if pair.metric != self.metric:
                continue
            loss = -sign * pair.difference
            what = f"run {pair.a}: {self.metric} is {abs(pair.difference):.6g} worse than that of {pair.b}"
            if self.kind == "drop" and not loss <= (self.limit or 0.0):
                reason = f"more than {self.limit:g}" if loss == loss else "which cannot be told"
                found.append(f"{what}, {reason}" if loss == loss else f"run {pair.a}: {self.metric} has no value")
            elif self.kind == "worse" and loss > 0 and pair.adjusted_p <= level:
                found.append(f"{what}, p = {pair.adjusted_p:.4g} (at most {level:g})")
        return found


RULE = re.compile(
    r"(?P<worse>worse):(?P<metric>[^:>]+)(?::(?P<alpha>[\d.eE+-]+))?|drop:(?P<dropped>[^:>]+)>(?P<margin>[\d.eE+-]+)"
)


def rules_of(words: list[str] | None) -> list[Rule]:
    """The conditions of --fail-if.

    Raises
    ------
    UsageError
        A word is neither ``worse:METRIC[:ALPHA]`` nor ``drop:METRIC>MARGIN``.
    """
    rules = []
    for word in words or ():
        found = RULE.fullmatch(word)
        try:
            if found is None:
                raise ValueError
            if found["worse"]:
                alpha = None if found["alpha"] is None else float(found["alpha"])
                if alpha is not None and not 0 < alpha < 1:
                    raise ValueError
                rules.append(Rule("worse", found["metric"], alpha))
            else:
                rules.append(Rule("drop", found["dropped"], float(found["margin"])))
        except ValueError:
            raise UsageError(
                f"--fail-if {word}: expected worse:METRIC, worse:METRIC:ALPHA or drop:METRIC>MARGIN, "
                "such as worse:ndcg@10 or 'drop:map>0.01'"
            ) from None
    return rules
