"""The action `gate` does what it says: its steps run on the examples, with stand-ins for `gh` and for pip alone."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from common import EXAMPLES, ROOT

yaml = pytest.importorskip("yaml")
PATH = ROOT / ".github" / "actions" / "gate" / "action.yml"

pytestmark = [
    pytest.mark.site,
    pytest.mark.skipif(not PATH.is_file(), reason="needs a checkout"),
    pytest.mark.skipif(shutil.which("bash") is None or sys.platform == "win32", reason="needs bash"),
]

PYTHON = f"""#!/bin/sh
if [ "$2" = pip ]; then shift; printf '%s\\n' "pip: $*"; exit 0; fi
exec "{sys.executable}" "$@"
"""
GH = """#!/bin/sh
printf '%s\\n' "$*" >> gh.txt
case "$*" in
  *--jq*) printf %s "$EARLIER" ;;
  *) exit "$GH_EXIT" ;;
esac
"""
EVIL = "$(touch evil) `touch evil`; touch evil\n::error::evil\n' \" && touch evil"


class Job:
    """The action in a folder with the examples: `use` runs its steps, and says the exit code and what was printed."""

    def __init__(self, folder):
        self.action = yaml.safe_load(PATH.read_text("utf-8"))
        self.folder, self.temp = folder / "work", folder / "temp"
        shutil.copytree(EXAMPLES, self.folder / "examples")
        self.temp.mkdir()
        programs = folder / "programs"
        programs.mkdir()
        for name, script in (("python", PYTHON), ("gh", GH)):
            (programs / name).write_text(script)
            (programs / name).chmod(0o755)
        self.summary, self.output = self.temp / "summary", self.temp / "output"
        self.environment = {
            **os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT),
            "RUNNER_TEMP": str(self.temp), "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_OUTPUT": str(self.output), "GITHUB_REPOSITORY": "owner/name", "EARLIER": "", "GH_EXIT": "0",
        }  # fmt: skip

    def use(self, pull_request="", **inputs):
        given = {
            "qrels": "examples/qrels.txt", "baseline": "examples/dense.run", "run": "examples/bm25.run",
            "fail-if": "drop:map>0.01", **{name.replace("_", "-"): value for name, value in inputs.items()},
        }  # fmt: skip
        context = {f"inputs.{name}": value.get("default", "") for name, value in self.action["inputs"].items()}
        context |= {f"inputs.{name}": value for name, value in given.items()}
        context |= {"github.event.pull_request.number": pull_request, "github.token": "secret"}
        printed = ""
        for step in self.action["runs"]["steps"]:
            if "run" not in step:
                continue
            context |= {f"steps.compare.outputs.{key}": value for key, value in self.outputs().items()}
            own = {key: filled(value, context) for key, value in step["env"].items()}
            command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
            environment = {**self.environment, **own}
            done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True)
            printed += done.stdout + done.stderr
            if done.returncode:
                break
        return done.returncode, printed

    def outputs(self):
        lines = self.output.read_text().splitlines() if self.output.exists() else []
        return dict(line.split("=", 1) for line in lines)

    def comments(self):
        calls = self.folder / "gh.txt"
        return calls.read_text().splitlines() if calls.exists() else []


def filled(text, context):
    return re.sub(r"\$\{\{\s*(.*?)\s*\}\}", lambda found: context[found[1]], text)


@pytest.fixture
def job(tmp_path):
    return Job(tmp_path)


def test_no_script_holds_an_input_and_every_input_is_used():
    action = yaml.safe_load(PATH.read_text("utf-8"))
    steps = action["runs"]["steps"]
    assert not any("${{" in step.get("run", "") for step in steps)
    used = set(re.findall(r"\binputs\.([\w-]+)", "".join(str(step) for step in steps)))
    assert used == set(action["inputs"])
    assert {step["shell"] for step in steps if "run" in step} == {"bash"}
    assert all(value.get("required") or "default" in value for value in action["inputs"].values())


def test_a_run_that_is_better_passes(job):
    code, printed = job.use(baseline="examples/bm25.run", run="examples/dense.run")
    assert (code, job.outputs()) == (0, {"passed": "true"}), printed
    summary = job.summary.read_text()
    assert "### fastir gate: passed\n" in summary and "| metric | bm25 | dense | change |" in summary
    assert "| map | 0.6627 | 0.7661 | +0.1034 | 4 | 2 |" in summary
    assert "0.8838" in (job.temp / "fastir-report.html").read_text("utf-8")
    assert "pip: pip install fastir[cli]" in printed and job.comments() == []


def test_a_run_that_is_worse_comments_attaches_and_then_fails(job):
    code, printed = job.use(pull_request="7", fail_if="worse:ndcg@10\ndrop:map>0.01\n")
    assert (code, job.outputs()) == (1, {"passed": "false"}), printed
    said = "fastir: fail: run examples/bm25.run: map is 0.103373 worse than examples/dense.run's, more than 0.01"
    assert f"| {said}" in printed and f"    {said}" in job.summary.read_text()
    assert (job.temp / "fastir-report.html").exists()
    asked, written = job.comments()
    assert asked.startswith("api --paginate repos/owner/name/issues/7/comments --jq")
    body = job.temp / "fastir-gate.md"
    assert written == f"api --silent repos/owner/name/issues/7/comments --field body=@{body}"
    assert body.read_text() == job.summary.read_text()


def test_the_comment_of_an_earlier_push_is_written_again(job):
    job.environment["EARLIER"] = "11\n12\n"
    job.use(pull_request="7")
    first, written = job.comments()
    assert written.startswith("api --silent --method PATCH repos/owner/name/issues/comments/11 --field body=@")
    assert "startswith(env.MARK)" in first
    other = job.summary.read_text().partition("\n")[0]
    job.use(run="examples/dense.run")
    marks = [line for line in job.summary.read_text().splitlines() if line.startswith("<!--")]
    assert re.fullmatch(r"<!-- fastir gate \d+ -->", other) and marks[0] == other != marks[1]


def test_a_pull_request_that_may_not_comment_is_judged_all_the_same(job):
    job.environment["GH_EXIT"] = "1"
    code, printed = job.use(pull_request="7", baseline="examples/bm25.run", run="examples/dense.run")
    assert code == 0 and "::warning::fastir gate: no comment could be written\n" in printed
    assert job.use(pull_request="7", comment="false")[0] == 1
    assert len(job.comments()) == 2


def test_a_baseline_may_be_results_that_were_kept(job):
    keep = ["-m", "fastir", "eval", "examples/qrels.txt", "examples/dense.run", "-m", "ndcg@10,map", "-o", "kept.json"]
    subprocess.run([sys.executable, *keep], cwd=job.folder, check=True, env=job.environment)
    code, printed = job.use(baseline="kept.json")
    assert code == 1 and "map is 0.103373 worse than kept.json's" in printed
    assert "| fastir: error: kept.json holds saved results" in printed and "| no report\n" in printed
    assert not (job.temp / "fastir-report.html").exists()


def test_options_are_those_of_both_commands(job):
    code, printed = job.use(fail_if="drop:mrr>0.99", metrics="mrr", options="--convention=beir\n--max-depth=2\n")
    assert code == 0, printed
    assert "beir" in (job.temp / "fastir-report.html").read_text("utf-8")
    assert "| mrr |" in job.summary.read_text()


def test_bad_input_fails_at_once_and_says_why(job):
    code, printed = job.use(pull_request="7", run="examples/none.run")
    assert code == 2 and "| fastir: error: examples/none.run: No such file or directory" in printed
    assert job.outputs() == {} and job.comments() == [] and not job.summary.exists()
    code, printed = job.use(fail_if="fall:map")
    assert code == 1 and "fall:map" in printed and job.outputs() == {}


@pytest.mark.parametrize("rules", ["", " ", "\n", "\n \n\t\n", "\r\n", " \r\n\r\n"])
def test_without_a_rule_it_fails(job, rules):
    """GitHub does not see to it that a required input is given, and a variable that is not set is an empty text."""
    code, printed = job.use(pull_request="7", fail_if=rules, run="examples/none.run")
    assert code == 1 and "::error::fastir gate: the input fail-if has no rule" in printed
    assert job.outputs() == {} and job.comments() == [] and not job.summary.exists()


@pytest.mark.parametrize("rules", ["mrr,map", "ndcg@5,10", "ndcg_cut.10", "ndcg_cut"])
def test_a_rule_of_several_metrics_is_one_of_each(job, rules):
    code, printed = job.use(fail_if=f"\n  drop:{rules}>0.001 \r\n\n")
    assert code == 1 and job.outputs() == {"passed": "false"} and "| fastir: fail: " in printed, printed


@pytest.mark.parametrize("name", ["qrels", "baseline", "run", "fail_if", "metrics", "options", "install", "comment"])
def test_an_input_is_never_a_command(job, name):
    code, printed = job.use(pull_request="7", **{name: EVIL})
    assert not (job.folder / "evil").exists()
    assert (code in (1, 2)) and (name in ("install", "comment") or "\n::error" not in f"\n{printed}")


def test_a_file_with_such_a_name_is_judged(job):
    name = f"{EVIL.replace('/', '')} ` .run"
    shutil.copy(EXAMPLES / "bm25.run", job.folder / name)
    code, printed = job.use(pull_request="7", run=name)
    assert code == 1 and job.outputs() == {"passed": "false"}, printed
    assert not (job.folder / "evil").exists() and "\n::error" not in f"\n{printed}"
