"""The items that belong to each row, in any form that recommenders use, as checked CSR."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.engine.columns.rows import list_of_each, offsets_from_sizes, repeat
from fastir.engine.measure._grades import coded, count_fractions, has_fractions
from fastir.engine.rank._labels import find_labels
from fastir.errors import quote
from fastir.inputs import arrays, label_arrays
from fastir.inputs.query_groups import offset_array

if TYPE_CHECKING:
    from fastir.engine.measure._grades import Grades


class Items:
    """Items of numbered rows; the items of row ``rows[i]`` are ``numbers[offsets[i]:offsets[i + 1]]``."""

    rows: np.ndarray  # int64, rising: the rows that have items
    offsets: np.ndarray  # int64 of shape (n + 1,)
    numbers: np.ndarray  # int64

    def __init__(self, rows: Any, offsets: Any, numbers: Any, labels: Any, shape: tuple[Any, ...], name: str) -> None:
        self.rows, self.offsets, self.numbers = (np.asarray(each, np.int64) for each in (rows, offsets, numbers))
        # int32 or float64 beside numbers; None where all are 1
        self.labels: np.ndarray | None = None if labels is None or (labels == 1).all() else labels
        self.shape = shape  # how many rows and items there are, as far as the caller said
        self.width: int | None = None  # numbers of each row, where they came as a matrix, or may be a mask of 0 and 1
        self.name = name
        self.fractions: tuple[int, int] = 0, 0  # the number of real-valued labels before coding, the row of the first
        self.is_listed: bool = labels is None  # without labels: an item that is there twice counts once
        self.repeats: tuple[int, int] = 0, 0  # how many items `repair` took out, and the row of the first
        self.largest: float = 1.0  # of such labels

    def offsets_between(self, start: int, stop: int) -> np.ndarray:
        """The offsets of the items of the rows from start to stop, and the end of the last; int64."""
        return self.offsets[np.searchsorted(self.rows, np.arange(start, stop + 1))]

    def check(self, n_rows: int, what: str) -> None:
        """Raise ValueError if these cannot be the items of `n_rows` rows of `what`."""
        if self.shape[0] not in (None, n_rows):
            raise ValueError(f"{what} has {n_rows} rows but {self.name} has {self.shape[0]}; lengths must match")
        if len(self.rows) and not 0 <= self.rows[0] <= self.rows[-1] < n_rows:
            row = self.rows[0] if self.rows[0] < 0 else self.rows[-1]
            raise ValueError(f"{self.name} has a row {row}, but {what} has the rows 0 to {n_rows - 1}; out of range")

    def take(self, at: np.ndarray) -> Items:
        """These items in other rows: row i gets the items of row at[i], or none if at[i] is -1."""
        place = np.searchsorted(self.rows, at)
        found = (place < len(self.rows)) & (at >= 0)
        found[found] = self.rows[place[found]] == at[found]
        firsts, sizes = np.zeros(len(at), np.int64), np.zeros(len(at), np.int64)
        firsts[found] = self.offsets[place[found]]
        sizes[found] = self.offsets[place[found] + 1] - firsts[found]
        offsets = offsets_from_sizes(sizes)
        entries = repeat(firsts - offsets[:-1], sizes) + np.arange(offsets[-1])
        labels = None if self.labels is None else self.labels[entries]
        n_rows = None if self.shape[0] is None else len(at)
        taken = Items(np.arange(len(at)), offsets, self.numbers[entries], labels, (n_rows, self.shape[1]), self.name)
        taken.width, taken.is_listed = self.width, self.is_listed
        return taken

    def repair(self) -> bool:
        """Leave one of the items that a row lists twice; False if there is none, or if they have labels."""
        if not self.is_listed:
            return False
        owners = list_of_each(self.offsets)
        order = np.lexsort((self.numbers, owners))  # stable: the first stays
        same = (np.diff(owners[order]) == 0) & (np.diff(self.numbers[order]) == 0)
        if not same.any():
            return False
        kept = np.ones(len(owners), bool)
        kept[order[1:][same]] = False
        self.repeats = int(same.sum()), int(self.rows[owners[int(kept.argmin())]])
        self.offsets, self.numbers = offsets_from_sizes(kept)[self.offsets], self.numbers[kept]
        return True

    def code_labels(self) -> Grades | None:
        """Replace real-valued labels by codes, and return the Grades that decode them, or None if all are integers."""
        if self.labels is None or self.labels.dtype == np.int32:
            return None
        n, place = count_fractions(self.labels, self.offsets)
        self.fractions = n, int(self.rows[place])
        grades, (self.labels,) = coded(self.labels)
        self.largest = grades.largest
        return grades

    def first_fraction(self, grades: Grades) -> tuple[float, str]:
        """The first real-valued label and its position in words, once the labels are codes."""
        codes = np.asarray(self.labels)
        labels = np.where(codes < 0, 0, grades.labels[codes])
        place = int(np.argmax(labels != np.trunc(labels)))
        row = self.rows[int(np.searchsorted(self.offsets, place, "right")) - 1]
        return float(labels[place]), f"row {row}, item {self.numbers[place]}"

    def check_columns(self, n_columns: int, what: str) -> None:
        """Raise ValueError if the caller gave another number of items than `what` has columns."""
        if self.shape[1] not in (None, n_columns):
            raise ValueError(f"{what} has {n_columns} columns but {self.name} has {self.shape[1]}; shapes must match")
        if self.width == n_columns > 1:  # a mask of 0 and 1 would be read as the items 0 and 1
            raise ValueError(
                f"{self.name} has a number for each of the {n_columns} columns of {what}; expected a mask of bools, "
                "labels as an array of floats or a sparse matrix, or the items of each row"
            )

    def check_labels(self, limits: list[tuple[int, str, str]]) -> None:
        """Refuse a label above a metric's limit."""
        for limit, text, why in limits:
            if self.labels is not None and self.labels.max() > limit:
                place = int(self.labels.argmax())
                raise OverflowError(
                    f"metric {quote(text)}: label {self.labels[place]} is too large for {why} "
                    f"({entry_name(self.rows, self.offsets, self.numbers, place)})"
                )


