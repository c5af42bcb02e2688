"""Runs the test suites of the projects that fastir stands in for, without and with it, and compares test by test.

    python tests/downstream/run.py                         every project, and the table
    python tests/downstream/run.py beir mteb               some
    python tests/downstream/run.py --record tests/downstream/record.json     ... and writes what was seen

Each project is a folder of projects/: project.toml says what is installed, where its tests come from, how fastir goes
under it and what is known to fail; step.py is its metric step, which is timed. An environment of its own is made for
each in --folder, with the newest release. A suite counts if fastir was called in it. The exit code is 1 if a test that
passes without fastir does not pass with it, and the project's file does not say why.

Projects are cloned from their repositories at the tag of the release, or, with --clones, from a folder of clones by
name. fastir is this tree, built in place, or --wheel.
"""

import argparse
import datetime
import fnmatch
import json
import math
import os
import platform
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROJECTS = HERE / "projects"
PASSED = ("passed", "xfailed")
MINUTES = 30  # for one run of a suite


def main():
    options = arguments().parse_args()
    folder = Path(options.folder).resolve()
    names = options.projects or sorted(path.parent.name for path in PROJECTS.glob("*/project.toml"))
    record = {}
    if options.record and Path(options.record).is_file():
        record = json.loads(Path(options.record).read_text("utf-8"))
    failed = False
    for name in names:
        try:
            seen = Project(name, folder, options).run()
        except subprocess.CalledProcessError as error:
            seen = {"stopped": f"{Path(error.cmd[0]).name} {error.cmd[1]} ended with {error.returncode}"}
            print(f"{name}: {seen['stopped']}\n{error.stderr or ''}"[-2000:], file=sys.stderr)
            failed = True
        for way, side in seen.get("ways", {}).items():
            unexplained = [test for test, reason in side["lost"].items() if not reason]
            failed |= bool(unexplained) or ("tests" in seen and not side["calls"])
            print(f"{name}, {way}: passed {side['passed']}, lost {len(side['lost'])}, calls {side['calls']}")
            print(*(f"  lost: {test}" for test in unexplained), sep="\n")
        record[name] = seen
        if options.record:
            write_record(Path(options.record), record)
    sys.path.insert(0, str(HERE))
    from page import table

    print("\n".join(table(record)))
    return int(failed)


def write_record(path, record):
    """A line a project."""
    rows = (f"{json.dumps(name)}: {json.dumps(seen, ensure_ascii=False)}" for name, seen in sorted(record.items()))
    path.write_text("{\n" + ",\n".join(rows) + "\n}\n", "utf-8")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("projects", nargs="*", help="names of folders of projects/; none: all")
    parser.add_argument("--folder", default=ROOT / "build" / "downstream", help="for environments and sources")
    parser.add_argument("--clones", help="a folder of clones, by project, instead of the network")
    parser.add_argument("--keep", action="store_true", help="use environments that are there as they are")
    parser.add_argument("--wheel", help="of fastir; otherwise this tree, built in place")
    parser.add_argument("--record", help="a JSON file in which the projects that run are replaced")
    return parser


def read(name):
    """What the file of a project says."""
    return tomllib.loads((PROJECTS / name / "project.toml").read_text("utf-8"))


