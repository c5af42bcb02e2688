"""The README is true: every snippet runs, and where a block of text follows one, that is what it prints."""

import contextlib
import io
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fastir

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INSTALLS = ("pip ", "pytest ")

pytestmark = pytest.mark.skipif(not README.is_file(), reason="needs the README")


def blocks():
    return BLOCK.findall(README.read_text("utf-8"))


def commands(script):
    """The commands of a shell snippet, without those that install or test what is being tested."""
    lines = script.replace("\\\n", " ").splitlines()
    return [command for line in lines for command in line.split(" && ") if not command.startswith(INSTALLS)]


def shell(script):
    """What a shell snippet prints, errors included."""
    printed = ""
    for command in commands(script):
        command = re.sub(r"^fastir ", lambda _: f'"{sys.executable}" -m fastir ', command)
        done = subprocess.run(command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        printed += done.stdout
        assert done.returncode == 0 or "fastir: error: " in done.stdout, f"{command}: {done.stdout}"
    return printed


def python(code, namespace):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, README.name, "exec"), namespace)
    return printed.getvalue()


def test_it_opens_with_two_commands():
    first, second = [code for language, code in blocks() if language == "bash"][:2]
    assert first == (
        'pip install ".[cli]" && fastir eval examples/qrels.txt examples/bm25.run '
        "-m ndcg@10 -m map -m mrr -m P@10 -m recall@100\n"
    )
    assert second == 'pip install -e ".[test]" && pytest -q\n'


def test_every_snippet_runs_and_prints_what_the_readme_shows(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    namespace, printed, ran = {}, "", 0
    for language, code in blocks():
        if language == "text":
            assert printed == code, f"the README shows\n{code}\nbut it prints\n{printed}"
        else:
            printed = python(code, namespace) if language == "python" else shell(code)
            ran += 1
    assert ran >= 6
