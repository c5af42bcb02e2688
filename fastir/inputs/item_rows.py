"""Rows of scores or of items, with the judged and excluded items beside them: paired by labels where both have them.

    scores   u1 u2 u3 u4     the rows that are evaluated: u2 u3 u4 in the order of the scores, then u9, which has none
    relevant u4 u9 u2 u3     u1 is a query of the run alone

Scores stay where they are; only the items are put into another order. Columns are paired the same way: a frame of
labels has its columns put into the order of the scores' columns, and items that are listed by the label of a column
become its number.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from fastir.engine.columns.ids import is_integer
from fastir.errors import NoOverlapError, quote, warn_caller
from fastir.inputs import arrays, pairing
from fastir.inputs.csr import Items, items
from fastir.inputs.pairing import NUMBERS, Side
from fastir.inputs.roles import QUERY
from fastir.rendering.text import counted


class CallerItems(NamedTuple):
    """The judged or the excluded items of a caller, which have rows of their own."""

    data: Any  # what `items` reads
    side: Side | None  # the ids of the rows; None where rows are numbers, or nothing is given


class ItemRows:
    """Which rows are evaluated, and the row of each in the scores, in the judged and in the excluded items.

    `scores` are the rows that rank items, which messages call `name`: scores of the items of the columns (`by_column`),
    or items in rank order. An iterator of blocks has no ids. `relevant` and `exclude` are what `items` reads, or what
    has labels.
    """

    relevant: CallerItems
    exclude: CallerItems

    def __init__(self, scores: Any, relevant: Any, exclude: Any, name: str, by_column: bool) -> None:
        self.ranked: Any = scores
        self.by_column: bool = by_column
        self.columns: Side | None = None
        self.item_numbers: dict[Any, int] = {}
        self.query_ids: Any = None  # the ids of the evaluated rows, where they have some
        self.scored: np.ndarray | None = (
            None  # the row of the scores of each that has one; None for all, in their order
        )
        self.n_missing: int = 0  # rows at the end that have no scores
        self.only_in_run: list[Any] = []  # the ids of rows of scores without judged items, which are not evaluated
        self.relevant_at: np.ndarray | None = None
        self.exclude_at: np.ndarray | None = None
        self.relevant, self.exclude = CallerItems(relevant, None), CallerItems(exclude, None)
        if not (is_labelled(scores) or is_labelled(relevant) or is_labelled(exclude)):
            return
        if is_frame(scores) and by_column:
            self.columns = columns_side(scores, name)
            self.item_numbers = {item: number for number, item in enumerate(self.columns.ids or ())}
            pairing.refuse_duplicates(self.columns)
        elif is_frame(scores):
            refuse_query_ids(scores, name)
        rows = rows_side(scores, name)
        self.relevant, self.exclude = (
            self.read(data, of, rows) for data, of in ((relevant, "relevant"), (exclude, "exclude"))
        )
        judged, excluded = self.relevant.side, self.exclude.side
        if rows is None:  # blocks: the number of rows is known at the end
            rows = Side(name, next((side.n for side in (judged, excluded) if side is not None), 0), None, None, NUMBERS)
        self.query_ids = pairing.plain_ids(rows)
        if judged is not None and pairing.is_joined(judged, rows):
            self.join(rows, judged)
        if excluded is not None and pairing.is_joined(excluded, rows):
            self.exclude_at = pairing.places_of(rows, excluded)
        elif exclude is not None and self.scored is not None:
            self.exclude_at = np.arange(rows.n)
        if self.exclude_at is not None:
            scored = self.exclude_at if self.scored is None else self.exclude_at[self.scored]
            self.exclude_at = np.concatenate([scored, np.full(self.n_missing, -1)])

    def read(self, data: Any, name: str, rows: Side | None) -> CallerItems:
        """Items with labels as what `items` reads, and the ids of their rows."""
        if is_frame(data):
            side = pairing.index_side(name, data, len(data), NUMBERS)
            matrix = self.label_matrix(data, name)
            return CallerItems(matrix, side if side.index is not None else None)
        if isinstance(data, Mapping):
            if rows is None or rows.ids is None or not has_row_ids(data, rows):
                return CallerItems(data if not self.item_numbers else self.number_dict(data, name), None)
            data = dict(data)
            entries = [entry if has_length(entry) else [entry] for entry in data.values()]
            return CallerItems(self.number_lists(entries, list(data), name), Side(name, len(data), list(data)))
        if hasattr(data, "iloc"):
            entries = [entry if has_length(entry) else [entry] for entry in data]
            side = pairing.index_side(name, data, len(entries), NUMBERS)
            return CallerItems(self.number_lists(entries, side.ids or range(side.n), name), side)
        listed = self.item_numbers and (isinstance(data, list) or self.is_array_of_items(data))
        return CallerItems(self.number_lists(list(data), range(len(data)), name) if listed else data, None)

    def is_array_of_items(self, data: Any) -> bool:
        """Whether an array has items of each row, rather than a label for each column."""
        if not isinstance(data, np.ndarray) or data.dtype == bool or not 1 <= data.ndim <= 2:
            return False
        return data.ndim == 1 or data.shape[1] != len(self.item_numbers)

    def join(self, rows: Side, judged: Side) -> None:
        """Choose the rows that are evaluated: rows of the scores that have judged items, then judged rows alone."""
        at = pairing.places_of(rows, judged)
        kept = at >= 0
        missing = np.ones(judged.n, bool)
        missing[at[kept]] = False
        self.n_missing = int(missing.sum())
        self.relevant_at = np.concatenate([at[kept], np.flatnonzero(missing)])
        if not kept.all():
            self.scored = np.flatnonzero(kept)
            self.only_in_run = [id_at(rows, int(row)) for row in np.flatnonzero(~kept)]
        if judged.ids is not None:
            own = pairing.plain_ids(judged)
            self.query_ids = None if own is None or rows.ids is None else [own[row] for row in self.relevant_at]
        self.warn(rows, judged, missing)

    def warn(self, rows: Side, judged: Side, missing: np.ndarray) -> None:
        """Say in one warning which rows are missing from one of the sides."""
        parts = []
        if self.n_missing:
            singular = f"query of {judged.name} is missing from {rows.name} and counts as an empty ranking"
            plural = f"queries of {judged.name} are missing from {rows.name} and count as empty rankings"
            example = id_at(judged, int(missing.argmax()))
            parts.append(f"{counted(self.n_missing, singular, plural)} (such as {quote(example)})")
        if self.only_in_run:
            singular = f"query of {rows.name} is not in {judged.name} and was ignored"
            plural = f"queries of {rows.name} are not in {judged.name} and were ignored"
            example = self.only_in_run[0]
            parts.append(f"{counted(len(self.only_in_run), singular, plural)} (such as {quote(example)})")
        if parts:
            warn_caller("; ".join(parts))

    def align_rows(self, rows: np.ndarray, empty: int) -> np.ndarray:
        """The evaluated rows of an array, and a row of `empty` for each that is missing."""
        if self.scored is not None:
            rows = rows[self.scored]
        if not self.n_missing:
            return rows
        return np.concatenate([rows, np.full((self.n_missing, rows.shape[1]), empty, rows.dtype)])

    # ---- items -----------------------------------------------------------------------------------------------------
    def label_matrix(self, frame: Any, name: str) -> Any:
        """A frame of labels, a column for each item, in the order of the columns of the scores; or its numbers."""
        values = np.asarray(frame.to_numpy())
        if self.columns is None:
            return values
        side = columns_side(frame, name)
        both = side.ids is not None and self.columns.ids is not None
        if not both and values.dtype != bool and (side.ids is None or side.n != self.columns.n):
            return values  # perhaps the items of each row
        if pairing.is_joined(side, self.columns):
            values = self.in_order(values, side)
        if values.dtype == bool:
            return values
        values = arrays.numbers(values, name, 2)
        marked = (values != 0) & (values == values)
        indptr = np.concatenate([[0], np.cumsum(marked.sum(axis=1))])
        return indptr, marked.nonzero()[1], values[marked]

    def in_order(self, values: np.ndarray, side: Side) -> np.ndarray:
        """The columns of a matrix of labels in the order of the scores' columns; a missing item is empty."""
        scores = self.columns
        if scores is None:
            raise RuntimeError("the scores have no columns with labels")
        at = pairing.places_of(scores, side)
        beside = np.ones(side.n, bool)
        beside[at[at >= 0]] = False
        judged = (values[:, beside] != 0) & (values[:, beside] == values[:, beside])
        if judged.any():
            row, column = np.argwhere(judged)[0].tolist()
            item = id_at(side, int(np.flatnonzero(beside)[column]))
            raise ValueError(f"{side.name}: item {quote(item)} of row {row} is no column of {scores.name}")
        ordered = np.zeros((len(values), len(at)), values.dtype)
        ordered[:, at >= 0] = values[:, at[at >= 0]]
        return ordered

    def number_dict(self, data: Mapping[Any, Any], name: str) -> dict[Any, Any]:
        return dict(zip(data, self.number_lists(list(data.values()), list(data), name), strict=True))

    def number_lists(self, entries: list[Any], row_ids: Any, name: str) -> list[Any]:
        """The items of each row as numbers of columns, where they are labels of columns."""
        if not self.item_numbers:
            return entries
        are_numbers = isinstance(next(iter(self.item_numbers)), Real)  # 1.0 is the label of item 1, too
        return [
            self.numbered_row(entry, are_numbers, f"of row {quote(row_id)}", name)
            for entry, row_id in zip(entries, row_ids, strict=True)
        ]

    def numbered_row(self, entry: Any, are_numbers: bool, row: str, name: str) -> Any:
        listed = entry if has_length(entry) else [entry]
        first = next(iter(listed), None)
        if first is None or isinstance(first, (bool, np.bool_)) or isinstance(first, Real) != are_numbers:
            return entry
        numbers = self.item_numbers
        for item in listed:
            if item not in numbers:
                raise ValueError(f"{name}: item {quote(item)} {row} is no column of scores")
        if isinstance(entry, Mapping):
            return {numbers[item]: label for item, label in entry.items()}
        places = [numbers[item] for item in listed]
        return places if has_length(entry) else places[0]

    def item_weights(self, doc_weights: Any) -> Any:
        """Weights of items by the number of their column, where they are given by its label."""
        if not self.item_numbers or not hasattr(doc_weights, "items"):
            return doc_weights
        if hasattr(doc_weights, "iloc") and pairing.is_default(doc_weights.index):
            return doc_weights
        if not any(key in self.item_numbers for key in doc_weights.keys()):  # noqa: SIM118 (a Series iterates over values)
            return doc_weights
        return {self.item_numbers[key]: w for key, w in doc_weights.items() if key in self.item_numbers}

    def judged_items(self, threshold: float | None) -> Items:
        """The judged items of the evaluated rows."""
        listed = items(self.relevant.data, "relevant", True, threshold, self.are_labels)
        return take_rows(listed, self.relevant_at)

    def excluded_items(self) -> Items:
        """The excluded items of the evaluated rows."""
        return take_rows(items(self.exclude.data, "exclude", False, None, self.are_labels), self.exclude_at)

    def are_labels(self, matrix: np.ndarray) -> bool:
        """Whether integers are a label for each item: where scores have as many columns.

        Beside ranked items: where these reach no further, and an integer that is twice in a row is no item.
        """
        width = matrix.shape[1]
        if self.by_column:
            return width == n_columns(self.ranked) != 1
        ranked = arrays.numbers(self.ranked, "indices", 2)
        return not (ranked.size and ranked.max() >= width) and any(map(repeats, (matrix[:1], matrix)))


