"""The workflows can start: jobs that are needed exist, matrix keys are used and known, and named files are there."""

import functools
import re
import runpy
import signal
import subprocess
import sys
import tomllib
from collections import Counter

import pytest
from common import NEEDS_SOURCES, ROOT

yaml = pytest.importorskip("yaml")
FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = sorted(FOLDER.glob("*.y*ml"))
USING = [*WORKFLOWS, *sorted(FOLDER.parent.glob("actions/*/action.yml"))]
pytestmark = pytest.mark.skipif(not WORKFLOWS, reason="needs a checkout")

# A path in a script: it begins with a folder of the repository, or is a file at its root; `*` stands for any name.
PATH = re.compile(
    r"(?<![\w./*$}-])((?:\.ci|\.github|bench|examples|fastir|tests)/[\w./*-]+|(?:setup\.py|pyproject\.toml|[A-Z]+\.md))"
)
PUBLISHING = {
    "publish": {"id-token": "write"}, "rehearse": {"id-token": "write"}, "release": {"contents": "write"},
    "pages": {"id-token": "write", "pages": "write"}, "tell": {"issues": "write"},
    "alerts": {"security-events": "write"},
}  # fmt: skip


@functools.cache
def jobs_of(path):
    return yaml.safe_load(path.read_text("utf-8"))["jobs"]


def list_files(value):
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
        assert set(list_files(job.get("needs"))) <= set(jobs) - {name}, name


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_job_uses_what_it_needs_and_every_key_of_its_matrix(path):
    for name, job in jobs_of(path).items():
        rest = {key: value for key, value in job.items() if key != "strategy"}
        text = "\n".join(strings(rest))
        assert set(re.findall(r"\bmatrix\.(\w+)", text)) == matrix_keys(job), name
        needed = re.findall(r"\bneeds\.(\w+)", text)
        assert set(needed) <= set(list_files(job.get("needs"))), name


@NEEDS_SOURCES
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
def test_a_job_has_a_name_and_ends_in_time(path):
    """A step that hangs would otherwise hold its runner for six hours."""
    for name, job in jobs_of(path).items():
        assert 0 < job.get("timeout-minutes", 0) <= 90, name
        assert "name" in job or "matrix" in job.get("strategy", {}), name


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_no_checkout_leaves_credentials_behind(path):
    """A later step, or an action that it uses, could push with them."""
    for name, job in jobs_of(path).items():
        for step in job.get("steps", []):
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step.get("with", {}).get("persist-credentials") is False, name


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_read_the_repository_and_no_more(path):
    """But for the jobs that publish, each of which may do its one thing, and runs no code of the repository."""
    assert yaml.safe_load(path.read_text("utf-8"))["permissions"] == {"contents": "read"}
    for name, job in jobs_of(path).items():
        if "permissions" in job:
            assert job["permissions"] == PUBLISHING[name], name
            assert not any("checkout" in step.get("uses", "") for step in job["steps"]), name


@pytest.mark.parametrize("path", USING, ids=lambda path: path.name)
def test_actions_are_pinned_by_hash_and_say_their_version(path):
    """A tag can be moved to other code."""
    uses = re.findall(r"uses: *(.*)", path.read_text("utf-8"))
    assert uses
    for action in uses:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action


def test_an_action_has_one_version():
    uses = {line for path in USING for line in re.findall(r"uses: *(\S+)", path.read_text("utf-8"))}
    assert len({action.partition("@")[0] for action in uses}) == len(uses)


def test_what_is_published_has_passed_everything():
    jobs = jobs_of(FOLDER / "wheels.yml")
    assert set(jobs["check"]["needs"]) == set(jobs) - {"check", "rehearse", "publish", "release"}
    assert (jobs["publish"]["needs"], jobs["release"]["needs"]) == ("check", "publish")
    assert jobs["publish"]["if"] == "github.ref_type == 'tag'"
    assert jobs["publish"]["steps"][-1]["with"] == {"attestations": True}


