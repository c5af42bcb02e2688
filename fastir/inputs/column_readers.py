"""Readers of columns: the ids or the numbers of one column of some rows, of Arrow data, arrays and categories.

A value that is missing, or of another type, is named by its column and row; `tables` says which rows they are.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from fastir.engine.columns._ids import Ids, ids_from_codes, ids_from_integers, ids_from_strings
from fastir.engine.columns._objects import read_floats, read_integers
from fastir.errors import FormatError, quote


class ArrowReader:
    """A column of an Arrow batch."""

    def __init__(self, batch: Any, place: int) -> None:
        self.batch = batch
        self.place = place

    def read(self, what: str, name: str, row: int, values: Callable[[int], Any], expected: str, cast: str) -> Any:
        """What a method of the batch makes of the column, which has no null and is of a type that it takes."""
        try:
            null = self.batch.null(self.place)
            read = values(self.place) if null < 0 else None
        except ValueError as error:
            raise ValueError(f"{what}: column {quote(name)}, rows from {row} on: {error}") from None
        if null >= 0:
            raise ValueError(f"{what}: row {row + null}: {quote(name)} is null, its value is missing")
        if read is None:
            raise TypeError(
                f"{what}: column {quote(name)} must {expected}, got {self.batch.type_text(self.place)}; "
                f"cast it to {cast}"
            )
        return read

    def ids(self, what: str, name: str, row: int) -> Ids:
        return self.read(what, name, row, self.ids_at, "hold strings or integers", "string")

    def ids_at(self, place: int) -> Ids | None:
        """The ids of a column; None if it holds something else."""
        ids = self.batch.ids(place)
        is_float = ids is None and self.batch.type_text(place).startswith("float")
        return whole_ids(self.batch.numbers(place)) if is_float else ids

    def numbers(self, what: str, name: str, row: int) -> np.ndarray:
        return self.read(what, name, row, self.batch.numbers, "be numeric", "double")

    def wide_integers(self) -> np.ndarray | None:
        """The numbers, if they are integers that float64 may round; else None."""
        return self.batch.wide_integers(self.place)

    def head(self, place: int, n: int) -> Any:
        """The numbers in the first n rows of another column of the batch; None if they are none, or one is missing."""
        return None if self.batch.null(place) >= 0 else self.batch.numbers(place, n)


class ParsedColumn:
    """A column with Ids or numbers that are already read."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def ids(self, what: str, name: str, row: int) -> Ids:
        return self.values

    def numbers(self, what: str, name: str, row: int) -> np.ndarray:
        return self.values

    def wide_integers(self) -> None:
        return None


