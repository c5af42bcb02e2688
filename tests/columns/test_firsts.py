"""first_rows against a dict for each query."""

import itertools
import random

import numpy as np
import pytest

from fastir.engine.columns._firsts import first_rows


@pytest.mark.parametrize(
    "spelled", [str, int, "{:>20}".format, "{}\udc80".format], ids=["text", "int", "long", "bytes"]
)
def test_first_rows_are_those_that_a_dict_finds(spelled):
    rng = random.Random(1)
    for sizes in [(0,), (1,), (2, 0, 1), (15, 16, 17), (31, 32, 33), (1023, 1024, 1025, 0)]:
        offsets = np.cumsum([0, *sizes])
        n = int(offsets[-1])
        ids = [spelled(rng.randrange(n)) for _ in range(n)]
        order = np.array(rng.sample(range(n), n), np.int64)
        expected, rows, stops = [0] * n, [], [0]
        for start, stop in itertools.pairwise(offsets):
            seen = {}
            for row in order[start:stop].tolist():
                expected[row] = seen.setdefault(ids[row], row)
            rows += seen.values()
            stops.append(len(rows))
        found = first_rows(ids, order, offsets)
        assert [array.tolist() for array in found] == [expected, rows, stops]


@pytest.mark.parametrize(("ids", "offsets", "error", "message"), [
    (["a", 1], [0, 2], TypeError, "expected ids of one kind, got 1"),
    (["a", "b"], [0, 1], ValueError, "offsets must go from 0 to the 2 ids"),
    (["a", "b"], [0, 3, 2], ValueError, r"offsets must rise, but offsets\[2\] is less"),
])  # fmt: skip
def test_arguments_that_do_not_fit_are_refused(ids, offsets, error, message):
    with pytest.raises(error, match=message):
        first_rows(ids, np.arange(2), np.array(offsets))
