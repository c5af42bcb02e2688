"""The rules of the house, checked in its sources: what a reviewer would otherwise have to remember."""

import re
import subprocess
import sys

import pytest
from common import ROOT
from imports import PACKAGE, box_of, imported, logical_lines, module_of

import fastir

PYTHON = sorted(PACKAGE.rglob("*.py"))
CYTHON = sorted([*PACKAGE.rglob("*.pyx"), *PACKAGE.rglob("*.pxd")])
KERNELS = [path for path in CYTHON if path.name.startswith("_")]
ABOVE = {"cli", "comparison", "evaluation", "explanation", "inputs", "qrels", "request", "results", "run"}

pytestmark = pytest.mark.skipif(not CYTHON, reason="needs the sources")


def name_of(path):
    return str(path.relative_to(PACKAGE)) if path.is_relative_to(PACKAGE) else str(path)


# ---- kernels ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", CYTHON, ids=name_of)
def test_what_runs_without_the_gil_cannot_raise(path):
    """A forgotten `noexcept` costs 50 ns a call instead of 0.3."""
    for number, code in logical_lines(path):
        declares = re.search(r"\)\s*(noexcept\s+|except\s+\S+\s+)?nogil\b", code)
        assert not declares or "noexcept nogil" in code, f"{path.name}:{number}: says nogil without noexcept"


@pytest.mark.parametrize("path", CYTHON, ids=name_of)
def test_directives_live_in_setup_py(path):
    """One in a header silently overrides the build, and the debug build then checks nothing."""
    assert not re.search(r"^\s*#\s*cython\s*:", path.read_text("utf-8"), re.MULTILINE)
    assert not re.search(r"^\s*@cython\.", path.read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize("path", KERNELS, ids=name_of)
def test_kernels_do_not_look_up(path):
    """Ids, names and results are above the kernels: nothing points back."""
    up = [f"{name_of(path)}:{line}: {module}" for line, module in imported(path) if box_of(module) in ABOVE]
    assert not up


@pytest.mark.parametrize("path", [path for path in CYTHON if path.suffix == ".pyx"], ids=name_of)
def test_compiled_modules_have_stubs_and_a_design_comment(path):
    assert path.with_suffix(".pyi").is_file()
    assert path.read_text("utf-8").lstrip().startswith(('"""', "#", 'r"""'))


@pytest.mark.parametrize("path", [path for path in CYTHON if path.suffix == ".pyx"], ids=name_of)
def test_no_call_changes_what_a_compiled_module_holds(path):
    """Without a GIL two threads would: module variables are filled on import, or are counters of _blocks.h."""
    for number, code in logical_lines(path):
        written = re.match(r"\s+global (\w+)$", code)
        assert not written or written[1] in ("loops", "n_scalars"), f"{path.name}:{number}: {code.strip()}"


# ---- everything ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [*PYTHON, *CYTHON], ids=name_of)
def test_no_assert_guards_against_a_caller(path):
    """`python -O` drops them."""
    for number, code in logical_lines(path):
        assert not re.match(r"\s*assert\b", code), f"{path.name}:{number}: {code.strip()}"


@pytest.mark.parametrize("path", PYTHON, ids=name_of)
def test_only_the_front_door_imports_the_command_line(path):
    if box_of(module_of(path)) not in ("cli", "__main__"):
        assert "cli" not in {box_of(module) for _, module in imported(path)}


def test_results_stand_alone():
    """But for the way to Arrow, codes, checks, cells of tables, which values are better, types, and their own box."""
    known = {module for _, module in imported(PACKAGE / "results" / "results.py")}
    foreign = {module for module in known if box_of(module) not in ("errors", "results", "text")}
    assert foreign <= {
        "fastir.checks",
        "fastir.rendering",
        "fastir.columns._arrow_out",
        "fastir.measure._codes",
        "fastir.request.conventions",
        "fastir.request.directions",
        "fastir.request.provenance",
    }


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
    """Two C files are written by hand: a peer in a bench, and a malloc that fails."""
    built = re.compile(
        r"(?<!bench/plain_loop)(?<!support/failing_malloc)\.(c|cpp|so|pyd|dll|dylib|o|pyc|whl|html)$"
        r"|(^|/)(build|dist|__pycache__|[^/]*\.egg-info)/"
    )
    assert not [path for path in committed if built.search(path)]


def test_no_committed_file_knows_the_machine_it_was_written_on(committed):
    machine = re.compile(r"(?<![\w.~$})])/(tmp|work|root|home|Users|mnt)/\w")
    for path in committed:
        for number, line in enumerate((ROOT / path).read_text("utf-8", "replace").splitlines(), 1):
            assert not machine.search(line), f"{path}:{number}: {line}"


def test_lines_have_at_most_120_characters(committed):
    for path in committed:
        if path.endswith((".py", ".pyx", ".pxd", ".pyi")):
            for number, line in enumerate((ROOT / path).read_text("utf-8").splitlines(), 1):
                assert len(line) <= 120, f"{path}:{number}: {len(line)} characters"


# ---- cards -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("card", fastir.metrics(), ids=lambda card: card.name)
def test_every_card_says_what_its_number_means(card):
    for field in ("summary", "formula", "undefined", "source"):
        assert getattr(card, field).strip(), f"no {field}"
    assert card.aggregate in ("mean", "geometric", "sum", "count")
    assert card.name in fastir.explain(card.name)


def test_no_spelling_means_two_metrics():
    """Names are read without regard to case."""
    spellings = [spelling.lower() for card in fastir.metrics() for spelling in (card.name, *card.aliases)]
    assert len(spellings) == len(set(spellings))
