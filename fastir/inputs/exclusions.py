"""The option `exclude`: documents that do not count for a query, which leave its ranking before it is judged.

They go while a run is read, as parts of documents do, and hence stand where `parents` stand: an Exclusion holds these,
too. A dict of dicts loses the documents in a copy of the rankings that have some; a run of any other shape becomes a
Run without their rows. The judgments stay as they are: an excluded document that is relevant is one that was not found.
Ids that are integers equal their decimal text, as in all columns.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

import numpy as np

from fastir.columns.ids import Arena
from fastir.columns.rows import EXCLUDED
from fastir.errors import quote

if TYPE_CHECKING:
    from fastir.inputs.files import Path
    from fastir.join._parents import Parents

    ExcludeLike: TypeAlias = Literal["query_id"] | Mapping[Any, Iterable[Any]] | Path

OWN = "query_id"  # what a caller says to leave out the document of the query's own id


class StandFor(Protocol):
    """What knows the documents of the ids of runs: Parents, or a function of a caller's."""

    @property
    def aggregate(self) -> str | None: ...

    def of(self, run: Any) -> Parents: ...


class RunRows(Protocol):
    """What a Run is to this file."""

    _query_ids: list[Any]
    _offsets: np.ndarray
    _ids: Any
    _repairs: dict[str, tuple[int, str]]

    @property
    def _n_rows(self) -> int: ...

    def _only(self, places: list[int], kept: np.ndarray | None = None) -> Any: ...


AnyRun = TypeVar("AnyRun", bound=RunRows)


class Exclusion:
    """Which documents leave the rankings, and the documents that the ids of runs stand for.

    Parameters
    ----------
    by_query : dict of str to frozenset of str, or None
        Ids as text. None: of each query the document of its own id.
    parents : Parents, ParentFunction or None
        With them, the ids are those of documents: all parts of an excluded document leave.
    """

    ready = False  # a run is read as a whole

    def __init__(self, by_query: dict[str, frozenset[str]] | None, parents: StandFor | None) -> None:
        self.by_query: dict[str, frozenset[str]] | None = by_query
        self.parents: StandFor | None = parents

    @property
    def aggregate(self) -> str | None:
        """How the scores of the parts of a document are put together."""
        return None if self.parents is None else self.parents.aggregate

    def record(self) -> dict[str, Any]:
        """What a record of the inputs says."""
        if self.by_query is None:
            return {"documents": OWN}
        return {"queries": len(self.by_query), "documents": sum(map(len, self.by_query.values()))}

    def of(self, run: RunRows) -> Parents | None:
        """The documents of the ids of a run."""
        return None if self.parents is None else self.parents.of(run)

    def excluded(self, query_id: Any) -> Iterable[str]:
        """The documents that do not count for a query."""
        return (str(query_id),) if self.by_query is None else self.by_query.get(str(query_id), ())

    def from_dicts(self, run: dict[Any, Any]) -> tuple[dict[Any, Any], dict[str, tuple[int, str]]] | None:
        """A dict of dicts without the documents, and the repairs that this is; None: it must become a Run."""
        if self.parents is not None:
            return None
        changed: dict[Any, Any] = {}
        count, first = 0, ""
        for query_id in list(run):
            found = []
            ranking = run[query_id]
            for text in self.excluded(query_id):
                if type(ranking) is not dict:
                    return None
                found += [doc_id for doc_id in forms(text) if doc_id in ranking]
            if found:
                changed[query_id] = ranking.copy()
                for doc_id in found:
                    changed[query_id].pop(doc_id, None)
                first = first or f"query {query_id}, document {next(doc for doc in ranking if doc in found)}"
                count += len(found)
        return ({**run, **changed}, {EXCLUDED: (count, first)}) if changed else (run, {})

    def without(self, run: AnyRun) -> AnyRun:
        """A Run without the rows of the documents."""
        kept = self.kept_rows(run)
        gone = np.flatnonzero(~kept)
        if not len(gone):
            return run
        row = int(gone[0])
        query_id = run._query_ids[int(np.searchsorted(run._offsets, row, "right")) - 1]
        made = run._only(list(range(len(run._query_ids))), kept)
        place = f"query {query_id}, document {run._ids[row : row + 1][0]}"
        made._repairs = {**run._repairs, EXCLUDED: (len(gone), place)}
        return made

    def kept_rows(self, run: RunRows) -> np.ndarray:
        """Which rows of a Run stay."""
        ids = run._ids
        if self.by_query is None and self.parents is None and isinstance(ids, Arena):
            return ~own_rows(run._query_ids, run._offsets, ids)
        kept = np.ones(run._n_rows, bool)
        documents: dict[str, str] = {}
        if self.parents is not None:
            made = self.parents.of(run)
            documents = dict(zip(map(str, made.chunks[:]), map(str, made.documents[:]), strict=True))
        bounds = zip(run._query_ids, run._offsets.tolist(), run._offsets[1:].tolist(), strict=False)
        for query_id, start, stop in bounds:
            excluded = self.excluded(query_id)
            if excluded:
                texts = map(str, ids[start:stop])
                kept[start:stop] = [documents.get(text, text) not in excluded for text in texts]
        return kept


