"""The section Spark of docs/at_scale.md is true: its blocks run in their order, and print what they show."""

from pages import DOCS, NEEDS_PAGES, run_page

PAGE = DOCS / "at_scale.md"
pytestmark = NEEDS_PAGES


def test_the_section_runs_from_top_to_bottom(spark, tmp_path, monkeypatch):
    run_page(PAGE, tmp_path, monkeypatch, "Spark")
