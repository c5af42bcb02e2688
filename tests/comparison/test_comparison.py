"""compare_scores: what it takes, what it returns, and that order, threads and company change nothing."""

import itertools
import json
import math
import pickle
import subprocess
import sys

import numpy as np
import pytest

import fastir
from fastir import stats
from fastir.comparison.options import TESTS
from fastir.stats._resample import DRAWS, ORDERS, SIGNS

pandas = pytest.importorskip("pandas")

X = [7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1]
Y = [5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2]
Z = [0, 0, 2, 1, 3, 3, 1, 2, 4, 4, 4, 3, 3, 2, 2, 2, 1, 5, 4, 3]
IDS = [f"q{i:02}" for i in range(20)]
RUNS = {
    name: dict(zip(IDS, (v / 10 for v in values), strict=True)) for name, values in zip("xyz", (X, Y, Z), strict=True)
}
ARRAYS = {name: np.array(list(values.values())) for name, values in RUNS.items()}
QRELS = {"q1": {"a": 1}, "q2": {"a": 1, "b": 2}, "q3": {"c": 1}}
RANKINGS = {
    "good": {"q1": {"a": 2.0, "b": 1.0}, "q2": {"b": 2.0, "a": 1.0}, "q3": {"c": 3.0}},
    "poor": {"q1": {"b": 2.0, "a": 1.0}, "q2": {"c": 2.0, "a": 1.0}, "q3": {"d": 2.0, "c": 1.0}},
}


def random_runs(n_queries, n_runs=3, n_metrics=1, seed=0):
    """Runs on no grid, too many queries for exact tests."""
    values = np.random.default_rng(seed).random((n_runs, n_metrics, n_queries))
    return {
        f"run{r}": {f"m{m}": {f"q{q}": float(value) for q, value in enumerate(row)} for m, row in enumerate(of_run)}
        for r, of_run in enumerate(values)
    }


def numbers(comparison):
    """Everything that was computed, with NaN equal to NaN."""
    return [repr(record) for record in (*comparison.pairs, *comparison.systems)]


def by_pair(comparison):
    return {(pair.a, pair.b, pair.metric): pair for pair in comparison.pairs}


# ---- records -------------------------------------------------------------------------------------------------------


def test_a_pair():
    comparison = fastir.compare_scores(RUNS, correction=None)
    first, second, third = comparison.pairs
    assert [(pair.a, pair.b, pair.metric) for pair in comparison.pairs] == [
        ("x", "y", "score"),
        ("x", "z", "score"),
        ("y", "z", "score"),
    ]
    assert first.difference == pytest.approx(0.075, rel=1e-12)
    assert first.p_value == first.adjusted_p == stats.t_test(ARRAYS["x"], ARRAYS["y"]).p_value
    assert (first.low, first.high) == stats.t_interval(ARRAYS["x"], ARRAYS["y"])[1:3]
    assert first.effect == stats.effect_size(ARRAYS["x"], ARRAYS["y"])
    assert (first.wins, first.ties, first.losses, first.n_queries) == (10, 5, 5, 20)
    assert first.detectable == pytest.approx(stats.detectable(20) * np.std(ARRAYS["x"] - ARRAYS["y"], ddof=1))
    assert (first.exact, first.note) == (False, "")  # a distribution is assumed
    assert (second.wins, third.wins) == (11, 8)


def test_a_system():
    system = fastir.compare_scores(RUNS, confidence=0.9).systems[1]
    assert system[:3] == ("y", "score", math.fsum(RUNS["y"].values()) / 20)
    assert (system.low, system.high) == stats.t_interval(ARRAYS["y"], confidence=0.9)[1:3]


def test_the_method_says_how():
    method = fastir.compare_scores(
        random_runs(60), test="randomization", n_resamples=999, correction="holm", random_state=7
    ).method
    assert method[:8] == ("randomization", 999, 3, 0, 7, "holm", "metric", 3)
    assert (method.version, method.n_queries, method.queries) == (fastir.__version__, 60, "same")
    for word in (
        "randomization",
        "999 resamples",
        "random_state 7",
        "holm",
        "each metric (3)",
        "95 %",
        "Cohen's d_z",
        "60 queries",
        "0 of 3 p-values exact",
    ):
        assert word in str(method)
    method = fastir.compare_scores(RUNS, test="randomization").method
    assert (method.exact_pairs, method.n_resamples) == (3, 0)
    assert "resamples" not in str(method)


