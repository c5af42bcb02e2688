"""How threads share resamples: in blocks that return counts, or store a result at the number of each resample."""

from __future__ import annotations

from typing import TYPE_CHECKING, SupportsIndex

import numpy as np

from fastir.checks import whole_number
from fastir.engine.threads import run, thread_count
from fastir.stats._resample import BLOCK_SIZE, DRAWS, ORDERS, SIGNS, stream

if TYPE_CHECKING:
    from fastir.stats._resample import Kernel

COST = {SIGNS: 1, DRAWS: 10, ORDERS: 40}  # of a random number and column, in signs
# Cost of a block. Signs fill tables once per block, so their blocks are as large as Ctrl-C allows, about 0.1 s.
BLOCK_COST_BY_PURPOSE = {SIGNS: 1 << 31, DRAWS: 1 << 20, ORDERS: 1 << 20}
ROW_COST = 256  # cost of a row of a run, which is what thread_count() knows


class Resamples:
    """Resamples of one kind (SIGNS, ORDERS or DRAWS), for work that is done block by block.

    The same state gives the same numbers, for any number of threads. If there are at most n_resamples different
    `arrangements`, each is enumerated once. `cells` are the random numbers, times columns, in a resample.
    """

    def __init__(
        self,
        n_resamples: SupportsIndex,
        random_state: SupportsIndex,
        n_threads: SupportsIndex | None,
        purpose: int,
        arrangements: int,
        cells: int,
    ) -> None:
        wanted = whole_number("n_resamples", n_resamples, 1)
        self.listed: bool = arrangements <= wanted
        self.total: int = arrangements if self.listed else wanted
        self.stream: int = stream(seed(random_state), purpose)
        cost = cells * COST[purpose]
        self.n_threads: SupportsIndex | None = n_threads
        self.threads: int = thread_count(n_threads, self.total * cost // ROW_COST)
        blocks = -(-self.total // max(1, min(BLOCK_SIZE, BLOCK_COST_BY_PURPOSE[purpose] // cost)))
        blocks += -blocks % self.threads  # of one size, so that threads end together
        self.block: int = -(-self.total // blocks)

    def counts(self, kernel: Kernel) -> np.ndarray:
        """Do all resamples; returns the kernel's counts."""
        run(kernel, self.n_threads)
        return kernel.counts()

    def p_values(self, counts: np.ndarray) -> np.ndarray:
        """p-values from how often a limit was reached; if resamples are drawn, the data count as one more."""
        return counts / self.total if self.listed else (1 + counts) / (1 + self.total)


def seed(random_state: SupportsIndex) -> int:
    """The 64 bits of an int."""
    return whole_number("random_state", random_state, 0) & 0xFFFFFFFFFFFFFFFF
