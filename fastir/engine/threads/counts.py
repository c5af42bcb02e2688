"""How many threads a call uses: as its option says, or as the environment and the machine allow."""

import functools
import os
import sys
from typing import SupportsIndex

from fastir.engine.threads._blocks import THREAD_LIMIT, is_forked

PARALLEL_ROWS = 1 << 20  # rows of a file or table: below, starting threads costs more than it gives
DEFAULT_MAX_THREADS = 8  # threads that are used by default
SERIAL = sys.platform == "emscripten"  # no thread can be started: any number of them is one
CGROUP_FOLDER = "/sys/fs/cgroup"  # what limits this container
QUOTA_FILES = (  # the microseconds of processor time, and in how many: in version 2 of control groups, and in 1
    ("cpu.max",),
    ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"),
)


def thread_count(n_threads: SupportsIndex | None, rows: int) -> int:
    """Threads for reading `rows` rows of a file or table; None asks the environment and the machine.

    Raises
    ------
    TypeError, ValueError
        n_threads is not an integer from 1 up.
    """
    if n_threads is None:
        return 1 if rows < PARALLEL_ROWS else automatic_count()
    try:
        number = n_threads.__index__()
    except AttributeError:
        raise TypeError(f"n_threads must be an int or None, got {type(n_threads).__name__}") from None
    if number < 1:
        raise ValueError(f"n_threads must be at least 1, got {number}")
    return 1 if SERIAL else min(number, THREAD_LIMIT)


def automatic_count() -> int:
    """Threads for a large call that does not say how many."""
    if SERIAL or is_forked() or multiprocessing_child():
        return 1
    limits = [DEFAULT_MAX_THREADS, processors()]
    for name in ("FASTIR_NUM_THREADS", "OMP_NUM_THREADS"):
        text = os.environ.get(name, "").partition(",")[0].strip()
        if text.isdecimal() and int(text) > 0:
            limits.append(int(text))
            break
    return min(limits)


def processors() -> int:
    """Processors that this process may use: its affinity, and the quota of its container."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(available, quota(CGROUP_FOLDER) or available)


@functools.lru_cache(1)
def quota(folder: str) -> int | None:
    """The processors that a control group grants, rounded up; None without a limit. Its files are read once."""
    for names in QUOTA_FILES:
        text = ""
        try:
            for name in names:
                with open(os.path.join(folder, name), encoding="ascii") as file:
                    text += " " + file.read()
            granted, period = map(int, text.split())
        except (OSError, ValueError):  # no such file, or "max"
            continue
        if granted > 0 and period > 0:  # -1 is no limit
            return -(-granted // period)
    return None


def multiprocessing_child() -> bool:
    module = sys.modules.get("multiprocessing.process")
    return module is not None and module.parent_process() is not None
