"""What all tests of statistics do alike: degenerate data, errors, and arguments that stay as they are."""

import importlib.util
import math
import sys

import numpy as np
import pytest
from scores_by_hand import X, close, many_scores

import fastir
from fastir import stats
from fastir.stats import _checks

TESTS = (stats.t_test, stats.wilcoxon, stats.sign_test, stats.randomization_test, stats.bootstrap_test)


@pytest.mark.parametrize("test", TESTS)
def test_identical_runs(test):
    found = test(X, X)
    assert (found.statistic, found.p_value, found.note) == (0.0, 1.0, "all differences are 0")


@pytest.mark.parametrize("difference", [0.1, -1e-3, 1 / 3])
def test_constant_differences(difference):
    """In binary they are not constant: SciPy's t-test finds p = 8e-64."""
    a, b = X + difference, X
    for test in (stats.t_test, stats.bootstrap_test):
        found = test(a, b)
        assert (math.isnan(found.p_value), found.note) == (True, "all differences are equal")
    assert stats.sign_test(a, b).p_value == stats.randomization_test(a, b).p_value == close(2 / 2**20)
    assert stats.wilcoxon(a, b).p_value == 2 / 2**20
    for interval in (stats.t_interval(a, b), stats.bootstrap_interval(a, b)):
        assert interval.low == interval.high == pytest.approx(difference)
    assert math.isnan(stats.effect_size(a, b))
    assert math.isnan(stats.tukey_test(np.stack([a, b], 1)).p_values[0, 1])
    assert stats.tukey_test(np.stack([X, X], 1)).p_values.tolist() == [[1, 1], [1, 1]]


def test_one_query():
    for test, p in zip(TESTS, (None, 1.0, 1.0, 1.0, None), strict=True):
        found = test([0.5], [0.25])
        assert found.p_value == p if p else math.isnan(found.p_value)
    assert stats.t_test([0.5], [0.25]).note == "one query"
    for interval in (stats.t_interval([0.5], [0.25]), stats.bootstrap_interval([0.5], [0.25])):
        assert interval.estimate == 0.25 and math.isnan(interval.low) and math.isnan(interval.high)
    assert math.isnan(stats.detectable(1))


def test_no_p_value_is_0():
    many = np.ones(3000) + 1e-3 * many_scores(3000)[0]
    for found in (
        stats.t_test(many), stats.sign_test(many), stats.wilcoxon(many), stats.randomization_test(np.round(many)),
    ):  # fmt: skip
        assert 0 < found.p_value < 1e-200


@pytest.mark.parametrize(("call", "message"), [
    (lambda: stats.t_test([1, 2], [1]), "a has 2 values but b has 1"),
    (lambda: stats.t_test([1, math.nan], [1, 2]), r"a\[1\] is nan"),
    (lambda: stats.randomization_test([1, 2], [1, math.inf]), r"b\[1\] is inf"),
    (lambda: stats.sign_test([]), "a has shape"),
    (lambda: stats.t_test([[1, 2]]), "expected one value per query"),
    (lambda: stats.t_test([1, 2], alternative="both"), "alternative must be one of 'two-sided'.*, got 'both'"),
    (lambda: stats.wilcoxon([1, 2], zeros="drop"), "zeros must be one of .*, got 'drop'"),
    (lambda: stats.wilcoxon(np.arange(1.0, 1200.0), exact=True), "takes up to 1000 differences"),
    (lambda: stats.bootstrap_interval([1, 2], method="basic"), "method must be one of .*, got 'basic'"),
    (lambda: stats.bootstrap_interval([1, 2], confidence=95), "confidence must be between 0 and 1, got 95"),
    (lambda: stats.randomization_test([1, 2], n_resamples=0), "n_resamples must be at least 1, got 0"),
    (lambda: stats.randomization_test([1, 2], random_state=-1), "random_state must be at least 0, got -1"),
    (lambda: stats.two_way_anova([[1, 2]]), r"scores has shape \(1, 2\)"),
    (lambda: stats.tukey_test([[1], [2]]), r"scores has shape \(2, 1\)"),
    (lambda: stats.randomized_tukey_test([[1], [2]]), "expected two runs or more"),
    (lambda: stats.adjust([0.5, 1.5], "holm"), "numbers from 0 to 1"),
    (lambda: stats.adjust([0.5], "fdr"), "method must be one of 'bonferroni'.*, got 'fdr'"),
    (lambda: stats.effect_size([1, 2], [1, 2], "cohen"), "kind must be one of .*, got 'cohen'"),
    (lambda: stats.equivalence_test([1, 2], low=1, high=0), "low must be below high"),
    (lambda: stats.sample_size(0), "effect_size must not be 0"),
])  # fmt: skip
def test_errors_name_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_callers_arrays_stay_as_they_are():
    a, b = many_scores(12)
    x = np.stack([a, b], axis=1)
    copies = a.copy(), x.copy()
    for test in TESTS:
        test(a, b)
    stats.tukey_test(x), stats.randomized_tukey_test(x, n_resamples=9), stats.adjust(a, "holm")
    assert (a == copies[0]).all() and (x == copies[1]).all()


SCALED = {
    "wilcoxon": stats.wilcoxon,
    "sign": stats.sign_test,
    "randomization": stats.randomization_test,
    "bootstrap": lambda a, b: stats.bootstrap_test(a, b, n_resamples=3125),
    "bootstrap, greater": lambda a, b: stats.bootstrap_test(a, b, n_resamples=3125, alternative="greater"),
    "bootstrap, less": lambda a, b: stats.bootstrap_test(a, b, n_resamples=3125, alternative="less"),
    "bootstrap of the mean": lambda a, b: stats.bootstrap_test(a, b, n_resamples=3125, studentized=False),
}


