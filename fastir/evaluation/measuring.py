"""The inner evaluator: measures a run of any shape under one set of rules, with the driver for that shape.

`groups` and `rule_sets` put several of these together. What all of them have in common is `measure`, which returns the
query ids, the values of shape (n_queries, n_metrics), the status codes and the Coverage.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex

from numpy import empty, ndarray

from fastir.evaluation.coverage import Coverage, without_missing
from fastir.evaluation.held_runs import dicts_together, from_dict, from_plain_dict, from_run, from_whole_file
from fastir.evaluation.list_runs import from_list_columns, from_lists
from fastir.evaluation.prepared import Prepared
from fastir.inputs import formats
from fastir.inputs.shapes import COLUMNS, DICTS, HELD, LISTS, OTHER, PATH, TABLE, shape_of
from fastir.run import Run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastir.inputs.files import Watch
    from fastir.inputs.parents import AnyParents
    from fastir.join._judged import Judged
    from fastir.qrels import GroupedQrels, Qrels
    from fastir.request.plan import Settings

Measured = tuple[list[Any], ndarray, ndarray, Coverage]  # what `measure` returns


class Measurer(Protocol):
    """What evaluates runs: OneRuleSet, or one of those that hold several of them."""

    @property
    def qrels(self) -> Qrels | GroupedQrels: ...

    @property
    def settings(self) -> Settings: ...

    @property
    def columns(self) -> Mapping[str, str] | None: ...

    @property
    def parents(self) -> AnyParents | None: ...

    def measure(self, run: Any, n_threads: SupportsIndex | None, watch: Watch | None = None) -> Measured: ...

    def rankers(self) -> list[Prepared]: ...


class OneRuleSet(Prepared):
    """Evaluates runs under one set of rules; made from what Prepared is made from."""

    __slots__ = ()

    def measure(self, run: Any, n_threads: SupportsIndex | None, watch: Watch | None = None) -> Measured:
        """Evaluate a run; watch(position) is called at every block of a file or a Run.

        Raises
        ------
        NoOverlapError
            No query is in both, or the option `queries` refuses how they overlap.
        FormatError, DuplicateError, TypeError, ValueError, OverflowError, RuntimeError, OSError
            Of the run, as for `evaluate`.
        """
        found = from_plain_dict(self, run) if self.parents is None else None
        if found is None:
            shape = shape_of(run, Run, self.columns)
            if self.parents is None and shape in (DICTS, OTHER):
                return measure_together([(self, None)], run)[0]
            values, status = empty(self.shape), self.status.copy()
            coverage = DRIVERS[shape](self, run, values, status, n_threads, watch)
        else:
            values, status, coverage = found
        if coverage.clean:
            return self.judged.query_ids, values, status, coverage
        return self.checked(values, status, coverage)

    def checked(self, values: ndarray, status: ndarray, coverage: Coverage) -> Measured:
        """What `measure` returns: after the option `queries` was heard."""
        query_ids: list[Any] = self.judged.query_ids
        if coverage.clean:
            return query_ids, values, status, coverage
        queries, rows = self.settings.queries, coverage.rows
        coverage.check(queries)
        if rows is not None and queries == "intersection":
            query_ids = [query_ids[row] for row in rows]
        elif rows is not None:
            few, values, status = values, self.missing_values().copy(), coverage.status
            values[rows] = few
        if queries == "intersection" and coverage.tally.found < len(query_ids):
            query_ids, values, status = without_missing(query_ids, values, status)
        return query_ids, values, status, coverage


Job = tuple[OneRuleSet, "Judged | None"]  # with qrels of one query, these hold for each


def measure_together(jobs: list[Job], run: dict[Any, Any]) -> list[Measured]:
    """Evaluate a dict of dicts under several sets of rules, as `OneRuleSet.measure` does, but read it once."""
    return [rules.checked(*joined) for (rules, _), joined in zip(jobs, dicts_together(jobs, run), strict=True)]


def from_table(
    prepared: Prepared,
    run: Any,
    values: ndarray,
    status: ndarray,
    n_threads: SupportsIndex | None,
    watch: Callable[..., Any] | None,
) -> Coverage:
    """Evaluate a table while it is read; as a Run where duplicates are to be repaired."""
    if prepared.reads_whole:
        held = Run.from_table(run, prepared.columns, prepared.settings.options.duplicates)
        return from_run(prepared, held, values, status, n_threads, watch)
    from fastir.evaluation.table_runs import from_table  # a module's own name, which is found sooner than a package's

    return from_table(prepared, run, values, status, n_threads)


def from_path(
    prepared: Prepared,
    path: Any,
    values: ndarray,
    status: ndarray,
    n_threads: SupportsIndex | None,
    watch: Callable[..., Any] | None,
) -> Coverage:
    """Evaluate a file while it is read, where its format and order permit that; else as a Run."""
    form = None if prepared.reads_whole else formats.format_of(path)
    if form == "trec":
        from fastir.evaluation.trec_runs import from_trec_file

        return from_trec_file(prepared, path, values, status, n_threads, watch)
    if form in formats.TABLES:
        from fastir.evaluation import table_runs

        return table_runs.from_table_file(prepared, path, form, values, status, n_threads, watch)
    return from_whole_file(prepared, path, values, status, n_threads, watch)


DRIVERS: dict[str, Callable[..., Coverage]] = {
    DICTS: from_dict,
    OTHER: from_dict,
    LISTS: from_lists,
    COLUMNS: from_list_columns,
    HELD: from_run,
    TABLE: from_table,
    PATH: from_path,
}
