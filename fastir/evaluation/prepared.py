"""Prepared: qrels and a Plan, ready for any number of runs under one set of rules.

It knows neither qrels with groups nor metrics whose rules differ: `groups` and `rule_sets` put several of these
together. What all of them have in common is `measure`, which takes a run of any shape and returns the query ids, the
values of shape (n_queries, n_metrics), the status codes and the Coverage.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

from numpy import empty, ndarray

from fastir.errors import quote
from fastir.evaluation.coverage import MISSING, Coverage
from fastir.evaluation.held_runs import from_dict, from_run, from_whole_file
from fastir.inputs import formats
from fastir.inputs.shapes import DICTS, HELD, OTHER, PATH, TABLE, shape_of
from fastir.run import Run

if TYPE_CHECKING:
    from fastir.join._judged import Judged
    from fastir.qrels import Qrels
    from fastir.request.plan import Settings
    from fastir.run import Watch

Measured = tuple[list, ndarray, ndarray, Coverage]  # what `measure` returns


class Prepared:
    """Evaluates runs under one set of rules.

    Parameters
    ----------
    qrels : Qrels
        Without groups.
    settings : Settings
        Without parts.
    columns : mapping or None
        What the columns of runs that are tables are called.

    Raises
    ------
    OverflowError
        A label is too large for a metric's formula.
    """

    __slots__ = ("columns", "judged", "kinds", "qrels", "settings", "shape", "status")

    def __init__(self, qrels: Qrels, settings: Settings, columns: Mapping[str, str] | None) -> None:
        self.qrels = qrels
        self.settings = settings
        self.columns = columns
        self.kinds = qrels.kinds
        self.judged = qrels.prepared()
        self.shape = self.judged.n_queries, len(settings.names)
        self.status = self.judged.status(settings.level)
        if settings.label_limits:
            check_labels(settings.label_limits, self.judged)

    def measure(self, run: Any, n_threads: SupportsIndex | None, watch: Watch | None = None) -> Measured:
        """Evaluate a run; watch(position) is called at every block of a file or a Run.

        Raises
        ------
        NoOverlapError
            No query is in both, or the option `queries` refuses how they overlap.
        FormatError, DuplicateError, TypeError, ValueError, OverflowError, RuntimeError, OSError
            Of the run, as for `evaluate`.
        """
        values = empty(self.shape)
        status = self.status.copy()
        coverage = DRIVERS[shape_of(run, Run)](self, run, values, status, n_threads, watch)
        query_ids = self.judged.query_ids
        if not coverage.clean:
            queries = self.settings.queries
            coverage.check(queries)
            if queries == "intersection" and coverage.tally.found < len(query_ids):
                kept = status != MISSING
                query_ids = [query_id for query_id, keep in zip(query_ids, kept.tolist(), strict=True) if keep]
                values, status = values[kept], status[kept]
        return query_ids, values, status, coverage

    def rankers(self) -> list[Prepared]:
        """What decides the order of documents: this alone."""
        return [self]


def from_table(
    prepared: Prepared,
    run: Any,
    values: ndarray,
    status: ndarray,
    n_threads: SupportsIndex | None,
    watch: Callable | None,
) -> Coverage:
    """Evaluate a table while it is read; as a Run where duplicates are to be repaired."""
    duplicates = prepared.settings.options.duplicates
    if duplicates is not None:
        held = Run.from_table(run, prepared.columns, duplicates)
        return from_run(prepared, held, values, status, n_threads, watch)
    from fastir.evaluation import table_runs

    return table_runs.from_table(prepared, run, values, status, n_threads)


def from_path(
    prepared: Prepared,
    path: Any,
    values: ndarray,
    status: ndarray,
    n_threads: SupportsIndex | None,
    watch: Callable | None,
) -> Coverage:
    """Evaluate a file while it is read, where its format and order permit that; else as a Run."""
    form = None if prepared.settings.options.duplicates else formats.format_of(path)
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
    HELD: from_run,
    TABLE: from_table,
    PATH: from_path,
}


def check_labels(limits: list[tuple[int, str, str]], judged: Judged) -> None:
    """Refuse a judged label above a metric's limit."""
    limit, text, why = min(limits, key=lambda entry: entry[0])
    for label, query, doc_id in judged.top_labels():
        if label > limit:
            raise OverflowError(
                f"metric {quote(text)}: label {label} is too large for {why} "
                f"(query {judged.query_ids[query]}, document {doc_id})"
            )
