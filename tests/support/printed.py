"""Every picture of runs with long names."""

import random

import fastir
from fastir import plots

SHAPES = {
    "fold": "msmarco-passage-dev-bm25-rm3-k1=0.9-b=0.4-fold-{:02}",
    "middle": "msmarco-passage-dev-bm25-k1=0.{}-monot5-base-rerank-top1000",
    "unlike": "{0}{0} nothing is shared by these names, not even {0} one word {0}",
}


def scores(runs, shape, queries=100):
    """Values of runs with long names, of which some differ significantly."""
    rng = random.Random(runs)
    return {
        SHAPES[shape].format(place + 1): {
            f"topic-{query}": min(1.0, max(0.0, rng.gauss(0.3 + (7 * place % 20) / 80, 0.25)))
            for query in range(queries)
        }
        for place in range(runs)
    }


def pictures(runs, shape):
    """Every picture of runs, by name."""
    comparison = fastir.compare_scores(scores(runs, shape), "ndcg@10", correction="holm")
    qrels = {f"q{query}": {f"d{doc}": doc % 3 for doc in range(20)} for query in range(5)}
    rng = random.Random(1)
    rankings = {run: {q: {doc: rng.random() for doc in docs} for q, docs in qrels.items()} for run in comparison.runs}
    yield "means", plots.means(comparison, sort=True)
    yield "forest", plots.forest(comparison)
    yield "wins", plots.wins(comparison)
    yield "differences", plots.differences(comparison, *comparison.runs[:2])
    yield "cutoffs", plots.cutoffs(qrels, rankings, cutoffs=(1, 5, 20))
    yield "precision_recall", plots.precision_recall(qrels, rankings, sort=True)
