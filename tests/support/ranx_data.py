"""Judgments and a run as ranx has them, and such as BEIR and MTEB may get."""

import random

QRELS = {"q2": {"a": 1, "b": 3, "c": 0}, "q1": {"d": 2, "e": -1, "f": 1}}
RUN = {"q1": {"e": 0.9, "d": 0.8, "x": 0.7}, "q2": {"x": 3.0, "b": 2.0, "c": 1.5, "a": 1.0}}
CUT = ["hits", "hit_rate", "precision", "recall", "f1", "mrr", "map", "dcg", "dcg_burges", "ndcg", "ndcg_burges"]
NAMES = [f"{name}{rest}" for name in CUT for rest in ("", "@3", "@0", "-l2", "@50-l0")]


def collection(seed):
    """Queries of up to 15 documents with equal scores, empty rankings, negative labels.

    All ids here have three letters: ranx compiles itself once more for every other length.
    """
    rng = random.Random(seed)
    docs = [f"d{place}" for place in range(10, 40)]
    qrels = {
        f"q{i}": {d: rng.choice((-1, 0, 0, 1, 2, 3)) for d in rng.sample(docs, rng.randint(1, 12))} for i in range(12)
    }
    run = {q: {d: rng.choice((0.5, 1.0, rng.random())) for d in rng.sample(docs, rng.randint(0, 15))} for q in qrels}
    return qrels, run


def odd_collection(seed, sizes, least=1, unknown=()):
    """With ties of all kinds, documents called like queries, empty rankings and, at times, unknown queries."""
    rng = random.Random(seed)
    pool = [f"d{number}" for number in range(60)] + [f"q{number}" for number in range(max(sizes))]
    grade = rng.choice([(0, 1), (1,), (0, 1, 2)])
    near = [lambda: float(rng.randint(0, 5)), rng.random, lambda: 1.0 + rng.randint(0, 5) * 1e-9]
    score = rng.choice([*near, lambda: rng.randint(0, 30)])
    queries = [f"q{number}" for number in range(rng.choice(sizes))]
    qrels = {query: {doc: rng.choice(grade) for doc in rng.sample(pool, rng.randint(least, 20))} for query in queries}
    some = rng.sample([*queries, *unknown], rng.randint(1, len(queries)))
    return qrels, {query: {doc: score() for doc in rng.sample(pool, rng.randint(0, 60))} for query in some}
