"""The paired randomization test (Fisher's), for one pair and for all pairs of many runs at once, and max-T."""

from __future__ import annotations

from typing import TYPE_CHECKING, SupportsIndex

import numpy as np

from fastir.checks import check_choice
from fastir.declared import Record
from fastir.engine.threads import share_all
from fastir.stats._checks import N_RESAMPLES, ZERO, Alternative, Test, check_values, column, differences
from fastir.stats._resample import SIGNS, Signs
from fastir.stats.clusters import Clusters, clusters_of_values
from fastir.stats.grid import exact_p, to_grid
from fastir.stats.paired_tests import ALTERNATIVES
from fastir.stats.resampling import Resamples

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fastir.stats.paired_tests import Labels

RELATIVE_ERROR = 1e-12  # of a scaled statistic: the error that rounding may cause


class Pairs(Record):
    """Differences of rows of whole numbers, all pairs over the same queries."""

    whole: np.ndarray  # int64 of shape (n_rows, n_queries)
    a: np.ndarray  # int64 of shape (n_pairs,), as all below: the rows
    b: np.ndarray
    slack: np.ndarray
    loose: np.ndarray  # as in a Grid

    def difference(self, pair: int) -> np.ndarray:
        d = self.whole[self.a[pair]] - self.whole[self.b[pair]]
        return np.where(np.abs(d) <= self.loose[pair], 0, d)

    def sums(self) -> np.ndarray:
        totals = self.whole.sum(axis=1)
        return totals[self.a] - totals[self.b]

    def some(self, chosen: np.ndarray) -> Pairs:
        return Pairs(self.whole, self.a[chosen], self.b[chosen], self.slack[chosen], self.loose[chosen])

    def resamples(
        self, n_resamples: SupportsIndex, random_state: SupportsIndex, n_threads: SupportsIndex | None
    ) -> Resamples:
        rows, queries = self.whole.shape  # when signs are enumerated, the last query's is fixed: |sum| is the same
        return Resamples(n_resamples, random_state, n_threads, SIGNS, 1 << (queries - 1), rows * queries)

    def scales(self) -> np.ndarray:
        squares = np.array([(self.difference(k).astype(np.float64) ** 2).sum() for k in range(len(self.a))])
        return 1 / np.sqrt(np.where(squares > 0, squares, np.inf))

    def limits(self, two_sided: bool) -> np.ndarray:
        """The limits from which on sums count as reaching the observed ones."""
        sums = self.sums()
        return ((np.abs(sums) if two_sided else sums) - self.slack).astype(np.float64)


def exact_pairs(pairs: Pairs, two_sided: bool = True, threads: int = 1) -> np.ndarray:
    """The exact p-value of each pair, NaN if it would take too long."""
    p_values = np.full(len(pairs.a), np.nan)

    def work(thread: int, k: int, number: int) -> None:
        p = exact_p(pairs.difference(k), int(pairs.slack[k]), two_sided)
        p_values[k] = np.nan if p is None else p

    share_all(range(len(p_values)), work, threads)
    return p_values


