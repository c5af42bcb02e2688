"""Runs whose ranks are merged on the driver: by two passes over rows that stay where they are, or of whole queries.

pass one   every partition ─▶ the scores of its judged documents     ─┐ merged: one state, which goes into the
pass two   every partition ─▶ the rows before each of these, counted ◀┘ closure of the second function

Whole queries are measured where they lie (`evaluation`), unless a metric is the caller's: its function stays on the
driver, and gets the judged rankings of all queries at once.
"""

from __future__ import annotations

import functools
import pickle
from collections.abc import Sequence
from typing import Any, Literal

from fastir.evaluation.evaluator import Evaluator
from fastir.parts.partial import Partial
from fastir.results.results import Results
from fastir.spark import frames, tasks

DRIVER_JUDGMENTS = 1 << 16  # judgments up to which the driver alone merges the states of all partitions
MERGE_TASKS = 8  # tasks that merge them before, if there are more judgments


def results(run: Any, names: Sequence[str], evaluator: Evaluator) -> Results:
    """The Results of one run, by two jobs.

    Raises
    ------
    DuplicateError, NoOverlapError, TypeError, ValueError, OverflowError
        As by `Partial.add` and `Partial.result`; the second of these if the run changed between the passes.

    Warns
    -----
    FastirWarning
        As `Partial.result`.
    """
    pickled = frames.pickled(evaluator)
    first = passed(run, names, evaluator, pickled, None)
    return passed(run, names, evaluator, pickled, first).result()


def ranked(run: Any, names: Sequence[str], evaluator: Evaluator, strategy: str) -> Results:
    """The Results of one run, whose queries are whole where they lie ("grouped", "lists") or are brought together.

    Raises
    ------
    UnknownMetricError
        A metric needs the documents themselves.
    DuplicateError, NoOverlapError, TypeError, ValueError, OverflowError
        As by `Partial.add`, `Partial.merge` and `Partial.result`.

    Warns
    -----
    FastirWarning
        As `Partial.result`.
    """
    of_parts: Literal["lists", "grouped"] = "lists" if strategy == "lists" else "grouped"
    total = evaluator.partial(strategy=of_parts)
    read = functools.partial(tasks.ranked, of_parts)
    function = tasks.states([frames.pickled(evaluator)], read, names)
    return merged(total, frames.returned(frames.mapped(run, names, strategy == "shuffle", function)), names).result()


def passed(run: Any, names: Sequence[str], evaluator: Evaluator, pickled: bytes, after: Partial | None) -> Partial:
    """The merged state of one pass over all partitions."""
    total = evaluator.partial(strategy="two-pass", after=after)
    function = tasks.states([pickled, pickle.dumps(after)], tasks.one_pass, names)
    states = frames.mapped(run, names, False, function)
    if evaluator._prepared.qrels._offsets[-1] > DRIVER_JUDGMENTS:
        states = states.repartition(MERGE_TASKS).mapInArrow(tasks.states([], tasks.merged, ["state"]), tasks.SCHEMA)
    answers = frames.returned(states)
    return merged(total, answers, names)


def merged(total: Partial, answers: list[tasks.Passed], names: Sequence[str]) -> Partial:
    """What all partitions come to, of one run."""
    frames.check_one_run({name for answer in answers for name in answer.runs}, names)
    for answer in answers:
        total.merge(answer.partial())
    return total
