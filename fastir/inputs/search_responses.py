"""Saved responses of `_search` and `_msearch`, of Elasticsearch and OpenSearch: their hits are a run.

A response does not say which query was asked. A single response belongs to the query that its file is named after; of
several, an object ``{query_id: response}`` says it, or the caller does. The scores of hits are kept if they stand in
the order of the hits; else, as of a search that is sorted by a field, they are n, n - 1, ..., 1.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from fastir.engine.columns.rows import INCOMPLETE
from fastir.errors import FormatError, quote
from fastir.inputs import places
from fastir.inputs.engine_json import array, fields, find_hits, ranked_documents, text
from fastir.inputs.mappings import is_path, text_lines
from fastir.rendering.text import counted

if TYPE_CHECKING:
    from fastir.inputs.files import Path, Repairs

QueryIds = Sequence[str]


class Response(NamedTuple):
    """One response, where it stands in the file, and its query if the file says so."""

    where: str
    data: Any
    query_id: str | None = None


def responses_in(data: Any) -> list[Response] | None:
    """The responses of searches; None if the JSON is something else. `data` is as for `engine_json.engine_rows`."""
    several = fields(data).get("responses")
    if type(several) is list:
        return [Response(f"responses[{place}]", one) for place, one in enumerate(several)]
    if is_response(data):
        return [Response("the response", data)]
    if type(data) is list and data and all(map(is_response, data)):
        return [Response(f"[{place}]", one) for place, one in enumerate(data)]
    if type(data) is tuple and data and all(is_response(one) for _, one in data):
        return [Response(f"query {quote(query_id)}", one, query_id) for query_id, one in data]
    return None


def is_response(data: Any) -> bool:
    """Whether these are the fields of a response: its hits, or an error in their place."""
    return type(find_hits(data)) is list or type(fields(data).get("error")) in (str, tuple)


def search_rows(
    responses: Sequence[Response], path: str, query_ids: QueryIds | None = None
) -> tuple[list[tuple[str, list[tuple[str, Any]]]], Repairs]:
    """The ranking of each query, and what is noted of responses that are incomplete."""
    rows = []
    incomplete = []
    for (where, data, _), query_id in zip(responses, queries_of(responses, path, query_ids), strict=True):
        given = fields(data)
        if "error" in given:
            raise FormatError(f"{where}: error {reason(given)}", path)
        hits = [fields(hit) for hit in array(fields(given.get("hits")), "hits", where, path)]
        doc_ids = [text(hit, "_id", where, path) for hit in hits]
        scores = [hit.get("_score") for hit in hits]
        rows.append(
            (query_id, list(zip(doc_ids, scores, strict=True)) if is_descending(scores) else ranked_documents(doc_ids))
        )
        if given.get("timed_out") is True or number(fields(given.get("_shards")).get("failed")) > 0:
            incomplete.append(where)
    return rows, {INCOMPLETE: (len(incomplete), f"{path}: {incomplete[0]}")} if incomplete else {}


def queries_of(responses: Sequence[Response], path: str, query_ids: QueryIds | None) -> list[str]:
    """The query id of each response: as given, as in the file, or of a single one the stem of the file."""
    known = [response.query_id for response in responses if response.query_id is not None]
    if query_ids is not None:
        if known:
            raise FormatError("the responses have their query ids; expected no query_ids=", path)
        if len(query_ids) != len(responses):
            n = counted(len(query_ids), "entry", "entries")
            raise FormatError(f"query_ids has {n}, but there are {len(responses)} responses", path)
        return list(query_ids)
    if known:
        return known
    name = places.stem(path)
    if len(responses) == 1 and responses[0].where == "the response" and name:
        return [name]
    raise FormatError(
        f"the responses ({len(responses)}) do not say which queries were asked; expected query_ids=, in their order, "
        "or {query_id: response}",
        path,
    )


def is_descending(scores: Iterable[Any]) -> bool:
    """Whether all are numbers and none is above the one before it."""
    numbers = list(map(number, scores))
    return all(one == one for one in numbers) and all(one >= two for one, two in itertools.pairwise(numbers))


def number(value: Any) -> float:
    """A number of the JSON, or its text as `json_files.NumberText`; NaN of anything else."""
    return float(value) if isinstance(value, (str, float)) and type(value) is not str else float("nan")


def reason(given: dict[str, Any]) -> str:
    """What the engine says of a search that failed."""
    error, status = given["error"], number(given.get("status"))
    words = [str(value) for value in map(fields(error).get, ("type", "reason")) if value] or [str(error)]
    return ": ".join(words) + (f" (status {status:g})" if status == status else "")


def given_ids(query_ids: QueryIds | Path) -> QueryIds:
    """Query ids from a list, or from a file.

    The file is the request of _msearch, in which the query of each search has a `_name`, or has an id on each line, up
    to the first tab.
    """
    if not is_path(query_ids):
        if not all(isinstance(query_id, str) for query_id in query_ids):
            raise TypeError("query_ids must be strings, in the order of the responses, or the path of a file")
        return list(query_ids)
    path, lines = text_lines(query_ids)
    if not lines or not lines[0][1].lstrip().startswith("{"):
        return [line.partition("\t")[0].strip() for _, line in lines]
    return [query_name(line, number, path) for number, line in lines[1::2]]


def query_name(line: str, number: int, path: str) -> str:
    """The first `_name` in the body of a search."""
    try:
        found = find_name(json.loads(line))
    except json.JSONDecodeError as error:
        raise FormatError(f"malformed JSON: {error.msg}", path, number, None, line[:80]) from None
    if found is None:
        raise FormatError("the search has no _name, which would be its query id", path, number, None, line[:80])
    return found


def find_name(value: Any) -> str | None:
    if isinstance(value, dict):
        if isinstance(value.get("_name"), str):
            return value["_name"]
        value = list(value.values())
    return next(filter(None, map(find_name, value)), None) if isinstance(value, list) else None
