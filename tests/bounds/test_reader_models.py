"""Of long rankings readers who may stop have the best labeling, document by document."""

import itertools

import numpy as np
import pytest
from bounded import long_case, of_labelings

import fastir

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")


@pytest.mark.parametrize("seed", range(4))
def test_of_long_rankings_nerr_has_the_best_sorted_labeling(seed):
    labels, ranking = long_case(seed, 14)
    unjudged = [doc for doc in ranking if doc not in labels]
    metrics = ["nerr", "nerr(max_grade=query)", "nerr(ideal=num_ret)", "nerr(max_grade=3,ideal=retrieved)", "nerr-l2"]
    sorted_labels = list(itertools.combinations_with_replacement(range(3, -1, -1), len(unjudged)))
    found = fastir.bounds({"q": labels}, {"q": ranking}, metrics, max_label=3)
    for order, values, extreme in ((unjudged, found.upper, np.max), (unjudged[::-1], found.lower, np.min)):
        labelings = [dict(zip(order, given, strict=True)) for given in sorted_labels]
        own = of_labelings(labels, ranking, metrics, labelings)
        assert np.allclose(values.values[0], extreme(own, axis=0), rtol=1e-13, atol=0)


@pytest.mark.parametrize("target", [1.0, 2.5])
def test_of_long_rankings_bpm_has_the_sums_of_a_walk(target):
    """Each number of rank and sum that a reader can see, with sums as whole numbers of thirds."""
    for seed in range(5):
        labels, ranking = long_case(seed, 40)
        sums, ended = {0}, set()
        for rank, doc in enumerate(ranking, 1):
            sums = {total + label for total in sums for label in ([labels[doc]] if doc in labels else range(4))}
            ended |= {total / 3 / rank for total in sums if total >= 3 * target or rank == 20}
            sums = {total for total in sums if total < 3 * target and rank < 20}
        found = fastir.bounds({"q": labels}, {"q": ranking}, f"bpm(max_rel=3,T={target})@20", max_label=3)
        assert np.allclose([found.lower.values[0, 0], found.upper.values[0, 0]], [min(ended), max(ended)], rtol=1e-13)


def test_the_width_of_rbp_is_its_residual_without_the_tail():
    labels, ranking = long_case(5, 30, 0.5, 1)
    found = fastir.bounds({"q": labels}, {"q": ranking}, ["rbp(p=0.9)", "rbp(p=0.9)@10"])
    residual = fastir.evaluate({"q": labels}, {"q": ranking}, ["rbp_resid(p=0.9)", "rbp_resid(p=0.9)@10"]).values[0]
    width = (found.upper.values - found.lower.values)[0]
    assert np.allclose(width, residual - [0.9**30, 0.9**10], rtol=1e-12)
