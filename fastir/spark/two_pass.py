"""Runs that the driver merges by rank: from two passes over rows that do not move, or from whole queries.

pass one   every partition ─▶ the scores of its judged documents     ─┐ merged, by run: states, which go into the
pass two   every partition ─▶ the rows before each of these, counted ◀┘ closure of the second function

What the partitions return goes by buckets to a few tasks: these merge the states of a run, and count the ids of the
queries that are missing from the qrels, so that neither all states nor these ids come to the driver.

Whole queries are measured where they lie (`evaluation`), unless a metric is the caller's: its function stays on the
driver, and gets the judged rankings of all queries at once.
"""

from __future__ import annotations

import contextlib
import functools
import pickle
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from fastir.data.results.results import Results
from fastir.errors import NoOverlapError
from fastir.evaluation.evaluator import Evaluator
from fastir.evaluation.partial.partial import Partial, put_unknown
from fastir.evaluation.partial.values import first_by_bytes
from fastir.spark import frames, tasks
from fastir.spark.frames import RunColumns

MAX_UNSPLIT_JUDGMENTS = 1 << 16  # up to which one task merges the states of a run
MERGE_TASKS = 8  # tasks that merge them, if there are more judgments
MAX_STATE_BYTES = frames.MAX_EVALUATOR_BYTES  # of the states of runs that the second pass takes at a time


def results(run: Any, columns: RunColumns, evaluator: Evaluator) -> Results:
    """The Results of one run, by two jobs."""
    totals = partials(run, columns, evaluator, False)
    if not totals:
        raise NoOverlapError("the run is empty: no results, no queries")
    [total] = totals.values()
    return total.result()


def partials(run: Any, columns: RunColumns, evaluator: Evaluator, several: bool) -> dict[Any, Partial]:
    """{run: its Partial after both passes}, by two jobs; the second one in parts if there are very many runs."""
    first = run_pass(run, columns, evaluator, several, {}, {})
    if not several:
        frames.check_one_run(set(first), columns)
    second: dict[Any, Partial] = {}
    for states in portions({name: tasks.compress_partial(partial) for name, partial in first.items()}):
        rows, read = run, columns
        if len(states) < len(first):
            of_run = run[frames.quote_column(str(columns.run))]
            rows, read = run.filter(of_run.isin(list(states))), columns._replace(files=None)
        second |= run_pass(rows, read, evaluator, several, states, first)
    return second


def portions(states: Mapping[Any, bytes]) -> Iterator[dict[Any, bytes]]:
    """The states of runs in portions that a worker can be sent."""
    some: dict[Any, bytes] = {}
    n_bytes = 0
    for name, state in states.items():
        if some and n_bytes + len(state) > MAX_STATE_BYTES:
            yield some
            some, n_bytes = {}, 0
        some[name] = state
        n_bytes += len(state)
    if some:
        yield some


def rank_run(run: Any, columns: RunColumns, evaluator: Evaluator, strategy: str) -> Results:
    """Return the Results of one run; its queries are whole in partitions ("grouped", "lists") or after a shuffle."""
    of_parts: Literal["lists", "grouped"] = "lists" if strategy == "lists" else "grouped"
    total = evaluator.partial(strategy=of_parts)
    read = functools.partial(tasks.rank_queries, of_parts, columns.order)
    function = tasks.states([frames.pickle_evaluator(evaluator)], read, columns.names)
    keys = columns.keys if strategy == "shuffle" else ()
    answers = frames.collect_answers(frames.map_partitions(run, columns, keys, function))
    frames.check_one_run({answer.run for answer in answers}, columns)
    for answer in answers:
        total.merge(tasks.load_partial(answer.state))
    return total.result()


def run_pass(
    run: Any,
    columns: RunColumns,
    evaluator: Evaluator,
    several: bool,
    states: Mapping[Any, bytes],
    first: Mapping[Any, Partial],
) -> dict[Any, Partial]:
    """{run: the merged state of one pass over all partitions}: the second pass of the runs that have `states`, if any.

    `states` has the first pass of each run, compressed; `first` the same as Partials.
    """
    spread = MERGE_TASKS if evaluator.rules.qrels.columns.offsets[-1] > MAX_UNSPLIT_JUDGMENTS else 1
    read = functools.partial(tasks.one_pass, several, evaluator.rules.custom is not None, spread)
    function = tasks.states([frames.pickle_evaluator(evaluator), pickle.dumps(states or None)], read, columns.names)
    answers = frames.map_partitions(run, columns, (), function).repartition("bucket")
    merging = tasks.states([], tasks.merge_states, tasks.ANSWER_COLUMNS)
    totals = {name: evaluator.partial(strategy="two-pass", after=first[name]) for name in states}
    unknown: dict[Any, tuple[int, set[str]]] = {}
    for answer in frames.collect_answers(answers.mapInArrow(merging, tasks.ANSWER_SCHEMA)):
        name = answer.run
        if isinstance(answer, tasks.UnknownCount):
            n, some = unknown.get(name, (0, set()))
            unknown[name] = n + answer.n, some | {answer.first}
            continue
        with tasks.name_run_in_errors(name) if several else contextlib.nullcontext():
            if name not in totals:
                totals[name] = evaluator.partial(strategy="two-pass")
            totals[name].merge(tasks.load_partial(answer.state))
    for name, (n, some) in unknown.items():
        put_unknown(totals[name], n, *first_by_bytes(some))
    return totals
