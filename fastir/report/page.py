"""The document of a report: its parts, and all data in it, compressed."""

from __future__ import annotations

import base64
import html
import importlib.resources
import json
import string
import zlib
from collections.abc import Sequence
from typing import Any

from fastir.analyses.compare.comparison import Comparison
from fastir.analyses.compare.tables import default_level, mark_labels, pairs_table
from fastir.rendering.text import counted, distinct_texts, json_types
from fastir.report.boards import boards, judged_table, parts_by_title, sources, warnings_list
from fastir.report.gather import ReportData, judged_name, visible_text


def page(gathered: ReportData) -> str:
    """The HTML of a report, which names no address outside of it."""
    comparison = gathered.comparison
    n_runs, n_queries = len(comparison.runs), len(comparison.query_ids)
    summary = (
        f"{counted(n_runs, 'run', 'runs')} on {counted(n_queries, 'query', 'queries')}, "
        f"{counted(len(comparison.metrics), 'metric', 'metrics')}"
    )
    return string.Template(page_part("page.txt")).substitute(
        title=html.escape(f"fastir report: {summary}"),
        summary=html.escape(summary),
        style=page_part("page.css"),
        script=page_part("page.js"),
        warnings=warnings_list(gathered.warnings),
        boards=boards(gathered),
        depth=gathered.depth,
        judged=judged_table(gathered),
        sources=sources(gathered),
        data=compress_json(page_data(gathered)),
    )


def page_part(name: str) -> str:
    return importlib.resources.files("fastir.report").joinpath(name).read_text("utf-8")


def compress_json(data: Any) -> str:
    """JSON, compressed by zlib, in base64: a sixth of the text, and no name in it can end the element around it."""
    text = json.dumps(json_types(data), separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode("ascii"), 9)).decode("ascii")


def page_data(gathered: ReportData) -> dict[str, Any]:
    """The data that the script shows: names, the exact values of every query, printed pairs, rankings."""
    comparison, rankings = gathered.comparison, gathered.rankings
    places = {query_id: place for place, query_id in enumerate(comparison.query_ids)}
    parts = parts_by_title(comparison)
    judged = (
        {}
        if not gathered.judged
        else {run: result.per_query(judged_name(gathered.depth)) for run, result in gathered.judged.items()}
    )
    return {
        "depth": gathered.depth,
        "runs": [gathered.names[run] for run in comparison.runs],
        "labels": mark_labels(len(comparison.runs)),
        "metrics": [visible_text(str(metric)) for metric in comparison.metrics],
        "higher_is_better": [comparison.higher_is_better[metric] for metric in comparison.metrics],
        "queries": list(distinct_texts(comparison.query_ids, shown=visible_text).values()),
        "segments": [
            {"name": name, "queries": None if part is comparison else [places[each] for each in part.query_ids]}
            for name, part in parts.items()
        ],
        "values": [values.T.tolist() for values in comparison.values],
        "judged": [[judged[run].get(each) for each in comparison.query_ids] for run in comparison.runs if judged],
        "pairs": [pair_records(part) for part in parts.values()],
        "why_not": visible_text(rankings.why_not),
        "rankings": [] if rankings.why_not else list(map(query_record, rankings.queries)),
        "rel_level": rankings.rel_level,
    }


def pair_records(comparison: Comparison) -> dict[str, Any]:
    """The indices of metrics and runs, and the cells that `Comparison.to_table` prints for each pair, as a line."""
    metrics = {metric: place for place, metric in enumerate(comparison.metrics)}
    runs = {run: place for place, run in enumerate(comparison.runs)}
    table = pairs_table(comparison.pairs, comparison.method, 4, default_level(comparison.method))
    return {
        "of": [[metrics[pair.metric], runs[pair.a], runs[pair.b]] for pair in comparison.pairs],
        "texts": [pair_text(table.head[3:], [cell.text for cell in row[3:]]) for row in table.rows],
    }


def pair_text(heads: Sequence[str], texts: Sequence[str]) -> str:
    """The cells of a pair as a line: the difference and a note alone, the others behind their heads."""
    facts = [text if head in ("a - b", "note") else f"{head} {text}" for head, text in zip(heads, texts, strict=True)]
    return ", ".join(facts if texts[-1] else facts[:-1])


def query_record(query: dict[str, Any]) -> dict[str, Any]:
    """The rankings of a query; a label is a number in its gains, too, which two languages write in two ways."""
    docs = list(distinct_texts(query["docs"], shown=visible_text).values())
    gains = {metric: [[label, text] for label, text in of_label.items()] for metric, of_label in query["gains"].items()}
    return {**query, "docs": docs, "gains": gains}
