"""Coefficients of agreement from tables of counts: n[..., i, j] documents have label i from one side, j from the other.

The leading axes hold any number of tables: one for each query, one for all, one for every resample of the queries.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

KappaWeights = Literal["linear", "quadratic"]
Scale = Literal["nominal", "ordinal", "interval"]

KAPPA_WEIGHTS = get_args(KappaWeights)
SCALES = get_args(Scale)


def quotient(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """The quotient, NaN where it is 0 / 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(below > 0, above / below, np.nan)


def overlap(counts: np.ndarray, relevant: np.ndarray) -> np.ndarray:
    """Documents that both sides call relevant, of those that either does."""
    both = counts[..., relevant, :][..., :, relevant].sum(axis=(-2, -1))
    neither = counts[..., ~relevant, :][..., :, ~relevant].sum(axis=(-2, -1))
    return quotient(both, counts.sum(axis=(-2, -1)) - neither)


def kappa(counts: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """1 less the observed distance over that which independent sides with these shares of labels would have."""
    rows, columns = counts.sum(axis=-1), counts.sum(axis=-2)
    seen = (counts * distances).sum(axis=(-2, -1)) * counts.sum(axis=(-2, -1))
    chance = ((rows @ distances) * columns).sum(axis=-1)
    return 1 - quotient(seen, chance)


def alpha(counts: np.ndarray, labels: np.ndarray, scale: Scale) -> np.ndarray:
    """Krippendorff's alpha of two coders: the sides are interchangeable, and chance draws without replacement."""
    coincidences = counts + np.swapaxes(counts, -1, -2)
    shares = coincidences.sum(axis=-1)
    n = shares.sum(axis=-1)
    if scale == "ordinal":
        between = ordinal(shares)
    else:
        between = distances(labels, "quadratic" if scale == "interval" else scale)
    seen = (coincidences * between).sum(axis=(-2, -1)) * (n - 1)
    chance = (shares[..., :, None] * shares[..., None, :] * between).sum(axis=(-2, -1))
    return 1 - quotient(seen, chance)


def distances(labels: np.ndarray, kind: str) -> np.ndarray:
    """How far each two labels are apart: 0 or 1, their difference, or its square."""
    apart = np.abs(labels[:, None] - labels[None, :]).astype(float)
    return (apart > 0).astype(float) if kind == "nominal" else apart if kind == "linear" else apart**2


def ordinal(shares: np.ndarray) -> np.ndarray:
    """The squares of how many codes lie between two labels, half of those at either end counted."""
    middle = np.cumsum(shares, axis=-1) - shares / 2
    return (middle[..., :, None] - middle[..., None, :]) ** 2
