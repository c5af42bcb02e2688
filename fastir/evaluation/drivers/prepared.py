"""PreparedQrels: qrels and a Plan, ready for any number of runs under one set of rules.

It holds the data that the drivers of all shapes read; `evaluate_one.PlainEvaluator` measures. It knows
neither qrels with groups nor metrics with different rules: for these, `composites` joins several.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, SupportsIndex

from numpy import empty

from fastir.declared import Record
from fastir.engine.join._dicts import judge_dict
from fastir.engine.join._join import JoinRules, Parents
from fastir.errors import quote
from fastir.inputs.exclusions import Exclusion, find_document_map

if TYPE_CHECKING:
    from numpy import ndarray

    from fastir.data.qrels import Qrels
    from fastir.engine.join._judged import Judged
    from fastir.engine.measure._grades import Grades
    from fastir.inputs.files import Watch
    from fastir.inputs.parents import AnyParents
    from fastir.request.plan import Settings

# If so many queries are missing from a run, only its own queries are evaluated. If missing queries do not count, one is
# enough. Else their values are copied, and copying fewer takes as long as computing them.
MIN_MISSING_QUERIES = 64


class PreparedQrels:
    """Qrels without groups, with what was compiled for them under one set of rules; never changed after it was made.

    `columns` are the names of the columns of runs that are tables. `parents` has the document of each id in a run, or
    the documents that leave the rankings.
    """

    __slots__ = (
        "columns",
        "judged",
        "kinds",
        "list_rules",
        "min_missing_queries",
        "misses",
        "missing",
        "missing_sums",
        "parents",
        "qrels",
        "settings",
        "shape",
        "status",
    )

    def __init__(
        self, qrels: Qrels, settings: Settings, columns: Mapping[str, str] | None, parents: AnyParents | None
    ) -> None:
        held = qrels.columns
        self.qrels: Qrels = qrels
        self.settings: Settings = settings.for_grades(held.label_codes()[0], held.first_fraction)
        self.columns: Mapping[str, str] | None = columns
        self.kinds: tuple[type[Any], type[Any]] | None = held.kinds
        self.judged: Judged = held.judged()
        self.parents: AnyParents | None = parents
        if isinstance(parents, Exclusion):
            self.parents = parents.for_queries(self.judged.query_ids)
        self.shape: tuple[int, int] = self.judged.n_queries, len(settings.names)
        self.status: ndarray = self.judged.status(self.settings.level)
        self.missing: ndarray | None = None
        self.missing_sums: dict[int, tuple[list[float], int] | None] = {}  # {column: what `exact_parts` made of it}
        self.list_rules: JoinRules | None = None  # once lists of ids were evaluated
        self.misses: int = 0  # runs of few queries, none of which ranked a judged document
        self.min_missing_queries: int = 0 if settings.queries == "intersection" else MIN_MISSING_QUERIES
        if settings.label_limits:
            check_labels(settings.label_limits, self.judged, held.label_codes()[0])

    def __copy__(self) -> Self:
        copied = object.__new__(type(self))
        for name in PreparedQrels.__slots__:
            setattr(copied, name, getattr(self, name))
        copied.list_rules = None  # as a copy gets another plan, or other documents
        return copied

    def missing_values(self) -> ndarray:
        """Shape (n_queries, n_slots): the values of a query that is missing from the run; made at the first call."""
        if self.missing is None:
            settings, values = self.settings, empty(self.shape)
            rules = settings.ties, settings.single, settings.least
            judge_dict(self.judged, [(self.judged, settings.plan, values, self.status.copy(), *rules)], {})
            self.missing = values  # another thread may have made the same
        return self.missing

    @property
    def reads_whole(self) -> bool:
        """Whether a run that is a table or a file must be a Run before it is evaluated."""
        rule = self.settings.options.duplicates
        return rule not in (None, "once") or not (self.stand_for is None or self.stand_for.is_table)

    @property
    def stand_for(self) -> Any:
        """Return the mapping of run ids to documents, or None."""
        return find_document_map(self.parents)

    @property
    def excluded(self) -> Judged | None:
        """The documents that leave the rankings, if any do; aligned with the queries of `judged`."""
        return self.parents.judged_documents() if isinstance(self.parents, Exclusion) else None

    def refuse_unscored(self, what: str) -> None:
        """Refuse the option `min_score` beside a run without scores, which is called `what`."""
        if self.settings.least > -math.inf:
            from fastir.evaluation.drivers.min_score import RANKS_TEXT

            raise ValueError(f"min_score{RANKS_TEXT}{what} no scores")

    def join_rules(self) -> JoinRules:
        """The rules of a join that reads rows, as a new object."""
        settings, options, parents = self.settings, self.settings.options, self.stand_for
        return JoinRules(
            self.judged,
            settings.plan,
            settings.ties,
            settings.single,
            options.validate == "judged",
            options.duplicates == "once",
            parents if isinstance(parents, Parents) else None,
            self.excluded,
            settings.least,
        )

    def reread(self, task: Any, threads: int) -> Any:
        """The Coverage of a Task with a Table in no order, read again and not held; None where rows are to be held."""
        return None


def check_labels(limits: list[tuple[int, str, str]], judged: Judged, grades: Grades | None = None) -> None:
    """Refuse a judged label above a metric's limit."""
    limit, text, why = min(limits, key=lambda entry: entry[0])
    for code, query, doc_id in judged.top_labels():
        label = code if grades is None or code < 0 else grades.labels[code]
        if label > limit:
            raise OverflowError(
                f"metric {quote(text)}: label {label} is too large for {why} "
                f"(query {judged.query_ids[query]}, document {doc_id})"
            )


class Task(Record):
    """One run to evaluate under one set of rules."""

    prepared: PreparedQrels
    run: Any  # of the shape of the driver
    values: ndarray  # float64 of shape (n_queries, n_metrics), which the driver fills
    status: ndarray  # uint8 of shape (n_queries,); the driver fills in each status that an empty ranking does not have
    n_threads: SupportsIndex | None
    watch: Watch | None  # watch(position) is called at every block of a file or a Run
    # If at least so many queries are missing from a run in memory, only its own queries get values and status; their
    # positions are the Coverage's `rows`. None: all queries get them.
    min_missing_queries: int | None = None

    def with_run(self, run: Any) -> Task:
        """This task for a run of another shape."""
        return self._replace(run=run)
