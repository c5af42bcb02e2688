"""The catalogue of bad and edge inputs (../shared/cases): a right value, a clear error, or a repair that is reported.

Each case runs in a process of its own with 8 GiB of address space and 10 seconds (case_worker.py). No crash, no hang,
no silent wrong number.
"""

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from common import ABSENT, SHARED
from processes import patient
from verdicts import judge

import fastir

try:
    import pandas
except ImportError:
    pandas = None

CATEGORIES = ("file-format", "score", "ties-precision", "structure", "grade", "dict", "metric")
FRAMES = re.compile(r"A(0\d|1[0-6])b?-")  # of the category array: data frames, which pandas must be there for
OTHERWISE = (
    "D12-outer-list",  # a list of tuples, which the catalogue wants refused, is a run (tests/inputs/test_tables.py)
    "F47-beir-qrels",  # a BEIR header, which it wants named, says what the file is (tests/inputs/test_formats.py)
    "S21-rank-garbage",  # a rank that is no number, which it wants read, is an error (tests/columns/test_trec.py)
)
WORKER = Path(__file__).with_name("case_worker.py")


def catalogue():
    """The cases of these categories, as test parameters."""
    if not SHARED.is_dir():
        return [pytest.param(None, id="absent", marks=pytest.mark.skip(reason=ABSENT))]
    with (SHARED / "cases" / "cases.jsonl").open(encoding="utf-8") as file:
        cases = [json.loads(line) for line in file]
    chosen = [case for case in cases if case["category"] in CATEGORIES and case["id"] not in OTHERWISE]
    frames = [case for case in cases if FRAMES.match(case["id"])]
    missing = pytest.mark.skipif(pandas is None, reason="needs pandas")
    return [
        *(pytest.param(case, id=case["id"]) for case in chosen),
        *(pytest.param(case, id=case["id"], marks=missing) for case in frames),
    ]


