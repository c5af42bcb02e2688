"""The items of each row in every form, as lists of rows: relevant, excluded, masks, targets and ratings."""

import math
import re

import numpy as np
import pytest
from common import UNEVEN
from matrices import FIVE, bits

import fastir

pytestmark = UNEVEN

SCORES = np.array([[0.1, 0.9, 0.5, 0.3], [0.8, 0.2, 0.4, 0.6]])
RELEVANT = [{2: 1, 3: 2}, {0: 1, 1: 0}]


def forms():
    """RELEVANT in every form, and without its labels."""
    sparse = pytest.importorskip("scipy.sparse")
    csr = sparse.csr_matrix(([1.0, 2.0, 1.0, 0.0], [2, 3, 0, 1], [0, 2, 4]), shape=(2, 4))
    graded = {
        "list of dicts": RELEVANT, "dict of dicts": dict(enumerate(RELEVANT)),
        "other order": {1: {1: 0, 0: 1}, 0: {3: 2, 2: 1}}, "generator": (row for row in RELEVANT), "csr": csr,
        "csr array": sparse.csr_array(csr), "csc": csr.tocsc(), "coo": csr.tocoo(),
        "tuple": ([0, 2, 4], [2, 3, 0, 1], [1, 2, 1, 0]),
        "tuple of arrays": (np.array([0, 2, 4], "i4"), np.array([3, 2, 1, 0], "u2"), np.array([2, 1, 0, 1], "f2")),
        "NumPy integers": [{np.int32(2): np.int8(1), np.int64(3): True + np.int64(1)}, {0: True, 1: False}],
    }  # fmt: skip
    plain = {
        "lists": [[2, 3], [0]], "tuples": [(3, 2), (0,)], "sets": [{2, 3}, {0}],
        "arrays": [np.array([2, 3]), np.array([0], np.uint8)], "dict of lists": {0: [2, 3], 1: [0]},
        "some with labels": [{2: 1, 3: 1}, [0]], "tuple": ([0, 2, 3], [2, 3, 0]),
        "bool": sparse.csr_matrix(([True, True, True], [3, 2, 0], [0, 2, 3]), shape=(2, 4)),
    }  # fmt: skip
    return graded, plain


def test_relevant_items_in_every_form():
    graded, plain = forms()
    for known, relevant in ((graded, RELEVANT), (plain, [{2: 1, 3: 1}, {0: 1}])):
        expected = fastir.evaluate_matrix(SCORES, relevant, FIVE)
        for form, data in known.items():
            assert bits(fastir.evaluate_matrix(SCORES, data, FIVE)) == bits(expected), form


def test_excluded_items_in_every_form():
    graded, plain = forms()
    relevant = [[0, 1], [3]]
    expected = fastir.evaluate_matrix(SCORES, relevant, FIVE, exclude=[[2, 3], [0]])
    assert expected["mrr"] == 1.0
    for form, data in plain.items():
        assert bits(fastir.evaluate_matrix(SCORES, relevant, FIVE, exclude=data)) == bits(expected), form
    for form, data in graded.items():
        results = fastir.evaluate_matrix(SCORES, relevant, "num_ret", exclude=data)
        assert results.per_query("num_ret") == {0: 2.0, 1: 2.0}, form


def test_a_row_that_a_dict_lacks_has_no_items():
    results = fastir.evaluate_matrix(SCORES, {1: [0]}, "mrr", exclude={1: [0, 2]})
    assert results.per_query("mrr") == {0: 0.0, 1: 0.0}
    assert results.status == {0: "no_relevant", 1: "evaluated"}
    assert fastir.evaluate_matrix(SCORES, {1: [0]}, "mrr", empty="skip")["mrr"] == 1.0


