"""Runs that are held in memory: dicts of dicts, Run objects, and files that must be read as a whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from fastir.columns._ids import of_arena
from fastir.evaluation.coverage import Coverage
from fastir.inputs import dicts, formats
from fastir.join._dicts import judge_alone, judge_dict, longest_ranking
from fastir.join._grouped import Columns
from fastir.run import Run
from fastir.threads import LONG_QUERY_ROWS, interruptible, longest_query, share_all, thread_count

if TYPE_CHECKING:
    from fastir.evaluation.prepared import Prepared
    from fastir.join._judged import Judged

STRETCH = 1 << 16  # rows that a thread takes at a time


def from_dict(
    prepared: Prepared,
    run: Any,
    values: np.ndarray,
    status: np.ndarray,
    n_threads: SupportsIndex | None,
    watch: Callable[..., Any] | None,
) -> Coverage:
    """Evaluate a dict of dicts, in the caller's thread: a dict cannot be walked without the GIL."""
    if prepared.parents is not None:
        return from_run(prepared, Run.from_dict(run), values, status, n_threads, watch)
    return dicts_together([(prepared, None)], run, [(values, status)])[0]


def from_plain_dict(prepared: Prepared, run: Any) -> tuple[np.ndarray, np.ndarray, Coverage] | None:
    """As dicts_together, one set of rules for a dict of dicts, in a microsecond less; None for any other run."""
    settings = prepared.settings
    found = judge_alone(
        prepared.judged,
        settings.plan,
        prepared.shape,
        prepared.status,
        settings.ties,
        settings.single,
        run,
        LONG_QUERY_ROWS,
    )
    if found is None:
        return None
    values, status, tally, kinds = found
    repairs = {} if kinds == prepared.kinds else dicts.compared(run, kinds, prepared.kinds, {})
    return values, status, Coverage(prepared, status, tally, len(run), run, repairs)


def dicts_together(
    parts: Sequence[tuple[Prepared, Judged | None]], run: Any, tables: list[tuple[np.ndarray, np.ndarray]]
) -> list[Coverage]:
    """Evaluate a dict of dicts under several sets of rules, each with its values and status codes.

    Beside a Prepared stands None, or qrels of one query whose documents count as judged for each of its queries.
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
    return run, judge_dict if longest <= LONG_QUERY_ROWS else judge_long_dict


def judge_long_dict(judged: Judged, jobs: list[Any], run: dict[Any, Any]) -> Any:
    """The hits of a dict, interruptible; the rankings are copied, as the GIL is released while they are read."""
    mine = {query_id: dict(ranking) if type(ranking) is dict else ranking for query_id, ranking in run.items()}
    rows = longest_ranking(mine)
    return interruptible(lambda: judge_dict(judged, jobs, mine, True), rows)


def from_run(
    prepared: Prepared,
    run: Run,
    values: np.ndarray,
    status: np.ndarray,
    n_threads: SupportsIndex | None,
    watch: Callable[..., Any] | None,
) -> Coverage:
    """Evaluate a Run, in stretches of queries that threads share; watch(0) is called before each."""
    settings, query_ids = prepared.settings, prepared.judged.query_ids
    parents = None if prepared.parents is None else prepared.parents.of(run)
    threads = thread_count(n_threads, run.n_rows)
    make = prepared.judged, settings.plan, values, status, settings.ties, settings.single, False, threads, False
    join = Columns(*make, True, parents)
    find = {str(query_id): place for query_id, place in run.places().items()}
    places = np.array([find.get(str(query_id), -1) for query_id in query_ids], np.int64)
    ids, offsets, scores = run.columns()
    docs = of_arena(ids)
    rows = longest_query(offsets)
    stretch = max(1, len(places) * STRETCH // max(1, run.n_rows))

    def work(t: int, begin: int, number: int) -> None:
        if watch is not None:
            watch(0)
        end = min(begin + stretch, len(places))
        interruptible(lambda: join.read_run(t, docs, scores, offsets, places, begin, end), rows)

    share_all(range(0, len(places), stretch), work, threads)
    return Coverage(prepared, status, join.finish(), len(run), run, run.repairs)


def from_whole_file(
    prepared: Prepared,
    path: Any,
    values: np.ndarray,
    status: np.ndarray,
    n_threads: SupportsIndex | None,
    watch: Callable[..., Any] | None,
) -> Coverage:
    """Read a file as a Run and evaluate that; watch(position) is called at every block."""
    run = Run(*formats.read(path, True, None, prepared.settings.options.duplicates, prepared.columns, watch))
    return from_run(prepared, run, values, status, n_threads, watch)
