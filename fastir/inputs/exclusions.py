"""The option `exclude`: documents that do not count for a query, which leave its ranking before it is judged.

Documents are excluded while a run is read, when chunks are replaced by their documents. An Exclusion therefore takes
the position of `parents` in a call, and holds these, too. The judgments stay unchanged: an excluded relevant document
counts as not retrieved. Only rankings of queries of the qrels are read. Integer ids equal their decimal text, as in all
columns.

    dict of dicts    The join probes each ranking with the ids. A call takes 1.2 times as long if one document in a
                     thousand is excluded, 1.5 times with one in a hundred, 3 times with one in ten. Copies of the
                     rankings took 6 to 9 times as long; they remain if several sets of rules share a dict.
    other shapes     The join looks each row up in the excluded documents of its query, a Judged like the judgments: it
                     has the hash already. Queries without excluded documents cost nothing. If several sets of rules
                     share a Run, it is copied without these rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

import numpy as np

from fastir.checks import mapping
from fastir.engine.columns._ids import ids_from_arena
from fastir.engine.columns.rows import EXCLUDED, Rows, offsets_from_sizes, select
from fastir.engine.join._contiguous import rows_left
from fastir.engine.join._judged import Judged
from fastir.errors import NoOverlapError, quote
from fastir.inputs.places import is_path

if TYPE_CHECKING:
    from fastir.engine.join._join import Parents
    from fastir.inputs.files import Path

    ExcludeLike: TypeAlias = Literal["query_id"] | Mapping[Any, Iterable[Any]] | Path
    ForbiddenLike: TypeAlias = Mapping[Any, Iterable[Any]] | Path
    UnanswerableLike: TypeAlias = Iterable[Any] | Path

OWN_DOCUMENT = "query_id"  # excludes the document that has the query's id


class DocumentMap(Protocol):
    """What knows the documents of the ids of runs: Parents, or a function of a caller's."""

    @property
    def aggregate(self) -> str | None: ...

    def of(self, run: Any) -> Parents: ...


AnyRun = TypeVar("AnyRun", bound=Rows)  # a Run


class Exclusion:
    """Which documents leave the rankings, and which document each id of a run belongs to.

    With parents, the ids name documents: all chunks of an excluded document leave.
    """

    def __init__(
        self, by_query: dict[str, frozenset[str]] | None, parents: DocumentMap | None, judged: Judged | None = None
    ) -> None:
        self.by_query: dict[str, frozenset[str]] | None = by_query  # ids as text; None: the query's own id
        self.parents: DocumentMap | None = parents
        self.judged: Judged | None = judged  # the documents by the queries of the qrels; None before `for_queries`
        self.forms: list[frozenset[Any]] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Exclusion, (self.by_query, self.parents)

    @property
    def aggregate(self) -> str | None:
        """How the scores of the parts of a document are put together."""
        return None if self.parents is None else self.parents.aggregate

    def record(self) -> dict[str, Any]:
        """The fields of a record of the inputs."""
        if self.by_query is None:
            return {"documents": OWN_DOCUMENT}
        return {"queries": len(self.by_query), "documents": sum(map(len, self.by_query.values()))}

    def distinguishing_texts(self) -> list[str]:
        """Texts that tell this exclusion from others."""
        if self.by_query is None:
            return [OWN_DOCUMENT]
        return [text for query_id in sorted(self.by_query) for text in (query_id, *sorted(self.by_query[query_id]), "")]

    def of(self, run: Rows) -> Parents | None:
        """The documents of the ids of a run."""
        return None if self.parents is None else self.parents.of(run)

    def refuse_other_queries(self, query_ids: list[Any]) -> None:
        """Raise NoOverlapError if documents are excluded only for queries that are not in the qrels."""
        others = [query_id for query_id, doc_ids in (self.by_query or {}).items() if doc_ids]
        if others and set(map(str, query_ids)).isdisjoint(others):
            from fastir.rendering.look_alikes import quote_first

            here, there = quote_first(query_ids, others)
            raise NoOverlapError(f"no query in common: the qrels have {here}, exclude has {there}")

    def for_queries(self, query_ids: list[Any]) -> Exclusion:
        """This exclusion for qrels of these queries; in rankings of others nothing is looked for."""
        if self.judged is not None and self.judged.query_ids == query_ids:
            return self
        by_query = [sorted(self.excluded_documents(query_id)) for query_id in query_ids]
        doc_ids = [doc_id for doc_ids in by_query for doc_id in doc_ids]
        offsets = offsets_from_sizes(np.array([len(doc_ids) for doc_ids in by_query], np.int64))
        judged = Judged(list(query_ids), doc_ids, offsets, np.zeros(len(doc_ids), np.int32))
        return Exclusion(self.by_query, self.parents, judged)

    def judged_documents(self) -> Judged:
        """The documents of the queries of the qrels."""
        if self.judged is None:
            raise RuntimeError("exclude: the queries are not known yet")
        return self.judged

    def excluded_documents(self, query_id: Any) -> Iterable[str]:
        """The documents that do not count for a query."""
        return (str(query_id),) if self.by_query is None else self.by_query.get(str(query_id), ())

    def from_dicts(self, run: dict[Any, Any]) -> tuple[dict[Any, Any], dict[str, tuple[int, str]]] | None:
        """A dict of dicts without the documents, and the repairs that this is; None: it must become a Run."""
        if self.parents is not None:
            return None
        changed: dict[Any, Any] = {}
        rows, by_row = self.judged_documents().rows_by_query(), self.forms_by_row()
        firsts, count = [], 0
        for query_id in list(run):
            row = rows.get(str(query_id))
            if row is None or not by_row[row]:
                continue
            ranking = run[query_id]
            if type(ranking) is not dict:
                return None
            leaving = ranking.keys() & by_row[row]
            if leaving:
                changed[query_id] = ranking.copy()
                for doc_id in leaving:
                    changed[query_id].pop(doc_id, None)
                firsts.append(row)
                count += len(leaving)
        return ({**run, **changed}, self.repair(count, min(firsts))) if changed else (run, {})

    def forms_by_row(self) -> list[frozenset[Any]]:
        """All ids of dicts that equal an excluded one, for each query of the qrels; made at the first call."""
        if self.forms is None:
            ids = (self.excluded_documents(query_id) for query_id in self.judged_documents().query_ids)
            self.forms = [frozenset(form for text in texts for form in equal_ids(text)) for texts in ids]
        return self.forms

    def repair(self, count: int, row: int) -> dict[str, tuple[int, str]]:
        """The report's count of excluded documents, with the query at `row` of the qrels as example."""
        return {EXCLUDED: (count, f"query {self.judged_documents().query_ids[row]}")}

    def without(self, run: AnyRun) -> AnyRun:
        """A Run without the rows of the documents."""
        judged = self.judged_documents()
        rows = judged.rows_by_query()
        places = np.array([rows.get(str(query_id), -1) for query_id in run.columns.query_ids], np.int64)
        kept = rows_left(judged, self.of(run), ids_from_arena(run.columns.ids), run.columns.offsets, places).view(bool)
        gone = np.flatnonzero(~kept)
        if not len(gone):
            return run
        remaining = select(run, list(range(len(run))), kept)
        groups = np.searchsorted(run.columns.offsets, gone, "right") - 1
        remaining.columns.repairs = {**run.columns.repairs, **self.repair(len(gone), int(places[groups].min()))}
        return remaining


