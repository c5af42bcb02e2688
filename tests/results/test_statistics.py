"""Intervals of means and other statistics of a single run: SciPy's numbers, slow twins, and what has none."""

import csv
import io
import json
import math
import random
import re
import statistics
import sys
from fractions import Fraction

import numpy as np
import pytest

import fastir
from fastir import stats
from fastir.data.results import results as results_module
from fastir.data.results.statistics import METHODS

pytest.importorskip("scipy")

RNG = random.Random(7)
QRELS = {f"q{i}": {f"d{j}": 1 if j == 3 else RNG.choice((0, 0, 1, 2)) for j in range(6)} for i in range(25)}
RUNS = {name: {query: {doc: RNG.random() for doc in docs} for query, docs in QRELS.items()} for name in ("a", "b")}
METRICS = ["ndcg@3", "mrr", "num_ret", "gm_map"]
WEIGHTS = {query: RNG.choice((0.0, 0.5, 1.0, 3.0)) for query in QRELS}
SEVERAL = fastir.evaluate_many(QRELS, RUNS, METRICS)
RESULTS = SEVERAL["a"]


def column(metric, results=RESULTS):
    return np.array(list(results.per_query(metric).values()))


# ---- intervals -----------------------------------------------------------------------------------------------------
def test_intervals_are_those_of_stats():
    values = column("ndcg@3")
    assert RESULTS.interval("ndcg@3", "t") == stats.t_interval(values)[1:3]
    for method in ("percentile", "bca"):
        assert RESULTS.interval("ndcg@3", method) == stats.bootstrap_interval(values, method=method)[1:3]
    assert (
        RESULTS.interval("ndcg@3")
        == RESULTS.interval("ndcg@3", "percentile")
        == RESULTS.interval("ndcg@3", "percentile")
    )
    options = {"n_resamples": 500, "random_state": 3}
    found = RESULTS.interval("mrr", "bca", 0.8, **options, n_threads=2)
    assert found == stats.bootstrap_interval(column("mrr"), method="bca", confidence=0.8, **options)[1:3]
    assert (found.low, found.high) == tuple(found) and found.low < RESULTS["mrr"] < found.high


def test_student_t_is_scipys():
    from scipy.stats import sem, t

    values = column("mrr")
    expected = t.interval(0.9, len(values) - 1, values.mean(), sem(values))
    assert RESULTS.interval("mrr", "t", 0.9) == pytest.approx(expected, rel=1e-12)


def test_the_bootstrap_needs_no_scipy(monkeypatch):
    from fastir.stats import _checks

    _checks.special.cache_clear()
    monkeypatch.setitem(sys.modules, "scipy", None)
    low, high = RESULTS.interval("mrr")
    own_quantiles = RESULTS.interval("mrr", "t")
    assert low < RESULTS["mrr"] < high and "[" in SEVERAL.to_table(interval="percentile")
    with pytest.raises(ImportError, match="needs SciPy"):
        RESULTS.interval("mrr", "bca")
    monkeypatch.undo()
    _checks.special.cache_clear()
    assert own_quantiles == pytest.approx(RESULTS.interval("mrr", "t"), rel=1e-10)


def test_the_interval_of_a_geometric_mean_is_that_of_the_logarithms():
    logs = np.log(column("gm_map"))
    for method in ("t", "percentile", "bca"):
        of_logs = stats.t_interval(logs) if method == "t" else stats.bootstrap_interval(logs, method=method)
        assert RESULTS.interval("gm_map", method) == tuple(map(math.exp, of_logs[1:3]))
        assert RESULTS.interval("gm_map", method).low < RESULTS["gm_map"] < RESULTS.interval("gm_map", method).high


def test_queries_that_are_undefined_are_left_out_as_of_the_mean():
    qrels = {**QRELS, "none": {"x": 0}}
    run = {**RUNS["a"], "none": {"x": 1.0}}
    skipped = fastir.evaluate(qrels, run, "ndcg@3", empty="skip")
    assert skipped.interval("ndcg@3", "t") == RESULTS.interval("ndcg@3", "t") and len(skipped.query_ids) == 26
    assert skipped.statistic("ndcg@3", "median") == RESULTS.statistic("ndcg@3", "median")
    undefined = fastir.evaluate(qrels, run, "ndcg@3", empty="nan")
    assert all(map(math.isnan, undefined.interval("ndcg@3"))) and math.isnan(undefined["ndcg@3"])
    assert math.isnan(undefined.statistic("ndcg@3", max))


