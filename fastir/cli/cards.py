"""The subcommands `fastir metrics` and `fastir explain`: what the cards of the metrics say."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable
from typing import Any

import fastir
from fastir.cli.arguments import UsageError, arguments_checked
from fastir.cli.terminal import Output

WIDTH = 100  # of the list of metrics


def add_metrics_arguments(add: Callable[..., Any]) -> None:
    add("word", metavar="WORD", nargs="?", help="only the metrics whose names or descriptions have it")
    add("--markdown", action="store_true", help="the whole reference: formulas, sources, examples")


def add_explain_arguments(add: Callable[..., Any]) -> None:
    add("metric", metavar="METRIC", help="such as ndcg@10")


def metrics_command(options: argparse.Namespace) -> Output:
    if options.markdown:
        from fastir.cli.reference_text import reference

        return Output(reference(), [])
    word = (options.word or "").lower()
    entries = []
    for card in fastir.metrics():
        name = card.name + (f"[{card.place()}]" if card.place() else "")
        about = f"{card.summary} (also {', '.join(card.aliases)})" if card.aliases else card.summary
        if word in name.lower() or word in about.lower():
            entries.append((name, about))
    if not entries:
        raise UsageError(f"no metric has {options.word!r} in its name or description")
    width = max(len(name) for name, _ in entries) + 2
    lines = (
        textwrap.fill(
            about, WIDTH, initial_indent=f"{name:<{width}}", subsequent_indent=" " * width, break_on_hyphens=False
        )
        for name, about in entries
    )
    return Output("".join(f"{line}\n" for line in lines), [])


def explain_command(options: argparse.Namespace) -> Output:
    with arguments_checked():
        return Output(f"{fastir.explain(options.metric)}\n", [])
