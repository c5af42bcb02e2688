"""Rows of Parquet files in any order, too many for the memory: two passes over the row groups, shared among threads.

    gather (table_runs) finds rows that are not grouped ─▶ first pass ─▶ scores of the judged ─▶ second pass ─▶ ranks

What is kept is of the order of the judgments and queries: each thread has a state of its own, as a part has
(part_passes, part_states), and they are merged at the end of a pass. Documents that are not judged are not compared, so
this is for ``validate="judged"``; the values are those of the join that holds all rows, to the last bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastir.columns.ids import encode
from fastir.evaluation.coverage import MISSING, Coverage
from fastir.evaluation.part_passes import FirstOfTwo, Pass, SecondOfTwo, empty
from fastir.evaluation.part_states import check_once
from fastir.join._collect import judgments
from fastir.measure._codes import READ_CODES, TIE_CODES
from fastir.rank._judged_lists import JudgedLists
from fastir.threads import run, share_all

if TYPE_CHECKING:
    from fastir.evaluation.part_states import Ranks, State
    from fastir.evaluation.prepared import Prepared
    from fastir.inputs.parquet_files import Group
    from fastir.inputs.tables import Table

HELD = 1 << 21  # rows that are rather held: about 64 bytes each, which is quicker by half
BY_ORDER = (TIE_CODES["input"], TIE_CODES["average"])  # ties that need all rows of a query


def suits(prepared: Prepared, found: Table) -> bool:
    """Whether a table whose rows are not grouped is read in two passes."""
    settings = prepared.settings
    return (
        settings.options.validate == "judged"
        and prepared.parents is None
        and settings.ties not in BY_ORDER
        and settings.plan.reads <= READ_CODES["pool"]
        and found.split is not None
        and found.split.rows(HELD + 1) > HELD
    )


def from_groups(prepared: Prepared, found: Table, values: np.ndarray, status: np.ndarray, threads: int) -> Coverage:
    """Evaluate a table in row groups, filling values and status."""
    reads = prepared.settings.plan.reads
    first = scores(prepared, found, reads, threads)
    second = SecondOfTwo(prepared, reads, first)
    if found.kinds is not None:
        second.counter(found.kinds)  # made here, as all threads share it
    outcome = second.outcome(passed(prepared, found, [second] * threads, 1))
    status[outcome.ranks.missing] = MISSING
    measure(prepared, outcome.ranks, values)
    foreign = sorted(outcome.foreign, key=encode)
    repairs = {**outcome.repairs, **found.repairs(outcome.tally.ranked)}
    return Coverage(prepared, status, outcome.tally, outcome.tally.found + len(foreign), foreign, repairs)


def measure(prepared: Prepared, ranks: Ranks, values: np.ndarray) -> None:
    """Fill the values of all queries, whose judged documents stand there."""
    offsets = np.concatenate([[0], np.cumsum(ranks.sizes)])
    ideals = judgments(prepared.judged)
    kernel = JudgedLists(
        prepared.settings.plan, offsets, ranks.ranks, np.maximum(ranks.labels, -1), ranks.num_ret, *ideals, values
    )
    run(kernel, prepared.settings.n_threads)
    kernel.check()


def scores(prepared: Prepared, found: Table, reads: int, threads: int) -> State:
    """The state of the first pass.

    Raises
    ------
    DuplicateError
        A judged document stands twice. Where two threads have met it, another pass in one thread names the row.
    """
    first = passed(prepared, found, [FirstOfTwo(prepared, reads) for _ in range(threads)], 0)
    duplicates = prepared.settings.options.duplicates
    if first.arrays["again"].any() and duplicates != "once":
        passed(prepared, found, [FirstOfTwo(prepared, reads)], 0)
        check_once(first, duplicates)
    return first


def passed(prepared: Prepared, found: Table, ways: list[Pass], turn: int) -> State:
    """The state of a pass over all row groups; there is a way for each thread."""
    split = found.split
    states = [empty(prepared.qrels, way.state) for way in ways]

    def work(t: int, group: Group, number: int) -> None:
        row = group.row
        for batch, _ in found.with_runs(split.read(t, group, found.names), row):
            ways[t].take(states[t], found, batch, row)
            row += len(batch.docs)

    share_all(split.groups(turn), work, len(ways))
    total, *others = states
    for state in others:
        total.merge(state)
    return total
