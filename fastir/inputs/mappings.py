"""Mappings {key: value} as callers bring them: a dict, a pandas Series, or the lines of a file.

- `read_mapping`: one value for each key (segments of queries, teams of runs)
- `field_rows`: the fields of each line (documents of chunks, excluded documents, weights of documents)
- `text_lines`: the lines themselves (query ids)
- `align`: weights of judged documents, as an array parallel to the judgments
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, SupportsFloat, TypeAlias

import numpy as np

from fastir.checks import mapping
from fastir.declared import Record
from fastir.errors import FormatError, quote
from fastir.inputs import files
from fastir.inputs.files import Path
from fastir.inputs.places import is_path, place_name
from fastir.rendering.text import counted

if TYPE_CHECKING:
    from fastir.inputs.shapes import Table

    DocGroupsLike: TypeAlias = Mapping[Any, Mapping[Any, SupportsFloat]] | Table | Path
    TargetLike: TypeAlias = Mapping[Any, SupportsFloat] | Mapping[Any, Mapping[Any, SupportsFloat]] | Path


class MappingText(Record):
    """What messages call an option that is a mapping, its keys and its values."""

    option: str
    expected: str
    key: str
    value: str
    values: str


SEGMENTS = MappingText("segments", "map query ids to segments, or be a path", "query", "a segment", "segments")
CLUSTERS = MappingText("clusters", "map query ids to clusters, or be a path", "query", "its cluster", "clusters")
TEAMS = MappingText("teams", "map runs to teams, or be a path", "run", "its team", "teams")


class FileMapping(dict[str, str]):
    """{key: value} of the lines of a file, with the path for messages."""

    path: str


def read_mapping(words: MappingText, data: Any) -> Mapping[Any, Any]:
    """The mapping that an option is, or that the lines of a file are."""
    if not is_path(data):
        return mapping(words.option, data, words.expected)
    pairs = FileMapping()
    pairs.path = os.fsdecode(data)
    for number, (key, value) in field_rows(data, {2: f"a {words.key} and {words.value}"}):
        if pairs.setdefault(key, value) != value:
            raise FormatError(f"{words.key} {quote(key)} has two {words.values}", pairs.path, number)
    return pairs


def misfit_error(option: str, pairs: object, message: str) -> ValueError:
    """The error about a mapping that does not fit; with its path, if it was read from a file."""
    text = f"{option}: {message}"
    return FormatError(text, pairs.path) if isinstance(pairs, FileMapping) else ValueError(text)


# ---- lines of files ----------------------------------------------------------------------------------------------
def text_lines(place: Any) -> tuple[str, list[tuple[int, str]]]:
    """The name of a file, and the number and text of each line that is not blank."""
    with files.ByteReader(place) as source:
        lines = source.read_all().decode("utf-8", "surrogateescape").split("\n")
    return source.path, [(number, line.rstrip("\r")) for number, line in enumerate(lines, 1) if line.strip()]


def fields_of(line: str) -> list[str]:
    """The fields of a line, separated by tabs or else by blanks."""
    return line.split("\t") if "\t" in line else line.split()


def field_rows(place: Any, expected: dict[int, str]) -> Iterator[tuple[int, list[str]]]:
    """The number and the fields of each line; all have as many fields as the first.

    `expected` says what the fields are, by the numbers of fields that a file may have.
    """
    name, lines = text_lines(place)
    for number, line in lines:
        fields = fields_of(line)
        if len(fields) not in expected or not all(fields):
            raise FormatError(
                f"expected {' or '.join(expected.values())}, got {counted(len(fields), 'field', 'fields')}: "
                f"{quote(line)}",
                name,
                number,
            )
        expected = {len(fields): expected[len(fields)]}
        yield number, fields


# ---- weights of documents --------------------------------------------------------------------------------------------


DocWeights = Mapping[Any, SupportsFloat] | Mapping[Any, Mapping[Any, SupportsFloat]]

EXPECTED = "doc_weights: a weight must be a number above 0 and finite"


def from_file(path: Path, what: str = "weight") -> DocWeights:
    """The weights in a file, with a document and a number on each line, or a query before them."""
    by_width = {2: f"a document and its {what}", 3: f"a query, a document and its {what}"}  # by the number of fields
    by_query: dict[str, dict[str, float]] = {}
    for number, (*query, doc_id, text) in field_rows(path, by_width):
        try:
            weight = float(text)
        except ValueError:
            raise FormatError(f"{what} {quote(text)} is not a number", place_name(path), number) from None
        if by_query.setdefault("".join(query), {}).setdefault(doc_id, weight) != weight:
            raise FormatError(f"document {quote(doc_id)} has two {what}s", place_name(path), number)
    return by_query.pop("") if "" in by_query else by_query


def align(doc_weights: Any, rows: Iterable[tuple[Any, Any, float]], query: str, document: str) -> np.ndarray:
    """The weight of each judgment (query_id, doc_id, label); NaN where one without a label above 0 has none.

    `doc_weights` is ``{doc_id: weight}`` or ``{query_id: {doc_id: weight}}``; `query` and `document` are for messages.
    """
    doc_weights = mapping(
        "doc_weights", doc_weights, "map ids to weights, {doc_id: weight} or {query_id: {doc_id: weight}}"
    )
    by_text = {str(key): value for key, value in doc_weights.items()}
    nested = any(hasattr(value, "items") for value in by_text.values())
    by_query: dict[str, dict[str, Any]] = {}
    aligned = []
    unused: dict[str, set[str]] = {}
    for query_id, doc_id, label in rows:
        weights, key = by_text, str(query_id)
        if nested:
            if key not in by_query:
                by_query[key] = weights_by_doc_id(by_text.get(key, {}), query_id, query)
                unused[key] = set(by_query[key])
            weights = by_query[key]
            unused[key].discard(str(doc_id))
        weight = weights.get(str(doc_id))
        if weight is None and label > 0:
            raise ValueError(f"doc_weights: {document} {quote(doc_id)} of {query} {quote(query_id)} has no weight")
        aligned.append(np.nan if weight is None else read_weight(weight, f"({query} {query_id}, {document} {doc_id})"))
    for query_id, unknown in unused.items():
        for doc_id in by_query[query_id]:
            if doc_id in unknown:
                raise ValueError(f"doc_weights: {document} {quote(doc_id)} of {query} {quote(query_id)} is not judged")
    return np.array(aligned, float)


def align_numbers(weights: Any, doc_ids: list[Any], labels: np.ndarray) -> np.ndarray | None:
    """`align` for {doc_id: weight} of plain numbers, at once; None for others, and for an error of `align`."""
    if type(weights) is not dict or not set(map(type, weights)) <= {type(doc_id) for doc_id in doc_ids[:1]}:
        return None
    if not set(map(type, weights.values())) <= {int, float}:
        return None
    try:
        found = np.array(list(map(weights.get, doc_ids, itertools.repeat(0))), float)
    except OverflowError:
        return None
    is_right = ((found > 0) & (found < np.inf)) | ((found == 0) & (labels <= 0))
    if not is_right.all() or (not found.all() and 0 in weights.values()):
        return None
    return np.where(found == 0, np.nan, found)


def weights_by_doc_id(weights: Any, query_id: Any, query: str) -> dict[str, Any]:
    if not hasattr(weights, "items"):
        raise TypeError(f"doc_weights: {query} {quote(query_id)} has a {type(weights).__name__}; expected a dict")
    return {str(doc_id): weight for doc_id, weight in weights.items()}


def read_weight(weight: Any, where: str) -> float:
    return read_number(weight, EXPECTED, where, math.nextafter(0, 1))


def read_number(value: Any, expected: str, where: str, least: float) -> float:
    """A finite number from `least` up; `expected` and `where` are for messages."""
    if isinstance(value, (str, bytes, bool, np.bool_)) or not hasattr(value, "__float__"):
        raise TypeError(f"{expected}, got {type(value).__name__} {quote(value)} {where}")
    try:
        number = float(value)
    except OverflowError:
        raise OverflowError(f"{expected}, got one that is too large for a float {where}") from None
    except TypeError:  # an array, say
        raise TypeError(f"{expected}, got {type(value).__name__} {quote(value)} {where}") from None
    if not least <= number < math.inf:
        raise ValueError(f"{expected}, got {value} {where}")
    return number
