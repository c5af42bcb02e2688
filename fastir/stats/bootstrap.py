"""The bootstrap over queries: all runs see the same draws, so that their means can be subtracted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, SupportsIndex

import numpy as np

from fastir.checks import check_choice, flag, proportion
from fastir.declared import Record
from fastir.stats import student
from fastir.stats._checks import EPSILON, N_RESAMPLES, Alternative, Interval, Test, differences, proper, special
from fastir.stats._resample import DRAWS, Draws, Studentized, drawn_indices
from fastir.stats.clusters import Clusters, clusters_of_values
from fastir.stats.grid import Grid, to_grid
from fastir.stats.paired_tests import ALTERNATIVES, Moments, grid_differences, moments, t_rows
from fastir.stats.resampling import Resamples

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fastir.stats.paired_tests import Labels

METHODS = ("percentile", "bca")
RELATIVE_ERROR = 1e-12  # of a studentized statistic: the error that rounding may cause


def draws(
    n: int, rows: int, n_resamples: SupportsIndex, random_state: SupportsIndex, n_threads: SupportsIndex | None
) -> Resamples:
    """Resamples of n queries out of n, for `rows` rows at once."""
    return Resamples(n_resamples, random_state, n_threads, DRAWS, n**n if n < 64 else 1 << 64, n * rows)


class Resampled(Record):
    """The sums of rows of scores in every resample."""

    grid: Grid  # whole has shape (n_rows, n_queries)
    sums: np.ndarray  # int64 of shape (n_rows, n_resamples)
    resamples: Resamples
    sizes: np.ndarray | None = None  # int64 of shape (n_resamples,): their queries, if clusters differ in size

    def differences(self, a: int, b: int) -> tuple[np.ndarray, float]:
        """The sum of row a less that of b in each resample, of as many queries as there are; and their noise."""
        sums = self.sums[a] - self.sums[b] if b >= 0 else self.sums[a]
        if self.sizes is None:
            return sums, self.grid.slack()
        n = self.grid.whole.shape[1]
        return sums / self.sizes * n, self.grid.slack() + RELATIVE_ERROR * n * np.abs(self.grid.whole).max()

    def interval(self, a: int, b: int, skewness: float, method: str, confidence: float) -> tuple[float, float]:
        """The interval of the mean of row a less the mean of row b, where -1 is a row of zeros."""
        sums, noise = self.differences(a, b)
        seen = self.grid.whole[a].sum() - (self.grid.whole[b].sum() if b >= 0 else 0)
        levels = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
        if method == "bca":
            below = np.count_nonzero(sums < seen - noise)
            equal = np.count_nonzero(sums <= seen + noise) - below
            levels = corrected_levels(levels, (below + equal / 2) / len(sums), skewness)
            if np.isnan(levels).any():
                return np.nan, np.nan
        low, high = quantiles(sums, levels) * self.grid.unit / self.grid.whole.shape[1]
        return float(low), float(high)


def quantiles(values: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """The quantiles of finite numbers, bit by bit those of np.quantile, which imports numpy.ma."""
    places = levels * (len(values) - 1)
    lower = np.floor(places).astype(np.intp)
    upper = np.minimum(lower + 1, len(values) - 1)
    ordered = np.partition(values, np.concatenate((lower, upper)))
    low, high, share = ordered[lower], ordered[upper], places - lower
    return np.where(share < 0.5, low + (high - low) * share, high - (high - low) * (1 - share))


def corrected_levels(levels: np.ndarray, below: float, skewness: float) -> np.ndarray:
    """Return the levels of BCa for a fraction of resamples below the observed mean; NaN if they do not exist."""
    bias = special().ndtri(below)
    with np.errstate(invalid="ignore"):
        moved = bias + special().ndtri(levels)
        return np.asarray(special().ndtr(bias + moved / (1 - skewness / 6 * moved)))


def resample_sums(grid: Grid, resamples: Resamples, clusters: Clusters | None = None) -> Resampled:
    """The sums of each row over the same draws, of queries or of whole clusters."""
    rows = grid.whole if clusters is None else clusters.sums(grid.whole)
    uneven = clusters is not None and not clusters.equal
    if clusters is not None and uneven:
        rows = np.concatenate((rows, clusters.sizes[None]))
    sums = np.empty((len(rows), resamples.total), np.int64)
    resamples.counts(Draws(resamples, np.ascontiguousarray(rows.T), sums))
    return Resampled(grid, sums[: len(grid.whole)], resamples, sums[-1] if uneven else None)


def crossed_means(columns: Resampled, owner: np.ndarray, streams: list[int]) -> np.ndarray:
    """Means (n_runs, n_resamples) of runs in every resample, which also draws as many repeats of a run as it has.

    `columns` has a row per repeat, `owner` the run of each row, from 0; `streams` the start of the hashes of each run.
    """
    means = np.empty((len(streams), columns.resamples.total))
    for run, (row, from_) in enumerate(zip(means, streams, strict=True)):
        sums = columns.sums[owner == run]
        chosen = np.empty((sums.shape[1], len(sums)), np.int32)
        drawn_indices(from_, 0, len(sums), chosen)
        np.mean(np.take_along_axis(sums, chosen.T, axis=0), axis=0, out=row)
    means *= columns.grid.unit / columns.grid.whole.shape[1]
    return means


def skewness_of_mean(d: np.ndarray, pair_moments: Moments, clusters: Clusters | None = None) -> np.ndarray:
    """The skewness of rows of differences; a sixth of it is the acceleration of BCa, without a jackknife."""
    centred = d - np.expand_dims(pair_moments.mean, -1)
    centred = centred if clusters is None else clusters.sums(centred)
    squares = (centred**2).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(pair_moments.constant, 0.0, (centred**3).sum(axis=-1) / squares**1.5)


class Centred(Record):
    """Rows of differences from which a resample's t can be had without taking rounding for a difference."""

    shifted: np.ndarray  # the differences, less a number near their mean
    offsets: np.ndarray  # the sum of `shifted` in each row, which is subtracted from a resample's sum
    sums: np.ndarray  # of the differences in each row
    noise: np.ndarray  # by how much a sum may miss what it is on paper

    def limits(self) -> np.ndarray:
        """t of the rows, 0 where the sum is but rounding."""
        n = self.shifted.shape[1]
        variance = (self.shifted**2).sum(axis=1) - self.offsets**2 / n
        return np.where(np.abs(self.sums) <= self.noise, 0.0, self.sums / np.sqrt(variance / (n - 1) * n))


