"""docs/plots.md has every picture, writes the files that it says, and leaves matplotlib's settings alone."""

import re

import pytest
from pages import DOCS, NEEDS_PAGES, blocks, run_page

PAGE = DOCS / "plots.md"
matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pyplot = pytest.importorskip("matplotlib.pyplot")
pytest.importorskip("scipy")

from fastir import plots  # noqa: E402

pytestmark = NEEDS_PAGES


def test_the_page_writes_what_it_says_and_no_settings(tmp_path, monkeypatch):
    before = dict(matplotlib.rcParams)
    run_page(PAGE, tmp_path, monkeypatch)
    pyplot.close("all")
    assert dict(matplotlib.rcParams) == before
    written = {path.name for path in tmp_path.iterdir()} - {"examples"}
    code = "\n".join(code for language, code in blocks(PAGE) if language == "python")
    assert written == set(re.findall(r'savefig\("(.*?)"', code)) and len(written) == 5


def test_the_page_has_every_picture():
    text = PAGE.read_text("utf-8")
    assert set(re.findall(r"\bplots\.(\w+)\(", text)) == {*plots.__all__}
    assert all(f"`{name}`" in text for name in plots.__all__)
