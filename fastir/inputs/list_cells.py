"""Lists of ids as text: in the cells of a column, and in JSON files {query: [id, ...]}.

All cells of a column have one form: lists in brackets, as JSON, Python and NumPy print them, or ids with commas or with
blanks between them. The report names it. Nothing is evaluated: `_parsing` finds the ids, and only strings with a
backslash are read by json, or by Python's reader of literals, each by itself.
"""

from __future__ import annotations

import itertools
from ast import literal_eval
from collections.abc import Sequence
from typing import Any

import numpy as np

from fastir.engine.columns._ids import Ids, encode, ids_from_arena, ids_from_integers, ids_from_strings
from fastir.engine.columns._parsing import lists_from_json, read_cells, records_from_json, strings_from_json, survey
from fastir.engine.columns.ids import Arena, arena_from_pieces
from fastir.engine.columns.rows import CELLS, offsets_from_sizes
from fastir.errors import quote
from fastir.inputs.column_readers import as_objects

MAX_LITERAL = 1 << 12  # characters of a string that Python's reader is given
SHOWN = 40  # characters of a cell in a message
BRACKETS, COMMAS, BLANKS, SPACED = range(4)
WHOLE = (2, 8)  # the problems of a cell as a whole
PROBLEMS = (  # by _parsing's numbers
    "",
    "the list has a gap, a comma without an id",
    "the list does not end: ']' or a quotation mark is missing",
    "the list holds another list or an object; expected ids",
    "the list holds what is neither a string in quotation marks nor an integer",
    "a comma is missing between two ids of the list",
    "text follows the list",
    "the list holds strings and integers; expected one of them",
    "the list has ']' at its end and no '[' at its beginning",
    "the list has a comma, where blanks separate the ids before",
    "the list was cut when NumPy printed it; numpy.set_printoptions(threshold=sys.maxsize) has it print all",
)


class CellError(ValueError):
    """What is wrong in a row of a column of lists; `row` is its number."""

    def __init__(self, message: str, row: int) -> None:
        super().__init__(message)
        self.row = row


def lists_in_cells(cells: Sequence[Ids], what: str) -> tuple[np.ndarray, Ids, dict[str, tuple[int, str]]]:
    """The lists in the cells of a column: where each begins among the ids, the ids, and the form of the cells.

    The texts of the column come in one piece or several; messages call it `what`.
    """
    arena = arena_from_pieces([(piece, 0, len(piece)) for piece in cells])
    text, starts, lengths = arena.text, arena.starts, arena.lengths
    form, room = find_form(arena, what)
    offsets, places, sizes, integers, escapes, spaced, problem = read_cells(
        text, starts, lengths, BLANKS if form is None else form, room
    )
    if problem is not None:
        number, row, at = problem
        cell = arena[row : row + 1][0]
        end = int(starts[row] + lengths[row])
        shown = text[at : min(at + SHOWN, end)].tobytes().decode("utf-8", "replace")
        where = f"{quote(shown)} in " if number not in WHOLE and shown else ""
        raise CellError(f"{what}: row {row}: {PROBLEMS[number]}: {where}{quote(cell, SHOWN)}", row)
    noted = {} if form is None else {CELLS[SPACED if spaced else form]: (len(arena), what)}
    if integers:
        return offsets, ids_from_integers(places.copy()), noted
    docs = without_escapes(text, places, sizes) if escapes else Arena(text, places, sizes)
    return offsets, ids_from_arena(docs), noted


def flatten(lists: Sequence[Sequence[Any]]) -> tuple[np.ndarray, Any]:
    """Where lists of strings begin among all of their ids, and these; None for ids that are not all strings."""
    flat = list(itertools.chain.from_iterable(lists))
    return offsets_from_sizes(list(map(len, lists))), ids_from_strings(as_objects(flat))[0]


