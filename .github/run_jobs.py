"""Runs the jobs of the workflows here, step by step, each in a clone and a virtual environment of its own.

python .github/run_jobs.py                 all that can run on this machine; a line each with its seconds and its result
python .github/run_jobs.py tests/lint ...  these alone; --list says which there are, and why others cannot run
python .github/run_jobs.py --without actionlint tests/lint   but for steps with this word

It reads the workflows, so that nothing is said twice. Of the actions it stands in for checkout, setup-python and
setup-java (Java as it is installed); what others would do is left out, and a job that needs files of another job cannot
run. Needs PyYAML, git, and the Pythons that are named, as python3.11 and so on.
"""

import argparse
import functools
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = ("actions/upload-artifact", "actions/upload-pages-artifact", "actions/setup-java")


def matrix_rows(job):
    """The combinations of a job's matrix, as GitHub makes them; one without keys if it has none."""
    matrix = job.get("strategy", {}).get("matrix", {})
    keys = [key for key in matrix if key not in ("include", "exclude")]
    rows = (
        [dict(zip(keys, row, strict=True)) for row in itertools.product(*(matrix[key] for key in keys))] if keys else []
    )
    for extra in matrix.get("include", ()):
        fits = [row for row in rows if all(row.get(key, extra[key]) == extra[key] for key in keys if key in extra)]
        if keys and fits:
            for row in fits:
                row.update(extra)
        else:
            rows.append(dict(extra))
    return rows or [{}]


def filled(text, context):
    """A text with its expressions replaced: by the context, and by nothing what it lacks."""
    return re.sub(r"\$\{\{\s*(.*?)\s*\}\}", lambda match: str(context.get(match[1], "")), str(text))


@functools.cache
def runs(python):
    return shutil.which(python) is not None and subprocess.run([python, "-c", ""], capture_output=True).returncode == 0


@functools.cache
def has_docker():
    """Whether a daemon runs: its client alone can do nothing."""
    asked = shutil.which("docker") and subprocess.run(["docker", "info"], stdin=subprocess.DEVNULL, capture_output=True)
    return bool(asked) and asked.returncode == 0


def why_not(job, context):
    """Why a job cannot run here, or "" if it can."""
    if not filled(job["runs-on"], context).startswith("ubuntu-latest"):
        return f"runs on {filled(job['runs-on'], context)}"
    if job.get("permissions") or "needs." in str(job):
        return "publishes, or looks at the results of others"
    for step in job["steps"]:
        if step.get("uses", "").startswith("actions/download-artifact"):
            return "needs files of another job"
        if step.get("uses", "").startswith(("github/", "ossf/")):
            return "is an analysis of GitHub's"
        if "cibuildwheel" in step.get("run", "") and not has_docker():
            return "needs a docker daemon"
        if step.get("uses", "").startswith("actions/setup-python"):
            name = "python" + filled(step["with"]["python-version"], context)
            if not runs(name):
                return f"needs {name}"
    return ""


def jobs():
    """(name, job, context) of every job, and of each row of its matrix."""
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        for name, job in yaml.safe_load(path.read_text("utf-8"))["jobs"].items():
            for row in matrix_rows(job):
                context = {f"matrix.{key}": value for key, value in row.items()}
                context |= {"github.server_url": "https://example.org", "github.repository": "owner/fastir"}
                context |= {"github.repository_owner": "owner", "github.event.repository.name": "fastir"}
                yield "/".join([path.stem, name, *map(str, row.values())]), job, context


def run(job, context, without, log):
    """Do the steps; (what came out, the steps that were left out)."""
    left_out = []
    with tempfile.TemporaryDirectory() as folder:
        checkout, temp = Path(folder, "checkout"), Path(folder, "temp")
        checkout.mkdir()
        temp.mkdir()
        context = {**context, "runner.temp": temp}
        variables = {**os.environ, "CI": "true", "RUNNER_TEMP": str(temp), "GITHUB_RUN_ID": str(int(time.time()))}
        variables |= {"GITHUB_REF_TYPE": "branch", "GITHUB_STEP_SUMMARY": str(temp / "summary")}
        variables |= {key: filled(value, context) for key, value in job.get("env", {}).items()}
        for step in job["steps"]:
            uses, script = step.get("uses", "").partition("@")[0], filled(step.get("run", ""), context)
            if uses == "actions/checkout":
                subprocess.run(["git", "clone", "-q", ROOT, checkout], check=True)
            elif uses == "actions/setup-python":
                python = "python" + filled(step["with"]["python-version"], context)
                subprocess.run([python, "-m", "venv", Path(folder, "venv")], check=True)
                variables |= {"PATH": f"{folder}/venv/bin:{variables['PATH']}", "VIRTUAL_ENV": f"{folder}/venv"}
            elif uses in LEFT_OUT or any(word in script for word in without):
                left_out.append(uses or script)
            elif script:
                own = {key: filled(value, context) for key, value in step.get("env", {}).items()}
                command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
                log.write(f"\n$ {script}\n".encode())
                log.flush()
                limit = 60 * job.get("timeout-minutes", 360)
                try:
                    done = subprocess.run(
                        command, cwd=checkout, env={**variables, **own}, stdout=log, stderr=log, timeout=limit
                    )
                except subprocess.TimeoutExpired:
                    return f"not done in {limit // 60} minutes: {script.splitlines()[0]}", left_out
                if done.returncode:
                    return f"failed with {done.returncode}: {script.splitlines()[0]}", left_out
            elif uses:
                raise ValueError(f"no stand-in for the action {uses}")
    return "passed", left_out


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("jobs", nargs="*", help="workflow/job, or workflow/job/values of its matrix")
    parser.add_argument("--list", action="store_true", help="say which jobs there are, and run none")
    parser.add_argument("--logs", default="build/jobs", help="the folder for what the steps print")
    parser.add_argument("--without", action="append", default=[], metavar="WORD", help="leave out steps with this word")
    options = parser.parse_args()
    failed = 0
    for name, job, context in jobs():
        if options.jobs and not any(name == wanted or name.startswith(wanted + "/") for wanted in options.jobs):
            continue
        reason = why_not(job, context)
        if reason or options.list:
            print(f"{name:<40} {'-':>6}  {reason or 'can run'}", flush=True)
            continue
        path = Path(options.logs, f"{name.replace('/', '-')}.txt")
        path.parent.mkdir(parents=True, exist_ok=True)
        begin = time.monotonic()
        with open(path, "wb") as log:
            result, left_out = run(job, context, options.without, log)
        failed += result != "passed"
        left_out = f"; left out: {', '.join(left_out)}" if left_out else ""
        print(f"{name:<40} {time.monotonic() - begin:>6.0f}  {result}{left_out}", flush=True)
    return bool(failed)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a reader that stops reading, as `head` does, ends it without a word
    sys.exit(main())
