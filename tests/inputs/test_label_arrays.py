"""Labels of rows: of every type and stride, whole or fractions, and those that are refused."""

import numpy as np
import pytest
from common import UNEVEN
from labels_made import NAMES, SIZES, bits, collection
from rankings_made import GOOD

import fastir

pytestmark = [UNEVEN, pytest.mark.filterwarnings("ignore::fastir.FastirWarning")]


@pytest.mark.parametrize(
    "dtype", ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", ">i4", ">f8"]
)
def test_every_dtype_and_stride_of_labels(dtype):
    labels, scores = collection("sparse" if dtype == "b1" else "graded", "tied")
    expected = bits(fastir.evaluate_scores(labels, scores, NAMES, group=SIZES))
    wide = np.zeros((len(labels), 3), dtype)
    wide[:, 1] = labels
    for view in (wide[:, 1], wide[:, 1].copy(), wide[::-1, 1].copy()[::-1]):
        view.flags.writeable = False
        assert bits(fastir.evaluate_scores(view, scores, NAMES, group=SIZES)) == expected


@pytest.mark.parametrize("dtype", ["i1", "i8", "u2", "f2", "f4", "f8", ">f4", ">f8"])
def test_every_dtype_and_stride_of_scores(dtype):
    labels, scores = collection("graded", "tied")
    expected = bits(fastir.evaluate_scores(labels, scores, NAMES, group=SIZES))
    wide = np.zeros((len(labels), 3), dtype)
    wide[:, 1] = scores
    for view in (wide[:, 1], wide[:, 1].copy(), wide[::-1, 1].copy()[::-1]):
        view.flags.writeable = False
        assert bits(fastir.evaluate_scores(labels, view, NAMES, group=SIZES)) == expected


def test_a_field_of_a_table_is_read_whatever_its_stride():
    table = np.zeros(3, np.dtype([("tag", "i1"), ("label", "i4"), ("score", "f8")]))
    table["label"], table["score"] = [0, 1, 0], [1.0, 2.0, 3.0]
    assert fastir.evaluate_scores(table["label"], table["score"], "mrr")["mrr"] == 0.5


def test_one_array_for_both_and_arrays_that_stay_as_they_are():
    array = np.array([0.0, 2.0, 1.0])
    assert fastir.evaluate_scores(array, array, ["ndcg", "mrr"]).values.tolist() == [[1.0, 1.0]]
    assert array.tolist() == [0.0, 2.0, 1.0]


def test_fractions_are_relevant_from_the_level_on():
    assert fastir.evaluate_scores([0.5, 0.7], [1, 2], "ndcg").status == {0: "no_relevant"}
    assert fastir.evaluate_scores([0.5, 1.7], [1, 2], "ndcg").status == {0: "evaluated"}


@pytest.mark.parametrize(
    "metric",
    ["map", "mrr", "P@5", "ndcg_burges", "ndcg(gain=exp2)@10", "r_ndcg", "err", "rbp", "ndcg(gain={1: 3})", "bpref"],
)
def test_fractions_are_what_they_are_in_a_dict(metric):
    labels, scores = [1, 0, 0.25, 1.5], [1.0, 2.0, 3.0, 0.5]
    of_dicts = fastir.evaluate(
        {"q": dict(zip("abcd", labels, strict=True))}, {"q": dict(zip("abcd", scores, strict=True))}, metric
    )
    assert fastir.evaluate_scores(labels, scores, metric).values.tobytes() == of_dicts.values.tobytes()
    labels[2] = float("nan")
    with pytest.raises(ValueError, match=r"labels\[2\] is not a finite number"):
        fastir.evaluate_scores(labels, scores, metric)


# ---- judged rankings as arrays ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(("changed", "message"), [
    ({"query_ids": ["q", "q"]}, "duplicate query 'q'"),
    ({"query_ids": ["q", 1]}, "all str or all int, got str and int"),
    ({"query_ids": ["q"]}, "num_ret has 2 entries but there are 1 query_ids"),
    ({"offsets": [0, 2]}, "offsets has 2 entries, expected 3"),
    ({"offsets": [0, 2, 4]}, "offsets goes from 0 to 4, expected 0 to the 3 entries of ranks"),
    ({"offsets": [0, 4, 3]}, r"offsets must not fall, but offsets\[2\]"),
    ({"ranks": [1, 3]}, "expected 0 to the 2 entries of ranks"),
    ({"ranks": [0, 3, 2]}, "rank 0 of query 'q' is not above"),
    ({"ranks": [3, 3, 2]}, "rank 3 of query 'q' is not above the one before"),
    ({"ranks": [1, 6, 2]}, "rank 6 of query 'q' is more than its num_ret 5"),
    ({"ranks": [1, 3.5, 2]}, "ranks must be integers"),
    ({"labels": [1, 0, -2]}, r"labels\[2\] is -2"),
    ({"labels": [1, 0, 2**31]}, r"labels\[2\] is 2147483648"),
    ({"labels": [1, 1, -1]}, "query 'q' has the label 1 more often than ideal_labels"),
    ({"labels": [3, 0, -1]}, "query 'q' has the label 3 more often"),
    ({"ideal_labels": [1, 2, 0, -1]}, "ideal_labels must fall, but label 2 of query 'q' follows 1"),
    ({"num_ret": [5, -1]}, "num_ret of query 'r' is -1"),
    ({"num_ret": [5, 2**60]}, "num_ret of query 'r' is"),
    ({"missing": [False, True]}, "query 'r' is missing, but num_ret is not 0"),
    ({"missing": [0, 1]}, "missing must be bools"),
    ({"ties": "nothing"}, "ties"),
])  # fmt: skip
def test_arrays_that_do_not_fit(changed, message, tmp_path):
    fastir.JudgedRankings.from_arrays(**GOOD)
    with pytest.raises((ValueError, TypeError, OverflowError), match=message):
        fastir.JudgedRankings.from_arrays(**{**GOOD, **changed})
