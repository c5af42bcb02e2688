"""The texts of queries and the titles of documents that a report shows: a mapping, or a file in one of three forms."""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Container, Iterator, Mapping
from typing import Any

from fastir.checks import mapping
from fastir.errors import FormatError, quote
from fastir.inputs.mappings import text_lines
from fastir.inputs.places import is_path
from fastir.inputs.roles import DOC, QUERY_ID

TextsLike = Mapping[Any, str] | str | os.PathLike[str]

IDS = {"topics": ("_id", "id", *QUERY_ID, "number"), "doc_titles": ("_id", "id", *DOC)}
TEXTS = {"topics": ("query", "text", "question", "title"), "doc_titles": ("title", "text", "name")}
TOPIC = re.compile(r"<(top|topic|query)\b([^>]*)>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
NUMBER = re.compile(r"<num>\s*(?:Number:\s*)?([^\s<]+)", re.IGNORECASE)
ATTRIBUTE = re.compile(r"\b(?:number|id)\s*=\s*[\"']([^\"']+)[\"']", re.IGNORECASE)
TITLE = re.compile(r"<(?:title|query|text)>\s*(?:Topic:)?\s*([^<]+)", re.IGNORECASE)


def read_texts(option: str, data: Any, wanted: Container[str]) -> dict[str, str]:
    """{id: text} of the wanted ids in "topics" or "doc_titles"; FormatError for a file that has none of them."""
    if data is None:
        return {}
    if not is_path(data):
        given = mapping(option, data, "map ids to texts, or be a path")
        return {str(key): str(text) for key, text in given.items() if str(key) in wanted}
    name, lines = text_lines(data)
    if lines and lines[0][1].lstrip().startswith("<"):
        pairs = topics_in("\n".join(line for _, line in lines))
    else:
        pairs = texts_in(option, name, lines)
    found = {key: text for key, text in pairs if key in wanted}
    if not found:
        raise FormatError(f"{option}: no id of this file is in the judgments or runs", name)
    return found


def topics_in(text: str) -> Iterator[tuple[str, str]]:
    """The number and the title of each topic of TREC."""
    for _, attributes, body in TOPIC.findall(text):
        number, title = NUMBER.search(body) or ATTRIBUTE.search(attributes), TITLE.search(body)
        about = title[1] if title else re.sub(r"<[^>]*>", " ", body)
        if number:
            yield number[1], html.unescape(" ".join(about.split()))


def texts_in(option: str, name: str, lines: list[tuple[int, str]]) -> Iterator[tuple[str, str]]:
    """The id and the text of each line: JSON Lines, or an id, a tab (else a blank) and a text."""
    for number, line in lines:
        if not line.startswith("{"):
            key, mark, text = line.partition("\t" if "\t" in line else " ")
            if not mark:
                raise FormatError(f"expected an id, a tab and a text, got {quote(line)}", name, number)
            yield key, text.strip()
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"line {number} is not JSON: {error}", name, number) from None
        keys = [record[name] for name in IDS[option] if name in record]
        texts = [record[name] for name in TEXTS[option] if record.get(name)]
        if not keys or not texts:
            expected = f"{IDS[option][0]!r} and {TEXTS[option][0]!r}"
            raise FormatError(f"line {number} has no id or no text; expected {expected}", name, number)
        yield str(keys[0]), str(texts[0])
