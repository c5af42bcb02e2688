"""How resamples are shared among threads: in blocks, whose results are counts, or stand at the resample's number."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import SupportsIndex

import numpy as np

from fastir.checks import whole_number
from fastir.stats._resample import BLOCK_SIZE, DRAWS, ORDERS, SIGNS, stream
from fastir.threads import share_all, thread_count

COST = {SIGNS: 1, DRAWS: 10, ORDERS: 40}  # of a random number and column, in signs
LARGEST = 1 << 31  # cost of a block, about 0.1 s: Ctrl-C is answered between two
ROW = 256  # cost of a row of a run, which is what thread_count() knows


class Resamples:
    """So many resamples of one kind, for work that is done block by block.

    Parameters
    ----------
    n_resamples : int
    random_state : int
        Any; the same gives the same numbers, whatever the number of threads.
    purpose : int
        SIGNS, ORDERS or DRAWS.
    arrangements : int
        How many different ones there are: if not more than n_resamples, all of them are listed, each once.
    cells : int
        Random numbers, times columns, in a resample.
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
        self.block: int = max(1, min(BLOCK_SIZE, LARGEST // cost))
        self.threads: int = thread_count(n_threads, self.total * cost // ROW)

    def each(self, work: Callable[[int, int], np.ndarray | None]) -> np.ndarray:
        """The sum of the counts that work(first, last) returns for every block, if it returns any."""
        total, lock = np.array(0), threading.Lock()

        def do(thread, block, number):
            nonlocal total
            counts = work(*block)
            if counts is not None:
                with lock:
                    total = total + counts

        share_all(self.blocks(), do, self.threads)
        return total

    def blocks(self) -> Iterator[tuple[int, int]]:
        for first in range(0, self.total, self.block):
            yield first, min(first + self.block, self.total)

    def p_values(self, counts: np.ndarray) -> np.ndarray:
        """How often a limit was reached, as p-values: where not all arrangements were seen, the data are one more."""
        return counts / self.total if self.listed else (1 + counts) / (1 + self.total)


def seed(random_state: SupportsIndex) -> int:
    """The 64 bits of an int."""
    return whole_number("random_state", random_state, 0) & 0xFFFFFFFFFFFFFFFF