def items(
    data: Any,
    name: str,
    labelled: bool = True,
    threshold: float | None = None,
    are_labels: Callable[[np.ndarray], bool] = lambda matrix: False,
) -> Items:
    """Items as the caller has them; messages call them `name`.

    What has ``tocsr`` is a matrix of labels; a tuple of two or three arrays is such a matrix as indptr, indices and
    labels; a mapping has the items of a row by its number, and anything else one after the other: an array of integers,
    or a mapping from items to labels. One number for each row is its only item. A matrix of bools is a mask, dense or
    sparse; one of floats has a label for each item, and one of integers where `are_labels` says so. None is nothing.
    Where labels do not matter (not `labelled`) they may be anything, such as weights that are fractions. Ratings from
    the `threshold` on become the label 1, the others 0.
    """
    if data is None:
        none = np.zeros(1, np.int64)
        return Items(none[1:], none, none[1:], None, (None, None), name)
    if hasattr(data, "tocsr"):
        data = data.tocsr()
        if data.dtype == bool and not data.data.all():  # a False that is stored is no item
            data = data.copy()
            data.eliminate_zeros()
        labels = data.data if labelled else None
        return items_from_csr(data.indptr, data.indices, labels, name, ".data", data.shape[1], threshold)
    if isinstance(data, tuple):
        if len(data) not in (2, 3):
            raise ValueError(
                f"{name}: a tuple must hold indptr, indices and perhaps labels, got {len(data)} entries; "
                "one entry per row comes as a list"
            )
        labels = data[2] if len(data) == 3 and labelled else None
        return items_from_csr(data[0], data[1], labels, name, "[2]", None, threshold)
    if isinstance(data, Mapping):
        return items_from_mapping(list(data), list(data.values()), name, labelled, threshold)
    matrix = read_matrix(data, name, are_labels)
    if matrix is not None:
        return items_from_matrix(matrix, name, labelled, threshold)
    try:
        rows = list(data)
    except TypeError:
        raise TypeError(
            f"{name} must be a sparse matrix, a tuple (indptr, indices, labels), a dict or a list with the "
            f"items of each row, got {type(data).__name__}"
        ) from None
    if rows and hasattr(rows[0], "__index__") and getattr(rows[0], "shape", ()) == () and not isinstance(rows[0], bool):
        refuse_threshold(threshold, name)
        numbers = np.ascontiguousarray(arrays.integers(data if hasattr(data, "dtype") else rows, name))
        return Items(np.arange(len(rows)), np.arange(len(rows) + 1), numbers, None, (len(rows), None), name)
    keyed_items = items_from_mapping(range(len(rows)), rows, name, labelled, threshold)
    keyed_items.shape = (len(rows), None)
    counts = np.diff(keyed_items.offsets)
    is_matrix = len(getattr(data, "shape", ())) == 2
    if len(counts) and (is_matrix or ((counts == counts[0]).all() and keyed_items.numbers.max(initial=0) <= 1)):
        keyed_items.width = int(counts[0])
    return keyed_items


def items_from_csr(
    indptr: Any, indices: Any, labels: Any, name: str, third: str, n_items: int | None, threshold: float | None
) -> Items:
    """Items that come as CSR."""
    numbers = arrays.numbers(indices, f"indices of {name}")
    offsets = offset_array(indptr, len(numbers), f"offsets of {name}", f"indices of {name}")
    numbers = np.ascontiguousarray(arrays.integers(numbers, f"indices of {name}"))
    rows = np.arange(len(offsets) - 1)
    if labels is not None:
        labels = arrays.numbers(labels, name + third)
        if len(labels) != len(numbers):
            raise ValueError(
                f"{name}{third} has {len(labels)} entries but there are {len(numbers)} indices; lengths must match"
            )
        labels = convert_labels(labels, rows, offsets, numbers, name, threshold)
    else:
        refuse_threshold(threshold, name)
    return Items(rows, offsets, numbers, labels, (len(rows), n_items), name)


