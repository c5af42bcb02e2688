"""The workflows can start: jobs that are needed exist, matrix keys are used and known, and named files are there."""

import re

import pytest
from common import ROOT

yaml = pytest.importorskip("yaml")
FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = sorted(FOLDER.glob("*.y*ml"))

pytestmark = pytest.mark.skipif(not WORKFLOWS, reason="needs a checkout")

# A path in a script: it begins with a folder of the repository, or is a file at its root; `*` stands for any name.
PATH = re.compile(
    r"(?<![\w./*$}-])((?:\.ci|\.github|bench|examples|fastir|tests)/[\w./*-]+|(?:setup\.py|pyproject\.toml|[A-Z]+\.md))"
)


def jobs_of(path):
    return yaml.safe_load(path.read_text("utf-8"))["jobs"]


def listed(value):
    return [value] if isinstance(value, str) else value or []


def strings(value):
    """All strings in a tree of dicts and lists."""
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, list):
        return [text for part in value for text in strings(part)]
    return [value] if isinstance(value, str) else []


def matrix_keys(job):
    matrix = job.get("strategy", {}).get("matrix", {})
    included = {key for row in matrix.get("include", []) for key in row}
    return {*matrix, *included} - {"include", "exclude"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_what_a_job_needs_is_a_job(path):
    jobs = jobs_of(path)
    for name, job in jobs.items():
        assert set(listed(job.get("needs"))) <= set(jobs) - {name}, name


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_job_uses_what_it_needs_and_every_key_of_its_matrix(path):
    for name, job in jobs_of(path).items():
        rest = {key: value for key, value in job.items() if key != "strategy"}
        text = "\n".join(strings(rest))
        assert set(re.findall(r"\bmatrix\.(\w+)", text)) == matrix_keys(job), name
        needed = re.findall(r"\bneeds\.(\w+)", text)
        assert set(needed) <= set(listed(job.get("needs"))), name


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_what_a_script_names_is_there(path):
    """What a script makes itself is in other folders."""
    for name, job in jobs_of(path).items():
        for step in job.get("steps", []):
            for named in PATH.findall(step.get("run", "")):
                assert any(ROOT.glob(named)), f"{name}: {named}"


def test_the_last_job_waits_for_all_others():
    """Only it is required to merge."""
    jobs = jobs_of(FOLDER / "tests.yml")
    last = list(jobs)[-1]
    assert set(jobs[last]["needs"]) == set(jobs) - {last}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_no_checkout_leaves_credentials_behind(path):
    """A later step, or an action that it uses, could push with them."""
    for name, job in jobs_of(path).items():
        for step in job.get("steps", []):
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step.get("with", {}).get("persist-credentials") is False, name


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_read_the_repository_and_no_more(path):
    assert yaml.safe_load(path.read_text("utf-8"))["permissions"] == {"contents": "read"}


def test_dependabot_looks_after_the_actions():
    settings = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text("utf-8"))
    assert "github-actions" in {update["package-ecosystem"] for update in settings["updates"]}
