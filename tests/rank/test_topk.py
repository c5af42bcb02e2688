"""Rows of item numbers: the ranks are the columns, or follow from scores; blocks and threads change nothing."""

import numpy as np
import pytest

import fastir

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
METRICS = ["ndcg@10", "map", "mrr", "recall@5"]


@pytest.mark.parametrize("width", [1, 10, 300])
@pytest.mark.parametrize("scored", [False, True])
def test_rows_of_items_are_rankings_of_their_labels(width, scored):
    rng = np.random.default_rng(width)
    n = 200
    items = np.argsort(rng.random((n, 400)), axis=1)[:, :width]
    relevant = [rng.choice(400, 20, replace=False) for _ in range(n)]
    scores = rng.integers(0, 5, items.shape).astype(float) if scored else None
    order = np.argsort(-scores, axis=1, kind="stable") if scored else np.tile(np.arange(width), (n, 1))
    ranked = np.take_along_axis(items, order, axis=1)
    run = {q: {int(i): -float(rank) for rank, i in enumerate(row)} for q, row in enumerate(ranked)}
    qrels = {q: {int(i): 1 for i in row} for q, row in enumerate(relevant)}
    expected = fastir.evaluate(qrels, run, METRICS).values.tobytes()
    for n_threads in (1, 2):
        results = fastir.evaluate_topk(items, relevant, METRICS, scores=scores, n_threads=n_threads)
        assert results.values.tobytes() == expected
