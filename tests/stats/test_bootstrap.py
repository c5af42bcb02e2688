"""The bootstrap over queries: every resample of a few, the definition, and SciPy."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scores_by_hand import X, Y, close, many_scores

from fastir import stats
from fastir.stats import bootstrap, grid, paired_tests

DRAWN = np.array([31, -5, 12, 22, -11]) / 100


def test_bootstrap_intervals_of_all_resamples():
    found = stats.bootstrap_interval(DRAWN)
    assert found == (close(0.098), close(-0.04), close(0.236), close(0.0708463125363628), "")
    assert stats.bootstrap_interval(DRAWN, confidence=0.9)[1:3] == (close(-0.02), close(0.216))
    assert stats.bootstrap_interval(DRAWN, method="bca")[1:3] == (close(-0.04), close(0.236))


def test_levels_of_the_bca_interval():
    """Seen through a distribution that is its own quantile function."""
    from scipy import special

    whole = grid.to_grid(DRAWN[None])
    sums = bootstrap.resample_sums(whole, bootstrap.draws(5, 1, 3125, 0, 1)).sums[0]
    below, equal = (sums < 49).sum(), (sums == 49).sum()
    assert special.ndtri((below + equal / 2) / 3125) == close(-0.0084223705770383)
    of = paired_tests.moments(DRAWN, 1.0)
    assert bootstrap.skewness_of_mean(DRAWN, of) / 6 == close(-0.0033224612055756)
    assert bootstrap.skewness_of_mean(X - Y, paired_tests.moments(X - Y, 1.0)) / 6 == close(0.0066296102579149)
    even = bootstrap.Resampled(grid.Grid(np.array([[5000]]), 1.0, 0), np.arange(10001)[None], None)
    low, high = even.interval(0, -1, 6 * 0.1, "bca", 0.95)  # bias 0, acceleration 0.1
    z = special.ndtri(0.975)
    assert (low, high) == tuple(close(10000 * special.ndtr(v / (1 - 0.1 * v))) for v in (-z, z))


def test_bootstrap_shift_tests_of_all_resamples():
    assert stats.bootstrap_test(DRAWN, studentized=False)[:3] == (close(0.098), 574 / 3125, True)
    found = stats.bootstrap_test(DRAWN)
    assert found == (close(1.2372396188298755), 840 / 3125, True, "5 resamples without variance")
    sides = [stats.bootstrap_test(DRAWN, alternative=side).p_value for side in ("greater", "less")]
    assert sides[0] < 840 / 3125 < sides[1]
    assert stats.bootstrap_test(-DRAWN, alternative="less").p_value == sides[0]


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_bootstrap_like_scipy(method):
    from scipy.stats import bootstrap as by_scipy

    d = many_scores(40)[0] ** 3
    interval = by_scipy((d,), np.mean, n_resamples=40_000, method=method, random_state=1, batch=1000)
    found = stats.bootstrap_interval(d, n_resamples=40_000, method=method)
    assert found.standard_error == pytest.approx(interval.standard_error, rel=0.02)
    low, high = interval.confidence_interval
    assert found[1:3] == (
        pytest.approx(low, abs=0.05 * found.standard_error),
        pytest.approx(high, abs=0.05 * found.standard_error),
    )


def test_the_studentized_bootstrap_takes_no_rounding_for_a_difference():
    found = stats.bootstrap_test([0.2, 0.4], [0.5, 0.1])
    assert found.p_value == 0.5 and found.exact
    assert stats.bootstrap_test([2, 4], [5, 1]).p_value == 0.5
    assert stats.bootstrap_test([0.3, 0.1, 0.2, 0.1], [0.2, 0, 0, 0.1]).p_value == 0.0625


def test_the_studentized_bootstrap_by_its_definition():
    """In fractions, over all resamples: t is at least as far from 0 where its square is at least as large."""

    def squared_t(values):
        m = Fraction(sum(values), len(values))
        variance = sum((value - m) ** 2 for value in values)
        return m**2 / variance if variance else Fraction(-1)

    random = np.random.default_rng(3)
    for n in (2, 3, 4):
        for _ in range(20):
            d = random.integers(-4, 5, n).tolist()
            mean = Fraction(sum(d), n)
            if len(set(d)) == 1:
                continue

            seen = squared_t(d)
            reached = sum(squared_t([v - mean for v in drawn]) >= seen for drawn in itertools.product(d, repeat=n))
            expected = max(reached / n**n, np.finfo(float).tiny)
            assert stats.bootstrap_test(np.array(d) / 10).p_value == expected, d


@pytest.mark.parametrize("n", [1, 2, 3, 63, 64, 65, 1001])
def test_quantiles_are_those_of_numpy_bit_by_bit(n):
    rng = np.random.default_rng(n)
    levels = np.array([0.0, 0.025, 0.05, 0.5, 0.95, 0.975, 1.0, 1 / 3])
    for values in (rng.integers(-(10**12), 10**12, n), rng.random(n), np.zeros(n), rng.integers(0, 3, n) / 7):
        for kept in (values, np.repeat(values, 2)[::2]):
            assert bootstrap.quantiles(kept, levels).tobytes() == np.quantile(kept, levels).tobytes()
