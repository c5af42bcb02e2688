"""Ids: how one is checked and turned into bytes, and Arena, many ids as bytes in one array."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fastir.engine.columns._ids import Ids, encode, id_texts, ids_from_arena, ids_from_integers
from fastir.errors import quote

ID_ATTRIBUTES = ("id", "doc_id", "docid", "node_id")  # of documents of LangChain, Haystack, Pyserini, LlamaIndex


def is_integer(value: Any) -> bool:
    """Whether an id is an integer, of Python or of NumPy; a bool is not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def id_attribute(value: Any) -> str | None:
    """The attribute in which a document of some library has its id; None of an id itself, and of what has none."""
    if isinstance(value, str) or is_integer(value):
        return None
    return next((name for name in ID_ATTRIBUTES if hasattr(value, name)), None)


def plain_id(value: Any, integers: bool, what: str) -> str | int:
    """An id as an exact str or int; the ids of one side are all of one kind."""
    if isinstance(value, str) and not integers:
        return str.__str__(value)
    if is_integer(value) and integers:
        return int(value)
    kind = "an int like those before it" if integers else "a str"
    attribute = id_attribute(value)
    hint = f"; pass its attribute {attribute}" if attribute else ""
    raise TypeError(f"{what} must be {kind}, got {type(value).__name__} {quote(value)}{hint}")


def plain_ids(values: Sequence[Any], integers: bool, what: Callable[[int], str]) -> list[Any]:
    """Ids as exact str or int; in an error `what` names the one at a position, counted from 1."""
    kinds = set(map(type, values))
    if integers and bool not in kinds and all(issubclass(kind, (int, np.integer)) for kind in kinds):
        return list(map(int, values))
    if not integers and all(issubclass(kind, str) for kind in kinds):
        return list(map(str.__str__, values))
    return [plain_id(value, integers, what(place)) for place, value in enumerate(values, 1)]


class Arena:
    """Ids as bytes, in one array.

    Parameters
    ----------
    text : uint8 array of shape (n_bytes,), not empty
    starts, lengths : int64 arrays of shape (n,)
        `lengths` may be None: each id ends where the next one starts, and `starts`, which may be int32 then, has one
        entry more, where the last one ends.
    integers : bool
        Whether they are the decimal text of ids that were integers.
    """

    __slots__ = ("_lengths", "_starts", "integers", "offsets", "text")

    def __init__(
        self, text: np.ndarray, starts: np.ndarray, lengths: np.ndarray | None, integers: bool = False
    ) -> None:
        self.text: np.ndarray = text if len(text) else np.zeros(1, np.uint8)
        self._starts, self._lengths = starts, lengths
        self.offsets: np.ndarray | None = starts if lengths is None else None
        self.integers: bool = integers

    @property
    def starts(self) -> np.ndarray:
        return self._starts if self.offsets is None else self.offsets[:-1].astype(np.int64, copy=False)

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(self._starts).astype(np.int64, copy=False) if self._lengths is None else self._lengths

    @classmethod
    def of(cls, ids: list[Any]) -> Arena:
        """From str or int objects, all of one type."""
        integers = bool(ids) and type(ids[0]) is int
        texts: list[Any] = list(map(str, ids)) if integers else ids
        whole = "".join(texts)
        if whole.isascii():  # an id then has as many bytes as characters
            data = whole.encode()
        else:
            texts = list(map(encode, texts))
            data = b"".join(texts)
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        return cls(np.frombuffer(data, np.uint8), np.cumsum(lengths) - lengths, lengths, integers)

    def __len__(self) -> int:
        return len(self._starts) - (self._lengths is None)

    def __getitem__(self, rows: slice) -> list[Any]:
        """The ids of some rows, as str or int."""
        some = self.take(rows)
        ids = id_texts(some.text, np.ascontiguousarray(some.starts), np.ascontiguousarray(some.lengths))
        return list(map(int, ids)) if self.integers else ids

    def take(self, rows: slice | np.ndarray) -> Arena:
        """The ids of some rows, with the same bytes."""
        if self.offsets is None:
            return Arena(self.text, self.starts[rows], self.lengths[rows], self.integers)
        offsets = self.offsets.astype(np.int64, copy=False)
        starts = offsets[:-1][rows]
        return Arena(self.text, starts, offsets[1:][rows] - starts, self.integers)

    def __reduce__(self) -> tuple[Any, ...]:
        return restore_arena, (self.text, self.starts, self.lengths, self.integers)


def join_ids(pieces: list[tuple[Ids, int, int]]) -> Ids:
    """One column of the rows of several: pieces are (Ids, first row, row behind the last), all of one kind."""
    if len(pieces) == 1 and pieces[0][1:] == (0, len(pieces[0][0])):
        return pieces[0][0]
    if pieces[0][0].integers:
        return ids_from_integers(np.concatenate([ids.numbers(first, stop) for ids, first, stop in pieces]))
    return ids_from_arena(arena_from_pieces(pieces))


def arena_from_pieces(pieces: list[tuple[Ids, int, int]]) -> Arena:
    """The rows of several columns of one kind, as `join_ids` has them, as an Arena; integers as their decimal text."""
    if len(pieces) == 1:
        ids, first, stop = pieces[0]
        text, starts, lengths = ids.copy(first, stop - first)
        return Arena(text, starts, lengths, ids.integers)
    copies = [ids.copy(first, stop - first) for ids, first, stop in pieces]
    starts, used = [], 0
    for text, places, _ in copies:
        starts.append(places + used)
        used += len(text)
    text = np.concatenate([text for text, _, _ in copies] + [np.zeros(1, np.uint8)])
    lengths = np.concatenate([lengths for _, _, lengths in copies])
    return Arena(text, np.concatenate(starts), lengths, pieces[0][0].integers)


def restore_arena(text: np.ndarray, starts: np.ndarray, lengths: np.ndarray, integers: bool) -> Arena:
    """An Arena from a pickle, which may be damaged."""
    arrays = (text, np.uint8), (starts, np.int64), (lengths, np.int64)
    if (
        not all(type(array) is np.ndarray and array.ndim == 1 and array.dtype == dtype for array, dtype in arrays)
        or len(starts) != len(lengths)
        or (starts < 0).any()
        or (lengths < 0).any()
        or (starts > len(text) - lengths).any()
    ):
        raise ValueError("the pickled ids are damaged: one lies outside their text")
    return Arena(text, starts, lengths, bool(integers))
