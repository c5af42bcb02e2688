"""Tests of two runs that need no resampling: t, Wilcoxon's, sign, equivalence; and Welch's, for means of seeds.

A function with a name in `_rows` takes the differences of many pairs at once, a row each, and returns arrays.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from fastir.checks import check_choice, flag, proportion
from fastir.declared import Record
from fastir.engine.columns.rows import repeat
from fastir.stats import student
from fastir.stats._checks import (
    EQUAL,
    SINGLE,
    ZERO,
    Alternative,
    Interval,
    Test,
    column,
    differences,
    is_constant,
    proper,
    special,
)
from fastir.stats.clusters import Clusters, clusters_of_values
from fastir.stats.grid import exact_p, to_grid

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import ArrayLike

    Labels = Sequence[Hashable] | np.ndarray  # a label for each value

Zeros = Literal["wilcox", "pratt", "zsplit"]

ALTERNATIVES = get_args(Alternative)
ZEROS = get_args(Zeros)
EXACT_RANKS = 50  # differences up to which Wilcoxon's test is exact by default
MAX_EXACT_RANKS = 1000  # differences up to which it can be exact
ONE_CLUSTER, EQUAL_CLUSTERS = "one cluster", "all clusters have the same mean difference"


class Moments(Record):
    """Moments of differences, the last axis for the queries; a deviation is 0 if only rounding, NaN for one query.

    With clusters `n` counts these, and the deviation is their standard error of the mean times the root of n.
    """

    n: int
    mean: np.ndarray
    deviation: np.ndarray
    constant: np.ndarray
    clustered: bool = False

    def notes(self) -> np.ndarray:
        single, equal = (ONE_CLUSTER, EQUAL_CLUSTERS) if self.clustered else (SINGLE, EQUAL)
        return np.where(self.constant, np.where(self.mean == 0, ZERO, equal), single if self.n == 1 else "")

    def margins(self, confidence: float) -> np.ndarray:
        """Half the width of the t-interval of the mean."""
        quantile = student.quantile(self.n - 1, (1 + confidence) / 2) if self.n > 1 else np.nan
        return quantile * self.deviation / self.n**0.5


def moments(d: np.ndarray, largest: np.ndarray | float, clusters: Clusters | None = None) -> Moments:
    """The Moments of rows of differences of values up to `largest`."""
    n = n_queries = d.shape[-1]
    mean = d.sum(axis=-1) / n
    centred = d - np.expand_dims(mean, -1)
    if clusters is not None:
        n, centred = len(clusters.sizes), clusters.sums(centred) * (len(clusters.sizes) / n_queries)
    variance = (centred * centred).sum(axis=-1) / (n - 1) if n > 1 else np.full(mean.shape, np.nan)
    constant = is_constant(variance, largest)
    mean = np.where(constant & (np.abs(d).max(axis=-1) <= 8 * np.finfo(float).eps * largest), 0.0, mean)
    return Moments(n, mean, np.where(constant, 0.0, np.sqrt(variance)), constant, clusters is not None)


def t_rows(pair_moments: Moments, alternative: Alternative = "two-sided") -> tuple[np.ndarray, np.ndarray]:
    """t and p: 0 and 1 where all differences are 0, NaN where they are equal otherwise, and for one query."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(
            pair_moments.constant,
            np.where(pair_moments.mean == 0, 0.0, np.nan),
            pair_moments.mean / (pair_moments.deviation / pair_moments.n**0.5),
        )
    p = proper(tail(student.tails(t, pair_moments.n - 1), t, alternative))
    return t, np.where(pair_moments.constant & (pair_moments.mean == 0), 1.0, p)


def tail(upper: np.ndarray, statistic: np.ndarray, alternative: Alternative) -> np.ndarray:
    """The p-value, from the probability beyond |statistic| on one side of a symmetric distribution."""
    if alternative == "two-sided":
        return 2 * upper
    return np.where((statistic > 0) == (alternative == "greater"), upper, 1 - upper)


