"""Rows: the base of Qrels and Run, ids and numbers grouped by query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fastir.columns.ids import Arena
from fastir.errors import quote


def refused(pairs: list[tuple[int, int]], numbers: np.ndarray, rule: str | None, is_run: bool) -> list[tuple[int, int]]:
    """The pairs of rows with one document that are an error: all without a rule; judgments that differ under "once"."""
    if rule == "once" and not is_run:
        return [(first, later) for first, later in pairs if numbers[first] != numbers[later]]
    return pairs if rule is None else []


def without_duplicates(
    offsets: np.ndarray, numbers: np.ndarray, pairs: list[tuple[int, int]], rule: str | None, is_run: bool
) -> tuple[Any, ...]:
    """Drop rows that repeat an earlier one of their query; the earlier row gets the number that the rule chooses.

    Parameters
    ----------
    pairs : list of (earlier row, later row)
    rule : {"first", "last", "max", "once"}
        "once" drops nothing of a run; of judgments that agree it leaves one.
    is_run : bool

    Returns
    -------
    tuple
        The new offsets, which rows are kept (bool), the new numbers.
    """
    numbers = numbers.copy()
    kept = np.ones(len(numbers), bool)
    for first, later in pairs if rule != "once" or not is_run else ():
        kept[later] = False
        if rule == "last" or (rule == "max" and numbers[later] > numbers[first]):
            numbers[first] = numbers[later]
    return np.concatenate(([0], np.cumsum(kept)))[offsets], kept, numbers[kept]


NOT_GIVEN: Any = None
SHOWN, SHOWN_DOCS = 5, 3  # queries, and documents of each, that a notebook shows


class Rows:
    """Documents of queries, each with a number; immutable.

    Parameters
    ----------
    query_ids : list of str or of int
    offsets : int64 array of shape (n_queries + 1,)
    ids : Arena, or list of str or of int
        Document ids, distinct within a query but for a Run that was made with ``duplicates="once"``.
    numbers : array of shape (n_rows,)
    repairs : dict
        {kind: (count, place)}.
    """

    what: str  # for messages

    def __init__(
        self,
        query_ids: list[Any] = NOT_GIVEN,
        offsets: np.ndarray = NOT_GIVEN,
        ids: Arena | list[Any] = NOT_GIVEN,
        numbers: np.ndarray = NOT_GIVEN,
        repairs: dict[str, tuple[int, str]] | None = None,
    ) -> None:
        if offsets is None:
            kind = type(self).__name__
            raise TypeError(f"a {kind} is made by {kind}.from_dict, from_file or from_table")
        self._query_ids = query_ids
        self._offsets = offsets
        self._ids = ids
        self._numbers = numbers
        self._places: dict[Any, int] | None = None
        self.repairs: dict[str, tuple[int, str]] = repairs or {}

    def places(self) -> dict[Any, int]:
        """{query_id: position}."""
        if self._places is None:
            self._places = {query_id: place for place, query_id in enumerate(self._query_ids)}
        return self._places

    def to_dict(self) -> dict[Any, dict[Any, Any]]:
        """All rows as new dicts, {query_id: {doc_id: number}}."""
        return {query_id: self[query_id] for query_id in self._query_ids}

    @property
    def n_rows(self) -> int:
        return len(self._numbers)

    def __len__(self) -> int:
        return len(self._query_ids)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._query_ids)

    def __contains__(self, query_id: object) -> bool:
        return query_id in self.places()

    def __getitem__(self, query_id: Any) -> dict[Any, Any]:
        try:
            place = self.places()[query_id]
        except KeyError:
            raise KeyError(f"query {quote(query_id)} is not in the {self.what}") from None
        rows = slice(self._offsets[place], self._offsets[place + 1])
        ids, numbers = self._ids[rows], self._numbers[rows].tolist()
        found = dict(zip(ids, numbers, strict=True))
        if len(found) < len(ids):  # a Run made with "once"
            for doc_id, number in zip(ids, numbers, strict=True):
                found[doc_id] = max(found[doc_id], number)
        return found

    def _repr_html_(self) -> str:
        """How many documents the first queries have, and their first documents."""
        from fastir.rendering import Cell, Table, rendered

        rows = []
        for query_id in self._query_ids[:SHOWN]:
            first = [
                f"{doc_id}: {number:g}"
                for doc_id, number in list(Rows.__getitem__(self, query_id).items())[:SHOWN_DOCS]
            ]
            n = len(self[query_id])
            more = ", ..." if n > len(first) else ""
            rows.append([Cell(str(query_id)), Cell(", ".join(first) + more), Cell(str(n))])
        if len(self) > len(rows):
            rows.append([Cell(f"... {len(self) - len(rows)} more"), Cell(""), Cell("")])
        return rendered(Table(["query_id", "first documents", "documents"], rows, 2, [repr(self).strip("<>")]), "html")

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if type(other) is type(self) else NotImplemented

    def __reduce__(self) -> tuple[Any, ...]:
        return restored, (type(self), self._query_ids, self._offsets, self._ids, self._numbers, self.repairs)


def restored(
    kind: type[Rows], query_ids: list[Any], offsets: np.ndarray, ids: Any, numbers: np.ndarray, repairs: dict[Any, Any]
) -> Rows:
    """Rows from a pickle.

    Raises
    ------
    ValueError
        The columns do not fit together: the pickle is damaged.
    """
    kinds = {type(doc_id) for doc_id in ids} if type(ids) is list else set()
    if not (
        type(query_ids) is list
        and {type(query_id) for query_id in query_ids} in ({str}, {int}, set())
        and len(set(query_ids)) == len(query_ids)
        and (type(ids) is Arena or (type(ids) is list and kinds in ({str}, {int}, set())))
        and offsets_fit(offsets, len(query_ids), len(ids))
        and type(numbers) is np.ndarray
        and numbers.shape == (len(ids),)
        and numbers.dtype.kind in "if"
    ):
        raise ValueError(f"the pickled {kind.what} are damaged: ids, offsets and numbers do not fit together")
    return kind(query_ids, offsets, ids, numbers, repairs)


def offsets_fit(offsets: np.ndarray, n_queries: int, n_rows: int) -> bool:
    """Whether offsets divide `n_rows` rows among `n_queries` queries."""
    return bool(
        type(offsets) is np.ndarray
        and offsets.dtype == np.int64
        and offsets.shape == (n_queries + 1,)
        and offsets[0] == 0
        and offsets[-1] == n_rows
        and (np.diff(offsets) >= 0).all()
    )
