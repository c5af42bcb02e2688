"""The tests keep a house of their own: a folder for every box of the package, and nothing taken from another test."""

import pytest
from common import ROOT
from imports import PACKAGE, statements

TESTS = ROOT / "tests"
FILES = sorted(TESTS.rglob("*.py"))
MODULES = {path.stem for path in FILES if path.stem.startswith("test_") or path.stem == "conftest"}
# Promises that no single box keeps, and what tests share.
OF_THEIR_OWN = {"catalogue", "conventions", "fuzz", "golden", "house", "invariants", "oracle", "parity", "support"}


def test_no_test_module_imports_another():
    """What tests share lives in tests/support."""
    taken = [
        f"{path.relative_to(TESTS)}:{line}: {module}"
        for path in FILES
        for line, module, names in statements(path)
        if MODULES & {part for name in (module, *(names or ())) for part in name.split(".")}
    ]
    assert not taken


@pytest.mark.skipif(not PACKAGE.is_dir(), reason="needs the sources")
def test_folders_mirror_the_package():
    folders = {path.parent.relative_to(TESTS).parts[0] for path in TESTS.glob("*/**/test_*.py")}
    boxes = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert boxes - folders == set(), "boxes without tests"
    assert folders - boxes <= OF_THEIR_OWN
