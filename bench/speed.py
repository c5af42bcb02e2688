"""Keeps what the benches measured, and writes pages of docs/ from it: speed.md, speed_figures.md, time_to_answer.md.

    python bench/speed.py --measure             measures all files, each in a process of its own, and keeps the figures
    python bench/speed.py --measure lists odd   the same for some of the files
    python bench/speed.py --measure lists -- --rounds 3     with options of pytest: in minutes on a busy machine
    pytest bench --benchmark-json=new.json      measures
    python bench/speed.py new.json              puts these figures into record.json, and writes the pages
    python bench/speed.py                       writes the pages

A figure keeps the commit, the date and the load average of its own run: a run of a part leaves the others as they are.
A file that was measured as a whole has no older figures; it is kept as soon as it is measured, so a run that breaks off
can go on.
"""

import ast
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
RECORD, PAGE = HERE / "record.json", HERE.parent / "docs" / "speed.md"
FIGURES, ANSWERS = PAGE.with_name("speed_figures.md"), PAGE.with_name("time_to_answer.md")
# What no program is below, and nobody would use.
LIMITS = ("reading", "C walk", "a plain loop", "unpacking", "both", "counting the rows")
CONVERTED = ", converted first"  # how a contender ends that is fastir itself, with its input made by the caller
SHOWN = ("duckdb", "numpy", "pandas", "polars", "pyarrow", "pytrec-eval-terrier", "ranx", "scipy", "torch")
HEAD = """\
# Speed: how fast is fastir

<!-- written by bench/speed.py from bench/record.json; do not edit -->

The bars are the times of other programs for the same numbers, relative to fastir's.

<picture>
<source media="(prefers-color-scheme: dark)" srcset="pictures/speed-dark.svg">
<img alt="Time of other programs relative to fastir, on one thread" src="pictures/speed.svg">
</picture>

*Measured on {machine}; {versions}.*

## Where another program is faster

{slower}

## How many times as fast as another program

Each row is a file of benchmarks. A figure of 2 means that fastir is twice as fast as the other program. Both run in
turns, in one process, on the same input, after their answers were compared.

{table}

## More

- [Latency](time_to_answer.md): how long one call takes, the slower calls first.
- [Every figure](speed_figures.md), with its goal, commit and versions.
- To measure on your machine: `pip install -e . --group bench`, `pytest bench`.
"""
FIGURES_HEAD = """\
# Every figure of speed

<!-- written by bench/speed.py from bench/record.json; do not edit -->

*{counts}. Measured on {machine}; {versions}.*

[Speed](speed.md) is the short page. Every test compares the answers first. Then it measures fastir and the other
program in turns, in one process and on the same input. A figure is the ratio of the medians, of processor time where
it does not say *wall*. `met` and `MISSED` say whether the goal was reached, `SLOWER` that there was no goal
and fastir takes longer, `busy` that other work shared the processors. The commit is the tree that was measured.
`bench/README.md` says how to read the figures, and what may not be concluded from them.

To measure: `pip install -e . --group bench`, `python bench/speed.py --measure`.
"""
ANSWERS_HEAD = """\
# Latency

<!-- written by bench/speed.py from bench/record.json; do not edit -->

*How long one call takes, from the caller's data to all values, beside another program: five metrics, unless
said otherwise. {counts}. Measured on {machine}.*

Each row has the way of calling with which fastir does worst on this input. Slower calls come first. Trust one digit of
figures below 3. [Every figure](speed_figures.md) has versions and commits.
"""
SECTIONS = (
    ("Slower", 0.0, 1.0), ("Less than 3 times as fast", 1.0, 3.0), ("3 times as fast and more", 3.0, float("inf")),
)  # fmt: skip