def test_values_come_back_and_can_be_compared_again():
    runs = random_runs(5, n_metrics=2)
    comparison = fastir.compare_scores(runs)
    assert comparison.per_query == runs
    assert comparison.values.shape == (2, 5, 3)
    assert not comparison.values.flags.writeable
    assert numbers(fastir.compare_scores(comparison.per_query)) == numbers(comparison)
    again = pickle.loads(pickle.dumps(comparison))
    assert numbers(again) == numbers(comparison) and again.method == comparison.method


def test_anova_of_each_metric():
    found = fastir.compare_scores(RUNS).anova()
    assert found == {"score": stats.two_way_anova(np.stack(list(ARRAYS.values()), axis=1))}


def test_a_frame_of_pairs():
    frame = pandas.DataFrame(fastir.compare_scores(RUNS).pairs)
    assert frame.columns[:3].tolist() == ["a", "b", "metric"] and len(frame) == 3


# ---- every test is that of fastir.stats ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("test", "on_arrays"),
    [
        ("t", stats.t_test),
        ("wilcoxon", stats.wilcoxon),
        ("sign", stats.sign_test),
        ("randomization", stats.randomization_test),
        ("bootstrap", stats.bootstrap_test),
    ],
)
@pytest.mark.parametrize("n", [20, 60])
def test_paired_tests(test, on_arrays, n):
    runs = RUNS if n == 20 else {run: values["m0"] for run, values in random_runs(n).items()}
    columns = {run: np.array([values[query] for query in sorted(values)]) for run, values in runs.items()}
    for pair in fastir.compare_scores(runs, test=test).pairs:
        expected = on_arrays(columns[pair.a], columns[pair.b])
        assert (pair.p_value, pair.exact) == (expected.p_value, expected.exact)


@pytest.mark.parametrize(
    ("test", "on_arrays"), [("tukey", stats.tukey_test), ("randomized_tukey", stats.randomized_tukey_test)]
)
def test_simultaneous_tests(test, on_arrays):
    expected = on_arrays(np.stack(list(ARRAYS.values()), axis=1), confidence=0.9)
    comparison = fastir.compare_scores(RUNS, test=test, confidence=0.9)
    for pair, (i, j) in zip(comparison.pairs, itertools.combinations(range(3), 2), strict=True):
        assert (pair.p_value, pair.adjusted_p, pair.exact) == (*[expected.p_values[i, j]] * 2, expected.exact)
        assert pair.high - pair.difference == pytest.approx(expected.margin, rel=1e-12)
        assert pair.difference - pair.low == pytest.approx(expected.margin, rel=1e-12)
    assert comparison.method.interval == "simultaneous"


@pytest.mark.parametrize("interval", ["percentile", "bca"])
def test_bootstrap_intervals(interval):
    comparison = fastir.compare_scores(random_runs(60), interval=interval, n_resamples=2000)
    columns = comparison.values[0].T
    for pair, (i, j) in zip(comparison.pairs, itertools.combinations(range(3), 2), strict=True):
        expected = stats.bootstrap_interval(columns[i], columns[j], method=interval, n_resamples=2000)
        assert (pair.low, pair.high) == (pytest.approx(expected.low, abs=1e-9), pytest.approx(expected.high, abs=1e-9))
    for system, column in zip(comparison.systems, columns, strict=True):
        expected = stats.bootstrap_interval(column, method=interval, n_resamples=2000)
        assert (system.low, system.high) == (pytest.approx(expected.low), pytest.approx(expected.high))


@pytest.mark.parametrize("effect", stats.EFFECTS)
def test_effects(effect):
    comparison = fastir.compare_scores(RUNS, effect=effect)
    assert comparison.method.effect == stats.EFFECTS[effect][0]
    of_all = stats.tukey_test(np.stack(list(ARRAYS.values()), axis=1)).effects
    for pair, (i, j) in zip(comparison.pairs, itertools.combinations(range(3), 2), strict=True):
        expected = of_all[i, j] if effect == "anova" else stats.effect_size(ARRAYS[pair.a], ARRAYS[pair.b], effect)
        assert pair.effect == pytest.approx(expected, rel=1e-12)


# ---- families ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "bh", "hommel"])
def test_families(correction):
    runs = random_runs(30, n_metrics=2)
    raw = [pair.p_value for pair in fastir.compare_scores(runs).pairs]
    each = fastir.compare_scores(runs, correction=correction)
    assert [pair.p_value for pair in each.pairs] == raw
    assert [pair.adjusted_p for pair in each.pairs] == [
        *stats.adjust(raw[:3], correction),
        *stats.adjust(raw[3:], correction),
    ]
    together = fastir.compare_scores(runs, correction=correction, family="all")
    assert [pair.adjusted_p for pair in together.pairs] == stats.adjust(raw, correction).tolist()
    assert (each.method.family_size, together.method.family_size) == (3, 6)


