"""docs/spark.md is true: its blocks run in their order, and print what they show."""

import contextlib
import io

import pytest
from common import ROOT
from readme import blocks

PAGE = ROOT / "docs" / "spark.md"

pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="needs the page")


def test_the_page_runs_from_top_to_bottom(spark, monkeypatch):
    monkeypatch.chdir(ROOT)
    names, printed = {}, ""
    for language, code in blocks(PAGE):
        if language == "text":
            assert printed == code
            continue
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(code, PAGE.name, "exec"), names)
        printed = out.getvalue()
