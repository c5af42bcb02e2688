"""Prepared: qrels and a Plan, ready for any number of runs under one set of rules.

It holds the data that the drivers of all shapes read; `measuring.OneRuleSet` measures. It knows
neither qrels with groups nor metrics whose rules differ: for these, `groups` and `rule_sets` put several together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fastir.errors import quote
from fastir.join._parents import Parents

if TYPE_CHECKING:
    from numpy import ndarray

    from fastir.inputs.parents import AnyParents
    from fastir.join._judged import Judged
    from fastir.qrels import Qrels
    from fastir.request.plan import Settings


class Prepared:
    """Qrels with what was compiled for them, under one set of rules; never changed after it was made.

    Parameters
    ----------
    qrels : Qrels
        Without groups.
    settings : Settings
        Without parts.
    columns : mapping or None
        The names of the columns of runs that are tables.
    parents : Parents or None
        The documents that the ids of runs stand for.

    Raises
    ------
    OverflowError
        A label is too large for a metric's formula.
    """

    __slots__ = ("columns", "judged", "kinds", "parents", "qrels", "settings", "shape", "status")

    def __init__(
        self, qrels: Qrels, settings: Settings, columns: Mapping[str, str] | None, parents: AnyParents | None
    ) -> None:
        self.qrels: Qrels = qrels
        self.settings: Settings = settings
        self.columns: Mapping[str, str] | None = columns
        self.parents: AnyParents | None = parents
        self.kinds: tuple[type[Any], type[Any]] | None = qrels._kinds
        self.judged: Judged = qrels._prepared()
        self.shape: tuple[int, int] = self.judged.n_queries, len(settings.names)
        self.status: ndarray = self.judged.status(settings.level)
        if settings.label_limits:
            check_labels(settings.label_limits, self.judged)

    @property
    def reads_whole(self) -> bool:
        """Whether a run that is a table or a file must be a Run before it is evaluated."""
        rule = self.settings.options.duplicates
        return rule not in (None, "once") or not (self.parents is None or self.parents.ready)

    def rules(self) -> tuple[bool, Parents | None]:
        """What a join does with documents that stand twice while it reads: its arguments `once` and `parents`."""
        return self.settings.options.duplicates == "once", self.parents if isinstance(self.parents, Parents) else None

    def rankers(self) -> list[Prepared]:
        """The Prepared objects that decide the order of documents: here this one alone."""
        return [self]


def check_labels(limits: list[tuple[int, str, str]], judged: Judged) -> None:
    """Refuse a judged label above a metric's limit."""
    limit, text, why = min(limits, key=lambda entry: entry[0])
    for label, query, doc_id in judged.top_labels():
        if label > limit:
            raise OverflowError(
                f"metric {quote(text)}: label {label} is too large for {why} "
                f"(query {judged.query_ids[query]}, document {doc_id})"
            )
