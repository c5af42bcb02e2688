"""The table of docs/coming_from/index.md: every module of `compat` is in it, and every line that it shows runs."""

import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from common import EXAMPLES
from pages import DOCS, NEEDS_PAGES, shell

from fastir import compat

PAGE = DOCS / "coming_from" / "index.md"
pytestmark = NEEDS_PAGES
ROW = re.compile(r"^\| ([^|]+) \| `([^|]+)` \| [^|]+ \|$", re.MULTILINE)


def rows():
    """(tool, what to write in its place) of the table of stand-ins."""
    if not PAGE.is_file():
        return []
    table = PAGE.read_text("utf-8").partition("| you use | write | and get |\n")[2].partition("\n\n")[0]
    return ROW.findall(table)


def test_the_table_of_stand_ins_has_them_all():
    layers = {path.stem for path in Path(compat.__file__).parent.iterdir() if path.suffix == ".py" or path.is_dir()}
    written = " ".join(line for _, line in rows())
    helpers = {"__init__", "__pycache__", "entry_points"}
    assert [layer for layer in sorted(layers - helpers) if not re.search(rf"\b{layer}\b", written)] == []


@pytest.mark.parametrize(("tool", "line"), rows())
def test_every_line_of_the_table_of_stand_ins_runs(tool, line, tmp_path, monkeypatch):
    if line.startswith("fastir "):
        shutil.copytree(EXAMPLES, tmp_path / "examples")
        monkeypatch.chdir(tmp_path)
        assert shell(line).startswith("num_ret               \tq1\t12\n")
        return
    done = subprocess.run([sys.executable, "-c", line], stderr=subprocess.PIPE, text=True)
    if re.search(r"ImportError: fastir.compat: \S+ cannot be imported \(No module named", done.stderr):
        pytest.skip(f"{tool} is not installed")
    assert done.returncode == 0, done.stderr


def test_what_differs_is_what_the_conventions_say():
    program = DOCS / "site" / "differences.py"
    texts = runpy.run_path(str(program))["pages"]()
    assert [path.name for path, text in texts.items() if path.read_text("utf-8") != text] == [], (
        f"python {program.name}"
    )
    assert sum("| question |" in text for text in texts.values()) >= 30
