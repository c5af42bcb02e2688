"""Every folder keeps to its budget of lines of code, tests/house/budgets.toml."""

import pytest
from common import NEEDS_SOURCES, ROOT
from lines_of_code import budgets, by_folder, lines_of_code

pytestmark = NEEDS_SOURCES


def test_no_folder_has_more_lines_of_code_than_its_budget():
    if not any(ROOT.joinpath("fastir").rglob("*.pyx")) or not ROOT.joinpath("bench").is_dir():
        pytest.skip("needs the sources in Cython and the benches")
    allowed = budgets()
    over = {
        folder: (lines, allowed.get(folder)) for folder, lines in by_folder().items() if lines > allowed.get(folder, 0)
    }
    assert not over, "folder: (lines of code, budget); take lines out, or raise the budget and say what they buy"


def test_no_budget_is_for_a_folder_that_does_not_exist():
    assert budgets().keys() <= by_folder().keys()


def test_blank_lines_comments_and_docstrings_are_not_counted(tmp_path):
    python, cython = tmp_path / "a.py", tmp_path / "a.pyx"
    python.write_text(
        '"""One.\n\nTwo."""\n\n# no\nx = """text\n\nmore"""  # yes\n\n\ndef f():\n    """No."""\n    return x\n'
    )
    cython.write_text('"""One.\n\nTwo."""\ncdef int f() noexcept nogil:\n    # no\n\n    return 1\n')
    assert (lines_of_code(python), lines_of_code(cython)) == (4, 2)
