"""Keeps what the benches have measured, and writes docs/speed.md from it: every figure, losses first.

    pytest bench --benchmark-json=new.json      measures
    python bench/speed.py new.json              puts these figures into record.json, and writes the page
    python bench/speed.py                       writes the page

A figure keeps the commit and the date of its own run: a run of a part leaves the others as they are.
"""

import ast
import json
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
RECORD, PAGE = HERE / "record.json", HERE.parent / "docs" / "speed.md"
SHOWN = ("duckdb", "numpy", "pandas", "polars", "pyarrow", "pytrec-eval-terrier", "ranx", "scipy", "torch")
HEAD = """\
# Speed

<!-- written by bench/speed.py from bench/record.json; do not edit -->

*{counts}. Measured on {machine}; {versions}.*

Every test compares the answers first, then measures fastir and the other program in turns, in one process and on the
same input; a figure is the ratio of the medians, of processor time where it does not say *wall*. `met` and `MISSED` say
whether it is what was asked of fastir, `SLOWER` that nothing was asked and fastir takes longer. The commit is the tree
that was measured. How to read the figures, and what may not be concluded from them, is in `bench/README.md`.

To measure: `pip install -e ".[bench]"`, `pytest bench --benchmark-json=new.json`, `python bench/speed.py new.json`.
"""


def merged(record, new):
    """The record with the figures of a run in place of older ones."""
    run = {"commit": new["commit_info"]["id"], "date": new["datetime"][:10]}
    found = {bench["fullname"]: bench for bench in record["benchmarks"]}
    found |= {bench["fullname"]: {**bench, "measured": run} for bench in new["benchmarks"]}
    return {**new, "benchmarks": sorted(found.values(), key=lambda bench: bench["fullname"].partition("::")[0])}


def title(name):
    """What a file of benches says it measures: the first line of its docstring."""
    return ast.get_docstring(ast.parse((HERE.parent / name).read_text("utf-8"))).splitlines()[0].rstrip(".:")


def lines(bench):
    """(verdict, input, what was seen, what was asked, commit) for each figure of a bench."""
    from timing import in_words

    run = bench["measured"]
    for record in (*bench["extra_info"].get("comparisons", ()), *bench["extra_info"].get("amounts", ())):
        verdict, seen, asked = in_words(record)
        yield verdict, bench["group"], seen, asked or "", f"`{run['commit'][:7]}`"


def table(rows):
    head = ("", "input", "seen", "asked", "commit")
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows))


def page(record):
    """The page, in Markdown."""
    files = {}
    for bench in record["benchmarks"]:
        files.setdefault(bench["fullname"].partition("::")[0], []).extend(lines(bench))
    everything = [row for rows in files.values() for row in rows]
    verdicts = Counter(row[0] for row in everything)
    machine, dates = record["machine_info"], sorted({bench["measured"]["date"] for bench in record["benchmarks"]})
    versions = {name: machine["versions"][name] for name in SHOWN if name in machine["versions"]}
    head = HEAD.format(
        counts=f"{len(everything)} figures of {' to '.join(dict.fromkeys((dates[0], dates[-1])))}: "
        f"{verdicts['met']} met, {verdicts['MISSED']} MISSED, {verdicts['SLOWER']} SLOWER",
        machine=f"{machine['cpus']} processors ({machine['cpu']['brand_raw']}, {machine['simd']}), "
        f"{machine['system']}, Python {machine['python_version']}",
        versions=", ".join(f"{name} {version}" for name, version in versions.items()),
    )
    losses = [row for row in everything if row[0] in ("MISSED", "SLOWER")]
    sections = ["## Missed, or slower\n\n" + table(losses)]
    sections += [f"## {title(name)}\n\n{table(rows)}" for name, rows in files.items()]
    return "\n\n".join((head.rstrip(), *sections)) + "\n"


def main():
    record = json.loads(RECORD.read_text("utf-8"))
    for path in sys.argv[1:]:
        record = merged(record, json.loads(Path(path).read_text("utf-8")))
        RECORD.write_text(json.dumps(record, indent=4) + "\n", "utf-8")
    PAGE.write_text(page(record), "utf-8")


if __name__ == "__main__":
    main()
