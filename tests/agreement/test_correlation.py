"""Rank correlations against brute force, the authors' test vectors and SciPy."""

import json
import math

import pytest

import fastir
from fastir.errors import NoOverlapError


def test_less_may_be_better():
    one = fastir.rank_correlation({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 3, "c": 2}, "mean_rank")
    assert one.systems[0] == "a" and one.same_winner and [swap[:2] for swap in one.swaps] == [("b", "c")]


def test_options_are_checked_where_there_is_nothing_to_test():
    with pytest.raises(ValueError, match="unknown test"):
        fastir.rank_correlation({"a": 1, "b": 2}, {"a": 2, "b": 1}, test="z")
    with pytest.raises(ValueError, match="correction must be one of"):
        fastir.rank_correlation({"a": 1, "b": 2}, {"a": 2, "b": 1}, correction="all")


def test_series_are_leaderboards():
    pandas = pytest.importorskip("pandas")
    a, b = {"x": 1.0, "y": 2.0, "z": 3.0}, {"x": 2.0, "y": 1.0, "z": 3.0}
    assert fastir.rank_correlation(pandas.Series(a), pandas.Series(b)) == fastir.rank_correlation(a, b)
    with pytest.raises(ValueError, match="a: duplicate id 'x'"):
        fastir.rank_correlation(pandas.Series([1.0, 2.0], ["x", "x"]), b)


def test_constant_values_are_undefined():
    result = fastir.rank_correlation({"a": 1.0, "b": 2.0}, {"a": 1.0, "b": 1.0})
    assert math.isnan(result.tau_b) and math.isnan(result.tau_ap) and math.isnan(result.spearman)
    assert result.tau_ap_a == 0.0 and math.isnan(result.tau_ap_b) and result.swaps == []


@pytest.mark.parametrize(("a", "b", "error", "message"), [
    ({"a": 1.0}, {"a": 1.0}, ValueError, "two systems or more, got 1"),
    ({"a": 1.0, "b": 2.0}, {"a": 1.0, "c": 2.0}, NoOverlapError, "b has no value for system 'b'"),
    ({"a": 1.0}, {"a": 1.0, "c": 2.0}, NoOverlapError, "a has no value for system 'c'"),
    ({"a": 1.0, "b": math.nan}, {"a": 1.0, "b": 2.0}, ValueError, "a: the value of system 'b' is nan"),
    ({"a": 1.0, "b": "high"}, {"a": 1.0, "b": 2.0}, TypeError, "a: the value of system 'b' is 'high'"),
    ({"a": 1.0, "b": "2"}, {"a": 1.0, "b": 2.0}, TypeError, "a: the value of system 'b' is '2'"),
    ([1, 2], {"a": 1.0}, TypeError, "a must map systems to values or to Results, got list"),
])  # fmt: skip
def test_bad_input_is_named(a, b, error, message):
    with pytest.raises(error, match=message):
        fastir.rank_correlation(a, b)


# ---- circularity -----------------------------------------------------------------------------------------------------
BY_PEOPLE = {"bm25": 0.42, "dense": 0.45, "hybrid": 0.51, "random": 0.05, "reranked": 0.44}
BY_JUDGE = {"bm25": 0.47, "dense": 0.46, "hybrid": 0.62, "random": 0.11, "reranked": 0.7}


@pytest.mark.parametrize("metric", [None, "mean_rank"])
def test_systems_that_used_the_judge_are_left_out_beside_all(metric):
    found = fastir.rank_correlation(BY_PEOPLE, BY_JUDGE, metric, used_judge=["reranked"])
    plain = fastir.rank_correlation(BY_PEOPLE, BY_JUDGE, metric)
    rest = [{name: value for name, value in side.items() if name != "reranked"} for side in (BY_PEOPLE, BY_JUDGE)]
    alone = fastir.rank_correlation(*rest, metric)
    assert found.without == alone and found.used_judge == ["reranked"]
    assert (plain.without, plain.used_judge) == (None, [])
    assert [found.tau_b, found.tau_ap, found.swaps] == [plain.tau_b, plain.tau_ap, plain.swaps]
    way = "better" if metric is None else "worse"
    text = " ".join(repr(found).split())
    assert f"1 system used the judge of b (reranked): on average 2 ranks {way} in b than in a. Without: tau_b " in text
    assert f"Without: tau_b {alone.tau_b:.4f}, tau_ap {alone.tau_ap:.4f}" in text
    data = json.loads(found.to_json())
    assert data["used_judge"] == ["reranked"] and data["without"]["tau_ap"] == alone.tau_ap
    assert "without" not in json.loads(plain.to_json())