def centre_rows(
    d: np.ndarray, whole: np.ndarray, loose: int, largest: np.ndarray | float, clusters: Clusters | None = None
) -> Centred:
    """Rows of differences of scores up to `largest`, ready for resampling.

    Where the grid holds the scores exactly, `whole`, their differences on it, are shifted by a whole number, and every
    sum is exact. Elsewhere, and where clusters differ in size, the differences themselves are shifted by their mean,
    and sums have the noise of rounding.
    """
    n = d.shape[1]
    if loose or (clusters is not None and not clusters.equal):
        sums = d.sum(axis=1)
        shifted = d - sums[:, None] / n
        noise = np.broadcast_to(np.asarray(8 * EPSILON * n * largest), sums.shape)
    else:
        sums = whole.sum(axis=1).astype(np.float64)
        shifted = whole - np.rint(sums / n)[:, None]
        noise = np.zeros(len(sums))
    shifted = shifted if clusters is None else clusters.sums(shifted)
    return Centred(shifted, shifted.sum(axis=1), sums, noise)


def studentized_rows(
    rows: Centred, pair_moments: Moments, resamples: Resamples, alternative: Alternative = "two-sided"
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """t, the p-value of the shift test, and how many resamples had no variance, for each row of differences."""
    t, p = t_rows(pair_moments, alternative)
    sign = -1.0 if alternative == "less" else 1.0
    two_sided = alternative == "two-sided"
    varied = np.flatnonzero(~np.isnan(t) & ~pair_moments.constant)
    degenerate = np.zeros(len(t), np.int64)
    if len(varied):
        some = Centred(*(column[varied] for column in rows))
        seen = some.limits()
        limits = np.abs(seen) if two_sided else sign * seen
        limits = limits - RELATIVE_ERROR * np.abs(limits)
        shifted = np.ascontiguousarray(sign * some.shifted.T)
        kernel = Studentized(resamples, shifted, sign * some.offsets, some.noise, limits, two_sided)
        counts, degenerate[varied] = resamples.counts(kernel).reshape(2, -1)
        p[varied] = proper(resamples.p_values(counts))
    return t, p, degenerate


def without_variance(resamples: int) -> str:
    return f"{resamples} resamples without variance" if resamples else ""


def bootstrap_test(
    a: ArrayLike,
    b: ArrayLike | None = None,
    *,
    studentized: bool = True,
    alternative: Alternative = "two-sided",
    n_resamples: SupportsIndex = N_RESAMPLES,
    random_state: SupportsIndex = 0,
    n_threads: SupportsIndex | None = None,
    clusters: Labels | None = None,
) -> Test:
    """The bootstrap shift test: compare the mean difference with resamples of the differences, shifted to mean 0.

    Parameters
    ----------
    a, b, alternative
        As for `t_test`.
    studentized : bool
        Whether to compare t instead of the mean. A resample without variance counts as not reaching the observed t.
    n_resamples, random_state, n_threads
        As for `randomization_test`; all n^n resamples are enumerated if these are at most n_resamples.
    clusters : one hashable label per query, or None
        As for `t_test`; whole clusters are drawn, as many as there are.

    Returns
    -------
    Test
        t, or the mean difference. **Undefined** as for `t_test`. The note gives the number of resamples without
        variance.

    Notes
    -----
    Efron and Tibshirani (1993), chapter 16; Sakai (2006). elinor's p-values have no + 1, and it counts a resample
    without variance as t = 0.
    """
    check_choice("alternative", alternative, ALTERNATIVES)
    studentized = flag("studentized", studentized)
    d, largest = differences(a, b)
    rows, grouped = d[None], clusters_of_values(clusters, len(d))
    pair_moments = moments(rows, largest, grouped)
    resamples = draws(pair_moments.n, 1, n_resamples, random_state, n_threads)
    note = str(pair_moments.notes()[0])
    if studentized or pair_moments.constant[0] or pair_moments.n == 1:
        whole, loose = grid_differences(a, b)
        t, p, degenerate = studentized_rows(
            centre_rows(rows, whole[None], loose, largest, grouped), pair_moments, resamples, alternative
        )
        note = note or without_variance(degenerate[0])
        return Test(float(t[0]) if studentized else float(pair_moments.mean[0]), float(p[0]), resamples.listed, note)
    grid = to_grid(rows)
    sums, noise = resample_sums(grid, resamples, grouped).differences(0, -1)
    seen = int(grid.whole.sum())
    if alternative == "two-sided":
        count = np.count_nonzero(np.abs(sums - seen) >= abs(seen) - noise)
    else:
        sign = 1 if alternative == "greater" else -1
        count = np.count_nonzero(sign * (sums - seen) >= sign * seen - noise)
    return Test(float(pair_moments.mean[0]), float(proper(resamples.p_values(np.array(count)))), resamples.listed, note)


def bootstrap_interval(
    a: ArrayLike,
    b: ArrayLike | None = None,
    *,
    method: Literal["percentile", "bca"] = "percentile",
    confidence: float = 0.95,
    n_resamples: SupportsIndex = N_RESAMPLES,
    random_state: SupportsIndex = 0,
    n_threads: SupportsIndex | None = None,
    clusters: Labels | None = None,
) -> Interval:
    """The bootstrap interval of a mean, or of the mean difference of two runs.

    Parameters
    ----------
    a, b
        As for `t_test`.
    method : {"percentile", "bca"}
        "percentile": quantiles of the resampled means, linearly interpolated. "bca": the same at levels corrected for
        bias and skewness. The bias comes from the fraction of resampled means below the observed one, with equal means
        counted half; the acceleration is a sixth of the skewness of the mean.
    confidence : float
    n_resamples, random_state, n_threads, clusters
        As for `bootstrap_test`.

    Returns
    -------
    Interval
        Its standard error is the standard deviation of the resampled means. **Undefined**: equal differences give the
        mean as both bounds; a single difference, or a single cluster, gives NaN.

    Notes
    -----
    Efron (1987). `scipy.stats.bootstrap` gives the same up to the random draws.
    """
    check_choice("method", method, METHODS)
    d, largest = differences(a, b)
    confidence = proportion("confidence", confidence)
    grouped = clusters_of_values(clusters, len(d))
    pair_moments = moments(d, largest, grouped)
    mean, note = float(pair_moments.mean), str(pair_moments.notes())
    if pair_moments.n == 1:
        return Interval(mean, np.nan, np.nan, np.nan, note)
    if note:
        return Interval(mean, mean, mean, 0.0, note)
    resamples = draws(pair_moments.n, 1, n_resamples, random_state, n_threads)
    drawn = resample_sums(to_grid(d[None]), resamples, grouped)
    low, high = drawn.interval(0, -1, float(skewness_of_mean(d, pair_moments, grouped)), method, confidence)
    return Interval(mean, low, high, float(drawn.differences(0, -1)[0].std() * drawn.grid.unit / len(d)))


# ---- weighted means: quotients of two sums, over queries that are drawn with their weights ---------------------------
TOLERANCE = 1e-12  # how near quotients come that are equal on paper


def weighted_bounds(
    values: np.ndarray,
    weights: np.ndarray,
    method: str,
    confidence: float,
    n_resamples: SupportsIndex,
    random_state: SupportsIndex,
    n_threads: SupportsIndex | None,
) -> tuple[float, float]:
    """Return the interval of the mean of at least two different values with positive weights.

    "t" is Student's with the standard error of a quotient, by linearisation: Cochran (1977), 6.9. The acceleration of
    "bca" is a sixth of the skewness of the linearised terms.
    """
    n, total = len(values), weights.sum()
    mean = (weights * values).sum() / total
    terms = weights * (values - mean)
    if method == "t":
        error = np.sqrt((terms**2).sum() * n / (n - 1)) / total
        margin = student.quantile(n - 1, (1 + confidence) / 2) * error
        return float(mean - margin), float(mean + margin)
    means = resampled_sums(weights * values, n_resamples, random_state, n_threads)
    means /= resampled_sums(weights, n_resamples, random_state, n_threads)  # of the same draws
    levels = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
    if method == "bca":
        noise = TOLERANCE * np.abs(values).max()
        below = np.count_nonzero(means < mean - noise)
        equal = np.count_nonzero(means <= mean + noise) - below
        skewness = (terms**3).sum() / (terms**2).sum() ** 1.5
        levels = corrected_levels(levels, (below + equal / 2) / len(means), skewness)
        if np.isnan(levels).any():
            return np.nan, np.nan
    low, high = quantiles(means, levels)
    return float(low), float(high)


def resampled_sums(
    row: np.ndarray, n_resamples: SupportsIndex, random_state: SupportsIndex, n_threads: SupportsIndex | None
) -> np.ndarray:
    """The sum of a row in every resample."""
    drawn = resample_sums(to_grid(row[None]), draws(len(row), 1, n_resamples, random_state, n_threads))
    return drawn.sums[0] * drawn.grid.unit
