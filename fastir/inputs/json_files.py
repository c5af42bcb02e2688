"""JSON files: ``{query_id: {doc_id: number}}``, as ranx, BEIR and users of pytrec_eval write them, and the exports of
engines that `engine_json` knows.

The usual file is read by `_json`. What is unusual in any way is left to the json module, from which objects come as
tuples of pairs, so that a duplicate key is seen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.columns._json import rows_from_json
from fastir.columns.ids import Arena
from fastir.columns.line_formats import bare
from fastir.errors import FormatError, quote
from fastir.inputs.dicts import LABELS
from fastir.inputs.files import Source
from fastir.inputs.grouping import gather

if TYPE_CHECKING:
    from fastir.inputs.files import Path, Repairs, Watch

Pairs = tuple[tuple[str, Any], ...]  # a JSON object

INF = float("inf")
LOWEST_LABEL, HIGHEST_LABEL = LABELS


class Written(str):
    """A number as it is written."""


def read(
    path: Path, is_run: bool, duplicates: str | None, watch: Watch | None = None
) -> tuple[list[str], np.ndarray, Arena, np.ndarray, Repairs]:
    """Read a JSON file as columns; see `formats`."""
    with Source(path) as source:
        content = source.read_all(watch)
    path = source.path
    if not content or content.isspace():
        raise FormatError(f"the {'run' if is_run else 'qrels'} file is empty", path)
    if b"\0" in content:
        raise FormatError("the file holds a NUL byte; it looks truncated, binary or UTF-16", path)
    plain = rows_from_json(content)
    if plain is None or (not is_run and not in_range(plain[4])):
        queries, first_rows, ids, numbers = unusual_rows(content, is_run, path)
    else:
        queries, first_rows, starts, lengths, numbers = plain
        ids = Arena(np.frombuffer(content, np.uint8), starts, lengths)
    grouped = gather(queries, np.array(first_rows), ids, numbers, is_run, duplicates, path, watch=watch)
    query_ids, offsets, ids, numbers, repairs = grouped
    return query_ids, offsets, ids, numbers, {**source.repairs, **repairs}


def unusual_rows(content: bytes, is_run: bool, path: str) -> tuple[list[str], list[int], Arena, np.ndarray]:
    """Any JSON that can be read, as queries, the first row of each, and documents and numbers of the rows."""
    text = content.decode("utf-8", "surrogateescape")
    queries = judged_or_ranked(parsed(text, path, float), is_run, path)
    if not queries:
        raise FormatError(f"the {'run is' if is_run else 'qrels are'} empty: no query", path)
    rows = [row for _, documents in queries for row in documents]
    numbers = number_array([number for _, number in rows], is_run)
    if numbers is None:  # infinite scores are valid; a number too large for a float differs from them only in its text
        check(judged_or_ranked(parsed(text, path, Written), is_run, path), is_run, path)
        numbers = np.array([number for _, number in rows], float)
    sizes = [len(documents) for _, documents in queries]
    first_rows = np.cumsum([0, *sizes[:-1]]).tolist()
    return [query for query, _ in queries], first_rows, Arena.of([doc_id for doc_id, _ in rows]), numbers


def parsed(text: str, path: str, number: Callable[[str], Any]) -> Any:
    """The data of JSON text, with objects as tuples of pairs and numbers as `number` makes them from their text."""
    import json

    try:
        return json.loads(text, object_pairs_hook=tuple, parse_float=number, parse_int=number)
    except json.JSONDecodeError as error:
        message = f"malformed JSON at character {error.colno}: {error.msg}"
        raise FormatError(message, path, error.lineno, None, text[error.pos : error.pos + 80]) from None
    except RecursionError:
        raise FormatError("malformed JSON: nested too deeply", path) from None


def judged_or_ranked(data: Any, is_run: bool, path: str) -> tuple[tuple[str, Pairs], ...]:
    """The documents of each query, from an object of objects or an engine's export."""
    filtered = type(data) is tuple and [key for key, _ in data] == ["hits"]  # all that was asked of a response
    if type(data) is list or filtered or (type(data) is tuple and any(type(value) is not tuple for _, value in data)):
        from fastir.inputs import engine_json

        rows = engine_json.engine_rows(data, is_run, path)
        if rows is not None:
            return rows
    return objects(data, is_run, path)


def objects(data: Any, is_run: bool, path: str) -> tuple[tuple[str, Pairs], ...]:
    """The pairs of the outer object, whose values are checked to be objects."""
    expected = "{query_id: {doc_id: " + ("score" if is_run else "label") + "}}"
    if type(data) is not tuple:
        raise FormatError(f"the JSON is {kind(data)}, expected an object {expected}", path)
    for query_id, documents in data:
        if type(documents) is not tuple:
            raise FormatError(f"query {quote(query_id)} has {kind(documents)}, expected as in {expected}", path)
    return data


def kind(value: object) -> str:
    """JSON's word for the type of a value."""
    names = {tuple: "an object", list: "an array", str: "a string", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")


def number_array(numbers: list[Any], is_run: bool) -> np.ndarray | None:
    """The numbers as float64, or None if one of them might not be a valid score or label."""
    if not set(map(type, numbers)) <= {float, bool}:
        return None
    array = np.array(numbers, float)
    return array if (np.isfinite(array).all() if is_run else in_range(array)) else None


def in_range(labels: np.ndarray) -> bool:
    """Whether all are labels that qrels can hold."""
    return bool(((labels >= LOWEST_LABEL) & (labels <= HIGHEST_LABEL)).all())


def check(queries: tuple[tuple[str, Pairs], ...], is_run: bool, path: str) -> None:
    """Raise the error for the first invalid number; numbers are Written, except NaN and Infinity, JSON's words."""
    what, wrong = ("score", wrong_score) if is_run else ("label", wrong_label)
    for query_id, documents in queries:
        for doc_id, number in documents:
            problem = wrong(number) if type(number) in (Written, float, bool) else "is not a number"
            if problem:
                shown = quote(str(number)) if isinstance(number, (str, float)) else kind(number)
                place = f"query {bare(query_id)}, document {bare(doc_id)}"
                raise FormatError(f"{what} {shown} {problem} ({place})", path)


def wrong_score(number: str | float) -> str | None:
    """The problem of a score, or None; infinity must be a word, because a number that large does not fit a float."""
    value = float(number)
    if value != value:
        return "is not a number: NaN cannot be ranked"
    return "is too large for a float" if type(number) is Written and value in (INF, -INF) else None


def wrong_label(number: str | float) -> str | None:
    """The problem of a label, or None."""
    value = float(number)
    if value != value:
        return "is not a number"
    return (
        None if LOWEST_LABEL <= value <= HIGHEST_LABEL else "is out of range; expected a number from -2^31 to 2^31 - 1"
    )
