"""The kinds of faults, and the page that lists them."""

import re

from common import ROOT
from pages import NEEDS_PAGES

from fastir.analyses.check.kinds import COUNTED, FAULT, KIND_OF_PROBLEM, KINDS, REMARK
from fastir.engine.columns.line_formats import LINE_PROBLEMS


def test_what_is_counted_is_a_remark():
    assert {KINDS[kind].severity for kind in COUNTED} == {REMARK}
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