class ArrayReader:
    """A NumPy array of shape (n,)."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def ids(self, what: str, name: str, row: int) -> Ids:
        array = self.array
        if array.dtype.kind == "u" and array.size and array.max() >= 2**63:
            array = array.astype(str)
        if array.dtype.kind in "iu":
            return ids_from_integers(np.ascontiguousarray(array, np.int64))
        whole = whole_ids(array) if array.dtype.kind == "f" else None
        if whole is not None:
            return whole
        if array.dtype.kind not in "OUT":
            raise TypeError(f"{what}: column {quote(name)} must hold strings or integers, got dtype {array.dtype}")
        objects = np.ascontiguousarray(array, object)
        ids, odd = ids_from_strings(objects)
        if ids is None and odd == 0 and (numbers := read_integers(objects)) is not None:
            return ids_from_integers(numbers)
        if ids is None:
            ids, odd = ids_from_objects(objects.tolist())
        if ids is None:
            value = objects[odd]
            if is_missing(value):
                raise ValueError(f"{what}: row {row + odd}: {quote(name)} is missing, got {value!r}")
            raise TypeError(
                f"{what}: row {row + odd}: {quote(name)} must be a str or an int like the ids before it, "
                f"got {type(value).__name__} {quote(value)}"
            )
        return ids

    def numbers(self, what: str, name: str, row: int) -> np.ndarray:
        array = self.array
        if array.dtype.kind == "O":
            read = read_floats(np.ascontiguousarray(array))
            if read is not None:
                return read
            odd = next((i for i, value in enumerate(array) if isinstance(value, (str, bytes)) or value is None), None)
            if odd is not None:
                kind = ValueError if array[odd] is None else TypeError
                raise kind(
                    f"{what}: row {row + odd}: {quote(name)} must be numeric, got {type(array[odd]).__name__} "
                    f"{quote(array[odd])}; missing or of another type"
                )
        elif array.dtype.kind not in "iufb" or array.dtype.itemsize > 8:
            raise TypeError(f"{what}: column {quote(name)} must be numeric, got dtype {array.dtype}")
        try:
            return np.ascontiguousarray(array, np.float64)
        except (TypeError, ValueError) as error:
            if (odd := next((i for i, value in enumerate(array) if is_missing(value)), None)) is not None:
                raise ValueError(f"{what}: row {row + odd}: {quote(name)} is missing, got {array[odd]!r}") from None
            raise TypeError(f"{what}: column {quote(name)} must be numeric: {error}") from None

    def wide_integers(self) -> np.ndarray | None:
        return self.array if self.array.dtype.kind in "iuO" and self.array.dtype.itemsize == 8 else None


class CodeReader:
    """A categorical column: positions in a list of values; -1 is a missing one."""

    def __init__(self, codes: np.ndarray, values: np.ndarray) -> None:
        self.codes = codes
        self.values = values

    def refuse_missing(self, what: str, name: str, row: int) -> None:
        """Refuse a column with a missing value."""
        if len(self.codes) and self.codes.min() < 0:
            raise ValueError(f"{what}: row {row + int(self.codes.argmin())}: {quote(name)} is missing")

    def ids(self, what: str, name: str, row: int) -> Ids:
        self.refuse_missing(what, name, row)
        return ids_from_codes(np.ascontiguousarray(self.codes, np.int64), ArrayReader(self.values).ids(what, name, 0))

    def numbers(self, what: str, name: str, row: int) -> np.ndarray:
        self.refuse_missing(what, name, row)
        return ArrayReader(self.values).numbers(what, name, 0)[self.codes]

    def wide_integers(self) -> np.ndarray | None:
        values = ArrayReader(self.values).wide_integers()
        return None if values is None else values[self.codes]


class FileColumn:
    """A column of one of several files: errors name the file and its row."""

    def __init__(self, reader: Any, name: str, row: int) -> None:
        self.reader = reader
        self.name = name
        self.row = row

    def ids(self, what: str, name: str, row: int) -> Any:
        with self.naming():
            return self.reader.ids(what, name, self.row)

    def numbers(self, what: str, name: str, row: int) -> Any:
        with self.naming():
            return self.reader.numbers(what, name, self.row)

    def wide_integers(self) -> np.ndarray | None:
        return self.reader.wide_integers()

    @contextlib.contextmanager
    def naming(self) -> Iterator[None]:
        try:
            yield
        except (TypeError, ValueError) as error:
            raise FormatError(str(error), self.name) from None


def whole_ids(numbers: np.ndarray) -> Ids | None:
    """Floats that are whole numbers, and that float64 can tell apart, as integer ids; None if one is not."""
    with np.errstate(invalid="ignore"):
        is_whole = bool((np.abs(numbers) < 2**53).all()) and bool((numbers == np.trunc(numbers)).all())
    return ids_from_integers(np.ascontiguousarray(numbers, np.int64)) if is_whole else None


def is_missing(value: Any) -> bool:
    """Whether a value is missing: None, NaN, pandas' NA and NaT, or NumPy's masked."""
    different = value != value  # NA and masked answer with themselves
    return value is None or different is value or (isinstance(different, (bool, np.bool_)) and bool(different))


def ids_from_objects(objects: list[Any]) -> tuple[Ids | None, int]:
    """Ids of Python objects that are not all exact strings; (None, row) for the first that cannot be an id here."""
    strings = isinstance(objects[0], str)
    plain: list[Any] = []
    for row, value in enumerate(objects):
        if strings and isinstance(value, str):
            plain.append(str.__str__(value))
        elif not strings and isinstance(value, (int, np.integer)) and not isinstance(value, bool):
            plain.append(int(value))
        else:
            return None, row
    if strings or any(not -(2**63) <= value < 2**63 for value in plain):
        return ids_from_strings(as_objects(list(map(str, plain))))
    return ids_from_integers(np.array(plain, np.int64)), -1


def as_objects(values: Sequence[Any]) -> np.ndarray:
    """Values as an array of Python objects, also where they are sequences themselves."""
    array = np.empty(len(values), object)
    array[:] = values
    return array
