"""docs/nightly.md is true: its job leaves a summary, and its test fails where the numbers fall and says by how much."""

import subprocess
import sys

import pytest
from pages import DOCS, NEEDS_PAGES, blocks, run_page, steps

PAGE = DOCS / "nightly.md"
pytest.importorskip("yaml")

pytestmark = NEEDS_PAGES


def check_what_pytest_shows(path, code):
    """The message of the assertion has all its lines, not a shortened repr."""
    path.write_text(code.removesuffix("test_ndcg_does_not_fall()\n"))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", path.name]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 1
    assert "ndcg@10: 0.7724 against 0.8838, -0.1114; 2 gained, 0 equal, 4 lost" in done.stdout
    assert all(f"q{number} " in done.stdout for number in range(1, 7)), done.stdout


def test_the_job_and_the_test_do_what_the_page_says(tmp_path, monkeypatch):
    run_page(PAGE, tmp_path, monkeypatch)
    code = dict(blocks(PAGE))
    assert steps(code["yaml"])[0] == 'pip install "fastir[cli]"'
    assert "0.8838" in (tmp_path / "report.html").read_text("utf-8")
    assert "path: report.html" in code["yaml"]
    assert (tmp_path / "summary.md").read_text().startswith("| metric | baseline | tonight |")
    worse = code["python"].replace("dense.run", "bm25.run").replace("- 0.01", "+ 0.01")
    with pytest.raises(AssertionError, match=r"ndcg@10: 0\.7724 against 0\.7724"):
        exec(compile(worse, PAGE.name, "exec"), {})
    check_what_pytest_shows(tmp_path / "test_worse.py", worse.replace("baseline.json", "tonight.json"))