def test_systems_that_used_the_judge_and_did_not_rise_say_so():
    found = fastir.rank_correlation(BY_PEOPLE, BY_PEOPLE, used_judge=("dense", "bm25"))
    assert found.used_judge == ["dense", "bm25"]
    assert "2 systems used the judge of b (dense, bm25): on average no rank better in b" in " ".join(
        repr(found).split()
    )


@pytest.mark.parametrize(("used", "error", "message"), [
    ("bm25", TypeError, "used_judge must be a list of systems, got str 'bm25'"),
    (["bm52"], ValueError, "used_judge: there is no system 'bm52'; did you mean 'bm25'"),
    (["bm25", "dense", "hybrid", "random"], ValueError, "used_judge leaves 1 of 5 systems; expected two"),
])  # fmt: skip
def test_systems_that_used_the_judge_must_be_known_and_leave_two(used, error, message):
    with pytest.raises(error, match=message):
        fastir.rank_correlation(BY_PEOPLE, BY_JUDGE, used_judge=used)


RUNS = {"first": {"q": ["x", "y"], "p": ["x", "y"]}, "second": {"q": ["y", "x"], "p": ["x", "y"]}}
QRELS = {"q": {"x": 1}, "p": {"x": 1}}


def test_the_only_metric_of_results_need_not_be_said():
    found = fastir.rank_correlation(
        *(fastir.evaluate_many(qrels, RUNS, "mrr") for qrels in (QRELS, {"q": {"x": 0}, "p": {"y": 1}}))
    )
    assert found.metric == "mrr"
    assert (found.a, found.b) == ({"first": 1.0, "second": 0.75}, {"first": 0.25, "second": 0.25})


@pytest.mark.parametrize(("a", "error", "message"), [
    (lambda of: of["first"], TypeError, "a must map systems to values or to Results, got the Results of a single"),
    (lambda of: {**of, "third": 1.0}, TypeError, "a: system 'third' has no Results, as others have, but 1.0"),
    (lambda of: {"first": of["first"], "second": fastir.evaluate(QRELS, RUNS["second"], "map")}, ValueError,
     r"a: system 'second' has no metric 'mrr'; it has .*map"),
], ids=["one run", "a number among results", "another metric"])  # fmt: skip
def test_leaderboards_that_are_mixed_are_named(a, error, message):
    results = fastir.evaluate_many(QRELS, RUNS, "mrr")
    with pytest.raises(error, match=message):
        fastir.rank_correlation(a(results), results)


A, B = {"low": 1, "mid": 2, "top": 3}, {"low": 2, "mid": 3, "top": 1}


def test_csv_has_the_exact_numbers():
    found = fastir.rank_correlation({"a": 1 / 3, "b": 0.0}, {"a": 0.0, "b": 1 / 3})
    assert found.to_table("csv").splitlines()[1].startswith(f"a,b,{1 / 3!r},{-1 / 3!r},nan,nan,")


@pytest.mark.parametrize("side", [0, 1])
def test_results_on_either_side_say_by_which_metric_less_is_better(side):
    runs = {"good": {"q": ["x", "y", "z"]}, "bad": {"q": ["y", "z", "x"]}}
    results = fastir.evaluate_many({"q": {"x": 1}}, runs, "mean_rank")
    both = [{"good": 1.0, "bad": 3.0}, {"good": 1.0, "bad": 3.0}]
    both[side] = results
    found = fastir.rank_correlation(*both)
    assert found.metric == "mean_rank" and found.systems == ["good", "bad"] and found.same_winner


def test_of_a_metric_without_a_direction_more_stands_first():
    found = fastir.rank_correlation(A, B, "num_ret")
    assert found.systems == ["top", "mid", "low"] and found.tau_b == fastir.rank_correlation(A, B).tau_b


def test_several_best_systems_are_plural():
    assert "a and b are best by a, b by b" in str(fastir.rank_correlation({"a": 1, "b": 1}, {"a": 1, "b": 2}))
    assert "a and b are best by both" in str(fastir.rank_correlation({"a": 1, "b": 1}, {"a": 1, "b": 1}))