def merged(record, new):
    """The record with the figures of a run, which pytest-benchmark wrote, in place of older ones."""
    machine, older = new["machine_info"], record["machine_info"]
    run = {"commit": new["commit_info"]["id"], "date": new["datetime"][:10], "load": round(machine["load_average"][0])}
    kept = {key: machine[key] for key in ("cpus", "simd", "system", "python_version")}
    kept["cpu"] = {"brand_raw": machine["cpu"]["brand_raw"]}
    kept["versions"] = {**older["versions"], **machine["versions"]}
    found = {bench["fullname"]: bench for bench in record["benchmarks"]}
    for bench in new["benchmarks"]:
        read = {key: bench[key] for key in ("fullname", "group", "extra_info")}
        found[bench["fullname"]] = {**read, "measured": run}
    benches = sorted(found.values(), key=lambda bench: bench["fullname"].partition("::")[0])
    return {"machine_info": kept, "benchmarks": benches}


def files():
    """The files of benches, as they are named in the record."""
    return sorted(f"{HERE.name}/{path.name}" for path in HERE.glob("bench_*.py"))


def without_figures(record):
    """The files of benches of which the record has nothing."""
    measured = {bench["fullname"].partition("::")[0] for bench in record["benchmarks"]}
    return [name for name in files() if name not in measured]


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


def machine_of(record):
    machine = record["machine_info"]
    loads = sorted({bench["measured"]["load"] for bench in record["benchmarks"] if "load" in bench["measured"]})
    load = f", load average {' to '.join(dict.fromkeys((str(loads[0]), str(loads[-1]))))}" if loads else ""
    return (
        f"{machine['cpus']} processors ({machine['cpu']['brand_raw']}, {machine['simd']}{load}), "
        f"{machine['system']}, Python {machine['python_version']}"
    )


def versions_of(record):
    versions = record["machine_info"]["versions"]
    return ", ".join(f"{name} {versions[name]}" for name in SHOWN if name in versions)


def against_others(record):
    """{file of benches: [times as fast]} of all comparisons with other programs."""
    found = {}
    for bench in record["benchmarks"]:
        for goal in bench["extra_info"].get("comparisons", ()):
            if goal["ours"].startswith("fastir") and is_other_program(goal["peer"]):
                found.setdefault(bench["fullname"].partition("::")[0], []).append(goal["seen"])
    return found


def is_other_program(peer):
    return not peer.startswith(("fastir", *LIMITS)) and not peer.endswith(CONVERTED)


def page(record):
    """The short page, in Markdown."""
    rows = [
        f"| {title(name).partition(':')[0]} | {len(seen)} | {min(seen):.3g} | {statistics.median(seen):.3g} | "
        f"{max(seen):.3g} |"
        for name, seen in sorted(against_others(record).items(), key=lambda item: -len(item[1]))
    ]
    slower = [
        f"| {group} | {ours} | {peer} | {ratio:.3g} |"
        for ratio, group, ours, _, peer, _ in answers(record)
        if ratio < 1.0
    ]
    return HEAD.format(
        machine=machine_of(record),
        versions=versions_of(record),
        table="\n".join(("| what | figures | least | median | most |", "|" + " --- |" * 5, *rows)),
        slower="\n".join(("| input | way of calling | program | times as fast |", "|" + " --- |" * 4, *slower)),
    )


def figures_page(record):
    """The page of all figures, in Markdown."""
    by_file = {}
    for bench in record["benchmarks"]:
        by_file.setdefault(bench["fullname"].partition("::")[0], []).extend(lines(bench))
    everything = [row for rows in by_file.values() for row in rows]
    verdicts = Counter(row[0] for row in everything)
    dates = sorted({bench["measured"]["date"] for bench in record["benchmarks"]})
    head = FIGURES_HEAD.format(
        counts=f"{len(everything)} figures of {' to '.join(dict.fromkeys((dates[0], dates[-1])))}: "
        f"{verdicts['met']} met, {verdicts['MISSED']} MISSED, {verdicts['SLOWER']} SLOWER",
        machine=machine_of(record),
        versions=versions_of(record),
    )
    losses = [row for row in everything if row[0] in ("MISSED", "SLOWER")]
    absent = without_figures(record)
    sections = ["No figures yet: " + ", ".join(f"`{name}`" for name in absent) + "."] if absent else []
    sections += ["## Missed, or slower\n\n" + table(losses)]
    sections += [f"## {title(name)}\n\n{table(rows)}" for name, rows in by_file.items()]
    return "\n\n".join((head.rstrip(), *sections)) + "\n"


