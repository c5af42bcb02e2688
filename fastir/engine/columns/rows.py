"""Rows: the base of Qrels and Run, ids and numbers grouped by query."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from fastir.engine.columns._ids import ids_from_arena
from fastir.engine.columns._objects import pick
from fastir.engine.columns.ids import Arena
from fastir.errors import quote

if TYPE_CHECKING:
    import pandas
    import pyarrow
    from numpy.typing import ArrayLike


def offsets_from_sizes(sizes: ArrayLike) -> np.ndarray:
    """Where each of several lists begins in one array, and where the last ends: int64 of shape (n_lists + 1,)."""
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))


def equal_offsets(n_lists: int, size: int) -> np.ndarray:
    """The offsets of lists that are equally long: int64 of shape (n_lists + 1,)."""
    return np.arange(n_lists + 1, dtype=np.int64) * size


def repeat(values: ArrayLike, times: ArrayLike) -> np.ndarray:
    """Each value so many times, one after the other; the counts may be integers of any type.

    NumPy's own integers, np.intp, have 32 bits on some platforms, as in WebAssembly. There it repeats and counts by
    none that is wider, and `np.arange` makes none: products of them would overflow. `equal_offsets`, `repeat`,
    `occurrences`, `sums` and `list_of_each` settle that for all of fastir.
    """
    return np.repeat(values, np.asarray(times).astype(np.intp, copy=False))


def stretches(starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The positions of several stretches, one after the other."""
    ends = np.cumsum(sizes)
    return repeat(starts - ends + sizes, sizes) + np.arange(ends[-1] if len(ends) else 0)


def occurrences(numbers: np.ndarray, weights: np.ndarray | None = None, minlength: int = 0) -> np.ndarray:
    """How often each of 0, 1, 2, ... occurs, as int64; or the sums of the weights, as float64.

    The numbers may be integers of any type, from 0 up.
    """
    counts = np.bincount(numbers.astype(np.intp, copy=False), weights, minlength)
    return counts.astype(np.int64, copy=False) if weights is None else counts


