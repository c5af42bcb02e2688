"""Values per query in any form are aligned: which queries are compared, and which values are refused."""

import itertools
import json
import math

import numpy as np
import pytest
from twenty_queries import ARRAYS, RANDOM, RUNS, numbers, random_runs

import fastir
from fastir import stats

QRELS = {"q1": {"a": 1}, "q2": {"a": 1, "b": 2}, "q3": {"c": 1}}
RANKINGS = {
    "good": {"q1": {"a": 2.0, "b": 1.0}, "q2": {"b": 2.0, "a": 1.0}, "q3": {"c": 3.0}},
    "poor": {"q1": {"b": 2.0, "a": 1.0}, "q2": {"c": 2.0, "a": 1.0}, "q3": {"d": 2.0, "c": 1.0}},
}


def by_pair(comparison):
    return {(pair.a, pair.b, pair.metric): pair for pair in comparison.pairs}


@pytest.mark.parametrize("options", RANDOM, ids=str)
def test_the_order_of_queries_and_runs_changes_no_bit(options):
    runs = random_runs(60, 4)
    backwards = {
        run: {metric: dict(reversed(values.items())) for metric, values in of_run.items()}
        for run, of_run in reversed(runs.items())
    }
    expected = by_pair(fastir.compare_scores(runs, n_resamples=3000, **options))
    for (a, b, metric), pair in by_pair(fastir.compare_scores(backwards, n_resamples=3000, **options)).items():
        other = expected[b, a, metric]
        assert (pair.p_value, pair.adjusted_p, pair.losses) == (other.p_value, other.adjusted_p, other.wins)
        assert pair.difference == -other.difference
        if options.get("interval") != "bca":  # whose levels are not symmetric
            assert pair.low == pytest.approx(-other.high, abs=1e-12)


def test_results_mappings_series_and_frames_are_the_same():
    results = {name: fastir.evaluate(QRELS, run, ["mrr", "ndcg@10"]) for name, run in RANKINGS.items()}
    expected = fastir.compare_scores(results)
    assert expected.metrics == ["mrr", "ndcg@10"]
    assert [(system.run, system.mean) for system in expected.systems[:2]] == [
        (name, results[name]["mrr"]) for name in results
    ]
    nested = {name: {metric: of_run.per_query(metric) for metric in of_run.names} for name, of_run in results.items()}
    frames = {name: of_run.to_pandas() for name, of_run in results.items()}
    for runs in (nested, frames, fastir.evaluate_many(QRELS, RANKINGS, ["mrr", "ndcg@10"])):
        assert numbers(fastir.compare_scores(runs)) == numbers(expected)
    bare = fastir.compare_scores({name: of_run.per_query("mrr") for name, of_run in results.items()}, "mrr")
    series = fastir.compare_scores({name: frame["mrr"] for name, frame in frames.items()}, ["mrr"])
    one = fastir.compare_scores(results, "mrr")
    assert numbers(bare) == numbers(series) == numbers(one) == numbers(expected)[:1] + numbers(expected)[2:4]


UNEVEN = {"a": {"q1": 0.5, "q2": 0.25, "q3": 1.0}, "b": {"q2": 0.5, "q3": 0.0, "q4": 0.75}}


def test_unequal_queries_need_a_rule():
    with pytest.raises(
        fastir.NoOverlapError,
        match="run 'a' has no score for query 'q4', which another run has; queries='intersection' leaves",
    ):
        fastir.compare_scores(UNEVEN)
    shared = fastir.compare_scores(UNEVEN, queries="intersection")
    assert (shared.query_ids, shared.pairs[0].difference, shared.method.unshared) == (["q2", "q3"], 0.375, 2)
    zero = fastir.compare_scores(UNEVEN, queries="qrels")
    assert (zero.query_ids, zero.pairs[0].difference, zero.method.unshared) == (["q1", "q2", "q3", "q4"], 0.125, 2)
    chosen = fastir.compare_scores(UNEVEN, queries=["q3"])
    assert (chosen.query_ids, chosen.pairs[0].difference) == (["q3"], 1.0)
    with pytest.raises(fastir.NoOverlapError, match="run 'b' has no score for query 'q1', which was requested"):
        fastir.compare_scores(UNEVEN, queries=["q1", "q3"])
    with pytest.raises(fastir.NoOverlapError, match="no query is left"):
        fastir.compare_scores({"a": {"q1": 1.0}, "b": {"q2": 1.0}}, queries="intersection")


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_a_query_that_results_call_missing_is_not_shared():
    results = {
        "good": fastir.evaluate(QRELS, RANKINGS["good"], "mrr"),
        "part": fastir.evaluate(QRELS, {"q2": {"a": 1.0}}, "mrr"),
    }
    assert fastir.compare_scores(results).query_ids == ["q1", "q2", "q3"]
    assert fastir.compare_scores(results, queries="intersection").query_ids == ["q2"]