def read_matrix(data: Any, name: str, are_labels: Callable[[np.ndarray], bool]) -> np.ndarray | None:
    """A matrix with a label, or True, for each item of a row; None for data that list the items."""
    first = data[0] if isinstance(data, (list, tuple)) and data else None
    listed = isinstance(first, (list, tuple)) and len(first) > 0 and isinstance(first[0], (bool, np.bool_))
    if listed or str(getattr(first, "dtype", "")) == "bool":
        return arrays.numbers(np.asarray(data), name, 2)
    if len(getattr(data, "shape", ())) != 2:
        return None
    array = arrays.numbers(data, name, 2)
    return array if array.dtype.kind in "bf" or are_labels(array) else None


def items_from_matrix(matrix: np.ndarray, name: str, labelled: bool, threshold: float | None) -> Items:
    """The items of a matrix that have another label than 0."""
    matrix = np.ascontiguousarray(matrix)
    rows = np.arange(len(matrix))
    offsets, numbers = find_labels(matrix)
    labels = None
    if matrix.dtype == bool:
        refuse_threshold(threshold, name)
    elif labelled:
        labels = matrix[list_of_each(offsets), numbers]
        labels = convert_labels(labels, rows, offsets, numbers, name, threshold)
    return Items(rows, offsets, numbers, labels, matrix.shape, name)


def items_from_mapping(
    keys: Any, rows: list[Any], name: str, labelled: bool = True, threshold: float | None = None
) -> Items:
    """Items that come row by row, in any order of the rows' numbers."""
    keys = arrays.integers(keys if isinstance(keys, range) else row_numbers(keys, name), name)
    if (np.diff(keys) < 0).any():
        order = np.argsort(keys).tolist()
        keys, rows = keys[order], [rows[place] for place in order]
    names = [f"{name}: row {key}" for key in keys.tolist()]
    numbers = concatenate_rows(
        [list(row) if isinstance(row, (AbstractSet, Mapping)) else row for row in rows], names, arrays.integers
    )
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    labels = None
    if not all(isinstance(row, Mapping) for row in rows):
        refuse_threshold(threshold, name)
    if labelled and any(isinstance(row, Mapping) for row in rows):
        values = [list(row.values()) if isinstance(row, Mapping) else [1] * len(row) for row in rows]
        labels = convert_labels(
            concatenate_rows(values, [f"{text}, labels" for text in names], arrays.numbers),
            keys,
            offsets,
            numbers,
            name,
            threshold,
        )
    return Items(keys, offsets, numbers, labels, (None, None), name)


def concatenate_rows(rows: list[Any], names: list[str], read: Callable[[Any, str], np.ndarray]) -> np.ndarray:
    """The numbers of all rows in one array; `read` reads one row and takes its name for messages."""
    kinds = {type(row) for row in rows}
    with contextlib.suppress(TypeError, ValueError, OverflowError):
        if kinds == {np.ndarray}:
            return read(np.concatenate(rows), "")
        if kinds <= {list, tuple}:
            return read(list(itertools.chain.from_iterable(rows)), "")
    parts = [read(row, name) for row, name in zip(rows, names, strict=True)]
    return np.concatenate([np.zeros(0, np.int64), *parts])


def row_numbers(keys: list[Any], name: str) -> list[Any]:
    for key in keys:
        if not hasattr(key, "__index__") or isinstance(key, bool):
            raise TypeError(f"{name}: the keys of a dict must be row numbers, got {type(key).__name__} {quote(key)}")
    return keys


def refuse_threshold(threshold: float | None, name: str) -> None:
    """Raise ValueError if a caller who gave a threshold gave no ratings."""
    if threshold is not None:
        raise ValueError(
            f"threshold needs ratings, and {name} has no ratings; expected a sparse matrix of "
            "them, or {item: rating} for each row"
        )


def convert_labels(
    labels: np.ndarray, rows: np.ndarray, offsets: np.ndarray, numbers: np.ndarray, name: str, threshold: float | None
) -> np.ndarray:
    """Labels as int32, as float64 if some are real-valued, or 1 and 0 by a threshold; errors name row and item."""
    if threshold is not None:
        missing = np.isnan(labels)
        if missing.any():
            place = int(missing.argmax())
            raise ValueError(f"{name}: rating nan is not a number ({entry_name(rows, offsets, numbers, place)})")
        return (labels >= threshold).astype(np.int32)
    if labels.dtype.kind == "f":
        finite = np.isfinite(labels)
        if not finite.all():
            place = int(finite.argmin())
            raise ValueError(
                f"{name}: label {labels[place]} is not finite ({entry_name(rows, offsets, numbers, place)})"
            )
    if labels.size and (labels.max() > 2**31 - 1 or labels.min() < -(2**31)):
        raise label_arrays.out_of_range(name)
    return labels.astype(np.float64 if has_fractions(labels) else np.int32)


def entry_name(rows: np.ndarray, offsets: np.ndarray, numbers: np.ndarray, place: int) -> str:
    row = int(np.searchsorted(offsets, place, "right")) - 1
    return f"row {rows[row]}, item {numbers[place]}"
