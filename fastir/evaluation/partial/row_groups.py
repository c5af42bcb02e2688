"""Rows of Parquet files in any order, too many for the memory: two passes over the row groups, shared among threads.

    gather (runs/tables) finds rows that are not grouped ─▶ first pass ─▶ scores of the judged ─▶ second pass ─▶ ranks

What is kept is of the order of the judgments and queries: each thread has a state of its own, as a part has
(two_pass, states), and they are merged at the end of a pass. Documents that are not judged are not compared, so
this is for ``validate="judged"``; the values equal the join of all rows to the last bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastir.engine.columns._ids import encode
from fastir.engine.columns.rows import offsets_from_sizes
from fastir.engine.join._judged import judgments
from fastir.engine.measure._codes import READ_CODES, TIE_CODES
from fastir.engine.rank._judged_ranks import JudgedRanks
from fastir.engine.threads import run, share_all
from fastir.evaluation.drivers.coverage import MISSING, Coverage
from fastir.evaluation.partial.states import check_once
from fastir.evaluation.partial.two_pass import TwoPassFirst, TwoPassReader, TwoPassSecond, empty
from fastir.request.options import TIES_BY_INPUT

if TYPE_CHECKING:
    from fastir.evaluation.drivers.judged import Ranks
    from fastir.evaluation.drivers.prepared import PreparedQrels, Task
    from fastir.evaluation.partial.states import State
    from fastir.inputs.parquet_files import Group
    from fastir.inputs.tables import Table

MAX_ROWS_IN_MEMORY = 1 << 21  # rows that are rather held: about 64 bytes each, which is quicker by half
# Ties that need all rows of a query.
ORDER_DEPENDENT_TIES = tuple(TIE_CODES[rule] for rule in (*TIES_BY_INPUT, "average"))


def suits(prepared: PreparedQrels, table: Table) -> bool:
    """Whether a table with ungrouped rows is read in two passes."""
    settings = prepared.settings
    return (
        settings.options.validate == "judged"
        and settings.options.min_score is None
        and prepared.stand_for is None
        and settings.ties not in ORDER_DEPENDENT_TIES
        and settings.plan.reads <= READ_CODES["pool"]
        and table.split is not None
        and table.split.rows(MAX_ROWS_IN_MEMORY + 1) > MAX_ROWS_IN_MEMORY
    )


def from_groups(task: Task, threads: int) -> Coverage:
    """Evaluate a Table in row groups."""
    prepared, status = task.prepared, task.status
    table: Table = task.run
    reads = prepared.settings.plan.reads
    first = scores(prepared, table, reads, threads)
    second = TwoPassSecond(prepared, reads, first)
    if table.kinds is not None:
        second.counter(table.kinds)  # made here, as all threads share it
    outcome = second.outcome(run_pass(prepared, table, [second] * threads, 1))
    status[outcome.ranks.missing] = MISSING
    measure(prepared, outcome.ranks, task.values)
    unknown_queries = sorted(outcome.unknown_queries, key=encode)
    repairs = {**outcome.repairs, **table.repairs(outcome.counts.n_ranked_docs)}
    n_run = outcome.counts.n_matched_queries + len(unknown_queries)
    return Coverage(prepared, status, outcome.counts, n_run, unknown_queries, repairs)


def measure(prepared: PreparedQrels, ranks: Ranks, values: np.ndarray) -> None:
    """Fill the values of all queries from the ranks of their judged documents."""
    offsets = offsets_from_sizes(ranks.sizes)
    ideals = judgments(prepared.judged)
    kernel = JudgedRanks(
        prepared.settings.plan, offsets, ranks.ranks, np.maximum(ranks.labels, -1), ranks.num_ret, *ideals, values
    )
    run(kernel, prepared.settings.n_threads)
    kernel.check()


def scores(prepared: PreparedQrels, table: Table, reads: int, threads: int) -> State:
    """The state of the first pass."""
    first = run_pass(prepared, table, [TwoPassFirst(prepared, reads) for _ in range(threads)], 0)
    duplicates = prepared.settings.options.duplicates
    if first.arrays["again"].any() and duplicates != "once":
        run_pass(prepared, table, [TwoPassFirst(prepared, reads)], 0)
        check_once(first, duplicates)
    return first


def run_pass(prepared: PreparedQrels, table: Table, readers: list[TwoPassReader], turn: int) -> State:
    """The state of a pass over all row groups; there is a reader for each thread."""
    split = table.split
    states = [empty(prepared.qrels, reader.state) for reader in readers]

    def work(t: int, group: Group, number: int) -> None:
        row = group.row
        for batch, _ in table.with_runs(split.read(t, group, table.names), row):
            readers[t].take(states[t], table, batch, row)
            row += len(batch.docs)

    share_all(split.groups(turn), work, len(readers))
    total, *others = states
    for state in others:
        total.merge(state)
    return total
