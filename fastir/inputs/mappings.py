"""Mappings {key: value} as callers bring them: a dict, a pandas Series, or the lines of a file.

- `read_mapping`: one value for each key (segments of queries, teams of runs)
- `field_rows`: the fields of each line (documents of chunks, excluded documents, weights of documents)
- `text_lines`: the lines themselves (query ids)
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from fastir.checks import mapping
from fastir.errors import FormatError, quote
from fastir.inputs import files
from fastir.rendering.text import counted

if TYPE_CHECKING:
    from typing_extensions import TypeIs


class MappingText(NamedTuple):
    """What messages call an option that is a mapping, its keys and its values."""

    option: str
    expected: str
    key: str
    value: str
    values: str


SEGMENTS = MappingText("segments", "map query ids to segments, or be a path", "query", "a segment", "segments")
TEAMS = MappingText("teams", "map runs to teams, or be a path", "run", "its team", "teams")


class FileMapping(dict[str, str]):
    """{key: value} of the lines of a file, whose path is for messages."""

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


def is_path(data: Any) -> TypeIs[files.Path]:
    return isinstance(data, (str, bytes, os.PathLike))


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

    Parameters
    ----------
    place : path or another place
    expected : dict
        What the fields are, by the numbers of fields that a file may have.
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
