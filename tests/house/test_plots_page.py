"""docs/plots.md has every picture, writes the files that it says, and leaves matplotlib's settings alone."""

import re
import runpy

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
    assert set(re.findall(r"^## (\w+)\n\n<picture>", text, re.MULTILINE)) == {*plots.__all__}


def test_the_pictures_are_what_the_blocks_draw():
    """Byte by byte with the matplotlib that drew them."""
    program = runpy.run_path(str(DOCS / "site" / "gallery.py"))
    text = PAGE.read_text("utf-8")
    assert program["illustrated"](text) == text, "python docs/site/gallery.py"
    drawn = program["pictures"](text)
    committed = {path.name: path.read_text("utf-8") for path in program["FOLDER"].glob("*.svg")}
    assert committed.keys() == drawn.keys()
    if f"Matplotlib v{matplotlib.__version__}," in committed["means.svg"]:
        assert [name for name in drawn if committed[name] != drawn[name]] == [], "python docs/site/gallery.py"
    assert max(map(len, committed.values())) < 50_000
