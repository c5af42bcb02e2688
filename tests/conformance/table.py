"""Write the page of the site, which tools pass which cases: PYTHONPATH=. python tests/conformance/table.py.

A tool's answers are those that the cases were made from; the textbook implementations are counted by the Python one,
whose counts test_runners.py finds with the others, too.
"""

import pathlib
import runpy
import sys

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "oracle")]

import bugs  # noqa: E402
import make_cases  # noqa: E402

RUNNERS = HERE / "runners"
PAGE = HERE.parents[1] / "docs" / "conformance.md"
LANGUAGES = {"python": "Python", "javascript": "JavaScript", "rust": "Rust", "go": "Go", "java": "Java"}
HEAD = """# Conformance suite

<!-- written by tests/conformance/table.py; do not edit -->

Implementations of nDCG, average precision and the others, in any language, can be tried by {count:,} small cases:
judgments, a ranking, the metric in words and as options, and the value that it should have, as a decimal and as a
hexadecimal double. The values are the answers of {tools} tools and versions, the definitions in plain Python, and
arithmetic by hand; none comes from fastir's kernels. Version {version}, in the public domain (CC0 1.0).

The files are JSON Lines with a schema, and the same in a line form for languages without a parser of JSON. They are
attached to each release as `ir-conformance-{version}.zip`, and lie in `tests/conformance`, where the README says how
they are read. Runners in Python, JavaScript, Rust, Go and Java have at most 100 lines each; put your
implementation in the place of the textbook one beside them:

    python runners/python/run.py . my_module

The cases are about {about}.

## Tools

What a tool itself answers to the cases of its convention; of a server, what its source computes. Where a tool counts
every copy of a repeated document, computes in single precision or prints few digits, the definition is expected.

| tool | cases | passed | what fails, and why |
| --- | --- | --- | --- |
"""
IMPLEMENTATIONS = """
## Implementations

fastir is one contestant, by the name of the convention and by the options that a case spells out (a label of 0 that is
relevant is a choice of conventions alone). The textbook implementations were written from the files.

| implementation | claimed | passed |
| --- | --- | --- |
"""
BUGS = """
## Bugs that it catches

Each is re-created as a wrong implementation of a few lines; the last columns say how many cases it claims, and how many
of them it fails.

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
    parts = [HEAD.format(count=len(cases), tools=len(tools), version=version, about=about)]
    parts += [row(tool, len(outcomes), *told(outcomes)) for tool, outcomes in sorted(tools.items())]
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


def told(outcomes):
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
