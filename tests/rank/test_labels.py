"""Labels of any dtype are the same labels, wherever in a block the odd one stands."""

import ctypes

import numpy as np
import pytest

import fastir


@pytest.mark.parametrize("dtype", ["i4", "i8", "f4", "f8"])
@pytest.mark.parametrize("odd", [0, 1, 127, 128, 255, 256, 32768, 65537, 2**24, -1, -2, -3, -129])
def test_a_label_anywhere_in_a_block_is_read(dtype, odd):
    for n in (15, 16, 17, 33):
        for place in range(n):
            labels = np.zeros(n, dtype)
            labels[place] = odd
            found = fastir.evaluate_ranked(labels, [0, n], ["mrr", "dcg"]).values
            assert (
                found.tobytes()
                == fastir.evaluate_ranked(labels[::-1].copy()[::-1], [0, n], ["mrr", "dcg"]).values.tobytes()
            )


@pytest.mark.parametrize("odd", [2**31, 2**32, 2**32 + 1, -(2**31) - 1, 2**63 - 1, -(2**63)])
def test_an_int64_beyond_32_bits_is_refused_anywhere(odd):
    for place in range(33):
        labels = np.zeros(33, np.int64)
        labels[place] = odd
        with pytest.raises((ValueError, OverflowError, TypeError)):
            fastir.evaluate_ranked(labels, [0, 33], "mrr")


@pytest.mark.parametrize("kind", [ctypes.c_float, ctypes.c_double, ctypes.c_int32, ctypes.c_int64, ctypes.c_int8])
def test_memory_of_ctypes_is_read_as_what_it_is(kind):
    """Its formats begin with the order of bytes: LightGBM hands out labels and scores so."""
    rng = np.random.default_rng(2)
    labels, scores = (np.ctypeslib.as_array((kind * 60)(*values)) for values in rng.integers(-3, 4, (2, 60)).tolist())
    for given in ((labels, scores), (labels.copy(), scores.copy())):
        found = fastir.evaluate_scores(*given, ["ndcg@5", "map", "bpref"], group=[20, 40], ties="input")
        plain = (np.array(column.tolist(), column.dtype.type) for column in given)
        assert found == fastir.evaluate_scores(*plain, ["ndcg@5", "map", "bpref"], group=[20, 40], ties="input")