@pytest.mark.parametrize("test", SCALED)
@pytest.mark.parametrize("digits", [1, 2, 17])
def test_p_does_not_change_with_the_scale_of_the_scores(test, digits):
    """Nor with the noise of the last digits; scores with one digit have many resamples that tie with the data."""
    random = np.random.default_rng(digits)
    for n in (2, 3, 4, 5, 12):
        for _ in range(20):
            a, b = np.round(random.random((2, n)), digits)
            expected = SCALED[test](a, b).p_value
            for factor in (10, 100, 0.1, 3, 1 / 3):
                np.testing.assert_equal(SCALED[test](a * factor, b * factor).p_value, expected, f"{a}, {b}, {factor}")
            noise = 1 + 2e-16 * random.integers(-1, 2, (2, n))
            np.testing.assert_equal(SCALED[test](a * noise[0], b * noise[1]).p_value, expected, f"{a}, {b}")


@pytest.mark.parametrize("call", [
    lambda a, b: stats.t_test(a, b), lambda a, b: stats.t_interval(a, b),
    lambda a, b: stats.wilcoxon(a, b), lambda a, b: stats.sign_test(a, b),
    lambda a, b: stats.welch_test(a, b), lambda a, b: stats.randomization_test(a, b),
    lambda a, b: stats.bootstrap_test(a, b), lambda a, b: stats.bootstrap_interval(a, b),
    lambda a, b: stats.effect_size(a, b), lambda a, b: stats.two_way_anova(np.stack([a, b], 1)),
    lambda a, b: stats.tukey_test(np.stack([a, b], 1)), lambda a, b: stats.max_t(np.stack([a, b], 1)),
])  # fmt: skip
def test_values_whose_powers_would_overflow_are_refused_and_the_largest_are_not(call):
    rng = np.random.default_rng(5)
    a, b = rng.uniform(-1, 1, (2, 9))
    for large in (1e308, 1.01e100):
        with pytest.raises(
            ValueError, match=r"\[.*\] is -?1\.?[0-9]*e\+[0-9]+; expected finite values of magnitude up to 1e\+100"
        ):
            call(np.append(a, large), np.append(b, 0.0))
    with np.errstate(over="raise"):
        found, scaled = call(a, b), call(a * 2.0**332, b * 2.0**332)
    for name in {"p_value", "exact"} & set(getattr(found, "_fields", ())):
        assert getattr(scaled, name) == getattr(found, name)


def test_a_comparison_refuses_them_by_run_and_query():
    scores = {"A": {"q1": 0.5, "q2": 1e200}, "B": {"q1": 0.25, "q2": 1.0}}
    with pytest.raises(
        ValueError, match=r"run 'A': .* of query 'q2' is 1e\+200; expected values of magnitude up to 1e\+100"
    ):
        fastir.compare_scores(scores)


@pytest.mark.parametrize("value", ["no", 1, 0, None, []])
def test_an_option_that_is_true_or_false_is_nothing_else(value):
    a, b = [0.1, 0.4, 0.3], [0.2, 0.1, 0.0]
    calls = {
        "exact": lambda: stats.wilcoxon(a, b, exact=value),
        "continuity": lambda: stats.wilcoxon(a, b, continuity=value),
        "studentized": lambda: stats.bootstrap_test(a, b, studentized=value),
        "judged_only": lambda: fastir.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "map", judged_only=value),
    }
    for name, call in calls.items():
        if (name, value) != ("exact", None):
            with pytest.raises(TypeError, match=f"{name} must be True or False, got {type(value).__name__}"):
                call()
    assert stats.wilcoxon(a, b, exact=np.True_) == stats.wilcoxon(a, b, exact=True)


def test_pandas_columns_whose_ids_stand_in_another_order_are_refused():
    pandas = pytest.importorskip("pandas")
    a, b = pandas.Series([1.0, 2.0, 4.0], ["x", "y", "z"]), pandas.Series([4.5, 2.0, 1.5], ["z", "y", "x"])
    for test in TESTS:
        with pytest.raises(ValueError, match=r"at position 0 a has 'x', b has 'z'; .* as b\.loc\[a\.index\] has them"):
            test(a, b)
        assert test(a, b.loc[a.index]) == test(a.to_numpy(), b.loc[a.index].to_numpy())
        test(a, b.reset_index(drop=True))


@pytest.mark.parametrize("order", [[2, 0, 1, 3], [3, 2, 1, 0]])
def test_an_index_that_permutes_the_numbers_of_rows_is_refused_beside_a_default_one(order):
    pandas = pytest.importorskip("pandas")
    a, b = pandas.Series([0.1, 0.2, 0.9, 0.4]), pandas.Series([0.9, 0.1, 0.3, 0.45], order)
    for one, other in ((a, b), (b, a)):
        with pytest.raises(ValueError, match="a and b are paired by position, but their indexes differ"):
            stats.t_test(one, other)
    labels = pandas.Series(b.tolist(), ["q1", "q2", "q3", "q4"])  # one side has ids: by position
    assert stats.t_test(a, labels) == stats.t_test(a.tolist(), b.tolist())


# ---- SciPy --------------------------------------------------------------------------------------------------------
@pytest.fixture
def absent(monkeypatch):
    """No SciPy can be imported, and none was asked for before."""
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    _checks.special.cache_clear()
    yield
    _checks.special.cache_clear()


@pytest.mark.parametrize("call", [_checks.special, _checks.check_scipy])
def test_what_to_install_is_said(absent, call):
    with pytest.raises(ImportError, match=r"^fastir\.stats needs SciPy: pip install 'fastir\[stats\]'$"):
        call()


def test_it_is_scipy_s_own_module():
    special = pytest.importorskip("scipy.special")
    _checks.check_scipy()
    assert _checks.special() is special
