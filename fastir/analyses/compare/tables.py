"""The records of a comparison as tables of cells, of the runs or of the pairs, and as what JSON and TSV have."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fastir.analyses.compare.records import SIGN_CAN_CHANGE, TESTS, Pair
from fastir.rendering import Cell, Table
from fastir.rendering.text import distinct_texts, tsv_text
from fastir.request.directions import SIGNS, best_mean, higher_is_better

if TYPE_CHECKING:
    from fastir.analyses.compare.records import Mean, Method, System, Verdict

LETTERS = "abcdefghijklmnoprstuvwxyz"  # without q, of which few fonts have a superscript
NAMED_DIFFERENCES = 12  # differences that are named below a table
WIDTH = 100  # columns that a table of pairs in text may have
RELATIVE_NOISE = 1e-12  # relative differences up to this are rounding


def pair_lines(pairs: Sequence[Pair], segments: Mapping[Any, Sequence[Pair]]) -> str:
    """The pairs as tab-separated lines; numbers read back exactly. Pairs of segments come first, with their names."""
    fields = pairs[0]._fields if pairs else ()
    if not segments:
        return tsv_text([list(fields), *(list(map(str, pair)) for pair in pairs)])
    names = [*distinct_texts(segments, ["all"]).values(), "all"]
    rows = [(name, pair) for name, part in zip(names, [*segments.values(), pairs], strict=True) for pair in part]
    return tsv_text([["segment", *fields], *([segment, *map(str, pair)] for segment, pair in rows)])


# ---- contents --------------------------------------------------------------------------------------------------
def runs_table(
    means: Sequence[Mean | System],
    verdicts: Sequence[Verdict | Pair],
    intervals: Sequence[System],
    method: Method,
    digits: int,
    alpha: float,
    names: Mapping[Any, str] | None = None,
) -> Table:
    """A row for each run, a column for each metric; intervals, if there are any, in brackets; `names` of the runs."""
    bounds = {(system.run, system.metric): interval_text(system, digits) for system in intervals}
    runs = list(dict.fromkeys(mean.run for mean in means))
    metrics = list(dict.fromkeys(mean.metric for mean in means))
    names = distinct_texts(runs) if names is None else names
    labels = mark_labels(len(runs))
    places = {run: place for place, run in enumerate(runs)}
    beaten = find_beaten(verdicts, places, alpha)
    mean_of = {(mean.run, mean.metric): mean.mean for mean in means}
    best = {metric: best_mean([mean_of[run, metric] for run in runs], metric) for metric in metrics}
    rows = []
    for label, run in zip(labels, runs, strict=True):
        cells = [Cell(label), Cell(names[run])]
        for metric in metrics:
            mean = mean_of[run, metric]
            cells.append(
                Cell(
                    number(mean, digits),
                    marks_text(beaten.get((run, metric), []), labels),
                    bounds.get((run, metric), ""),
                    len(runs) > 1 and math.isclose(mean, best[metric], rel_tol=RELATIVE_NOISE, abs_tol=0.0),
                    repr(mean),
                )
            )
        rows.append(cells)
    notes = (
        [
            f"Best in bold; {'letters' if labels[0] == 'a' else 'numbers'} name the runs that a run is better than "
            f"({level_text(method, alpha)})."
        ]
        if verdicts
        else []
    )
    uncertain = [pair for pair in verdicts if isinstance(pair, Pair) and SIGN_CAN_CHANGE in pair.note]
    if uncertain:
        notes.append(sign_changes_text(uncertain, places, labels))
    if intervals:
        notes.append(f"{method.confidence:.0%} bootstrap intervals of the means in brackets.")
    return Table(["#", "run", *metrics], rows, 2, [*notes, str(method)])


def pairs_table(pairs: Sequence[Pair], method: Method, digits: int, alpha: float) -> Table:
    """A row for each pair of runs and metric, always with its interval."""
    head = ["metric", "a", "b", "a - b", f"{method.confidence:.0%} interval", "p", "effect", "w/t/l"]
    if method.correction:
        head.insert(6, "corrected p")
    noted = any(pair.note for pair in pairs)
    drawn = resamples_text(method)
    names = distinct_texts(dict.fromkeys(run for pair in pairs for run in (pair.a, pair.b)))
    rows = []
    for pair in pairs:
        difference = f"{pair.difference:+.{digits}f}" if pair.difference == pair.difference else "-"
        cells = [
            Cell(pair.metric),
            Cell(names[pair.a]),
            Cell(names[pair.b]),
            Cell(difference, strong=pair.adjusted_p <= alpha, exact=repr(pair.difference)),
            Cell(interval_text(pair, digits), exact=f"[{pair.low}, {pair.high}]"),
            Cell(p_text(pair, pair.p_value, drawn), exact=repr(pair.p_value)),
            Cell(number(pair.effect, 3), exact=repr(pair.effect)),
            Cell(f"{pair.wins}/{pair.ties}/{pair.losses}"),
            *[Cell(pair.note)] * noted,
        ]
        if method.correction:
            cells.insert(6, Cell(p_text(pair, pair.adjusted_p, drawn), exact=repr(pair.adjusted_p)))
        rows.append(cells)
    return Table([*head, *["note"] * noted], rows, 3, [f"Differences with p ≤ {alpha:g} in bold.", str(method)])


def fold_pairs(table: Table) -> Table:
    """A table of pairs for 100 columns: segment and metric once, and below it a legend of long names and of notes."""
    head, rows, notes, first = table.head, table.rows, table.notes, table.first
    texts = list(dict.fromkeys(row[-1].text for row in rows)) if head[-1] == "note" else []
    if len(texts) == 1:
        head, rows, notes = head[:-1], [row[:-1] for row in rows], [*notes, f"All pairs: {texts.pop()}."]
    names = list(dict.fromkeys(cell.text for row in rows for cell in row[first - 2 : first]))
    legends = [({first - 2, first - 1}, dict(zip(names, mark_labels(len(names)), strict=True)))]
    legends.append(({len(head) - 1}, {text: str(n) for n, text in enumerate(filter(None, texts), 1)}))
    for columns, mark in legends:
        width = sum(2 + max(map(len, [name, *(row[n].text for row in rows)])) for n, name in enumerate(head))
        if mark and width > WIDTH:
            rows = [[Cell(mark.get(c.text, "")) if n in columns else c for n, c in enumerate(row)] for row in rows]
            notes = [", ".join(f"{label}: {text}" for text, label in mark.items()), *notes]
    folded = []
    for above, row in zip([None, *rows], rows, strict=False):
        n_same = 0
        while above is not None and n_same < first - 2 and above[n_same] == row[n_same]:
            n_same += 1
        folded.append([*[Cell("")] * n_same, *row[n_same:]])
    return Table(head, folded, first, notes, table.title)


def sign_changes_text(uncertain: Sequence[Pair], places: dict[Any, int], labels: Sequence[str]) -> str:
    """Say which differences unjudged documents could change the sign of; how many, if these are many."""
    if len(uncertain) > NAMED_DIFFERENCES:
        return f"Unjudged documents could change the sign of {len(uncertain)} differences, as the pairs say."
    outcomes_by_metric: dict[str, list[str]] = {}
    for pair in uncertain:
        outcomes_by_metric.setdefault(pair.metric, []).append(f"{labels[places[pair.a]]} - {labels[places[pair.b]]}")
    which = "; ".join(f"{', '.join(differences)} ({metric})" for metric, differences in outcomes_by_metric.items())
    return f"Unjudged documents could change the sign of {which}."


def table_by_segment(segments: dict[Any, Table], whole: Table, macro: Table, methods: Sequence[Method]) -> Table:
    """The tables of the segments, of all queries, and of means over segments, one below the other.

    `methods` are the methods of the segments, and of the whole.
    """
    counts = [str(method.n_queries) for method in methods]
    names = [*distinct_texts(segments, ("all", "macro")).values(), "all", "macro"]
    noted = "note" if any("note" in table.head for table in segments.values()) else ""
    head = [*whole.head, *[noted] * (bool(noted) and "note" not in whole.head)]
    rows = [
        [Cell(name), Cell(count), *row, *[Cell("")] * (len(head) - len(row))]
        for name, count, table in zip(names, [*counts, ""], (*segments.values(), whole, macro), strict=True)
        for row in table.rows
    ]
    corrected = f"; in the segments {methods[0].corrected}" if methods[0].correction else ""
    notes = [*whole.notes[:-1], f"macro: the mean of the segments' means{corrected}.", whole.notes[-1]]
    return Table(["segment", "queries", *head], rows, whole.first + 2, notes)


def find_beaten(
    pairs: Sequence[Pair | Verdict], places: dict[Any, int], alpha: float
) -> dict[tuple[Any, str], list[int]]:
    """{(run, metric): the positions of the runs that it is significantly better than}."""
    beaten: dict[tuple[Any, str], list[int]] = {}
    for pair in pairs:
        sign = SIGNS[higher_is_better(pair.metric)]
        if pair.adjusted_p <= alpha and sign * pair.difference:
            better, worse = (pair.a, pair.b) if sign * pair.difference > 0 else (pair.b, pair.a)
            beaten.setdefault((better, pair.metric), []).append(places[worse])
    return beaten


def mark_labels(n: int) -> list[str]:
    """The labels of the runs in marks: letters if there are enough, else numbers."""
    return list(LETTERS[:n]) if n <= len(LETTERS) else [str(number) for number in range(1, n + 1)]


def marks_text(places: list[int], labels: Sequence[str]) -> str:
    """The labels of some runs: letters side by side, numbers with commas; neighbours, if longer, as a range."""
    comma, longest = ("", 3) if labels and labels[0] == LETTERS[0] else (",", 2)
    parts = []
    for _, group in itertools.groupby(enumerate(sorted(places)), lambda pair: pair[1] - pair[0]):
        run = [labels[place] for _, place in group]
        parts.append(f"{run[0]}-{run[-1]}" if len(run) > longest else comma.join(run))
    return comma.join(parts)


def interval_text(record: Pair | System, digits: int) -> str:
    return f"[{number(record.low, digits)}, {number(record.high, digits)}]"


def number(value: float, digits: int) -> str:
    return f"{value:.{digits}f}" if value == value else "-"


def default_level(method: Method) -> float:
    """The p-value up to which a difference is significant, unless the caller says otherwise."""
    return round(1 - method.confidence, 12)


def level_text(method: Method, alpha: float) -> str:
    """What significant means, "p ≤ 0.05, corrected"."""
    return f"p ≤ {alpha:g}{', corrected' if method.correction else ''}"


def resamples_text(method: Method) -> int:
    """The resamples of the test; an interval may be resampled where the test is not."""
    return method.n_resamples if TESTS[method.test].resampled else 0


def p_text(pair: Pair, p: float, n_resamples: int) -> str:
    """A p-value, never 0; one that none of the test's resamples reached is a bound."""
    if p != p:
        return "-"
    bound = "≤" if n_resamples and not pair.exact and pair.p_value * (n_resamples + 1) <= 1.5 else ""
    return bound + (f"{p:.4f}" if p >= 0.0001 else f"{p:.1e}")
