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

import pytest
from conftest import ABSENT, SHARED

CATEGORIES = ("file-format", "score", "ties-precision", "structure", "grade", "dict", "metric")
TABLES = ("D12-outer-list",)   # a list of tuples, which the catalogue wants refused, is a run (tests/test_tables.py)
WORKER = Path(__file__).with_name("case_worker.py")


def catalogue():
    """The cases of these categories, as test parameters."""
    if not SHARED.is_dir():
        return [pytest.param(None, id="absent", marks=pytest.mark.skip(reason=ABSENT))]
    with (SHARED / "cases" / "cases.jsonl").open(encoding="utf-8") as file:
        cases = [json.loads(line) for line in file]
    cases = [case for case in cases if case["category"] in CATEGORIES and case["id"] not in TABLES]
    return [pytest.param(case, id=case["id"]) for case in cases]


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