def id_at(side: Side, row: int) -> Any:
    """The id of a row or column; its number where it has none."""
    return row if side.ids is None else side.ids[row]


def n_columns(scores: Any) -> int | None:
    """How many columns scores have: an array, nested sequences or a list of blocks."""
    if isinstance(scores, (list, tuple)) and len(scores):
        return len(scores[0]) if isinstance(scores[0], (list, tuple)) else n_columns(scores[0])
    shape = getattr(scores, "shape", ())
    return int(shape[-1]) if shape else None


def repeats(rows: np.ndarray) -> bool:
    """Whether an integer from 0 up occurs twice in a row."""
    rows = np.sort(rows, axis=1)
    return bool(((rows[:, 1:] == rows[:, :-1]) & (rows[:, 1:] >= 0)).any())


def take_rows(listed: Items, at: np.ndarray | None) -> Items:
    return listed if at is None else listed.take(at)


def has_length(entry: Any) -> bool:
    return (hasattr(entry, "__len__") and not isinstance(entry, (str, bytes))) or isinstance(entry, AbstractSet)


def is_frame(data: Any) -> bool:
    """Whether an object is a data frame, of pandas or of polars."""
    return hasattr(data, "columns") and hasattr(data, "to_numpy")


def is_labelled(data: Any) -> bool:
    """Whether an object may have labels of rows or of columns."""
    return is_frame(data) or pairing.pandas_index(data) is not None


