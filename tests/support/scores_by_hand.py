"""Scores of a few runs that tests of statistics share, with p-values that are known."""

import numpy as np
import pytest

# Sakai (2018), table 5.1, and ten more queries; whole tenths and hundredths.
X = np.array([7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1]) / 10
Y = np.array([5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2]) / 10
Z = np.array([0, 0, 2, 1, 3, 3, 1, 2, 4, 4, 4, 3, 3, 2, 2, 2, 1, 5, 4, 3]) / 10


def close(value, tolerance=1e-10):
    return pytest.approx(value, rel=tolerance, abs=0)


def many_scores(n, k=2, seed=0):
    """Scores on no grid."""
    return np.random.default_rng(seed).random((k, n))
