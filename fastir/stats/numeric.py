"""The studentized range, and the root of a function: what SciPy has too slowly or behind a slow import."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

# Trapezoids converge geometrically on these integrands: at these steps more points change no digit.
NORMAL = np.arange(-58, 88) * 0.15      # z of one of the k normal variables
STEP = 0.25                             # of log s, in its deviations
NEGLIGIBLE = -70.0                      # log of a weight


def studentized_range_sf(q: ArrayLike, k: int, freedom: float) -> np.ndarray:
    """The probability that the range of k standard normal variables, over an independent s, is above q.

    Parameters
    ----------
    q : float array
        Not negative.
    k : int
        From 2 up.
    freedom : float
        Degrees of freedom of s, at least 1; may be infinite.

    Returns
    -------
    float64 array of q's shape
        Right to about 1e-11 of itself down to 1e-20, to fewer digits further out.

    Notes
    -----
    P(range > x) = integral of k phi(z) (Phi(z)^(k-1) - (Phi(z) - Phi(z - x))^(k-1)) dz, averaged over x = q s.
    """
    q = np.asarray(q, np.float64)
    below = special.ndtr(NORMAL)
    weights = k * (NORMAL[1] - NORMAL[0]) * np.exp(-NORMAL ** 2 / 2) / np.sqrt(2 * np.pi) * below ** (k - 1)
    s, share = scale_points(freedom)
    result = np.empty(q.shape)
    for place, value in np.ndenumerate(q):
        inside = np.minimum(special.ndtr(NORMAL - value * s[:, None]) / below, 1.0)
        with np.errstate(divide="ignore"):
            result[place] = share @ (-np.expm1((k - 1) * np.log1p(-inside)) @ weights)
    return result


def scale_points(freedom: float) -> tuple[np.ndarray, np.ndarray]:
    """Values of s = chi / sqrt(freedom) and their weights, even in log s."""
    if np.isinf(freedom):
        return np.ones(1), np.ones(1)
    deviation = (2 * freedom) ** -0.5
    log_s = np.arange(-(12 * deviation - NEGLIGIBLE / freedom), 12 * deviation, STEP * deviation)
    log_weight = freedom * (log_s - np.expm1(2 * log_s) / 2)
    kept = log_weight > NEGLIGIBLE
    weights = np.exp(log_weight[kept])
    return np.exp(log_s[kept]), weights / weights.sum()


def studentized_range_ppf(probability: float, k: int, freedom: float) -> float:
    """The q that a studentized range exceeds with probability 1 - `probability`."""
    beyond = 1 - probability
    return root(lambda q: float(studentized_range_sf(q, k, freedom)) - beyond, 0.0)


def root(f: Callable[[float], float], low: float) -> float:
    """Where a monotonic function that changes its sign above `low` is 0, to about 1e-12 of it.

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