def columns_side(frame: Any, name: str) -> Side:
    """The Side of the columns of a frame; columns of polars have names."""
    refuse_query_ids(frame, name)
    columns = frame.columns
    if hasattr(frame, "iloc"):
        return pairing.label_side(name, columns, len(columns), "column")
    return Side(name, len(columns), list(columns), None, NUMBERS, "column")


def refuse_query_ids(frame: Any, name: str) -> None:
    """Raise ValueError for a frame in which a column has the name of query ids: it would be read as an item's."""
    of_queries = next((column for column in QUERY if column in frame.columns), None)
    if of_queries is not None:
        remedy = f"{name}.set_index({of_queries!r})" if hasattr(frame, "iloc") else f"{name}.drop({of_queries!r})"
        raise ValueError(f"{name}: column {of_queries!r} has query ids, and each column must be an item; {remedy}")


def rows_side(scores: Any, name: str) -> Side | None:
    """The Side of the rows of scores; None for blocks, which have no ids and no number."""
    if isinstance(scores, (list, tuple)) and len(getattr(next(iter(scores), None), "shape", ())) == 2:
        return None
    shape = getattr(scores, "shape", ())
    if not (shape or hasattr(scores, "__len__")):
        return None
    n = shape[0] if shape else len(scores)
    return pairing.index_side(name, scores, n, NUMBERS)


def has_row_ids(data: Mapping[Any, Any], rows: Side) -> bool:
    """Whether the keys of a dict are ids of rows, rather than their numbers."""
    first = next(iter(data), None)
    return not is_integer(first) or any(isinstance(row_id, Real) for row_id in (rows.ids or ())[:1])


def align_scores(scores: Any, ranked: Any) -> Any:
    """Scores in the order of the rows of items that they rank, where both have ids."""
    if is_frame(scores):
        refuse_query_ids(scores, "scores")
    if not (is_frame(scores) and is_frame(ranked)):
        return scores
    sides = rows_side(scores, "scores"), rows_side(ranked, "indices")
    if sides[0] is None or sides[1] is None or not pairing.is_joined(sides[0], sides[1]):
        return scores
    at = pairing.places_of(sides[1], sides[0])
    if (at < 0).any():
        raise NoOverlapError(f"scores has no row {quote(id_at(sides[1], int((at < 0).argmax())))}, which indices has")
    return np.asarray(scores.to_numpy())[at]
