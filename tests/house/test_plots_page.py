"""docs/plots.md is true: its snippets run in their order, draw every picture there is, and write what they say."""

import re
import shutil

import pytest
from common import ROOT
from readme import blocks

PAGE = ROOT / "docs" / "plots.md"
matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pyplot = pytest.importorskip("matplotlib.pyplot")
pytest.importorskip("scipy")

from fastir import plots  # noqa: E402

pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="needs the page")


def test_the_page_runs_from_top_to_bottom(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    before = dict(matplotlib.rcParams)
    code = "\n".join(code for language, code in blocks(PAGE) if language == "python")
    exec(compile(code, PAGE.name, "exec"), {})
    pyplot.close("all")
    assert dict(matplotlib.rcParams) == before
    written = {path.name for path in tmp_path.iterdir()} - {"examples"}
    assert written == set(re.findall(r'savefig\("(.*?)"', code)) and len(written) == 5


def test_the_page_has_every_picture():
    text = PAGE.read_text("utf-8")
    assert set(re.findall(r"\bplots\.(\w+)\(", text)) == {*plots.__all__}
    assert all(f"`{name}`" in text for name in plots.__all__)
