"""docs/nightly.md is true: its commands, its workflow and its test run, in its order, and print what it shows."""

import os
import shutil
import subprocess
import sys

import pytest
from common import ROOT
from readme import blocks

PAGE = ROOT / "docs" / "nightly.md"
yaml = pytest.importorskip("yaml")

pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="needs the page")


def shell(script):
    """(exit code of the last line, everything that it printed)."""
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    define = f'fastir() {{ "{sys.executable}" -m fastir "$@"; }}\n'
    environment = {**os.environ, "PATH": path, "GITHUB_STEP_SUMMARY": "summary.md"}
    command = ["bash", "-c", define + script]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def check_what_pytest_shows(path, code):
    """The message of the assertion has all its lines, not a shortened repr."""
    path.write_text(code.removesuffix("test_ndcg_does_not_fall()\n"))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", path.name]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 1
    assert "ndcg@10: 0.7724 against 0.8838, -0.1114; 2 gain, 0 equal, 4 lose" in done.stdout
    assert all(f"q{number} " in done.stdout for number in range(1, 7)), done.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_the_page_runs_from_top_to_bottom(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    ran, printed = [], ""
    for language, code in blocks(PAGE):
        ran.append(language)
        if language == "bash":
            status, printed = shell(code)
            assert status == (4 if "--fail" in code else 0), printed
        elif language == "text":
            assert printed == code
        elif language == "yaml":
            steps = yaml.safe_load(code)["jobs"]["evaluate"]["steps"]
            commands = [step["run"] for step in steps if "run" in step]
            assert commands[0] == 'pip install "fastir[cli]"'
            for command in commands[1:]:
                status, printed = shell(command)
                assert status == 0, printed
            assert (tmp_path / "summary.md").read_text().startswith("| metric | baseline.json | tonight.json |")
        else:
            exec(compile(code, PAGE.name, "exec"), {})
            worse = code.replace("dense.run", "bm25.run").replace("- 0.01", "+ 0.01")
            with pytest.raises(AssertionError, match=r"ndcg@10: 0\.7724 against 0\.7724"):
                exec(compile(worse, PAGE.name, "exec"), {})
            check_what_pytest_shows(tmp_path / "test_worse.py", worse.replace("baseline.json", "tonight.json"))
    assert ran == ["bash", "text", "bash", "text", "bash", "yaml", "python"]
