"""JudgedRankings have the values of evaluate() for any metrics, from arrays and after a pickle, too."""
# Also of: rankings_values.

import pickle

import numpy as np
import pytest

import fastir

QRELS = {"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d1": 1, "d4": 1}, "q3": {"d9": 1}}
RUN = {"q1": {"d1": 3.0, "d2": 2.5, "d3": 2.0}, "q2": {"d5": 9.0, "d4": 8.0, "d1": 7.0}}
METRICS = ["ndcg@2", "map", "mrr", "P@2", "bpref", "num_ret"]
ARRAYS = ("num_ret", "offsets", "ranks", "labels", "ideal_offsets", "ideal_labels")


@pytest.fixture
def judged():
    return fastir.judged_rankings(QRELS, RUN, queries="qrels")


def test_values_are_those_of_evaluate(judged):
    expected = fastir.evaluate(QRELS, RUN, METRICS, queries="qrels")
    arrays = {name: getattr(judged, name) for name in ARRAYS}
    for rankings in (
        judged, pickle.loads(pickle.dumps(judged)), fastir.JudgedRankings.from_arrays(judged.query_ids, **arrays),
    ):  # fmt: skip
        found = rankings.evaluate(METRICS)
        assert found.query_ids == expected.query_ids
        np.testing.assert_array_equal(found.values, expected.values)
