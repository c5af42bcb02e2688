"""The inner evaluator: measures a run of any shape under one set of rules, with the driver for that shape.

`composites` puts several of these together. What all of them have in common is `measure`, which returns the
query ids, the values of shape (n_queries, n_metrics), the status codes and the Coverage.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex

from numpy import empty, ndarray

from fastir.data.results.means import exact_parts, mean_from_sum
from fastir.data.run import Run
from fastir.evaluation.drivers.coverage import Coverage, without_missing
from fastir.evaluation.drivers.in_memory import dicts_together, from_dict, from_plain_dict, from_run, from_whole_file
from fastir.evaluation.drivers.prepared import PreparedQrels, Task
from fastir.inputs.exclusions import Exclusion, find_document_map
from fastir.inputs.shapes import COLUMNS, DICTS, HELD_OBJECT, LISTS, OTHER_OBJECT, PATH, TABLE, input_shape
from fastir.inputs.source import as_source, data_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastir.data.qrels import GroupedQrels, Qrels
    from fastir.engine.join._judged import Judged
    from fastir.inputs.files import Watch
    from fastir.inputs.parents import AnyParents
    from fastir.request.plan import Settings

MAX_SUMMED_ROWS = 64  # queries of a run up to which a mean is summed from them and the total of the missing ones
RunValues = tuple[list[Any], ndarray, ndarray, Coverage]  # what `measure` returns
LateValues = tuple[list[Any], "ndarray | RowsAmongMissing", ndarray | Callable[[], ndarray], Coverage]


class RunEvaluator(Protocol):
    """What evaluates runs: PlainEvaluator, or one of `composites`, which hold several of these."""

    @property
    def qrels(self) -> Qrels | GroupedQrels: ...

    @property
    def settings(self) -> Settings: ...

    @property
    def columns(self) -> Mapping[str, str] | None: ...

    @property
    def parents(self) -> AnyParents | None: ...

    def measure(self, run: Any, n_threads: SupportsIndex | None, watch: Watch | None = None) -> RunValues: ...

    def evaluators(self) -> list[PlainEvaluator]: ...


class PlainEvaluator(PreparedQrels):
    """Evaluates runs under one set of rules; see PreparedQrels for the parameters."""

    __slots__ = ()

    def measure(self, run: Any, n_threads: SupportsIndex | None, watch: Watch | None = None) -> RunValues:
        """Evaluate a run; watch(position) is called at every block of a file or a Run."""
        return self.fill_missing(*self.measure_rows(run, n_threads, watch))

    def measure_late(self, run: Any, n_threads: SupportsIndex | None, watch: Watch | None = None) -> LateValues:
        """Return what `measure` returns; for a run of few queries, functions that compute all values and status."""
        query_ids, values, status, coverage = self.measure_rows(run, n_threads, watch)
        if coverage.rows is None or len(query_ids) == len(values):
            return query_ids, values, status, coverage
        late_status = functools.partial(getattr, coverage, "status")
        return query_ids, RowsAmongMissing(self, coverage.rows, values), late_status, coverage

    def fill_missing(self, query_ids: list[Any], values: ndarray, status: ndarray, coverage: Coverage) -> RunValues:
        """What `measure` returns, from what `measure_rows` does."""
        if coverage.rows is not None and len(query_ids) > len(values):
            values, status = self.copy_among_missing(coverage.rows, values), coverage.status
        return query_ids, values, status, coverage

    def copy_among_missing(self, rows: list[int], values: ndarray) -> ndarray:
        """The values of all queries, of which the run has those at `rows`, with these values."""
        whole = self.missing_values().copy()
        whole[rows] = values
        return whole

    def measure_rows(self, run: Any, n_threads: SupportsIndex | None, watch: Watch | None) -> RunValues:
        """Return what `measure` returns; for a run of few queries, only the rows of its coverage."""
        parents = self.parents
        evaluated = from_plain_dict(self, run) if parents is None or find_document_map(parents) is None else None
        if evaluated is None:
            if type(run) is Run:
                shape = HELD_OBJECT
            else:
                run = as_source(run)
                shape = input_shape(run, Run, self.columns)
                run = run if shape == TABLE else data_of(run)
            if self.parents is None and shape in (DICTS, OTHER_OBJECT):
                return self.apply_queries_option(*dicts_together([(self, None)], run)[0])
            if shape == DICTS and isinstance(self.parents, Exclusion):
                less = self.parents.from_dicts(run)
                if less is not None:
                    run, repairs = less
                    import copy

                    plain = copy.copy(self)  # for ids that are already mapped to documents
                    plain.parents = None
                    measured = plain.measure(run, None)
                    measured[3].add_repairs(repairs)
                    return measured
            values, status = empty(self.shape), self.status.copy()
            task = Task(self, run, values, status, n_threads, watch, self.min_missing_queries)
            try:
                coverage = DRIVERS[shape](task)
            except TypeError:
                from fastir.inputs.scored_pairs import has_pairs, naming_odd_pairs, plain_pairs

                if shape != LISTS or not has_pairs(run):
                    raise
                if (columns := plain_pairs(run)) is not None:
                    with naming_odd_pairs(run, "run"):
                        return self.measure_rows(columns, n_threads, watch)
                coverage = from_run(task.with_run(Run.from_dict(run, self.settings.options.duplicates)))
            if coverage.rows is not None:
                values, status = values.take(coverage.rows, 0), status.take(coverage.rows)
        else:
            values, status, coverage = evaluated
        if coverage.is_complete:
            return self.judged.query_ids, values, status, coverage
        return self.apply_queries_option(values, status, coverage)

    def evaluators(self) -> list[PlainEvaluator]:
        """The evaluators that decide the order of documents: here this one alone."""
        return [self]

    def apply_queries_option(self, values: ndarray, status: ndarray, coverage: Coverage) -> RunValues:
        """What `measure_rows` returns, after the option `queries` was applied."""
        query_ids: list[Any] = self.judged.query_ids
        if coverage.is_complete:
            return query_ids, values, status, coverage
        queries, rows = self.settings.queries, coverage.rows
        coverage.check(queries)
        if rows is not None and queries == "intersection":
            query_ids = [query_ids[row] for row in rows]
        if queries == "intersection" and coverage.counts.n_matched_queries < len(query_ids):
            query_ids, values, status = without_missing(query_ids, values, status)
        return query_ids, values, status, coverage


class RowsAmongMissing:
    """The values of all queries, of which a run has few; made at a call, and not needed for the means."""

    __slots__ = ("evaluator", "rows", "values")

    def __init__(self, evaluator: PlainEvaluator, rows: list[int], values: ndarray) -> None:
        self.evaluator: Any = evaluator
        self.rows: Any = rows
        self.values: Any = values

    def __call__(self) -> ndarray:
        return self.evaluator.copy_among_missing(self.rows, self.values)

    def mean(self, column: int, how: str) -> float | None:
        """The mean of a metric over all queries, rounded as from all values; None if it takes all values."""
        rows, evaluator = self.rows, self.evaluator
        if len(rows) > MAX_SUMMED_ROWS or how.startswith("geometric"):
            return None
        if column not in evaluator.missing_sums:
            evaluator.missing_sums[column] = exact_parts(evaluator.missing_values()[:, column])
        missing = evaluator.missing_sums[column]
        if missing is None:
            return None
        parts, n = missing
        summands = parts.copy()
        here, elsewhere = self.values.item, evaluator.missing_values().item
        for i, row in enumerate(rows):
            if (value := here(i, column)) == value:
                summands.append(value)
                n += 1
            if (value := elsewhere(row, column)) == value:
                summands.append(-value)
                n -= 1
        return mean_from_sum(how, math.fsum(summands), n, evaluator.shape[0])


Job = tuple[PlainEvaluator, "Judged | None"]  # with judgments of one query, which all queries share


def measure_together(jobs: list[Job], run: dict[Any, Any]) -> list[RunValues]:
    """Evaluate a dict of dicts, read once, under several sets of rules; returns what `measure` does for each."""
    joined = dicts_together(jobs, run)
    return [
        rules.fill_missing(*rules.apply_queries_option(*each)) for (rules, _), each in zip(jobs, joined, strict=True)
    ]


def read_lists(task: Task) -> Coverage:
    """Evaluate a dict of lists of ids."""
    from fastir.evaluation.drivers.id_lists import from_lists  # from the package it takes a microsecond

    return from_lists(task)


def read_list_columns(task: Task) -> Coverage:
    """Evaluate a table with a row for each query."""
    from fastir.evaluation.drivers.id_lists import from_list_columns

    return from_list_columns(task)


def read_table(task: Task) -> Coverage:
    """Evaluate a table while it is read; as a Run where duplicates are to be repaired."""
    prepared = task.prepared
    if prepared.reads_whole:
        return from_run(task.with_run(Run.from_table(task.run, prepared.columns, prepared.settings.options.duplicates)))
    from fastir.evaluation.drivers.tables import from_table

    return from_table(task)


def read_path(task: Task) -> Coverage:
    """Evaluate a file while it is read, where its format and order permit that; else as a Run."""
    from fastir.inputs import formats

    form = None if task.prepared.reads_whole else formats.file_format(task.run, task.prepared.settings.lines)
    if form in formats.TREC_FORMATS:
        from fastir.evaluation.drivers import trec

        return trec.from_trec_file(task)
    if form in formats.TABLE_FORMATS:
        from fastir.evaluation.drivers import tables

        return tables.from_table_file(task, form)
    return from_whole_file(task)


DRIVERS: dict[str, Callable[[Task], Coverage]] = {
    DICTS: from_dict,
    OTHER_OBJECT: from_dict,
    LISTS: read_lists,
    COLUMNS: read_list_columns,
    HELD_OBJECT: from_run,
    TABLE: read_table,
    PATH: read_path,
}
