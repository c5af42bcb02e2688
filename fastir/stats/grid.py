"""Scores as whole numbers, so that sums are exact, and sums that are equal on paper are equal here.

0.1 + 0.2 is not 0.3 in binary, so a resample that ties with the data by the definition may miss it by a rounding error,
and the p-value comes out too small. Scores with a small common denominator (P@10, success, reciprocal ranks, rounded
scores) become exact multiples of it. All others are rounded to 2^-40 of the next power of two above the largest, and a
sum then reaches a limit if it misses it by no more than these roundings can make up.
"""

from __future__ import annotations

import math

import numpy as np

from fastir.declared import Record
from fastir.stats._checks import MIN_P
from fastir.stats._subset_sums import share_below, subsets_below

MAX_DENOMINATOR = 10**6  # the largest common denominator that is looked for
TOLERANCE = 1e-9  # how near a score must be to a multiple, if the scores are at most 1
BITS = 40


class Grid(Record):
    """Scores as whole numbers of a unit."""

    whole: np.ndarray  # int64 of the scores' shape
    unit: float  # the score of the number 1
    loose: int  # by how much numbers of one score may differ: 0 or 1; for differences of scores it is twice that

    def slack(self) -> int:
        """By how much a sum of differences over the queries may miss its value on paper."""
        return 2 * self.loose * self.whole.shape[-1]

    def without_noise(self, d: np.ndarray) -> np.ndarray:
        """Differences of these numbers, with 0 where they are equal up to rounding."""
        return np.where(np.abs(d) <= self.loose, 0, d)


def to_grid(scores: np.ndarray) -> Grid:
    """Finite scores, the last axis for the queries, as whole numbers."""
    largest = magnitude(scores)
    capacity = 2.0**52 / max(scores.shape[-1], 1)  # a sum of magnitudes stays below it: floats hold it exactly
    common = common_denominator(scores)
    if common is not None and largest * common < capacity:
        return Grid(np.rint(scores * common).astype(np.int64), 1 / common, 0)
    bits = min(BITS, math.frexp(capacity)[1] - 1)
    unit = math.ldexp(1.0, max(math.frexp(largest)[1] - bits, -1022))
    return Grid(np.rint(scores / unit).astype(np.int64), unit, 1)


def common_denominator(scores: np.ndarray) -> int | None:
    """The smallest number, up to a million, that makes all scores whole; None if there is none."""
    common, close = 1, TOLERANCE * min(1.0, magnitude(scores))
    while True:
        scaled = scores * common
        off = np.abs(scaled - np.rint(scaled)) > close
        if not off.any():
            return common
        offender = float(scores.flat[off.argmax()])
        from fractions import Fraction

        needed = Fraction(offender).limit_denominator(MAX_DENOMINATOR).denominator
        if abs(offender * needed - round(offender * needed)) > close or common % needed == 0:
            return None
        common = math.lcm(common, needed)
        if common > MAX_DENOMINATOR:
            return None


def magnitude(scores: np.ndarray) -> float:
    return float(np.abs(scores).max(initial=0.0))


# ---- exact p-values of signed sums -----------------------------------------------------------------------------------
MAX_HALVED_VALUES = 40  # values up to which two halves meet in the middle
MAX_TABLE_SUMS = 1 << 24  # of a table of sums


def exact_p(d: np.ndarray, slack: int, two_sided: bool, limit: int | None = MAX_TABLE_SUMS) -> float | None:
    """The p-value of sum(d) among the sums of all signs, the identity included; None if that takes too long.

    `d` is int64 of shape (n,). A sum may miss the observed one by `slack` and still count as reaching it. `two_sided`
    compares absolute values; if not, sums at least as great reach the observed one. A table may take `limit` steps.
    """
    values = np.sort(np.abs(d[d != 0]))
    n = len(values)
    total, seen = int(values.sum()), int(d.sum())
    if two_sided:
        seen = abs(seen)
    if n == 0 or seen - slack <= (0 if two_sided else -total):
        return 1.0
    below = (total - seen + slack) // 2  # signed sum >= seen - slack  <=>  sum of the negated values <= below
    step = int(np.gcd.reduce(values))
    values, below = values // step, below // step
    if n <= MAX_HALVED_VALUES and 4 << (n + 1) // 2 <= n * (below + 1):
        share = subsets_below(values, below) / 2**n
    elif limit is None or n * (below + 1) <= limit:
        share = share_below(values, below)
    else:
        return None
    return max(2 * share if two_sided else share, MIN_P)
