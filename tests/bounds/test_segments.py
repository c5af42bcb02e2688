"""Running sums over the unjudged documents of each query, beside textbook loops."""

import itertools

import numpy as np
import pytest
from fastir.analyses.bounds._labelings import UNJUDGED
from fastir.analyses.bounds._segments import extreme_places, precision_sums, running_sums

SIZES = [3, 0, 1, 40, 0]


def test_running_sums():
    shares = [np.random.default_rng(1).random(size) for size in SIZES]
    starts = np.cumsum([0, *(size + 1 for size in SIZES)], dtype=np.int64)
    for from_below in (False, True):
        found = running_sums(np.concatenate(shares), starts, from_below)
        ordered = [each[::-1] if from_below else each for each in shares]
        expected = [itertools.accumulate(each.tolist(), initial=0.0) for each in ordered]
        assert found.tolist() == list(itertools.chain(*expected))


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("last", [False, True])
def test_extreme_places(largest, last):
    queries = [[2.0, 1.0, 2.0, 1.0, 1.5], [0.0], [-1.0, -1.0, -1.0], [1.0, 3.0, 2.0], [-0.0, 0.0]]
    starts = np.cumsum([0, *map(len, queries)], dtype=np.int64)
    places, values = extreme_places(np.concatenate(queries), starts, largest, last)
    for place, value, query in zip(places.tolist(), values.tolist(), queries, strict=True):
        best = max(query) if largest else min(query)
        at = [i for i, other in enumerate(query) if other == best]
        assert value == best and place == (at[-1] if last else at[0])


def sum_of_precisions(ranks, relevant):
    """The precision at each relevant rank, added up."""
    ones = (rank for rank, is_one in zip(ranks, relevant, strict=True) if is_one)
    *_, total = itertools.accumulate(((i + 1) / rank for i, rank in enumerate(ones)), initial=0.0)
    return total


@pytest.mark.parametrize("cutoff", [1, 7, 1000])
def test_sums_of_precisions(cutoff):
    rng, level = np.random.default_rng(2), 2
    kinds = [UNJUDGED, -1, 0, 1, 2, 3]
    queries = [(np.sort(rng.choice(60, n, False)) + 1, rng.choice(kinds, n)) for n in (0, 1, 12, 40)]
    offsets = np.cumsum([0, *(len(ranks) for ranks, _ in queries)], dtype=np.int64)
    ranks, labels = (np.concatenate(arrays) for arrays in zip(*queries, strict=True))
    found = precision_sums(offsets, ranks.astype(np.int64), labels.astype(np.int32), cutoff, level)
    num_relevant, base, starts, most, least = found
    assert starts[-1] == len(most) == len(least)
    for q, (query_ranks, query_labels) in enumerate(queries):
        inside = query_ranks <= cutoff
        query_ranks, query_labels = query_ranks[inside].tolist(), query_labels[inside]
        relevant, unjudged = query_labels >= level, np.flatnonzero(query_labels == UNJUDGED)
        assert num_relevant[q] == relevant.sum() and starts[q + 1] - starts[q] == len(unjudged) + 1
        for sums, ordered in ((most, unjudged), (least, unjudged[::-1])):
            for m in range(len(unjudged) + 1):
                labelled = relevant.copy()
                labelled[ordered[:m]] = True
                expected = sum_of_precisions(query_ranks, labelled)
                assert base[q] + sums[starts[q] + m] == pytest.approx(expected, abs=1e-12)
