"""Each recipe of the pages prints what it shows, in a process of its own; services answer as they are written down.

A recipe whose package is not installed is skipped, with the name of the package.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pages
import pytest
from pages import DOCS, NEEDS_PAGES, ROOT, imports_of, name_of, sections

RUNNER = Path(pages.__file__).with_name("run_recipe.py")
PAGES = {DOCS / "recipes.md": None, DOCS / "pipelines.md": ("W&B", "MLflow")}  # {page: titles, or all}
RECIPES = [
    (page, title)
    for page, titles in PAGES.items()
    for title in (titles or sections(page) if page.is_file() else ())
    if sections(page)[title]
]
PROGRAMS = {  # what the packages do on their own
    "WANDB_SILENT": "true", "KERAS_BACKEND": "torch", "LANGSMITH_TRACING": "false", "OMP_NUM_THREADS": "1",
}  # fmt: skip


@NEEDS_PAGES
@pytest.mark.parametrize(("page", "title"), RECIPES, ids=[title for _, title in RECIPES])
def test_a_recipe_prints_what_it_shows(page, title, tmp_path):
    missing = [name for name in imports_of(page, title) if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")
    program = [sys.executable, str(RUNNER), name_of(page), title]
    environment = {**os.environ, **PROGRAMS, "PYTHONPATH": os.pathsep.join([str(ROOT), str(RUNNER.parent)])}
    done = subprocess.run(program, cwd=tmp_path, env=environment, capture_output=True, text=True)
    last = done.stderr.rstrip().rpartition("\n")[2]
    if last.startswith("ModuleNotFoundError") and "fastir" not in last:
        pytest.skip(last)
    assert done.returncode == 0, done.stderr


def test_importing_fastir_registers_nothing_with_pandas_and_polars():
    program = "import fastir, importlib\nfor name in ('pandas', 'polars'):\n"
    program += "    try: assert not hasattr(importlib.import_module(name).DataFrame, 'fastir')\n"
    program += "    except ModuleNotFoundError: pass\n"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True).returncode == 0