def t_test(
    a: ArrayLike, b: ArrayLike | None = None, *, alternative: Alternative = "two-sided", clusters: Labels | None = None
) -> Test:
    """The paired t-test of the mean difference.

    Parameters
    ----------
    a, b : float arrays of shape (n_queries,)
        The values of two runs, aligned by query; or only `a`, the differences.
    alternative : {"two-sided", "greater", "less"}
        "greater": a is better.
    clusters : one hashable label per query, or None
        Queries with the same label, such as repeats of one question, are not independent. Then t has the clustered
        standard error, whose square is G / (G - 1) times the sum of squares over the G clusters, each of its sum of
        (x - mean) / n_queries, and G - 1 degrees of freedom.

    Returns
    -------
    Test
        t, with n - 1 degrees of freedom. **Undefined**: if all differences are 0, t = 0 and p = 1; other differences
        that are equal up to rounding, or a single difference, give NaN.

    Raises
    ------
    ValueError
        The arrays are not aligned or hold NaN; an option is unknown.

    Notes
    -----
    Student (1908). The numbers equal `scipy.stats.ttest_rel`, except that SciPy mistakes rounding errors of
    constant differences for variance. Clusters as in Miller (2024), arXiv 2411.00640, with the factor for few clusters.
    """
    check_choice("alternative", alternative, ALTERNATIVES)
    pair_moments = moments(*(d := differences(a, b)), clusters_of_values(clusters, len(d[0])))
    t, p = t_rows(pair_moments, alternative)
    return Test(float(t), float(p), False, str(pair_moments.notes()))


def t_interval(
    a: ArrayLike, b: ArrayLike | None = None, *, confidence: float = 0.95, clusters: Labels | None = None
) -> Interval:
    """The confidence interval of the mean difference by Student's t; NaN bounds for one query, or one cluster."""
    pair_moments = moments(*(d := differences(a, b)), clusters_of_values(clusters, len(d[0])))
    margin = float(pair_moments.margins(proportion("confidence", confidence)))
    mean = float(pair_moments.mean)
    return Interval(
        mean,
        mean - margin,
        mean + margin,
        float(pair_moments.deviation) / pair_moments.n**0.5,
        str(pair_moments.notes()),
    )


def sign_rows(wins: np.ndarray, losses: np.ndarray, alternative: Alternative = "two-sided") -> np.ndarray:
    """p-values of the sign test; 1 if all queries are ties."""
    n = wins + losses
    if alternative == "two-sided":
        p = 2 * special().bdtr(np.minimum(wins, losses), n, 0.5)
    else:
        p = special().bdtr(losses if alternative == "greater" else wins, n, 0.5)
    return np.where(n == 0, 1.0, proper(p))


def sign_test(a: ArrayLike, b: ArrayLike | None = None, *, alternative: Alternative = "two-sided") -> Test:
    """The exact sign test: the binomial distribution of wins among the queries that are not ties.

    It takes the parameters of `t_test`. The statistic is the number of wins. Differences that are 0 up to rounding are
    ties; p is 1 if all are ties.
    """
    check_choice("alternative", alternative, ALTERNATIVES)
    d = grid_differences(a, b)[0]
    wins, losses = np.count_nonzero(d > 0), np.count_nonzero(d < 0)
    p = sign_rows(np.array(wins), np.array(losses), alternative)
    return Test(float(wins), float(p), True, "" if wins + losses else ZERO)


def grid_differences(a: ArrayLike, b: ArrayLike | None) -> tuple[np.ndarray, int]:
    """a minus b on a grid, and by how much equal differences may differ there."""
    differences(a, b)
    grid = to_grid(np.stack([column(a, "a"), np.zeros(len(column(a, "a"))) if b is None else column(b, "b")]))
    return grid.without_noise(grid.whole[0] - grid.whole[1]), grid.loose


def wilcoxon(
    a: ArrayLike,
    b: ArrayLike | None = None,
    *,
    alternative: Alternative = "two-sided",
    zeros: Zeros = "wilcox",
    exact: bool | None = None,
    continuity: bool = False,
) -> Test:
    """Wilcoxon's signed-rank test.

    Parameters
    ----------
    a, b, alternative
        As for `t_test`.
    zeros : {"wilcox", "pratt", "zsplit"}
        "wilcox": drop differences of 0; "pratt": rank them, then drop them; "zsplit": rank them, and share their ranks
        between both sides.
    exact : bool or None
        True: the p-value over all assignments of signs to the observed ranks, ties included, for up to 1000
        differences. False: the normal approximation, with the variance of these ranks. None: exact for up to 50
        differences that are not 0.
    continuity : bool
        Whether to correct the approximation for continuity.

    Returns
    -------
    Test
        The statistic is the smaller of the two rank sums; for a one-sided test, the sum of the ranks of positive
        differences. **Undefined**: p = 1 if all differences are 0.

    Notes
    -----
    Wilcoxon (1945), Pratt (1959). Equal differences are found on whole numbers (`fastir.stats.grid`).
    `scipy.stats.wilcoxon` mistakes rounding errors for differences, and its exact p-values ignore ties.
    """
    check_choice("alternative", alternative, ALTERNATIVES)
    check_choice("zeros", zeros, ZEROS)
    exact, continuity = exact if exact is None else flag("exact", exact), flag("continuity", continuity)
    return signed_ranks(*grid_differences(a, b), alternative, zeros, exact, continuity)


