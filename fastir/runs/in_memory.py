"""Runs that are held in memory: dicts of dicts, Run objects, and files that must be read as a whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.columns._ids import of_arena
from fastir.inputs import dicts, formats
from fastir.join._dicts import judge_alone, judge_dict, longest_ranking
from fastir.join._grouped import Columns
from fastir.run import Run
from fastir.runs.coverage import Coverage
from fastir.threads import LONG, longest, share_all, thread_count, within_reach

if TYPE_CHECKING:
    from fastir.join._judged import Judged
    from fastir.runs.prepared import PreparedQrels
    from fastir.runs.task import Task

STRETCH = 1 << 16  # rows that a thread takes at a time


def from_dict(task: Task) -> Coverage:
    """Evaluate a dict of dicts, in the caller's thread: a dict cannot be walked without the GIL."""
    if task.prepared.parents is not None:
        return from_run(task.with_run(Run.from_dict(task.run)))
    return dicts_together([(task.prepared, None)], task.run, [(task.values, task.status)])[0]


def from_plain_dict(prepared: PreparedQrels, run: Any) -> tuple[np.ndarray, np.ndarray, Coverage] | None:
    """The values, status codes and Coverage of a dict of dicts under one set of rules; None for any other run."""
    settings = prepared.settings
    found = judge_alone(
        prepared.judged,
        settings.plan,
        prepared.shape,
        prepared.status,
        settings.ties,
        settings.single,
        run,
        LONG,
    )
    if found is None:
        return None
    values, status, tally, kinds = found
    repairs = {} if kinds == prepared.kinds else dicts.compared(run, kinds, prepared.kinds, {})
    return values, status, Coverage(prepared, status, tally, len(run), run, repairs)


def dicts_together(
    parts: Sequence[tuple[PreparedQrels, Judged | None]], run: Any, tables: list[tuple[np.ndarray, np.ndarray]]
) -> list[Coverage]:
    """Evaluate a dict of dicts under several sets of rules, each with its values and status codes.

    `parts` has evaluators, each with None or with qrels of one query, which then hold for each of its queries.
    """
    run, judge = readable(run)
    first = parts[0][0]
    jobs = [
        (own or part.judged, part.settings.plan, values, status, part.settings.ties, part.settings.single)
        for (part, own), (values, status) in zip(parts, tables, strict=True)
    ]
    counts, kinds = judge(first.judged, jobs, run)
    repairs = {} if kinds == first.kinds else dicts.compared(run, kinds, first.kinds, {})
    return [
        Coverage(part, status, tally, len(run), run, repairs)
        for (part, _), (_, status), tally in zip(parts, tables, counts, strict=True)
    ]


def readable(run: Any) -> tuple[dict[Any, Any], Callable[..., Any]]:
    """A dict of dicts with exact keys, and the function that evaluates it."""
    longest = longest_ranking(run)
    if longest < 0:
        run = dicts.query_dict(run, "run")
        longest = longest_ranking(run)
    return run, judge_dict if longest <= LONG else judge_long_dict


def judge_long_dict(judged: Judged, jobs: list[Any], run: dict[Any, Any]) -> Any:
    """What `judge_dict` returns, within reach of Ctrl-C; rankings are copied, as they are read without the GIL."""
    mine = {query_id: dict(ranking) if type(ranking) is dict else ranking for query_id, ranking in run.items()}
    rows = longest_ranking(mine)
    return within_reach(lambda: judge_dict(judged, jobs, mine, True), rows)


def from_run(task: Task) -> Coverage:
    """Evaluate a Run, in stretches of queries that threads share; watch(0) is called before each."""
    prepared, run, watch = task.prepared, task.run, task.watch
    settings, judged = prepared.settings, prepared.judged
    parents = None if prepared.parents is None else prepared.parents.of(run)
    threads = thread_count(task.n_threads, run.n_rows)
    outputs = task.values, task.status
    join = Columns(
        judged, settings.plan, *outputs, settings.ties, settings.single, False, threads, False, True, parents
    )
    place_by_id = {str(query_id): place for query_id, place in run.places().items()}
    places = np.array([place_by_id.get(str(query_id), -1) for query_id in judged.query_ids], np.int64)
    ids, offsets, scores = run.columns()
    docs = of_arena(ids)
    rows = longest(offsets)
    stretch = max(1, len(places) * STRETCH // max(1, run.n_rows))

    def work(t: int, begin: int, number: int) -> None:
        if watch is not None:
            watch(0)
        end = min(begin + stretch, len(places))
        within_reach(lambda: join.read_run(t, docs, scores, offsets, places, begin, end), rows)

    share_all(range(0, len(places), stretch), work, threads)
    return Coverage(prepared, task.status, join.finish(), len(run), run, run.repairs)


def from_whole_file(task: Task) -> Coverage:
    """Read a file as a Run and evaluate that; watch(position) is called at every block."""
    prepared = task.prepared
    rule = prepared.settings.options.duplicates
    return from_run(task.with_run(Run(*formats.read(task.run, True, None, rule, prepared.columns, task.watch))))
