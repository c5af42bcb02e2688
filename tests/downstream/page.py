"""docs/downstream.md from record.json and the projects' files.

python tests/downstream/page.py > docs/downstream.md
"""

import json
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
HEAD = (
    "project", "tests passed, without", "with fastir", "calls of fastir",
    "metric step, s, without", "with", "memory, MB, without", "with", "packages that may go",
)  # fmt: skip
OPENING = """\
# Under other projects

fastir stands in for parts of other projects. Here the test suites of these projects run without fastir and with it, and
are compared test by test. Each runs in its own environment, with the newest release that this Python can install. A
suite counts if some of its tests pass without fastir, and if it calls fastir. The workflow *downstream* runs all suites
every week, with the newest releases.

Written by `python tests/downstream/page.py` from `tests/downstream/record.json`.
"""
ABOUT_STEPS = """\
The metric step is the project's own call on synthetic data of 500 queries with 100 or 1000 documents each. Its time is
processor time in one thread: the smallest of five calls after a first one. Memory is what the first call added. Both
sides gave the same values unless the list below says otherwise. A package may go if nothing else needs it; with
`install` the project itself still imports it.
"""


def projects():
    """{name: what its file says}, in the order of names."""
    paths = sorted(HERE.glob("projects/*/project.toml"))
    return {path.parent.name: tomllib.loads(path.read_text("utf-8")) for path in paths}


def table(record):
    """The lines of the table: a row for each way in which fastir went under a project."""
    yield f"| {' | '.join(HEAD)} |"
    yield f"|---|{'---:|' * (len(HEAD) - 2)}---|"
    for name, spec in projects().items():
        seen = record.get(name, {})
        for way, side in seen.get("ways", {}).items():
            nothing = "not run" if "tests" in spec else "no tests"
            packages = ", ".join(spec["under"][way].get("may_go", ())) or "–"
            cells = [
                f"{spec['title']} {seen['version']}, {spec['under'][way]['told']}",
                f"{seen['passed']} of {seen['tests']}" if seen.get("tests") else nothing,
                f"{side['passed']} of {seen['tests']}" if seen.get("tests") else "–",
                str(side["calls"]) if seen.get("tests") else "–",
                *(figure(key, each.get(key)) for key in ("seconds", "megabytes") for each in (seen, side)),
                packages,
            ]
            yield f"| {' | '.join(cells)} |"


def figure(key, value):
    if value is None:
        return "–"
    return f"{value:.4f}" if key == "seconds" else f"{value:.1f}"


def page(record):
    """The whole page."""
    suites = [
        (name, side)
        for name, seen in record.items()
        for side in seen.get("ways", {}).values()
        if side["calls"] and seen["passed"]
    ]
    whole = [name for name, side in suites if not side["lost"]]
    lines = [
        OPENING, f"{len({name for name, _ in suites})} suites count, and {len(set(whole))} of them lost no test.", "",
        *table(record), "", ABOUT_STEPS, *section("Lost tests, and why", lost(record)),
        *section("Values that differ", differing(record)),
        *section("Metric steps that gain little, and why", limits()),
        *section("Tests that fail without fastir too", failing(record)),
        *section("Suites that did not run", stopped(record)), "## What was run", "",
        "| project | tests from | Python | day |", "|---|---|---|---|",
    ]  # fmt: skip
    for name, spec in projects().items():
        seen = record.get(name, {})
        if "version" in seen:
            source = seen.get("source", "–")
            lines.append(f"| {spec['title']} {seen['version']} | {source} | {seen['python']} | {seen['date']} |")
    return "\n".join(lines) + "\n"


def section(title, rows):
    rows = list(rows)
    return [f"## {title}", "", *rows, ""] if rows else []


def lost(record):
    for name, way, side in ways(record):
        for test, reason in side["lost"].items():
            yield f"- {name}, {way}: `{test.rpartition('::')[2]}`: {reason}"


def differing(record):
    for name, way, side in ways(record):
        if side.get("largest_difference"):
            reason = projects()[name].get("step_differs", "")
            yield f"- {name}, {way}: by {side['largest_difference']:.1g} at most. {reason}".rstrip()


def limits():
    for name, spec in projects().items():
        if limit := spec.get("step_limit"):
            yield f"- {name}: {limit}."


def failing(record):
    for name, seen in record.items():
        reasons = {}
        for test, reason in seen.get("fails_without", {}).items():
            reasons.setdefault(reason, []).append(f"`{test.rpartition('::')[2]}`")
        for reason, tests in reasons.items():
            shown = ", ".join(tests[:3]) + (f" and {len(tests) - 3} more" if len(tests) > 3 else "")
            yield f"- {name}: {shown}: {reason}"


def stopped(record):
    for name, spec in projects().items():
        if why := spec.get("cannot", record.get(name, {}).get("stopped")):
            yield f"- {spec['title']}: {why}."


def ways(record):
    return [(name, way, side) for name, seen in record.items() for way, side in seen.get("ways", {}).items()]


if __name__ == "__main__":
    sys.stdout.write(page(json.loads((HERE / "record.json").read_text("utf-8"))))
