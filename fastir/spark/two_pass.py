"""Two passes over a run whose rows stay where they are, however many of them a query has.

pass one   every partition ─▶ the scores of its judged documents     ─┐ merged: one state, which goes into the
pass two   every partition ─▶ the rows before each of these, counted ◀┘ closure of the second function
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

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


def passed(run: Any, names: Sequence[str], evaluator: Evaluator, pickled: bytes, after: Partial | None) -> Partial:
    """The merged state of one pass over all partitions."""
    total = evaluator.partial(strategy="two-pass", after=after)
    function = tasks.states([pickled, pickle.dumps(after)], tasks.one_pass, names)
    states = frames.mapped(run, names, False, function)
    if evaluator._prepared.qrels._offsets[-1] > DRIVER_JUDGMENTS:
        states = states.repartition(MERGE_TASKS).mapInArrow(tasks.states([], tasks.merged, ["state"]), tasks.SCHEMA)
    answers = frames.returned(states)
    frames.check_one_run({name for answer in answers for name in answer.runs}, names)
    for answer in answers:
        total.merge(answer.partial())
    return total