def test_max_t_over_a_metric_and_over_all():
    a = np.array([61, 42, 33, 75, 50, 28, 91, 47, 66, 39]) / 100
    b = np.array([55, 40, 36, 60, 52, 20, 85, 49, 51, 30]) / 100
    c = np.array([9, 8, 5, 7, 6, 3, 10, 4, 7, 5]) / 10
    d = np.array([8, 8, 6, 5, 6, 2, 9, 5, 5, 4]) / 10
    runs = {
        "first": {"m": dict(enumerate(a)), "n": dict(enumerate(c))},
        "second": {"m": dict(enumerate(b)), "n": dict(enumerate(d))},
    }
    together = fastir.compare_scores(runs, test="randomization", correction="max_t", family="all").pairs
    assert [(pair.p_value * 1024, pair.adjusted_p * 1024, pair.exact) for pair in together] == [
        (34, 62, True),
        (192, 196, True),
    ]
    each = fastir.compare_scores(runs, test="randomization", correction="max_t").pairs
    assert [pair.adjusted_p for pair in each] == [pair.p_value for pair in each]


def test_undefined_p_values_are_of_no_family():
    runs = {
        "a": {"q1": 0.1, "q2": 0.4, "q3": 0.6},
        "b": {"q1": 0.2, "q2": 0.5, "q3": 0.7},
        "c": {"q1": 0.1, "q2": 0.9, "q3": 0.3},
    }
    comparison = fastir.compare_scores(runs, correction="bonferroni")
    constant, *others = comparison.pairs
    assert math.isnan(constant.p_value) and math.isnan(constant.adjusted_p)
    assert constant.note == "all differences are equal"
    assert [pair.adjusted_p for pair in others] == [min(1.0, 2 * pair.p_value) for pair in others]
    assert comparison.method.family_size == 2


def test_too_few_resamples_for_the_family_are_told():
    runs = random_runs(60, 5)
    with pytest.warns(fastir.FastirWarning, match="n_resamples=150 .* family of 10 can be below 0.05; that takes 199"):
        fastir.compare_scores(runs, test="randomization", correction="holm", n_resamples=150)
    fastir.compare_scores(runs, test="randomization", correction="holm", n_resamples=199)
    fastir.compare_scores(runs, test="randomization", correction=None, n_resamples=10)
    fastir.compare_scores(RUNS, test="randomization", correction="holm", n_resamples=10)  # exact


@pytest.mark.parametrize("test", ["wilcoxon", "sign"])
def test_tests_of_ranks_and_signs_warn_of_many_queries(test):
    with pytest.warns(fastir.FastirWarning, match=f"with 1000 queries the {test} test tends to"):
        fastir.compare_scores(random_runs(1000, 2), test=test)
    fastir.compare_scores(random_runs(999, 2), test=test)


# ---- what makes no difference --------------------------------------------------------------------------------------

RANDOM = [
    {"test": "randomization"},
    {"test": "randomization", "correction": "max_t", "family": "all"},
    {"test": "bootstrap"},
    {"test": "randomized_tukey"},
    {"interval": "bca"},
]


@pytest.mark.parametrize("options", RANDOM, ids=str)
def test_threads_change_no_bit(options, monkeypatch):
    monkeypatch.setattr("fastir.stats.resampling.LARGEST", dict.fromkeys((SIGNS, ORDERS, DRAWS), 1 << 20))
    runs = random_runs(60, 4, 2)
    first, *others = (
        numbers(fastir.compare_scores(runs, n_resamples=3000, n_threads=threads, **options)) for threads in (1, 2, 8)
    )
    assert others == [first, first]


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


@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign", "randomization", "bootstrap"])
def test_other_runs_and_metrics_change_no_bit(test):
    runs = random_runs(60, 4, 2)
    expected = by_pair(fastir.compare_scores(runs, test=test, n_resamples=3000, correction=None))
    alone = fastir.compare_scores({run: runs[run] for run in ("run1", "run3")}, "m1", test=test, n_resamples=3000)
    assert repr(alone.pairs[0]) == repr(expected["run1", "run3", "m1"])


# ---- what a run may be ---------------------------------------------------------------------------------------------


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


