"""The table of a bare list of labels: the texts' own tables, and rows that add up for every metric."""

import math
import pickle
import random

import numpy as np
import pytest

import fastir
from fastir.analyses.explain.ranked import rank_weights

CARDS = [card for card in fastir.metrics() if not (card.pooled or card.sampled)]
NAMES = [*(card.spelled("@0.4" if card.at else "") for card in CARDS), *(c.spelled("@3") for c in CARDS if c.cutoff)]
SUMS = ["dcg", "dcg_burges@3", "map", "map@3", "precision@4", "recall", "rbp.8", "err", "cg@2", "hits", "sdcg@4"]


def columns(told, *names):
    return [[getattr(row, name) for row in told.documents] for name in names]


def test_the_table_of_the_textbook():
    told = fastir.explain_ranked([5, 2, 4, 0, 1], "dcg")
    ranks, labels, gains, quotients = columns(told, "rank", "label", "gain", "quotient")
    assert (ranks, labels, gains) == ([1, 2, 3, 4, 5], [5, 2, 4, 0, 1], [5, 2, 4, 0, 1])
    assert [round(quotient, 2) for quotient in quotients] == [5.00, 1.26, 2.00, 0, 0.39]
    assert quotients == [5.0, 2 / math.log2(3), 2.0, 0.0, 1 / math.log2(6)]
    assert [round(value, 2) for value in columns(told, "running_sum")[0]] == [5.00, 6.26, 8.26, 8.26, 8.65]
    assert columns(told, "discount")[0] == pytest.approx([math.log2(rank + 1) for rank in ranks], rel=1e-15)
    assert (told.value, told.base, told.ideal) == (8.648712314377457, 0.0, None)
    assert repr(told).splitlines() == [
        "dcg 8.6487", "rank  label  gain  discount  quotient  running sum",
        "   1      5     5    1.0000    5.0000       5.0000", "   2      2     2    1.5850    1.2619       6.2619",
        "   3      4     4    2.0000    2.0000       8.2619", "   4      0     0    2.3219    0.0000       8.2619",
        "   5      1     1    2.5850    0.3869       8.6487",
    ]  # fmt: skip


def test_ndcg_is_the_sum_over_that_of_all_judged_documents():
    told = fastir.explain_ranked([3, 2, 3, 0, 1, 2], "ndcg@6", ideal_labels=[3, 2, 3, 0, 1, 2, 3, 2])
    assert repr(told).startswith("ndcg@6 0.7850 = 6.8611 / 8.7403\n")
    assert told.documents[-1].running_sum / told.ideal == told.value == 0.785002371969948
    for metric in ("ndcg_burges", "ndcg(gain=exp2, ideal=retrieved)@2", "ndcg(gain={1:2.5}, discount=jk2)"):
        told = fastir.explain_ranked([1, 0, 3, 2], metric, ideal_labels=[3, 3, 2, 1, 0])
        assert told.documents[-1].running_sum / told.ideal == told.value > 0, metric


@pytest.mark.parametrize("metric", NAMES)
def test_the_last_running_sum_is_the_value(metric):
    rng = random.Random(metric)
    for n in (0, 1, 2, 6, 9):
        labels = [rng.choice((0, 0, 1, 2, 4, -1, -2)) for _ in range(n)]
        ideal = [label for label in labels if label >= 0] + [rng.choice((0, 1, 3)) for _ in range(3)]
        judged = {"ideal_labels": ideal, "ideal_offsets": [0, len(ideal)]}
        value = fastir.evaluate_ranked(labels, [0, n], metric, **judged)[metric]
        told = fastir.explain_ranked(labels, metric, ideal_labels=ideal)
        assert same(told.value, value) and len(told.documents) == n
        last = told.documents[-1].running_sum if n else value
        assert same(last / told.ideal if told.ideal else last, value)
        quotients = columns(told, "quotient")[0]
        if metric in SUMS and n:
            assert told.base == 0 and math.isclose(math.fsum(quotients), value, rel_tol=1e-14)
        for row in told.documents:
            assert row.discount is None or not row.gain or row.quotient == pytest.approx(row.gain / row.discount)


def same(a, b):
    return a == b or (a != a and b != b)