def find_form(arena: Arena, what: str) -> tuple[int | None, int]:
    """The form of all cells, None if each has no more than one id; and how many ids there can be."""
    *first_rows, room = survey(arena.text, arena.starts, arena.lengths)
    bracket, plain, comma, blank = first_rows

    def show_cell(row: int) -> str:
        return f"{quote(arena[row : row + 1][0], SHOWN)} (row {row})"

    if bracket >= 0 and plain >= 0:
        raise CellError(
            f"{what}: some cells are lists in brackets, such as {show_cell(bracket)}, and others are not, such as "
            f"{show_cell(plain)}; expected one form in the whole column",
            max(bracket, plain),
        )
    if comma >= 0 and blank >= 0:
        raise CellError(
            f"{what}: commas or blanks could separate the ids: {show_cell(comma)} has a comma, "
            f"{show_cell(blank)} a blank; expected one separator in the whole column, or lists in brackets",
            max(comma, blank),
        )
    if bracket >= 0:
        return BRACKETS, room
    return (COMMAS if comma >= 0 else BLANKS if blank >= 0 else None), room


def without_escapes(text: np.ndarray, starts: np.ndarray, lengths: np.ndarray, is_json: bool = False) -> Arena:
    """Strings between quotation marks, some with a backslash, as ids; escapes of Python are refused in JSON."""
    marks = np.flatnonzero(text == ord("\\"))
    rows = np.flatnonzero(np.searchsorted(marks, starts + lengths) > np.searchsorted(marks, starts))
    made = strings_from_json(text, starts[rows], lengths[rows])
    if made is None:
        spans = zip(starts[rows].tolist(), (starts + lengths)[rows].tolist(), strict=True)
        data = text.tobytes()
        read = [encode(read_string(data[first - 1 : stop + 1], is_json)) for first, stop in spans]
        made = np.frombuffer(b"".join(read), np.uint8), np.fromiter(map(len, read), np.int64, len(read))
    strings, sizes = made
    starts, lengths = starts.copy(), lengths.copy()
    lengths[rows] = sizes
    starts[rows] = len(text) + np.cumsum(sizes) - sizes
    return Arena(np.concatenate([text, strings]), starts, lengths)


def read_string(span: bytes, is_json: bool) -> str:
    """A string in quotation marks; a ValueError if neither JSON nor, outside of it, Python writes it so."""
    import json

    text = span.decode("utf-8", "surrogateescape")
    try:
        return json.loads(text)
    except ValueError:
        if is_json:
            raise
        if len(text) > MAX_LITERAL:
            raise ValueError(f"the string {quote(text, SHOWN)} is too long to have escapes of Python") from None
    try:
        return literal_eval(text)
    except (ValueError, SyntaxError, MemoryError):
        raise ValueError(f"the string {quote(text, SHOWN)} has an escape that neither JSON nor Python has") from None


def lists_in_json(
    content: bytes, keys: Sequence[str] = (), query: str = "", docs: str = ""
) -> tuple[list[Any], np.ndarray, Ids] | None:
    """The query ids, offsets and ids of the text {query: [id, ...]}; None if something in it is unusual.

    With keys, of the text [{key: value, ...}, ...], where `query` and `docs` are those of the query and of the list.
    """
    import json

    if keys:
        texts = [json.dumps(key).encode() for key in keys]
        read = records_from_json(content, texts, keys.index(query), keys.index(docs))
    else:
        read = lists_from_json(content)
    if read is None:
        return None
    found, offsets, places, sizes, integers, escapes = read
    text = np.frombuffer(content, np.uint8)
    try:
        query_ids = list(map(key_text, found))
        arena = without_escapes(text, places, sizes, True) if escapes else Arena(text, places, sizes)
    except ValueError:
        return None
    return query_ids, offsets, ids_from_integers(places.copy()) if integers else ids_from_arena(arena)


def key_text(key: bytes) -> str | int:
    """A query id from its text in JSON."""
    if key[:1] != b'"':
        return int(key)
    return read_string(key, True) if b"\\" in key else key[1:-1].decode("utf-8", "surrogateescape")