def test_the_convention_is_told():
    results = {name: fastir.evaluate(QRELS, run, "ndcg@10") for name, run in RANKINGS.items()}
    assert fastir.compare_scores(results).method.convention == "fastir"
    results["good"] = fastir.evaluate(QRELS, RANKINGS["good"], "ndcg@10", convention="ranx")
    method = fastir.compare_scores(results).method
    assert method.convention == f"{results['good'].convention}, fastir"
    assert fastir.compare_scores(RUNS).method.convention == ""


def test_one_run_has_a_mean_and_no_pairs():
    comparison = fastir.compare_scores({"x": RUNS["x"]}, test="randomization", correction="holm")
    assert comparison.pairs == [] and len(comparison.systems) == 1
    assert fastir.compare_scores({"x": RUNS["x"]}, test="tukey", effect="rank_biserial").pairs == []


def test_baselines():
    assert [(pair.a, pair.b) for pair in fastir.compare_scores(RUNS, baseline="y").pairs] == [("x", "y"), ("z", "y")]
    several = fastir.compare_scores(RUNS, baseline=["x", "z"], correction="holm")
    assert [(pair.a, pair.b) for pair in several.pairs] == [("y", "x"), ("z", "x"), ("x", "z"), ("y", "z")]
    assert (several.method.baseline, several.method.family_size) == (("x", "z"), 4)


# ---- which queries -------------------------------------------------------------------------------------------------

UNEVEN = {"a": {"q1": 0.5, "q2": 0.25, "q3": 1.0}, "b": {"q2": 0.5, "q3": 0.0, "q4": 0.75}}


def test_unequal_queries_need_a_rule():
    with pytest.raises(
        fastir.NoOverlapError,
        match="run 'a' has no score for query 'q4', which another run has; queries='intersection' leaves",
    ):
        fastir.compare_scores(UNEVEN)
    shared = fastir.compare_scores(UNEVEN, queries="intersection")
    assert (shared.query_ids, shared.pairs[0].difference, shared.method.unshared) == (["q2", "q3"], 0.375, 2)
    zero = fastir.compare_scores(UNEVEN, queries="zero")
    assert (zero.query_ids, zero.pairs[0].difference, zero.method.unshared) == (["q1", "q2", "q3", "q4"], 0.125, 2)
    chosen = fastir.compare_scores(UNEVEN, queries=["q3"])
    assert (chosen.query_ids, chosen.pairs[0].difference) == (["q3"], 1.0)
    with pytest.raises(fastir.NoOverlapError, match="run 'b' has no score for query 'q1', which was asked for"):
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


def test_shared_signs_skip_what_is_undefined():
    """A query without a value in one metric keeps its sign in the others, and adds nothing in that one."""
    runs = random_runs(60, 3, 2)
    expected = fastir.compare_scores(runs, "m0", test="randomization", n_resamples=999)
    runs["run0"]["m1"]["q7"] = math.nan
    found = fastir.compare_scores(runs, test="randomization", n_resamples=999)
    assert numbers(found)[:3] == numbers(expected)[:3]


# ---- seeds and folds -----------------------------------------------------------------------------------------------


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


def test_crossed_seeds_widen_the_interval():
    random = np.random.default_rng(0)
    base = random.random(80)
    runs = {
        name: [dict(enumerate(base + shift + of_seed + 0.1 * random.random(80))) for of_seed in (-0.1, 0, 0.1)]
        for name, shift in (("a", 0.0), ("b", 0.05))
    }
    crossed = fastir.compare_scores(runs, seeds="crossed", test="bootstrap", interval="percentile", n_resamples=4000)
    given = fastir.compare_scores(runs, seeds="mean", test="bootstrap", interval="percentile", n_resamples=4000)
    wide, narrow = crossed.pairs[0], given.pairs[0]
    assert wide.difference == narrow.difference
    assert wide.high - wide.low > 3 * (narrow.high - narrow.low)
    assert wide.p_value > narrow.p_value and not wide.exact
    assert crossed.systems[0].high - crossed.systems[0].low > given.systems[0].high - given.systems[0].low
    backwards = fastir.compare_scores(
        dict(reversed(runs.items())),
        seeds="crossed",
        test="bootstrap",
        interval="percentile",
        n_resamples=4000,
        n_threads=2,
    ).pairs[0]
    assert (backwards.p_value, backwards.low) == (wide.p_value, pytest.approx(-wide.high))


