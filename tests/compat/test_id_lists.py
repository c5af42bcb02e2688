"""Lists of ids as labels, without any of the tools: each kernel against its slow twin."""

import random

import numpy as np
import pytest

from fastir.compat import _id_lists as id_lists
from fastir.compat._id_lists import labels_in_order, labels_of_numbers

IDS = ["a", "b", 1, 2.5, None, ("c", 1), "é", *range(10, 20)]
METRICS = ("mrr", "hit_rate", "map", "ndcg", "precision", "recall", "precision@3", "ndcg@5")


def lists(rng, n_queries=40):
    """Retrieved ids with copies, and labels of some ids; some of either are empty."""
    retrieved = [rng.choices(IDS, k=rng.randint(0, 12)) for _ in range(n_queries)]
    relevant = [{i: rng.choice([1, 2, 0.5]) for i in rng.sample(IDS, rng.randint(0, 6))} for _ in range(n_queries)]
    return retrieved, relevant


def slowly(retrieved, relevant):
    labels = []
    for ids, judged in zip(retrieved, relevant, strict=True):
        labels += [judged.get(each, 0) if each not in ids[:place] else 0 for place, each in enumerate(ids)]
    ideal = [label for judged in relevant for label in judged.values()]
    return labels, np.cumsum([0, *map(len, retrieved)]), ideal, np.cumsum([0, *map(len, relevant)])


@pytest.mark.parametrize("seed", range(5))
def test_labels_in_order(seed):
    retrieved, relevant = lists(random.Random(seed))
    before = [dict(judged) for judged in relevant]
    found = labels_in_order(iter(retrieved), (judged for judged in relevant))
    for array, wanted in zip(found, slowly(retrieved, relevant), strict=True):
        assert array.tolist() == list(wanted)
    assert [array.dtype for array in found] == [np.float64, np.int64] * 2
    assert relevant == before


def test_labels_of_no_lists():
    assert [array.tolist() for array in labels_in_order([], [])] == [[], [0], [], [0]]
    with pytest.raises(ValueError, match="zip"):
        labels_in_order([["a"]], [])
    with pytest.raises(TypeError, match="unhashable"):
        labels_in_order([[["a"]]], [{"a": 1}])


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("convention", ["llamaindex", "ragas", "fastir"])
def test_the_value_of_one_query_is_that_of_all(metric, convention):
    retrieved, relevant = lists(random.Random(7))
    [*wanted] = id_lists.values(retrieved, [dict.fromkeys(judged, 1) for judged in relevant], [metric], convention)
    for ids, judged, [value] in zip(retrieved, relevant, wanted, strict=True):
        own = id_lists.value_of_one(ids, judged, metric, convention)
        assert own == value or (np.isnan(own) and np.isnan(value))
        if metric in ("precision", "recall", "hit_rate"):
            [[distinct]] = id_lists.values([[*set(ids)]], [dict.fromkeys(judged, 1)], [metric], convention)
            own = id_lists.value_of_one(set(ids), judged, metric, convention)
            assert own == distinct or (np.isnan(own) and np.isnan(distinct))


@pytest.mark.parametrize("seed", range(5))
def test_labels_of_numbers(seed):
    rng = np.random.default_rng(seed)

    def some(most):
        n = rng.integers(0, most)
        ids = rng.choice([-0.0, 0.0, 1e18, -1e18, *range(1, 9)], n)
        return np.column_stack([ids, rng.integers(-1, 4, n)])[:, :2].astype(float)

    judged, ranked = [some(6) for _ in range(30)], [some(20) for _ in range(30)]
    labels, there = labels_of_numbers(judged, ranked)
    wanted = []
    for rows, query in zip(judged, ranked, strict=True):
        first = {}
        for number, label in rows.tolist():
            first.setdefault(number, label)
        wanted += [first.get(number) for number in query[:, 0].tolist()]
    assert there.tolist() == [label is not None for label in wanted]
    assert labels.tolist() == [label or 0.0 for label in wanted]


def test_labels_of_numbers_of_any_layout():
    columns = np.array([[3.0, 4.0, 3.0], [1.0, 2.0, 0.0]]).T
    assert not columns.flags.c_contiguous
    labels, there = labels_of_numbers([columns], [columns[::-1]])
    assert labels.tolist() == [1.0, 2.0, 1.0] and there.all()
    assert [array.tolist() for array in labels_of_numbers([], [])] == [[], []]
