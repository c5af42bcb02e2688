"""How rows are divided among queries: by sizes, offsets, ids, or not at all."""

import math
import re

import numpy as np
import pytest
from common import UNEVEN
from labels_made import NAMES, SIZES, bits, collection

import fastir

pytestmark = UNEVEN


def test_sizes_offsets_and_ids_say_the_same():
    labels, scores = collection("graded", "tied")
    expected = bits(
        fastir.evaluate_scores(
            labels, scores, NAMES, group=np.array(SIZES, "u1") if max(SIZES) < 256 else np.array(SIZES, "i2")
        )
    )
    offsets = np.cumsum([0, *SIZES])
    assert bits(fastir.evaluate_scores(labels, scores, NAMES, offsets=offsets.tolist())) == expected
    ids = np.repeat(np.arange(len(SIZES)) * 7 - 3, SIZES)
    by_id = fastir.evaluate_scores(labels, scores, NAMES, qid=ids)
    filled = [query for query, size in enumerate(SIZES) if size]
    assert by_id.query_ids == [query * 7 - 3 for query in filled]
    assert by_id.values.tobytes() == np.frombuffer(expected).reshape(len(SIZES), -1)[filled].tobytes()


@pytest.mark.parametrize(
    "kind", [lambda i: i, lambda i: f"query {i}", lambda i: i * 2**40 - 2**45], ids=["small", "text", "large"]
)
def test_ids_in_any_order_keep_the_order_of_the_rows(kind):
    rng = np.random.default_rng(3)
    codes, labels, scores = rng.integers(0, 90, 4000), rng.integers(0, 3, 4000), rng.integers(0, 5, 4000)
    results = fastir.evaluate_scores(labels, scores, NAMES, qid=[kind(code) for code in codes.tolist()])
    order = list(dict.fromkeys(codes.tolist()))
    assert results.query_ids == [kind(code) for code in order]
    for row, code in enumerate(order):
        rows = codes == code
        expected = fastir.evaluate_scores(labels[rows], scores[rows], NAMES)
        assert results.values[row].tobytes() == expected.values.tobytes()


def test_without_a_division_all_rows_are_one_query():
    assert fastir.evaluate_scores([0, 1], [1, 2], "mrr").to_dict() == {0: {"mrr": 1.0}}


def test_no_rows():
    for division in ({"group": []}, {"qid": []}, {"offsets": [0]}):
        results = fastir.evaluate_scores([], [], ["ndcg", "num_q"], **division)
        assert results.query_ids == [] and math.isnan(results["ndcg"]) and results["num_q"] == 0
    assert fastir.evaluate_scores([], [], "map", group=[0, 0]).values.tolist() == [[0.0], [0.0]]


def test_weights_by_position_or_by_id():
    rows = {"labels": [1, 0, 0, 1], "scores": [2, 1, 2, 1], "metrics": "mrr"}
    assert fastir.evaluate_scores(**rows, group=[2, 2], weights=[3, 1])["mrr"] == 3.5 / 4
    assert fastir.evaluate_scores(**rows, qid=["b", "b", "a", "a"], weights={"a": 1, "b": 3})["mrr"] == 3.5 / 4
    assert fastir.evaluate_ranked([1, 0, 0, 1], [0, 2, 4], "mrr", weights=np.array([3, 1]))["mrr"] == 3.5 / 4


@pytest.mark.parametrize("largest", [2**16 - 1, 2**16, 2**16 + 1, 2**32])
def test_ids_around_a_limit_of_sixteen_bits_are_queries_of_their_own(largest):
    ids = [largest, 0, largest, 1, 0]
    results = fastir.evaluate_scores([0, 1, 1, 0, 0], [5, 1, 4, 3, 2], "mrr", qid=ids)
    assert results.to_dict() == {largest: {"mrr": 0.5}, 0: {"mrr": 0.5}, 1: {"mrr": 0.0}}


@pytest.mark.parametrize("n", [0, 1, 2, 63, 64, 65])
@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u8", "i8", ">i8"])
def test_sizes_and_offsets_of_every_type_and_stride_are_those_of_a_list(n, dtype):
    sizes = np.arange(n) % 3
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    labels, scores = np.arange(bounds[-1]) % 2, np.arange(bounds[-1])
    want = fastir.evaluate_scores(labels, scores, "map", group=sizes.tolist())
    for name, given in (("group", sizes), ("offsets", bounds)):
        given = np.repeat(given.astype(dtype), 2)[::2]
        given.flags.writeable = False
        for view in (given, given.copy(), given[::-1].copy()[::-1], given.tolist(), tuple(given.tolist())):
            assert fastir.evaluate_scores(labels, scores, "map", **{name: view}) == want


@pytest.mark.parametrize(("given", "message"), [
    ({"group": [1, 1, -1, 2]}, "group[2] = -1; a group size must be 0 or more"),
    ({"group": [3, 1]}, "group sizes sum to 4 but labels has 3 entries"),
    ({"group": [2**62, 2**62, 2**62, 2**62, 3]}, f"group sizes sum to {2**64 + 3} but labels has 3 entries"),
    ({"group": []}, "group sizes sum to 0 but labels has 3 entries"),
    ({"offsets": [1, 3]}, "offsets must start at 0, got offset 1"),
    ({"offsets": [0, 2, 1, 3]}, "offsets[2] = 1 < offsets[1] = 2; offsets must not fall"),
    ({"offsets": [0, 2]}, "labels has 3 entries but offsets ends at 2"),
    ({"offsets": [0]}, "labels has 3 entries but offsets ends at 0"),
])  # fmt: skip
def test_sizes_and_offsets_that_do_not_fit_are_named(given, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        fastir.evaluate_scores([1, 0, 1], [3, 2, 1], "map", **given)
