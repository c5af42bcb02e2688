"""Corrections of p-values for their number, beside published numbers and statsmodels."""

import math

import numpy as np
import pytest
from scores_by_hand import close

from fastir import stats

CORRECTED = {
    "bonferroni": [0.008, 0.064, 0.312, 0.328, 0.336, 0.48, 0.592, 1],
    "holm": [0.008, 0.056, *[0.234] * 6],
    "holm_sidak": [0.00797205593005597, 0.0546737773262951, *[0.21233721621145] * 6],
    "sidak": [
        0.00797205593005597, 0.0622363871076847, 0.272576878252815, 0.284600129224387, 0.290546276130735,
        0.390431061458918, 0.459385246580266, 0.840435223129321,
    ],
    "hochberg": [0.008, 0.056, *[0.148] * 5, 0.205],
    "hommel": [0.008, 0.056, 0.111, 0.111, 0.111, 0.12, 0.148, 0.205],
    "bh": [0.008, 0.032, 0.0672, 0.0672, 0.0672, 0.08, 0.0845714285714286, 0.205],
    "by": [
        0.0217428571428571, 0.0869714285714286, *[0.18264] * 3, 0.217428571428571, 0.22985306122449,
        0.557160714285714,
    ],
    "two_stage_bh": [0.006, 0.024, *[0.0504] * 3, 0.06, 0.0634285714285714, 0.15375],
}  # fmt: skip
RAW = [0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205]


@pytest.mark.parametrize("method", CORRECTED)
def test_corrections(method):
    assert stats.adjust(RAW, method).tolist() == close(CORRECTED[method])
    shuffled = [3, 7, 0, 5, 1, 6, 2, 4]
    with_nan = [*(RAW[i] for i in shuffled), math.nan]
    found = stats.adjust(with_nan, method).tolist()
    assert found[:8] == close([CORRECTED[method][i] for i in shuffled])
    assert math.isnan(found[8])


def test_corrections_like_statsmodels():
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    names = {
        "holm_sidak": "holm-sidak", "hochberg": "simes-hochberg", "bh": "fdr_bh", "by": "fdr_by",
        "two_stage_bh": "fdr_tsbh",
    }  # fmt: skip
    random = np.random.default_rng(1)
    for size in (1, 2, 3, 7, 30):
        p = np.round(random.random(size) ** 2, 2)  # with ties
        for method in CORRECTED:
            expected = multitest.multipletests(p, 0.05, names.get(method, method))[1]
            assert stats.adjust(p, method).tolist() == pytest.approx(expected.tolist(), rel=1e-10, abs=1e-15), method


def test_two_stage_bh_where_the_first_stage_rejects_every_hypothesis():
    """statsmodels stops after the first stage then; none is left of which the second could be."""
    assert stats.adjust([0.01], "two_stage_bh").tolist() == [0.01]
    assert stats.adjust([0.025, 0.008], "two_stage_bh").tolist() == close([0.025, 0.016])
    assert stats.adjust([0.2, math.nan], "two_stage_bh", alpha=0.2)[0] == 0.2


def test_the_first_stage_rejects_a_p_value_that_is_its_limit():
    from fastir.stats.corrections import two_stage_bh

    assert two_stage_bh(np.array([0.03, 0.5]), 0.06).tolist() == [0.03, 0.25]
    assert two_stage_bh(np.array([0.031, 0.5]), 0.06).tolist() == [0.062, 0.5]


def test_p_values_that_are_none_are_named():
    with pytest.raises(ValueError, match=r"p_values must have one dimension, got shape \(1, 2\)"):
        stats.adjust([[0.1, 0.2]], "holm")
    with pytest.raises(ValueError, match=r"p_values must be numbers from 0 to 1, or NaN, got 1\.5"):
        stats.adjust([0.1, 1.5], "holm")
