"""Pairs of systems that two leaderboards order differently, and whether either says so significantly."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple, SupportsIndex, overload

import numpy as np

from fastir.analyses.compare.compare_scores import compared
from fastir.analyses.compare.options import Options
from fastir.analyses.compare.scores import read_scores
from fastir.engine.threads import interruptible
from fastir.stats._checks import check_scipy


class Swap(NamedTuple):
    """Two systems that the two leaderboards order differently; the better one by the truth comes first.

    Attributes
    ----------
    better, worse : name of a system
    difference_a, difference_b : float
        The value of `better` minus that of `worse`: by the truth, and by the other leaderboard.
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
    """{(system, system): p-value}, both ways round; none without values per query or without SciPy."""
    if results is None or not has_scipy():
        return {}
    comparison = compared(read_scores(dict(results), metric, None, None), options)
    return {
        pair: record.adjusted_p
        for record in comparison.verdicts
        for pair in ((record.a, record.b), (record.b, record.a))
    }


def has_scipy() -> bool:
    try:
        check_scipy()
    except ImportError:
        return False
    return True


class Swaps(Sequence[Swap]):
    """The pairs that stand in opposite orders, those with the largest true difference first.

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
