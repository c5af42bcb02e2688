"""How whole queries come into the states of parts: rows, or rankings as lists, evaluated as the part is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.data.run import MERGED_CHUNKS, Run
from fastir.engine.columns.rows import EXCLUDED, LOW, offsets_from_sizes, stretches
from fastir.engine.measure._codes import STATUS_CODES
from fastir.evaluation.drivers.evaluate_one import DRIVERS, PlainEvaluator
from fastir.evaluation.drivers.in_memory import from_plain_dict, from_run
from fastir.evaluation.drivers.judged import Ranks, rank_collector, used_slots
from fastir.evaluation.drivers.prepared import Task
from fastir.evaluation.drivers.tables import from_rows
from fastir.evaluation.partial.states import COUNTS_WITH_EXAMPLE as WITH_EXAMPLE
from fastir.evaluation.partial.states import Ranked, State
from fastir.evaluation.partial.two_pass import ORDER_DEPENDENT_RULES, Outcome, PartReader, empty, make_counts
from fastir.inputs import formats, id_lists
from fastir.inputs.exclusions import find_document_map
from fastir.inputs.shapes import PATH, TABLE
from fastir.inputs.table_rows import group_rows, join_ids, take_ids
from fastir.inputs.tables import Batch

if TYPE_CHECKING:
    from fastir.evaluation.drivers.coverage import Coverage


MAX_SPARE_JUDGMENTS = 1 << 20  # of qrels whose collectors are kept for the next part


class WholeQueries(PartReader):
    """Rows of whole queries, or rankings as lists: each part is evaluated at once, for its queries."""

    state = Ranked
    evaluator: PlainEvaluator
    lists = False  # whether a table has a ranking in each row
    spare: list[tuple[PlainEvaluator, np.ndarray, np.ndarray]]  # collectors, with the ranks and labels that they write

    def add(self, state: State, rows: Any, shape: str) -> None:
        n = self.evaluator.qrels.columns.n_rows
        try:
            collecting = self.spare.pop()
        except IndexError:
            ranks, labels = np.zeros(n, np.int64), np.zeros(n, np.int32)
            collecting = rank_collector(self.evaluator, ranks, labels, self.reads), ranks, labels
        collector = collecting[0]
        evaluated = from_plain_dict(collector, rows) if find_document_map(collector.parents) is None else None
        if evaluated is None:
            values, status = np.empty(collector.shape), collector.status.copy()
            coverage = self.measure(Task(collector, rows, values, status, collector.settings.n_threads, None), shape)
        else:
            values, status, coverage = evaluated
        if coverage is None or coverage.n_run == 0:  # the status was not filled
            return
        part = self.state_of(values, status, coverage, collecting[1:])
        if n <= MAX_SPARE_JUDGMENTS:
            self.spare.append(collecting)
        if state.is_new():
            vars(state).update(vars(part))
            return
        if len(state.places) < collector.shape[0]:
            state.enlarge(empty(collector.qrels, Ranked))
        state.merge(part)

    def state_of(
        self, values: np.ndarray, status: np.ndarray, coverage: Coverage, found: tuple[np.ndarray, ...]
    ) -> Ranked:
        """The state of the queries of a part that was collected; ranks and labels are 0 then, as they were before."""
        counts, columns = coverage.counts, self.evaluator.qrels.columns
        if coverage.rows is None:
            at = np.flatnonzero(status != STATUS_CODES["missing"])
            values = values[at]
        else:
            at = np.array(coverage.rows, np.int64)
        starts, ids = columns.offsets[at], self.evaluator.judged.query_ids
        sizes = columns.offsets[at + 1] - starts
        slots, arrays = stretches(starts, sizes), dict(zip(("hits", "num_ret"), values.T.astype(np.int64), strict=True))
        for name, collected in zip(("ranks", "labels"), found, strict=True):
            arrays[name] = collected[slots]
            collected[slots] = 0
        of_run = coverage.n_run > counts.n_matched_queries
        unknown_queries = set(map(str, coverage.only_in_run())) if of_run else set()
        repairs = dict(coverage.run_repairs)
        if counts.n_repeated_rows:  # a Coverage says it of all parts
            repairs.pop("duplicates" if self.evaluator.stand_for is None else MERGED_CHUNKS)
        if counts.n_excluded_rows:
            repairs.pop(EXCLUDED)
        if counts.n_low_rows:
            repairs.pop(LOW)
        numbers = {name: (getattr(counts, f"n_{name}"), getattr(counts, f"{name}_example")) for name in WITH_EXAMPLE}
        numbers["unjudged_docs"] = coverage.unjudged(), -1
        return Ranked(at, [ids[row] for row in at.tolist()], sizes, arrays, unknown_queries, repairs, numbers)

    def measure(self, task: Task, shape: str) -> Coverage | None:
        """Collect the hits of a part and return its Coverage; None for an empty table."""
        collector = task.prepared
        rule = collector.settings.options.duplicates
        if self.lists and shape == TABLE:
            return from_run(task.with_run(Run(*id_lists.read_rankings(task.run, collector.columns, rule))))
        if shape != TABLE and not (shape == PATH and formats.file_format(task.run) in formats.TABLE_FORMATS):
            if shape == PATH:
                self.refuse_order(None)
            return DRIVERS[shape](task)
        with self.table(task.run, shape) as (table, repairs):
            if isinstance(table, id_lists.ListColumns):
                return from_run(task.with_run(Run(*table.run_columns(rule))))
            self.refuse_order(table)
            if collector.reads_whole:
                batches = list(table)
                if not batches:
                    return None
                held = Run(
                    *group_rows(
                        table, rule, by_rank(batches) if rule in ORDER_DEPENDENT_RULES and not self.ordered else batches
                    )
                )
                coverage = from_run(task.with_run(held))
            else:
                coverage = from_rows(task.with_run(table))
        self.refuse_ties((coverage.counts.n_tied_queries, coverage.counts.tied_queries_example))
        coverage.run_repairs = {**repairs, **coverage.run_repairs}
        return coverage

    def outcome(self, state: State) -> Outcome:
        if len(state.places) < self.evaluator.shape[0]:
            some, state = state, empty(self.evaluator.qrels, Ranked)
            state.merge(some)
        arrays = state.arrays
        kept, missing = used_slots(offsets_from_sizes(state.sizes), arrays["hits"]), ~state.has_rows()
        num_ret = np.where(missing, 0, arrays["num_ret"])
        unjudged = state.counts["unjudged_docs"][0]
        counts = make_counts(~missing, num_ret, unjudged, **{name: state.counts[name] for name in WITH_EXAMPLE})
        labels = arrays["labels"][kept]
        ranks = Ranks(arrays["hits"], arrays["ranks"][kept], labels, num_ret, missing)
        return Outcome(ranks, counts, state.unknown_queries, state.repairs)


class RankedIds(WholeQueries):
    lists = True


def by_rank(batches: list[Batch]) -> list[Batch]:
    """The rows in the order of their ranks, as one batch."""
    numbers = np.concatenate([batch.numbers for batch in batches])
    order = np.argsort(-numbers, kind="stable")
    ids = ([getattr(batch, name) for batch in batches] for name in ("queries", "docs"))
    queries, docs = (take_ids(join_ids(column), order) for column in ids)
    return [Batch(queries, docs, numbers[order])]
