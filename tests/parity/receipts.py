"""The pages docs/exactness.md and exactness_values.md, and a badge: what run.py has compared, for anybody to repeat."""

import datetime
import platform
import re
from collections import Counter

import numpy as np
from ways import WAYS

import fastir

HEAD = """\
# Exactness

<!-- written by tests/parity/run.py --page; do not edit -->

*{date}, fastir {version}, {machine}: {compared:,} values compared with {peers}
tools on {collections:,} collections; {exact}.*

fastir computes the metrics of each tool under the rules that `convention=` names, through every kind of input: {ways}.
Collections are random, each generated from its number: ties, unjudged documents, negative labels, empty and missing
queries, ids that are not ASCII. Every tenth is a real one if the machine has some. Cases for which a tool has no answer
are removed first (`tests/parity/cases.py`).

A difference is relative to the value if that is above 1. **Largest** is the largest difference; it is **allowed** up to
the last digit that the tool prints or its float32 holds. **Known** values differ by more, for a reason that [every
metric and rule]({values}) states; **off** are the others.

To repeat it with the tools that you have installed: `python tests/parity/run.py --seconds 600 --seed {seed}`. A weekly
workflow does so with the newest release of each tool, on new collections every time, and fails if a value is off.
"""
VALUES_HEAD = """\
# Every metric and rule that was compared

<!-- written by tests/parity/run.py --page; do not edit -->

The tools of [Exactness]({short}), one by one: how many values of each metric were compared through each kind of input,
the largest difference, and why known ones differ.
"""


def family(metric):
    """The name of a metric for all its cutoffs."""
    return re.sub(r"(?<=[@_=])\d+(\.\d+)?(?![\w.])", lambda number: "x" if number[1] else "k", metric)


def number(value):
    return f"{value:,}" if value else "0"


def row(*cells):
    return "| " + " | ".join(str(cell).replace("|", r"\|") for cell in cells) + " |"


def table(head, rows):
    return "\n".join((row(*head), row(*("---" for _ in head)), *(row(*cells) for cells in rows)))


def gather(cells):
    """[(metric, rules, compared by input, known, off, largest difference)], the cutoffs of a metric together."""
    found = {}
    for (metric, rules), cell in cells.items():
        whole = found.setdefault((family(metric), rules), [Counter(), 0, 0, 0.0])
        whole[0].update(cell.compared)
        whole[1:] = whole[1] + cell.known, whole[2] + cell.off, max(whole[3], cell.largest)
    return [(*key, *whole) for key, whole in found.items()]


def of_peer(count):
    """The section of one tool."""
    ways = [way for way in WAYS if any(cell.compared[way] for cell in count.cells.values())]
    rows = [
        (f"`{metric}`", rules, *(number(compared[way]) for way in ways), f"{largest:.2g}", number(known), number(off))
        for metric, rules, compared, known, off, largest in gather(count.cells)
    ]
    lines = [f"## {count.name} {count.version}", table(("metric", "rules", *ways, "largest", "known", "off"), rows)]
    lines += [f"- {times:,} known: {reason}." for reason, times in count.known.items()]
    lines += [f"- Off: {line}." for line in count.first]
    return "\n\n".join(lines)


def verdict(counts):
    off = sum(count.off + count.refused for count in counts)
    return f"{off:,} off" if off else "none is off"


def values_page(counts, short):
    """The page of all metrics, in Markdown; `short` is the name of the short one."""
    return "\n\n".join((VALUES_HEAD.format(short=short).rstrip(), *map(of_peer, counts))) + "\n"


def page(counts, seed, values):
    """The short page, in Markdown; `values` is the name of the long one."""
    head = HEAD.format(
        date=datetime.datetime.now(datetime.UTC).date(), version=fastir.__version__,
        machine=f"NumPy {np.__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}",
        compared=sum(count.compared for count in counts), peers=len(counts),
        collections=sum(count.collections for count in counts), exact=verdict(counts), ways=", ".join(WAYS),
        seed=seed, values=values,
    )  # fmt: skip
    rows = [
        (
            *(f"{c.name} {c.version}", f"{number(c.compared)} in {number(c.collections)}", f"{c.largest:.2g}"),
            *(f"{c.within:.2g}", number(c.known.total()), number(c.off + c.refused)),
        )
        for c in counts
    ]
    columns = ("tool", "values, in collections", "largest", "allowed", "known", "off")
    return "\n\n".join((head.rstrip(), table(columns, rows))) + "\n"


BADGE = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label="exactness: {text}">
<rect width="70" height="20" fill="#555"/><rect x="70" width="{rest}" height="20" fill="{colour}"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="7" y="14" textLength="56">exactness</text><text x="77" y="14" textLength="{length}">{text}</text></g></svg>
"""


def badge(counts):
    """One line as SVG: how many values, and whether any is off."""
    compared = sum(count.compared for count in counts)
    text = f"{compared:,} values, {verdict(counts)}"
    rest = 14 + round(6.6 * len(text))
    colour = "#2a7f3f" if text.endswith("none is off") else "#b3261e"
    return BADGE.format(width=70 + rest, rest=rest, length=rest - 14, text=text, colour=colour)
