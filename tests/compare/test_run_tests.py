"""The records that come of tested runs: effects, families of p-values, baselines."""

import itertools
import math

import numpy as np
import pytest
from twenty_queries import ARRAYS, RUNS, random_runs

import fastir
from fastir import stats
from fastir.analyses.compare.records import TESTS


def test_anova_of_each_metric():
    found = fastir.compare_scores(RUNS).anova()
    assert found == {"score": stats.two_way_anova(np.stack(list(ARRAYS.values()), axis=1))}


@pytest.mark.parametrize("effect", stats.EFFECTS)
def test_effects(effect):
    comparison = fastir.compare_scores(RUNS, effect=effect)
    assert comparison.method.effect == stats.EFFECTS[effect][0]
    of_all = stats.tukey_test(np.stack(list(ARRAYS.values()), axis=1)).effects
    for pair, (i, j) in zip(comparison.pairs, itertools.combinations(range(3), 2), strict=True):
        expected = of_all[i, j] if effect == "anova" else stats.effect_size(ARRAYS[pair.a], ARRAYS[pair.b], effect)
        assert pair.effect == pytest.approx(expected, rel=1e-12)


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


@pytest.mark.parametrize("test", [name for name, card in TESTS.items() if not card.of_means])
def test_tests_of_ranks_and_signs_warn_of_many_queries(test):
    with pytest.warns(fastir.FastirWarning, match=f"with 1000 queries the {test} test tends to"):
        fastir.compare_scores(random_runs(1000, 2), test=test)
    fastir.compare_scores(random_runs(999, 2), test=test)


def test_one_run_has_a_mean_and_no_pairs():
    comparison = fastir.compare_scores({"x": RUNS["x"]}, test="randomization", correction="holm")
    assert comparison.pairs == [] and len(comparison.systems) == 1
    assert fastir.compare_scores({"x": RUNS["x"]}, test="tukey", effect="rank_biserial").pairs == []


def test_baselines():
    assert [(pair.a, pair.b) for pair in fastir.compare_scores(RUNS, baseline="y").pairs] == [("x", "y"), ("z", "y")]
    several = fastir.compare_scores(RUNS, baseline=["x", "z"], correction="holm")
    assert [(pair.a, pair.b) for pair in several.pairs] == [("y", "x"), ("z", "x"), ("x", "z"), ("y", "z")]
    assert (several.method.baseline, several.method.family_size) == (("x", "z"), 4)


@pytest.mark.parametrize("test", TESTS)
def test_one_query(test):
    (pair,) = fastir.compare_scores({"a": {"q": 0.5}, "b": {"q": 0.25}}, test=test).pairs
    assert pair.p_value == 1.0 or math.isnan(pair.p_value)
    assert math.isnan(pair.p_value) == (test in ("t", "bootstrap", "tukey"))
    assert (pair.note, pair.difference, pair.wins) == ("one query", 0.25, 1)
    assert math.isnan(pair.effect) and math.isnan(pair.detectable)
