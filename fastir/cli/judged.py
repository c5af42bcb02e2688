"""Judged rankings as the runs of a command line: saved files and folders of them, which hold their judgments."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from fastir.cli.arguments import metric_names
from fastir.cli.runs import JUDGING_OPTIONS, expand_words, option_names, refuse_options
from fastir.data.qrels import Qrels
from fastir.data.rankings import JudgedRankings, evaluate_rankings
from fastir.data.results.results import Results
from fastir.errors import FastirError, UnknownMetricError, quote
from fastir.evaluation.evaluate import judged_rankings
from fastir.evaluation.run_collections import name_the_run
from fastir.inputs import places
from fastir.request.plan import ORDER_RULES, Settings, compile_fixed

# Options that define a value, or that must equal the rankings' own; JUDGING_OPTIONS has the others.
VALUE_OPTIONS = (
    *("rel_level", "queries", "ties", "judged_only", "max_depth", "score_dtype", "duplicates", "convention", "all"),
)


def judged_runs(
    words: Sequence[str], options: argparse.Namespace, settings: Settings, qrels: Qrels | None = None
) -> Iterator[tuple[Any, Results]]:
    """The name and the Results of each file; its judgments must be the qrels, if they are given."""
    names = [name for name in JUDGING_OPTIONS if qrels is None or not name.startswith("qrels_")]
    refuse_options(options, [name for name in names if name not in VALUE_OPTIONS], words[0], "judged rankings")
    files = expand_words(words)
    for name, file in zip(option_names(files, options), files, strict=True):
        rankings = JudgedRankings.load(file)
        if qrels is not None:
            check_judgments(file, rankings, qrels)
        try:
            results = evaluate_rankings(
                rankings, derivable_metrics(rankings, options, settings), settings.options, None
            )
        except (ValueError, FastirError) as error:
            name_the_run(error, name)
            raise
        yield name, results


def derivable_metrics(rankings: JudgedRankings, options: argparse.Namespace, settings: Settings) -> tuple[str, ...]:
    """Return the metrics; with --all also the other metrics that follow from judged rankings."""
    if not options.all:
        return settings.metrics
    rules = {name: getattr(rankings, name) for name in ORDER_RULES}
    named, found = metric_names(options), []
    for metric in settings.metrics:
        try:
            compile_fixed((metric,), settings.options, rules)
            found.append(metric)
        except UnknownMetricError:
            if metric in named:
                found.append(metric)
    return tuple(found)


def check_judgments(file: str, rankings: JudgedRankings, qrels: Qrels) -> None:
    """Refuse rankings that were judged with other judgments: other queries, or other labels of a query."""
    own = judged_rankings(qrels, {next(iter(qrels)): {}}, queries="qrels")
    rows = {str(query_id): row for row, query_id in enumerate(own.query_ids)}
    for row, query_id in enumerate(map(str, rankings.query_ids)):
        if query_id not in rows or not np.array_equal(labels(own, rows[query_id]), labels(rankings, row)):
            raise FastirError(f"{places.place_name(file)} was judged with other judgments of query {quote(query_id)}")
    if len(rows) != len(rankings):
        held = set(map(str, rankings.query_ids))
        missing = next(query_id for query_id in rows if query_id not in held)
        raise FastirError(f"{places.place_name(file)} was judged without query {quote(missing)}")


def labels(rankings: JudgedRankings, row: int) -> np.ndarray:
    """All judgments of a query, the largest first."""
    return rankings.ideal_labels[rankings.ideal_offsets[row] : rankings.ideal_offsets[row + 1]]
