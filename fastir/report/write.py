"""write_report(): a comparison of runs as one file of HTML, with all data in it, compressed."""

from __future__ import annotations

import base64
import dataclasses
import functools
import html
import importlib.resources
import itertools
import json
import os
import string
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

from fastir.analyses.compare.comparison import Comparison, mean_over
from fastir.analyses.compare.tables import default_level, mark_labels, pairs_table, runs_table
from fastir.checks import whole_number
from fastir.engine.measure import DEFAULT_METRICS
from fastir.errors import quote
from fastir.evaluation.run_collections import input_files
from fastir.inputs.places import is_place, stem
from fastir.rendering import Cell, Table
from fastir.rendering.text import build_day, counted, decimals, distinct_texts, json_types, refuse_inputs, replacing
from fastir.report.gather import ReportData, gather, judged_name, visible_text
from fastir.report.texts import read_texts
from fastir.request.directions import best_first
from fastir.request.names import is_metric, split

if TYPE_CHECKING:
    from typing import Unpack

    from fastir.analyses.compare.keywords import ReportOptions
    from fastir.data.qrels import QrelsLike
    from fastir.data.run import RunsLike
    from fastir.evaluation.run_collections import RunNames
    from fastir.report.texts import TextsLike

ORDER_TEXT = "; the order is write_report(qrels, runs, metrics, path)"
MAX_FRAME_BYTES = 4_000_000  # of a page that a notebook holds
FRAME = "width: 100%; height: 40em; border: 1px solid #8888"
STATISTICS = (
    *("baseline", "test", "n_resamples", "correction", "family", "confidence", "interval", "effect", "segments"),
    *("clusters", "random_state"),
)


def write_report(
    qrels: QrelsLike,
    runs: RunsLike,
    metrics: str | Iterable[str] = DEFAULT_METRICS,
    path: str | os.PathLike[str] = "report.html",
    *,
    names: RunNames = "stem",
    k: SupportsIndex = 10,
    title: str | None = None,
    topics: TextsLike | None = None,
    doc_titles: TextsLike | None = None,
    progress: Callable[[Hashable, int], object] | None = None,
    **options: Unpack[ReportOptions],
) -> ReportFile:
    """Write a report of runs as one file of HTML, which works in any browser, offline.

    It shows the leaderboard with intervals and significance, any two runs query by query, the rankings of a query side
    by side with labels, gains and contributions, how much of them is judged, and where the numbers come from.

    Parameters
    ----------
    qrels, runs, metrics, names
        As for `compare`: two runs or more. Saved results have no rankings and are refused.
    path : str or path
        The file, which is written atomically.
    k : int
        How many ranks of each ranking are shown, 1 or more.
    title : str or None
        The title of the page, above the name of the judgments and the date; None: "Report".
    topics : mapping of query_id to str, path, or None
        The texts of queries, which the page shows beside their ids. A file has topics of TREC, JSON Lines, or a query,
        a tab and its text on each line.
    doc_titles : mapping of doc_id to str, path, or None
        The titles of documents, which the page shows below their ids; a file as for `topics`, with documents.
    progress, **options
        As for `compare`, without `seeds` and `bounds`.

    Returns
    -------
    ReportFile
        Its attribute `path` is the file; a notebook shows the report.

    Raises
    ------
    UnknownMetricError, FormatError, DuplicateError, NoOverlapError, TypeError, ValueError, OverflowError, ImportError
        As by `compare`; `k` is no positive int; or the report would be written over one of the files that it reads.
    OSError
        A file cannot be read, or the report not be written; its old content is untouched.

    Warns
    -----
    FastirWarning
        As `compare` does; the report shows these warnings, too.

    Notes
    -----
    Runs are read once and held in memory. Where the documents of a query have no single order, or no contributions (see
    `explain`), the report says why, and has no rankings.

    Examples
    --------
    >>> import fastir
    >>> qrels = {f"q{i}": {"a": 1} for i in range(6)}
    >>> runs = {"first": {f"q{i}": {"a": 1.0} for i in range(6)},
    ...         "often": {f"q{i}": {"a": 1.0, "b": float(i > 3) * 2} for i in range(6)}}
    >>> fastir.write_report(qrels, runs, ["mrr", "ndcg@10"], "report.html")  # doctest: +SKIP
    """
    if not isinstance(path, (str, bytes, os.PathLike)) or all(map(is_metric, split(os.fsdecode(path)) or ["."])):
        raise TypeError(f"path must be the file to write, got {type(path).__name__} {quote(path)}{ORDER_TEXT}")
    for name, value in (("qrels", qrels), ("metrics", metrics)):
        if isinstance(value, (str, os.PathLike)) and os.fsdecode(value).lower().endswith((".html", ".htm")):
            raise TypeError(f"{name} is the name of a page, {quote(value)}{ORDER_TEXT}")
    shown = whole_number("k", k, 1)
    rules: dict[str, Any] = {**options}
    statistics = {name: rules.pop(name) for name in STATISTICS if name in rules}
    others = [options.get(name) for name in ("segments", "parents", "exclude", "doc_weights")]
    others += [topics, doc_titles]
    refuse_inputs(path, itertools.chain.from_iterable(map(input_files, ([qrels], runs, others))))
    gathered = gather(qrels, runs, metrics, names, shown, statistics, rules, progress)
    docs = {doc for query in gathered.rankings.queries for doc in query["docs"]}
    about = PageTexts(
        title,
        (stem(qrels) if is_place(qrels) else None) or "",
        read_texts("topics", topics, set(map(str, gathered.comparison.query_ids))),
        read_texts("doc_titles", doc_titles, docs),
    )
    text = page(gathered, about)
    with replacing(os.fsdecode(path)) as file:
        file.write(text.encode("utf-8", "replace"))
    return ReportFile(os.fsdecode(path))


