"""Checked: a table with a few examples of each kind, and all of them for programs."""

import json
import re

from common import ROOT
from pages import NEEDS_PAGES

import fastir
from fastir.analyses.check.checked import COUNTED_KINDS, FAULT, KIND_OF_PROBLEM, KINDS, REMARK
from fastir.engine.columns.line_formats import LINE_PROBLEMS

RUN = "".join(f"q1 Q0 d{place} {place} 1\n" for place in range(1, 6)) + "q1 Q0 d1 1 2 t\n"


def test_the_table_has_some_of_each_kind_and_the_count(checked):
    result = checked(RUN, examples=2)
    rows = [row for row in result._table().rows if row[2].text == "malformed line"]
    assert [(row[3].text, row[4].text) for row in rows] == [("5", "line 1"), ("5", "line 2")]
    assert result._table().notes == ["6 faults, 0 remarks in 2 files; the table leaves out 3 of them."]
    assert len(checked(RUN, examples=0)._table().rows) == 0
    assert len(checked(RUN, examples=9)._table().rows) == len(result) == 6


def test_json_has_all(checked):
    result = checked(RUN, examples=1)
    data = json.loads(result.to_json())
    assert data["ok"] is result.ok is False
    assert [fault["line"] for fault in data["faults"] if fault["kind"] == "malformed line"] == [1, 2, 3, 4, 5]
    assert data["counts"][result.files[1]]["malformed line"] == 5
    assert "faults" not in json.loads(result.to_json(per_query=False))


def test_nothing_wrong_prints_one_line():
    result = fastir.check({"q1": {"a": 1}}, {"q1": {"a": 1.0}})
    assert (result.ok, len(result), list(result)) == (True, 0, [])
    assert repr(result).endswith("0 faults, 0 remarks in 2 files.")
    assert result.counts() == {"qrels": {}, "run": {}}


def test_faults_are_selected(checked):
    result = checked(RUN)
    assert [fault.kind for fault in result.of("remark")] == []
    assert result.of(file=result.files[0]) == []
    assert len(result.of("fault", "malformed line", result.files[1])) == 5


def test_many_of_a_kind_are_counted_and_not_listed(monkeypatch, checked):
    monkeypatch.setattr("fastir.analyses.check.checked.MAX_LISTED", 3)
    result = checked(RUN)
    assert [(fault.line, fault.number) for fault in result.of(kind="malformed line")] == [
        (1, 1), (2, 1), (3, 1), (None, 2),
    ]  # fmt: skip
    assert result.counts()[result.files[1]]["malformed line"] == 5
    assert result.of(kind="malformed line")[-1].text == "... and 2 more that are not listed"


# ---- the kinds of faults, and the page that lists them ---------------------------------------------------------------
def test_what_is_counted_is_a_remark():
    assert {KINDS[kind].severity for kind in COUNTED_KINDS} == {REMARK}
    assert {kind.severity for kind in KINDS.values() if kind.refused} == {FAULT}


def test_every_problem_of_a_line_has_its_kind():
    assert {*LINE_PROBLEMS, "fields", "no rank"} == KIND_OF_PROBLEM.keys()
    assert {*KIND_OF_PROBLEM.values(), "number"} < KINDS.keys()


@NEEDS_PAGES
def test_the_page_lists_all_kinds():
    text = (ROOT / "docs" / "check.md").read_text("utf-8")
    rows = re.findall(r"^\| ([\w -]+) \| (.*) \| (fault|remark)(, refused)? \|$", text, re.MULTILINE)
    shown = {name: (about, severity, bool(refused)) for name, about, severity, refused in rows}
    assert shown == {name: (kind.about, kind.severity, kind.refused) for name, kind in KINDS.items()}
    assert list(shown) == list(KINDS)
