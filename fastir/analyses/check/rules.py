"""What a track demands of its runs: which queries, how many documents of each, and what a tag looks like."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple, SupportsIndex

from fastir.checks import positive_integer
from fastir.errors import FormatError, quote
from fastir.inputs import places
from fastir.inputs.mappings import fields_of, text_lines
from fastir.inputs.roles import QUERY
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
        queries, said_by = exact_queries(exactly_queries)
    try:
        pattern = None if tag is None else re.compile(tag)
    except (re.error, TypeError) as error:
        raise ValueError(f"tag: {quote(tag)} is not a regular expression: {error}") from None
    return Rules(depth, queries, said_by, pattern)


def exact_queries(source: Any) -> tuple[dict[str, None], str]:
    """The ids of a file or a collection, and what it is called."""
    if places.is_place(source):
        name, lines = text_lines(source)
        queries = dict.fromkeys(ids_in(lines, name))
        if not queries:
            raise FormatError("there is no query id; expected one at the start of each line, or topics of TREC", name)
        return queries, name
    if not isinstance(source, Iterable):
        raise TypeError(
            f"exactly_queries must be {FROM_QRELS!r}, a path or query ids, got {type(source).__name__} {quote(source)}"
        )
    queries = dict.fromkeys(map(str, source))
    if not queries:
        raise ValueError("exactly_queries: there is no query id")
    return queries, "exactly_queries"


def ids_in(lines: list[tuple[int, str]], name: str) -> list[str]:
    """The query ids of topics of TREC, of JSON with an object on each line, or at the start of the lines."""
    text = "\n".join(line for _, line in lines)
    found = (query_id.strip() for query_id in TREC_NUMBER.findall(text) or TOPIC_NUMBER.findall(text))
    if query_ids := list(filter(None, found)):
        return query_ids
    if lines and lines[0][1].startswith("{"):
        return [json_query_id(line, number, name) for number, line in lines]
    return [fields_of(line)[0].strip() for _, line in lines if line[0] != "#"]


def json_query_id(line: str, number: int, name: str) -> str:
    """The id in a line of JSON."""
    import json

    try:
        record = json.loads(line)
    except ValueError as error:
        raise FormatError(f"line {number} is not JSON: {error}", name, number) from None
    keys = [key for key in ("_id", "id", *QUERY) if key in record]
    if not keys:
        raise FormatError(f'line {number} has no query id; expected one as "_id" or "query_id"', name, number)
    return str(record[keys[0]])
