"""From the values of the queries to one number: queries without relevant documents, weights, groups of queries."""

import math
import pickle
from fractions import Fraction

import gen
import pytest
from common import UNEVEN

import fastir

QRELS = {"q1": {"a": 1}, "q2": {"a": 0}, "q3": {"a": 2, "b": 1}}
RUN = {"q1": {"b": 5.0, "a": 1.0}, "q2": {"a": 1.0}, "q3": {"a": 2.0, "b": 1.0}}


@pytest.mark.parametrize(("empty", "value", "mean"), [
    ("zero", 0.0, 1.5 / 3), ("one", 1.0, 2.5 / 3), ("skip", math.nan, 1.5 / 2), ("nan", math.nan, math.nan),
])  # fmt: skip
@pytest.mark.parametrize("metric", ["mrr", "mrr(empty={})"])
def test_a_query_without_relevant_documents(metric, empty, value, mean):
    name = metric.format(empty)
    options = {} if "(" in metric else {"empty": empty}
    results = fastir.evaluate(QRELS, RUN, name, **options)
    assert results.per_query(name) == pytest.approx({"q1": 0.5, "q2": value, "q3": 1.0}, nan_ok=True, abs=0)
    assert results[name] == pytest.approx(mean, nan_ok=True, abs=0)


def test_what_counts_as_relevant_is_a_gain_for_graded_metrics():
    """At level 2 nothing of q1 is relevant, but its documents keep their gains."""
    results = fastir.evaluate(QRELS, RUN, ["mrr", "ndcg"], rel_level=2, empty="one")
    assert results.per_query("mrr") == {"q1": 1.0, "q2": 1.0, "q3": 1.0}
    assert results.per_query("ndcg") == {"q1": 1 / math.log2(3), "q2": 1.0, "q3": 1.0}


def test_nan_means_nan_for_that_metric_only():
    results = fastir.evaluate(QRELS, RUN, ["mrr(empty=nan)", "mrr", "gm_map(empty=nan)", "mrr(empty=skip)"])
    assert [math.isnan(mean) for mean in dict(results).values()] == [True, False, True, False]
    assert results.aggregates == {
        "mrr(empty=nan)": "mean_or_nan", "mrr": "mean", "gm_map(empty=nan)": "geometric_or_nan",
        "mrr(empty=skip)": "mean",
    }  # fmt: skip


def test_with_something_relevant_everywhere_the_policy_is_nothing():
    qrels = {query: judged for query, judged in QRELS.items() if query != "q2"}
    run = {query: RUN[query] for query in qrels}
    plain = fastir.evaluate(qrels, run, ["map", "ndcg"])
    for empty in ("one", "skip", "nan"):
        assert dict(fastir.evaluate(qrels, run, ["map", "ndcg"], empty=empty)) == dict(plain)


def test_a_weighted_mean_by_hand():
    results = fastir.evaluate(QRELS, RUN, ["mrr", "num_ret", "num_q", "gm_map"], weights={"q1": 3, "q2": 1, "q3": 0.5})
    assert results["mrr"] == (3 * 0.5 + 0.5 * 1) / 4.5
    assert (results["num_ret"], results["num_q"]) == (5, 3), "counts do not change"
    assert results["gm_map"] == pytest.approx((0.5**3 * 1e-5) ** (1 / 4.5), rel=1e-15)


def test_what_is_skipped_takes_its_weight_along():
    weights = {"q1": 3.0, "q2": 100.0, "q3": 1.0}
    results = fastir.evaluate(QRELS, RUN, ["mrr(empty=skip)", "mrr(empty=nan)"], weights=weights)
    assert results["mrr(empty=skip)"] == 2.5 / 4
    assert math.isnan(results["mrr(empty=nan)"])


