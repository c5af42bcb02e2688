"""Judgments and a run whose judged rankings several files of tests look at."""

import gen
import numpy as np
from common import EXAMPLES

import fastir

QRELS, RUN = (str(EXAMPLES / name) for name in ("qrels.txt", "bm25.run"))

CATALOGUE = [card.spelled() for card in fastir.metrics()]


def possible(qrels, names, **options):
    """The metrics among `names` that qrels without groups and an order of documents can answer."""
    found = []
    for name in names:
        try:
            fastir.Evaluator(qrels, name, **options)
            fastir.judged_rankings(qrels, {query_id: {} for query_id in qrels}, queries="qrels").evaluate(
                name, **options
            )
        except (fastir.FastirError, ValueError):
            continue
        found.append(name)
    return found


def pairs(seed, n=1):
    """Pairs of short rankings with some documents in common, and with ties."""
    random = np.random.default_rng(seed)
    for _ in range(n):
        sizes = random.integers(1, 12, 2).tolist()
        yield [
            {f"d{doc}": float(random.integers(0, 6)) for doc in random.permutation(15)[:size].tolist()}
            for size in sizes
        ]


def labelled(ranked, extra=(), scores=None):
    """One query whose ranking has these labels (None: not in the qrels) and whose qrels have those extra ones."""
    docs = [f"d{place:02}" for place in range(len(ranked))]
    judged = {doc: label for doc, label in zip(docs, ranked, strict=True) if label is not None}
    judged.update({f"x{place}": label for place, label in enumerate(extra)})
    scores = scores or [float(len(docs) - place) for place in range(len(docs))]
    return {"q": judged}, {"q": dict(zip(docs, scores, strict=True))}


def same(found, expected):
    assert found.query_ids == expected.query_ids and found.status == expected.status
    assert found.names == expected.names and found.aggregates == expected.aggregates
    assert np.array_equal(found.values, expected.values, equal_nan=True)
    assert [repr(mean) for mean in dict(found).values()] == [repr(mean) for mean in dict(expected).values()]


QRELS_OF_ALL, RUN_OF_ALL = gen.collection(0)
METRICS = possible(QRELS_OF_ALL, CATALOGUE)

GOOD = {
    "query_ids": ["q", "r"], "offsets": [0, 2, 3], "ranks": [1, 3, 2], "labels": [1, 0, -1],
    "num_ret": [5, 2], "ideal_offsets": [0, 3, 4], "ideal_labels": [2, 1, 0, -1],
}  # fmt: skip
