"""The mean of a metric over draws of the missing labels, and its standard error.

The estimate is the mean over draws and queries. It depends on two samples, which share queries: the queries, and the
pairs that humans judged. Its variance is that of the sum of each query's influence,

    (m_q - m) / n + C·s_q       m_q the query's mean over draws, s_q its part of the slope of the log-likelihood,
                                C the covariance over draws of the mean metric and the coefficients

(Robins and Wang 2000), which is of first order and a little too small for few human labels. Rubin's rules (1987) give
the sum of the variance within draws and between draws, which is too large where the model knows more than the mean uses
(Meng 1994): twice the variance for recall. The mean of the two has intervals that cover as they should in simulations;
both are s^2 / n where humans judged everything.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fastir.stats.student import quantile, tail


class Estimate(NamedTuple):
    """A mean over queries with its interval.

    Attributes
    ----------
    estimate, low, high : float
    standard_error : float
    p_value : float
        Of a true mean of 0, two-sided; NaN for the mean of a single run.
    df : int
        Degrees of freedom of Student's t: one less than the number of queries with a pair that both judged, or of
        evaluated queries if these are fewer.
    """

    estimate: float
    low: float
    high: float
    standard_error: float
    p_value: float
    df: int


def estimate_mean(
    values: np.ndarray, kept: np.ndarray, coefficients: np.ndarray, scores: np.ndarray, confidence: float
) -> Estimate:
    """The estimate for values of shape (n_draws, n_queries), NaN where undefined, of the kept queries."""
    n_draws = len(values)
    per_query = mean_of_defined(values, 0)
    of_draw = mean_of_defined(values[:, kept], 1)
    counted = kept & ~np.isnan(per_query)
    n, mean = int(counted.sum()), float(of_draw.mean())
    df = min(n, int(scores.any(axis=1).sum())) - 1
    if df < 1 or math.isnan(mean):
        return Estimate(mean, math.nan, math.nan, math.nan, math.nan, max(df, 0))
    centred = coefficients - coefficients.mean(axis=0)
    slope = centred.T @ (of_draw - mean) / (n_draws - 1)
    influence = np.where(counted, (per_query - mean) / (n - 1), 0.0) + scores @ slope
    variance = float((influence**2).sum())
    between = float(of_draw.var(ddof=1))
    # `slope` is an estimate from draws: its noise adds to the squares, and is taken out again
    noise = between / n_draws * float(((scores @ (centred.T / math.sqrt(n_draws - 1))) ** 2).sum())
    influenced = max(variance - noise, variance / 2) * (n - 1) / n + between / n_draws
    within = float(mean_of_defined(np.nanvar(values[:, counted], axis=1, ddof=1), 0)) / n
    error = math.sqrt((influenced + within + between * (1 + 1 / n_draws)) / 2)
    half = quantile(df, (1 + confidence) / 2) * error
    p_value = 2 * tail(abs(mean) / error, df) if error > 0 else (math.nan if mean else 1.0)
    return Estimate(mean, mean - half, mean + half, error, p_value, df)


def mean_of_defined(values: np.ndarray, axis: int) -> np.ndarray:
    """The mean over an axis of the values that are not NaN; NaN if none is."""
    undefined = np.isnan(values)
    if not undefined.any():
        return values.mean(axis=axis)
    n = (~undefined).sum(axis=axis)
    return np.where(n > 0, np.where(undefined, 0.0, values).sum(axis=axis) / np.maximum(n, 1), np.nan)
