"""Two rankings of a query side by side: what they share, and how many pairs stand alike."""

import math

import numpy as np
import pytest
from rankings_made import pairs

import fastir
from fastir.stats import taus


@pytest.mark.parametrize("k", [1, 3, 8, 20])
def test_overlap_jaccard_and_tau_of_the_first_documents(k):
    stats = pytest.importorskip("scipy.stats")
    for a, b in pairs(k, 10):
        result = fastir.similarity({"q": a}, {"q": b}, [f"overlap@{k}", f"jaccard@{k}", f"tau@{k}"])
        one, two = (sorted(r, key=lambda d, r=r: (r[d], d), reverse=True)[:k] for r in (a, b))
        both = {*one} & {*two}
        assert result[f"overlap@{k}"] == len(both) / max(len(one), len(two))
        assert result[f"jaccard@{k}"] == len(both) / len({*one, *two})
        if len(both) > 1:
            want = stats.kendalltau([a[doc_id] for doc_id in both], [b[doc_id] for doc_id in both]).statistic
            assert result[f"tau@{k}"] == pytest.approx(want, nan_ok=True)
        else:
            assert math.isnan(result[f"tau@{k}"])


@pytest.mark.parametrize("levels", [1, 3, 40, 10**6])
def test_tau_is_that_of_all_pairs(levels):
    random = np.random.default_rng(levels)
    for n in range(2, 60):
        a, b = ({f"d{i}": x for i, x in enumerate((random.integers(0, levels, n) / 4).tolist())} for _ in range(2))
        want = taus.tau_b(np.array(list(a.values())), np.array(list(b.values())))
        assert fastir.similarity({"q": a}, {"q": b}, "tau").values == pytest.approx(want, abs=0, nan_ok=True)


def test_infinite_scores_are_equal_to_each_other():
    a = {"x": math.inf, "y": math.inf, "z": 1.0, "u": -math.inf}
    b = {"x": 3.0, "y": 3.0, "z": 2.0, "u": 1.0}
    assert fastir.similarity({"q": a}, {"q": b}, ["tau", "rbo", "overlap"]).values[0] == pytest.approx([1, 1, 1])
