"""The README is true: every snippet runs, and where a block of text follows one, that is what it prints."""

import contextlib
import io
import re
import shutil
import subprocess
import sys

import pytest
from common import ROOT
from readme import README, blocks

INSTALLS = ("pip ", "pytest ")

pytestmark = pytest.mark.skipif(not README.is_file(), reason="needs the README")


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
    assert second == 'pip install -e ".[test]" && pytest -q -n auto\n'


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


ROW = re.compile(r"^\| ([^|]+) \| `([^|]+)` \| [^|]+ \|$", re.MULTILINE)


def rows():
    """(tool, what to write in its place) of the table of stand-ins."""
    if not README.is_file():
        return []
    table = README.read_text("utf-8").partition("| you use | write | and get |\n")[2].partition("\n\n")[0]
    return ROW.findall(table)


def test_the_table_of_stand_ins_has_them_all():
    layers = {path.stem for path in (ROOT / "fastir" / "compat").iterdir() if path.suffix == ".py" or path.is_dir()}
    written = " ".join(line for _, line in rows())
    helpers = {"__init__", "__pycache__", "id_lists", "run_order", "trec_lines"}
    assert [layer for layer in sorted(layers - helpers) if not re.search(rf"\b{layer}\b", written)] == []


@pytest.mark.parametrize(("tool", "line"), rows())
def test_every_line_of_the_table_of_stand_ins_runs(tool, line, tmp_path, monkeypatch):
    if line.startswith("fastir "):
        shutil.copytree(ROOT / "examples", tmp_path / "examples")
        monkeypatch.chdir(tmp_path)
        assert shell(line).startswith("num_ret               \tq1\t12\n")
        return
    done = subprocess.run([sys.executable, "-c", line], stderr=subprocess.PIPE, text=True)
    if re.search(r"ImportError: fastir.compat: \S+ cannot be imported \(No module named", done.stderr):
        pytest.skip(f"{tool} is not installed")
    assert done.returncode == 0, done.stderr
