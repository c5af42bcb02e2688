"""How large a difference is, and how small a difference the queries could show."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fastir.checks import check_choice, number, proportion
from fastir.stats._checks import column, differences
from fastir.stats.grid import to_grid
from fastir.stats.numeric import root
from fastir.stats.paired_tests import Moments, doubled_ranks, moments
from fastir.stats.student import gamma_ratio, power_by_centre

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Effect = Literal["d_z", "hedges_gz", "d_av", "hedges_g", "glass", "anova", "dominance", "rank_biserial"]

POWER = 0.8
LARGE_DEGREES = 1e7  # degrees of freedom
MIN_QUERIES = 1.0 + 1e-3  # queries, a real number
MIN_EFFECT = 1e-6  # below it, sample sizes are beyond any collection


class Sides:
    """The data of effect sizes: rows of scores of runs a and b, the last axis for the queries."""

    def __init__(
        self,
        a: np.ndarray,
        b: np.ndarray,
        pair_moments: Moments,
        whole: np.ndarray,
        loose: int,
        error: float | None = None,
    ) -> None:
        self.a: np.ndarray = a
        self.b: np.ndarray = b
        self.moments: Moments = pair_moments
        self.whole: np.ndarray = whole
        self.loose: int = loose
        self.error: float | None = error  # residual mean square of all runs; None: only the two

    def variance(self, of_run: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return moments(of_run, np.abs(of_run).max()).deviation ** 2

    def ratio(self, deviation: Any) -> np.ndarray:
        """The mean difference over a deviation; 0 over 0 is 0, anything else over 0 is NaN."""
        with np.errstate(divide="ignore", invalid="ignore"):
            quotient = np.where(deviation > 0, self.moments.mean / deviation, np.nan)
        return np.where((self.moments.mean == 0) & (deviation == 0), 0.0, quotient)


def d_av(x: Sides) -> np.ndarray:
    return x.ratio(((x.variance(x.a) + x.variance(x.b)) / 2) ** 0.5)


def anova(x: Sides) -> np.ndarray:
    return x.ratio(x.moments.deviation / 2**0.5 if x.error is None else np.float64(x.error) ** 0.5)


def dominance(x: Sides) -> np.ndarray:
    return np.sign(x.whole).mean(axis=-1)


def rank_biserial(x: Sides) -> np.ndarray:
    ranks = [(doubled_ranks(d, x.loose), np.sign(d)) for d in np.atleast_2d(x.whole)]
    values = [(rank * sign).sum() / max((rank * np.abs(sign)).sum(), 1) for rank, sign in ranks]
    return np.array(values).reshape(x.moments.mean.shape)


# For each name its full name, and the function that computes it.
EFFECTS: dict[Effect, tuple[str, Callable[[Sides], np.ndarray]]] = {
    "d_z": (
        "Cohen's d_z: mean difference / standard deviation of the differences",
        lambda x: x.ratio(x.moments.deviation),
    ),
    "hedges_gz": (
        "Hedges' g_z: d_z, corrected for few queries",
        lambda x: hedges_factor(x.moments.n - 1) * x.ratio(x.moments.deviation),
    ),
    "d_av": ("Cohen's d_av: mean difference / root of the mean variance of the two runs", d_av),
    "hedges_g": ("Hedges' g: d_av, corrected for few queries", lambda x: hedges_factor(2 * x.moments.n - 2) * d_av(x)),
    "glass": ("Glass' delta: mean difference / standard deviation of b", lambda x: x.ratio(x.variance(x.b) ** 0.5)),
    "anova": ("mean difference / residual standard deviation of the two-way analysis of variance", anova),
    "dominance": ("paired dominance: (wins - losses) / queries", dominance),
    "rank_biserial": ("matched rank-biserial correlation: (W+ - W-) / (W+ + W-)", rank_biserial),
}


def effect_size(a: ArrayLike, b: ArrayLike, kind: Effect = "d_z") -> float:
    """Return the size of a paired difference; positive if a is better.

    Parameters
    ----------
    a, b : float arrays of shape (n_queries,)
    kind : str
        A key of ``fastir.stats.EFFECTS``, which has the full names. ``d_av`` is pingouin's "cohen" for paired samples;
        ``d_z`` is elinor's "effect size".

    Returns
    -------
    float
        **Undefined**: NaN for one query, or if a difference is divided by a standard deviation of 0.
    """
    check_choice("kind", kind, EFFECTS)
    d, largest = differences(a, b)
    rows = np.stack([column(a, "a"), column(b, "b")])
    grid = to_grid(rows)
    whole = grid.without_noise(grid.whole[0] - grid.whole[1])
    return float(EFFECTS[kind][1](Sides(rows[0], rows[1], moments(d, largest), whole, grid.loose)))


def hedges_factor(df: float) -> float:
    """The factor against the bias of a standardised difference: gamma(f / 2) / (sqrt(f / 2) gamma((f - 1) / 2))."""
    df = number("df", df)
    if df < 2:
        return np.nan
    if df > LARGE_DEGREES:  # where digits cancel out
        return 1 - 3 / (4 * df - 1)
    return gamma_ratio((df - 1) / 2) / (df / 2) ** 0.5


def power(effect_size: float, n_queries: float, *, alpha: float = 0.05) -> float:
    """The probability that a two-sided paired t-test finds a true difference.

    Parameters
    ----------
    effect_size : float
        The mean difference divided by the standard deviation of the differences, d_z.
    n_queries : float
        Above 1.
    alpha : float
    """
    effect_size, n_queries = number("effect_size", effect_size), number("n_queries", n_queries, 1.0, open=True)
    return power_by_centre(n_queries - 1, proportion("alpha", alpha))(abs(effect_size) * n_queries**0.5)


def sample_size(effect_size: float, *, alpha: float = 0.05, power: float = POWER) -> float:
    """How many queries a paired t-test needs to find a true d_z with probability `power`: a real number to round up."""
    effect = number("effect_size", effect_size)
    if abs(effect) < MIN_EFFECT:
        raise ValueError(f"effect_size must not be 0 or near it, got {effect!r}: no number of queries would show it")
    check_power(power, alpha)

    def missing(n: float) -> float:
        return power_by_centre(n - 1, alpha)(abs(effect) * n**0.5) - power

    return MIN_QUERIES if missing(MIN_QUERIES) >= 0 else root(missing, MIN_QUERIES)


def detectable(n_queries: int, *, alpha: float = 0.05, power: float = POWER) -> float:
    """The smallest d_z that a paired t-test of `n_queries` queries finds with probability `power`.

    Multiply it by the standard deviation of the differences for the minimum detectable difference. NaN for one query.
    """
    queries = number("n_queries", n_queries, 0.0)
    check_power(power, alpha)
    if queries < 2:
        return np.nan
    if np.isinf(queries):
        return 0.0
    return detectable_centre(queries - 1, alpha, float(power)) / queries**0.5


@functools.lru_cache(64)
def detectable_centre(df: float, alpha: float, power: float) -> float:
    """The noncentrality at which a two-sided t-test has this power: one for all pairs of runs of as many queries."""
    power_at = power_by_centre(df, alpha)
    return root(lambda centre: power_at(centre) - power, 0.0)


def check_power(power: float, alpha: float) -> None:
    """A test finds an effect of 0 with probability alpha already."""
    if proportion("power", power) <= proportion("alpha", alpha):
        raise ValueError(f"power must be above alpha, got {power!r} and {alpha!r}")