class Project:
    """One project in its environment."""

    def __init__(self, name, folder, options):
        self.name, self.options, self.spec = name, options, read(name)
        self.home = folder / name
        self.python = self.home / "env" / "bin" / "python"

    def run(self):
        """What was seen, or the reason for nothing."""
        if sys.version_info < tuple(map(int, self.spec.get("python", "3.11").split("."))):
            return {"stopped": f"needs Python {self.spec['python']} or later"}
        self.install()
        version = self.version()
        seen = {"version": version, "python": platform.python_version(), "date": f"{datetime.date.today()}"}
        if "tests" in self.spec:
            seen["source"] = self.fetch(version)
            without = self.suite("without")["outcomes"]
            seen |= {"tests": 0, "passed": count(without), "fails_without": self.fails(without)}
        else:
            without = {}
        tests = set(without)
        first, seen["ways"] = self.step("without"), {}
        seen |= {key: first[key] for key in ("seconds", "megabytes") if first}
        for way, under in self.spec["under"].items():
            with self.patched(under.get("patch")):
                side = self.suite(way) if without else {"outcomes": {}, "calls": {}}
                step = self.step(way)
            outcomes = side["outcomes"]
            tests |= outcomes.keys()
            lost = [test for test, outcome in without.items() if outcome in PASSED and outcomes.get(test) not in PASSED]
            seen["ways"][way] = {
                "passed": count(outcomes),
                "lost": {test: reason(test, self.spec.get("differs", {})) for test in lost},
                "gained": sorted(
                    test for test, outcome in outcomes.items() if outcome in PASSED and without.get(test) not in PASSED
                ),
                "calls": sum(side["calls"].values()),
                "functions": dict(sorted(side["calls"].items())),
            }
            seen["ways"][way] |= {key: step[key] for key in ("seconds", "megabytes") if step}
            if first and step:
                seen["ways"][way]["largest_difference"] = largest_difference(first["values"], step["values"])
        if tests:
            seen["tests"] = sum("::" in test for test in tests)  # others are files that could not be read
        return seen

    # ---- the environment -------------------------------------------------------------------------------------------
    def install(self):
        if self.options.keep and self.python.exists():
            return
        if not self.python.exists():
            venv.create(self.home / "env", with_pip=True)
        wanted = ["--no-compile", *self.spec["install"], "pytest"]
        self.call("-m", "pip", "install", "--quiet", "--upgrade", "--upgrade-strategy", "only-if-needed", *wanted)
        if self.options.wheel:
            self.call("-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps", self.options.wheel)
        else:
            link = self.packages() / "fastir"
            link.unlink(missing_ok=True)
            link.symlink_to(ROOT / "fastir")

    def packages(self):
        return Path(self.call("-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())

    def version(self):
        return self.call(
            "-c", f"from importlib import metadata; print(metadata.version({self.spec['package']!r}))"
        ).strip()

    def fetch(self, version):
        """Have the tests in self.home/source, and not the package: the release is tested. Returns their origin."""
        source = self.spec["source"]
        place = self.home / "source"
        shutil.rmtree(place, ignore_errors=True)
        if "package" in source:  # the tests are in the package
            place.mkdir(parents=True)
            return f"the package {source['package']}"
        lean = ["--quiet", "--depth", "1", "--filter=blob:none", "--no-checkout"]
        origin, tag = self.origin(source), source.get("tag", "").format(version=version)
        listed = ["git", "ls-remote", "--exit-code", "--tags", origin, tag]
        tagged = tag and subprocess.run(listed, capture_output=True, check=False).returncode == 0
        called("git", "clone", *lean, *(["--branch", tag] if tagged else []), origin, place)
        called("git", "-C", place, "checkout", "--quiet", "HEAD", "--", *source["paths"])
        for name, each in source.get("submodules", {}).items():  # at the commit that the project names, if it is there
            commit = called("git", "-C", place, "ls-tree", "HEAD", name).split()[2]
            called("git", "clone", *lean, self.origin(each), place / name)
            fetch = ["git", "-C", place / name, "fetch", "--quiet", "--depth", "1", "origin", commit]
            there = subprocess.run(fetch, capture_output=True, check=False).returncode == 0
            at = "FETCH_HEAD" if there else "HEAD"
            called("git", "-C", place / name, "checkout", "--quiet", at, "--", *each["paths"])
        at = tag if tagged else called("git", "-C", place, "log", "-1", "--format=%h of %cs").strip()
        return f"{source['repository'].partition('://')[2]}, {at}"

    def origin(self, source):
        """The repository, or the clone of it that is at hand."""
        name = source["repository"].rpartition("/")[2]
        return Path(self.options.clones).resolve() / name if self.options.clones else source["repository"]

    def patched(self, patch):
        return Patched(self, patch)

    # ---- runs ------------------------------------------------------------------------------------------------------
    def suite(self, way):
        """Outcomes by test, and calls of fastir by function."""
        found = self.home / f"{way}.json"
        found.unlink(missing_ok=True)
        tests, source = self.spec["tests"], self.home / "source"
        wanted = [each for argument in tests["run"] for each in (sorted(source.glob(argument)) or [argument])]
        command = [self.python, "-P", "-m", "pytest", "-q", "-p", "fastir_under", "-p", "no:cacheprovider", *wanted]
        log = self.home / f"{way}.log"
        with log.open("w") as out:
            subprocess.run(
                list(map(str, command)), cwd=source, env=self.environment(way, found) | tests.get("environment", {}),
                stdout=out, stderr=subprocess.STDOUT, timeout=60 * MINUTES, check=False,
            )  # fmt: skip
        if not found.is_file():
            raise subprocess.CalledProcessError(1, ["pytest", way], stderr=log.read_text("utf-8", "replace"))
        return json.loads(found.read_text("utf-8"))

    def step(self, way):
        """Seconds, megabytes and values of the metric step; nothing where there is none, or where it fails."""
        if not (PROJECTS / self.name / "step.py").is_file():
            return {}
        script = HERE / "inside" / "metric_step.py"
        try:
            printed = self.call(script, PROJECTS / self.name, way, env=self.environment(way, os.devnull))
        except subprocess.CalledProcessError as error:
            print(f"{self.name}, {way}: the metric step failed: {error.stderr[-500:]}", file=sys.stderr)
            return {}
        return json.loads(printed.splitlines()[-1])

    def environment(self, way, found):
        own = {
            "PYTHONPATH": os.pathsep.join([str(HERE / "inside"), *self.spec.get("tests", {}).get("path", ())]),
            "PYTHONDONTWRITEBYTECODE": "1", "FASTIR_PROJECT": str(PROJECTS / self.name), "FASTIR_WAY": way,
            "FASTIR_OUTCOMES": str(found), "PATH": f"{self.python.parent}{os.pathsep}{os.environ['PATH']}",
        }  # fmt: skip
        for threads in ("OMP", "MKL", "OPENBLAS", "NUMBA", "FASTIR"):
            own[f"{threads}_NUM_THREADS"] = "1"
        return {**os.environ, **own}

    def fails(self, outcomes):
        """{test that does not pass without fastir: why, as the project's file says}"""
        known = self.spec.get("fails_without", {})
        return {test: reason(test, known) for test, seen in outcomes.items() if seen in ("failed", "error")}

    def call(self, *command, env=None):
        return called(self.python, *command, env=env)


class Patched:
    """The patch of a project applied to its installed package for the length of a with block."""

    def __init__(self, project, patch):
        self.patch = patch and PROJECTS / project.name / patch
        self.target = patch and project.packages()

    def __enter__(self):
        if self.patch:
            called("patch", "--forward", "-p1", "-d", self.target, "-i", self.patch)

    def __exit__(self, *_):
        if self.patch:
            called("patch", "--force", "-R", "-p1", "-d", self.target, "-i", self.patch)


def called(*command, env=None):
    """What a command prints; it raises CalledProcessError if it fails."""
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, env=env, check=True).stdout


def count(outcomes):
    return sum(outcome in PASSED for outcome in outcomes.values())


def reason(test, known):
    """What the first pattern that a test matches says; "" if none does."""
    return next((why for pattern, why in known.items() if fnmatch.fnmatchcase(test, pattern.replace("[", "[[]"))), "")


def largest_difference(theirs, ours):
    """Of two answers with the same names; a name that one of them lacks is infinitely off."""
    if theirs.keys() != ours.keys():
        return math.inf
    pairs = ((theirs[name], ours[name]) for name in theirs)
    return max(
        (0.0 if one == other or (one != one and other != other) else abs(one - other) for one, other in pairs),
        default=0.0,
    )


if __name__ == "__main__":
    sys.exit(main())
