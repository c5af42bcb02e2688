"""The subcommands `fastir metrics`, `explain` and `conventions`: what can be measured, and whose numbers there are."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import fastir
from fastir.cli.arguments import UsageError, arguments_checked
from fastir.cli.terminal import Output
from fastir.concordance import measures
from fastir.measure.cards import Card
from fastir.request.conventions import CONVENTIONS
from fastir.request.reference import bibtex

WIDTH = 100  # of the list of metrics
Entries = Sequence[tuple[str, ...]]


def add_metrics_arguments(add: Callable[..., Any]) -> None:
    add("word", metavar="WORD", nargs="?", help="only the metrics whose names or descriptions have it")
    add("--markdown", action="store_true", help="the whole reference: formulas, sources, examples")


def add_explain_arguments(add: Callable[..., Any]) -> None:
    add("metric", metavar="METRIC", help="such as ndcg@10")
    add("--bibtex", action="store_true", help="the papers to cite")


def metrics_command(options: argparse.Namespace) -> Output:
    if options.markdown:
        from fastir.cli.reference_text import reference

        return Output(reference())
    word = (options.word or "").lower()
    metrics: Entries = [(shown(card), card.relevance, card.order, about(card)) for card in fastir.metrics()]
    similar: Entries = [(shown(measure), measure.summary) for measure in measures.CARDS.values()]
    heads = ("metric", "relevance", "first k", "what it is"), ("of two runs", "how alike they are, by similarity")
    tables = []
    for head, entries in zip(heads, (metrics, similar), strict=True):
        if found := [entry for entry in entries if word in entry[0].lower() or word in entry[-1].lower()]:
            tables.append(filled([head, *found]))
    if not tables:
        raise UsageError(f"no metric has {options.word!r} in its name or description")
    return Output("\n".join(tables))


def shown(card: Card | measures.Card) -> str:
    """Its name, and what may follow it."""
    return card.name + f"[{card.place()}]" * bool(card.place())


def about(card: Card) -> str:
    return f"{card.summary} (also {', '.join(card.aliases)})" if card.aliases else card.summary


def explain_command(options: argparse.Namespace) -> Output:
    with arguments_checked():
        if options.bibtex:
            return Output(bibtex(options.metric))
        tell = measures.explained if measures.is_measure(options.metric) else fastir.explain
        return Output(f"{tell(options.metric)}\n")


def add_conventions_arguments(add: Callable[..., Any]) -> None:
    add("--markdown", action="store_true", help="what each answers where tools differ, by examples")


def conventions_command(options: argparse.Namespace) -> Output:
    if options.markdown:
        from fastir.cli.conventions_text import page

        return Output(page())
    return Output(filled([(name, each.about) for name, each in CONVENTIONS.items()]))


def filled(entries: Entries) -> str:
    """Aligned columns, of which the last is text that goes on below itself."""
    widths = [max(map(len, column)) + 2 for column in list(zip(*entries, strict=True))[:-1]]
    lines = []
    for *cells, about in entries:
        label = "".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True))
        layout: dict[str, Any] = {"initial_indent": label, "subsequent_indent": " " * sum(widths)}
        lines.append(textwrap.fill(about, WIDTH, break_on_hyphens=False, **layout))
    return "".join(f"{line}\n" for line in lines)
