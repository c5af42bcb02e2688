"""Pairing: which row of one argument belongs to which row of the argument beside it. The one rule for all arguments.

    both sides have ids     joined by id; no id in common is a NoOverlapError
    one side has ids        by position, for which the numbers of rows must be equal
    neither side            by position

Ids are a column of query ids, the keys of a dict, and the index of a pandas object. A default RangeIndex, 0 to n - 1,
is none: pandas gives it to every object without an index. Beside rows with this index (or beside the rows of a matrix,
whose query ids are their numbers) other integers are ambiguous, and never pass without a word:

    they permute 0 to n - 1     they are the numbers of the rows: pandas keeps them when it sorts or shuffles; a warning
    they do not                 they are left from a selection: by position, with a warning

Beside a list or array, which has no labels at all, rows are paired by position, with a warning for a permutation. The
columns of a frame share its index object, and their rows belong together whatever it holds.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from fastir.engine.columns.ids import is_integer
from fastir.engine.columns.rows import occurrences
from fastir.errors import DuplicateError, NoOverlapError, quote, warn_caller
from fastir.rendering.text import counted

NUMBERS, NONE = "numbers", "none"  # what a side without ids has: rows that are numbered from 0, or rows alone


class Side(NamedTuple):
    """One of two arguments that are paired."""

    name: str  # what messages call it
    n: int  # how many rows it has
    ids: Sequence[Any] | None  # of the rows, distinct or not; None for a side without ids
    index: Any = None  # the pandas index that has the ids
    without: str = NONE  # or NUMBERS, for a side without ids
    what: str = "query"  # what a row is, in messages


def pandas_index(data: Any) -> Any:
    """The index of a pandas object, or None."""
    return data.index if hasattr(data, "iloc") and hasattr(data, "index") else None


def is_default(labels: Any) -> bool:
    """Whether a pandas index is the RangeIndex from 0 by 1, which carries no ids."""
    return getattr(labels, "start", None) == 0 and getattr(labels, "step", None) == 1


def index_side(name: str, data: Any, n: int, without: str = NONE) -> Side:
    """The Side of data that has a pandas index, which holds its ids."""
    index = pandas_index(data)
    if index is None:
        return Side(name, n, None, None, without)
    return label_side(name, index, n)


def label_side(name: str, labels: Any, n: int, what: str = "query") -> Side:
    """The Side of rows or columns with these labels of pandas."""
    return Side(name, n, None if is_default(labels) else labels.tolist(), labels, NUMBERS, what)


def is_joined(a: Side, b: Side) -> bool:
    """Whether the rows of two sides are joined by id; False where row i of one belongs to row i of the other."""
    if a.ids is not None and b.ids is not None:
        if a.n == b.n and share_index(a.index, b.index):
            return False
        for side in (a, b):
            refuse_duplicates(side)
        return a.n != b.n or list(a.ids) != list(b.ids)
    joined = False
    if a.n == b.n and (a.ids is None) != (b.ids is None):
        with_ids, other = (b, a) if a.ids is None else (a, b)
        joined = numbers_join(with_ids, other)
    if a.n != b.n:
        plural = "columns" if a.what == "column" else "queries"
        raise ValueError(
            f"{a.name} has {counted(a.n, a.what, plural)} but {b.name} has {b.n}; they are paired by position, because "
            "one of them has no ids, so the numbers must be equal"
        )
    return joined


def share_index(a: Any, b: Any) -> bool:
    """Whether two pandas indexes are one object, as in two columns of a frame."""
    return a is not None and b is not None and (a is b or (hasattr(a, "is_") and bool(a.is_(b))))


def numbers_join(side: Side, other: Side) -> bool:
    """Whether the ids of a side are the numbers of the rows of the other, which has none; warns if that is open."""
    if side.index is None or getattr(side.index, "dtype", np.dtype(object)).kind not in "iu":
        return False
    labels = np.asarray(side.index)
    numbers = np.arange(side.n)
    if np.array_equal(labels, numbers):
        return False
    permuted = permutes_rows(side.index)
    joined = permuted and other.without == NUMBERS
    if not permuted and other.index is None:
        return False
    of = f"the {'columns' if side.what == 'column' else 'rows'} of {other.name}"
    if joined:
        done = f"permutes 0 to {side.n - 1}, so it is read as the numbers of {of}; {side.name}.reset_index(drop=True) "
        done += "pairs by position"
    elif permuted:
        done = f"permutes 0 to {side.n - 1}, but {other.name} has no ids: paired by position; {side.name}.sort_index() "
        done += "puts the rows in the order of the index"
    else:
        done = f"has other integers than that of {other.name}, which is a default RangeIndex: paired by position; give "
        done += "both sides the index of their queries, or neither"
    warn_caller(f"{side.name}: its index {done}")
    return joined


def refuse_duplicates(side: Side) -> None:
    """Raise DuplicateError for an id by which rows should be joined, and which is there twice."""
    ids = side.ids if side.ids is not None else ()
    if len(set(ids)) == len(ids):
        return
    first: dict[Hashable, int] = {}
    for place, row_id in enumerate(ids):
        if first.setdefault(row_id, place) < place:
            where = "columns" if side.what == "column" else "query ids" if side.index is None else "index"
            by_position = where == "index" and side.what == "query"
            remedy = f"; {side.name}.reset_index(drop=True) pairs by position" if by_position else ""
            raise DuplicateError(
                f"{side.name}: duplicate {side.what} {quote(row_id)} in the {where}, at positions {first[row_id]} and "
                f"{place}{remedy}"
            )


def plain_ids(side: Side) -> list[Any] | None:
    """The ids of a side as distinct str, or distinct int, where they can be query ids; else None."""
    if side.ids is None:
        return None
    kinds = set(map(type, side.ids))
    if not all(issubclass(kind, str) for kind in kinds):
        if bool in kinds or not all(issubclass(kind, (int, np.integer)) for kind in kinds):
            return None
        ids: list[Any] = list(map(int, side.ids))
    else:
        ids = list(map(str.__str__, side.ids))
    return ids if len(set(ids)) == len(ids) else None


def query_ids(side: Side) -> list[Any]:
    """The ids by which a side is joined, as exact str or int."""
    ids = plain_ids(side)
    if ids is None:
        rows = list(side.ids or ())
        kind = int if rows and is_integer(rows[0]) else str
        odd = next(row_id for row_id in rows if not (is_integer(row_id) if kind is int else isinstance(row_id, str)))
        raise TypeError(
            f"{side.name}: the index must hold query ids, str or int, got {type(odd).__name__} {quote(odd)}; "
            f"{side.name}.index.map(str) makes text of them, {side.name}.reset_index(drop=True) pairs by position"
        )
    return ids


def places_of(a: Side, b: Side) -> np.ndarray:
    """For each row of side a its row in side b, or -1; int64 of shape (a.n,). Both sides are joined by id."""
    ids, others = (range(side.n) if side.ids is None else side.ids for side in (a, b))
    row = {row_id: place for place, row_id in enumerate(others)}
    places = np.fromiter((row.get(row_id, -1) for row_id in ids), np.int64, a.n)
    if a.n and b.n and (places < 0).all():
        raise NoOverlapError(
            f"no {a.what} in common: {a.name} has {quote(next(iter(ids)))}, {b.name} has {quote(next(iter(others)))}"
        )
    return places


def permutes_rows(index: Any) -> bool:
    """Whether a pandas index has each of the numbers of its rows, 0 to n - 1."""
    if getattr(index, "dtype", np.dtype(object)).kind not in "iu" or not len(index):
        return False
    labels = np.asarray(index)
    if int(labels.min()) != 0 or int(labels.max()) != len(labels) - 1:
        return False
    return bool((occurrences(labels) == 1).all())


def warn_of_order(a: Any, b: Any, names: tuple[str, str]) -> None:
    """Warn where two pandas objects that are paired by position have indexes, or columns, that differ."""
    for labels in ("index", "columns"):
        sides: list[Any] = [getattr(data, labels, None) if hasattr(data, "iloc") else None for data in (a, b)]
        if any(side is None for side in sides) or share_index(*sides) or all(map(is_default, sides)):
            continue
        if any(map(is_default, sides)) and not all(map(permutes_rows, sides)):
            continue
        mine, others = (side.tolist() for side in sides)
        if len(mine) == len(others) and mine != others:
            place = next(place for place, label in enumerate(mine) if label != others[place])
            warn_caller(
                f"{names[0]} and {names[1]} are paired by position, but their {labels} differ: at position {place} "
                f"{names[0]} has {quote(mine[place])}, {names[1]} has {quote(others[place])}"
            )