class ReportFile(os.PathLike[str]):
    """A report in a file, which `open` and pathlib take as its path, and which a notebook shows.

    Attributes
    ----------
    path : str
    """

    def __init__(self, path: str) -> None:
        self.path: str = path

    def __fspath__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return f"<ReportFile {self.path!r}>"

    def _repr_html_(self) -> str:
        """The page in a frame of its own; a link to it where it is large, or its file is gone."""
        link = f'<a href="{html_text(self.path)}">{html_text(self.path)}</a>'
        if not os.path.isfile(self.path) or os.path.getsize(self.path) > MAX_FRAME_BYTES:
            return link
        with open(self.path, encoding="utf-8") as file:
            page = html.escape(file.read())
        return f'{link}<iframe sandbox="allow-scripts" style="{FRAME}" srcdoc="{page}"></iframe>'


class PageTexts(NamedTuple):
    """What a caller says of the page: its title, the collection, and texts of queries and titles of documents by id."""

    title: str | None = None
    collection: str = ""
    topics: Mapping[str, str] = {}
    titles: Mapping[str, str] = {}


# ---- tables that need no script --------------------------------------------------------------------------------------
ALL_QUERIES = "all queries"


def parts_by_title(comparison: Comparison) -> dict[str, Comparison]:
    """The comparison of all queries and of each segment, by distinct titles."""
    titles = distinct_texts(comparison.segments, [ALL_QUERIES], visible_text)
    return {ALL_QUERIES: comparison, **{titles[segment]: part for segment, part in comparison.segments.items()}}


def boards(gathered: ReportData) -> str:
    """A leaderboard of all queries, and a hidden one of each segment, as `Comparison.to_table` has them."""
    texts = []
    for place, (title, part) in enumerate(parts_by_title(gathered.comparison).items()):
        level = default_level(part.method)
        table = runs_table(part.means, part.verdicts, part.systems, part.method, 4, level, gathered.names)
        means = [mean.mean for mean in part.means[: len(table.rows)]]  # of the first metric
        order = best_first(dict(enumerate(means)), part.metrics[0])
        table = table._replace(rows=[table.rows[place] for place in order])
        texts.append(board(table, place, title))
    return "\n".join(texts)


def html_text(text: str) -> str:
    return html.escape(visible_text(str(text)))


def board(table: Table, place: int, title: str) -> str:
    """A leaderboard with buttons that sort its columns; the script shows the chosen leaderboard."""
    heads = head_cells(table, '<button type="button">', "</button>")
    notes = "".join(f"<p>{html_text(note)}</p>" for note in table.notes)
    return (
        f'<figure class="board"{" hidden" if place else ""} data-segment="{place}"><div class="wide" tabindex="0" '
        f'role="region" aria-label="Leaderboard, {html_text(title)}"><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>{rows(table)}</tbody></table></div><figcaption>{notes}</figcaption></figure>"
    )


def scrolling_table(table: Table) -> str:
    """A table that scrolls by itself where it is too wide."""
    body = f"<thead><tr>{head_cells(table)}</tr></thead><tbody>{rows(table)}</tbody>"
    return f'<div class="wide" tabindex="0"><table>{body}</table></div>'


