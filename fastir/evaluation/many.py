"""Many runs against the same qrels: when and in which thread each is evaluated, and how all end when one fails.

    dict runs, standard input     one after the other, in the caller's thread: reading a dict takes the GIL
    files, Run objects            as many at a time as there are threads; threads inside a run where there are more

The caller's thread only waits, so Ctrl-C reaches it at once. A run cannot be ended from outside: it calls `watch` at
every block, and an exception raised there ends it. Warnings are issued at the end, by the caller's thread, in the runs'
order.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

from fastir.data.results.by_run import ResultsByRun
from fastir.data.run import Run
from fastir.declared import Record
from fastir.engine.threads import thread_count
from fastir.evaluation.drivers.coverage import Coverage
from fastir.evaluation.run_collections import RunNames, name_the_run, runs_by_name
from fastir.inputs.shapes import HELD_OBJECT, PATH, input_shape
from fastir.inputs.source import FileSource, as_source
from fastir.inputs.trec import ROW_BYTES

if TYPE_CHECKING:
    from fastir.data.results.results import Results
    from fastir.data.run import RunsLike
    from fastir.evaluation.rules import EvaluationRules

THREAD_ROWS = 1 << 18  # rows of a run that are worth a thread
POLL_SECONDS = 0.05  # seconds between two looks for Ctrl-C, which a wait without a time limit was seen to miss


class Job(Record):
    """A run that may be evaluated in any thread."""

    place: int
    name: Hashable
    run: Any
    rows: int


class Stopped(Exception):
    """Ends the evaluation of a run: its result is not needed any more."""


def evaluate_runs(
    rules: EvaluationRules,
    runs: RunsLike,
    progress: Callable[[Any, int], object] | None = None,
    names: RunNames = "stem",
) -> ResultsByRun:
    """Evaluate many runs under the rules of an Evaluator; `evaluate_many` says how.

    `progress` is called with (name, position), in any thread, when a run's file has been read up to this byte.
    """
    settings = rules.settings
    evaluated: dict[Hashable, None] = {}  # names in the order of the runs
    outcomes: dict[Hashable, tuple[Results, Coverage]] = {}
    jobs = []

    def evaluate(job: Job, n_threads: int | None, watch: Callable[[], object] | None = None) -> None:
        def block_read(position: int) -> None:
            if watch is not None:
                watch()
            if progress is not None:
                progress(job.name, position)

        try:
            _, coverage = outcomes[job.name] = rules.evaluate_one(job.run, n_threads, block_read)
            if rules.may_be_run or not coverage.is_complete:
                rules.look_at_run(coverage, job.run)
        except Exception as error:
            name_the_run(error, job.name)
            raise

    for name, run in runs_by_name(runs, rules.columns, settings.options.duplicates, names, rules.judgments):
        evaluated[name] = None
        run = as_source(run)
        rows = None if type(run) is dict else count_rows(run)
        job = Job(len(evaluated), name, run, rows or 0)
        if rows is None:
            evaluate(job, settings.n_threads)
        else:
            jobs.append(job)
    n_threads = thread_count(settings.n_threads, sum(job.rows for job in jobs)) if jobs else 1
    if n_threads > 1 and len(jobs) > 1:
        in_threads(evaluate, jobs, n_threads)
    else:
        for job in jobs:
            evaluate(job, n_threads)
    for name in evaluated:
        if not outcomes[name][1].is_complete:
            outcomes[name][1].warn(settings.queries, name)
    return ResultsByRun((name, outcomes[name][0]) for name in evaluated)


def in_threads(evaluate: Callable[..., Any], jobs: list[Job], n_threads: int) -> None:
    """Evaluate jobs with `n_threads` threads in all, the biggest first.

    As without threads, the error of the first job that has one is raised: the jobs behind it are stopped, the jobs
    before it go on. An interrupt stops them all. No job is running when this returns or raises.
    """
    import queue

    waiting = deque(sorted(jobs, key=lambda job: -job.rows))
    ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
    last, failure = jobs[-1].place, None  # jobs behind `last` are stopped, or not begun

    def work(job: Job, inside: int) -> None:
        def watch() -> None:
            if job.place > last:
                raise Stopped

        error = None
        try:
            watch()
            evaluate(job, inside, watch)
        except BaseException as caught:
            error = caught
        ended.put((threading.current_thread(), job, inside, error))

    def manage() -> None:
        nonlocal last, failure
        free, running = n_threads, 0
        while running or (waiting and last >= 0):
            while waiting and free and last >= 0:
                together = len(waiting) % n_threads or n_threads  # the later jobs then fill whole rounds
                job = waiting.popleft()
                inside = min(-(-free // together), max(1, job.rows // THREAD_ROWS))
                free, running = free - inside, running + 1
                thread = threading.Thread(target=work, args=(job, inside))
                try:
                    thread.start()
                except (RuntimeError, MemoryError) as refused:  # no more threads can be had
                    ended.put((None, job, inside, refused))
            thread, job, inside, error = ended.get()
            if thread is not None:
                thread.join()
            free, running = free + inside, running - 1
            if error is not None and job.place <= last:
                last, failure = job.place, error
        over.set()

    over = threading.Event()  # because an interrupted join() believes that the thread has ended (CPython 3.11)
    manager = threading.Thread(target=manage)  # in the caller's thread an interrupt in start() would lose a run
    try:
        manager.start()
        while not over.wait(POLL_SECONDS):
            pass
    except BaseException:
        last = -1
        raise
    finally:
        if manager.ident is not None:
            over.wait()
            manager.join()
    if failure is not None:
        raise failure


def count_rows(run: Any) -> int | None:
    """About how many rows a file or a Run has; None for a run that must be evaluated in the caller's thread."""
    shape = input_shape(run, Run)
    if shape == HELD_OBJECT:
        return run.columns.n_rows
    if shape == PATH and isinstance(run, FileSource) and run.is_file:
        return run.n_bytes // ROW_BYTES
    return None
