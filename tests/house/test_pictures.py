"""The pictures of docs/pictures are what docs/site/pictures.py draws: the terminals by running their commands.

The figures of the README are those of bench/record.json, and those of costs on Spark of bench/spark_costs.json.
"""

import json
import re
import runpy
import shutil
import sys

import pytest
from common import EXAMPLES, ROOT
from pages import DOCS, NEEDS_PAGES, README

import fastir

PROGRAM = ROOT / "docs" / "site" / "pictures.py"
pytestmark = [
    pytest.mark.skipif(not PROGRAM.is_file(), reason="needs the program"),
    pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal"),
]


def test_they_are_up_to_date(tmp_path, monkeypatch):
    pytest.importorskip("scipy")
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    drawn = runpy.run_path(str(PROGRAM))["pictures"]()
    committed = {path.stem: path.read_text("utf-8") for path in (ROOT / "docs" / "pictures").glob("*.svg")}
    assert committed == drawn, "python docs/site/pictures.py"


def test_the_table_of_the_readme_has_the_figures_of_the_record():
    assert runpy.run_path(str(PROGRAM))["table"]() in README.read_text("utf-8")


@NEEDS_PAGES
def test_the_tables_of_costs_on_spark_have_the_figures_of_their_record():
    page = (DOCS / "spark_costs.md").read_text("utf-8")
    assert runpy.run_path(str(PROGRAM))["costs_page"](page) == page


@NEEDS_PAGES
def test_the_tables_of_the_simulation_of_judges_have_the_figures_of_their_record():
    program = runpy.run_path(str(ROOT / "bench" / "judge_simulation.py"))
    record = json.loads(program["RECORD"].read_text("utf-8"))
    page = (DOCS / "under_a_judge.md").read_text("utf-8")
    assert program["page"](page, record) == page and all(head in page for head in program["tables"](record))
    assert sum(record["designs"][name]["collections"] for name in program["DESIGN"][True]) >= 2000


@NEEDS_PAGES
def test_every_figure_of_the_paper_is_of_the_record_and_it_has_a_length():
    page = (DOCS / "paper.md").read_text("utf-8")
    assert runpy.run_path(str(PROGRAM))["paper"](page) == page
    prose = page.partition("<!-- generated: evidence -->")[0] + page.partition("<!-- end: evidence -->")[2]
    figures = set(re.findall(r"\b\d[\d.,]*\b", prose)) - {"0.01", "120", "2.0"}  # an example; metrics; the licence
    assert not figures and 800 <= len(page.split()) <= 1000
    assert len(fastir.metrics()) > 120
