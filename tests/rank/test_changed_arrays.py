"""Arrays that another thread changes during a call: an error, or values in their range, never anything else."""

import threading

import numpy as np
import pytest

import fastir

RANDOM = np.random.default_rng(5)


def matrix(ties, layout):
    rows, columns = 64, 3000
    scores = np.asarray(RANDOM.random((rows, columns)), order=layout)
    relevant = [RANDOM.choice(columns, 12, replace=False) for _ in range(rows)]
    exclude = [np.setdiff1d(RANDOM.choice(columns, 800, replace=False), own) for own in relevant]
    names = ["ndcg@10", "map", "mrr", "recall@100", "num_ret"]

    def call():
        results = fastir.evaluate_matrix(scores, relevant, names, exclude=exclude, ties=ties)
        assert (results.values[:, 4] == columns - np.array([len(own) for own in exclude])).all()
        return results.values[:, :4]

    return scores, call


def groups():
    scores = RANDOM.random(40_000)
    labels = (RANDOM.random(40_000) < 0.05).astype(np.int8)
    offsets = np.arange(0, 40_001, 400)
    return scores, lambda: fastir.evaluate_scores(labels, scores, ["ndcg", "map", "mrr"], offsets=offsets).values


@pytest.mark.parametrize("make", [
    *(lambda ties=ties, layout=layout: matrix(ties, layout) for ties in ("input", "average") for layout in "CF"),
    groups,
], ids=["input, rows", "input, columns", "average, rows", "average, columns", "groups"])  # fmt: skip
def test_values_stay_in_their_range(make):
    scores, call = make()
    whole = scores.copy()
    right = call()
    ended = threading.Event()

    def scribble():
        random = np.random.default_rng(8)
        while not ended.is_set():
            np.copyto(scores, random.integers(0, 3, scores.shape))
            np.copyto(scores, whole)

    thread = threading.Thread(target=scribble)
    thread.start()
    try:
        for _ in range(100):
            try:
                values = call()
            except RuntimeError as error:
                assert "changed while they were read" in str(error)
            else:
                assert ((values >= 0) & (values <= 1)).all()
    finally:
        ended.set()
        thread.join()
    np.copyto(scores, whole)
    assert call().tobytes() == right.tobytes()
