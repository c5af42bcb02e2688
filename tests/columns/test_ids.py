"""Integer ids are written as Python writes them, whatever their length and sign; ids lie in an arena in three ways."""

import pickle
import random

import numpy as np
import pytest
from fastir.engine.columns._ids import ids_from_arena, ids_from_integers

from fastir.engine.columns.ids import Arena


def test_integers_of_every_length_are_written_in_decimal():
    rng = random.Random(1)
    numbers = [sign * (10**power + step) for sign in (1, -1) for power in range(19) for step in (-1, 0, 1, 7)]
    numbers += [sign * rng.getrandbits(bits) for bits in range(1, 64) for sign in (1, -1) for _ in range(200)]
    numbers += [2**63 - 1, -(2**63)]
    text, starts, lengths = ids_from_integers(np.array(numbers, np.int64)).copy(0, len(numbers))
    written = text.tobytes().decode()
    assert [written[i : i + n] for i, n in zip(starts.tolist(), lengths.tolist(), strict=True)] == list(
        map(str, numbers)
    )


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_ids_that_stand_one_behind_the_other_need_no_lengths(dtype):
    text = np.frombuffer("aébcd".encode(), np.uint8)
    packed = Arena(text, np.array([0, 1, 3, 3, 6], dtype), None)
    spans = Arena(text, np.array([0, 1, 3, 3]), np.array([1, 2, 0, 3]))
    for arena in (packed, pickle.loads(pickle.dumps(packed))):
        assert len(arena) == len(ids_from_arena(arena)) == 4
        assert (arena.starts.dtype, arena.lengths.dtype) == (np.int64, np.int64)
        assert arena[:] == spans[:] == ["a", "é", "", "bcd"]
        assert [ids_from_arena(arena)[i] for i in range(4)] == arena[:]
    empty = Arena(np.empty(0, np.uint8), np.zeros(1, dtype), None)
    assert (len(empty), empty[:], len(ids_from_arena(empty))) == (0, [], 0)
