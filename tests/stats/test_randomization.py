"""The paired randomization test and max-T: exact, resampled, and beside SciPy."""

import numpy as np
import pytest
from scores_by_hand import X, Y, Z, close, many_scores

from fastir import stats
from fastir.stats import grid, paired_tests, randomization

A = np.array([61, 42, 33, 75, 50, 28, 91, 47, 66, 39]) / 100
B = np.array([55, 40, 36, 60, 52, 20, 85, 49, 51, 30]) / 100
PAIRS = {"xy": (X, Y), "xz": (X, Z), "yz": (Y, Z), "ab": (A, B)}


@pytest.mark.parametrize(
    ("pair", "count", "of"), [("xy", 69120, 2**20), ("xz", 151632, 2**20), ("yz", 653824, 2**20), ("ab", 34, 2**10)]
)
def test_exact_randomization(pair, count, of):
    """Without a tolerance for what is equal on paper the first would be 68736."""
    a, b = PAIRS[pair]
    assert stats.randomization_test(a, b)[1:] == (count / of, True, "")
    assert stats.randomization_test(b, a).p_value == count / of
    assert stats.randomization_test(a, b, alternative="greater").p_value == count / of / 2
    assert stats.randomization_test(b, a, alternative="less").p_value == count / of / 2


def test_max_t():
    second = np.array([9, 8, 5, 7, 6, 3, 10, 4, 7, 5]) - [8, 8, 6, 5, 6, 2, 9, 5, 5, 4]
    p, adjusted = stats.max_t(np.stack([A - B, second / 10], axis=1))
    assert (p * 1024).tolist() == [34, 192]
    assert (adjusted * 1024).tolist() == [62, 196]


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_listed_resamples_give_the_exact_p_values(n):
    """The kernel of random signs, fed with all of them."""
    rows = np.random.default_rng(n).integers(0, 4, (4, n))
    a, b = np.triu_indices(4, 1)
    nothing = np.zeros(6, np.int64)
    pairs = randomization.Pairs(rows, a, b, nothing, nothing)
    listed = pairs.resamples(1 << n, 0, 1)
    assert listed.listed and listed.total == 1 << (n - 1)
    assert randomization.resampled_pairs(pairs, listed)[0].tolist() == randomization.exact_pairs(pairs).tolist()


def test_monte_carlo_counts_the_data_as_one_resample():
    d = many_scores(60)[0] - 0.1  # no resample comes near
    found = stats.randomization_test(d, n_resamples=99)
    assert (found.p_value, found.exact) == (0.01, False)


def test_random_signs_come_near_the_exact_p_value(monkeypatch):
    monkeypatch.setattr(grid, "MAX_HALVED_VALUES", 0)
    monkeypatch.setattr(grid, "MAX_TABLE_SUMS", 0)
    monkeypatch.setattr(grid.exact_p, "__defaults__", (0,))
    for pair, p in {"xy": 69120 / 2**20, "yz": 653824 / 2**20}.items():
        found = stats.randomization_test(*PAIRS[pair], n_resamples=400_000)
        assert not found.exact
        assert abs(found.p_value - p) < 4 * (p * (1 - p) / 400_000) ** 0.5


def test_randomization_like_scipy():
    from scipy.stats import permutation_test

    a, b = many_scores(10)
    for alternative in paired_tests.ALTERNATIVES:
        expected = permutation_test(
            (a - b,), np.sum, permutation_type="samples", alternative=alternative, n_resamples=np.inf
        )
        assert stats.randomization_test(a, b, alternative=alternative).p_value == close(float(expected.pvalue))