def head_cells(table: Table, opening: str = "", closing: str = "") -> str:
    return "".join(
        f'<th scope="col"{number(column, table.first)}>{opening}{html_text(name)}{closing}</th>'
        for column, name in enumerate(table.head)
    )


def number(column: int, first: int) -> str:
    return ' class="number"' if column >= first else ""


def rows(table: Table) -> str:
    """The rows; each number says its column, which a narrow page shows above it."""
    heads = [f' data-head="{html_text(head)}"' if at >= table.first else "" for at, head in enumerate(table.head)]
    cells = ("".join(cell(each, at, table.first, heads[at]) for at, each in enumerate(row)) for row in table.rows)
    return "".join(f"<tr>{each}</tr>" for each in cells)


def cell(each: Cell, column: int, first: int, head: str = "") -> str:
    """A cell with its exact value, its marks and its interval."""
    exact = "" if each.exact is None else f' data-exact="{html_text(each.exact)}"'
    text = html_text(each.text)
    text = f"<b>{text}</b>" if each.strong else text
    marks = f"<sup>{html_text(each.beats)}</sup>" if each.beats else ""
    interval = f"<small>{html_text(each.interval)}</small>" if each.interval else ""
    return f"<td{number(column, first)}{head}{exact}>{text}{marks}{interval}</td>"


def judged_table(gathered: ReportData) -> str:
    """How much of each run is judged, and which queries are missing."""
    name = judged_name(gathered.depth)
    runs, query_ids = gathered.comparison.runs, set(gathered.comparison.query_ids)
    head, body = ["run"], [[Cell(gathered.names[run])] for run in runs]
    columns: list[tuple[str, list[Cell]]] = []
    if gathered.judged:
        shares = [mean_over(gathered.judged[run].per_query(name), query_ids) for run in runs]
        columns.append((name, [Cell(decimals(share), exact=repr(share)) for share in shares]))
    if not gathered.rankings.why_not:
        counts = [Cell(str(count)) for count in gathered.rankings.unjudged]
        columns.append((f"unjudged in the first {gathered.depth}", counts))
    reports = [gathered.results[run].report for run in runs]
    for title, field in (
        ("queries missing", "only_in_qrels"),
        ("nothing judged", "nothing_judged"),
        ("ties could matter", "queries_with_ties"),
    ):
        columns.append((title, [Cell(str(getattr(report, field))) for report in reports]))
    for title, cells in columns:
        head.append(title)
        for row, each in zip(body, cells, strict=True):
            row.append(each)
    return scrolling_table(Table(head, body, 1, []))


def sources(gathered: ReportData) -> str:
    """Where the numbers come from: the method, the convention, options, metrics and files."""
    provenance = next((record for result in gathered.results.values() if (record := result.provenance)), None)
    listed: list[tuple[str, str]] = [("statistics", str(gathered.comparison.method))]
    details: list[tuple[str, str]] = []
    if provenance is not None:
        convention = provenance.convention
        chosen = {} if gathered.queries is None else {"queries": gathered.queries}
        listed.append(("convention", f"{convention.name}. {convention.about}".removesuffix(". ")))
        details += (
            (field.name, str(chosen.get(field.name, getattr(convention, field.name))))
            for field in dataclasses.fields(convention)
            if field.name not in ("name", "about") and getattr(convention, field.name) not in (None, ())
        )
        listed += ((f"option {name}", str(value)) for name, value in provenance.options.items())
        listed += ((f"metric {name}", text) for name, text in provenance.metrics.items())
    for what, file in gathered.files:
        size = f", {file['bytes']} bytes" if "bytes" in file else ""
        listed.append((what, f"{file['name']}{size}"))
    for run, result in gathered.results.items():
        repairs = result.report.repairs if result.report else {}
        listed += (
            (f"run {gathered.names[run]}: {kind}", f"{count}, such as {place}")
            for kind, (count, place) in repairs.items()
        )
    listed.append(("fastir", gathered.comparison.method.version))
    first, second = (
        scrolling_table(Table(["what", "value"], [[Cell(what), Cell(value)] for what, value in facts], 2, []))
        for facts in (listed, details)
    )
    return f"{first}<details><summary>The rules of the convention</summary>{second}</details>" if details else first


def warnings_list(texts: Sequence[str]) -> str:
    """The warnings of the evaluation; nothing if there are none."""
    if not texts:
        return ""
    title = counted(len(texts), "warning", "warnings")
    listed = "".join(f"<li>{html_text(text)}</li>" for text in texts)
    return f'<section class="warnings"><h2>{title}</h2><ul>{listed}</ul></section>'


