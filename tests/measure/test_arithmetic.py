"""Discounts far down the ranking."""

import math

import numpy as np

import fastir


def test_discounts_far_down():
    """log2 is our own: one relevant document at each rank, around powers of two and far below them."""
    ranks = sorted({2**power + step for power in range(2, 19) for step in (-2, -1, 0, 1)} | {1, 5000, 77_777, 300_000})
    labels = np.full(sum(ranks), -1, "i1")
    offsets = np.cumsum([0, *ranks])
    labels[offsets[1:] - 1] = 1
    results = fastir.evaluate_ranked(labels, offsets, ["dcg", "dcg(discount=jk2)"])
    expected = [(1 / math.log2(rank + 1), 1 / math.log2(max(rank, 2))) for rank in ranks]
    np.testing.assert_allclose(results.values, expected, rtol=3e-16, atol=0)


def test_exponential_gains_of_small_labels_lose_no_digit():
    """2^label - 1 below label 1 is expm1(label ln 2); a document with a label above 0 always has a gain."""
    labels = [1e-300, 1e-17, 1e-16, 1e-10, 1e-5, 0.001, 0.1, 0.25, 0.5, 0.75, 0.999, math.nextafter(1, 0)]
    for label in labels:
        found = fastir.evaluate({"q": {"a": label}}, {"q": {"a": 1.0}}, ["dcg_burges", "ndcg_burges"])
        assert math.isclose(found["dcg_burges"], math.expm1(label * math.log(2)), rel_tol=4e-16)
        assert found["ndcg_burges"] == 1.0
    for label in (1.0, 2.0, 3.0):  # among fractions, too, whole labels keep their bits
        assert (
            fastir.evaluate({"q": {"a": label, "b": 0.5}}, {"q": {"a": 1.0}}, "dcg_burges")["dcg_burges"]
            == 2**label - 1
        )
