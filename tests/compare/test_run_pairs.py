"""All pairs of runs on one metric: tests and intervals are those of `stats` on plain arrays."""

import itertools
import math

import numpy as np
import pytest
from twenty_queries import ARRAYS, RANDOM, RUNS, numbers, random_runs

import fastir
from fastir import stats
from fastir.analyses.compare.records import TESTS
from fastir.stats._resample import DRAWS, ORDERS, SIGNS

pandas = pytest.importorskip("pandas")

PAIRED = {
    "t": stats.t_test, "wilcoxon": stats.wilcoxon, "sign": stats.sign_test,
    "randomization": stats.randomization_test, "bootstrap": stats.bootstrap_test,
}  # fmt: skip
SIMULTANEOUS = {"tukey": stats.tukey_test, "randomized_tukey": stats.randomized_tukey_test}


def test_every_statistical_test_is_compared_with_its_function_on_arrays():
    assert {name: card.simultaneous for name, card in TESTS.items()} == {
        **dict.fromkeys(PAIRED, False),
        **dict.fromkeys(SIMULTANEOUS, True),
    }


@pytest.mark.parametrize(("test", "on_arrays"), PAIRED.items())
@pytest.mark.parametrize("n", [20, 60])
def test_paired_tests(test, on_arrays, n):
    runs = RUNS if n == 20 else {run: values["m0"] for run, values in random_runs(n).items()}
    columns = {run: np.array([values[query] for query in sorted(values)]) for run, values in runs.items()}
    for pair in fastir.compare_scores(runs, test=test).pairs:
        expected = on_arrays(columns[pair.a], columns[pair.b])
        assert (pair.p_value, pair.exact) == (expected.p_value, expected.exact)


@pytest.mark.parametrize(("test", "on_arrays"), SIMULTANEOUS.items())
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


@pytest.mark.parametrize("options", RANDOM, ids=str)
def test_threads_change_no_bit(options, monkeypatch):
    monkeypatch.setattr("fastir.stats.resampling.BLOCK_COST_BY_PURPOSE", dict.fromkeys((SIGNS, ORDERS, DRAWS), 1 << 20))
    runs = random_runs(60, 4, 2)
    first, *others = (
        numbers(fastir.compare_scores(runs, n_resamples=3000, n_threads=threads, **options)) for threads in (1, 2, 8)
    )
    assert others == [first, first]


def test_shared_signs_skip_what_is_undefined():
    """A query without a value in one metric keeps its sign in the others, and adds nothing in that one."""
    runs = random_runs(60, 3, 2)
    expected = fastir.compare_scores(runs, "m0", test="randomization", n_resamples=999)
    runs["run0"]["m1"]["q7"] = math.nan
    found = fastir.compare_scores(runs, test="randomization", n_resamples=999)
    assert numbers(found)[:3] == numbers(expected)[:3]


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


@pytest.mark.parametrize("test", TESTS)
def test_identical_runs(test):
    (pair,) = fastir.compare_scores({"a": RUNS["x"], "b": RUNS["x"]}, test=test).pairs
    assert (pair.difference, pair.p_value, pair.wins, pair.ties) == (0.0, 1.0, 0, 20)
    assert pair.low <= 0 <= pair.high
    assert pair.note == "all differences are 0"
    assert pair.effect == 0.0


@pytest.mark.parametrize("test", TESTS)
def test_constant_differences(test):
    runs = {"a": RUNS["x"], "b": {query: value + 0.1 for query, value in RUNS["x"].items()}}
    (pair,) = fastir.compare_scores(runs, test=test, n_resamples=1000).pairs
    assert math.isnan(pair.p_value) == (test in ("t", "bootstrap", "tukey"))
    assert pair.note == "all differences are equal"
    assert pair.losses == 20
