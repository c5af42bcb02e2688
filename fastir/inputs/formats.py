"""The formats of files, each declared once, as a card: names, readers, the ends of file names, and who writes them.

`read` of a format's module is called with (path, is_run, duplicates, watch) and the options that the format takes. It
returns what is made of the file's columns: (query_ids, offsets, ids, numbers, repairs), as `trec.read` says; of samples
what `samples.read` returns. A writer is called with a binary file, a ``{query_id: {doc_id: number}}`` (or an object
that can be read like it), and is_run.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fastir.checks import check_choice
from fastir.declared import Record, Table
from fastir.engine.columns import line_formats as lines
from fastir.engine.columns._ids import encode
from fastir.engine.columns.other_formats import HEADER, are_pairs
from fastir.errors import FormatError, quote
from fastir.inputs import files, places, roles
from fastir.inputs.shapes import COLUMNS, HELD_OBJECT, PATH, TABLE, input_shape
from fastir.inputs.source import HEAD_BYTES, as_source, data_of
from fastir.request.options import DUPLICATES

if TYPE_CHECKING:
    from fastir.engine.columns.rows import Rows
    from fastir.inputs.files import Path, Watch
    from fastir.inputs.writers import Nested


class Format(Record):
    """A format of files."""

    name: str
    of: tuple[str, ...]  # "qrels", "runs" or both
    summary: str  # what the file holds
    reader: str  # the module of `inputs` that reads it
    takes: tuple[str, ...] = ()  # the options of its `read` beside the common ones
    lines: tuple[Any, Any] = (None, None)  # the LineFormats of qrels and of runs; of samples several, read in turn
    holds: str = "labels"  # what qrels of it are
    suffixes: tuple[str, ...] = ()  # the ends of names that select it
    first: bytes = b""  # a regular expression that tells it by its first line that is no comment
    magic: bytes = b""  # the first bytes that tell it of a file object, which has no name
    writer: str = ""  # the function of `writers` that writes it
    streamed: bool = False  # whether a run is evaluated while it is read
    aliases: tuple[str, ...] = ()


SIDES = ("qrels", "runs")
LINE_OPTIONS = ("line_format", "only")
TABLE_OPTIONS = ("format", "columns", "threshold")
TABLE_PAGE = "[table](#tables-pandas-polars-arrow-duckdb-parquet)"
ENGINES_URL = "[what search engines return](coming_from/elasticsearch.md): `_search`, `_msearch`, `_rank_eval`"
RRE_URL = "ratings of the [Rated Ranking Evaluator](coming_from/rre.md)"
STRATA = (lines.STRATA, lines.STRATA_STRATUM)
PRELS = (lines.PRELS, lines.PRELS_LABEL, lines.PRELS_METHOD)

# fmt: off
FORMATS = Table("format", (
    Format("trec", SIDES, "qrels: `query iteration document label`; runs: `query Q0 document rank score tag`; the rank "
           "is a number, and the scores rank", "trec", LINE_OPTIONS, (lines.TREC_QRELS, lines.TREC_RUN), writer="trec",
           streamed=True),
    Format("trec_eval", SIDES, "the same with anything as the rank, as trec_eval reads it, and fastir in the "
           "conventions of tools", "trec", LINE_OPTIONS, (lines.TREC_QRELS, lines.TREC_EVAL_RUN), streamed=True),
    Format("beir", SIDES, "the header `query-id corpus-id score`, then three columns separated by tabs; recognised by "
           "the header", "trec", LINE_OPTIONS, (lines.BEIR_QRELS, lines.BEIR_RUN), first=HEADER.encode() + rb"\s*$"),
    Format("msmarco", SIDES, "runs: `query document rank`; qrels as in TREC files", "trec", LINE_OPTIONS,
           (lines.TREC_QRELS, lines.MSMARCO_RUN)),
    Format("pairs", SIDES[:1], "`query document`: all that is listed is relevant; recognised by lines of two fields",
           "trec", (*LINE_OPTIONS, "columns"), (lines.PAIRS, None)),
    Format("json", SIDES, "`{query_id: {doc_id: number}}`, as ranx and BEIR write it; `{query_id: [doc_id, ...]}`; an "
           f"array of objects, as a {TABLE_PAGE}; {ENGINES_URL}; {RRE_URL}", "json_files", ("query_ids", "columns"),
           suffixes=(".json",), writer="json"),
    Format("quepid", SIDES, "Quepid's CSV; qrels: `query`, `docid`, `rating`; runs, from a case or a snapshot: `doc "
           "position`; recognised by its header", "quepid", ("columns", "threshold"),
           first=rb"(?i)query,docid,rating\s*$|(?=.*\bquery text\b).*\bdoc id\b"),
    Format("letor", SIDES[:1], "LETOR, SVMrank, RankLib: `label qid:query feature:value ... # document`, recognised by "
           "qid; LIBSVM with a file of group sizes beside it, `NAME.query` or `NAME.group`", "letor",
           first=rb"\S+\s+qid:\S|[-+.\deE]+\s+\d+:[-+.\deE]+(\s+\d+:|\s*$|\s*#)"),
    Format("scores", SIDES[1:], "a score on each line, for the lines of a file in the format letor, `rows=`", "letor",
           ("rows",), first=rb"[-+.\d][-+.\deE]*\s*$"),
    Format("csv", SIDES, f"a {TABLE_PAGE} with a header", "table_files", TABLE_OPTIONS, suffixes=(".csv",)),
    Format("tsv", SIDES, "the same with tabs; recognised by a header that names the columns", "table_files",
           TABLE_OPTIONS),
    Format("jsonl", SIDES, f"a {TABLE_PAGE}, an object on each line", "table_files", TABLE_OPTIONS,
           suffixes=(".jsonl", ".ndjson")),
    Format("parquet", SIDES, f"a {TABLE_PAGE}", "table_files", TABLE_OPTIONS, suffixes=(".parquet",), magic=b"PAR1",
           writer="parquet"),
    Format("arrow", SIDES, f"a {TABLE_PAGE}: Arrow IPC, or Feather", "table_files", TABLE_OPTIONS,
           suffixes=(".arrow", ".feather"), magic=b"ARROW1"),
    Format("subtopic", SIDES[:1], "qrels by subtopics: `query subtopic document label`", "trec", LINE_OPTIONS,
           (lines.GROUPS, None), "groups", writer="groups"),
    Format("qrels_jg", SIDES[:1], "qrels by groups of judges: `query group document label`", "trec", LINE_OPTIONS,
           (lines.GROUPS, None), "groups", writer="groups"),
    Format("evidence", SIDES[:1], "qrels by sets of evidence: `query set document label`", "trec", LINE_OPTIONS,
           (lines.GROUPS, None), "sets", writer="groups"),
    Format("hops", SIDES[:1], "qrels by hops, each with alternatives: `query hop document label`", "trec", LINE_OPTIONS,
           (lines.GROUPS, None), "hops", writer="groups"),
    Format("prefs", SIDES[:1], "preferences: `query judge part document level`", "trec", LINE_OPTIONS,
           (lines.PREFS, None), "preferences", writer="preferences"),
    Format("qrels_prefs", SIDES[:1], "preferences without the part", "trec", LINE_OPTIONS,
           (lines.QRELS_PREFS, None), "preferences"),
    Format("strata", SIDES[:1], "samples of a pool: `query iteration document stratum label`", "samples",
           LINE_OPTIONS[:1], (STRATA, None), "sample", writer="sample"),
    Format("prels", SIDES[:1], "samples of a pool: `query document label method probability`", "samples",
           LINE_OPTIONS[:1], (PRELS, None), "sample", writer="sample"),
), columns=("of", "summary"))
# fmt: on
QRELS_FORMATS = FORMATS.only(lambda card: "qrels" in card.of)
RUN_FORMATS = FORMATS.only(lambda card: "runs" in card.of)
TREC_FORMATS = tuple(FORMATS.only(lambda card: card.streamed))  # files whose names say nothing
TABLE_FORMATS = tuple(FORMATS.only(lambda card: card.reader == "table_files"))
LIST_SUFFIXES = (".json", *(suffix for name in TABLE_FORMATS for suffix in FORMATS[name].suffixes), ".tsv")
SUFFIXES = {suffix: card.name for card in FORMATS.values() for suffix in card.suffixes}


def written_formats(holds: str) -> Table[Format]:
    """The formats in which qrels or runs that hold something are written."""
    return FORMATS.only(lambda card: bool(card.writer) and card.holds == holds)


def file_format(path: Any, lines: str = "trec", is_run: bool = True) -> str:
    """The format of a file by its name, without .gz and .zst.

    A folder is Parquet, and so is a pattern unless it is a pattern of JSON files. Any other name is `lines`, unless the
    first line of the file tells another format, which it may under .csv, too. A file object without such a name is
    Parquet if its first bytes say so.
    """
    name = places.place_name(path)
    if files.file_packing(name):
        name = os.path.splitext(name)[0]
    by_suffix = SUFFIXES.get(os.path.splitext(name)[1].lower())
    if places.is_many(path):
        return "json" if by_suffix == "json" else "parquet"
    return (format_from_bytes(path, is_run) if by_suffix in (None, "csv") else None) or by_suffix or lines


def format_from_bytes(path: Any, is_run: bool) -> str | None:
    """The format that the first bytes of a file tell, None if they tell none or could be read only once.

    What the file is damaged by is found by whoever reads it.
    """
    is_object = places.is_file_object(path)
    if not (places.reopens(path) if is_object else places.on_disk(path)):
        return None
    length = HEAD_BYTES
    try:
        head = places.open_bytes(path).read(length) if is_object else as_source(path).head[:length]
        for card in FORMATS.values() if is_object else ():
            if card.magic and head.startswith(card.magic):
                return card.name
        if files.packing_from_bytes(head[: files.MAGIC_BYTES]):
            with files.ByteReader(path) as source:
                head = source.read(length)
    except (FormatError, OSError):
        return None
    rows = head.removeprefix(files.BOM).split(b"\n")
    rows = [row for row in rows if row[:1] != b"#" and row.strip()] or [b""]
    line = rows[0].decode("utf-8", "replace").strip("\r")
    named = next((card.name for card in FORMATS.values() if card.first and re.match(card.first, rows[0])), None)
    named = named or ("tsv" if roles.is_header(line.split("\t")) else None)
    if named or is_run:
        return named
    whole = rows[: len(rows) - (len(head) == length)]
    return "pairs" if are_pairs([row.decode("utf-8", "replace") for row in whole]) else None


def without_names(
    data: Any, holds: type[Rows], columns: Mapping[str, Any], is_run: bool, lines: str = "trec"
) -> str | None:
    """What judgments or a run are, in words, if their columns have no names: no table, or a file of lines.

    Objects that were read earlier may have been read by names for both sides.
    """
    shape = input_shape(data, holds, columns)
    if shape == HELD_OBJECT and not (isinstance(columns, roles.OneSided) and columns.option is None):
        return None
    if shape == PATH:
        card = FORMATS[file_format(data_of(data), lines, is_run)]
        return None if "columns" in card.takes else f"a file in the format {card.name!r}"
    return None if shape in (TABLE, COLUMNS) else f"a {type(data_of(data)).__name__}"


def find_format(path: Any, is_run: bool, format: str | None) -> Format:
    """The card of a format; None is the format of the file's name or content."""
    card = FORMATS[file_format(path, is_run=is_run)] if format is None else FORMATS.find(format)
    expected = RUN_FORMATS if is_run else QRELS_FORMATS
    if card.name not in expected:
        message = f"format {card.name!r} is for {', '.join(card.of)}; expected one of {', '.join(expected)}"
        if format is None:
            raise FormatError(f"the first line is that of another side: {message}", places.place_name(path))
        raise ValueError(message)
    return card


