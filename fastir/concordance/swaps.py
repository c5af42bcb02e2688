"""Pairs of systems that two leaderboards order differently, and whether either says so significantly."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np

from fastir.comparison.compare_scores import compare_scores
from fastir.concordance.taus import signs
from fastir.stats._scipy import check_scipy


class Swap(NamedTuple):
    """Two systems, the better one by the truth first, which the other leaderboard puts the other way round.

    Attributes
    ----------
    better, worse : name of a system
    difference_a, difference_b : float
        The value of `better` minus that of `worse`: by the truth, and by the other.
    p_a, p_b : float
        Of the paired test of each, corrected over all pairs of systems; NaN where there are no values per query.
    significant : {"a", "b", "both", "neither", ""}
        In which of the two the difference is significant; "" where neither has a p-value.
    """

    better: Hashable
    worse: Hashable
    difference_a: float
    difference_b: float
    p_a: float
    p_b: float
    significant: str


Ps = dict[tuple[Any, Any], float]


def p_values(results: Mapping[Any, Any] | None, metric: str | None, test: str, correction: str | None) -> Ps:
    """{(system, system): p-value}, both ways round; none without values per query or without SciPy."""
    if results is None or not has_scipy():
        return {}
    comparison = compare_scores(dict(results), metric, test=test, correction=correction)
    return {
        pair: record.adjusted_p for record in comparison.pairs for pair in ((record.a, record.b), (record.b, record.a))
    }


def has_scipy() -> bool:
    try:
        check_scipy()
    except ImportError:
        return False
    return True


def swapped(systems: list[Any], a: np.ndarray, b: np.ndarray, sign: int, ps: tuple[Ps, Ps], alpha: float) -> list[Swap]:
    """The pairs that stand in opposite orders, those with the largest true difference first."""
    rows, columns = np.nonzero((signs(sign * a) == 1) & (signs(sign * b) == -1))
    found = []
    for i, j in zip(rows.tolist(), columns.tolist(), strict=True):
        pair = systems[i], systems[j]
        p_a, p_b = (of.get(pair, math.nan) for of in ps)
        found.append(Swap(*pair, float(a[i] - a[j]), float(b[i] - b[j]), p_a, p_b, verdict(p_a, p_b, alpha)))
    return sorted(found, key=lambda swap: -abs(swap.difference_a))


def verdict(p_a: float, p_b: float, alpha: float) -> str:
    """In which of two tests a difference is significant."""
    if math.isnan(p_a) and math.isnan(p_b):
        return ""
    return {(True, True): "both", (True, False): "a", (False, True): "b", (False, False): "neither"}[
        p_a <= alpha, p_b <= alpha
    ]