@pytest.mark.parametrize("method", METHODS)
def test_one_value_has_no_interval_and_equal_ones_have_their_mean(method):
    one = fastir.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "mrr")
    assert all(map(math.isnan, one.interval("mrr", method)))
    assert "[" not in one.to_table(interval=method) and "±" not in one.to_table(interval=method)
    assert json.loads(one.to_json(False, method))["intervals"]["means"]["mrr"] == {"low": None, "high": None}
    same = {"weights": {"q": 1.0, "r": 2.0}}
    for options in ({}, same):
        two = fastir.evaluate({"q": {"a": 1}, "r": {"a": 1}}, {"q": {"a": 1.0}, "r": {"a": 1.0}}, "mrr", **options)
        assert two.interval("mrr", method) == (1.0, 1.0)
    nothing = fastir.evaluate({"q": {"a": 0}}, {"q": {"a": 1.0}}, "mrr", empty="skip")
    assert all(map(math.isnan, nothing.interval("mrr", method)))


@pytest.mark.parametrize("method", METHODS)
def test_weighted_intervals(method):
    weighted = fastir.evaluate(QRELS, RUNS["a"], METRICS, weights=WEIGHTS)
    low, high = weighted.interval("mrr", method)
    assert low < weighted["mrr"] < high
    counted = {query: docs for query, docs in QRELS.items() if WEIGHTS[query]}
    alone = fastir.evaluate(counted, RUNS["a"], METRICS, weights=WEIGHTS, queries="intersection")
    assert alone.interval("mrr", method) == (low, high), "queries of weight 0 count for nothing"
    equal = fastir.evaluate(QRELS, RUNS["a"], METRICS, weights=dict.fromkeys(QRELS, 2.0))
    for metric in ("mrr", "gm_map"):
        assert equal.interval(metric, method) == pytest.approx(RESULTS.interval(metric, method), abs=1e-9)


def test_what_has_no_interval_is_refused():
    with pytest.raises(ValueError, match="'num_ret' is a sum over the queries; only a mean has an interval"):
        RESULTS.interval("num_ret")
    with pytest.raises(KeyError, match="'map' was not evaluated"):
        RESULTS.interval("map")
    with pytest.raises(ValueError, match="method must be one of 'percentile', 'bca', 't', got 'bcaa'"):
        RESULTS.interval("mrr", "bcaa")
    with pytest.raises(ValueError, match="confidence must be between 0 and 1"):
        RESULTS.interval("mrr", confidence=95)
    with pytest.raises(ValueError, match="n_resamples must be at least 1"):
        RESULTS.interval("mrr", n_resamples=0)
    values = np.array([[1.0], [math.inf]])
    infinite = fastir.Results(["q1", "q2"], ["m"], values, np.zeros(2, np.uint8), ["mean"], None)
    with pytest.raises(ValueError, match="metric 'm': query 'q2' has the value inf; it has no interval"):
        infinite.interval("m")


def test_the_default_of_resamples_is_that_of_stats():
    assert results_module.N_RESAMPLES == stats._checks.N_RESAMPLES


# ---- in tables and JSON --------------------------------------------------------------------------------------------
def test_tables_show_intervals_behind_the_means():
    low, high = RESULTS.interval("mrr", "t")
    text = RESULTS.to_table(interval="t")
    assert (
        re.search(f"{RESULTS['mrr']:.4f} +± {(high - low) / 2:.4f}", text)
        and "95 % intervals of the means (Student" in text
    )
    of_logs = RESULTS.interval("gm_map", "t")
    assert "[{:.4f}, {:.4f}]".format(*of_logs) in text, "a geometric mean is not in the middle"
    assert [line.count("±") for line in text.splitlines() if line.startswith("num_ret")] == [0]
    low, high = SEVERAL["b"].interval("mrr", "bca", 0.9)
    assert f"[{low:.3f}, {high:.3f}]" in SEVERAL.to_table(interval="bca", confidence=0.9, digits=3)
    assert "90 % intervals" in SEVERAL.to_table("markdown", interval="bca", confidence=0.9)
    assert "± 0." in SEVERAL.to_table("html", interval="t") and r"$\pm$ 0." in SEVERAL.to_table("latex", interval="t")
    assert SEVERAL.to_table(interval=None) == SEVERAL.to_table() and "[" not in repr(SEVERAL)


def test_csv_has_columns_for_them():
    rows = list(csv.DictReader(io.StringIO(SEVERAL.to_table("csv", interval="t"))))
    assert list(rows[0]) == [
        *("run", "ndcg@3", "ndcg@3 low", "ndcg@3 high", "mrr", "mrr low", "mrr high", "num_ret"),
        *("gm_map", "gm_map low", "gm_map high"),
    ]
    for row in rows:
        for metric in ("ndcg@3", "mrr", "gm_map"):
            found = float(row[f"{metric} low"]), float(row[f"{metric} high"])
            assert found == SEVERAL[row["run"]].interval(metric, "t")
    one = list(csv.DictReader(io.StringIO(RESULTS.to_table("csv", interval="percentile"))))
    assert list(one[0]) == ["metric", "mean", "low", "high"] and one[2]["low"] == one[2]["high"] == ""
    assert (float(one[1]["low"]), float(one[1]["high"])) == RESULTS.interval("mrr")


