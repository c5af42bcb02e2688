"""The catalogue's cases of arrays (A20 to A63), as score matrices, lists of items and CSR can meet them."""

import json
import math

import numpy as np
import pytest
from common import ABSENT, SHARED
from verdicts import judge

import fastir

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason=ABSENT)
SCORES = np.array([[3, 2.5, 2], [9, 8, 7]])
INDPTR, ITEMS, LABELS = [0, 3, 6], [0, 1, 2, 0, 1, 2], [1, 0, 2, 0, 1, 1]
CSR = INDPTR, ITEMS, LABELS
ONE = [[3, 2.5, 2]], [{0: 1, 1: 0, 2: 2}]


def matrix(scores=SCORES, relevant=CSR, metric="ndcg@10", **options):
    """The values of a matrix, which must be those of its rows as lists of items; queries are q1, q2 and so on."""
    results = fastir.evaluate_matrix(scores, relevant, metric, **options)
    if not options and len(results.query_ids):
        best = np.argsort(-np.asarray(scores, float), axis=1)
        assert fastir.evaluate_topk(best, relevant, metric).values.tolist() == results.values.tolist()
    return {f"q{number}": {metric: value} for number, value in enumerate(results.values[:, 0].tolist(), 1)}


def lists(indices, relevant=CSR, scores=None, metric="ndcg@10"):
    values = fastir.evaluate_topk(indices, relevant, metric, scores=scores).values[:, 0].tolist()
    return {f"q{number}": {metric: value} for number, value in enumerate(values, 1)}


def read_only(values):
    array = np.array(values)
    array.flags.writeable = False
    return array


def every_other(values):
    return np.repeat(values, 2, axis=-1)[..., ::2]


class OnADevice:
    """What a tensor on a GPU shows of itself."""

    __cuda_array_interface__ = {"shape": (2, 3), "typestr": "<f8", "data": (0, False), "version": 3}
    device = "cuda:0"

    def __dlpack_device__(self):
        return 2, 0


CASES = {
    "A20-arr-control": lambda: matrix(),
    "A20b-arr-control-skl": lambda: matrix(*ONE),
    "A21-len-mismatch": lambda: lists([[0, 1, 2], [0, 1, 2]], scores=SCORES[:, :2]),
    "A21b-fewer-runs": lambda: matrix(SCORES[:1]),
    "A22-unsorted-run": lambda: lists([[2, 0, 1], [1, 2, 0]], scores=[[2, 3, 2.5], [8, 7, 9]]),
    "A23-nan-labels": lambda: matrix(ONE[0], ([0, 3], [0, 1, 2], [1, math.nan, 2])),
    "A24-nan-scores": lambda: matrix([[3, math.nan, 2]], ONE[1]),
    "A25-zero-len-query": lambda: matrix(exclude=[[], [0, 1, 2]]),
    "A26-zero-queries": lambda: matrix(np.empty((0, 3)), []),
    "A27-wrong-dtype": lambda: matrix(relevant=(INDPTR, ITEMS, np.array(["1", "0"] * 3, object))),
    "A29-non-contiguous": lambda: matrix(every_other(SCORES), tuple(map(every_other, CSR))),
    "A30-read-only": lambda: matrix(read_only(SCORES), tuple(map(read_only, CSR))),
    "A33-float32": lambda: matrix(SCORES.astype("f4"), (INDPTR, ITEMS, np.array(LABELS, "f4"))),
    "A34b-1-column": lambda: lists([[0], [0]], scores=SCORES),
    "A35-skl-negative": lambda: matrix(ONE[0], [{0: 1, 1: -1, 2: 2}]),
    "A37-skl-k0": lambda: matrix(*ONE, metric="ndcg@0"),
    "A40-offsets-decreasing": lambda: matrix(relevant=([0, 4, 2, 6], ITEMS, LABELS)),
    "A41-offsets-end": lambda: matrix(relevant=([0, 3, 5], ITEMS, LABELS)),
    "A42-offsets-start": lambda: matrix(relevant=([1, 3, 6], ITEMS, LABELS)),
    "A43-offsets-negative": lambda: matrix(relevant=([0, -3, 6], ITEMS, LABELS)),
    "A44-offsets-float": lambda: matrix(relevant=(np.array([0, 3.0, 6]), ITEMS, LABELS)),
    "A45-offsets-int32-wrap": lambda: matrix(
        relevant=(np.array([0, -(2**31) + 8], np.int32), np.broadcast_to(np.int8(1), 2**31 + 8))
    ),
    "A51-empty-offsets": lambda: matrix(relevant=([], ITEMS, LABELS)),
    "A57-cuda": lambda: matrix(OnADevice()),
    "A60-longdouble": lambda: matrix(SCORES.astype(np.longdouble)),
    "A62-datetime": lambda: matrix(relevant=(INDPTR, ITEMS, np.array(LABELS, "M8[s]"))),
    "A63-structured": lambda: matrix(np.array([[(1.0,)]], [("a", "f8")]), [[0]]),
}
SAME = {  # no values in the catalogue: those of the control
    "A53-inputs-unchanged": lambda array: (array, CSR),
    "A55-neg-stride": lambda array: (array[:, ::-1].copy()[:, ::-1], CSR),
    "A59-dlpack-f16": lambda array: (array.astype("f2"), CSR),
}


@pytest.mark.parametrize("case_id", CASES)
def test_case(case_id):
    with (SHARED / "cases" / "cases.jsonl").open(encoding="utf-8") as file:
        case = next(case for case in map(json.loads, file) if case["id"] == case_id)
    try:
        outcome = {"values": CASES[case_id](), "repairs": {}}
    except Exception as error:
        outcome = {"error": str(error), "classes": [cls.__name__ for cls in type(error).__mro__]}
    problem = judge(outcome, case["expected"])
    assert problem is None, f"{case['description']}: {problem}; {str(outcome)[:500]}"


@pytest.mark.parametrize("case_id", SAME)
def test_arrays_of_any_layout(case_id):
    """The values of the plain call; the arrays are as they were."""
    scores, relevant = SAME[case_id](SCORES.copy())
    before = scores.copy(), [np.array(part) for part in relevant]
    assert matrix(scores, relevant) == matrix()
    assert (scores == before[0]).all()
    assert all((np.array(part) == copy).all() for part, copy in zip(relevant, before[1], strict=True))


def test_buffers_that_overlap():
    """A52: the scores are the numbers of the relevant items."""
    items = np.array([[0, 1, 2], [0, 1, 2]])
    before = items.copy()
    results = fastir.evaluate_matrix(items, (INDPTR, items.ravel(), LABELS), "ndcg@10")
    assert results == fastir.evaluate_matrix(before.astype(float), CSR, "ndcg@10")
    assert (items == before).all()
