"""How whole queries come into the states of parts: rows, or rankings as lists, evaluated as the part is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.data.run import MERGED_CHUNKS, Run
from fastir.engine.columns.rows import EXCLUDED, offsets_from_sizes
from fastir.engine.measure._codes import STATUS_CODES
from fastir.evaluation.drivers.evaluate_one import DRIVERS, PlainEvaluator
from fastir.evaluation.drivers.in_memory import from_run
from fastir.evaluation.drivers.judged import Ranks, rank_collector, used_slots
from fastir.evaluation.drivers.prepared import Task
from fastir.evaluation.drivers.tables import from_rows
from fastir.evaluation.partial.states import COUNTS_WITH_EXAMPLE, Ranked, State, came_back
from fastir.evaluation.partial.two_pass import ORDER_DEPENDENT_RULES, Outcome, PartReader, make_counts
from fastir.inputs import formats, id_lists
from fastir.inputs.shapes import PATH, TABLE
from fastir.inputs.table_rows import group_rows, join_ids, take_ids
from fastir.inputs.tables import Batch

if TYPE_CHECKING:
    from fastir.evaluation.drivers.coverage import Coverage


class WholeQueries(PartReader):
    """Rows of whole queries, or rankings as lists: each part is evaluated at once, for its queries."""

    state = Ranked
    evaluator: PlainEvaluator
    lists = False  # whether a table has a ranking in each row
    collector: tuple[np.ndarray, PlainEvaluator] | None = None  # and the ranks that it writes to

    def add(self, state: State, rows: Any, shape: str) -> None:
        ranks = state.arrays["ranks"]
        if self.collector is None or self.collector[0] is not ranks:
            self.collector = ranks, rank_collector(self.evaluator, ranks, state.arrays["labels"], self.reads)
        collector = self.collector[1]
        values, status = np.empty(collector.shape), collector.status.copy()
        coverage = self.measure(Task(collector, rows, values, status, collector.settings.n_threads, None), shape)
        if coverage is None or coverage.n_run == 0:  # the status was not filled
            return
        counts = coverage.counts
        at = np.flatnonzero(status != STATUS_CODES["missing"])
        again = at[state.has_rows()[at]]
        if len(again):
            raise came_back(state.query_ids[again[0]])
        unknown_queries = set(map(str, coverage.only_in_run())) if coverage.n_run > counts.n_matched_queries else set()
        if both := unknown_queries & state.unknown_queries:
            raise came_back(min(both))
        state.arrays["hits"][at], state.arrays["num_ret"][at] = values[at].T.astype(np.int64)
        state.unknown_queries |= unknown_queries
        repairs = dict(coverage.run_repairs)
        if counts.n_repeated_rows:  # a Coverage says it of all parts
            repairs.pop("duplicates" if self.evaluator.stand_for is None else MERGED_CHUNKS)
        if counts.n_excluded_rows:
            repairs.pop(EXCLUDED)
        state.repair(repairs)
        for name in COUNTS_WITH_EXAMPLE:
            state.count(name, (getattr(counts, f"n_{name}"), getattr(counts, f"{name}_example")))
        state.count("unjudged_docs", (coverage.unjudged(), -1))

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
        arrays = state.arrays
        kept, missing = used_slots(offsets_from_sizes(state.sizes), arrays["hits"]), ~state.has_rows()
        num_ret = np.where(missing, 0, arrays["num_ret"])
        unjudged = state.counts["unjudged_docs"][0]
        counts = make_counts(~missing, num_ret, unjudged, **{name: state.counts[name] for name in COUNTS_WITH_EXAMPLE})
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