def test_testpypi_gets_what_pypi_would_if_somebody_asks():
    jobs = jobs_of(FOLDER / "wheels.yml")
    assert (jobs["rehearse"]["needs"], jobs["rehearse"]["environment"]) == ("check", "testpypi")
    assert jobs["rehearse"]["if"] == "github.event_name == 'workflow_dispatch' && inputs.testpypi"
    assert jobs["rehearse"]["steps"][0] == jobs["publish"]["steps"][0]
    assert jobs["rehearse"]["steps"][1]["uses"] == jobs["publish"]["steps"][1]["uses"]
    assert jobs["rehearse"]["steps"][1]["with"]["repository-url"] == "https://test.pypi.org/legacy/"


def test_a_push_starts_at_most_twelve_runs():
    """Rows of matrices counted; a failure is seen within the hour, and the nightly workflows see the rest."""
    rows, runs = runpy.run_path(str(ROOT / ".github" / "run_jobs.py"))["matrix_rows"], Counter()
    for path in WORKFLOWS:
        if "branches" in (yaml.safe_load(path.read_text("utf-8"))[True].get("push") or {}):
            runs[path.stem] = sum(len(rows(job)) for job in jobs_of(path).values())
    assert runs.keys() == {"tests", "site"} and runs.total() <= 12, runs


def test_every_cpython_has_a_run_by_day_or_by_night():
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["classifiers"]
    promised = {line.rpartition(" ")[2] for line in classifiers if re.search(r":: 3\.\d+$", line)}
    text = (FOLDER / "tests.yml").read_text("utf-8") + (FOLDER / "nightly.yml").read_text("utf-8")
    assert promised <= {*re.findall(r"\b3\.\d+\b", " ".join(re.findall("python(?:-version)?: .*", text)))}


