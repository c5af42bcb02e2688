"""The pages of docs/ whose blocks are Python are true: they run in their order, and print what they show."""

import contextlib
import io
import shutil

import pytest
from common import ROOT
from readme import blocks

PAGES = [ROOT / "docs" / name for name in ("judged_rankings.md", "partial.md", "holes.md")]

pytestmark = pytest.mark.skipif(not PAGES[0].is_file(), reason="needs the pages")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    pytest.importorskip("scipy")
    pytest.importorskip("pyarrow")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    names, printed = {}, ""
    for language, code in blocks(page):
        if language == "text":
            assert printed == code
            continue
        assert language == "python"
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(code, page.name, "exec"), names)
        printed = out.getvalue()
