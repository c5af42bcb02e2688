"""rank_correlation(): would these judgments have chosen another system?"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex, overload

import numpy as np

from fastir.analyses.compare.compare_scores import compare_aligned
from fastir.analyses.compare.options import CorrectionOfPairs, Options, Test
from fastir.analyses.compare.scores import read_scores
from fastir.checks import mapping, suggest_choice
from fastir.data.results.by_run import ResultsByRun, load_results
from fastir.data.results.exportable import Exportable, columns_from_records
from fastir.data.results.results import Results
from fastir.engine.threads import interruptible
from fastir.errors import NoOverlapError, quote
from fastir.rendering import Cell, Table, number_cell
from fastir.rendering.text import counted, decimals, json_types
from fastir.request.directions import SIGNS, higher_is_better
from fastir.request.names import refuse_mapping
from fastir.stats import taus

if TYPE_CHECKING:
    import os

PRINTED_SWAPS = 20  # swapped pairs that are printed
COEFFICIENTS = "tau_b", "tau_ap", "tau_ap_a", "tau_ap_b", "spearman"


class Drop(NamedTuple):
    """The system that falls by the most ranks from the first leaderboard to the second, and its two ranks."""

    system: Hashable
    place_a: int
    place_b: int

    @property
    def places(self) -> int:
        return self.place_b - self.place_a


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class RankCorrelation(Exportable):
    """How two leaderboards of the same systems agree; made by `rank_correlation`. Prints as a report.

    Attributes
    ----------
    systems : list
        The systems, the best by `a` first.
    metric : str or None
    a, b : dict of system to float
        The values of each system on the two sides.
    tau_b : float
        Kendall's tau_b, from -1 to 1. **Undefined** (NaN) if all values of one side are equal.
    tau_ap : float
        The AP correlation of `b` with the truth `a`, which weighs the top of the leaderboard more. **Undefined** (NaN)
        with ties. **Source** Yilmaz, Aslam and Robertson 2008.
    tau_ap_a : float
        The mean of tau_ap over all orders of the systems tied in `b`. **Undefined** (NaN) if `a` has ties. **Source**
        Urbano and Marrero 2017.
    tau_ap_b : float
        The symmetric AP correlation, with ties on both sides. **Undefined** (NaN) if all values of one side are equal.
        **Source** Urbano and Marrero 2017.
    spearman : float
        Spearman's rank correlation. **Undefined** as `tau_b`.
    largest_drop : Drop
        The system that drops by the most ranks from `a` to `b`; tied systems share the best of their ranks.
    same_winner : bool
        Whether a best system of `a` is also a best system of `b`.
    swaps : sequence of Swap
        The pairs in opposite orders, the largest true difference first. They are computed when first read.
    method : str
        How pairs are tested: the test, the correction, and the largest significant p-value.
    used_judge : list
        The systems that used the judge, the best by `a` first.
    without : RankCorrelation or None
        The same of the other systems alone, without tests; None if no system used the judge.
    """

    systems: list[Any]
    metric: str | None
    a: dict[Any, float]
    b: dict[Any, float]
    tau_b: float
    tau_ap: float
    tau_ap_a: float
    tau_ap_b: float
    spearman: float
    largest_drop: Drop
    same_winner: bool
    swaps: Sequence[Swap]
    method: str
    used_judge: list[Any]
    without: RankCorrelation | None

    def _columns(self) -> dict[str, list[Any]]:
        return columns_from_records(Swap._fields, self.swaps)

    def _json(self, per_query: bool = True) -> dict[str, Any]:
        data = {
            "metric": self.metric,
            "systems": {system: {"a": self.a[system], "b": self.b[system]} for system in self.systems},
            **{name: getattr(self, name) for name in COEFFICIENTS},
            "largest_drop": {**self.largest_drop._asdict(), "system": str(self.largest_drop.system)},
            "same_winner": self.same_winner,
            "swaps": [{**swap._asdict(), "better": str(swap.better), "worse": str(swap.worse)} for swap in self.swaps],
        }
        if self.without is not None:
            data["used_judge"] = list(map(str, self.used_judge))
            data["without"] = {name: getattr(self.without, name) for name in COEFFICIENTS}
        return json_types(data)

    def _coefficients(self, digits: int) -> str:
        return ", ".join(f"{name} {decimals(getattr(self, name), digits)}" for name in COEFFICIENTS)

    def _circularity_text(self, digits: int) -> list[str]:
        """Which systems used the judge, how much better it ranks them, and the coefficients without them."""
        if self.without is None:
            return []
        sign = SIGNS[higher_is_better(self.metric)] or 1
        ranks = [dict(zip(side, taus.places(np.array([sign * value for value in side.values()])).tolist(), strict=True))
                 for side in (self.a, self.b)]  # fmt: skip
        rise = sum(ranks[0][system] - ranks[1][system] for system in self.used_judge) / len(self.used_judge)
        ranks_text = f"{abs(rise):.3g} {'rank' if abs(rise) == 1 else 'ranks'}"
        way = f"{ranks_text} {'better' if rise > 0 else 'worse'}" if rise else "no rank better"
        return [
            f"{counted(len(self.used_judge), 'system', 'systems')} used the judge of b "
            f"({', '.join(map(str, self.used_judge))}): on average {way} in b than in a. Without: "
            f"{self.without._coefficients(digits)}."
        ]

    def _winners(self) -> str:
        """Which systems are the best by either; several if they are tied."""
        sign = SIGNS[higher_is_better(self.metric)] or 1
        best = []
        for values in (self.a, self.b):
            most = max(sign * value for value in values.values())
            best.append([str(system) for system, value in values.items() if sign * value == most])
        one, two = (" and ".join(names) for names in best)
        verb = "is" if len(best[0]) == 1 else "are"
        return f"{one} {verb} best by both" if one == two else f"{one} {verb} best by a, {two} by b"

    def _significance_text(self) -> str:
        """How many swapped pairs differ significantly; nothing without tests."""
        verdicts = [swap.significant for swap in self.swaps if swap.significant]
        if not verdicts:
            return ""
        in_a, in_b = (sum(verdict in (side, "both") for verdict in verdicts) for side in ("a", "b"))
        return f"; {in_a} significantly different in a, {in_b} in b"

    def _table(self, digits: int = 4) -> Table:
        rows = [
            [
                Cell(str(swap.better)),
                Cell(str(swap.worse)),
                *(number_cell(value, digits) for value in (swap.difference_a, swap.difference_b, swap.p_a, swap.p_b)),
                Cell(swap.significant or "-"),
            ]
            for swap in self.swaps[:PRINTED_SWAPS]
        ]
        drop = self.largest_drop
        notes = [
            f"{counted(len(self.systems), 'system', 'systems')}{f' by {self.metric}' if self.metric else ''}: "
            + f"{self._coefficients(digits)}.",
            *self._circularity_text(digits),
            f"{self._winners()}; "
            + (
                f"{drop.system} falls most, from rank {drop.place_a} to {drop.place_b}."
                if drop.places
                else "none falls."
            ),
            f"{counted(len(self.swaps), 'pair is', 'pairs are')} swapped"
            + (f", of which the first {PRINTED_SWAPS} are shown" if len(self.swaps) > PRINTED_SWAPS else "")
            + self._significance_text()
            + ".",
            *([self.method] if any(swap.significant for swap in self.swaps) else []),
        ]
        return Table(["better in a", "worse in a", "a", "b", "p in a", "p in b", "significant in"], rows, 2, notes)


def rank_correlation(
    a: Mapping[Any, Any] | str | os.PathLike[str],
    b: Mapping[Any, Any] | str | os.PathLike[str],
    metric: str | None = None,
    *,
    test: Test = "t",
    correction: CorrectionOfPairs | None = "auto",
    confidence: float = 0.95,
    used_judge: Iterable[Hashable] | None = None,
) -> RankCorrelation:
    """Measure how two leaderboards of the same systems agree, and find the pairs that they order differently.

    Parameters
    ----------
    a, b : mapping of system to value, ResultsByRun, or a file in which `ResultsByRun.save` has put them
        `a` is the truth. A system with `Results` counts by its mean, and swapped pairs are tested query by query.
    metric : str or None
        Which metric of the `Results`; None if they have only one. Its name also says whether less is better.
    test, correction
        As for `compare_scores`, over all pairs of systems. If SciPy is missing, tests that need it give no p-values.
    confidence : float
        A difference is significant if its p-value is at most 1 - confidence.
    used_judge : iterable of systems, or None
        Systems that used the judge whose labels made `b`, such as runs that its model has reranked. Its labels favour
        them, so a correlation over all systems is circular: the result has it without them, too.

    Returns
    -------
    RankCorrelation

    Raises
    ------
    NoOverlapError
        A system has a value on one side only.
    TypeError, ValueError
        A value is not a number, or is NaN; there are fewer than two systems, or fewer without `used_judge`; a system of
        `used_judge` is unknown; the metric is missing; an option is invalid.

    Notes
    -----
    Systems that use the judge: Clarke and Dietz 2024, arXiv 2412.17156.

    Examples
    --------
    >>> import fastir
    >>> human = {"bm25": 0.42, "dense": 0.45, "hybrid": 0.51, "random": 0.05}
    >>> model = {"bm25": 0.47, "dense": 0.46, "hybrid": 0.62, "random": 0.11}
    >>> result = fastir.rank_correlation(human, model)
    >>> round(result.tau_b, 4), round(result.tau_ap, 4), result.same_winner
    (0.6667, 0.6667, True)
    >>> [swap[:2] for swap in result.swaps]
    [('dense', 'bm25')]
    """
    options = Options(test=test, correction=correction, confidence=confidence).validate()
    refuse_mapping(metric)
    alpha = round(1 - options.confidence, 12)
    (values_a, per_query_a, metric_a), (values_b, per_query_b, metric_b) = (
        leaderboard(side, board, metric) for side, board in (("a", a), ("b", b))
    )
    if metric_a and metric_b and metric_a != metric_b:
        raise ValueError(f"a has values of {metric_a}, and b of {metric_b}; expected the same metric")
    metric = metric or metric_a or metric_b
    sign = SIGNS[higher_is_better(metric)] or 1
    check_systems(values_a, values_b)
    names, truth = list(values_a), np.array(list(values_a.values()))
    best_first = np.argsort(-sign * truth, kind="stable")
    systems = list(map(names.__getitem__, best_first.tolist()))
    x, y = truth[best_first], np.array(list(map(values_b.__getitem__, systems)))
    up_x, up_y = sign * x, sign * y
    circular = [] if used_judge is None else systems_that_used(used_judge, systems)
    without = None
    if circular:
        others = [system for system in systems if system not in circular]
        rest_a, rest_b = ({system: side[system] for system in others} for side in (values_a, values_b))
        without = rank_correlation(rest_a, rest_b, metric)
    ps = p_values(per_query_a, metric, options), p_values(per_query_b, metric, options)

    def correlation() -> RankCorrelation:
        orders = taus.Orders(up_x, up_y)
        places_a, places_b = orders.places
        fall = int((places_b - places_a).argmax())
        return RankCorrelation(
            systems,
            metric,
            dict(zip(systems, x.tolist(), strict=True)),
            dict(zip(systems, y.tolist(), strict=True)),
            taus.tau_b(up_x, up_y, orders),
            taus.tau_ap(up_x, up_y, orders),
            taus.tau_ap_a(up_x, up_y, orders),
            taus.tau_ap_b(up_x, up_y, orders),
            taus.spearman(up_x, up_y, orders),
            Drop(systems[fall], int(places_a[fall]), int(places_b[fall])),
            bool(((places_a == 1) & (places_b == 1)).any()),
            Swaps(systems, x, y, sign, ps, alpha),
            f"{test} test, paired, two-sided; {options.correction or 'no correction'} over all pairs of systems; "
            f"significant: p ≤ {alpha:g}.",
            circular,
            without,
        )

    return interruptible(correlation, len(systems))


def systems_that_used(judge: Iterable[Hashable], systems: list[Any]) -> list[Any]:
    """The systems that used the judge, in the order of all; two others at least must be left."""
    if isinstance(judge, (str, bytes)) or not isinstance(judge, Iterable):
        raise TypeError(f"used_judge must be a list of systems, got {type(judge).__name__} {quote(judge)}")
    named = list(judge)
    for system in named:
        if system not in systems:
            raise ValueError(f"used_judge: there is no system {quote(system)}{suggest_choice(system, systems)}")
    if named and len(systems) - len(set(named)) < 2:
        raise ValueError(f"used_judge leaves {len(systems) - len(set(named))} of {len(systems)} systems; expected two")
    return [system for system in systems if system in named]


def leaderboard(side: str, board: Any, metric: str | None) -> tuple[dict[Any, float], Any, str | None]:
    """{system: value} of what a caller gave, the Results by system if there are any, and the metric."""
    if isinstance(board, str) or hasattr(board, "__fspath__"):
        board = load_results(board)
    if isinstance(board, Results):
        raise TypeError(f"{side} must map systems to values or to Results, got the Results of a single run")
    board = mapping(side, board, "map systems to values or to Results")
    if set(map(type, board.values())) == {float} and all(map(math.isfinite, board.values())):
        return dict(board), None, metric  # as below
    held = isinstance(board, ResultsByRun) or any(isinstance(value, Results) for value in board.values())
    values = {}
    for system, value in board.items():
        if held:
            if not isinstance(value, Results):
                raise TypeError(f"{side}: system {quote(system)} has no Results, as others have, but {quote(value)}")
            metric = metric or only_metric(side, value)
            if metric not in value:
                raise ValueError(f"{side}: system {quote(system)} has no metric {quote(metric)}; it has {value.names}")
            value = value[metric]
        values[system] = check_finite(side, system, value)
    return values, board if held else None, metric


def only_metric(side: str, results: Results) -> str:
    if len(results) != 1:
        raise ValueError(f"{side} has the metrics {', '.join(results.names)}; say with metric= which one counts")
    return results.names[0]


def check_finite(side: str, system: Any, value: Any) -> float:
    if not hasattr(value, "__float__") and not hasattr(value, "__index__"):
        raise TypeError(f"{side}: the value of system {quote(system)} is {quote(value)}, expected a number")
    real = float(value)
    if not math.isfinite(real):
        raise ValueError(f"{side}: the value of system {quote(system)} is {real}, expected a finite number")
    return real


def check_systems(a: dict[Any, float], b: dict[Any, float]) -> None:
    """Both sides must have the same systems, two at least."""
    for side, other, name in ((a, b, "b"), (b, a, "a")) if a.keys() != b.keys() else ():
        missing = [system for system in side if system not in other]
        if missing:
            raise NoOverlapError(f"{name} has no value for system {quote(missing[0])}, which the other side has")
    if len(a) < 2:
        raise ValueError(f"a rank correlation takes two systems or more, got {len(a)}")


# ---- pairs in opposite orders ----------------------------------------------------------------------------------------
class Swap(NamedTuple):
    """Two systems that the two leaderboards order differently; the better one by the truth comes first.

    Attributes
    ----------
    better, worse : name of a system
    difference_a, difference_b : float
        The value of `better` minus the value of `worse`: by the truth, and by the other leaderboard.
    p_a, p_b : float
        The p-value of the paired test on each leaderboard, corrected over all pairs of systems; NaN without values per
        query.
    significant : {"a", "b", "both", "neither", ""}
        On which leaderboard the difference is significant; "" if neither has a p-value.
    """

    better: Hashable
    worse: Hashable
    difference_a: float
    difference_b: float
    p_a: float
    p_b: float
    significant: str


Ps = dict[tuple[Any, Any], float]


def p_values(results: Mapping[Any, Any] | None, metric: str | None, options: Options) -> Ps:
    """{(system, system): p-value}, both ways round; none without values per query or without the SciPy of a test."""
    if results is None:
        return {}
    try:
        options.check_scipy()
    except ImportError:
        return {}
    comparison = compare_aligned(read_scores(dict(results), metric, None, None), options)
    return {
        pair: record.adjusted_p
        for record in comparison.verdicts
        for pair in ((record.a, record.b), (record.b, record.a))
    }


class Swaps(Sequence[Swap]):
    """The pairs that the leaderboards order differently, the largest true differences first.

    The pairs are found when one is first read, and a Swap is made of each that is: a thousand systems have up to half a
    million of them.
    """

    def __init__(
        self, systems: list[Any], a: np.ndarray, b: np.ndarray, sign: int, ps: tuple[Ps, Ps], alpha: float
    ) -> None:
        self._systems, self._a, self._b, self._sign, self._ps, self._alpha = systems, a, b, sign, ps, alpha
        self._pair_rows: tuple[np.ndarray, np.ndarray] | None = None

    def _pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """The positions of the better systems, and of the worse ones."""
        if self._pair_rows is None:
            self._pair_rows = interruptible(self._find, len(self._a) ** 2)  # it looks at all pairs of systems
        return self._pair_rows

    def _find(self) -> tuple[np.ndarray, np.ndarray]:
        up_a, up_b = self._sign * self._a, self._sign * self._b
        rows, columns = np.nonzero((up_a[:, None] > up_a) & (up_b[:, None] < up_b))
        order = np.argsort(-np.abs(self._a[rows] - self._a[columns]), kind="stable")
        return rows[order], columns[order]

    def __len__(self) -> int:
        return len(self._pairs()[0])

    @overload
    def __getitem__(self, place: SupportsIndex) -> Swap: ...
    @overload
    def __getitem__(self, place: slice) -> list[Swap]: ...
    def __getitem__(self, place: SupportsIndex | slice) -> Swap | list[Swap]:
        if isinstance(place, slice):
            return [self[row] for row in range(*place.indices(len(self)))]
        rows, columns = self._pairs()
        i, j = int(rows[place]), int(columns[place])
        pair = self._systems[i], self._systems[j]
        p_a, p_b = (p_values.get(pair, math.nan) for p_values in self._ps)
        differences = float(self._a[i] - self._a[j]), float(self._b[i] - self._b[j])
        return Swap(*pair, *differences, p_a, p_b, verdict(p_a, p_b, self._alpha))

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    def __repr__(self) -> str:
        return repr(list(self))


def verdict(p_a: float, p_b: float, alpha: float) -> str:
    """In which of two tests a difference is significant."""
    if math.isnan(p_a) and math.isnan(p_b):
        return ""
    return {(True, True): "both", (True, False): "a", (False, True): "b", (False, False): "neither"}[
        p_a <= alpha, p_b <= alpha
    ]
