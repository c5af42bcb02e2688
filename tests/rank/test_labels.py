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


@pytest.mark.parametrize("dtype", ["u1", "i2", "u2", "u4", "u8", ">u2", ">u8"])
@pytest.mark.parametrize("odd", [0, 1, 127, 128, 255, 256, 32767, 32768, 65535, 65537, 2**31 - 1])
def test_small_and_unsigned_labels_are_those_of_int64(dtype, odd):
    if odd > np.iinfo(dtype).max:
        return
    for n in (0, 1, 2, 15, 16, 17, 63, 64, 65):
        for place in {0, n // 2, n - 1} if n else {0}:
            labels = np.arange(n, dtype=np.int64) % 3
            labels[place : place + 1] = odd
            given = np.repeat(labels.astype(dtype), 2)[::2]
            given.flags.writeable = False
            want, ends, scores = labels.tolist(), [0, n // 3, n], np.arange(n)
            for view in (given, given.copy()):
                for more in ({}, {"ideal_labels": view, "ideal_offsets": ends}):
                    same = {name: want if name == "ideal_labels" else ends for name in more}
                    found = fastir.evaluate_ranked(view, ends, ["mrr", "dcg", "bpref"], **more)
                    assert found == fastir.evaluate_ranked(want, ends, ["mrr", "dcg", "bpref"], **same)
                found = fastir.evaluate_scores(view, scores, ["ndcg@5", "map", "bpref"], offsets=ends)
                assert found == fastir.evaluate_scores(want, scores, ["ndcg@5", "map", "bpref"], offsets=ends)
                real = [0.5, *want][: n + 1]
                more = {"ideal_labels": real, "ideal_offsets": [0, n // 3 + 1, n + 1]}
                found = fastir.evaluate_ranked(view, ends, "ndcg@5", **more)
                assert found == fastir.evaluate_ranked(want, ends, "ndcg@5", **more)


@pytest.mark.parametrize(("dtype", "odd"), [("u4", 2**31), ("u4", 2**32 - 1), ("u8", 2**31), ("u8", 2**64 - 1)])
def test_an_unsigned_label_beyond_32_bits_is_refused_anywhere(dtype, odd):
    for place in range(33):
        labels = np.zeros(33, dtype)
        labels[place] = odd
        halves = {"ideal_labels": [0.5], "ideal_offsets": [0, 1]}
        for more in ({}, halves):
            with pytest.raises(OverflowError, match="labels holds a label outside"):
                fastir.evaluate_ranked(labels, [0, 33], "ndcg@3", **more)
        with pytest.raises(OverflowError, match="ideal_labels holds a label outside"):
            fastir.evaluate_ranked([0.5], [0, 1], "ndcg@3", ideal_labels=labels, ideal_offsets=[0, 33])


@pytest.mark.parametrize("kind", [ctypes.c_float, ctypes.c_double, ctypes.c_int32, ctypes.c_int64, ctypes.c_int8])
def test_memory_of_ctypes_is_read_as_what_it_is(kind):
    """Its formats begin with the order of bytes: LightGBM hands out labels and scores so."""
    rng = np.random.default_rng(2)
    labels, scores = (np.ctypeslib.as_array((kind * 60)(*values)) for values in rng.integers(-3, 4, (2, 60)).tolist())
    for given in ((labels, scores), (labels.copy(), scores.copy())):
        found = fastir.evaluate_scores(*given, ["ndcg@5", "map", "bpref"], group=[20, 40], ties="input")
        plain = (np.array(column.tolist(), column.dtype.type) for column in given)
        assert found == fastir.evaluate_scores(*plain, ["ndcg@5", "map", "bpref"], group=[20, 40], ties="input")
