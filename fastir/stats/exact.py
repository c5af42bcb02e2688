"""The exact p-value of a signed sum: the fraction of the 2^n assignments of signs with at least the observed sum."""

from __future__ import annotations

import numpy as np

from fastir.stats._checks import MIN_P
from fastir.stats._subset_sums import share_below, subsets_below

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
