"""Means are extreme where labels can leave a query out."""

import itertools

import numpy as np
import pytest

import fastir

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")


@pytest.mark.parametrize("weights", [None, {"a": 1.0, "b": 3.0, "c": 0.5}])
@pytest.mark.parametrize("name", ["mrr", "mean_rank", "auc", "ndcg@2", "gm_map"])
def test_means_are_extreme_where_labels_can_leave_a_query_out(name, weights):
    qrels = {"a": {"d0": 1, "d3": 0}, "b": {"d1": 0}, "c": {"d2": 0, "d0": 0}}
    run = {
        "a": {"d0": 4, "d1": 3, "d3": 2},
        "b": {"d1": 3, "d0": 2, "d4": 1},
        "c": {"d0": 3, "d5": 2, "d2": 1, "d6": 0},
    }
    unjudged = [(query, doc) for query in run for doc in run[query] if doc not in qrels[query]]
    means = []
    for given in itertools.product((0, 1), repeat=len(unjudged)):
        labelled = {query: dict(labels) for query, labels in qrels.items()}
        for (query, doc), label in zip(unjudged, given, strict=True):
            labelled[query][doc] = label
        means.append(fastir.evaluate(labelled, run, name, empty="skip", weights=weights)[name])
    found = fastir.bounds(qrels, run, name, empty="skip", weights=weights)
    assert np.isclose(found.lower[name], np.nanmin(means), rtol=1e-14)
    assert np.isclose(found.upper[name], np.nanmax(means), rtol=1e-14)
