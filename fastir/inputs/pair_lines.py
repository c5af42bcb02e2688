"""Files with two fields on each line: chunks and their documents, queries and their groups, runs and their teams."""

from __future__ import annotations

import os
from collections.abc import Iterator

from fastir.errors import FormatError, quote
from fastir.inputs import files
from fastir.rendering.text import counted


def lines_of_two(path: files.Path, first: str, second: str) -> Iterator[tuple[int, str, str]]:
    """(number, a field, a field) of each line of a file, whose fields a tab or blanks separate."""
    with files.Source(path) as source:
        lines = source.read_all().decode("utf-8", "surrogateescape").split("\n")
    for number, line in enumerate(lines, 1):
        fields = line.rstrip("\r").split("\t") if "\t" in line else line.split()
        if not any(fields):
            continue
        if len(fields) != 2 or not all(fields):
            raise FormatError(
                f"expected {first} and {second}, got {counted(len(fields), 'field', 'fields')}: {quote(line)}",
                source.path,
                number,
            )
        yield number, fields[0], fields[1]


class Pairs(dict[str, str]):
    """{field: the other field} of the lines of a file, whose path is for messages."""

    path: str


def lacking(what: str, mapping: object, message: str) -> ValueError:
    """The error about a mapping that does not fit; with its path, if it was read from a file."""
    text = f"{what}: {message}"
    return FormatError(text, mapping.path) if isinstance(mapping, Pairs) else ValueError(text)


def by_lines(path: files.Path, noun: str, second: str, several: str) -> Pairs:
    """{field: the other field} of such lines; one `noun` has one `second`, and `several` are an error."""
    pairs = Pairs()
    pairs.path = os.fsdecode(path)
    for number, key, value in lines_of_two(path, f"a {noun}", second):
        if pairs.setdefault(key, value) != value:
            raise FormatError(f"{noun} {quote(key)} has two {several}", pairs.path, number)
    return pairs