def test_options_are_those_of_evaluate_ranked():
    labels = [-1, 2, 0, 1, -2, 3]
    assert columns(fastir.explain_ranked(labels, "mrr", judged_only=True), "label")[0] == [2, 0, 1, 3]
    assert columns(fastir.explain_ranked(labels, "mrr", max_depth=3), "label")[0] == [-1, 2, 0]
    assert fastir.explain_ranked(labels, "mrr", rel_level=3).value == 1 / 6
    exponential = fastir.explain_ranked(labels, "dcg", gain="exp2", judged_only=True, max_depth=4)
    assert columns(exponential, "gain")[0] == [3, 0, 1]
    assert (
        exponential.value
        == fastir.evaluate_ranked(labels, [0, 6], "dcg", gain="exp2", judged_only=True, max_depth=4)["dcg"]
    )
    capped = fastir.explain_ranked([0, 1, 1], "map@2", convention="lightgbm", ideal_labels=[1, 1, 1, 0])
    assert capped.value == capped.documents[-1].running_sum == 0.25


def test_labels_may_be_arrays_of_any_numbers_and_stay_as_they_are():
    labels = np.array([5, 0, 2, 9, 4, 9, 0, 9, 1, 9], np.uint8)[::2]
    kept = labels.copy()
    assert fastir.explain_ranked(labels, "dcg").value == 8.648712314377457
    assert (labels == kept).all()
    fractions = fastir.explain_ranked(np.array([0.5, 2.0, 1.25], np.float32), "ndcg")
    assert columns(fractions, "label", "gain") == [[0.5, 2.0, 1.25]] * 2
    assert fastir.explain_ranked([True, False], "map").value == 1.0


def test_undefined_values_and_documents_that_add_nothing():
    told = fastir.explain_ranked([0, 1, 1], "mrr")
    assert columns(told, "gain", "discount", "quotient") == [[0, 1, 1], [1, 2, math.inf], [0, 0.5, 0]]
    assert columns(fastir.explain_ranked([0, 0], "dcg"), "discount") == [[None, None]]
    assert repr(fastir.explain_ranked([0, 1], "mean_rank")).splitlines()[2].split()[-2:] == ["0.0000", "-"]
    assert fastir.explain_ranked([], "ndcg").documents == []


def test_it_is_a_data_frame_and_is_pickled():
    pandas = pytest.importorskip("pandas")
    told = fastir.explain_ranked([5, 2, 4, 0, 1], "dcg")
    frame = told.to_pandas()
    assert list(frame.columns) == ["label", "gain", "discount", "quotient", "running_sum"]
    assert frame.index.name == "rank" and frame["quotient"].tolist() == columns(told, "quotient")[0]
    pandas.testing.assert_frame_equal(pandas.DataFrame(told.documents).set_index("rank"), frame)
    assert fastir.explain_ranked([0], "dcg").to_pandas()["discount"].isna().all()
    assert fastir.explain_ranked([], "dcg").to_pandas().shape == (0, 5)
    assert pickle.loads(pickle.dumps(told)) == told


def test_long_lists_are_cut_when_printed():
    lines = repr(fastir.explain_ranked([1] * 50, "dcg")).splitlines()
    assert len(lines) == 43 and lines[-1] == "... 10 more"


@pytest.mark.parametrize(("arguments", "error", "message"), [
    (([1, 2], "ndcg_cut"), ValueError, "'ndcg_cut' means 9 metrics; explain_ranked takes one"),
    (([1, 2], "ndgc"), fastir.UnknownMetricError, "'ndcg'"),
    (([1, 2], "hole@2"), fastir.UnknownMetricError, "needs document ids"),
    (([1, 9], "err"), OverflowError, "label 9 is too large for max_grade=4 "),
    (([[1, 2]], "dcg"), ValueError, r"labels must have 1 dimension, got shape \(1, 2\)"),
    (([1, float("inf")], "map"), ValueError, r"labels\[1\] is not a finite number"),
    ((["1"], "dcg"), TypeError, "labels must hold numbers"),
])  # fmt: skip
def test_bad_input_is_named(arguments, error, message):
    with pytest.raises(error, match=message):
        fastir.explain_ranked(*arguments)


# ---- the worth of ranks --------------------------------------------------------------------------------------------
def test_the_worth_of_a_rank_is_that_of_the_formulas():
    weights = rank_weights(["mrr", "dcg", "rbp.8", "err", "ndcg(discount=jk2)", "precision@2", "map"], 6)
    ranks = np.arange(1, 7)
    for name, expected in (
        ("mrr", 1 / ranks), ("dcg", 1 / np.log2(ranks + 1)), ("rbp.8", 0.8 ** (ranks - 1)),
        ("err", 1 / ranks), ("ndcg(discount=jk2)", 1 / np.log2(np.maximum(ranks, 2))),
        ("precision@2", [1, 1, 0, 0, 0, 0]), ("map", 1 / ranks),
    ):  # fmt: skip
        np.testing.assert_allclose(weights[name], expected, rtol=1e-14)
    with pytest.raises(ValueError, match="metric 'rbp_resid': a list with one relevant document"):
        rank_weights("rbp_resid", 3)
