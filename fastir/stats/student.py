"""Student's t distribution with NumPy alone: importing SciPy takes longer than importing fastir and NumPy together.

    tail        the regularised incomplete beta function, by its continued fraction (DLMF 8.17.22); the normal tail of a
                transformed t for many degrees of freedom (Hill 1970, Algorithm 395), where the fraction loses digits
    quantile    Newton's method on the tail: it is convex, so that the steps from 0 only ascend
    power       the normal tail averaged over the deviation, by trapezoids that are even in its logarithm

Relative errors are below 1e-12 where a tail is above 1e-100.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

MAX_GAMMA = 80.0  # argument up to which two gamma functions are divided; a series does beyond
RATIO_SERIES = (-1 / 8, 1 / 128, 5 / 1024, -21 / 32768, -399 / 262144, 869 / 4194304)  # in powers of 1 / argument
MAX_FRACTION_DF = 3000.0  # degrees of freedom
MAX_TERMS = 60  # of the continued fraction; more change no digit
MAX_SCALARS = 24  # values up to which numbers are faster than arrays
MAX_T = 1e100  # beyond, only a fraction of a degree of freedom has quantiles
STEP, MAX_STEP = 0.25, 0.04  # of the logarithm of a deviation: in its deviations, and at most
NEGLIGIBLE_LOG = -40.0  # logarithm of a weight


def gamma_ratio(a: float) -> float:
    """gamma(a + 1/2) / gamma(a), of a positive number."""
    if a <= MAX_GAMMA:
        return math.gamma(a + 0.5) / math.gamma(a)
    return math.sqrt(a) * (1 + sum(factor / a**power for power, factor in enumerate(RATIO_SERIES, 1)))


def beta_fraction(a: float, b: float, x: Any) -> Any:
    """The continued fraction of the incomplete beta function; x is below (a + 1) / (a + b + 2)."""
    fraction = 0.0
    for m in range(min(MAX_TERMS, int(14 + 2.5 * math.sqrt(2 * max(a, b)))), 0, -1):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m - 1) * (a + b + m - 1) * x / ((a + 2 * m - 2) * (a + 2 * m - 1))
        fraction = odd / (1 + even / (1 + fraction))
    return 1 / (1 + fraction)


def tail(t: float, df: float) -> float:
    """P(T > t) for t from 0 up; NaN for NaN."""
    if not t < math.inf:
        return math.nan if t != t else 0.0
    if df > MAX_FRACTION_DF:
        return math.erfc(float(normal_deviate(t, df)) / math.sqrt(2)) / 2
    a, share = df / 2, t * t / (df + t * t)
    density = math.exp(-a * math.log1p(t * t / df)) * math.sqrt(share / math.pi) * gamma_ratio(a)
    if share * (a + 2.5) > 1.5:
        return density / (2 * a) * beta_fraction(a, 0.5, 1 - share)
    return 0.5 - density * beta_fraction(0.5, a, share)


def normal_deviate(t: float, df: float) -> float:
    """The standard normal deviate with the tail of t, for many degrees of freedom."""
    a = df - 0.5
    b, square = 48 * a * a, a * math.log1p(t * t / df)
    series = ((-0.4 * square - 3.3) * square - 24) * square - 85.5
    return ((series / (0.8 * square * square + 100 + b) + square + 3) / b + 1) * math.sqrt(square)


def tails(t: np.ndarray, df: float) -> np.ndarray:
    """`tail` of each |t|."""
    t = np.abs(t)
    a = df / 2
    if t.size <= MAX_SCALARS or df > MAX_FRACTION_DF:
        return np.array([tail(each, df) for each in t.ravel().tolist()]).reshape(t.shape)
    result = np.where(np.isinf(t), 0.0, np.nan)
    with np.errstate(invalid="ignore"):
        share = t * t / (df + t * t)
    far = share * (a + 2.5) > 1.5
    density = np.exp(-a * np.log1p(t * t / df)) * np.sqrt(share / np.pi) * gamma_ratio(a)
    result[far] = density[far] / (2 * a) * beta_fraction(a, 0.5, 1 - share[far])
    near = share * (a + 2.5) <= 1.5
    result[near] = 0.5 - density[near] * beta_fraction(0.5, a, share[near])
    return result


@functools.lru_cache(64)
def quantile(df: float, probability: float) -> float:
    """The t that Student's distribution stays below with a probability from 0.5 up; infinite for 1."""
    beyond, t = 1 - probability, 0.0
    if not beyond > 0:
        return math.inf
    constant = gamma_ratio(df / 2) / math.sqrt(math.pi * df)
    while t < MAX_T:
        density = constant * math.exp(-(df + 1) / 2 * math.log1p(t * t / df))
        step = (tail(t, df) - beyond) / density
        t += step
        if not step > 4e-16 * t:
            return t
    return math.inf


@functools.lru_cache(64)
def power_by_centre(df: float, alpha: float) -> Callable[[float], float]:
    """The power of a two-sided t-test, as a function of the noncentrality: d_z times the root of the queries."""
    critical, step = quantile(df, 1 - alpha / 2), min(STEP * (2 * df) ** -0.5, MAX_STEP)
    if critical == math.inf:  # a fraction of a degree: the test hardly sees any difference
        return lambda centre: alpha
    log_s = np.arange(int(NEGLIGIBLE_LOG / df / step - 12 / STEP), int(3 / step)) * step
    with np.errstate(over="ignore"):
        weights = np.exp(df * (log_s - np.expm1(2 * log_s) / 2))
    kept = weights > math.exp(NEGLIGIBLE_LOG)
    weights, bounds = (weights / weights.sum())[kept].tolist(), (critical * np.exp(log_s[kept])).tolist()

    def power_at(centre: float) -> float:
        root = math.sqrt(2)
        found = (math.erfc((bound - centre) / root) + math.erfc((bound + centre) / root) for bound in bounds)
        return min(1.0, sum(weight * each for weight, each in zip(weights, found, strict=True)) / 2)

    return power_at