def test_crossed_single_seeds_are_the_bootstrap():
    runs = random_runs(60, 2)
    crossed = fastir.compare_scores(runs, seeds="crossed", test="bootstrap", interval="percentile", n_resamples=4000)
    given = fastir.compare_scores(runs, interval="percentile", n_resamples=4000)
    assert crossed.pairs[0].low == pytest.approx(given.pairs[0].low, abs=1e-9)
    a, b = crossed.values[0].T
    assert crossed.pairs[0].p_value == stats.bootstrap_test(a, b, studentized=False, n_resamples=4000).p_value


# ---- degenerate data -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("test", TESTS)
def test_identical_runs(test):
    (pair,) = fastir.compare_scores({"a": RUNS["x"], "b": RUNS["x"]}, test=test).pairs
    assert (pair.difference, pair.p_value, pair.wins, pair.ties) == (0.0, 1.0, 0, 20)
    assert pair.low <= 0 <= pair.high
    assert pair.note == "all differences are 0"
    assert pair.effect == 0.0


@pytest.mark.parametrize("test", TESTS)
def test_one_query(test):
    (pair,) = fastir.compare_scores({"a": {"q": 0.5}, "b": {"q": 0.25}}, test=test).pairs
    assert pair.p_value == 1.0 or math.isnan(pair.p_value)
    assert math.isnan(pair.p_value) == (test in ("t", "bootstrap", "tukey"))
    assert (pair.note, pair.difference, pair.wins) == ("one query", 0.25, 1)
    assert math.isnan(pair.effect) and math.isnan(pair.detectable)


@pytest.mark.parametrize("test", TESTS)
def test_constant_differences(test):
    runs = {"a": RUNS["x"], "b": {query: value + 0.1 for query, value in RUNS["x"].items()}}
    (pair,) = fastir.compare_scores(runs, test=test, n_resamples=1000).pairs
    assert math.isnan(pair.p_value) == (test in ("t", "bootstrap", "tukey"))
    assert pair.note == "all differences are equal"
    assert pair.losses == 20


def test_ties_are_equal_on_paper():
    (pair,) = fastir.compare_scores({"a": {"q1": 0.1 + 0.2, "q2": 0.5}, "b": {"q1": 0.3, "q2": 0.4}}).pairs
    assert (pair.wins, pair.ties, pair.losses) == (1, 1, 0)


# ---- errors --------------------------------------------------------------------------------------------------------

A = {"q1": 0.5, "q2": 0.25}


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ([[A, A]], {}, TypeError, "runs must be a mapping of name to values, got list"),
        ([{}], {}, ValueError, "there are no runs"),
        ([{"a": 3}], {}, TypeError, "run 'a': expected Results, {query_id: value} or .*, got int"),
        ([{"a": {"m": A, "n": 3}}], {}, TypeError, "run 'a', metric 'n': expected Results"),
        ([{"a": {"q1": "0.5"}}], {}, TypeError, "run 'a': the value of query 'q1' is '0.5', expected a number"),
        ([{"a": {"q1": None}}], {}, TypeError, "the value of query 'q1' is None"),
        ([{"a": {"q1": math.inf}}], {}, ValueError, "run 'a': score of query 'q1' is infinite"),
        ([{"a": pandas.Series([1.0, 2.0], ["q", "q"])}], {}, ValueError, "run 'a': duplicate query 'q'"),
        ([{"a": {"m": A}, "b": {"n": A}}], {}, ValueError, "run 'b' has no metric 'm'; it has 'n'"),
        ([{"a": A}, ["m", "n"]], {}, ValueError, "run 'a' has no metric 'm'; it has 'score'"),
        ([{"a": A}, []], {}, ValueError, "metrics must be names, each once"),
        ([{"a": A}], {"test": "student"}, ValueError, "test must be one of 't', 'wilcoxon'.*, got 'student'"),
        ([{"a": A}], {"correction": "fdr"}, ValueError, "correction must be one of None, 'bonferroni'.*, got 'fdr'"),
        (
            [{"a": A}],
            {"correction": "max_t"},
            ValueError,
            "correction='max_t' is for test='randomization', got test='t'",
        ),
        ([{"a": A}], {"test": "tukey", "correction": "holm"}, ValueError, "correction must be None, got 'holm'"),
        ([{"a": A}], {"family": "pair"}, ValueError, "family must be one of 'metric', 'all'.*, got 'pair'"),
        ([{"a": A}], {"interval": "z"}, ValueError, "interval must be one of .*, got 'z'"),
        ([{"a": A}], {"effect": "cohen"}, ValueError, "effect must be one of 'd_z'.*, got 'cohen'"),
        ([{"a": A}], {"confidence": 1}, ValueError, "confidence must be between 0 and 1, got 1"),
        ([{"a": A}], {"n_resamples": 0}, ValueError, "n_resamples must be at least 1, got 0"),
        ([{"a": A}], {"random_state": None}, TypeError, "random_state must be an int, got NoneType"),
        ([{"a": A}], {"n_threads": 0}, ValueError, "n_threads must be at least 1, got 0"),
        ([{"a": A}], {"baseline": "b"}, ValueError, "baseline 'b' is no run; the runs are 'a'"),
        (
            [{"a": A}],
            {"queries": "union"},
            ValueError,
            "queries must be None, 'intersection', 'zero' or query ids, got 'union'",
        ),
        ([{"a": A}], {"seeds": "pool"}, ValueError, "seeds must be one of None, 'mean'.*, got 'pool'"),
        ([{"a": [A, A]}], {}, TypeError, "run 'a' has several values; seeds= says what they are"),
        ([{"a": []}], {"seeds": "mean"}, ValueError, "run 'a' has an empty list of values"),
        ([{"a": [A, A]}], {"seeds": "crossed"}, ValueError, "seeds='crossed' is for test='bootstrap'"),
    ],
)
def test_errors_name_what_is_wrong(arguments, options, error, message):
    with pytest.raises(error, match=message):
        fastir.compare_scores(*arguments, **options)