def test_a_matrix_of_bools_is_a_mask():
    scores = np.array([[0.9, 0.1], [0.9, 0.1]])
    mask = np.array([[1, 0], [0, 1]], bool)
    for given in (mask, mask.tolist(), list(mask), np.asfortranarray(mask)):
        assert fastir.evaluate_matrix(scores, given, "P@1")["P@1"] == 0.5
    wide = np.random.default_rng(2).random((30, 50))
    chosen = wide > 0.7
    chosen[3] = False
    listed = [np.flatnonzero(row) for row in chosen]
    metrics = ["ndcg@5", "map", "recall@20", "num_rel"]
    expected = fastir.evaluate_matrix(wide, listed, metrics, exclude={0: [1]})
    excluded = np.zeros(chosen.shape, bool)
    excluded[0, 1] = True
    assert fastir.evaluate_matrix(wide, chosen, metrics, exclude=excluded) == expected
    blocks = (wide[start : start + 7] for start in range(0, 30, 7))
    assert fastir.evaluate_matrix(blocks, chosen, metrics, exclude=excluded) == expected
    with pytest.raises(ValueError, match="scores has 50 columns but relevant has 49; shapes must match"):
        fastir.evaluate_matrix(wide, chosen[:, 1:], "map")
    with pytest.raises(ValueError, match="scores has 30 rows but relevant has 29; lengths must match"):
        fastir.evaluate_matrix(wide, chosen[1:], "map")


def test_a_false_that_a_sparse_mask_stores_is_no_item():
    sparse = pytest.importorskip("scipy.sparse")
    scores, mask = [[0.1, 0.9, 0.5], [0.8, 0.2, 0.4]], np.array([[0, 1, 1], [0, 0, 1]], bool)
    for kind in (sparse.csr_matrix, sparse.csr_array, sparse.coo_matrix):
        stored = kind(mask)
        stored.data[0] = False
        rest = np.array([[0, 0, 1], [0, 0, 1]], bool)
        for name in ("relevant", "exclude"):
            given = {"relevant": np.array([[1, 1, 0], [1, 0, 0]], bool), "metrics": ["mrr", "num_ret", "num_rel"]}
            assert fastir.evaluate_matrix(scores, **{**given, name: stored}) == fastir.evaluate_matrix(
                scores, **{**given, name: rest}
            )
        assert stored.nnz == 3  # the caller's matrix is as it was


def test_one_number_for_each_row_is_the_item_that_was_left_out():
    scores = np.random.default_rng(4).random((7, 9)).astype(np.float32)
    targets = [3, 0, 8, 8, 2, 5, 1]
    expected = fastir.evaluate_matrix(scores, [[item] for item in targets], ["mrr", "hr@3", "ndcg@5"])
    top = np.argsort(-scores, axis=1)
    for given in (targets, np.array(targets), np.array(targets, np.uint8), list(np.array(targets))):
        assert bits(fastir.evaluate_matrix(scores, given, ["mrr", "hr@3", "ndcg@5"])) == bits(expected)
        assert bits(fastir.evaluate_topk(top, given, ["mrr", "hr@3", "ndcg@5"])) == bits(expected)
    torch = pytest.importorskip("torch")
    assert bits(fastir.evaluate_matrix(scores, torch.tensor(targets), ["mrr", "hr@3", "ndcg@5"])) == bits(expected)


@pytest.mark.parametrize(("targets", "error", "message"), [
    ([3, 0], ValueError, "scores has 3 rows but relevant has 2; lengths must match"),
    ([3, 0, 4], ValueError, "relevant: item 4 of row 2 is no column of scores; out of range"),
    ([3, 0, 1.5], TypeError, "relevant must be integers, got dtype float64"),
    ([3, 0, [1]], ValueError, "relevant must be an array of numbers"),
    ([True, False, True], ValueError, "relevant: row 0 must have 1 dimension, got shape ()"),
])  # fmt: skip
def test_targets_that_are_refused(targets, error, message):
    with pytest.raises(error, match=re.escape(message)):
        fastir.evaluate_matrix(np.zeros((3, 4)), targets, "mrr")