def signed_ranks(
    d: np.ndarray,
    loose: int,
    alternative: Alternative = "two-sided",
    zeros: Zeros = "wilcox",
    exact: bool | None = None,
    continuity: bool = False,
) -> Test:
    """Wilcoxon's test of the differences of numbers on a grid."""
    two_sided = alternative == "two-sided"
    ranks = doubled_ranks(d, loose, zeros)
    if not d.any():
        return Test(0.0, 1.0, True, ZERO)
    of_zeros = ranks[d == 0].sum() / 2 if zeros == "zsplit" else 0.0
    plus = float(ranks[d > 0].sum() + of_zeros) / 2
    minus = float(ranks[d < 0].sum() + of_zeros) / 2
    statistic = min(plus, minus) if two_sided else plus
    signed = (ranks * np.sign(d))[d != 0]
    if exact and len(signed) > MAX_EXACT_RANKS:
        raise ValueError(f"exact=True takes up to {MAX_EXACT_RANKS} differences that are not 0, got {len(signed)}")
    if exact or (exact is None and len(signed) <= EXACT_RANKS):
        p = exact_p(-signed if alternative == "less" else signed, 0, two_sided, limit=None)
        return Test(statistic, float(p), True)  # type: ignore[arg-type]
    counted = ranks if zeros == "zsplit" else signed
    deviation = (counted.astype(float) ** 2).sum() ** 0.5 / 4
    off = (plus - minus) / 2
    if continuity:
        off -= 0.5 * (np.sign(off) if two_sided else 1 if alternative == "greater" else -1)
    z = np.array(off / deviation)
    return Test(statistic, float(proper(tail(special().ndtr(-np.abs(z)), z, alternative))), False)


def doubled_ranks(d: np.ndarray, loose: int, zeros: Zeros = "wilcox") -> np.ndarray:
    """Twice the mid-ranks of absolute differences of numbers on a grid, int64; equal neighbours share one."""
    magnitudes = np.abs(d)
    left_out = int((d == 0).sum()) if zeros == "wilcox" else 0
    order = np.argsort(magnitudes, kind="stable")
    begins = np.flatnonzero(np.diff(magnitudes[order], prepend=-3) > 2 * loose)
    sizes = np.diff(begins, append=len(d))
    ranks = np.empty(len(d), np.int64)
    ranks[order] = repeat(2 * begins + sizes + 1, sizes)
    return ranks - 2 * left_out


def equivalence_test(a: ArrayLike, b: ArrayLike | None = None, *, low: float, high: float) -> Test:
    """Two one-sided t-tests (Schuirmann 1987): a small p-value says that the mean difference is between low and high.

    The statistic is the t of the deciding side. **Undefined** as for `t_test`.
    """
    if not low < high:
        raise ValueError(f"low must be below high, got {low!r} and {high!r}")
    d, largest = differences(a, b)
    above, below = (moments(d - bound, max(largest, abs(bound))) for bound in (low, high))
    sides = [(*t_rows(above, "greater"), above), (*t_rows(below, "less"), below)]
    t, p, pair_moments = max(sides, key=lambda side: np.inf if np.isnan(side[1]) else side[1])
    return Test(float(t), float(p), False, str(pair_moments.notes()))


def welch_test(a: ArrayLike, b: ArrayLike) -> Test:
    """Welch's two-sided t-test of two independent samples, such as the means per seed of two systems."""
    a, b = column(a, "a"), column(b, "b")
    largest = max(np.abs(a).max(), np.abs(b).max())
    unit = 2.0 ** -math.frexp(largest)[1]  # exact, and the squares of variances do not overflow
    a, b, largest = a * unit, b * unit, largest * unit
    first, second = (side.deviation**2 / side.n for side in (moments(a, largest), moments(b, largest)))
    difference, variance = a.mean() - b.mean(), first + second
    if np.isnan(variance):
        return Test(np.nan, np.nan, False, "one value")
    if variance == 0:
        same = abs(difference) <= 8 * np.finfo(float).eps * largest
        return Test(0.0, 1.0, False, EQUAL) if same else Test(np.nan, np.nan, False, EQUAL)
    freedom = variance**2 / (first**2 / (len(a) - 1) + second**2 / (len(b) - 1))
    t = float(difference / variance**0.5)
    return Test(t, float(proper(np.array(2 * student.tail(abs(t), float(freedom))))), False)
