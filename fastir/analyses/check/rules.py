"""What a track demands of its runs: which queries, how many documents of each, and what a tag looks like."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, SupportsIndex

from fastir.checks import positive_integer
from fastir.errors import FormatError, quote
from fastir.inputs import formats, places
from fastir.inputs.mappings import fields_of, text_lines
from fastir.inputs.roles import DOC, QUERY, find_column
from fastir.request.options import MAX_DEPTH

FROM_QRELS = "qrels"
# Each step of these goes on where the last one ended, so that the time is linear: possessive, and not beyond a tag.
TREC_NUMBER = re.compile(r"<num>\s*+(?:Number:\s*+)?+([^\s<]++)", re.IGNORECASE)  # in TREC's topics
TOPIC_NUMBER = re.compile(r"<(?:topic|query)\b[^<>]*?\b(?:number|id)\s*+=\s*+[\"']([^\"']++)[\"']", re.IGNORECASE)


class Rules(NamedTuple):
    """The rules of a track; None is none.

    Attributes
    ----------
    max_depth : int or None
    queries : dict of str to None, or None
        The queries that a run must have, in order; None: the queries of the qrels.
    said_by : str
        Their source, for messages.
    tag : pattern or None
        That the whole tag matches.
    """

    max_depth: int | None = None
    queries: dict[str, None] | None = None
    said_by: str = "the qrels"
    tag: re.Pattern[str] | None = None


def make_rules(max_depth: SupportsIndex | None, exactly_queries: Any, tag: str | re.Pattern[str] | None) -> Rules:
    """Make Rules of the caller's arguments."""
    depth = (
        None if max_depth is None else positive_integer("max_depth", "the number of documents", max_depth, MAX_DEPTH)
    )
    queries, said_by = None, "the qrels"
    if not (isinstance(exactly_queries, str) and exactly_queries == FROM_QRELS):
        queries, said_by = read_ids(exactly_queries, QUERIES)
    try:
        pattern = None if tag is None else re.compile(tag)
    except (re.error, TypeError) as error:
        raise ValueError(f"tag: {quote(tag)} is not a regular expression: {error}") from None
    return Rules(depth, queries, said_by, pattern)


class IdWords(NamedTuple):
    """What messages call the ids of an option, and the names that their column may have."""

    option: str
    what: str
    names: tuple[str, ...]
    expected: str


QUERIES = IdWords("exactly_queries", "query id", ("_id", "id", *QUERY), f"{FROM_QRELS!r}, a path or query ids")
DOCUMENTS = IdWords("corpus", "document id", ("_id", "id", *DOC), "a path, a table with a column of ids, or ids")


def read_ids(source: Any, words: IdWords) -> tuple[dict[str, None], str]:
    """The ids of a file, of a table's column or of a collection, and what it is called."""
    if places.is_place(source):
        name = places.place_name(source)
        if words is DOCUMENTS and (format := formats.file_format(source)) in formats.TABLE_FORMATS:
            ids = dict.fromkeys(column_ids(source, name, format))
        else:
            ids = dict.fromkeys(ids_in(text_lines(source)[1], name, words))
        if not ids:
            topics = ", or topics of TREC" if words is QUERIES else ""
            raise FormatError(f"there is no {words.what}; expected one at the start of each line{topics}", name)
        return ids, name
    names = getattr(source, "columns", getattr(source, "column_names", None)) if words is DOCUMENTS else None
    if names is not None:
        source = source[find_column("corpus", list(names), "doc_id", words.names)]
    if not isinstance(source, Iterable):
        raise TypeError(f"{words.option} must be {words.expected}, got {type(source).__name__} {quote(source)}")
    ids = dict.fromkeys(map(str, source))
    if not ids:
        raise ValueError(f"{words.option}: there is no {words.what}")
    return ids, words.option


def column_ids(path: Any, name: str, format: str) -> Iterator[str]:
    """The document ids of a table in a file."""
    from fastir.inputs import table_files

    with table_files.convert_errors(name), table_files.FILES[format](path) as file:
        file.look()
        column = find_column("corpus", file.names, "doc_id", DOCUMENTS.names)
        is_lines = format == "jsonl"  # which have the type of the first line
        types = [(column, table_files.id_type(file.first[column]))] if is_lines else []
        for batch in file.read_rows(types) if is_lines else file.batches((column,)):
            yield from map(str, batch.column(0).to_pylist())


def ids_in(lines: list[tuple[int, str]], name: str, words: IdWords) -> list[str]:
    """The ids of JSON with an object on each line, or at the start of the lines; or query ids of topics of TREC."""
    if words is QUERIES:
        text = "\n".join(line for _, line in lines)
        found = (query_id.strip() for query_id in TREC_NUMBER.findall(text) or TOPIC_NUMBER.findall(text))
        if query_ids := list(filter(None, found)):
            return query_ids
    if lines and lines[0][1].startswith("{"):
        return [json_id(line, number, name, words) for number, line in lines]
    return [fields_of(line)[0].strip() for _, line in lines if line[0] != "#"]


def json_id(line: str, number: int, name: str, words: IdWords) -> str:
    """The id in a line of JSON."""
    import json

    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"line {number} is not JSON: {error}", name, number) from None
    keys = [key for key in words.names if key in record]
    if not keys:
        expected = f'"_id" or "{words.names[2]}"'
        raise FormatError(f"line {number} has no {words.what}; expected one as {expected}", name, number)
    return str(record[keys[0]])
