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