def sums(numbers: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The sum of each list of whole numbers, as int64; 0 of an empty one."""
    return np.diff(offsets_from_sizes(numbers)[offsets])


def list_of_each(offsets: np.ndarray) -> np.ndarray:
    """The number of the list to which each element of one array belongs, from 0 up, as int64."""
    return repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))


def refused_pairs(
    pairs: list[tuple[int, int]], numbers: np.ndarray, rule: str | None, is_run: bool
) -> list[tuple[int, int]]:
    """The pairs of rows with one document that are an error.

    All are without a rule, and in a run under "mean", which is for judgments; judgments that differ are under "once".
    """
    if rule == "mean" and is_run:
        return pairs
    if rule == "once" and not is_run:
        return [(first, later) for first, later in pairs if numbers[first] != numbers[later]]
    return pairs if rule is None else []


def pair_columns(pairs: list[tuple[int, int]]) -> np.ndarray:
    """Pairs of rows as an int64 array of shape (2, n_pairs)."""
    flat = np.fromiter(itertools.chain.from_iterable(pairs), np.int64, 2 * len(pairs))
    return np.ascontiguousarray(flat.reshape(-1, 2).T)


def without_duplicates(
    offsets: np.ndarray, numbers: np.ndarray, pairs: list[tuple[int, int]], rule: str | None, is_run: bool
) -> tuple[Any, ...]:
    """Drop rows that repeat an earlier one of their query; the earlier row gets the number that the rule chooses.

    Parameters
    ----------
    pairs : list of (earlier row, later row)
    rule : {"first", "last", "max", "mean", "once"}
        "once" drops nothing of a run; of judgments that agree it leaves one.
    is_run : bool

    Returns
    -------
    tuple
        The new offsets, which rows are kept (bool), the new numbers.
    """
    numbers = numbers.copy()
    kept = np.ones(len(numbers), bool)
    if rule == "mean":
        firsts, others = pair_columns(pairs)
        kept[others] = False
        rows = np.arange(len(numbers))
        rows[others] = firsts
        judged = numbers >= 0  # a negative label is no judgment, and no part of a mean
        totals = np.where(judged, numbers, 0.0)
        np.add.at(totals, firsts, totals[others])
        np.maximum.at(numbers, firsts, numbers[others])
        counts = occurrences(rows[judged], minlength=len(numbers))
        numbers = np.where(counts > 0, totals / np.maximum(counts, 1), numbers)
        pairs = []
    for first, later in pairs if rule != "once" or not is_run else ():
        kept[later] = False
        if rule == "last" or (rule == "max" and numbers[later] > numbers[first]):
            numbers[first] = numbers[later]
    return offsets_from_sizes(kept)[offsets], kept, numbers[kept]


NOT_GIVEN: Any = None
CONTRADICTED = "queries whose ranks contradict their scores"  # a kind of repair that repairs nothing
ROUNDED = "rankings in which different integers are one float64"  # a kind of repair: scores beyond 2^53
CONTRADICTED_FIRST = f"{CONTRADICTED}, among the first"  # the same for a table, where most of the first queries do
LIKE_SCORES = "queries whose ranks look like scores"  # a kind of repair, too
UNDIVIDED = "documents of one query, as no group, qid or offsets divides them"  # a kind of repair, too
INCOMPLETE = "search responses that are incomplete"  # a kind of repair, too: a search timed out, or shards failed
EXCLUDED = "excluded documents"  # a kind of repair, too: what the option `exclude` took out
LOW = "documents with low scores"  # a kind of repair, too: what the option `min_score` took out
ELSEWHERE = "forbidden documents of queries without judgments"  # a kind of repair, too: they count for no query
UNLABELLED = "rows without a label"  # a kind of repair: all that is listed is relevant
LISTED_TWICE = "relevant ids listed twice"  # a kind of repair: an id counts once
CELLS = tuple(  # kinds of repairs that repair nothing: what separates ids in the cells of a column
    f"cells with {ids}"
    for ids in ("lists in brackets", "commas between ids", "blanks between ids", "brackets and blanks")
)
MAX_ARROW_BYTES = 1 << 31  # of the ids of a column with offsets of 32 bits
SHOWN, SHOWN_DOCS = 5, 3  # queries, and documents of each, that a notebook shows


def rounded_place(query_id: Any, doc_ids: Iterable[Any]) -> str:
    """A ranking in which the integer scores of two documents are one float64, as the location of a repair."""
    return f"query {query_id}, documents {' and '.join(map(quote, doc_ids))}"


class Columns:
    """Documents of queries and their numbers, as columns that fastir reads and never changes.

    Parameters
    ----------
    query_ids : list of str or of int
    offsets : int64 array of shape (n_queries + 1,)
    ids : Arena, or list of str or of int
        Document ids, distinct within a query except for a Run that was made with ``duplicates="once"``.
    numbers : array of shape (n_rows,)
    repairs : dict
        {kind: (count, place)}.
    """

    _places: dict[Any, int] | None = None

    def __init__(
        self,
        query_ids: list[Any],
        offsets: np.ndarray,
        ids: Any,
        numbers: np.ndarray,
        repairs: dict[str, tuple[int, str]],
    ) -> None:
        self.query_ids: list[Any] = query_ids
        self.offsets: np.ndarray = offsets
        self.ids: Any = ids
        self.numbers: np.ndarray = numbers
        self.repairs: dict[str, tuple[int, str]] = repairs

    @property
    def n_rows(self) -> int:
        """The number of documents of all queries."""
        return len(self.numbers)

    def fields(self) -> tuple[Any, ...]:
        """The arguments that make an equal object."""
        return self.query_ids, self.offsets, self.ids, self.numbers, self.repairs

    def arrays(self) -> tuple[Any, np.ndarray, np.ndarray]:
        """Document ids, the offset of each query, and numbers."""
        return self.ids, self.offsets, self.numbers

    def places(self) -> dict[Any, int]:
        """{query_id: position}, made at the first call."""
        if self._places is None:
            self._places = {query_id: place for place, query_id in enumerate(self.query_ids)}
        return self._places

    def slice_of(self, query_id: Any) -> slice:
        """The rows of a query."""
        place = self.places()[query_id]
        return slice(self.offsets[place], self.offsets[place + 1])

    def rows(self, places: list[int], kept: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The positions of the rows of some queries, perhaps only of those that are kept, and the queries' offsets."""
        offsets = self.offsets
        pieces = [np.arange(offsets[place], offsets[place + 1]) for place in places]
        if kept is not None:
            pieces = [piece[kept[piece]] for piece in pieces]
        rows = np.concatenate(pieces or [offsets[:0]])
        return rows, offsets_from_sizes([len(piece) for piece in pieces])

    def ids_at(self, rows: np.ndarray) -> Arena | list[Any]:
        """The document ids of some rows."""
        ids = self.ids
        if isinstance(ids, list):
            return pick(ids, rows)
        return ids.take(rows)


class Rows:
    """Documents of queries, each with a number; immutable. It takes the parameters of `Columns`."""

    _what: str  # for messages
    _number: str  # the name of the numbers, as a column
    _make_columns: type[Columns] = Columns
    columns: Columns

    def __init__(
        self,
        query_ids: list[Any] = NOT_GIVEN,
        offsets: np.ndarray = NOT_GIVEN,
        ids: Arena | list[Any] = NOT_GIVEN,
        numbers: np.ndarray = NOT_GIVEN,
        repairs: dict[str, tuple[int, str]] | None = None,
    ) -> None:
        if offsets is None:
            kind = type(self)
            made = kind.from_dict(query_ids) if isinstance(query_ids, dict) else None
            if type(made) is not kind:
                name = kind.__name__
                raise TypeError(f"a {name} is made by {name}.from_dict, from_file or from_table")
            self.columns = made.columns
            return
        self.columns = self._make_columns(query_ids, offsets, ids, numbers, repairs or {})

    # ---- what callers use ----------------------------------------------------------------------------------------
    @property
    def query_ids(self) -> list[Any]:
        """The query ids, in order of first appearance; a new list."""
        return list(self.columns.query_ids)

    def to_dict(self) -> dict[Any, Any]:
        """All rows as new dicts, ``{query_id: {doc_id: number}}``; `from_dict` makes an equal object from them."""
        return {query_id: self[query_id] for query_id in self.columns.query_ids}

    def to_pandas(self) -> pandas.DataFrame:
        """All rows as a new frame with the columns query_id, doc_id and label or score.

        `from_table` makes an equal object from it, unless a query has no documents, which a table cannot hold.
        Judgments in groups also have the column group_id; preferences have judge, part and level; samples have stratum
        and probability.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        import pandas

        return pandas.DataFrame(self._table())

    def to_arrow(self) -> pyarrow.Table:
        """All rows as a new pyarrow Table.

        The columns are as in `to_pandas`, and integer ids stay integers.

        Raises
        ------
        ImportError
            pyarrow is not installed.
        ValueError
            An id is not UTF-8.
        """
        import pyarrow

        held = self.columns
        if type(self)._table is Rows._table and len(held.ids):
            queries = pyarrow.array(held.query_ids).take(pyarrow.array(list_of_each(held.offsets)))
            arrays = [queries, arrow_ids(held.ids), pyarrow.array(held.numbers)]
            return pyarrow.table(arrays, ["query_id", "doc_id", self._number])
        columns = self._table()
        no_ids = pyarrow.string()  # the type of a list without rows
        arrays = [
            pyarrow.array(column, no_ids if isinstance(column, list) and not column else None)
            for column in columns.values()
        ]
        return pyarrow.table(arrays, list(columns))

    def filter(self, queries: Iterable[Any] | None = None, documents: Iterable[Any] | None = None) -> Self:
        """Select queries or documents, in the same order.

        Parameters
        ----------
        queries : iterable of query ids, or None
            Such as a list, or another `Qrels` or `Run`. None: all. Unknown ids are ignored.
        documents : iterable of document ids, or None
            The same for documents. A query that loses all its documents stays, without documents.

        Returns
        -------
        Qrels or Run
            A new object of the same kind.

        Raises
        ------
        TypeError
            An argument is a single str, or cannot be iterated over.
        """
        wanted = None if queries is None else id_set("queries", queries)
        kept = None
        if documents is not None:
            doc_ids = id_set("documents", documents)
            kept = np.fromiter((doc_id in doc_ids for doc_id in self.columns.ids[:]), bool, len(self.columns.ids))
        places = [place for place, query_id in enumerate(self) if wanted is None or query_id in wanted]
        return self._only(places, kept)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name != "columns"]

    def __len__(self) -> int:
        return len(self.columns.query_ids)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.columns.query_ids)

    def __contains__(self, query_id: object) -> bool:
        return query_id in self.columns.places()

    def __getitem__(self, query_id: Any) -> dict[Any, Any]:
        columns = self.columns
        try:
            rows = columns.slice_of(query_id)
        except KeyError:
            raise KeyError(f"query {quote(query_id)} is not in the {self._what}") from None
        ids, numbers = columns.ids[rows], columns.numbers[rows].tolist()
        documents = dict(zip(ids, numbers, strict=True))
        if len(documents) < len(ids):  # a Run made with "once"
            for doc_id, number in zip(ids, numbers, strict=True):
                documents[doc_id] = max(documents[doc_id], number)
        return documents

    # ---- what fastir uses ----------------------------------------------------------------------------------------
    def _only(self, places: list[int], kept: np.ndarray | None = None) -> Self:
        """The queries at some positions, perhaps only with the rows that are kept."""
        columns = self.columns
        rows, offsets = columns.rows(places, kept)
        query_ids = [columns.query_ids[place] for place in places]
        return type(self)(query_ids, offsets, columns.ids_at(rows), columns.numbers[rows], columns.repairs)

    def _table(self) -> dict[str, Any]:
        """The rows as columns by their names."""
        sizes = np.diff(self.columns.offsets).tolist()
        query_ids = [query_id for query_id, n in zip(self.columns.query_ids, sizes, strict=True) for _ in range(n)]
        return {"query_id": query_ids, "doc_id": self.columns.ids[:], self._number: self.columns.numbers}

    def _repr_html_(self) -> str:
        """How many documents the first queries have, and their first documents."""
        from fastir.rendering import Cell, Table, render

        rows = []
        for query_id in self.columns.query_ids[:SHOWN]:
            first = [
                f"{doc_id}: {number:g}"
                for doc_id, number in list(Rows.__getitem__(self, query_id).items())[:SHOWN_DOCS]
            ]
            n = len(self[query_id])
            more = ", ..." if n > len(first) else ""
            rows.append([Cell(str(query_id)), Cell(", ".join(first) + more), Cell(str(n))])
        if len(self) > len(rows):
            rows.append([Cell(f"... {len(self) - len(rows)} more"), Cell(""), Cell("")])
        return render(Table(["query_id", "first documents", "documents"], rows, 2, [repr(self).strip("<>")]), "html")

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if type(other) is type(self) else NotImplemented

    def __reduce__(self) -> tuple[Any, ...]:
        columns = self.columns
        return restore_columns, (type(self), *columns.fields())


def arrow_ids(ids: Arena | list[Any]) -> Any:
    """Ids as a pyarrow array, without a Python object for each where they are bytes."""
    import pyarrow

    if isinstance(ids, Arena) and not ids.integers:
        text, starts, _ = ids_from_arena(ids).copy(0, len(ids))
        if len(text) < MAX_ARROW_BYTES:
            offsets = np.append(starts, len(text)).astype(np.int32)
            array = pyarrow.StringArray.from_buffers(len(ids), pyarrow.py_buffer(offsets), pyarrow.py_buffer(text))
            try:
                array.validate(full=True)
                return array
            except pyarrow.ArrowInvalid:  # an id that is not UTF-8, which the error below names
                pass
    return pyarrow.array(ids[:])


AnyRows = TypeVar("AnyRows", bound=Rows)


def select(rows: AnyRows, places: list[int], kept: np.ndarray | None = None) -> AnyRows:
    """The queries at some positions, perhaps only with the rows that are kept."""
    return rows._only(places, kept)


def id_set(name: str, ids: Iterable[Any]) -> AbstractSet[Any]:
    """Distinct ids of a caller's."""
    if isinstance(ids, (str, bytes)) or not isinstance(ids, Iterable):
        raise TypeError(f"{name} must be a collection of ids, got {type(ids).__name__} {quote(ids)}")
    return set(ids)


def restore_columns(
    kind: type[Rows], query_ids: list[Any], offsets: np.ndarray, ids: Any, numbers: np.ndarray, repairs: dict[Any, Any]
) -> Rows:
    """Rows from a pickle, which may be damaged."""
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
        raise ValueError(f"the pickled {kind._what} are damaged: ids, offsets and numbers do not fit together")
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
