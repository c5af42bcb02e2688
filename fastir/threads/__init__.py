"""How many threads a call may use, and how tasks are shared among them."""

import itertools
import os
import threading
from typing import SupportsIndex

WORTH = 1 << 20  # rows: below, starting a team costs more than it gives
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


def share(take, work, threads):
    """Share tasks among threads, of which the caller's is the first.

    Parameters
    ----------
    take : function of (t)
        The next task for thread t, None when there are no more; never called by two threads at once.
    work : function of (t, task, number)
        Does a task; tasks are numbered from 0 as they were taken. True means that no more are needed.
    threads : int

    Returns
    -------
    dict
        {number: exception} of what take and work raised; an error stops all threads, after the tasks in their hands.

    Raises
    ------
    KeyboardInterrupt
        All threads have ended by then.
    """
    lock = threading.Lock()
    numbers = itertools.count()
    problems = {}
    done = []

    def loop(t):
        while not (problems or done):
            with lock:
                number = next(numbers)
                try:
                    task = take(t)
                except BaseException as error:
                    problems[number] = error
                    return
            if task is None:
                return
            try:
                if work(t, task, number):
                    done.append(number)
            except BaseException as error:
                problems[number] = error

    others = [threading.Thread(target=loop, args=(t,), daemon=True) for t in range(1, threads)]
    try:
        for thread in others:
            thread.start()
        loop(0)
    except BaseException:
        done.append(None)
        raise
    finally:
        for thread in others:
            if thread.ident is not None:
                thread.join()
    for error in problems.values():
        if isinstance(error, KeyboardInterrupt):
            raise error
    return problems


def share_all(tasks, work, threads):
    """Like share(), for an iterable of tasks; raises the error of the earliest task that has one."""
    tasks = iter(tasks)
    problems = share(lambda t: next(tasks, None), work, threads)
    if problems:
        raise problems[min(problems)]
