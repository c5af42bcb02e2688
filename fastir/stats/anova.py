"""Many runs at once: the two-way analysis of variance, and Tukey's honest differences, which use its residual.

The runs share the queries, so the effect of a query on all runs is removed before runs are compared. Programs that use
a one-way procedure leave it in, and find fewer differences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

import numpy as np

from fastir.checks import proportion
from fastir.stats import student
from fastir.stats._checks import N_RESAMPLES, check_table, check_values, is_constant, proper, special
from fastir.stats._resample import ORDERS, Orders
from fastir.stats.grid import to_grid
from fastir.stats.numeric import studentized_range_ppf, studentized_range_sf
from fastir.stats.resampling import Resamples

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

NO_RESIDUAL = "no residual variance"


class Source(NamedTuple):
    """A row of the analysis of variance: what varies, how much, and its F-test against the error (itself NaN)."""

    sum_of_squares: float
    df: int
    mean_square: float
    f: float
    p_value: float


class Anova(NamedTuple):
    """A two-way analysis of variance.

    Attributes
    ----------
    runs, queries : Source
    interaction : Source or None
        None without repeats: the interaction is then the error.
    error : Source
    partial_eta_squared, eta_squared, omega_squared : float
        The runs' fraction of the variance that is not due to queries, of the total variance, and the unbiased estimate
        of the latter.
    note : str
    """

    runs: Source
    queries: Source
    interaction: Source | None
    error: Source
    partial_eta_squared: float
    eta_squared: float
    omega_squared: float
    note: str

    def margin(self, confidence: float = 0.95) -> float:
        """Half the width of the confidence interval of a run's mean, from the error of all runs (Sakai 2014)."""
        values = self.queries.df + 1 if self.interaction is None else self.replicates() * (self.queries.df + 1)
        quantile = student.quantile(self.error.df, (1 + proportion("confidence", confidence)) / 2)
        return float(quantile * (self.error.mean_square / values) ** 0.5)

    def replicates(self) -> int:
        return 1 + self.error.df // ((self.runs.df + 1) * (self.queries.df + 1))


