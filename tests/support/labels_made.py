"""Labels and scores of groups, and the same as dicts."""

import math

import numpy as np

SIZES = [0, 1, 2, 3, 0, 20, 31, 32, 33, 34, 118, 150, 300, 700]  # about what the kernels tell apart
LABELS = {
    "graded": lambda rng, n: rng.choice(5, n, p=[0.52, 0.32, 0.13, 0.02, 0.01]),
    "sparse": lambda rng, n: (rng.random(n) < 0.03).astype(int),
    "negative": lambda rng, n: rng.choice([-3, -2, -1, 0, 1, 2], n),
    "wide": lambda rng, n: rng.choice([0, 0, 1, 127, 128, 900], n),
}
SCORES = {
    "distinct": lambda rng, n: rng.permutation(n) - n / 2, "tied": lambda rng, n: rng.integers(0, 12, n),
    "all equal": lambda rng, n: np.zeros(n),
    "extreme": lambda rng, n: rng.choice([math.inf, -math.inf, 0.0, -0.0, 1.5], n),
    "falling": lambda rng, n: -np.arange(n), "rising": lambda rng, n: np.arange(n),
}  # fmt: skip


def collection(labels, scores):
    rng = np.random.default_rng(sum(map(ord, labels + scores)))
    n = sum(SIZES)
    return LABELS[labels](rng, n), np.concatenate([SCORES[scores](rng, size) for size in SIZES]).astype("f4")


NAMES = ["ndcg@10", "map", "mrr@5", "P@10", "recall@20", "bpref", "err@3"]


def bits(results):
    return results.values.tobytes()
