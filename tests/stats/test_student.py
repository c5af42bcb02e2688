"""Student's t by NumPy alone: against SciPy, against exact values, and at the borders between its ways."""

import math
import subprocess
import sys

import numpy as np
import pytest

from fastir import stats
from fastir.stats import student

DEGREES = [0.5, 1, 1.7, 2, 3, 5, 9, 24, 49, 50, 79.5, 160, 161, 199, 999, 2999.5, 3000, 3001, 10_000]
VALUES = [1e-3, 0.1, 0.5, 0.9, 1.0, 1.3, 1.5, 1.7, 1.72, 1.74, 1.8, 2.0, 2.5, 3.0, 4.0, 6.0, 10.0, 25.0]


@pytest.mark.parametrize("df", DEGREES)
def test_tails_are_those_of_scipy(df):
    special = pytest.importorskip("scipy.special")
    expected = special.stdtr(df, -np.array(VALUES))
    kept = expected > 1e-100
    assert student.tails(np.array(VALUES), df)[kept] == pytest.approx(expected[kept], rel=1e-12, abs=0)
    many = np.array(VALUES * 2)  # more than MAX_SCALARS, and of either sign
    assert many.size > student.MAX_SCALARS >= len(VALUES)
    assert student.tails(-many, df) == pytest.approx(np.tile(student.tails(np.array(VALUES), df), 2), rel=1e-14, abs=0)


@pytest.mark.parametrize("t", [*VALUES, 1e-8, 1e8])
def test_one_and_two_degrees_have_a_formula(t):
    assert student.tail(t, 1) == pytest.approx(math.atan(1 / t) / math.pi, rel=1e-14, abs=0)
    root = math.sqrt(2 + t * t)
    assert student.tail(t, 2) == pytest.approx(1 / (root * (root + t)), rel=1e-14, abs=0)


@pytest.mark.parametrize("df", [1, 2, 5, 49, 50, 999, 2999, 3000, 3001])
def test_the_two_ways_meet_where_one_ends(df):
    edge = math.sqrt(1.5 * df / (df / 2 + 1))  # the t at which the other fraction is taken
    below, above = (student.tail(edge * (1 + sign * 1e-9), df) for sign in (-1, 1))
    slope = (below - above) / (2e-9 * edge)
    constant = student.gamma_ratio(df / 2) / math.sqrt(math.pi * df)
    assert slope == pytest.approx(constant * (1 + edge * edge / df) ** (-(df + 1) / 2), rel=1e-3)


def test_what_is_no_number_stays_one():
    values = np.array([np.nan, np.inf, -np.inf, 0.0])
    for many in (values, np.tile(values, 20)):
        for df in (5, 10_000):
            assert student.tails(many, df)[:4].tolist()[1:] == [0.0, 0.0, 0.5] and np.isnan(student.tails(many, df)[0])


@pytest.mark.parametrize("df", DEGREES)
def test_quantiles_are_those_of_scipy_and_invert_the_tail(df):
    special = pytest.importorskip("scipy.special")
    assert student.quantile(df, 0.5) == 0.0 and student.quantile(df, 1.0) == math.inf
    for probability in (0.6, 0.75, 0.9, 0.975, 0.9995, 1 - 1e-9):
        quantile = student.quantile(df, probability)
        assert quantile == pytest.approx(special.stdtrit(df, probability), rel=1e-12, abs=0)
        assert student.tail(quantile, df) == pytest.approx(1 - probability, rel=1e-12, abs=0)


@pytest.mark.parametrize("df", [1, 2, 5, 9, 24, 49, 199, 999, 10_000])
@pytest.mark.parametrize("alpha", [0.001, 0.05, 0.2])
def test_power_is_that_of_scipy(df, alpha):
    special = pytest.importorskip("scipy.special")
    critical, power_at = -special.stdtrit(df, alpha / 2), student.power_by_centre(df, alpha)
    for centre in (0.0, 0.3, 1.0, 2.0, 2.8, 4.0, 10.0):
        parts = np.nan_to_num([special.nctdtr(df, centre, critical), special.nctdtr(df, centre, -critical)])
        assert power_at(centre) == pytest.approx(1 - parts[0] + parts[1], abs=1e-12)
    assert power_at(0.0) == pytest.approx(alpha, rel=1e-12)


def test_gamma_ratios_are_those_of_logarithms():
    for a in (0.25, 0.5, 1, 7.5, 79.9, 80, 80.1, 500, 1e4):
        expected = math.exp(math.lgamma(a + 0.5) - math.lgamma(a))
        assert student.gamma_ratio(a) == pytest.approx(expected, rel=1e-15 * max(1, math.lgamma(a)), abs=0)


def test_a_comparison_and_its_power_take_numpy_alone():
    code = (
        "import sys; sys.modules['scipy'] = None; import fastir;"
        "runs = {n: {str(q): (q * p) % 7 / 7 for q in range(30)} for n, p in (('a', 3), ('b', 5))};"
        "pair = fastir.compare_scores(runs).pairs[0];"
        "print(pair.p_value, pair.low, pair.detectable, fastir.stats.sample_size(0.4))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    runs = {n: [(q * p) % 7 / 7 for q in range(30)] for n, p in (("a", 3), ("b", 5))}
    difference = np.subtract(runs["a"], runs["b"])
    expected = [
        stats.t_test(difference).p_value, stats.t_interval(difference).low,
        stats.detectable(30) * difference.std(ddof=1), stats.sample_size(0.4),
    ]  # fmt: skip
    assert list(map(float, done.stdout.split())) == pytest.approx(expected, rel=1e-12)
