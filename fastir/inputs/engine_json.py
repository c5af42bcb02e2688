"""What engines export as JSON: requests and responses of _rank_eval, judgments and results of the Search Relevance
Workbench, saved responses of `_search` and `_msearch`, from Elasticsearch and OpenSearch, and ratings of the Rated
Ranking Evaluator.

Their fields distinguish them from ``{query_id: {doc_id: number}}``. A ranking has the scores n, n - 1, ..., 1: engines
may rank by other things than `_score`. The index of a document is left out.

The hits of a search are a run. A response does not name its query. A single response belongs to the query that its file
is named after; several responses need an object ``{query_id: response}``, or the caller's `query_ids`. The scores of
hits are kept if they descend; else, as for a search that is sorted by a field, they are n, n - 1, ..., 1.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from fastir.engine.columns.rows import INCOMPLETE
from fastir.errors import FormatError, quote
from fastir.inputs import places
from fastir.inputs.mappings import text_lines
from fastir.inputs.places import is_path
from fastir.rendering.text import counted

if TYPE_CHECKING:
    from fastir.inputs.files import Path, Repairs

Fields = dict[str, Any]
Rows = tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]


def engine_rows(data: Any, is_run: bool, path: str) -> Rows | None:
    """The judgments or rankings of an export, by query; None if the JSON is none.

    `data` is what `json_files.parse_json` returns: objects are tuples of pairs.
    """
    if type(fields(fields(data).get("root")).get("children")) is list:
        raise FormatError(
            "the JSON is a response of Vespa, which names neither its query nor, for sure, its documents; expected "
            "{query_id: {hit['fields']['id']: hit['relevance'] for hit in response['root']['children']}}",
            path,
        )
    for what, entries, side, rows in (
        ("a _rank_eval request with ratings, which are qrels", requests(data), False, rated_documents),
        ("a _rank_eval response with hits, which are a run", details(data), True, hits),
        ("ratings of the Rated Ranking Evaluator, which are qrels", rated_nodes(data), False, rated_queries),
        ("a list of judgments", documents(data, "judgmentRatings"), False, judgments),
        ("results of a search, which are a run", documents(data, "documentIds"), True, results),
    ):
        if entries is not None:
            if side != is_run:
                raise FormatError(f"the JSON is {what}; expected {'a run' if is_run else 'qrels'}", path)
            return refuse_repeated_queries(rows(entries, path), path)
    return None


def find_hits(data: Any) -> Any:
    return fields(fields(data).get("hits")).get("hits")


def requests(data: Any) -> Any:
    """The rated requests of a _rank_eval request, or None."""
    entries = fields(data).get("requests")
    return entries if type(entries) is list else None


def details(data: Any) -> Any:
    """The (query_id, object) pairs of a _rank_eval response, or None."""
    top = fields(data)
    entries = top.get("details")
    return entries if type(entries) is tuple and type(top.get("metric_score")) not in (tuple, type(None)) else None


def documents(data: Any, field: str) -> list[Fields] | None:
    """The documents of an index, alone, in an array or as the hits of a search, if each has an array of this name."""
    hits = find_hits(data)
    sources = [fields(hit).get("_source", ()) for hit in hits] if type(hits) is list else data
    indexed = [fields(source) for source in (sources if type(sources) is list else [sources])]
    return indexed if indexed and all(type(document.get(field)) is list for document in indexed) else None


NODES = ("topics", "query_groups", "queries")  # of the Rated Ranking Evaluator, from the outermost to the innermost


def rated_nodes(data: Any) -> list[Any] | None:
    """The outer object of ratings, in a list, if it has topics, groups or queries; else None."""
    children = [child for name in NODES if type(nodes := fields(data).get(name)) is list for child in nodes]
    known = {*NODES, "placeholders", "relevant_documents"}
    return [data] if children and all(known & fields(child).keys() for child in children) else None


def rated_queries(nodes: list[Any], path: str) -> list[Any]:
    """The judgments of each query: its own, or those of the group around it; a query that repeats counts once."""
    by_query: dict[str, list[Any]] = {}
    waiting = [(fields(node), "", None) for node in nodes]
    placeholder = waiting[0][0].get("query_placeholder", "$query")
    rows = []
    for node, where, inherited in waiting:  # which grows
        rated = node.get("relevant_documents", inherited)
        for name in NODES:
            children = array(node, name, where or "the object", path) if name in node else ()
            waiting += [(fields(child), f"{where}{name}[{place}]", rated) for place, child in enumerate(children)]
        if "placeholders" in node:
            words = fields(node["placeholders"])
            name = placeholder if placeholder in words or len(words) != 1 else next(iter(words))
            query_id = text(words, name, f"{where}.placeholders", path)
            judged = graded_documents(rated, f"query {quote(query_id)}", path)
            if by_query.setdefault(query_id, judged) is judged or by_query[query_id] != judged:
                rows.append((query_id, judged))
    return rows


def graded_documents(rated: Any, where: str, path: str) -> list[tuple[str, Any]]:
    """(document, gain) of ``{gain: [ids]}``, ``{id: {"gain": gain}}``, or a list of such objects."""
    if type(rated) not in (list, tuple):
        raise FormatError(f"{where} has no object 'relevant_documents', nor has its group", path)
    judged: list[tuple[str, Any]] = []
    for entry in rated if type(rated) is list else [rated]:
        entry = fields(entry)
        if "document_id" in entry:
            judged.append((text(entry, "document_id", where, path), number(entry.get("gain"))))
            continue
        for name, value in entry.items():
            if type(value) is list:
                plain = set(map(type, value)) == {str}
                doc_ids = value if plain else [document_id(doc_id, where, path) for doc_id in value]
                judged += zip(doc_ids, itertools.repeat(number(name)))
            elif "gain" in fields(value):
                judged.append((name, number(fields(value)["gain"])))
            else:
                raise FormatError(f"{where}: relevant_documents has neither ids nor a gain for {quote(name)}", path)
    return judged


def document_id(value: Any, where: str, path: str) -> str:
    """An id, which may be a whole number."""
    if type(value) is float and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return text({"id": value}, "id", f"{where}: a document in relevant_documents", path)


def rated_documents(requests: list[Any], path: str) -> list[Any]:
    rows = []
    for place, request in enumerate(map(fields, requests), 1):
        query_id = text(request, "id", f"request {place}", path)
        where = f"request {quote(query_id)}"
        ratings = map(fields, array(request, "ratings", where, path))
        rows.append((query_id, [(text(rating, "_id", where, path), rating.get("rating")) for rating in ratings]))
    return rows


def hits(pairs: Any, path: str) -> list[Any]:
    rows = []
    for query_id, detail in pairs:
        where = f"query {quote(query_id)}"
        ranking = [fields(fields(hit).get("hit")) for hit in array(fields(detail), "hits", where, path)]
        rows.append((query_id, ranked_documents([text(hit, "_id", where, path) for hit in ranking])))
    return rows


def judgments(documents: list[Fields], path: str) -> list[Any]:
    rows = []
    for place, judged in enumerate(
        (fields(entry) for document in documents for entry in document["judgmentRatings"]), 1
    ):
        query_id = text(judged, "query", f"entry {place} of judgmentRatings", path)
        where = f"query {quote(query_id)}"
        ratings = map(fields, array(judged, "ratings", where, path))
        rows.append((query_id, [(text(one, "docId", where, path), number(one.get("rating"))) for one in ratings]))
    return rows


def results(documents: list[Fields], path: str) -> list[Any]:
    configurations = list(dict.fromkeys(str(document.get("searchConfigurationId")) for document in documents))
    if len(configurations) > 1:
        first, second = map(quote, configurations[:2])
        raise FormatError(f"the results are of several search configurations, such as {first} and {second}", path)
    rows = []
    for place, document in enumerate(documents, 1):
        query_id = text(document, "searchText", f"result {place}", path)
        doc_ids = document["documentIds"]
        if not all(type(doc_id) is str for doc_id in doc_ids):
            raise FormatError(f"query {quote(query_id)}: documentIds must be strings", path)
        rows.append((query_id, ranked_documents(doc_ids)))
    return rows


def ranked_documents(doc_ids: list[str]) -> list[tuple[str, float]]:
    return [(doc_id, float(len(doc_ids) - place)) for place, doc_id in enumerate(doc_ids)]


def refuse_repeated_queries(rows: list[Any], path: str) -> Rows:
    """The rows, if no query is there twice."""
    seen = set()
    for query_id, _ in rows:
        if query_id in seen:
            raise FormatError(f"duplicate query {quote(query_id)} in the export", path)
        seen.add(query_id)
    return tuple((query_id, tuple(pairs)) for query_id, pairs in rows)


def fields(value: Any) -> Fields:
    """The fields of a JSON object; of anything else, none."""
    return dict(value) if type(value) is tuple else {}


def array(owner: Fields, name: str, where: str, path: str) -> list[Any]:
    if type(owner.get(name)) is not list:
        raise FormatError(f"{where} has no array {name!r}", path)
    return owner[name]


def text(owner: Fields, name: str, where: str, path: str) -> str:
    if type(owner.get(name)) is not str:
        raise FormatError(f"{where} has no string {name!r}", path)
    return owner[name]


def number(value: Any) -> Any:
    """A rating, which the workbench writes as a string."""
    try:
        return float(value) if type(value) is str else value
    except ValueError:
        return value


# ---- responses of searches -------------------------------------------------------------------------------------------


QueryIds = Sequence[str]


class Response(NamedTuple):
    """One response, its position in the file in words, and its query if the file has one."""

    where: str
    data: Any
    query_id: str | None = None


def responses_in(data: Any) -> list[Response] | None:
    """The responses of searches; None if the JSON is something else. `data` is as for `engine_rows`."""
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
    """Whether these are the fields of a response: hits, or an error."""
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
        if given.get("timed_out") is True or count_field(fields(given.get("_shards")).get("failed")) > 0:
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
    numbers = list(map(count_field, scores))
    return all(one == one for one in numbers) and all(one >= two for one, two in itertools.pairwise(numbers))


def count_field(value: Any) -> float:
    """A number of the JSON, or its text as `json_files.NumberText`; NaN of anything else."""
    return float(value) if isinstance(value, (str, float)) and type(value) is not str else float("nan")


def reason(given: dict[str, Any]) -> str:
    """The engine's error for a failed search."""
    error, status = given["error"], count_field(given.get("status"))
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
