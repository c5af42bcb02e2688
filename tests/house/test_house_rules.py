"""The rules of the house, checked in its sources: what a reviewer would otherwise have to remember."""

import ast
import re
import subprocess
import sys

import pytest
from common import ROOT
from imports import PACKAGE, logical_lines

import fastir

PYTHON = sorted(PACKAGE.rglob("*.py"))
CYTHON = sorted([*PACKAGE.rglob("*.pyx"), *PACKAGE.rglob("*.pxd")])
COMPILED = [path for path in CYTHON if path.suffix == ".pyx"]
pytestmark = pytest.mark.skipif(not CYTHON, reason="needs the sources")


def lines_where(paths, is_wrong):
    """The lines of code in some files, without comments and strings, that a function finds wrong."""
    return [
        f"{path.relative_to(PACKAGE)}:{number}: {code.strip()}"
        for path in paths
        for number, code in logical_lines(path)
        if is_wrong(code)
    ]


# ---- kernels ---------------------------------------------------------------------------------------------------
# Functions that take a second for millions of rows, and so look whether the user interrupts.
INTERRUPTIBLE = re.compile(r"\b(settle|put_in_order|sort|sort_rows)\(")


def test_what_runs_without_the_gil_cannot_raise():
    """A forgotten `noexcept` costs 50 ns a call instead of 0.3."""
    nogil = re.compile(r"\)\s*(noexcept\s+|except\s+\S+\s+)?nogil\b")

    def raises(code):
        return nogil.search(code) and "noexcept nogil" not in code and not INTERRUPTIBLE.search(code)

    assert not lines_where(CYTHON, raises)


def test_directives_live_in_setup_py():
    """One in a header silently overrides the build, and the debug build then checks nothing."""
    directive = re.compile(r"^\s*(#\s*cython\s*:|@cython\.)", re.MULTILINE)
    assert not [path for path in CYTHON if directive.search(path.read_text("utf-8"))]


def test_compiled_modules_have_a_design_comment():
    texts = {path: path.read_text("utf-8").lstrip() for path in COMPILED}
    assert not [path for path, text in texts.items() if not text.startswith(('"""', "#", 'r"""'))]


def test_no_call_changes_what_a_compiled_module_holds():
    """Without a GIL two threads would: module variables are filled on import, or are counters of _blocks.h."""
    assert not lines_where(COMPILED, lambda code: re.match(r"\s+global (?!(loops|n_scalars)$)\w+$", code))


def test_counts_become_those_of_numpy_in_one_place():
    """Where np.intp has 32 bits, `np.repeat` and `np.bincount` refuse int64: `columns.rows` takes any integer."""
    called = re.compile(r"\bnp\.(repeat|bincount)\(")
    elsewhere = [path for path in PYTHON if path != PACKAGE / "engine" / "columns" / "rows.py"]
    assert not lines_where(elsewhere, lambda code: called.search(code) and "axis=" not in code)


# ---- everything ------------------------------------------------------------------------------------------------
def test_no_assert_guards_against_a_caller():
    """`python -O` drops them."""
    assert not lines_where([*PYTHON, *CYTHON], lambda code: re.match(r"\s*assert\b", code))


def test_listings_of_folders_name_what_is_there():
    """The rows at the end of a folder's docstring: a module or a folder in it, and what it holds."""
    wrong = []
    for path in PACKAGE.rglob("*/__init__.py"):
        listing = (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").rpartition("\n\n")[2]
        rows = re.findall(r"(?m)^(_?[a-z][a-z_0-9]*)  +\S", listing)
        there = {each.name.partition(".")[0] for each in path.parent.iterdir()}
        wrong += [f"{path.parent.relative_to(PACKAGE)}: {row}" for row in rows if row not in there]
    assert wrong == []


def test_importing_fastir_imports_little():
    """NumPy is there anyway; whatever else a rare call needs is imported by that call."""
    code = "import sys, numpy; before = set(sys.modules); import fastir; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = {name.partition(".")[0] for name in done.stdout.split()}
    others = {"pandas", "polars", "pyarrow", "scipy", "tqdm", "pytest", "cython", "Cython"}
    slow = {"argparse", "difflib", "json"}
    assert not imported & (others | slow)


# ---- what is committed -----------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def committed():
    """The paths that git knows, relative to the root."""
    done = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True)
    paths = [path for path in done.stdout.split("\0") if path]
    if "fastir/__init__.py" not in paths:
        pytest.skip("needs git and a checkout of its own: which files are committed is known only there")
    return paths


def test_nothing_that_a_build_makes_is_committed(committed):
    """Three are written by hand: a peer in a bench, a malloc that fails, the page in the browser."""
    built = re.compile(
        r"(?<!bench/plain_loop)(?<!support/failing_malloc)(?<!support/count_looks)(?<!site/try/index)\.(c|cpp|so|pyd|dll|dylib|o|pyc|whl|html)$"
        r"|(^|/)(build|dist|__pycache__|[^/]*\.egg-info)/"
    )
    assert not [path for path in committed if built.search(path)]


def test_no_committed_file_knows_the_machine_it_was_written_on(committed):
    machine = re.compile(r"(?<![\w.~$})])/(tmp|work|root|home|Users|mnt)/\w")
    known = [
        f"{path}:{number}: {line}"
        for path in committed
        for number, line in enumerate((ROOT / path).read_text("utf-8", "replace").splitlines(), 1)
        if machine.search(line)
    ]
    assert not known


# ---- cards -----------------------------------------------------------------------------------------------------
def test_every_card_says_what_its_number_means():
    for card in fastir.metrics():
        for field in ("summary", "formula", "undefined", "source"):
            assert getattr(card, field).strip(), f"{card.name}: no {field}"
        assert card.aggregate in ("mean", "geometric", "sum", "count"), card.name
        assert card.name in str(fastir.metric(card.name))


def test_no_spelling_means_two_metrics():
    """Names are read without regard to case."""
    spellings = [spelling.lower() for card in fastir.metrics() for spelling in (card.name, *card.aliases)]
    assert len(spellings) == len(set(spellings))
