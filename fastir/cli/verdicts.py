"""The subcommands `fastir nuggets` and `fastir citations`: verdicts on generated answers, a row for every run."""

from __future__ import annotations

import argparse

import fastir
from fastir.analyses.verdicts.citations import CITATION_METRICS, OF_NUGGETS
from fastir.analyses.verdicts.nuggets import NUGGET_METRICS
from fastir.cli import arguments
from fastir.cli.eval import output_text
from fastir.cli.terminal import Output
from fastir.request.options import metric_tuple


def nuggets_command(options: argparse.Namespace) -> Output:
    with arguments.argument_errors():
        format, metrics = arguments.output_format(options), metric_tuple(options.metrics or list(NUGGET_METRICS))
        for metric in metrics:
            NUGGET_METRICS.find(metric)
    results = fastir.evaluate_nuggets(options.verdicts, metrics, expected=options.expected, missing=options.missing)
    return Output(output_text(results, options, format, None))


def citations_command(options: argparse.Namespace) -> Output:
    plain = [name for name in CITATION_METRICS if name not in OF_NUGGETS]
    with arguments.argument_errors():
        format, metrics = arguments.output_format(options), metric_tuple(options.metrics or plain)
        for metric in metrics:
            CITATION_METRICS.find(metric)
    results = fastir.evaluate_citations(options.verdicts, metrics, missing=options.missing)
    return Output(output_text(results, options, format, None))
