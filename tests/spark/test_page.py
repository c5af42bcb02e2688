"""docs/spark.md is true: its blocks run in their order, and print what they show."""

from pages import DOCS, NEEDS_PAGES, run_page

PAGE = DOCS / "spark.md"

pytestmark = NEEDS_PAGES


def test_the_page_runs_from_top_to_bottom(spark, tmp_path, monkeypatch):
    run_page(PAGE, tmp_path, monkeypatch)
