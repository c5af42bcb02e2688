"""A collection with names that attack, and what is in the page of a report."""

import base64
import json
import re
import zlib

EVIL = "<script>alert(1)</script>"
METRICS = ["ndcg@10", "map", "mrr", "mean_rank"]


def collection():
    """Qrels and three runs of eight queries; one query, one document and one run are called like a script."""
    ids = [EVIL, *(f"q{number}" for number in range(1, 8))]
    qrels = {query: {"a": 2, "b": 1, "c": 0, EVIL: 1} for query in ids}
    runs = {
        name: {
            query: {doc: float((7 * place + 3 * number + step) % 11) for place, doc in enumerate(["a", "b", EVIL, "x"])}
            for number, query in enumerate(ids)
        }
        for step, name in enumerate([EVIL, "second", "third"])
    }
    return qrels, runs


def data_in(page):
    """What the script of a page reads."""
    packed = re.search(r'<script type="text/plain" id="data">([^<]*)</script>', page)[1]
    return json.loads(zlib.decompress(base64.b64decode(packed)))
