"""Small runs with many ties, and judgments of some of their documents."""

import random


def made(n_runs=6, n_queries=5, n_docs=30, seed=0):
    """Runs with many ties, and qrels of some of their documents."""
    draw = random.Random(seed)
    runs = {
        f"run{r}": {
            f"q{q}": {f"d{d}": float(draw.randrange(8)) for d in draw.sample(range(n_docs), 12)}
            for q in range(n_queries)
        }
        for r in range(n_runs)
    }
    qrels = {
        f"q{q}": {f"d{d}": draw.randrange(-1, 3) for d in draw.sample(range(n_docs), 15)} for q in range(n_queries)
    }
    return qrels, runs