@pytest.mark.parametrize("name", ["relevant", "exclude"])
def test_numbers_of_the_shape_of_the_scores_are_refused_by_name(name):
    scores = np.array([[0.9, 0.1], [0.9, 0.1]])
    for numbers in (np.array([[1, 0], [0, 1]]), [[1, 0], [0, 1]], np.array([[1, 0], [0, 1]], np.uint8)):
        for given in (scores, iter([scores[:1], scores[1:]])):
            with pytest.raises(
                ValueError, match=f"{name} has a number for each of the 2 columns of scores; expected a"
            ):
                fastir.evaluate_matrix(given, **{"relevant": [[0], [1]], "metrics": "P@1", name: numbers})
    assert fastir.evaluate_matrix([[0.5], [0.4]], [[0], [0]], "P@1")["P@1"] == 1.0
    assert fastir.evaluate_matrix([[0.5, 0.6, 0.7], [0.4, 0.3, 0.1]], np.array([[2, 1], [1, 2]]), "P@1")["P@1"] == 0.5


def test_what_is_excluded_may_have_weights():
    sparse = pytest.importorskip("scipy.sparse")
    scores, relevant = [[0.1, 0.9, 0.5], [0.8, 0.2, 0.4]], [[2], [0]]
    expected = fastir.evaluate_matrix(scores, relevant, "mrr", exclude=[[1], []])
    weights = sparse.csr_matrix(np.array([[0, 0.5, 0], [0, 0, 0]]))
    triple = (weights.indptr, weights.indices, weights.data)
    for exclude in (weights, triple, {0: {1: 0.5}}, [{1: math.nan}, {}]):
        assert fastir.evaluate_matrix(scores, relevant, "mrr", exclude=exclude) == expected
    assert fastir.evaluate_matrix(scores, weights, "dcg@1").per_query("dcg@1") == {0: 0.5, 1: 0.0}


METRICS = ["ndcg@3", "map", "bpref", "num_rel", "num_nonrel_judged_ret"]


@pytest.mark.parametrize("threshold", [0.5, 3.5, 4, 4.25, 5, np.float32(2.5)])
def test_ratings_from_the_threshold_on_are_relevant_and_others_judged(threshold):
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(5)
    scores = rng.random((20, 30))
    ratings = np.where(rng.random(scores.shape) < 0.3, rng.integers(1, 11, scores.shape) / 2, 0)
    matrix = sparse.csr_matrix(ratings)
    rows = [{int(i): float(row[i]) for i in np.flatnonzero(row)} for row in ratings]
    labels = [{item: int(rating >= threshold) for item, rating in row.items()} for row in rows]
    expected = fastir.evaluate_matrix(scores, labels, METRICS)
    triple = (matrix.indptr, matrix.indices, matrix.data)
    for given in (matrix, matrix.astype(np.float32), triple, rows, dict(enumerate(rows))):
        assert bits(fastir.evaluate_matrix(scores, given, METRICS, threshold=threshold)) == bits(expected)
    top = np.argsort(-scores, axis=1)
    assert bits(fastir.evaluate_topk(top, matrix, METRICS, threshold=threshold)) == bits(expected)


@pytest.mark.parametrize(("relevant", "options", "error", "message"), [
    ([[1], [2]], {}, ValueError, "threshold needs ratings, and relevant has no ratings; expected a sparse matrix"),
    ([{1: 4.5}, [2]], {}, ValueError, "threshold needs ratings, and relevant has no ratings"),
    ([1, 2], {}, ValueError, "threshold needs ratings, and relevant has no ratings"),
    (([0, 1, 1], [2]), {}, ValueError, "threshold needs ratings, and relevant has no ratings"),
    (np.eye(2, 4, dtype=bool), {}, ValueError, "threshold needs ratings, and relevant has no ratings"),
    ([{1: 4.5}, {2: math.nan}], {}, ValueError, "relevant: rating nan is not a number (row 1, item 2)"),
    ([{1: 4.5}, {}], {"rel_level": 2}, ValueError, "expected rel_level=1 with it, got 2"),
    ([{1: 4.5}, {}], {"threshold": "4"}, TypeError, "threshold must be a number, got str '4'"),
])  # fmt: skip
def test_ratings_that_are_refused(relevant, options, error, message):
    with pytest.raises(error, match=re.escape(message)):
        fastir.evaluate_matrix(np.zeros((2, 4)), relevant, "mrr", **{"threshold": 4, **options})
