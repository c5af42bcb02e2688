"""Few unjudged documents have the bounds of all labelings, each of which is tried."""
# Also of: labelings.

import random

import pytest
from every_labeling import check
from every_option import METRICS

import fastir

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")


@pytest.mark.parametrize("seed", range(3))
def test_eight_unjudged_documents_have_bounds_of_all_labelings(seed):
    ranking = {f"d{i}": -float(i) for i in range(11)}
    labels = {f"d{i}": i % 2 for i in random.Random(seed).sample(range(11), 3)} | {"u": 1}
    check(labels, ranking, METRICS, 1)


def test_eight_unjudged_documents_of_three_labels_have_bounds_of_all_labelings():
    ranking = {f"d{i}": -float(i) for i in range(11)}
    names = ["ndcg_rel", "g", "r_ndcg", "compat", "inst(T=0.3)", "nerr@5", "bpm(max_rel=2,T=1.5)"]
    check({"d0": 1, "d4": 0, "d6": 2, "u": 2, "v": 1}, ranking, names, 2)


def test_three_grades_have_bounds_of_all_labelings():
    ranking = {f"d{i}": -float(i) for i in range(7)}
    labels = {"d0": 2, "d2": 1, "d5": 0, "u": 3, "v": 2, "w": 1}
    names = [name for name in METRICS if "gain={1" not in name and "gains={" not in name]
    check(labels, ranking, names, 3)


def test_a_query_that_one_labeling_leaves_undefined_may_leave_the_mean():
    """Its value is below 1 under all others, so that the mean is largest without it."""
    run = {"q1": ["a"], "q2": ["b", *(f"h{i}" for i in range(20))]}
    found = fastir.bounds({"q1": {"a": 1}, "q2": {"b": 0}}, run, "map(empty=skip)@5", max_label=1)
    assert found.upper[found.upper.names[0]] == 1.0
    assert found.lower[found.lower.names[0]] == 0.5
