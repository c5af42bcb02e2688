"""The two ways to share work among threads, and work that Ctrl-C ends."""

from __future__ import annotations

import _thread
import itertools
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar

import numpy as np

from fastir.engine.threads._blocks import OPENMP, Blocks, Call, is_forked
from fastir.engine.threads.counts import SERIAL, automatic_count, thread_count

if TYPE_CHECKING:
    import threading

SAMPLE_SECONDS = 0.001  # of work, from which the time of the rest is estimated
TEAM_SECONDS = 0.015  # of processor time, from which on a team is faster even if the other cores are busy
TRIAL_SECONDS = 0.01  # of a team's first round, after which it goes on or leaves the rest to one thread:
TRIAL_SHARE = 0.9  # it must need less than this fraction of the time, which on a busy machine it does not,
PAUSE_SECONDS = 1.0  # for which no call tries again then
ROUND_SECONDS = 0.05  # between two looks for Ctrl-C
TURN_SECONDS = 0.005  # for which a Python thread takes blocks at a time
LONG_QUERY_ROWS = 1 << 18  # rows of one query, of which a kernel takes 50 ms or more
JOIN_SECONDS = 0.1  # for which Ctrl-C waits for other threads to end

teams = OPENMP  # False shares blocks among Python threads, which bench/bench_threads.py compares with teams
busy_until: float = 0.0  # by time.monotonic(), which a team that was too slow has set
T = TypeVar("T")

this_thread: threading.local = _thread._local()  # this_thread.busy: this is a thread of share()


def interruptible(work: Callable[[], Any], rows: int) -> Any:
    """What work() returns, called so that Ctrl-C ends a call whose longest query has this many rows.

    After Ctrl-C the work may go on in its thread, up to the end of the query; its outcome is discarded.
    """
    if SERIAL or rows <= LONG_QUERY_ROWS:
        return work()
    import threading

    if threading.get_ident() != threading.main_thread().ident:
        return work()
    lock = _thread.allocate_lock()
    lock.acquire()
    call = Call(work, lock)
    _thread.start_new_thread(call, ())
    while not call.ended:
        lock.acquire(timeout=ROUND_SECONDS)
    if call.error is not None:
        raise call.error
    return call.result


def longest_query(offsets: np.ndarray) -> int:
    """The rows of the longest query, or 0 if it is surely not long."""
    return int(np.diff(offsets).max()) if offsets[-1] - offsets[0] > LONG_QUERY_ROWS else 0


def run(blocks: Blocks, n_threads: SupportsIndex | None, rows: int = 0) -> None:
    """Do all blocks of a kernel, or those up to one that fails, in as many threads as the option `n_threads` says.

    `rows` is how many rows the longest query has, where that may be LONG_QUERY_ROWS.

    After Ctrl-C no thread is at work any more, unless one is in a long query.
    """
    if rows > LONG_QUERY_ROWS:
        interruptible(lambda: run(blocks, n_threads), rows)
        return
    if n_threads is None:
        left = blocks.run_alone(0, SAMPLE_SECONDS)
        if left == 0:
            return
        threads = chosen_count(blocks, left)
    else:
        threads = thread_count(n_threads, 0)
    if threads > 1 and not may_share():
        threads = 1
    if threads > 1 and not teams:
        problems = share(lambda t: blocks, lambda t, task, number: task.run_alone(t, TURN_SECONDS) == 0, threads)
        if problems:
            raise problems[min(problems)]
    else:
        while blocks.run_in_team(threads, ROUND_SECONDS) > 0:
            pass


def chosen_count(blocks: Blocks, left: float) -> int:
    """Threads for a kernel that needs `left` more seconds alone: as many as possible if a first round shows it pays."""
    global busy_until
    begin = time.monotonic()
    if left < TEAM_SECONDS or begin < busy_until or not may_share():
        return 1
    threads = automatic_count()
    if threads == 1 or not teams:
        return threads
    left_in_team = blocks.run_in_team(threads, TRIAL_SECONDS)
    end = time.monotonic()
    if end - begin + left_in_team < TRIAL_SHARE * left:
        return threads
    busy_until = end + PAUSE_SECONDS
    return 1


def may_share() -> bool:
    """Whether a kernel may use more than one thread here."""
    return not is_forked() and not getattr(this_thread, "busy", False)


def do_all(take: Callable[[int], T | None], work: Callable[[int, T, int], object]) -> dict[int, BaseException]:
    """Do all tasks in the caller's thread; with the parameters and the result of share()."""
    for number in itertools.count():
        try:
            task = take(0)
            if task is None or work(0, task, number):
                break
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return {number: error}
    return {}


def share(
    take: Callable[[int], T | None], work: Callable[[int, T, int], object], threads: int
) -> dict[int, BaseException]:
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

    After Ctrl-C all threads have ended, unless one is in a long query.
    """
    if threads == 1:
        return do_all(take, work)
    import threading  # for several threads only, as it takes as long as a small evaluation

    lock = threading.Lock()
    numbers = itertools.count()
    problems: dict[int, BaseException] = {}
    done: list[int | None] = []

    def loop(t: int) -> None:
        outer = getattr(this_thread, "busy", False)
        this_thread.busy = True
        try:
            take_tasks(t)
        finally:
            this_thread.busy = outer

    def take_tasks(t: int) -> None:
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
        for thread in others:
            thread.join()
    except BaseException:
        done.append(None)
        until = time.monotonic() + JOIN_SECONDS
        for thread in others:
            if thread.ident is not None:
                thread.join(max(0.0, until - time.monotonic()))
        raise
    for error in problems.values():
        if isinstance(error, KeyboardInterrupt):
            raise error
    return problems


def share_all(tasks: Iterable[T], work: Callable[[int, T, int], object], threads: int) -> None:
    """Share the tasks of an iterable among threads; raise the error of the earliest task that has one."""
    waiting = iter(tasks)
    problems = share(lambda t: next(waiting, None), work, threads)
    if problems:
        raise problems[min(problems)]