def test_every_wheel_that_is_promised_is_built():
    """The runners of wheels.yml, the platforms of pyproject.toml, and how many wheels that makes."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["cibuildwheel"]
    jobs = jobs_of(FOLDER / "wheels.yml")
    runners = Counter(row["platform"] for row in jobs["build"]["strategy"]["matrix"]["include"])
    for platform in ("linux", "macos", "windows"):
        assert runners[platform] == len(settings[platform]["archs"]) == 2
    assert runners["pyodide"] == 1 and settings["pyodide"]["environment"]["FASTIR_OPENMP"] == "off"
    assert settings["build"] == ["cp311-*", "cp314t-*", "cp314-pyodide_wasm32"]
    count = 2 * (2 * runners["linux"] + runners["macos"] + runners["windows"]) + 1  # linux: glibc and musl
    assert f"-eq {count}\n" in (FOLDER / "wheels.yml").read_text("utf-8")
    [free] = [override for override in settings["overrides"] if override["select"] == "cp314t-*"]
    assert free["environment"] == {"FASTIR_LIMITED_API": "0"} and free["inherit"] == {"environment": "append"}


def test_the_oldest_numpy_that_the_package_accepts_is_tried():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    [oldest] = [line.removeprefix("numpy>=") + ".0" for line in project["dependencies"]]
    python = project["requires-python"].removeprefix(">=")
    steps = jobs_of(FOLDER / "tests.yml")["floor"]["steps"]
    assert [step["with"]["python-version"] for step in steps if "python-version" in step.get("with", {})] == [python]
    assert f'"numpy=={oldest}"' in " ".join(strings(steps))
    rows = jobs_of(FOLDER / "wheels.yml")["numpy"]["strategy"]["matrix"]["include"]
    assert {"python": python, "oldest": oldest} in rows


@NEEDS_SOURCES
def test_tests_that_need_a_browser_or_the_site_run_in_its_job():
    """Else nothing would: they are skipped without `-m site`."""
    scripts = "\n".join(step.get("run", "") for step in jobs_of(FOLDER / "site.yml")["build"]["steps"])
    named = " ".join(re.findall("pytest .*-m site (.*)", scripts)).split()
    marked = [path for path in (ROOT / "tests").rglob("test_*.py") if "mark.site" in path.read_text("utf-8")]
    marked.remove(ROOT / "tests" / "house" / "test_workflows.py")
    assert marked and not [path for path in marked if path.parent.relative_to(ROOT).as_posix() not in named]
    assert "tests/house/test_try.py" in named


def test_what_runs_by_the_clock_can_also_be_started_by_hand():
    for path in WORKFLOWS:
        events = yaml.safe_load(path.read_text("utf-8"))[True]  # `on` is a word for true
        assert "workflow_dispatch" in events
        assert "schedule" not in events or re.fullmatch(r"(\d+ ){2}\* \* [*\d]", events["schedule"][0]["cron"])


def test_dependabot_looks_after_the_actions():
    settings = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text("utf-8"))
    assert {update["package-ecosystem"] for update in settings["updates"]} == {"github-actions", "pip"}


def test_the_script_that_runs_jobs_here_knows_every_job_and_action():
    """A stand-in for each action of a job that it can run; rows of a matrix as GitHub makes them."""
    script = runpy.run_path(str(ROOT / ".github" / "run_jobs.py"))
    jobs = list(script["jobs"]())
    named = {name for name, _, _ in jobs}
    assert {name.split("/")[1] for name in named if name.startswith("tests/")} == set(jobs_of(FOLDER / "tests.yml"))
    assert {"tests/tests/ubuntu-latest/3.15", "tests/tests/macos-latest/3.13", "nightly/python/3.12"} <= named
    oldest = {name.split("/")[-1] for name in named if name.startswith("wheels/numpy/ubuntu-latest/")}
    assert oldest == {"1.26.0", "2.3.3"}
    known = {"actions/checkout", "actions/setup-python", *script["LEFT_OUT"]}
    for name, job, context in jobs:
        if not script["why_not"](job, context):
            assert {step["uses"].partition("@")[0] for step in job["steps"] if "uses" in step} <= known, name


def test_the_rehearsal_of_a_release_finds_its_commands_in_the_workflow():
    script = runpy.run_path(str(ROOT / ".github" / "rehearse.py"))
    assert {tool.partition("==")[0] for tool in script["pinned_tools"]()} == {
        "build",
        "cibuildwheel",
        "twine",
        "zopfli",
    }
    commands = script["commands_of"]((ROOT / "README.md").read_text("utf-8"))
    assert [command.split()[:3] for command in commands] == [
        ["python", "tests/golden/bits.py"], ["python", "-m", "fastir"], ["fastir", "eval", "examples/qrels.txt"]
    ]  # fmt: skip
    assert [script for script in script["steps"]("build") if "small_wheels" in script]
    assert script["ENVIRONMENTS"][0][1:3] == ("3.11", ["numpy==1.26.0", "fastir"])
    message = (ROOT / "setup.py").read_text("utf-8")
    assert f'"{script["NO_COMPILER"].removesuffix("a C compiler")}' in message


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="needs pipes that tell")
def test_the_list_of_jobs_ends_without_a_word_when_its_reader_stops():
    command = [sys.executable, ROOT / ".github" / "run_jobs.py", "--list"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == -signal.SIGPIPE


def test_the_script_says_which_step_failed(tmp_path):
    script = runpy.run_path(str(ROOT / ".github" / "run_jobs.py"))
    job = {"steps": [{"uses": "actions/upload-artifact@0"}, {"run": "echo ${{ matrix.a }} $B", "env": {"B": "b"}}]}
    job["env"] = {"C": "${{ matrix.a }}"}
    failing = [{"run": "test $C = other"}, {"run": "echo never"}]
    for steps, result in ((failing[1:], "passed"), (failing, "failed with 1: test $C = other")):
        with open(tmp_path / "log", "wb") as log:
            whole = {**job, "steps": [*job["steps"], *steps]}
            found = script["run"](whole, {"matrix.a": "1"}, (), log)
        assert found == (result, ["actions/upload-artifact"])
        assert ("\nnever\n" in (tmp_path / "log").read_text()) == (result == "passed")
        assert "\n1 b\n" in (tmp_path / "log").read_text()
