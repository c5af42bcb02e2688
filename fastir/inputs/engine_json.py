"""What engines export as JSON: requests and responses of _rank_eval, judgments and results of the Search Relevance
Workbench. `search_responses` has the responses of plain searches.

Their fields distinguish them from ``{query_id: {doc_id: number}}``. A ranking has the scores n, n - 1, ..., 1: engines
may rank by other things than `_score`. The index of a document is left out.
"""

from __future__ import annotations

from typing import Any

from fastir.errors import FormatError, quote

Fields = dict[str, Any]
Rows = tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]


def engine_rows(data: Any, is_run: bool, path: str) -> Rows | None:
    """The judgments or rankings of an export, by query; None if the JSON is none.

    `data` is what `json_files.parse_json` returns: objects are tuples of pairs.
    """
    for what, entries, side, rows in (
        ("a _rank_eval request with ratings, which are qrels", requests(data), False, rated_documents),
        ("a _rank_eval response with hits, which are a run", details(data), True, hits),
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