def test_what_is_no_mean_over_queries_is_not_tested():
    geometric = fastir.evaluate(QRELS, RANKINGS["good"], ["map", "gm_map"])
    with pytest.raises(ValueError, match="metric 'gm_map' is a geometric mean"):
        fastir.compare_scores({"good": geometric})
    assert fastir.compare_scores({"good": geometric}, "map").metrics == ["map"]
    weighted = fastir.evaluate(QRELS, RANKINGS["good"], "map", weights={"q1": 2.0, "q2": 1.0, "q3": 1.0})
    with pytest.raises(ValueError, match="run 'good' has weighted means"):
        fastir.compare_scores({"good": weighted})


def test_scipy_is_asked_for_where_it_is_missing():
    code = "import sys; sys.modules['scipy'] = None; import fastir; fastir.{}"
    for what in ("compare({}, {}, 'map')", "compare_scores({}, 'map')", "stats.t_interval([1.0, 2.0])"):
        done = subprocess.run([sys.executable, "-c", code.format(what)], capture_output=True, text=True)
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1] == "ImportError: fastir.stats needs SciPy: pip install fastir[stats]"


def test_scipy_waits_until_a_number_takes_it():
    code = (
        "import sys, fastir; runs = {n: {str(q): (q * p) % 7 / 7 for q in range(30)} for n, p in (('a', 3), ('b', 5))};"
        "shown = fastir.compare_scores(runs, test='randomization'); table, early = str(shown), 'scipy' in sys.modules;"
        "assert [tuple(v) for v in shown.verdicts] == [(*p[:4], p.adjusted_p) for p in shown.pairs];"
        "assert [tuple(m) for m in shown.means] == [s[:3] for s in shown.systems];"
        "assert table == str(shown); print(early, 'scipy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False True\n"


def test_an_unknown_name_of_the_package():
    with pytest.raises(AttributeError, match="module 'fastir' has no attribute 'nothing'"):
        _ = fastir.nothing


@pytest.mark.parametrize("test", TESTS)
def test_p_values_do_not_change_with_the_scale_of_the_scores(test):
    """To the last bit, where they are shares of resamples or of arrangements."""
    random = np.random.default_rng(5)
    scores = {
        run: dict(enumerate(values))
        for run, values in zip("abc", np.round(random.random((3, 5)), 1).tolist(), strict=True)
    }

    def p_values(factor):
        scaled = {run: {query: value * factor for query, value in values.items()} for run, values in scores.items()}
        return [pair.p_value for pair in fastir.compare_scores(scaled, test=test).pairs]

    expected = p_values(1)
    for factor in (10, 100, 0.1, 3):
        found = p_values(factor)
        assert found == (pytest.approx(expected, rel=1e-12) if test in ("t", "tukey") else expected), factor


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
        saved,
        {name: tmp_path / f"{name}.parquet" for name in results},
        str(tmp_path / "all.tsv"),
        {name: values["per_query"] for name, values in saved.items()},
        {name: result.to_dict() for name, result in results.items()},
        frames,
    ):
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
