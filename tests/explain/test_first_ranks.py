"""The first documents of all queries at once; tests/report/test_rankings.py compares them with those of `explain`."""

import random

import fastir
from fastir.analyses.explain import first_ranks

SIZES = [0, 1, 4, 5, 6, 63, 64, 65]


def test_blocks_of_queries_do_not_show(monkeypatch):
    rng = random.Random(1)
    docs = [f"d{place}" for place in range(80)]
    qrels = {f"q{n}": {doc: rng.randrange(-1, 3) for doc in rng.sample(docs, 40)} for n in SIZES}
    run = {f"q{n}": {doc: float(rng.randrange(9)) for doc in rng.sample(docs, n)} for n in SIZES if n}
    evaluator = fastir.Evaluator(qrels, ["ndcg", "map"], queries="qrels")
    found = []
    for size in (1, 50, 1 << 20):
        monkeypatch.setattr(first_ranks, "BLOCK_LABELS", size)
        found.append(list(first_ranks.explain_first(evaluator, run, list(qrels), 5, 1)))
    assert found[0] == found[1] == found[2] and len(found[0]) == len(qrels)
