"""Runs that are held in memory: dicts of dicts, Run objects, and files that must be read as a whole."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.data.run import Run
from fastir.engine.columns._ids import ids_from_arena
from fastir.engine.join._contiguous import Columns
from fastir.engine.join._dicts import is_few, judge_alone, judge_dict, longest_ranking, rows_if_few
from fastir.engine.threads import LONG_QUERY_ROWS, interruptible, longest_query, share_all, thread_count
from fastir.evaluation.drivers.coverage import Coverage, Repairs
from fastir.inputs import dicts
from fastir.inputs.exclusions import Exclusion

if TYPE_CHECKING:
    from fastir.engine.join._counts import Counts
    from fastir.engine.join._judged import Judged
    from fastir.evaluation.drivers.prepared import PreparedQrels, Task

STRETCH_ROWS = 1 << 16  # rows that a thread takes at a time


Joined = tuple[np.ndarray, np.ndarray, Coverage]  # values and status codes, of all queries or of the Coverage's rows


def from_dict(task: Task) -> Coverage:
    """Evaluate a dict of dicts as a Run, if the call has parents."""
    return from_run(task.with_run(Run.from_dict(task.run)))


def from_plain_dict(prepared: PreparedQrels, run: Any) -> Joined | None:
    """Evaluate a dict of dicts under one set of rules, a microsecond sooner than dicts_together; None: another run.

    Documents that its Exclusion names leave the rankings as these are read.
    """
    settings = prepared.settings
    evaluated = judge_alone(
        prepared.judged,
        settings.plan,
        prepared.shape,
        prepared.status,
        settings.ties,
        settings.single,
        settings.least,
        run,
        LONG_QUERY_ROWS,
        prepared.min_missing_queries,
        prepared.parents.forms_by_row() if isinstance(prepared.parents, Exclusion) else None,
    )
    if evaluated is None:
        return None
    values, status, counts, kinds, rows = evaluated
    repairs = {} if kinds == prepared.kinds else dicts.compare_id_types(run, kinds, prepared.kinds, {})
    return values, status, Coverage(prepared, status, counts, len(run), run, repairs, rows)


def dicts_together(parts: Sequence[tuple[PreparedQrels, Judged | None]], run: Any) -> list[Joined]:
    """Evaluate a dict of dicts under several sets of rules, in the caller's thread: reading a dict takes the GIL.

    `parts` has evaluators, each with None or with the judgments of one query, which all queries then share.
    """
    run, judge = exact_dict(run)
    first = parts[0][0]
    rows = (
        None
        if any(shared is not None for _, shared in parts)
        else rows_if_few(first.judged, run, first.min_missing_queries)
    )
    tables = [new_table(part, rows) for part, _ in parts]
    jobs = [
        (shared or part.judged, of.plan, values, status, of.ties, of.single, of.least)
        for (part, shared), (values, status) in zip(parts, tables, strict=True)
        for of in [part.settings]
    ]
    all_counts, kinds = judge(first.judged, jobs, run, rows=rows)
    repairs = {} if kinds == first.kinds else dicts.compare_id_types(run, kinds, first.kinds, {})
    return [
        (values, status, Coverage(part, status, counts, len(run), run, repairs, rows))
        for (part, _), (values, status), counts in zip(parts, tables, all_counts, strict=True)
    ]


def new_table(prepared: PreparedQrels, rows: list[int] | None) -> tuple[np.ndarray, np.ndarray]:
    """Values to be filled and status codes, of all queries or of these rows."""
    if rows is None:
        return np.empty(prepared.shape), prepared.status.copy()
    return np.empty((len(rows), prepared.shape[1])), prepared.status[rows]


def exact_dict(run: Any) -> tuple[dict[Any, Any], Callable[..., Any]]:
    """A dict of dicts with exact keys, and the function that evaluates it."""
    longest = longest_ranking(run)
    if longest < 0:
        run = dicts.query_dict(run, "run")
        longest = longest_ranking(run)
    return run, judge_dict if longest <= LONG_QUERY_ROWS else judge_long_dict


def judge_long_dict(judged: Judged, jobs: list[Any], run: dict[Any, Any], rows: list[int] | None) -> Any:
    """Call `judge_dict` so that Ctrl-C is answered, on copied rankings: the GIL is released while they are read."""
    copied = {query_id: dict(ranking) if type(ranking) is dict else ranking for query_id, ranking in run.items()}
    return interruptible(lambda: judge_dict(judged, jobs, copied, True, rows), longest_ranking(copied))


def from_run(task: Task) -> Coverage:
    """Evaluate a Run, in stretches of queries that threads share; watch(0) is called before each."""
    prepared, run, watch = task.prepared, task.run, task.watch
    if prepared.settings.least > -math.inf:
        from fastir.evaluation.drivers.min_score import refuse_ranks

        refuse_ranks(run)
    rules = prepared.join_rules()
    rules.only_judged, rules.once = False, True  # a Run was checked when it was made
    rules.parents = None if prepared.stand_for is None else prepared.stand_for.of(run)
    threads = thread_count(task.n_threads, run.columns.n_rows)
    join = Columns(rules, task.values, task.status, threads, False)
    places, rows = run_places(task)
    ids, offsets, scores = run.columns.arrays()
    docs = ids_from_arena(ids)
    longest = longest_query(offsets)
    positions = None if rows is None else np.array(rows, np.int64)
    stretch = max(1, len(places) * STRETCH_ROWS // max(1, run.columns.n_rows))

    def work(t: int, begin: int, number: int) -> None:
        if watch is not None:
            watch(0)
        end = min(begin + stretch, len(places))
        if longest <= LONG_QUERY_ROWS:
            join.read_run(t, docs, scores, offsets, places, begin, end, positions)
        else:
            interruptible(lambda: join.read_run(t, docs, scores, offsets, places, begin, end, positions), longest)

    if len(places) <= stretch:
        work(0, 0, 0)
    else:
        share_all(range(0, len(places), stretch), work, threads)
    return few_or_all(task, join.finish(rows), len(run), run, run.columns.repairs, rows)


def run_places(task: Task) -> tuple[np.ndarray, list[int] | None]:
    """Return the position of each query in a Run, or -1; for a run of few queries only theirs, and their rows."""
    judged, ids = task.prepared.judged, task.run.columns.query_ids
    rows_by_query = judged.rows_by_query()
    place_by_row = {row: place for place, row in enumerate(map(rows_by_query.get, map(str, ids))) if row is not None}
    if task.min_missing_queries is not None and place_by_row and is_few(judged, len(ids), task.min_missing_queries):
        rows = sorted(place_by_row)
        return np.array([place_by_row[row] for row in rows], np.int64), rows
    places = np.full(judged.n_queries, -1, np.int64)
    places[list(place_by_row)] = list(place_by_row.values())
    return places, None


def few_or_all(
    task: Task, counts: Counts, n_run: int, run_ids: Iterable[Any], repairs: Repairs, rows: list[int] | None
) -> Coverage:
    """The Coverage of a join that filled the values of all queries, or of these rows alone."""
    status = task.status if rows is None else task.status.take(rows)
    return Coverage(task.prepared, status, counts, n_run, run_ids, repairs, rows)


def from_whole_file(task: Task) -> Coverage:
    """Read a file as a Run and evaluate that; watch(position) is called at every block."""
    from fastir.inputs import formats

    prepared = task.prepared
    rule, form = prepared.settings.options.duplicates, formats.file_format(task.run, prepared.settings.lines)
    return from_run(task.with_run(Run(*formats.read(task.run, True, form, rule, prepared.columns, task.watch))))
