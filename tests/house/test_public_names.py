"""The public names of the package: one list, kept by hand in three forms, and what the README and `evaluate` name."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fastir
from fastir.conventions import CONVENTIONS

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"


def imports(body):
    """{name: module} of the `from fastir.module import name` among some statements."""
    return {
        alias.asname or alias.name: statement.module
        for statement in body
        if isinstance(statement, ast.ImportFrom) and statement.module.startswith("fastir")
        for alias in statement.names
    }


def test_the_three_lists_agree():
    """`__all__` is what is imported at once and what is imported later; type checkers see the modules of the latter."""
    body = ast.parse(Path(fastir.__file__).read_text("utf-8")).body
    for_type_checkers = [statement.body for statement in body if isinstance(statement, ast.If)][1]
    at_once = imports(body).keys() - {"__version__"}
    assert sorted(fastir.__all__) == sorted([*at_once, *fastir.LATER])
    expected = {name: "fastir" if name == module else f"fastir.{module}" for name, module in fastir.LATER.items()}
    assert imports(for_type_checkers) == expected


def test_every_public_name_is_there():
    for name in fastir.__all__:
        assert getattr(fastir, name) is not None
        assert (name in dir(fastir)) != (name in fastir.types.__all__)


def test_a_star_import_needs_numpy_alone():
    absent = ("matplotlib", "pandas", "polars", "pyarrow", "pyspark", "scipy", "tqdm")
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({absent})); from fastir import *; "
        f"import fastir; assert set(fastir.__all__) <= globals().keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


FRESH = """
import importlib, pkgutil
import fastir

before = {name: getattr(fastir, name) for name in fastir.__all__ if name in BEFORE}
for module in pkgutil.walk_packages(fastir.__path__, "fastir."):
    if module.name == "fastir.__main__":
        continue
    try:
        importlib.import_module(module.name)
    except ImportError:
        pass  # a package that is not installed
for name in fastir.__all__:
    value = getattr(fastir, name)
    source = fastir.LATER.get(name)
    if source and source != name:
        assert value is getattr(importlib.import_module(f"fastir.{source}"), name), name
    assert value is before.get(name, value), name
assert callable(fastir.bounds) and callable(fastir.evaluate) and callable(fastir.judged_rankings)
"""


@pytest.mark.parametrize("used", ["first", "afterwards"])
def test_a_public_name_stays_what_it_is_when_modules_are_imported(used):
    """The import of a module that is called like a public name, as `bounds` once was, would replace it."""
    before = "fastir.__all__" if used == "first" else "()"
    subprocess.run([sys.executable, "-c", FRESH.replace("BEFORE", before)], check=True)


@pytest.mark.skipif(not README.is_file(), reason="needs the README")
def test_what_the_readme_names_is_public():
    text = README.read_text("utf-8")
    named = set(re.findall(r"\bfastir\.([A-Za-z_]\w*)", text))
    for names in re.findall(r"\bfrom fastir import ([\w, ]+)", text):
        named |= set(names.split(", "))
    assert {"compare", "stats", "evaluate"} <= named
    assert named <= {*fastir.__all__}


def test_conventions_that_evaluate_names_exist():
    [text] = re.findall(r"^convention : .*\n((?: {4}.*\n)+)", inspect.getdoc(fastir.evaluate), re.MULTILINE)
    named = re.findall(r'"(.*?)"', text)
    assert len(named) > 3
    assert set(named) <= CONVENTIONS.keys()


def test_completion_of_stats_shows_what_is_public():
    assert dir(fastir.stats) == sorted(fastir.stats.__all__)