def read(
    path: Any,
    is_run: bool,
    format: str | None,
    duplicates: str | None,
    columns: Mapping[str, Any] | None = None,
    watch: Watch | None = None,
    threshold: float | None = None,
    only: str | None = None,
    query_ids: Any = None,
    rows: Any = None,
) -> tuple[Any, ...]:
    """Read a file in a format; None is the format of its name.

    Parameters
    ----------
    path : str or path
    is_run : bool
    format : str or None
    duplicates : None, "first", "last", "max" or "once"
    columns : mapping or None
        The names of a table's columns, as for `tables.Table`; other formats ignore it.
    watch : function of (position), or None
        Called repeatedly with the number of bytes read of the file, 0 if unknown; may raise.
    threshold : float or None
        The numbers of a table are ratings, and those from it on become 1, the others 0.
    only : str or None
        The one query that is wanted; a file of lines is then read without keeping the rows of others.
    query_ids : list of str, path or None
        The queries of JSON files of search responses, as `engine_json.given_ids` takes them.
    rows : path or None
        The file whose lines a file of scores has a score for.

    Returns
    -------
    tuple
        query_ids, offsets, ids, numbers, repairs: see `trec.read`.
    """
    card = find_format(path, is_run, "scores" if format is None and rows is not None else format)
    check_choice("duplicates", duplicates, DUPLICATES)
    if not is_run and isinstance(path, str) and path == "-":
        raise ValueError("qrels cannot be read from standard input; expected a path")
    if "columns" not in card.takes or card.reader == "quepid":
        roles.refuse_label(columns, f"a file in the format {card.name!r}")
    if "columns" not in card.takes and not is_run:
        roles.refuse_names(columns, "qrels", f"a file in the format {card.name!r}")
    if query_ids is not None and "query_ids" not in card.takes:
        raise ValueError(f"query_ids is for responses of searches in JSON, got format {card.name!r}")
    if query_ids is not None:
        from fastir.inputs import engine_json

        query_ids = engine_json.given_ids(query_ids)
    if rows is not None and "rows" not in card.takes:
        raise ValueError(f"rows is for a file of scores, format 'scores'; got format {card.name!r}")
    if rows is None and "rows" in card.takes:
        name = places.place_name(path)
        raise FormatError(
            "a file of scores has no ids: fastir.Run.from_file(path, rows=labels) reads it beside a LETOR file", name
        )
    if threshold is not None and "threshold" not in card.takes:
        raise ValueError(f"threshold is for ratings in a table, {', '.join(TABLE_FORMATS)}; got format {card.name!r}")
    options = {
        "format": card.name,
        "columns": columns,
        "threshold": threshold,
        "query_ids": query_ids,
        "rows": rows,
        "only": None if only is None else encode(only),
        "line_format": card.lines[is_run],
    }
    module = importlib.import_module(f"fastir.inputs.{card.reader}")  # many import what few callers need
    of_format = {name: options[name] for name in card.takes}
    return module.read(path, is_run, duplicates=duplicates, watch=watch, **of_format)


def write(path: Path, data: Nested, is_run: bool, format: str | None) -> None:
    """Save judgments or rankings atomically; None is the format of the name."""
    from fastir.inputs import writers

    writable = written_formats("labels")
    path = os.fsdecode(path)
    card = FORMATS[file_format(path)] if format is None else writable.find(format)
    if card.name not in writable or (card.name == "parquet" and files.file_packing(path)):
        what = "compressed Parquet" if card.name in writable else card.name
        raise ValueError(f"cannot write {quote(path)}: {what} can only be read; expected {', '.join(writable)}")

    with files.create_file(path) as file:
        try:
            getattr(writers, card.writer)(file, data, is_run)
        except ValueError as error:
            raise ValueError(f"cannot write {quote(path)}: {error}") from None
