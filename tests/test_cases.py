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
from conftest import ABSENT, SHARED

import fastir

try:
    import pandas
except ImportError:
    pandas = None

CATEGORIES = ("file-format", "score", "ties-precision", "structure", "grade", "dict", "metric")
FRAMES = re.compile(r"A(0\d|1[0-6])b?-")       # of the category array: data frames, which pandas must be there for
TABLES = ("D12-outer-list",)   # a list of tuples, which the catalogue wants refused, is a run (tests/test_tables.py)
WORKER = Path(__file__).with_name("case_worker.py")


def catalogue():
    """The cases of these categories, as test parameters."""
    if not SHARED.is_dir():
        return [pytest.param(None, id="absent", marks=pytest.mark.skip(reason=ABSENT))]
    with (SHARED / "cases" / "cases.jsonl").open(encoding="utf-8") as file:
        cases = [json.loads(line) for line in file]
    chosen = [case for case in cases if case["category"] in CATEGORIES and case["id"] not in TABLES]
    frames = [case for case in cases if FRAMES.match(case["id"])]
    missing = pytest.mark.skipif(pandas is None, reason="needs pandas")
    return [*(pytest.param(case, id=case["id"]) for case in chosen),
            *(pytest.param(case, id=case["id"], marks=missing) for case in frames)]


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
        self.process.wait(10)


@pytest.fixture(scope="module")
def workers():
    """A worker for ordinary Python and one for `python -O`."""
    pair = {False: Worker(), True: Worker("-O")}
    yield pair
    for worker in pair.values():
        worker.close()


def matches(values, accepted):
    """Whether the values are the accepted ones, for the queries and metrics that are listed.

    `*` stands for the metric asked for (the last, if there are more), `count` for how many values a query has.
    """
    if not accepted:
        return not values
    return all(
        query in values and all(same(values[query], name, value) for name, value in row.items())
        for query, row in accepted.items()
    )


def same(row, name, value):
    if name == "count":
        return len(row) == value
    got = list(row.values())[-1] if name == "*" else row.get(name, math.nan)
    return math.isclose(got, value, rel_tol=1e-12, abs_tol=1e-12)


def judge(outcome, expected):
    """What is wrong with the outcome, None if nothing is."""
    if "values" in outcome:
        if any(math.isnan(value) for row in outcome["values"].values() for value in row.values()):
            return "a value is NaN"
        for accepted in expected["accept"]:
            if matches(outcome["values"], accepted["values"]) and (accepted["kind"] == "exact" or outcome["repairs"]):
                return None
        return "silent wrong value"
    if "error" not in outcome:
        return "crash or hang"
    if expected["policy"] == "value":
        return "valid input refused"
    if not any(name in OURS for name in outcome["classes"]):
        return "an exception that the contract does not know"
    if expected["policy"] == "error" and expected["exc"] not in outcome["classes"]:
        return f"not a {expected['exc']}"
    for pattern in (expected["what"], expected["where"]):
        if pattern and not re.search(pattern, outcome["error"], re.IGNORECASE):
            return f"obscure: the message does not match {pattern!r}"
    return None if len(outcome["error"]) <= LONGEST_MESSAGE else "the message is endless"


# RuntimeError: a dict that changes while it is read, as Python itself says it
OURS = ("FastirError", "TypeError", "ValueError", "OverflowError", "OSError", "RuntimeError")
LONGEST_MESSAGE = 1000


@pytest.mark.parametrize("case", catalogue())
def test_case(case, workers):
    outcome = workers[case.get("opts", {}).get("python_O", False)](case["id"])
    problem = judge(outcome, case["expected"])
    assert problem is None, f"{case['description']}: {problem}; {str(outcome)[:500]}"


# ---- labels and offsets: A20 to A63 as far as evaluate_ranked takes them; the others have scores or group sizes ------

LABELS = [1, 0, 2, 0, 1, 1]
OFFSETS = [0, 3, 6]


