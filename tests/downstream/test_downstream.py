"""The projects' files are well formed, the record is of them, and the page is of the record; no suite runs here."""

import ast
import importlib.util
import json
import re
import sys
import tomllib
from pathlib import Path

import pytest
from pages import NEEDS_PAGES

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE, WORKFLOW = ROOT / "docs" / "downstream.md", ROOT / ".github" / "workflows" / "downstream.yml"
FILES = {path.parent.name: tomllib.loads(path.read_text("utf-8")) for path in HERE.glob("projects/*/project.toml")}
RECORD = json.loads((HERE / "record.json").read_text("utf-8"))
PATCHED_LINES = 40
FOR_MAINTAINERS = ("beir", "ir_measures", "mteb", "pyserini", "torchmetrics")
WAYS = [(name, way) for name, spec in FILES.items() for way in spec["under"]]
KEYS = {
    "title", "package", "install", "cannot", "step_differs", "step_limit", "source", "under", "tests",
    "fails_without", "differs",
}  # fmt: skip
UNDER = {"told", "may_go", "install", "code", "patch", "gone", "watch"}


@pytest.fixture
def page(monkeypatch):
    monkeypatch.syspath_prepend(HERE)
    sys.modules.pop("page", None)
    import page

    yield page
    sys.modules.pop("page", None)


@pytest.mark.parametrize("name", FILES)
def test_a_project_says_what_it_needs(name):
    spec = FILES[name]
    assert spec.keys() <= KEYS
    assert spec["title"] and spec["package"] and spec["install"]
    assert ("tests" in spec) == ("source" in spec) and ("tests" in spec or spec["cannot"])
    if "repository" in spec.get("source", {"repository": 1}):
        repositories = [
            each for each in (spec.get("source"), *spec.get("source", {}).get("submodules", {}).values()) if each
        ]
        assert all(each["repository"].startswith("https://") and each["paths"] for each in repositories)
    assert all(reason for table in ("fails_without", "differs") for reason in spec.get(table, {}).values())


@pytest.mark.parametrize(("name", "way"), WAYS)
def test_fastir_goes_under_in_one_way_and_is_watched(name, way):
    under = FILES[name]["under"][way]
    assert under.keys() <= UNDER and under["told"]
    assert len(under.keys() & {"install", "code", "patch"}) == 1
    for module in under["watch"]:
        assert importlib.util.find_spec(module)


@pytest.mark.parametrize(
    ("name", "way"), [(name, way) for name, way in WAYS if "install" not in FILES[name]["under"][way]]
)
def test_a_patch_is_small_and_whole(name, way):
    under = FILES[name]["under"][way]
    text = (HERE / "projects" / name / under.get("patch", under.get("code"))).read_text("utf-8")
    assert len(text.splitlines()) <= PATCHED_LINES
    if "code" in under:
        assert ast.get_docstring(ast.parse(text))
        return
    heads = re.findall(r"^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@.*\n((?:[-+ ].*\n)*)", text, re.MULTILINE)
    assert len(heads) == text.count("\n@@ ") > 0
    for removed, added, lines in heads:
        signs = [line[0] for line in lines.splitlines()]
        context = signs.count(" ")  # without any, git apply refuses the patch
        assert context and [int(removed), int(added)] == [context + signs.count(sign) for sign in "-+"]
        ast.parse("\n".join(line[1:] for line in lines.splitlines() if line[0] == "+"))


@pytest.mark.parametrize("name", FILES)
def test_a_step_is_one_function(name):
    path = HERE / "projects" / name / "step.py"
    tree = ast.parse(path.read_text("utf-8"))
    [function] = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert function.name == "prepare" and [each.arg for each in function.args.args] == ["qrels", "run"]
    assert ast.get_docstring(tree)


def test_the_record_is_of_the_files():
    assert RECORD.keys() <= FILES.keys()
    for name, spec in FILES.items():
        seen = RECORD.get(name, {})
        assert "version" in seen or spec.get("cannot"), name
        if "version" not in seen:
            continue
        assert seen["ways"].keys() == spec["under"].keys(), name
        assert not [test for test, reason in seen.get("fails_without", {}).items() if not reason], name
        for side in seen["ways"].values():
            assert not [test for test, reason in side["lost"].items() if not reason], name
            assert side.get("largest_difference", 0) <= 1e-12 or spec["step_differs"], name
            assert side["passed"] == seen.get("passed", 0) - len(side["lost"]) + len(side["gained"]), name


def test_six_suites_and_more_lost_nothing():
    whole = {
        name
        for name, seen in RECORD.items()
        for side in seen.get("ways", {}).values()
        if seen.get("passed") and side["calls"] and not side["lost"]
    }
    assert len(whole) >= 6


@NEEDS_PAGES
def test_the_page_is_of_the_record(page):
    assert PAGE.read_text("utf-8") == page.page(RECORD)


@pytest.mark.skipif(not WORKFLOW.is_file(), reason="needs a checkout")
def test_the_workflow_runs_every_project():
    yaml = pytest.importorskip("yaml")
    matrix = yaml.safe_load(WORKFLOW.read_text("utf-8"))["jobs"]["suite"]["strategy"]["matrix"]
    assert matrix["project"] == sorted(FILES)


@pytest.mark.parametrize("name", FOR_MAINTAINERS)
def test_a_pull_request_begins_with_a_number_and_ends_with_the_way_back(name):
    title, first, *_, heading, _ = (HERE / "projects" / name / "pull_request.md").read_text("utf-8").split("\n\n")
    assert re.match(r"\d+\.\d+ s become \d+\.\d+ s", first) and heading == "## How to undo it", title


@pytest.mark.parametrize("name", FOR_MAINTAINERS)
def test_what_maintainers_are_told_is_what_was_measured(name, page):
    text = (HERE / "projects" / name / "pull_request.md").read_text("utf-8")
    assert text.count("github.com/") >= 2, "threads that were read"
    for side in RECORD.get(name, {}).get("ways", {}).values():
        for key in ("seconds", "megabytes"):
            for seen in (RECORD[name], side):
                assert key not in seen or page.figure(key, seen[key]) in text, (name, key)
        seen = RECORD[name]
        assert seen["version"] in text and seen["python"] in text
        if seen.get("tests"):
            assert f"{seen['passed']} of {seen['tests']}" in text
            assert not side["lost"] and side["passed"] == seen["passed"], "the text says that the same tests pass"
