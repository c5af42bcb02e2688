"""Corrections of the p-values of a family for their number."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import numpy as np

from fastir.checks import check_choice

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Correction = Literal["bonferroni", "sidak", "holm", "holm_sidak", "hochberg", "hommel", "bh", "by", "two_stage_bh"]


def adjust(p_values: ArrayLike, method: Correction, *, alpha: float = 0.05) -> np.ndarray:
    """Correct the p-values of a family.

    Parameters
    ----------
    p_values : float array of shape (n,)
        NaN does not belong to the family and stays NaN.
    method : str
        Against any false discovery: ``"bonferroni"``, ``"sidak"``, ``"holm"``, ``"holm_sidak"``, ``"hochberg"``,
        ``"hommel"``. For the false discovery rate: ``"bh"`` (Benjamini and Hochberg), ``"by"`` (Benjamini and
        Yekutieli), ``"two_stage_bh"`` (which estimates, at level alpha, how many hypotheses are true).
    alpha : float
        Only for ``"two_stage_bh"``.

    Returns
    -------
    float64 array of shape (n,)
        The corrected p-values, at most 1.

    Raises
    ------
    ValueError
        The method is unknown, or a p-value is neither NaN nor between 0 and 1.

    Notes
    -----
    The numbers equal `statsmodels.stats.multitest.multipletests`.

    Examples
    --------
    >>> from fastir import stats
    >>> stats.adjust([0.01, 0.04, 0.03], "holm").tolist()
    [0.03, 0.06, 0.06]
    """
    check_choice("method", method, METHODS)
    p = np.array(p_values, np.float64)
    if p.ndim != 1:
        raise ValueError(f"p_values must have one dimension, got shape {p.shape}")
    if (wrong := (p < 0) | (p > 1)).any():
        raise ValueError(f"p_values must be numbers from 0 to 1, or NaN, got {p[wrong][0]}")
    defined = np.flatnonzero(~np.isnan(p))
    order = defined[np.argsort(p[defined], kind="stable")]
    if len(order):
        p[order] = np.minimum(METHODS[method](p[order], alpha), 1.0)
    return p


def counts_not_below(p: np.ndarray) -> np.ndarray:
    """For each of the ascending p-values, how many are not below it."""
    return np.arange(len(p), 0, -1)


def running_max(p: np.ndarray) -> np.ndarray:
    return np.maximum.accumulate(p)


def running_min(p: np.ndarray) -> np.ndarray:
    return np.minimum.accumulate(p[::-1])[::-1]


def sidak_p(p: np.ndarray, tries: np.ndarray | int) -> np.ndarray:
    """The probability that the least of n independent p-values is at most p."""
    with np.errstate(divide="ignore"):
        return -np.expm1(tries * np.log1p(-p))


def bh(p: np.ndarray, factor: float) -> np.ndarray:
    return running_min(p * (factor / np.arange(1, len(p) + 1)))


def two_stage_bh(p: np.ndarray, alpha: float) -> np.ndarray:
    """The second stage takes the number of hypotheses that the first one keeps; if it rejects all, there is none."""
    n = len(p)
    reached = np.flatnonzero(p <= np.arange(1, n + 1) / n * alpha)
    rejected = int(reached[-1]) + 1 if len(reached) else 0
    return bh(p, n - rejected or n)


def hommel(p: np.ndarray, alpha: float) -> np.ndarray:
    """Wright (1992), appendix."""
    n = len(p)
    adjusted = np.full(n, np.min(n * p / np.arange(1, n + 1)))
    for size in range(n - 1, 1, -1):
        head, tail = p[: n - size + 1], p[n - size + 1 :]
        least = np.min(size * tail / np.arange(2, size + 1))
        first = np.minimum(size * head, least)
        adjusted = np.maximum(adjusted, np.concatenate([first, np.full(size - 1, first[-1])]))
    return np.maximum(adjusted, p)


METHODS: dict[Correction, Callable[[np.ndarray, float], np.ndarray]] = {
    "bonferroni": lambda p, alpha: p * len(p),
    "sidak": lambda p, alpha: sidak_p(p, len(p)),
    "holm": lambda p, alpha: running_max(p * counts_not_below(p)),
    "holm_sidak": lambda p, alpha: running_max(sidak_p(p, counts_not_below(p))),
    "hochberg": lambda p, alpha: running_min(p * counts_not_below(p)),
    "hommel": hommel,
    "bh": lambda p, alpha: bh(p, len(p)),
    "by": lambda p, alpha: bh(p, len(p) * (1 / np.arange(1, len(p) + 1)).sum()),
    "two_stage_bh": two_stage_bh,
}