def resampled_pairs(
    pairs: Pairs, resamples: Resamples, two_sided: bool = True, families: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return each pair's p-value over the same signs; with `families`, also for the largest statistic of its family.

    A pair's statistic is |sum| / sqrt(sum of squares): the signs do not change the denominator. `families` is an
    int64 array of shape (n_pairs,), 0 to n_families - 1. Pairs without a difference have 1.
    """
    limits, rows = pairs.limits(two_sided), pairs.whole.astype(np.float64)
    members = [] if families is None else [np.flatnonzero(families == family) for family in range(families.max() + 1)]
    scales = pairs.scales() if members else limits
    most = np.zeros((len(members), resamples.total))
    kernel = Signs(
        resamples,
        rows,
        np.asarray(pairs.a, np.int64),
        np.asarray(pairs.b, np.int64),
        limits,
        two_sided,
        np.concatenate([np.empty(0, np.int64), *members]),
        np.cumsum([len(family) for family in members], dtype=np.int64),
        scales,
        most,
    )
    p = resamples.p_values(resamples.counts(kernel))
    adjusted = np.ones(len(p))
    for row, those in zip(most, members, strict=True):
        row.sort()
        reached = np.searchsorted(row, (limits * scales * (1 - RELATIVE_ERROR))[those], "left")
        adjusted[those] = resamples.p_values(len(row) - reached)
    return p, np.where(p == 1, 1.0, adjusted)


def randomization_test(
    a: ArrayLike,
    b: ArrayLike | None = None,
    *,
    alternative: Alternative = "two-sided",
    n_resamples: SupportsIndex = N_RESAMPLES,
    random_state: SupportsIndex = 0,
    n_threads: SupportsIndex | None = None,
    clusters: Labels | None = None,
) -> Test:
    """Fisher's paired randomization test: compare the sum of the differences with the sums under all or random signs.

    Parameters
    ----------
    a, b, alternative
        As for `t_test`.
    n_resamples : int
        How many assignments of signs to draw if the exact p-value would take too long. The p-value is exact for up to
        40 differences that are not 0, and for any number of small multiples of a common unit, such as differences of
        P@10.
    random_state : int
    n_threads : int or None
        As in `fastir.evaluate`; None uses several threads if the rest would take 15 ms. The result has the same bits
        for any number.
    clusters : one hashable label per query, or None
        As for `t_test`; the differences of a cluster have one sign together.

    Returns
    -------
    Test
        The statistic is the mean difference. The exact p-value is the fraction of all 2^n sums, with the observed one,
        that reach the observed one (in absolute value, if two-sided). With random signs it is (1 + count) / (1 +
        n_resamples), with standard error sqrt(p (1 - p) / (n_resamples + 1)). Sums that are equal on paper reach each
        other (see `fastir.stats.grid`). **Undefined**: p = 1 if all differences are 0.

    Notes
    -----
    Fisher (1935); Smucker, Allan and Carterette (2007). `ranx` ("fisher") and elinor compare sums of floats, lose ties
    and give p-values that are too small. `scipy.stats.permutation_test` doubles the smaller tail.

    Examples
    --------
    >>> from fastir import stats
    >>> stats.randomization_test([0.7, 0.3, 0.2, 0.6], [0.5, 0.1, 0.0, 0.2]).p_value
    0.125
    """
    check_choice("alternative", alternative, ALTERNATIVES)
    d, _ = differences(a, b)
    pairs = one_pair(a, b, clusters_of_values(clusters, len(d)))
    if alternative == "less":
        pairs = pairs._replace(whole=-pairs.whole)
    two_sided = alternative == "two-sided"
    resamples = pairs.resamples(n_resamples, random_state, n_threads)
    p = exact_pairs(pairs, two_sided)
    exact = not np.isnan(p[0])
    if not exact:
        p, _ = resampled_pairs(pairs, resamples, two_sided)
    return Test(float(d.mean()), float(p[0]), bool(exact), "" if pairs.difference(0).any() else ZERO)


def one_pair(a: ArrayLike, b: ArrayLike | None, clusters: Clusters | None = None) -> Pairs:
    left = column(a, "a")
    grid = to_grid(np.stack([left, 0 * left if b is None else column(b, "b")]))
    d, loose = grid.whole[0] - grid.whole[1], grid.loose
    if clusters is not None:
        d, loose = clusters.sums(d), loose * int(clusters.sizes.max())
    return Pairs(np.stack([d, 0 * d]), np.array([0]), np.array([1]), np.array([grid.slack()]), np.array([loose]))


def max_t(
    d: ArrayLike,
    *,
    n_resamples: SupportsIndex = N_RESAMPLES,
    random_state: SupportsIndex = 0,
    n_threads: SupportsIndex | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The randomization test of several differences at once, with p-values corrected by the largest statistic.

    Parameters
    ----------
    d : float array of shape (n_queries, n_hypotheses)
        Differences of pairs of runs or of metrics, over the same queries. All differences of a query get the same sign.
    n_resamples, random_state, n_threads
        As for `randomization_test`; here all signs are enumerated, with one query's sign fixed, if there are at most
        n_resamples assignments.

    Returns
    -------
    p_values, adjusted : float64 arrays of shape (n_hypotheses,)

    Notes
    -----
    Westfall and Young (1993), single step. The statistic of a column is its sum divided by the root of its sum of
    squares.
    """
    columns = np.ascontiguousarray(check_values(d, "d", 2, "a row per query and a column per hypothesis").T)
    grids = [to_grid(values) for values in columns]
    pairs = Pairs(
        np.stack([*(grid.whole for grid in grids), 0 * grids[0].whole]),
        np.arange(len(grids)),
        np.full(len(grids), len(grids)),
        np.array([grid.slack() for grid in grids]),
        np.array([grid.loose for grid in grids]),
    )
    resamples = pairs.resamples(n_resamples, random_state, n_threads)
    return resampled_pairs(pairs, resamples, families=np.zeros(len(grids), np.int64))
