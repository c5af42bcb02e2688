"""Gates: conditions on the numbers of a command; a failure has an exit code of its own, and one line that says why."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from fastir.cli.arguments import metrics_of_word
from fastir.cli.terminal import UsageError
from fastir.declared import Record
from fastir.rendering.text import counted
from fastir.request.directions import SIGNS, higher_is_better, metric_range
from fastir.request.names import between_commas

if TYPE_CHECKING:
    from fastir.analyses.compare.comparison import Comparison
    from fastir.analyses.compare.records import Pair, Verdict
    from fastir.data.results.results import Results


MAX_NAMED_RUNS = 3  # failing runs that a line names, before it counts the others
TIE_RANGE = "tie-range:"  # before the metric of a bound
RELATIVE_NOISE = 1e-12  # relative differences up to this are rounding


class Bound(Record):
    """The mean of a metric may not be under a value, or over it; or its range over the orders of equal scores."""

    metric: str
    value: float
    option: str
    is_tie_range: bool = False

    def __str__(self) -> str:
        """Return the bound as written in the option."""
        return f"{self.option} {TIE_RANGE * self.is_tie_range}{self.metric}={self.value:g}"

    def check(self) -> None:
        """Refuse a bound on the side where the better values lie, and one that no value is under, or over."""
        (low, high), under = metric_range(self.metric), self.option == "--fail-under"
        if self.is_tie_range:
            if under or not 0 <= self.value < high - low:
                raise UsageError(f"{self}: expected --fail-over with a range from 0 to below {high - low:g}")
            return
        worse, other = ("less", "--fail-over") if under else ("more", "--fail-under")
        if higher_is_better(self.metric) is not under and higher_is_better(self.metric) is not None:
            raise UsageError(f"{self}: {worse} of {self.metric} is better; use {other}")
        if self.value <= low if under else self.value >= high:
            raise UsageError(f"{self}: no value of {self.metric} is {'under' if under else 'over'} {self.value:g}")

    def failure(self, results: Mapping[str, Results]) -> str | None:
        """Why runs fail, in a line, or None."""
        word = self.option.rpartition("-")[2]
        if self.is_tie_range:
            what = f"the range of {self.metric} over the orders of equal scores"
            means = {run: of_run.ties()[self.metric].range for run, of_run in results.items()}
        else:
            what, means = self.metric, {run: of_run[self.metric] for run, of_run in results.items()}
        if not means:
            return f"no run has a value of {self.metric} ({self})"
        without = [run for run, mean in means.items() if mean != mean]
        if without:
            return f"{list_runs(without)}: {what} has no value ({self})"
        sign = 1 if word == "under" else -1
        failed = sorted(
            (run for run in means if sign * means[run] < sign * self.value), key=lambda run: sign * means[run]
        )
        if len(failed) == 1:
            return f"run {failed[0]}: {what} is {means[failed[0]]:.6g}, {word} {self.value:g}"
        shown = [f"{run} ({means[run]:.6g})" for run in failed]
        return f"{list_runs(shown)}: {what} is {word} {self.value:g}" if failed else None


def list_runs(runs: Sequence[str]) -> str:
    """Runs in a line, of which the first few are named: "run a", "2 runs, a, b", "5 runs, a, b, c and 2 more"."""
    if len(runs) == 1:
        return f"run {runs[0]}"
    more = f" and {len(runs) - MAX_NAMED_RUNS} more" if len(runs) > MAX_NAMED_RUNS else ""
    return f"{len(runs)} runs, {', '.join(runs[:MAX_NAMED_RUNS])}{more}"


def parse_bounds(under: list[str] | None, over: list[str] | None) -> list[Bound]:
    """The conditions of --fail-under and --fail-over; the metric of one may still be a list or a family."""
    bounds = []
    for option, words in (("--fail-under", under), ("--fail-over", over)):
        for word in (part for argument in words or () for part in conditions(argument)):
            metric, mark, number = word.rpartition("=")
            try:
                value = float(number) if mark and metric.strip() else float("nan")
            except ValueError:
                value = float("nan")
            if not math.isfinite(value) or metric[-1] in "<>!=":
                raise UsageError(f"{option} {word}: expected METRIC=VALUE, such as ndcg@10=0.42")
            named = metric.strip()
            bounds.append(Bound(named.removeprefix(TIE_RANGE), value, option, named.startswith(TIE_RANGE)))
    return bounds


def conditions(argument: str) -> list[str]:
    """The conditions of an argument, each up to its value: mrr=0.1,ndcg@5,10=0.5 has two, one of a list of metrics."""
    words: list[str] = []
    whole = True
    for part in between_commas(argument):
        if whole:
            words.append(part)
        else:
            words[-1] += f",{part}"
        whole = re.search(r"=[^()]*$", part) is not None
    return words


class Rule(Record):
    """A run may not be significantly worse than the baseline ("worse"), or lose more than a margin ("drop").

    A p-value that is not a number excuses no loss, and neither does one that is high because a test cannot tell: the
    same loss in every query has no variance, and one great loss among small ones has too much.
    """

    kind: str
    metric: str
    limit: float | None

    def __str__(self) -> str:
        """Return the rule as written in the option."""
        mark = ">" if self.kind == "drop" else ":"
        return f"--fail-if {self.kind}:{self.metric}" + ("" if self.limit is None else f"{mark}{self.limit:g}")

    def check(self) -> None:
        """Refuse a margin that no loss exceeds."""
        low, high = metric_range(self.metric)
        if self.kind == "drop" and self.limit is not None and self.limit >= high - low:
            raise UsageError(
                f"{self}: values of {self.metric} are from {low:g} to {high:g}, so no loss is more than {self.limit:g}"
            )

    def failure(self, comparison: Comparison) -> str | None:
        """Why runs fail, in a line, or None."""
        sign = SIGNS[higher_is_better(self.metric)] or 1
        level = round(1 - comparison.method.confidence, 12) if self.limit is None else self.limit
        pairs = [pair for pair in comparison.verdicts if pair.metric == self.metric]
        if not pairs:
            return f"{self}: no pair of runs was compared on {self.metric}"
        without = [str(pair.a) for pair in pairs if pair.difference != pair.difference]
        if without:
            return f"{list_runs(without)}: {self.metric} has no value"
        undefined = {pair: n for pair in pairs if (n := n_undefined(pair, comparison))}
        if undefined:
            shown = [str(pair.a) for pair in undefined]
            most, other = max(undefined.values()), next(iter(undefined)).b
            queries = counted(most, "query", "queries")
            return f"{list_runs(shown)}: {self.metric} has no value in {queries} where {other} has one"
        if self.kind == "drop":
            failed = {pair: f"more than {level:g}" for pair in pairs if not -sign * pair.difference <= level}
        else:
            losses = [pair for pair in pairs if -sign * pair.difference > 0]
            reasons = {pair: loss_reason(pair, comparison, sign, level) for pair in losses}
            failed = {pair: reason for pair, reason in reasons.items() if reason is not None}
        worst = sorted(failed, key=lambda pair: -abs(pair.difference))
        if len(worst) == 1:
            pair = worst[0]
            lost = f"{abs(pair.difference):.6g}"
            return f"run {pair.a}: {self.metric} is {lost} worse than {pair.b}'s, {failed[pair]}"
        reason = f"by more than {level:g}" if self.kind == "drop" else f"with p of at most {level:g}"
        if any(not failed[pair].startswith(("p = ", "more")) for pair in worst):
            reason += ", or in every query"
        shown = [f"{pair.a} ({abs(pair.difference):.6g})" for pair in worst]
        return f"{list_runs(shown)}: {self.metric} is worse than {worst[0].b}'s {reason}" if worst else None


def n_undefined(pair: Verdict | Pair, comparison: Comparison) -> int:
    """The number of queries in which the baseline has a value and the run has none: the difference leaves them out."""
    import numpy as np

    values = comparison.values[comparison.metrics.index(pair.metric)]
    a, b = (np.isnan(values[:, comparison.runs.index(side)]) for side in (pair.a, pair.b))
    return int((a & ~b).sum())


def loss_reason(pair: Verdict | Pair, comparison: Comparison, sign: int, level: float) -> str | None:
    """Why the loss of a run is significant at a level, or None.

    A run that loses in each of n queries does so by chance with a probability of 2 ** (1 - n), whatever the losses are;
    that is compared with the level, divided by the number of pairs.
    """
    import numpy as np

    from fastir.stats.paired_tests import moments

    if pair.adjusted_p <= level:
        return f"p = {pair.adjusted_p:.4g} (at most {level:g})"
    values = comparison.values[comparison.metrics.index(pair.metric)]
    values = values[~np.isnan(values).any(axis=1)]
    a, b = (values[:, comparison.runs.index(side)] for side in (pair.a, pair.b))
    lost = -sign * (a - b)
    n, largest = len(lost), max(np.abs(a).max(), np.abs(b).max())
    unknown = f" (p is {'not a number' if pair.adjusted_p != pair.adjusted_p else f'{pair.adjusted_p:.4g}'})"
    if n == 1:
        return "in its only query" + unknown
    if moments(lost, largest).constant:
        return f"by the same in each of {n} queries" + unknown
    if (lost > RELATIVE_NOISE * largest).all() and 2.0 ** (1 - n) * len(comparison.verdicts) <= level:
        return f"in each of {n} queries" + unknown
    return "and p is not a number" if pair.adjusted_p != pair.adjusted_p else None


Gate = TypeVar("Gate", Bound, Rule)


def for_each_metric(gates: list[Gate], measured: Collection[str], chosen: dict[str, Any]) -> list[Gate]:
    """Return the gates, one for each metric that the word of a gate means; `measured` are metrics of the results."""
    single = [
        gate._replace(metric=metric) for gate in gates for metric in metrics_of_word(gate.metric, measured, chosen)
    ]
    for gate in single:
        gate.check()
    return single


def failures(gates: Sequence[Bound | Rule], numbers: Any) -> list[str]:
    """Why runs fail, a line for each gate that is not passed by results (bounds), or by a comparison (rules)."""
    return [line for line in (gate.failure(numbers) for gate in gates) if line is not None]


RULE = (  # compiled by the first rule
    r"(?P<worse>worse):(?P<metric>[^:>]+)(?::(?P<alpha>[\d.eE+-]+))?|drop:(?P<dropped>[^:>]+)>(?P<margin>[\d.eE+-]+)"
)


def parse_rules(words: list[str] | None) -> list[Rule]:
    """The conditions of --fail-if."""
    rules = []
    for word in words or ():
        match = re.fullmatch(RULE, word)
        try:
            if match is None:
                raise ValueError
            if match["worse"]:
                alpha = None if match["alpha"] is None else float(match["alpha"])
                if alpha is not None and not 0 < alpha < 1:
                    raise ValueError
                rules.append(Rule("worse", match["metric"].strip(), alpha))
            else:
                margin = float(match["margin"])
                if not math.isfinite(margin):
                    raise ValueError
                rules.append(Rule("drop", match["dropped"].strip(), margin))
        except ValueError:
            raise UsageError(
                f"--fail-if {word}: expected worse:METRIC, worse:METRIC:ALPHA or drop:METRIC>MARGIN, "
                "such as worse:ndcg@10 or 'drop:map>0.01'"
            ) from None
    return rules
