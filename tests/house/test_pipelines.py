"""docs/pipelines.md is true: its recipes run, each where its tool is installed, and the container's commands exist."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from common import EXAMPLES, ROOT
from pages import BLOCK, DOCS, NEEDS_PAGES

import fastir

PAGE = DOCS / "pipelines.md"
pytestmark = NEEDS_PAGES


def recipe(title):
    """The blocks of the section with this title: (language, code) of each."""
    sections = re.split(r"^## (.*)\n", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    return BLOCK.findall(dict(zip(sections[1::2], sections[2::2], strict=True))[title])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The examples, the baseline, and a command `fastir` that is this one."""
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    command = tmp_path / "programs" / "fastir"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m fastir "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    fastir.evaluate("examples/qrels.txt", "examples/bm25.run", ["ndcg@10", "map"]).save("baseline.json")
    return tmp_path


def test_the_workflow_gives_the_action_inputs_that_it_has():
    yaml = pytest.importorskip("yaml")
    [(_, code)] = recipe("A GitHub action for pull requests")
    step = yaml.safe_load(code)["jobs"]["gate"]["steps"][-1]
    path = ROOT / step["uses"].partition("@")[0].partition("fastir/")[2] / "action.yml"
    if not path.is_file():
        pytest.skip("needs a checkout")
    inputs = yaml.safe_load(path.read_text("utf-8"))["inputs"]
    assert set(step["with"]) <= set(inputs)
    assert {name for name, value in inputs.items() if value.get("required")} <= set(step["with"])
    rules = [f"--fail-if={rule}" for rule in step["with"]["fail-if"].splitlines()]
    given = [step["with"]["baseline"], step["with"]["run"], "--qrels", step["with"]["qrels"]]
    command = [sys.executable, "-m", "fastir", "diff", *given, "-m", step["with"]["metrics"], *rules]
    assert subprocess.run(command, cwd=EXAMPLES.parent, capture_output=True).returncode == 0


def test_the_commands_of_dvc_yaml_run(folder):
    yaml = pytest.importorskip("yaml")
    if shutil.which("sh") is None or sys.platform == "win32":
        pytest.skip("needs a shell")
    [(_, code)] = recipe("DVC")
    stages = yaml.safe_load(code)["stages"]
    for command in (*stages["evaluate"]["cmd"], stages["gate"]["cmd"]):
        subprocess.run(command, shell=True, check=True, capture_output=True)
    assert json.loads((folder / "metrics.json").read_text())["mean"]["ndcg@10"] == pytest.approx(0.8838, abs=1e-4)
    swapped = stages["gate"]["cmd"].replace("baseline.json results.json", "results.json baseline.json")
    assert subprocess.run(swapped, shell=True, capture_output=True).returncode == 4


def test_dvc_reproduces_the_stages_and_shows_the_metrics(folder):
    dvc = shutil.which("dvc")
    if dvc is None:
        pytest.skip("needs the command dvc")
    [(_, code)] = recipe("DVC")
    (folder / "dvc.yaml").write_text(code)
    environment = {**os.environ, "DVC_NO_ANALYTICS": "1", "HOME": str(folder)}

    def run(*words):
        return subprocess.run([dvc, *words], capture_output=True, text=True, env=environment)

    assert run("init", "--no-scm", "-q").returncode == 0
    done = run("repro")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(run("metrics", "show", "--json").stdout)[""]["data"]["metrics.json"]["data"]["mean"]["map"] > 0.76
    assert "didn't change" in run("repro").stdout
    shutil.copy("examples/bm25.run", "examples/dense.run")
    fastir.evaluate("examples/qrels.txt", EXAMPLES / "dense.run", ["ndcg@10", "map"]).save("baseline.json")
    done = run("repro")
    assert done.returncode != 0 and "fastir: fail: " in done.stdout + done.stderr


@pytest.mark.filterwarnings("ignore")
def test_mlflow_holds_the_values(folder, capsys):
    pytest.importorskip("mlflow")
    (_, code), (_, shown) = recipe("MLflow")
    exec(compile(code, PAGE.name, "exec"), {"__name__": "page"})
    assert capsys.readouterr().out == shown
    assert len(list(folder.rglob("artifacts/results.json"))) == 1


def test_the_container_is_ten_lines_and_runs_the_command():
    path = ROOT / ".github" / "Containerfile"
    if not path.is_file():
        pytest.skip("needs a checkout")
    lines = path.read_text("utf-8").splitlines()
    told = {line.partition(" ")[0]: line.partition(" ")[2] for line in lines if not line.startswith("#")}
    assert len(lines) == 10 and list(told) == ["FROM", "ARG", "RUN", "USER", "WORKDIR", "ENTRYPOINT", "CMD"]
    [script] = json.loads(told["ENTRYPOINT"])
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    assert f'\n{script} = "fastir.cli:program"' in project
    extras = re.search(r'"fastir\[(.*?)\]', path.read_text("utf-8"))[1].split(",")
    assert all(f"\n{extra} = [" in project for extra in extras)
    example = shlex.split(lines[1].partition(" fastir ")[2])
    example = ["examples/" + word if "." in word else word for word in example]
    command = [sys.executable, "-m", "fastir", *example]
    assert subprocess.run(command, cwd=EXAMPLES.parent, capture_output=True).returncode == 0
    assert subprocess.run([*command[:3], *json.loads(told["CMD"])], capture_output=True).returncode == 0