class Worker:
    """A process that answers one case at a time."""

    def __init__(self, *flags):
        command = [sys.executable, *flags, str(WORKER), str(SHARED / "cases")]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, case_id):
        print(case_id, file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait(patient(10))


@pytest.fixture(scope="module")
def workers():
    """A worker for ordinary Python and one for `python -O`."""
    pair = {False: Worker(), True: Worker("-O")}
    yield pair
    for worker in pair.values():
        worker.close()


@pytest.mark.parametrize("case", catalogue())
def test_case(case, workers):
    outcome = workers[case.get("opts", {}).get("python_O", False)](case["id"])
    problem = judge(outcome, case["expected"])
    assert problem is None, f"{case['description']}: {problem}; {str(outcome)[:500]}"


# ---- arrays: A20 to A63, as labels in rank order and as labels with scores -------------------------------------------
LABELS = [1, 0, 2, 0, 1, 1]
SCORES = [3, 2.5, 2, 9, 8, 7]
OFFSETS = [0, 3, 6]
WRAPPED = np.array([0, -(2**31) + 8], np.int32)
UNSORTED = [2, 0, 1, 2, 1, 0]  # the rows of each query in another order


def read_only(values):
    array = np.array(values)
    array.flags.writeable = False
    return array


def per_query(results):
    """Queries are called q1, q2 and so on, as in the catalogue."""
    rows = [dict(zip(results.names, row, strict=True)) for row in results.values.tolist()]
    return {f"q{number}": row for number, row in enumerate(rows, 1)}


def ranked(labels=LABELS, offsets=OFFSETS, metric="ndcg@10"):
    return per_query(fastir.evaluate_ranked(labels, offsets, metric))


def scored(labels=LABELS, scores=SCORES, metric="ndcg@10", **division):
    return per_query(fastir.evaluate_scores(labels, scores, metric, **(division or {"offsets": OFFSETS})))


def of_both(**arrays):
    """The call of either function that these arguments are for."""
    return [
        lambda: ranked(**arrays),
        lambda: scored(
            **arrays,
            **({} if "labels" not in arrays else {"scores": -np.arange(np.size(arrays["labels"]), dtype=float)}),
        ),
    ]


class OnDevice:
    """An array in the memory of a GPU."""

    __cuda_array_interface__ = {"shape": (6,), "typestr": "<f4", "data": (0, False), "version": 3}
    dtype = np.dtype("f4")


ARRAYS = {
    "A20-arr-control": [ranked, scored],
    "A20b-arr-control-skl": [lambda: ranked([1, 0, 2], [0, 3]), lambda: scored([1, 0, 2], [3, 2.5, 2], group=[3])],
    "A21-len-mismatch": [lambda: scored(scores=SCORES[:5])],
    "A21b-fewer-runs": [lambda: ranked(LABELS[:3]), lambda: scored(LABELS[:3], SCORES[:3])],
    "A22-unsorted-run": [lambda: scored([2, 0, 1, 1, 1, 0], [2, 2.5, 3, 7, 8, 9])],
    "A23-nan-labels": of_both(labels=[1, math.nan, 2], offsets=[0, 3]),
    "A24-nan-scores": [lambda: scored([1, 0, 2], [3, math.nan, 2], group=[3])],
    "A25-zero-len-query": of_both(labels=[1, 0, 2], offsets=[0, 3, 3]),
    "A26-zero-queries": of_both(labels=[], offsets=[0]),
    "A27-wrong-dtype": of_both(labels=np.array(["1", "0"], object), offsets=[0, 2]),
    "A29-non-contiguous": [
        lambda: ranked(np.repeat(LABELS, 2)[::2], np.repeat(OFFSETS, 2)[::2]),
        lambda: scored(np.repeat(LABELS, 2)[::2], np.repeat(SCORES, 2)[::2], group=np.repeat([3, 3], 2)[::2]),
    ],
    "A30-read-only": [
        lambda: ranked(read_only(LABELS), read_only(OFFSETS)),
        lambda: scored(read_only(LABELS), read_only(SCORES), qid=read_only([8, 8, 8, 5, 5, 5])),
    ],
    "A33-float32": [
        lambda: ranked(np.array(LABELS, "f4")),
        lambda: scored(np.array(LABELS, "f4"), np.array(SCORES, "f4")),
    ],
    "A34b-1-column": [lambda: scored([1, 2, 3], np.array([[1.0], [2.0], [3.0]]), group=[3])],
    "A35-skl-negative": of_both(labels=[1, -1, 2], offsets=[0, 3]),
    "A37-skl-k0": of_both(labels=[1, 0, 2], offsets=[0, 3], metric="ndcg@0"),
    "A40-offsets-decreasing": of_both(offsets=[0, 4, 2, 6]),
    "A41-offsets-end": of_both(offsets=[0, 3, 5]) + of_both(offsets=[0, 3, 7]),
    "A42-offsets-start": of_both(offsets=[1, 3, 6]),
    "A43-offsets-negative": of_both(offsets=[0, -3, 6]),
    "A44-offsets-float": of_both(offsets=np.array([0, 3.0, 6])),
    "A45-offsets-int32-wrap": [
        lambda: ranked(np.broadcast_to(np.int8(1), 2**31 + 8), WRAPPED),
        lambda: scored(*(np.broadcast_to(kind(1), 2**31 + 8) for kind in (np.int8, np.float32)), offsets=WRAPPED),
    ],
    "A47-group-sum": [lambda: scored(group=[3, 2])],
    "A51-empty-offsets": of_both(offsets=[]),
    "A57-cuda": [lambda: ranked(OnDevice()), lambda: scored(scores=OnDevice())],
    "A60-longdouble": [lambda: scored(scores=np.array(SCORES, np.longdouble) + np.longdouble(2) ** -60)],
    "A62-datetime": of_both(labels=np.array(LABELS, "M8[s]"), offsets=OFFSETS),
    "A63-structured": of_both(labels=np.array([(1.0,)], [("a", "f8")]), offsets=[0, 1]),
}
SAME = {  # no values in the catalogue: arrays whose values are those of what stands behind them
    "A50-group-none": (lambda: scored(offsets=None), lambda: scored(offsets=[0, 6])),
    "A52-overlap-buffers": (lambda: scored(*[np.array(LABELS, "f8")] * 2), lambda: scored(LABELS, LABELS)),
    "A55-neg-stride": (
        lambda: ranked(np.array(LABELS[::-1])[::-1], np.array(OFFSETS[::-1])[::-1]), ranked,
        lambda: scored(np.array(LABELS[::-1])[::-1], np.array(SCORES[::-1])[::-1]), scored,
    ),
    "A59-dlpack-f16": (
        lambda: ranked(np.array(LABELS, "f2")), ranked,
        lambda: scored(np.array(LABELS, "f2"), np.array(SCORES, "f2")), scored,
    ),
}  # fmt: skip
LONG_DOUBLE_IS_DOUBLE = np.dtype(np.longdouble).itemsize == 8


@pytest.mark.skipif(not SHARED.is_dir(), reason=ABSENT)
@pytest.mark.parametrize("case_id", ARRAYS)
def test_arrays(case_id):
    if case_id == "A60-longdouble" and LONG_DOUBLE_IS_DOUBLE:
        pytest.skip("long double is double here")
    with (SHARED / "cases" / "cases.jsonl").open(encoding="utf-8") as file:
        case = next(case for case in map(json.loads, file) if case["id"] == case_id)
    for call in ARRAYS[case_id]:
        try:
            outcome = {"values": call(), "repairs": {}}
        except Exception as error:
            outcome = {"error": str(error), "classes": [cls.__name__ for cls in type(error).__mro__]}
        problem = judge(outcome, case["expected"])
        assert problem is None, f"{case['description']}: {problem}; {str(outcome)[:500]}"


@pytest.mark.parametrize("case_id", SAME)
def test_arrays_of_any_layout(case_id):
    calls = iter(SAME[case_id])
    for call, plain in zip(calls, calls, strict=True):
        assert call() == plain()


def test_a53_arrays_are_as_they_were():
    arrays = np.array(LABELS)[UNSORTED], np.array(SCORES)[UNSORTED], np.array([1, 0, 1, 0, 1, 1])
    before = [array.copy() for array in arrays]
    scored(arrays[0], arrays[1], "map", qid=arrays[2])
    ranked(arrays[0])
    assert all((array == copy).all() for array, copy in zip(arrays, before, strict=True))
