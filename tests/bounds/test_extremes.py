"""The extremes of a query: no labeling is beyond them, and neither threads nor other metrics change a bit."""

import random

import numpy as np
import pytest
from bounded import long_case, of_labelings
from every_option import METRICS

import fastir

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")


def test_random_labelings_of_long_rankings_are_within_the_bounds():
    random_ = random.Random(1)
    names = [name for name in METRICS if "gain" not in name]
    for seed in range(3):
        labels, ranking = long_case(seed, 40)
        unjudged = [doc for doc in ranking if doc not in labels]
        labelings = []
        for _ in range(60):
            share, top = random_.random(), random_.randint(1, 3)
            labelings.append({doc: random_.randint(0, top) * (random_.random() < share) for doc in unjudged})
        values = of_labelings(labels, ranking, names, labelings)
        found = fastir.bounds({"q": labels}, {"q": ranking}, names, max_label=3)
        inside = (found.lower.values <= values + 1e-13) & (values - 1e-13 <= found.upper.values) | np.isnan(values)
        assert inside.all(), [name for name, one in zip(found.lower.names, inside.T, strict=True) if not one.all()]


def test_threads_and_the_other_metrics_change_no_bit():
    cases = {str(seed): long_case(seed, 30) for seed in range(40)}
    qrels, run = {q: c[0] for q, c in cases.items()}, {q: c[1] for q, c in cases.items()}
    names = ["ndcg", "map", "r_precision", "err@5", "nerr@4", "bpref"]
    alone = fastir.bounds(qrels, run, names, n_threads=1)
    shared = fastir.bounds(qrels, run, names[::-1], n_threads=3)
    for name in names:
        assert alone.lower.per_query(name) == shared.lower.per_query(name)
        assert alone.upper.per_query(name) == shared.upper.per_query(name)
