"""Judgments and a run as ranx has them."""

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