# ---- the document ----------------------------------------------------------------------------------------------------
def page(gathered: ReportData, about: PageTexts) -> str:
    """The HTML of a report, which names no address outside of it."""
    comparison = gathered.comparison
    n_runs, n_queries = len(comparison.runs), len(comparison.query_ids)
    summary = (
        f"{counted(n_runs, 'run', 'runs')} on {counted(n_queries, 'query', 'queries')}, "
        f"{counted(len(comparison.metrics), 'metric', 'metrics')}"
    )
    note = f"; {gathered.names_note}" if gathered.names_note else ""
    facts = [about.collection, build_day(), summary + note]
    return string.Template(page_part("page.txt")).substitute(
        title=html_text(f"{about.title or 'fastir report'}: {summary}"),
        head=html_text(about.title or "Report"),
        summary=html_text(" · ".join(filter(None, facts))),
        style=page_part("page.css"),
        script=page_part("page.js"),
        warnings=warnings_list(gathered.warnings),
        boards=boards(gathered),
        depth=gathered.depth,
        judged=judged_table(gathered),
        sources=sources(gathered),
        data=compress_json(page_data(gathered, about)),
    )


def page_part(name: str) -> str:
    return importlib.resources.files("fastir.report").joinpath(name).read_text("utf-8")


def compress_json(data: Mapping[str, Any]) -> str:
    """JSON, compressed by zlib, in base64: a sixth of the text, and no name in it can end the element around it.

    The entries of an iterator are made, written and forgotten one after the other.
    """
    squeezer = zlib.compressobj(9)
    pieces = [squeezer.compress(text.encode("ascii")) for text in json_pieces(data)]
    return base64.b64encode(b"".join([*pieces, squeezer.flush()])).decode("ascii")


def json_pieces(data: Mapping[str, Any]) -> Iterator[str]:
    """The JSON text of a dict, entry by entry; an iterator in it is a list."""
    to_json = functools.partial(json.dumps, separators=(",", ":"), allow_nan=False)
    for place, (name, value) in enumerate(data.items()):
        yield f"{',' if place else '{'}{to_json(name)}:"
        if isinstance(value, Iterator):
            yield "["
            for at, entry in enumerate(value):
                yield f"{',' if at else ''}{to_json(json_types(entry))}"
            yield "]"
        else:
            yield to_json(json_types(value))
    yield "}"


def page_data(gathered: ReportData, about: PageTexts) -> dict[str, Any]:
    """The data that the script shows: names, the exact values of every query, printed pairs, rankings."""
    comparison, rankings = gathered.comparison, gathered.rankings
    places = {query_id: place for place, query_id in enumerate(comparison.query_ids)}
    parts = parts_by_title(comparison)
    name = judged_name(gathered.depth)
    judged = {run: result.per_query(name) for run, result in gathered.judged.items()}
    return {
        "depth": gathered.depth,
        "runs": [gathered.names[run] for run in comparison.runs],
        "labels": mark_labels(len(comparison.runs)),
        "metrics": [visible_text(str(metric)) for metric in comparison.metrics],
        "higher_is_better": [comparison.higher_is_better[metric] for metric in comparison.metrics],
        "queries": list(distinct_texts(comparison.query_ids, shown=visible_text).values()),
        "topics": [visible_text(about.topics.get(str(each), "")) for each in comparison.query_ids if about.topics],
        "segments": [
            {"name": name, "queries": None if part is comparison else [places[each] for each in part.query_ids]}
            for name, part in parts.items()
        ],
        "values": [values.T.tolist() for values in comparison.values],
        "judged": [[judged[run].get(each) for each in comparison.query_ids] for run in comparison.runs if judged],
        "pairs": [pair_records(part) for part in parts.values()],
        "why_not": visible_text(rankings.why_not),
        "rankings": [] if rankings.why_not else (query_record(query, about.titles) for query in rankings.queries),
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


def query_record(query: dict[str, Any], titles: Mapping[str, str]) -> dict[str, Any]:
    """The rankings of a query; a label is a number in its gains, too, which two languages write in two ways."""
    docs = list(distinct_texts(query["docs"], shown=visible_text).values())
    gains = {metric: [[label, text] for label, text in of_label.items()] for metric, of_label in query["gains"].items()}
    shown = {"titles": [visible_text(titles.get(doc, "")) for doc in query["docs"]]} if titles else {}
    return {**query, "docs": docs, "gains": gains, **shown}
