"""Systems above others in two rankings, counted pair by pair."""

import random

import numpy as np
import pytest

from fastir.stats._concordance import count_above


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 200])
def test_counts_are_those_of_all_pairs(n):
    rng = random.Random(n)
    for n_places in {1, max(n // 3, 1), max(n, 1)}:
        order, places = rng.sample(range(n), n), [rng.randrange(n_places) for _ in range(n)]
        found = count_above(np.array(order, np.int64), np.array(places, np.int64)).tolist()
        for i, system in enumerate(order):
            assert found[system] == sum(places[other] > places[system] for other in order[:i])


@pytest.mark.parametrize(("order", "places"), [([0, 1], [0]), ([0, 2], [0, 1]), ([0, 1], [0, 2]), ([-1, 0], [0, 1])])
def test_numbers_out_of_range_are_refused(order, places):
    with pytest.raises(ValueError, match="must have 2 numbers from 0 to 1"):
        count_above(np.array(order, np.int64), np.array(places, np.int64))
