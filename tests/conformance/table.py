"""Write the page of the site, which tools pass which cases: PYTHONPATH=. python tests/conformance/table.py.

A tool's answers are those that the cases were made from; the textbook implementations are counted by the Python one,
whose counts test_runners.py finds with the others, too.
"""

import pathlib
import runpy
import sys

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "oracle")]

import beyond_cases  # noqa: E402
import bugs  # noqa: E402
import make_cases  # noqa: E402

RUNNERS = HERE / "runners"
PAGE = HERE.parents[1] / "docs" / "conformance.md"
LANGUAGES = {"python": "Python", "javascript": "JavaScript", "rust": "Rust", "go": "Go", "java": "Java"}
HEAD = """# Conformance suite

<!-- written by tests/conformance/table.py; do not edit -->

{count:,} small cases test implementations of nDCG, average precision and other metrics, in any language. A case has
judgments, a ranking, the metric in words and as options, and the expected value, as a decimal and as a hexadecimal
double. The values come from {tools} tools and versions, from definitions in plain Python, and from arithmetic by hand;
none comes from fastir's kernels. Version {version}, in the public domain (CC0 1.0).

The files are JSON Lines with a schema; a line format holds the same for languages without a JSON parser. They are
attached to each release as `ir-conformance-{version}.zip`, and are in `tests/conformance`, where the README describes
them. Runners in Python, JavaScript, Rust, Go and Java have at most 100 lines each. Put your implementation in place of
the textbook one beside the runner:

    python runners/python/run.py . my_module

The cases cover {about}.

The folder `beyond` has {beyond} more cases, with arithmetic by hand: ties, queries without an answer, forbidden
documents, evidence, clusters, nuggets, citations, costs and exposure.

## Tools

The answers of each tool to the cases of its convention; for a server, the answers of its source code. If a tool counts
every copy of a repeated document, computes in single precision or prints few digits, the expected value follows the
definition.

| tool | cases | passed | what fails, and why |
| --- | --- | --- | --- |
"""
IMPLEMENTATIONS = """
## Implementations

fastir takes part twice: by the name of the convention, and by the options that a case spells out (only a convention can
make a label of 0 relevant). The textbook implementations were written from the files.

| implementation | claimed | passed |
| --- | --- | --- |
"""
BUGS = """
## Bugs that it catches

Each bug is recreated as a wrong implementation of a few lines. The last columns say how many cases it claims to handle,
and how many of these it fails.

| bug | what was wrong | claimed | failed |
| --- | --- | --- | --- |
"""


def page():
    """The text of the page."""
    runner = runpy.run_path(str(RUNNERS / "python" / "run.py"))
    made = list(make_cases.all_cases())
    cases = [case for case, _ in made]
    tools = tools_of(made, runner)
    version = (HERE / "VERSION").read_text("utf-8").strip()
    about = ", ".join(sorted({about for case in cases for about in case["about"]}))
    beyond = len(beyond_cases.CASES)
    parts = [HEAD.format(count=len(cases), tools=len(tools), version=version, about=about, beyond=beyond)]
    parts += [row(tool, len(outcomes), *count_cells(outcomes)) for tool, outcomes in sorted(tools.items())]
    parts.append(IMPLEMENTATIONS)
    parts += [row(name, *counts(evaluate, cases, runner)) for name, evaluate in implementations()]
    parts.append(BUGS)
    for bug in bugs.BUGS:
        claimed, passed = counts(bug.evaluate, cases, runner)
        place = bug.link.replace("/issues/", "#").replace("/pull/", "#")
        parts.append(row(f"[{place}]({bugs.GITHUB}{bug.link})", bug.told, claimed, claimed - passed))
    return "".join(parts)


def tools_of(made, runner):
    """{tool and version: [(case, whether it passes)]} of all cases that a tool has answered."""
    found = {}
    for case, answer in made:
        if answer is not None:
            passes = not runner["failures"](case, answer)
            found.setdefault(case["version"], []).append((case, passes))
    return found


def count_cells(outcomes):
    """How many passed, and the metrics of the others with the reason that their source gives."""
    reasons = {}
    for case, passes in outcomes:
        if not passes:
            reason = case["source"].rpartition(", ")[2].removeprefix("which ")
            reasons.setdefault(reason, {})[case["metric"]] = None
    return sum(passes for _, passes in outcomes), "; ".join(
        f"{', '.join(f'`{metric}`' for metric in metrics)}: {reason}" for reason, metrics in sorted(reasons.items())
    )


def implementations():
    import contestants

    sys.path.insert(0, str(RUNNERS / "python"))
    import textbook

    yield "fastir, by convention", contestants.by_convention
    yield "fastir, by options", contestants.by_options
    yield from ((f"textbook, {name}", textbook.evaluate) for name in LANGUAGES.values())


def counts(evaluate, cases, runner):
    outcomes = [not wrong for _, wrong in runner["run"](evaluate, cases)]
    return len(outcomes), sum(outcomes)


def row(*cells):
    return "| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else cell for cell in cells) + " |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