def answers(record):
    """(ratio, input, way of calling, seconds, program, its seconds) of each input and program, the worst first."""
    worst = {}
    for bench in record["benchmarks"]:
        contenders = bench["extra_info"].get("contenders", {})
        for goal in bench["extra_info"].get("comparisons", ()):
            ours, peer, clock = goal["ours"], goal["peer"], goal["clock"]
            if ours.startswith("fastir") and is_other_program(peer):
                row = goal["seen"], bench["group"], ours, contenders[ours][clock], peer, contenders[peer][clock]
                key = bench["group"], peer.partition(",")[0]
                worst[key] = min(worst.get(key, row), row)
    return sorted(worst.values())


def seconds(number):
    unit, scale = next(
        (unit, scale)
        for unit, scale in (("s", 1.0), ("ms", 1e-3), ("\N{GREEK SMALL LETTER MU}s", 0.0))
        if number >= scale
    )
    return f"{number / (scale or 1e-6):.3g} {unit}"


def answers_page(record):
    """The page of times to answer, in Markdown."""
    rows = answers(record)
    slower = sum(row[0] < 1.0 for row in rows)
    parts = [
        ANSWERS_HEAD.format(
            counts=f"{len(rows)} inputs and programs: {slower} slower", machine=machine_of(record)
        ).rstrip()
    ]
    for name, low, high in SECTIONS:
        shown = [
            f"| {group} | {ours} | {seconds(own)} | {peer} | {seconds(other)} | {ratio:.3g} |"
            for ratio, group, ours, own, peer, other in rows
            if low <= ratio < high
        ]
        head = ("| input | way of calling | time | beside | its time | times as fast |", "|" + " --- |" * 6)
        parts.append(f"## {name}\n\n" + "\n".join((*head, *shown)))
    return "\n\n".join(parts) + "\n"


def in_lines(record):
    """The record as JSON with a line for each measurement."""
    machine = json.dumps(record["machine_info"])
    benches = ",\n".join(map(json.dumps, record["benchmarks"]))
    return f'{{"machine_info": {machine},\n"benchmarks": [\n{benches}\n]}}\n'


def keep(record):
    RECORD.write_text(in_lines(record), "utf-8")
    PAGE.write_text(page(record), "utf-8")
    FIGURES.write_text(figures_page(record), "utf-8")
    ANSWERS.write_text(answers_page(record), "utf-8")


def measure(record, names, options=()):
    """Measure files, one after the other, with options of pytest; the record with their figures, kept after each.

    A file of which a test fails, or all are skipped, keeps the figures that it has.
    """
    for name in names:
        begun = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "new.json"
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", name, f"--benchmark-json={path}"]
            failed = subprocess.run([*command, *options], cwd=HERE.parent).returncode
            new = json.loads(path.read_text("utf-8") or "null") if path.is_file() else None
        print(f"{name}: {time.monotonic() - begun:.0f} s{', not kept' if failed or not new else ''}", flush=True)
        if failed or not new:
            continue
        older = [bench for bench in record["benchmarks"] if bench["fullname"].partition("::")[0] != name]
        record = merged({**record, "benchmarks": older}, new)
        keep(record)
    return record


def main():
    record = json.loads(RECORD.read_text("utf-8"))
    if sys.argv[1:2] == ["--measure"]:
        end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
        chosen = [name.removeprefix("bench/").removeprefix("bench_").removesuffix(".py") for name in sys.argv[2:end]]
        wanted = [f"{HERE.name}/bench_{name}.py" for name in chosen] or files()
        unknown = [name for name in wanted if name not in files()]
        if unknown:
            raise SystemExit(f"no such file: {', '.join(unknown)}")
        record = measure(record, wanted, sys.argv[end + 1 :])
    else:
        for path in sys.argv[1:]:
            record = merged(record, json.loads(Path(path).read_text("utf-8")))
    keep(record)
    absent = without_figures(record)
    if absent:
        print(f"no figures yet: {' '.join(absent)}")


if __name__ == "__main__":
    main()
