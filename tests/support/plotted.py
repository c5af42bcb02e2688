"""Runs whose pictures are drawn."""

import itertools
import random

NAMES = ["bm25", "_hidden", "50$ or $60", "a name that is much too long to be read beside a picture"]


def collection(runs, queries=12):
    rng = random.Random(runs)
    qrels = {f"q{number}": {f"d{doc}": rng.choice((0, 0, 1, 2)) for doc in range(9)} for number in range(queries)}
    names = itertools.islice(itertools.chain(NAMES, map(str, itertools.count())), runs)
    return qrels, {
        name: {
            query: {doc: rng.random() + place * label / 20 for doc, label in docs.items()}
            for query, docs in qrels.items()
        }
        for place, name in enumerate(names)
    }
