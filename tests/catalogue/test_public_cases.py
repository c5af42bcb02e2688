"""Small inputs after public bug reports (../shared/cases/public.jsonl): a right value, or a message that helps.

`expected` of a case is values, prose or both. MESSAGES has the prose as regular expressions; CALLS has calls that say
what the case means, where its own does not.
"""

import json
import math
import re
import shlex
import warnings

import numpy as np
import pytest
from common import ABSENT, SHARED

import fastir
from fastir.cli import main

FAULTS = 4  # the exit code of `fastir check`
ABS_TOL = 5e-8  # values of the cases have seven digits or more
MESSAGES = {  # what a warning, an error or the output of a command must match, by id
    "lists-two-tables-query-id": "query id", "lists-jsonl-query-id": "query", "lists-series-index": "index",
    "matrix-frame-rows": "labels|rows", "matrix-int-frame": "bool",
    "scores-none": r"(position|document) 1\b.*None|None.*(position|document) 1\b|scores\[1\] is None",
    "ratings-as-qrels": "rating|iteration", "scores-as-ranks": "rank", "records-in-memory": "table",
    "kaggle-submission": "split", "distances-frame": "ranks of 1 query contradict",
    "identify-unknown-name": "R-prec", "identify-divisor": "4 queries",
    "name-ndcg10": "did you mean 'ndcg@10'", "name-P5": "did you mean 'P[@_]5'",
    "name-MRR10": "did you mean 'mrr@10'", "check-qrels-alone": "duplicate document 'd1'",
    "check-corpus": "'d2'", "hint-letor": r"LETOR|SVMrank|svmlight|\b1\.0000\b", "hint-header-run": "header",
    "look-alike-ids": r"\\u0301|\\xe9|normali[sz]", "cli-lists": r"evaluate_lists|\b0\.7500\b",
    "identify-other-metric": "r_precision",
}  # fmt: skip

CALLS = {  # of what the case's call cannot say: here the tool, and how many items there are
    "auc-implicit": "fastir.evaluate_topk(ids, likes, 'auc@4', convention='implicit', n_docs=10)"
}
MISSING = {"auc-implicit": "there is no AUC@k of implicit"}


def public_cases():
    """The cases as test parameters."""
    if not SHARED.is_dir():
        return [pytest.param(None, id="absent", marks=pytest.mark.skip(reason=ABSENT))]
    with (SHARED / "cases" / "public.jsonl").open(encoding="utf-8") as file:
        cases = list(map(json.loads, file))
    return [pytest.param(case | {"call": CALLS.get(case["id"], case["call"])}, id=case["id"]) for case in cases]


class Outcome:
    """What a call does: its result, and all that it says."""

    def __init__(self, case, capsys):
        self.case, self.result, self.code, self.raised = case, None, 0, False
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            said = self.command(capsys) if case["call"].startswith("fastir ") else self.statement()
        self.text = "\n".join([said, *(str(one.message) for one in caught)])

    def command(self, capsys):
        """Call the command line; what it prints. Where `check` is a right answer, it is asked, too."""
        words = shlex.split(self.case["call"])[1:]
        self.code = main(words)
        if "fastir check" in self.case["expected"].get("or", "") and self.code == 0:
            at = words.index("-m")
            self.code = main(["check", *words[1:at], *words[at + 2 :]])
        self.raised = self.code != 0
        said = capsys.readouterr()
        return said.out + said.err

    def statement(self):
        """Evaluate the call with what the case's statements make; the result or the error as text."""
        packages = {name: pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow", "duckdb")}
        names = {"fastir": fastir, "np": np, "duckdb": packages["duckdb"]}
        names |= {"pd": packages["pandas"], "pl": packages["polars"], "pa": packages["pyarrow"]}
        exec(self.case["input"].get("python", ""), names)
        try:
            self.result = eval(self.case["call"], names)
        except Exception as error:
            self.raised = True
            return str(error)
        return str(self.result)

    def has(self, expected):
        """Whether the means are these: a number for each metric, or the number of the only one."""
        if not hasattr(self.result, "names"):
            return False
        if not isinstance(expected, dict):
            expected = dict.fromkeys(self.result.names, expected)
        return all(math.isclose(self.result[name], value, abs_tol=ABS_TOL) for name, value in expected.items())

    def says(self):
        """Whether the message of the case is said."""
        pattern = MESSAGES.get(self.case["id"])
        return pattern is not None and re.search(pattern, self.text, re.DOTALL) is not None


def is_right(outcome, expected):
    """Whether an outcome is one of those that a case accepts."""
    counted = "report" not in expected.get("note", "") or (outcome.result is not None and outcome.result.report.repairs)
    if "value" in expected and outcome.has(expected["value"]):
        return bool(counted) and ("warning" not in expected or outcome.says())
    if "check" in outcome.case["call"].split() and outcome.code != FAULTS:
        return False
    by_value = "value" in expected and "or" not in expected
    may_succeed = "output" in expected or "line" in str(expected.get("or")) or outcome.case["id"] == "cli-lists"
    may_succeed |= isinstance(expected.get("or"), dict)  # values, which the message's pattern has
    return not by_value and (outcome.raised or may_succeed) and outcome.says()


@pytest.mark.parametrize("case", public_cases())
def test_public_cases(case, tmp_path, monkeypatch, capsys):
    for name, text in case["input"].get("files", {}).items():
        (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    outcome = Outcome(case, capsys)
    assert is_right(outcome, case["expected"]), f"{case['about']}\n{outcome.text[:1000]}"


def test_every_case_is_known():
    if not SHARED.is_dir():
        pytest.skip(ABSENT)
    ids = {parameter.id for parameter in public_cases()}
    assert MESSAGES.keys() | CALLS.keys() <= ids