def own_rows(query_ids: list[Any], offsets: np.ndarray, ids: Arena) -> np.ndarray:
    """Which rows have a document that is called like its query, byte by byte: few rows are left after the first."""
    own = Arena.of(list(map(str, query_ids)))
    query = np.repeat(np.arange(len(query_ids)), np.diff(offsets))
    rows = np.flatnonzero(ids.lengths == own.lengths[query])
    for place in range(int(own.lengths.max(initial=0))):
        at = query[rows]
        inside = own.lengths[at] > place
        theirs = ids.text[np.where(inside, ids.starts[rows] + place, 0)]
        ours = own.text[np.where(inside, own.starts[at] + place, 0)]
        rows = rows[(theirs == ours) | ~inside]
    is_own = np.zeros(len(ids), bool)
    is_own[rows] = True
    return is_own


def forms(text: str) -> tuple[Any, ...]:
    """The ids of a dict that equal a text: itself, and the integer whose decimal text it is."""
    digits = text.removeprefix("-")
    if digits.isascii() and digits.isdigit() and len(digits) < 30 and str(int(text)) == text:
        return text, int(text)
    return (text,)


def exclusion_of(given: Any) -> dict[str, frozenset[str]] | None:
    """The ids of the option `exclude`, by query, as text; None for those of the queries themselves.

    Raises
    ------
    TypeError
        It has another form, or an id is neither a str nor an int.
    FormatError, OSError
        A file cannot be read.
    """
    if isinstance(given, str) and given == OWN:
        return None
    if isinstance(given, Mapping):
        return {text_of(query, "a query id"): texts_of(query, ids) for query, ids in dict(given).items()}
    if isinstance(given, (str, bytes, os.PathLike)):
        from fastir.inputs.pair_lines import lines_of_two

        by_query: dict[str, set[str]] = {}
        for _, query_id, doc_id in lines_of_two(given, "a query", "a document"):
            by_query.setdefault(query_id, set()).add(doc_id)
        return {query_id: frozenset(doc_ids) for query_id, doc_ids in by_query.items()}
    raise TypeError(
        f"exclude must be {OWN!r}, {{query_id: doc_ids}} or a path, got {type(given).__name__} {quote(given)}"
    )


def texts_of(query_id: Any, doc_ids: Any) -> frozenset[str]:
    """The ids of documents of one query, as text."""
    if isinstance(doc_ids, (str, bytes)) or not isinstance(doc_ids, Iterable):
        raise TypeError(
            f"exclude: the documents of query {quote(query_id)} must be a collection of ids, got "
            f"{type(doc_ids).__name__} {quote(doc_ids)}"
        )
    return frozenset(text_of(doc_id, f"a document of query {quote(query_id)}") for doc_id in doc_ids)


def text_of(value: Any, what: str) -> str:
    """An id as text."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_)):
        return str(int(value))
    raise TypeError(f"exclude: {what} must be a str or an int, got {type(value).__name__} {quote(value)}")