def two_way_anova(scores: ArrayLike) -> Anova:
    """The two-way analysis of variance of runs and queries, both fixed.

    Parameters
    ----------
    scores : float array of shape (n_queries, n_runs), or (n_queries, n_runs, n_repeats)
        At least two of each. Repeats are, for example, seeds.

    Returns
    -------
    Anova
        **Undefined**: without residual variance F and p are NaN; the note says so.

    Raises
    ------
    ValueError
        The shape is wrong, or a score is NaN.
    """
    x = check_values(scores, "scores", 3 if np.ndim(scores) == 3 else 2, "a row per query and a column per run")
    if min(x.shape) < 2:
        raise ValueError(f"scores has shape {x.shape}; an analysis of variance needs two of everything")
    cells = x.reshape(*x.shape[:2], -1)
    n, m, r = cells.shape
    mean = cells.mean()
    means = cells.mean(axis=2)
    of_runs, of_queries = means.mean(axis=0), means.mean(axis=1)
    ss_runs = n * r * ((of_runs - mean) ** 2).sum()
    ss_queries = m * r * ((of_queries - mean) ** 2).sum()
    ss_cells = r * ((means - of_runs - of_queries[:, None] + mean) ** 2).sum()
    df_cells = (m - 1) * (n - 1)
    ss_error, df_error = (ss_cells, df_cells) if r == 1 else (((cells - means[:, :, None]) ** 2).sum(), n * m * (r - 1))
    flat = bool(is_constant(ss_error / df_error, np.abs(x).max()))
    unit = np.nan if flat else ss_error / df_error

    def source(ss: Any, df: int) -> Source:
        f = ss / df / unit
        return Source(float(ss), df, float(ss / df), float(f), float(proper(special().fdtrc(df, df_error, f))))

    total = ss_runs + ss_queries + ss_error + (ss_cells if r > 1 else 0.0)
    error = Source(float(ss_error), df_error, float(ss_error / df_error), np.nan, np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        return Anova(
            source(ss_runs, m - 1),
            source(ss_queries, n - 1),
            source(ss_cells, df_cells) if r > 1 else None,
            error,
            float(np.divide(ss_runs, ss_runs + ss_error)),
            float(np.divide(ss_runs, total)),
            float(np.divide(ss_runs - (m - 1) * error.mean_square, total + error.mean_square)),
            NO_RESIDUAL if flat else "",
        )


class Tukey(NamedTuple):
    """Honest significant differences of all pairs of runs.

    Attributes
    ----------
    differences, p_values, effects : float64 arrays of shape (n_runs, n_runs)
        Of the row's run minus the column's; NaN if undefined. An effect is a difference divided by the residual
        standard deviation.
    margin : float
        Half the width of the simultaneous intervals: each is the difference ± margin.
    exact : bool
        Whether the p-values are not resampled.
    note : str
    """

    differences: np.ndarray
    p_values: np.ndarray
    effects: np.ndarray
    margin: float
    exact: bool
    note: str


def tukey_test(scores: ArrayLike, *, confidence: float = 0.95) -> Tukey:
    """Tukey's honest significant differences, paired: based on the residual of the two-way analysis of variance.

    Parameters
    ----------
    scores : float array of shape (n_queries, n_runs)
        At least two of each.
    confidence : float
        The confidence of all intervals together.

    Returns
    -------
    Tukey
        For two runs this is the paired t-test. **Undefined**: without residual variance a p-value is 1 if the means are
        equal and NaN otherwise; the note says so.

    Notes
    -----
    Tukey (1949); Carterette (2012). ranx, SciPy and statsmodels use the unpaired procedure.
    """
    x = check_table(scores, "scores")
    anova = two_way_anova(x)
    differences, effects, flat = honest_differences(x, anova)
    confidence = proportion("confidence", confidence)
    if flat:
        return Tukey(differences, np.where(differences == 0, 1.0, np.nan), effects, 0.0, True, anova.note)
    m = x.shape[1]
    error = (anova.error.mean_square / len(x)) ** 0.5
    p = np.ones((m, m))
    above = np.triu_indices(m, 1)
    p[above] = p[above[::-1]] = proper(studentized_range_sf(np.abs(differences[above]) / error, m, anova.error.df))
    return Tukey(differences, p, effects, studentized_range_ppf(confidence, m, anova.error.df) * error, False, "")


def honest_differences(x: np.ndarray, anova: Anova) -> tuple[np.ndarray, np.ndarray, bool]:
    """Differences of means, 0 if they are only rounding noise; effects; whether there is no residual."""
    means = x.mean(axis=0)
    differences = means[:, None] - means
    flat = anova.note == NO_RESIDUAL
    if flat:
        differences[np.abs(differences) <= 8 * np.finfo(float).eps * np.abs(x).max()] = 0.0
        return differences, np.full(differences.shape, np.nan), True
    return differences, differences / anova.error.mean_square**0.5, False


def randomized_tukey_test(
    scores: ArrayLike,
    *,
    confidence: float = 0.95,
    n_resamples: SupportsIndex = N_RESAMPLES,
    random_state: SupportsIndex = 0,
    n_threads: SupportsIndex | None = None,
) -> Tukey:
    """The randomized Tukey test: compare differences with the ranges of means after shuffling the scores of each query.

    Parameters
    ----------
    scores, confidence
        As for `tukey_test`.
    n_resamples, random_state, n_threads
        As for `randomization_test`. If there are at most n_resamples orders, (n_runs!)^(n_queries - 1) with one query
        fixed, all are enumerated.

    Returns
    -------
    Tukey
        For two runs this is the randomization test. The margin is a quantile of the ranges. The result does not depend
        on the order of the runs.

    Notes
    -----
    Carterette (2012); Sakai (2014). elinor compares floats and loses ties.
    """
    x = check_table(scores, "scores")
    confidence = proportion("confidence", confidence)
    n, m = x.shape
    if m < 2:
        raise ValueError(f"scores has shape {x.shape}; expected two runs or more")
    grid = to_grid(np.ascontiguousarray(x.T))
    rows = np.ascontiguousarray(np.sort(grid.whole.T, axis=1))
    orders = special().factorial(m, exact=True) ** (n - 1) if n < 64 else 1 << 64
    resamples = Resamples(n_resamples, random_state, n_threads, ORDERS, orders, n * m)
    ranges = np.empty(resamples.total, np.int64)
    resamples.counts(Orders(resamples, rows, ranges))
    ranges.sort()
    sums = grid.whole.sum(axis=1)
    limits = np.abs(sums[:, None] - sums) - grid.slack()
    p = resamples.p_values(len(ranges) - np.searchsorted(ranges, limits, "left"))
    np.fill_diagonal(p, 1.0)
    anova = two_way_anova(x) if n > 1 else None
    differences = x.mean(axis=0)[:, None] - x.mean(axis=0)
    effects = honest_differences(x, anova)[1] if anova else np.full((m, m), np.nan)
    margin = float(np.quantile(ranges, confidence, method="higher")) * grid.unit / n
    return Tukey(differences, p, effects, margin, resamples.listed, anova.note if anova else "one query")
