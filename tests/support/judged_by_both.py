"""A small collection that a judge and humans judged."""

import numpy as np

METRICS = ["precision@5", "ndcg@5", "map", "mrr", "recall@5"]


def collection(seed, n_queries=30, n_docs=20, share=0.3):
    """The truth, a judge that confuses labels, a random sample of human labels, and two runs, as dicts."""
    random = np.random.default_rng(seed)
    relevance = random.normal(random.normal(0, 0.5, (n_queries, 1)), 1, (n_queries, n_docs))
    true = (relevance > 0.8).astype(int) + (relevance > 1.6)
    judge = np.clip(true + random.choice([-1, 0, 0, 0, 1], true.shape), 0, 2)
    seen = random.random(true.shape) < share

    def dicts(table, kept=None):
        rows = {
            f"q{query}": {
                f"d{doc}": table[query, doc].item() for doc in range(n_docs) if kept is None or kept[query, doc]
            }
            for query in range(n_queries)
        }
        return {query: docs for query, docs in rows.items() if docs}

    runs = {
        name: dicts(slope * relevance + random.normal(0, 1, true.shape)) for name, slope in (("a", 1.0), ("b", 0.3))
    }
    return dicts(true), dicts(judge), dicts(true, seen), runs


TRUE, JUDGE, HUMAN, RUNS = collection(1)
