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
FIRST = {  # {page: what people type}; either page will do where two have the same words
    "": ["install", "two minutes"], "faq": ["install", "citation", "cite", "how many queries", "qrels"],
    "at_scale": ["memory", "spark", "dask", "duckdb"], "bounds": ["unjudged", "unjudged documents"],
    "check": ["submission", "check a run"], "coming_from/beir": ["beir"],
    "coming_from/elasticsearch": ["elasticsearch"], "coming_from/lightgbm": ["lightgbm"],
    "coming_from/mteb": ["mteb"], "coming_from/pytrec_eval": ["pytrec_eval"], "coming_from/quepid": ["quepid"],
    "coming_from/ranx": ["ranx"], "coming_from/sklearn": ["scikit-learn"], "coming_from/trec_eval": ["trec_eval"],
    "coming_from/vespa": ["vespa"], "coming_from/xgboost": ["xgboost"], "command_line": ["command line"],
    "compare": ["holm", "bonferroni", "effect size", "bootstrap", "significance", "latex",
                "compare two systems", "p-value", "adjusted_p"],
    "fusion": ["hybrid search", "reciprocal rank fusion", "tune weights", "cross validation"],
    "glossary": ["glossary"], "messages": ["no document in common", "typo", "errors"],
    "llm_judges": ["llm judge", "judge bias"],
    "metrics/counts-and-sets": ["recall at 10", "precision or recall"],
    "metrics/graded-relevance": ["NDCG", "cumulative gain"], "metrics/how-alike-two-runs-are": ["rbo"],
    "metrics/incomplete-judgments": ["judged@k", "bpref"],
    "metrics/ranks-of-the-relevant-documents": ["mrr", "average precision"],
    "nightly": ["gate", "pytest", "nightly", "github action"],
    "pipelines": ["wandb", "docker", "github action", "mlflow"], "plots": ["plots", "matplotlib", "gallery"],
    "pools": ["kappa", "pooling", "pool"], "rag": ["langchain", "rag"],
    "real_labels": ["llm judge", "real-valued labels", "fractional labels"], "recommender": ["recommender"],
    "report": ["notebook", "jupyter", "html report"],
    "results": ["duplicates", "nan", "confidence interval", "missing queries"], "segments_and_models": ["segments"],
    "speed": ["how fast", "speed"], "tables": ["duckdb", "pandas", "parquet", "csv", "qrels file"],
    "threads": ["threads"], "training": ["hugging face", "huggingface", "training loop", "keras"],
    "tutorial": ["tutorial", "search log"], "which_convention": ["ties", "which convention", "identify"],
    "which_metric": ["exponential gain", "relevance threshold", "threshold relevance", "which metric"],
    "metrics": ["which metric"],
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
    wanted = {}
    for name, queries in FIRST.items():
        for words in queries:
            wanted.setdefault(words, set()).add(name)
    wrong = {}
    with page_at(address, tmp_path / "profile") as page:
        for words, pages in wanted.items():
            page.call("Page.navigate", url=f"{address}faq/?q={urllib.parse.quote(words)}")
            found = json.loads(page.wait_for(FOUND % json.dumps(words)) or "[]")
            if not found or found[0].strip("/") not in pages:
                wrong[words] = f"{found[:1]}, expected {pages}"
    assert wrong == {}
    assert len(wanted) >= 90
