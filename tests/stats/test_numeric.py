"""The studentized range, beside published tables and SciPy."""

import numpy as np
import pytest
from scores_by_hand import close

from fastir import stats


@pytest.mark.parametrize(("q", "k", "df", "p"), [
    (3, 2, 10, 0.0598903244255574),
    (4, 5, 60, 0.048050543543979),
    (3.5, 20, 931, 0.603797654424677),
    (5.012, 20, 931, 0.051660549423196),
])  # fmt: skip
def test_studentized_range(q, k, df, p):
    assert float(stats.studentized_range_sf(q, k, df)) == close(p)


def test_studentized_range_against_scipy_and_t():
    from scipy import special
    from scipy.stats import studentized_range

    assert stats.studentized_range_ppf(0.95, 20, 931) == close(5.026359842457)
    assert stats.studentized_range_ppf(0.95, 3, 38) == close(3.449020901406288)
    for q, k, df in ((3.0, 3, 1), (10.0, 3, 2), (3.0, 10, 5), (6.0, 100, 50), (0.5, 4, 12), (4.0, 3, np.inf)):
        assert float(stats.studentized_range_sf(q, k, df)) == close(studentized_range.sf(q, k, df), 2e-9)
    for df in (1, 2, 3, 20, 5000):  # two variables: their difference is a t
        for q in (0.01, 1.0, 8.0, 20.0):
            expected = 2 * special.stdtr(df, -q / 2**0.5)
            found = float(stats.studentized_range_sf(q, 2, df))
            assert found == pytest.approx(expected, rel=1e-11, abs=1e-30), (q, df)
