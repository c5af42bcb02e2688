"""Integer ids are written as Python writes them, whatever their length and sign."""

import random

import numpy as np

from fastir.columns._ids import ids_from_integers


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
