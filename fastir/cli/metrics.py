"""The subcommands `fastir metrics` and `conventions`: the metrics, and the tools that fastir reproduces."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Sequence
from typing import Any

import fastir
from fastir.analyses.agreement import measures
from fastir.cli.arguments import argument_errors
from fastir.cli.terminal import Output, UsageError
from fastir.engine.measure.cards import Card
from fastir.request.conventions import CONVENTIONS

MARKDOWN = "markdown"
LIST_WIDTH = 100  # of the list of metrics
Entries = Sequence[tuple[str, ...]]


def metrics_command(options: argparse.Namespace) -> Output:
    check_one_way(options)
    if options.names:
        with argument_errors():
            return Output(meanings_text(options.names, options.bibtex))
    if options.format == MARKDOWN:
        from fastir.cli.pages import reference

        return Output(reference())
    word = (options.search or "").lower()
    metrics: Entries = [(metric_pattern(card), card.relevance, card.order, about(card)) for card in fastir.metrics()]
    similar: Entries = [(metric_pattern(measure), measure.summary) for measure in measures.MEASURES.values()]
    heads = ("metric", "relevance", "first k", "what it is"), ("of two runs", "how alike they are, by similarity")
    tables = []
    for head, entries in zip(heads, (metrics, similar), strict=True):
        if matches := [entry for entry in entries if word in entry[0].lower() or word in entry[-1].lower()]:
            tables.append(align_columns([head, *matches]))
    if not tables:
        raise UsageError(f"no metric has {options.search!r} in its name or description")
    return Output("\n".join(tables))


def metric_pattern(card: Card) -> str:
    """Return a metric's name and the optional parts of it."""
    needed = ", ".join(f"{param.name}=..." for param in card.params if param.required)
    return card.name + f"({needed})" * bool(needed) + f"[{card.place()}]" * bool(card.place())


def about(card: Card) -> str:
    return f"{card.summary} (also {', '.join(card.aliases)})" if card.aliases else card.summary


def check_one_way(options: argparse.Namespace) -> None:
    """Refuse an option that has no effect together with the others."""
    if options.bibtex and not options.names:
        raise UsageError("--bibtex: expected the NAME of a metric")
    if options.search is not None and (options.names or options.format == MARKDOWN):
        raise UsageError("--search: only the list of metrics has it")
    if options.format == MARKDOWN and options.names:
        raise UsageError("--format markdown: only the list of all metrics has it")


def meanings_text(names: Sequence[str], bibtex: bool) -> str:
    """What each name means, or the papers to cite for them, each once."""
    if bibtex:
        papers = (fastir.metric(name).bibtex().strip("\n") for name in names)
        return "\n\n".join(dict.fromkeys(entry for text in papers for entry in text.split("\n\n") if entry)) + "\n"
    meanings = (measures.explain(name) if measures.is_measure(name) else fastir.metric(name) for name in names)
    return "\n\n".join(map(str, meanings)) + "\n"


def conventions_command(options: argparse.Namespace) -> Output:
    if options.format == MARKDOWN:
        from fastir.cli.pages import conventions_page

        return Output(conventions_page())
    rows = []
    for name, each in CONVENTIONS.items():
        # the tool's version and the releases with these numbers; the description and announced changes
        versions, about = (each.release, each.span), (each.about, each.pending)
        rows.append((name, ", ".join(filter(None, versions)), "; ".join(filter(None, about))))
    return Output(align_columns(rows))


def align_columns(entries: Entries) -> str:
    """Aligned columns, of which the last is text that goes on below itself."""
    widths = [max(map(len, column)) + 2 for column in list(zip(*entries, strict=True))[:-1]]
    lines = []
    for *cells, about in entries:
        label = "".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True))
        layout: dict[str, Any] = {"initial_indent": label, "subsequent_indent": " " * sum(widths)}
        lines.append(textwrap.fill(about, LIST_WIDTH, break_on_hyphens=False, **layout))
    return "".join(f"{line}\n" for line in lines)
