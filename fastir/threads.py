"""How many threads a call may use, and what keeps fork() safe after some were used."""

import os
from typing import SupportsIndex

from fastir._measure import pause_threads

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=pause_threads)

WORTH = 1 << 20     # rows: below, starting a team costs more than it gives
LARGEST = 256


def thread_count(n_threads: SupportsIndex | None, rows: int) -> int:
    """Threads for a call over `rows` rows; None asks the environment and the machine.

    Raises
    ------
    TypeError, ValueError
        n_threads is not an integer from 1 up.
    """
    if n_threads is None:
        if rows < WORTH or multiprocessing_child():
            return 1
        available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        limits = [available, 8]
        for name in ("FASTIR_NUM_THREADS", "OMP_NUM_THREADS"):
            text = os.environ.get(name, "").partition(",")[0]
            if text.isdecimal() and int(text) > 0:
                limits.append(int(text))
        return min(limits)
    try:
        number = n_threads.__index__()
    except AttributeError:
        raise TypeError(f"n_threads must be an int or None, got {type(n_threads).__name__}") from None
    if number < 1:
        raise ValueError(f"n_threads must be at least 1, got {number}")
    return min(number, LARGEST)


def multiprocessing_child() -> bool:
    import sys

    module = sys.modules.get("multiprocessing.process")
    return module is not None and module.parent_process() is not None