def test_rows_per_query_end_with_them():
    rows = list(csv.DictReader(io.StringIO(RESULTS.to_table("csv", per_query=True, interval="t"))))
    assert [row["query_id"] for row in rows[-3:]] == ["mean", "low", "high"] and len(rows) == 28
    assert tuple(float(row["mrr"]) for row in rows[-2:]) == RESULTS.interval("mrr", "t")
    assert [row["num_ret"] for row in rows[-2:]] == ["", ""]


def test_json_has_fields_for_them_and_reads_back(tmp_path):
    file = tmp_path / "results.json"
    for results, at in ((RESULTS, lambda data: data), (SEVERAL, lambda data: data["runs"]["a"])):
        text = results.to_json(interval="t", confidence=0.9)
        intervals = at(json.loads(text))["intervals"]
        assert (intervals["method"], intervals["confidence"]) == ("t", 0.9)
        low, high = RESULTS.interval("mrr", "t", 0.9)
        assert intervals["means"]["mrr"] == {"low": low, "high": high} and intervals["means"]["num_ret"] is None
        file.write_text(text)
        assert fastir.load_results(file) == results
        assert "intervals" not in at(json.loads(results.to_json()))


# ---- other statistics ----------------------------------------------------------------------------------------------
def test_statistics_of_the_values():
    values = column("ndcg@3").tolist()
    assert RESULTS.statistic("ndcg@3", "median") == statistics.median(values)
    for level in (0, 0.1, 0.25, np.float64(0.9), 1):
        place = level * (len(values) - 1)
        below, above = sorted(values)[int(place)], sorted(values)[math.ceil(place)]
        assert RESULTS.statistic("ndcg@3", level) == pytest.approx(below + (above - below) * (place - int(place)))
    assert RESULTS.statistic("ndcg@3", "share_zero") == values.count(0) / len(values) > 0
    assert RESULTS.statistic("ndcg@3", "geometric") == 0, "of a product that has a zero"
    assert RESULTS.statistic("gm_map", "geometric") == RESULTS["gm_map"]
    assert RESULTS.statistic("num_ret", "median") == 6
    assert RESULTS.statistic("mrr", lambda column: (column > 0.5).mean()) == (column("mrr") > 0.5).mean()


def test_a_function_cannot_change_the_values():
    before = RESULTS.values.copy()

    def zero(values):
        values[:] = 0
        return 1

    assert RESULTS.statistic("mrr", zero) == 1 and (RESULTS.values == before).all()


def test_weighted_statistics():
    weighted = fastir.evaluate(QRELS, RUNS["a"], METRICS, weights=WEIGHTS)
    pairs = sorted((value, WEIGHTS[query]) for query, value in weighted.per_query("mrr").items())
    whole = sum(Fraction(weight) for _, weight in pairs)
    for level in (0.0, 0.2, 0.5, 0.8, 1.0):
        reached = Fraction(0)
        values = []
        for value, weight in pairs:
            reached += Fraction(weight)
            if weight and reached >= Fraction(level) * whole:
                values.append(value)
        assert weighted.statistic("mrr", level) == values[0]
    assert weighted.statistic("mrr", "median") == weighted.statistic("mrr", 0.5)
    zeros = [WEIGHTS[query] for query, value in weighted.per_query("ndcg@3").items() if value == 0]
    assert weighted.statistic("ndcg@3", "share_zero") == pytest.approx(sum(zeros) / float(whole))
    assert weighted.statistic("gm_map", "geometric") == weighted["gm_map"]
    with pytest.raises(ValueError, match="a function would not see the weights"):
        weighted.statistic("mrr", max)


def test_what_is_no_statistic_is_refused():
    for statistic, kind, message in (
        ("medain", ValueError, "'share_zero', 'geometric', got 'medain'; did you mean 'median'"),
        (1.5, ValueError, "a quantile is a number from 0 to 1, got 1.5"),
        (math.nan, ValueError, "a quantile is a number from 0 to 1, got nan"),
        (
            True, TypeError, "'share_zero', 'geometric', a number from 0 to 1, or a function, got bool",
        ),
        (lambda values: None, TypeError, "statistic of metric 'mrr': the function returned NoneType, not a number"),
    ):  # fmt: skip
        with pytest.raises(kind, match=message):
            RESULTS.statistic("mrr", statistic)
    values = np.array([[1.0], [-0.5]])
    negative = fastir.Results(["q1", "q2"], ["m"], values, np.zeros(2, np.uint8), ["mean"], None)
    with pytest.raises(ValueError, match="metric 'm': query 'q2' is negative; there is no geometric mean"):
        negative.statistic("m", "geometric")
    assert math.isnan(fastir.evaluate({"q": {"a": 0}}, {"q": {"a": 1.0}}, "mrr", empty="skip").statistic("mrr", 0.5))
