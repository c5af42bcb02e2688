"""The studentized range, and the root of a function, which SciPy has, but slowly or behind a slow import."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from fastir.checks import number, proportion, whole_number
from fastir.stats._checks import special

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# Trapezoids converge geometrically on these integrands: with smaller steps no digit changes.
NORMAL = np.arange(-58, 88) * 0.15  # z of one of the k normal variables
STEP = 0.25  # of log s, in its deviations
NEGLIGIBLE_LOG = -70.0  # log of a weight
MAX_VARIABLES = 10**6  # beyond, the steps are too wide


def studentized_range_sf(q: ArrayLike, k: int, df: float) -> np.ndarray:
    """The probability that the range of k standard normal variables, divided by an independent s, is above q.

    Parameters
    ----------
    q : float array
        Not negative.
    k : int
        From 2 up.
    df : float
        Degrees of freedom of s, at least 1; may be infinite.

    Returns
    -------
    float64 array of q's shape
        The relative error is about 1e-11 for values down to 1e-20, and larger below.

    Notes
    -----
    P(range > q s) is averaged over trapezoids that are even in log s, and hence in log x = log q + log s. All q share
    one lattice of x, so that 190 pairs of runs cost little more than one.
    """
    df = number("df", df, 1.0)
    if whole_number("k", k, 2) > MAX_VARIABLES:
        raise ValueError(f"k must be at most {MAX_VARIABLES}, got {k}")
    q = np.asarray(q, np.float64)
    if not (q >= 0).all():
        raise ValueError("q must be numbers from 0 up")
    if np.isinf(df):
        return range_sf(q.ravel(), k).reshape(q.shape)
    result = np.where(np.isinf(q), 0.0, 1.0)
    inside = (q > 0) & (q < np.inf)
    log_q = np.log(q[inside])[:, None]
    deviation = (2 * df) ** -0.5
    step = STEP * deviation
    window = np.arange(int((NEGLIGIBLE_LOG / df - 12 * deviation) / step), int(12 / STEP) + 1)
    places = window + np.rint(log_q / step).astype(np.int64)
    log_s = places * step - log_q
    weights = np.exp(np.maximum(df * (log_s - np.expm1(2 * log_s) / 2), 10 * NEGLIGIBLE_LOG))
    lattice, at = np.unique(places, return_inverse=True)
    shares = range_sf(np.exp(lattice * step), k)[at.reshape(places.shape)]
    result[inside] = (weights * shares).sum(axis=1) / weights.sum(axis=1)
    return result


def range_sf(x: np.ndarray, k: int) -> np.ndarray:
    """P(range of k standard normal variables > x): the integral of k phi(z) (Phi(z)^(k-1) - (Phi(z) - Phi(z-x))^(k-1)).

    Written so that small probabilities keep their digits.
    """
    below = special().ndtr(NORMAL)
    weights = k * (NORMAL[1] - NORMAL[0]) * np.exp(-(NORMAL**2) / 2) / (2 * np.pi) ** 0.5 * below ** (k - 1)
    inside = np.minimum(special().ndtr(NORMAL - x[:, None]) / below, 1.0)
    with np.errstate(divide="ignore"):
        return (-np.expm1((k - 1) * np.log1p(-inside)) * weights).sum(axis=1)


def studentized_range_ppf(probability: float, k: int, df: float) -> float:
    """The q that a studentized range exceeds with probability 1 - `probability`."""
    beyond = 1 - proportion("probability", probability)
    return root(lambda q: float(studentized_range_sf(q, k, df)) - beyond, 0.0)


def root(f: Callable[[float], float], low: float) -> float:
    """Return the root, above `low`, of a monotonic function, to about 1e-12 of it.

    The bracket grows to the right until it holds the sign change; then false position with halved weights (Illinois).
    """
    at_low, high = f(low), max(2 * low, low + 1.0)
    at_high = f(high)
    while (at_high > 0) == (at_low > 0):
        low, at_low, high = high, at_high, 2 * high
        at_high = f(high)
    side = 0
    while high - low > 4e-13 * high and at_high != 0:
        middle = high - at_high * (high - low) / (at_high - at_low)
        if not low < middle < high:
            middle = (low + high) / 2
        at_middle = f(middle)
        if (at_middle > 0) == (at_low > 0):
            low, at_low = middle, at_middle
            at_high /= 2 if side == 1 else 1
            side = 1
        else:
            high, at_high = middle, at_middle
            at_low /= 2 if side == 2 else 1
            side = 2
    return high