def find_document_map(parents: Any) -> Any:
    """The Parents, function or Exclusion that maps the ids of runs to documents, if there is one."""
    return parents.parents if isinstance(parents, Exclusion) else parents


def equal_ids(text: str) -> tuple[Any, ...]:
    """The ids of a dict that equal a text: the text, and the integer that it spells."""
    digits = text.removeprefix("-")
    if digits.isascii() and digits.isdigit() and len(digits) < 30 and str(int(text)) == text:
        return text, int(text)
    return (text,)


def read_exclude(exclude: Any) -> dict[str, frozenset[str]] | None:
    """The ids of the option `exclude`, by query, as text; None for the ids of the queries."""
    if isinstance(exclude, str) and exclude == OWN_DOCUMENT:
        return None
    if hasattr(exclude, "iloc") and not hasattr(exclude, "columns"):
        exclude = mapping("exclude", exclude, "map query ids to documents", labelled=True)
    if isinstance(exclude, Mapping):
        return {
            id_text(query, "exclude: a query id"): excluded_texts(query, ids) for query, ids in dict(exclude).items()
        }
    if is_path(exclude):
        from fastir.inputs.mappings import field_rows

        by_query: dict[str, set[str]] = {}
        for _, (query_id, doc_id) in field_rows(exclude, {2: "a query and a document"}):
            by_query.setdefault(query_id, set()).add(doc_id)
        return {query_id: frozenset(doc_ids) for query_id, doc_ids in by_query.items()}
    raise TypeError(
        f"exclude must be {OWN_DOCUMENT!r}, {{query_id: doc_ids}} or a path, "
        f"got {type(exclude).__name__} {quote(exclude)}"
    )


def excluded_texts(query_id: Any, doc_ids: Any) -> frozenset[str]:
    """The ids of documents of one query, as text."""
    if isinstance(doc_ids, (str, bytes)) or not isinstance(doc_ids, Iterable):
        raise TypeError(
            f"exclude: the documents of query {quote(query_id)} must be a collection of ids, got "
            f"{type(doc_ids).__name__} {quote(doc_ids)}"
        )
    return frozenset(id_text(doc_id, f"exclude: a document of query {quote(query_id)}") for doc_id in doc_ids)


def id_text(value: Any, what: str) -> str:
    """An id as text."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_)):
        return str(int(value))
    raise TypeError(f"{what} must be a str or an int, got {type(value).__name__} {quote(value)}")