def test_undefined_values_leave_the_query_out_for_all_runs():
    runs = {run: {"m": dict(values), "n": dict(values)} for run, values in RUNS.items()}
    runs["z"]["n"]["q03"] = math.nan
    comparison = fastir.compare_scores(runs)
    assert comparison.method.left_out == {"n": 1}
    without = {run: {query: value for query, value in values.items() if query != "q03"} for run, values in RUNS.items()}
    expected = fastir.compare_scores(without, "n")
    assert numbers(expected) == [*numbers(comparison)[3:6], *numbers(comparison)[9:]]
    assert {pair.n_queries for pair in comparison.pairs} == {19, 20}
    for values in runs["x"].values():
        values.update(dict.fromkeys(values, math.nan))
    with pytest.raises(ValueError, match="metric 'm': every query has a NaN in one of the runs"):
        fastir.compare_scores(runs)


def test_seeds_are_averaged_per_query():
    comparison = fastir.compare_scores({"m": [RUNS["x"], RUNS["y"]], "z": RUNS["z"]}, seeds="mean")
    mean = (ARRAYS["x"] + ARRAYS["y"]) / 2
    assert comparison.pairs[0].p_value == stats.t_test(mean, ARRAYS["z"]).p_value
    assert comparison.values[0, :, 0].tolist() == mean.tolist()
    assert comparison.method.seeds == "mean" and "seeds: mean" in str(comparison.method)


def test_folds_are_put_together():
    parts = [dict(itertools.islice(RUNS["x"].items(), first, last)) for first, last in ((0, 7), (7, 20))]
    whole = fastir.compare_scores(RUNS)
    assert numbers(fastir.compare_scores({**RUNS, "x": parts}, seeds="folds")) == numbers(whole)
    with pytest.raises(ValueError, match="run 'x': query 'q00' is in two folds"):
        fastir.compare_scores({"x": [parts[0], RUNS["x"]]}, seeds="folds")


def test_what_is_no_mean_over_queries_is_not_tested():
    geometric = fastir.evaluate(QRELS, RANKINGS["good"], ["map", "gm_map"])
    with pytest.raises(ValueError, match="metric 'gm_map' is a geometric mean"):
        fastir.compare_scores({"good": geometric})
    assert fastir.compare_scores({"good": geometric}, "map").metrics == ["map"]
    weighted = fastir.evaluate(QRELS, RANKINGS["good"], "map", weights={"q1": 2.0, "q2": 1.0, "q3": 1.0})
    with pytest.raises(ValueError, match="run 'good' has weighted means"):
        fastir.compare_scores({"good": weighted})


def test_saved_values_are_read_the_right_way_round(tmp_path):
    """What Results.to_dict gives and Results.save writes has the queries first."""
    names = ["mrr", "P@1", "auc"]
    results = dict(fastir.evaluate_many(QRELS, RANKINGS, names, queries="intersection"))
    expected = fastir.compare_scores(results)
    saved = {}
    for name, result in results.items():
        result.save(tmp_path / "values.json")
        saved[name] = json.loads((tmp_path / "values.json").read_text())
    frames = {name: result.to_pandas() for name, result in results.items()}
    fastir.ResultsByRun(results).save(tmp_path / "all.tsv")
    for name, result in results.items():
        result.save(tmp_path / f"{name}.parquet")
    for given in (
        saved, {name: tmp_path / f"{name}.parquet" for name in results}, str(tmp_path / "all.tsv"),
        {name: values["per_query"] for name, values in saved.items()},
        {name: result.to_dict() for name, result in results.items()}, frames,
    ):  # fmt: skip
        found = fastir.compare_scores(given)
        assert found.metrics == names and found.query_ids == ["q1", "q2", "q3"]
        np.testing.assert_array_equal(found.values, expected.values)
    turned = {"good": {"mrr": {"map": 0.5, "auc": 1.0}}, "bad": {"mrr": {"map": 0.25, "auc": 0.75}}}
    with pytest.raises(ValueError, match=r"run 'good': both 'mrr' and 'map' are names of metrics; say with metrics="):
        fastir.compare_scores(turned)
    assert fastir.compare_scores(turned, "mrr").query_ids == ["auc", "map"]
    assert fastir.compare_scores(turned, ["map", "auc"]).query_ids == ["mrr"]
    means = {name: {"mean": values["mean"]} for name, values in saved.items()}
    with pytest.raises(TypeError, match=r"run 'good': expected Results, .* got means alone"):
        fastir.compare_scores(means)