def read_only(values):
    array = np.array(values)
    array.flags.writeable = False
    return array


def ranked(labels=LABELS, offsets=OFFSETS, metric="ndcg@10"):
    """A call of evaluate_ranked; queries are called q1, q2 and so on, as in the catalogue."""
    results = fastir.evaluate_ranked(labels, offsets, metric)
    rows = [{metric: value} for value in results.values[:, 0].tolist()]
    return {f"q{number}": row for number, row in enumerate(rows, 1)}


RANKED = {
    "A20-arr-control": lambda: ranked(),
    "A20b-arr-control-skl": lambda: ranked([1, 0, 2], [0, 3]),
    "A21b-fewer-runs": lambda: ranked(LABELS[:3]),
    "A23-nan-labels": lambda: ranked([1, math.nan, 2], [0, 3]),
    "A25-zero-len-query": lambda: ranked([1, 0, 2], [0, 3, 3]),
    "A26-zero-queries": lambda: ranked([], [0]),
    "A27-wrong-dtype": lambda: ranked(np.array(["1", "0"], object), [0, 2]),
    "A29-non-contiguous": lambda: ranked(np.repeat(LABELS, 2)[::2], np.repeat(OFFSETS, 2)[::2]),
    "A30-read-only": lambda: ranked(read_only(LABELS), read_only(OFFSETS)),
    "A33-float32": lambda: ranked(np.array(LABELS, "f4")),
    "A35-skl-negative": lambda: ranked([1, -1, 2], [0, 3]),
    "A37-skl-k0": lambda: ranked([1, 0, 2], [0, 3], "ndcg@0"),
    "A40-offsets-decreasing": lambda: ranked(offsets=[0, 4, 2, 6]),
    "A41-offsets-end": lambda: ranked(offsets=[0, 3, 5]),
    "A42-offsets-start": lambda: ranked(offsets=[1, 3, 6]),
    "A43-offsets-negative": lambda: ranked(offsets=[0, -3, 6]),
    "A44-offsets-float": lambda: ranked(offsets=np.array([0, 3.0, 6])),
    "A45-offsets-int32-wrap": lambda: ranked(np.broadcast_to(np.int8(1), 2**31 + 8),
                                             np.array([0, -(2**31) + 8], np.int32)),
    "A51-empty-offsets": lambda: ranked(offsets=[]),
    "A62-datetime": lambda: ranked(np.array(LABELS, "M8[s]")),
    "A63-structured": lambda: ranked(np.array([(1.0,)], [("a", "f8")]), [0, 1]),
}
SAME = {    # no values in the catalogue: those of the control
    "A53-inputs-unchanged": (LABELS, OFFSETS),
    "A55-neg-stride": (np.array(LABELS[::-1])[::-1], np.array(OFFSETS[::-1])[::-1]),
    "A59-dlpack-f16": (np.array(LABELS, "f2"), OFFSETS),
}


@pytest.mark.skipif(not SHARED.is_dir(), reason=ABSENT)
@pytest.mark.parametrize("case_id", RANKED)
def test_labels_and_offsets(case_id):
    with (SHARED / "cases" / "cases.jsonl").open(encoding="utf-8") as file:
        case = next(case for case in map(json.loads, file) if case["id"] == case_id)
    try:
        outcome = {"values": RANKED[case_id](), "repairs": {}}
    except Exception as error:
        outcome = {"error": str(error), "classes": [cls.__name__ for cls in type(error).__mro__]}
    problem = judge(outcome, case["expected"])
    assert problem is None, f"{case['description']}: {problem}; {str(outcome)[:500]}"


@pytest.mark.parametrize("case_id", SAME)
def test_labels_and_offsets_of_any_layout(case_id):
    """The values of the plain call; the arrays are as they were."""
    before = [np.array(array) for array in SAME[case_id]]
    assert ranked(*SAME[case_id]) == ranked()
    assert all((array == copy).all() for array, copy in zip(map(np.array, SAME[case_id]), before, strict=True))
