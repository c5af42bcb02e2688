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
