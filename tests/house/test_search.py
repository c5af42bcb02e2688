"""The search of the site, asked in a browser what people type: the page that answers comes first."""

import functools
import http.server
import json
import threading
import urllib.parse

import pytest
from chromium import BROWSER, page_at
from pages import NEEDS_PAGES

pytestmark = [NEEDS_PAGES, pytest.mark.site, pytest.mark.skipif(BROWSER is None, reason="needs Chromium")]

FIRST = {  # {page: what people type}
    "agents": ["agents"], "api/comparing": ["adjusted_p"], "coming_from/beir": ["beir"],
    "coming_from/elasticsearch": ["elasticsearch"], "coming_from/lightgbm": ["lightgbm"],
    "coming_from/mlflow": ["mlflow"], "coming_from/mteb": ["mteb"],
    "coming_from/pytrec_eval": ["pytrec_eval"], "coming_from/quepid": ["quepid"],
    "coming_from/ranx": ["ranx"], "coming_from/trec_eval": ["trec_eval"], "coming_from/vespa": ["vespa"],
    "coming_from/xgboost": ["xgboost"],
    "compare": ["holm", "bonferroni", "effect size", "bootstrap", "significance", "latex"],
    "at_scale": ["memory", "spark", "dask"], "bounds": ["unjudged", "unjudged documents"],
    "messages": ["no document in common"], "metrics/counts-and-sets": ["recall at 10"],
    "metrics/graded-relevance": ["NDCG"], "metrics/how-alike-two-runs-are": ["rbo"],
    "metrics/incomplete-judgments": ["judged@k"], "metrics/ranks-of-the-relevant-documents": ["mrr"],
    "nightly": ["gate", "pytest"], "notebook": ["notebook"], "pools": ["kappa", "pooling"],
    "rag": ["langchain", "rag"], "recommender": ["recommender"], "results": ["duplicates", "nan"],
    "tables": ["duckdb", "pandas", "parquet", "csv"], "threads": ["threads"], "tracking": ["wandb"],
    "which_convention": ["ties"],
}  # fmt: skip
# The paths of all pages that a search has found, once the field holds its words.
FOUND = """(() => {
  const field = document.querySelector(".md-search__input"), meta = document.querySelector(".md-search-result__meta");
  if (!field || field.value !== %s || !meta) return null;
  const links = [...document.querySelectorAll(".md-search-result__item a")];
  return links.length || meta.textContent.startsWith("No ") ? JSON.stringify(links.map((link) => link.pathname)) : null;
})()"""


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *words):
        pass


@pytest.fixture
def address(built):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=built)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def test_the_page_that_answers_comes_first(address, tmp_path):
    wrong = {}
    with page_at(address, tmp_path / "profile") as page:
        for wanted, queries in FIRST.items():
            for words in queries:
                page.call("Page.navigate", url=f"{address}faq/?q={urllib.parse.quote(words)}")
                found = json.loads(page.wait_for(FOUND % json.dumps(words)) or "[]")
                if not found or found[0].strip("/") != wanted:
                    wrong[words] = f"{found[:1]}, expected {wanted}"
    assert wrong == {}
    assert sum(map(len, FIRST.values())) >= 40
