"""The tests keep a house of their own: a folder for every box of the package, and nothing taken from another test."""

import ast
import re
import sys

from common import ROOT
from imports import PACKAGE, STOREYS, statements

TESTS = ROOT / "tests"
ALSO_OF = re.compile(r"^# Also of: (.*)\.$", re.MULTILINE)
FILES = sorted(TESTS.rglob("*.py"))
# Clocks, and limits in seconds without the factor of tests/support/processes.py.
CLOCK = re.compile(r"\b(?:time\.time|monotonic|perf_counter|process_time|thread_time)(?:_ns)?\(")
LIMIT = re.compile(r"\btimeout=\d|\.(?:wait|join|acquire|communicate)\([\d.]+\)")
MODULES = {path.stem for path in FILES if path.stem.startswith("test_") or path.stem == "conftest"}
# Folders of the package by name; a storey's folders have tests of their own.
BOXES = {
    path.parent.name: path.parent
    for pattern in ("*/__init__.py", *(f"{storey}/*/__init__.py" for storey in STOREYS))
    for path in PACKAGE.glob(pattern)
}
# Promises that no single box keeps, and what tests share.
OF_THEIR_OWN = {
    "catalogue", "conformance", "conventions", "downstream", "fuzz", "golden", "house", "invariants",
    "oracle", "parity", "support",
}  # fmt: skip


def test_no_test_module_imports_another():
    """What tests share lives in tests/support."""
    taken = [
        f"{path.relative_to(TESTS)}:{line}: {module}"
        for path in FILES
        for line, module, names in statements(path)
        if MODULES & {part for name in (module, *(names or ())) for part in name.split(".")}
    ]
    assert not taken


def test_no_test_asks_a_clock():
    """Work is counted, as calls, looks for signals or sizes that would take hours; `pytest bench` measures seconds.

    A limit ends what hangs: `patient(20)`, which FASTIR_TEST_PATIENCE makes longer, as `moments(20)`.
    """
    ours = [path for path in FILES if path.name.startswith(("test_", "conftest")) or path.parent.name == "support"]
    for path in ours:
        if path.name != "processes.py":
            text = path.read_text("utf-8")
            found = [f"{pattern.pattern}: {match}" for pattern in (CLOCK, LIMIT) for match in pattern.findall(text)]
            assert not found, path.relative_to(TESTS)


def test_folders_mirror_the_package():
    folders = {path.parent.relative_to(TESTS).parts[0] for path in TESTS.glob("*/**/test_*.py")}
    assert BOXES.keys() - folders == {"analyses"}, "boxes without tests"
    assert folders - BOXES.keys() <= OF_THEIR_OWN


# Every source has a test file of its name, or one that names it in a comment, "# Also of: a, b."


def sources_without_tests(box):
    """The sources of a box that no test file of its folder is called after, or names."""
    folder = BOXES[box]
    tests = {path.stem.removeprefix("test_"): path.read_text("utf-8") for path in (TESTS / box).glob("test_*.py")}
    named = {name for text in tests.values() for line in ALSO_OF.findall(text) for name in line.split(", ")}
    paths = folder.glob("*") if folder.name in STOREYS else folder.rglob("*")
    sources = [path for path in paths if path.suffix in (".py", ".pyx")]
    names = {"_".join(path.relative_to(folder).with_suffix("").parts).lstrip("_") for path in sources}
    return sorted(name for name in names if not name.endswith("init__") and name not in {*tests, *named})


def test_a_source_has_a_test_file_where_one_looks_for_it():
    assert not [f"{box}/{name}" for box in sorted(BOXES) for name in sources_without_tests(box)]


def test_tests_need_numpy_and_pytest_alone_to_be_collected():
    """What else a test module imports, it has asked `importorskip` for: without it the module is skipped."""
    own = {path.stem for path in [*FILES, *TESTS.with_name("bench").glob("*.py")]}
    known = {*sys.stdlib_module_names, *own, "fastir", "numpy", "pytest"}
    for path in sorted(TESTS.rglob("test_*.py")):
        asked = set()
        for node in ast.parse(path.read_text("utf-8")).body:
            asked |= {call.args[0].value.split(".")[0] for call in ast.walk(node) if is_importorskip(call)}
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert name.split(".")[0] in known | asked, f"{path.relative_to(TESTS)}: {name}"


def is_importorskip(node):
    named = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "importorskip"
    return named and isinstance(node.args[0], ast.Constant)
