"""The request for bounds: values are those of evaluate, and bad input is named."""

import itertools

import numpy as np
import pytest
from bounded import long_case

import fastir

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")


def test_values_are_those_of_evaluate_and_so_are_the_other_columns():
    labels, ranking = long_case(2, 30)
    qrels, run = {"q": labels, "r": labels}, {"q": ranking, "r": dict(list(ranking.items())[:7])}
    names = ["ndcg@10", "map", "P@5"]
    found = fastir.bounds(qrels, run, names, rel_level=2)
    assert found.value == fastir.evaluate(qrels, run, names, rel_level=2)
    assert found.condensed == fastir.evaluate(qrels, run, names, rel_level=2, judged_only=True)
    judged = fastir.evaluate(qrels, run, ["judged@10", "judged", "judged@5"])
    assert list(found.coverage.values()) == list(dict(judged).values())
    assert found.judged == fastir.judged_rankings(qrels, run)
    assert (found.max_label, found.pool_depth) == (3, None)


@pytest.mark.parametrize(("given", "error", "message"), [
    ({"max_label": 1}, ValueError, r"max_label=1, but the qrels have the label 2 \(query 'q2'\)"),
    ({"max_label": 0}, ValueError, "max_label must be a number above 0 and at most 2147483647, got 0"),
    ({"max_label": "2"}, TypeError, "max_label must be a number"),
    ({"pool_depth": 0}, ValueError, "pool_depth: the depth must be positive"),
    ({"ties": "optimistic"}, ValueError, "ties='optimistic' orders equal scores by their labels"),
    ({"ties": "pessimistic"}, ValueError, "ties='pessimistic' orders equal scores by their labels"),
    ({"ties": "average"}, ValueError, "ties='average' has no single order"),
    ({"metrics": "hole@5"}, fastir.UnknownMetricError, "hole@5"),
    ({"metrics": "err", "max_label": 5}, OverflowError, "metric 'err': max_label=5 is too large for max_grade=4"),
    ({"metrics": "ndcg(gain={1:3,2:1})"}, fastir.UnknownMetricError, "gains that fall somewhere"),
    ({"metrics": "rbp(gains={1:0.5})"}, fastir.UnknownMetricError, "scaled by the largest label"),
    ({"metrics": "nothing"}, fastir.UnknownMetricError, "nothing"),
])  # fmt: skip
def test_bad_input_is_named(given, error, message):
    qrels, run = {"q1": {"a": 1}, "q2": {"a": 2}}, {"q1": {"x": 1.0}, "q2": {"a": 1.0}}
    given = {"metrics": "map", **given}
    with pytest.raises(error, match=message):
        fastir.bounds(qrels, run, given.pop("metrics"), **given)


# ---- means are extreme where labels can leave a query out ------------------------------------------------------------
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
