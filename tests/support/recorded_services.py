"""Responses of search engines and databases, written down, for the clients that docs/recipes.md calls."""

import contextlib
import http.server
import json
import threading
import types
import urllib.parse

import pytest

HITS = {"red dress": [("d3", 7.5), ("d2", 4.25)], "blue jeans": []}


def elasticsearch(asked):
    """The response of `_search`."""
    hits = [{"_index": "docs", "_id": doc, "_score": score} for doc, score in HITS[asked["query"]["match"]["text"]]]
    total = {"value": len(hits), "relation": "eq"}
    return {"took": 1, "timed_out": False, "hits": {"total": total, "max_score": None, "hits": hits}}


def vespa(asked):
    """The response of /search/; one without hits has no children."""
    children = [
        {"id": f"id:docs:doc::{doc}", "relevance": score, "source": "docs", "fields": {"id": doc}}
        for doc, score in HITS[asked["query"]]
    ]
    root = {"id": "toplevel", "relevance": 1.0, "fields": {"totalCount": len(children)}}
    return {"root": root | ({"children": children} if children else {})}


def weaviate_client():
    """A client whose collections answer hybrid queries."""

    def hybrid(query, limit, return_metadata):
        assert return_metadata.score
        hits = [
            types.SimpleNamespace(properties={"doc_id": doc}, metadata=types.SimpleNamespace(score=score))
            for doc, score in HITS[query]
        ]
        return types.SimpleNamespace(objects=hits[:limit])

    docs = types.SimpleNamespace(query=types.SimpleNamespace(hybrid=hybrid))
    return contextlib.nullcontext(types.SimpleNamespace(collections=types.SimpleNamespace(get={"Docs": docs}.get)))


def connection(address):
    """A connection to a database that has ranked the documents of both queries."""
    rows = [("q1", "d3", -0.25), ("q1", "d2", -0.5), ("q2", "d3", -0.75), ("q2", "d9", -1.0)]
    execute = types.SimpleNamespace(fetchall=lambda: rows)
    return contextlib.nullcontext(types.SimpleNamespace(execute=lambda statement: execute))


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        sent = self.rfile.read(int(self.headers["Content-Length"] or 0))
        address = urllib.parse.urlsplit(self.path)
        if address.path == "/search/":
            response = vespa(dict(urllib.parse.parse_qsl(address.query)))
        else:
            response = elasticsearch(json.loads(sent))
        body = json.dumps(response).encode()
        self.send_response(200)
        accepted = self.headers.get("Accept", "")
        self.send_header("Content-Type", accepted if "elasticsearch" in accepted else "application/json")
        self.send_header("X-Elastic-Product", "Elasticsearch")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


@contextlib.contextmanager
def answers(recipe):
    """While a recipe runs, the service that it calls answers with what is written here."""
    with pytest.MonkeyPatch.context() as patch:
        if recipe == "Weaviate":
            patch.setattr("weaviate.connect_to_local", weaviate_client)
        elif recipe == "pgvector":
            patch.setattr("psycopg.connect", connection)
            patch.setenv("DATABASE_URL", "postgresql://localhost")
        if recipe not in ("Elasticsearch", "OpenSearch", "Vespa"):
            yield
            return
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            patch.setenv(f"{recipe.upper()}_URL", f"http://127.0.0.1:{server.server_port}")
            try:
                yield
            finally:
                server.shutdown()
                thread.join()