def test_queries_that_the_run_lacks_leave_with_their_weight():
    run = {query: RUN[query] for query in ("q1", "q3")}
    weights = {"q1": 3.0, "q2": 100.0, "q3": 1.0, "elsewhere": 7.0}
    assert fastir.evaluate(QRELS, run, "mrr", queries="intersection", weights=weights)["mrr"] == 2.5 / 4
    assert fastir.evaluate(QRELS, run, "mrr", queries="qrels", weights=weights)["mrr"] == 2.5 / 104


@UNEVEN
@pytest.mark.parametrize("seed", range(4))
def test_weights_are_exact(seed):
    """The exact sum, rounded once; equal weights are none; in whatever order the queries come."""
    qrels, run = gen.collection(seed)
    names = ["map", "ndcg@3", "gm_map"]
    plain = fastir.evaluate(qrels, run, names)
    assert dict(fastir.evaluate(qrels, run, names, weights=dict.fromkeys(qrels, 1))) == pytest.approx(
        dict(plain), rel=1e-15, abs=0
    )
    assert fastir.evaluate(qrels, run, names, weights=dict.fromkeys(qrels, 1))["map"] == plain["map"]
    weights = {query: 0.1 * place for place, query in enumerate(qrels)}
    results = fastir.evaluate(qrels, run, names, weights=weights)
    total = sum(Fraction(weights[query]) * Fraction(value) for query, value in plain.per_query("map").items())
    assert results["map"] == float(total) / math.fsum(weights.values())
    turned = fastir.evaluate(dict(reversed(qrels.items())), run, names, weights=weights)
    assert dict(turned) == pytest.approx(dict(results), rel=1e-15, abs=0)
    assert (turned["map"], turned["ndcg@3"]) == (results["map"], results["ndcg@3"])


def test_no_weight_at_all_has_no_mean():
    assert math.isnan(fastir.evaluate(QRELS, RUN, "mrr", weights=dict.fromkeys(QRELS, 0))["mrr"])
    assert math.isnan(fastir.evaluate(QRELS, RUN, "gm_map", weights=dict.fromkeys(QRELS, 0))["gm_map"])


def test_weights_of_labels_in_rank_order():
    assert fastir.evaluate_ranked([1, 0, 1], [0, 1, 3], "mrr", weights={0: 1, 1: 3})["mrr"] == 2.5 / 4


@pytest.mark.parametrize(("weights", "error", "message"), [
    ({"q1": 1, "q2": 1}, ValueError, "weights: query 'q3' has no weight"),
    ({"q1": 1, "q2": -1, "q3": 1}, ValueError, r"0 or more and finite, got -1.0 \(query q2\)"),
    ({"q1": 1, "q2": math.nan, "q3": 1}, ValueError, r"0 or more and finite, got nan \(query q2\)"),
    ({"q1": 1, "q2": "much", "q3": 1}, TypeError, r"must be a number, got 'much' \(query q2\)"),
    ([1, 1, 1], TypeError, "weights must map query ids to numbers, got list"),
])  # fmt: skip
def test_weights_that_are_none(weights, error, message):
    with pytest.raises(error, match=message):
        fastir.Evaluator(QRELS, "mrr", weights=weights)


def test_weights_are_copied_and_survive_pickling():
    weights = {"q1": 3, "q2": 1, "q3": 0.5}
    evaluator = fastir.Evaluator(QRELS, "mrr", weights=weights)
    results = evaluator.evaluate(RUN)
    weights["q1"] = 10**6
    again = pickle.loads(pickle.dumps(evaluator)).evaluate(RUN)
    assert results["mrr"] == again["mrr"] == pickle.loads(pickle.dumps(results))["mrr"] == 2 / 4.5
    assert results == again != fastir.evaluate(QRELS, RUN, "mrr")


@pytest.mark.parametrize("weight", [float("inf"), float("nan"), -1.0, -5e-324])
def test_a_weight_is_finite_and_not_negative(weight):
    with pytest.raises(ValueError, match=r"weight must be 0 or more and finite, got .* \(query q2\)"):
        fastir.evaluate(QRELS, RUN, "mrr", weights={"q1": 1, "q2": weight, "q3": 1})
