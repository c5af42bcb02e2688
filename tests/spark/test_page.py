"""docs/spark.md is true: its blocks run in their order, and print what they show."""

import pytest
from pages import DOCS, run_page

PAGE = DOCS / "spark.md"

pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="needs the page")


def test_the_page_runs_from_top_to_bottom(spark, tmp_path, monkeypatch):
    run_page(PAGE, tmp_path, monkeypatch)
