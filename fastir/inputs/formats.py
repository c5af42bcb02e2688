"""The formats of files, each declared once, as a card: names, readers, the ends of file names, and who writes them.

A reader is called with a Reading and returns what the objects in `Format.holds` are made of: (query_ids, offsets, ids,
numbers, repairs), as `trec.read` says; of samples what `samples.read` returns. A writer is a function of `writers`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from fastir.checks import check_choice
from fastir.declared import Table
from fastir.engine.columns import line_formats as lines
from fastir.engine.columns.ids import encode
from fastir.engine.columns.other_formats import HEADER
from fastir.errors import FormatError, quote
from fastir.inputs import files, places
from fastir.request.options import DUPLICATES

if TYPE_CHECKING:
    from fastir.inputs.files import Path, Watch
    from fastir.inputs.writers import Nested


class Reading(NamedTuple):
    """A file that is to be read; `read` has the meaning of each field."""

    path: Any
    is_run: bool
    format: str
    duplicates: str | None
    columns: Mapping[str, Any] | None
    watch: Watch | None
    threshold: float | None
    only: bytes | None
    query_ids: Any
    lines: Any


def read_lines(file: Reading) -> tuple:
    """What `trec.read` returns; each reader is imported by its first call."""
    from fastir.inputs import trec

    return trec.read(file.path, file.is_run, file.duplicates, file.watch, file.lines, file.only)


def read_sample(file: Reading) -> tuple:
    from fastir.inputs import samples

    return samples.read(file.path, file.duplicates, file.lines)


def read_json(file: Reading) -> tuple:
    from fastir.inputs import json_files, search_responses

    ids = None if file.query_ids is None else search_responses.given_ids(file.query_ids)
    return json_files.read(file.path, file.is_run, file.duplicates, file.watch, ids)


def read_quepid(file: Reading) -> tuple:
    from fastir.inputs import quepid

    return quepid.read(file.path, file.is_run, file.duplicates, file.watch)


def read_table(file: Reading) -> tuple:
    from fastir.inputs import table_files

    return table_files.read(
        file.path, file.is_run, file.format, file.duplicates, file.columns, file.watch, file.threshold
    )


class Format(NamedTuple):
    """A format of files.

    Attributes
    ----------
    name : str
    summary : str
        What the file holds.
    read : function of a Reading
    of : tuple of {"qrels", "run"}
    lines : dict of {"qrels", "run"} to LineFormat
        For a file of lines; for samples to all that are read, one after the other.
    holds : {"labels", "groups", "preferences", "sample"}
        What qrels of it are.
    suffixes : tuple of str
        The ends of names that stand for it.
    header : bytes
        The first line that tells it.
    magic : bytes
        The first bytes that tell it of a file object, which has no name.
    writer : str
        The function of `writers` that writes it, if there is one.
    takes : tuple of {"columns", "threshold", "query_ids"}
        The options that are for it.
    streamed : bool
        Whether a run is evaluated while it is read.
    aliases : tuple of str
    """

    name: str
    summary: str
    read: Callable[[Reading], tuple]
    of: tuple[str, ...] = ("qrels", "run")
    lines: Mapping[str, Any] = {}
    holds: str = "labels"
    suffixes: tuple[str, ...] = ()
    header: bytes = b""
    magic: bytes = b""
    writer: str = ""
    takes: tuple[str, ...] = ()
    streamed: bool = False
    aliases: tuple[str, ...] = ()

    def names(self) -> tuple[str, ...]:
        return self.name, *self.aliases

    def cells(self) -> tuple[str, ...]:
        return f'`"{self.name}"`', ", ".join(self.of), self.summary


def of_lines(name: str, summary: str, qrels: Any, run: Any = None, **fields: Any) -> Format:
    """A format with a row per line."""
    by_kind = {kind: line for kind, line in (("qrels", qrels), ("run", run)) if line is not None}
    return Format(name, summary, **{"read": read_lines, **fields}, of=tuple(by_kind), lines=by_kind)


TABLE_OPTIONS = ("columns", "threshold")
FORMATS = Table(
    "format",
    (
        of_lines(
            "trec",
            "qrels: `query iteration document label`; runs: `query Q0 document rank score tag`; the rank is a number, "
            "and the scores rank",
            lines.TREC_QRELS,
            lines.TREC_RUN,
            writer="trec",
            streamed=True,
        ),
        of_lines(
            "trec_eval",
            "the same with anything as the rank, as trec_eval reads it, and fastir in the conventions of tools",
            lines.TREC_QRELS,
            lines.TREC_EVAL_RUN,
            streamed=True,
        ),
        of_lines(
            "beir",
            "the header `query-id corpus-id score`, then three columns separated by tabs; recognised by the header",
            lines.BEIR_QRELS,
            lines.BEIR_RUN,
            header=HEADER.encode(),
        ),
        of_lines("msmarco", "runs: `query document rank`; qrels as in TREC files", lines.TREC_QRELS, lines.MSMARCO_RUN),
        Format(
            "json",
            "`{query_id: {doc_id: number}}`, as ranx and BEIR write it; [what Elasticsearch and OpenSearch return]"
            "(coming_from/elasticsearch.md): `_search`, `_msearch`, `_rank_eval`",
            read_json,
            suffixes=(".json",),
            writer="json",
            takes=("query_ids",),
        ),
        Format(
            "quepid",
            "Quepid's CSV; qrels: `query`, `docid`, `rating`; runs, from a case or a snapshot: `doc position`",
            read_quepid,
        ),
        Format(
            "csv",
            "a [table](#tables-pandas-polars-arrow-duckdb-parquet) with a header",
            read_table,
            suffixes=(".csv",),
            takes=TABLE_OPTIONS,
        ),
        Format(
            "jsonl",
            "such a table, an object on each line",
            read_table,
            suffixes=(".jsonl", ".ndjson"),
            takes=TABLE_OPTIONS,
        ),
        Format(
            "parquet",
            "such a table",
            read_table,
            suffixes=(".parquet",),
            magic=b"PAR1",
            writer="parquet",
            takes=TABLE_OPTIONS,
        ),
        of_lines(
            "subtopic",
            "qrels by subtopics: `query subtopic document label`",
            lines.GROUPS,
            holds="groups",
            writer="groups",
        ),
        of_lines(
            "qrels_jg",
            "qrels by groups of judges: `query group document label`",
            lines.GROUPS,
            holds="groups",
            writer="groups",
        ),
        of_lines(
            "prefs",
            "preferences: `query judge part document level`",
            lines.PREFS,
            holds="preferences",
            writer="preferences",
        ),
        of_lines("qrels_prefs", "preferences without the part", lines.QRELS_PREFS, holds="preferences"),
        of_lines(
            "strata",
            "samples of a pool: `query iteration document stratum label`",
            (lines.STRATA, lines.STRATA_STRATUM),
            read=read_sample,
            holds="sample",
            writer="sample",
        ),
        of_lines(
            "prels",
            "samples of a pool: `query document label method probability`",
            (lines.PRELS, lines.PRELS_LABEL, lines.PRELS_METHOD),
            read=read_sample,
            holds="sample",
            writer="sample",
        ),
    ),
)
QRELS_FORMATS = FORMATS.only(lambda card: "qrels" in card.of)
RUN_FORMATS = FORMATS.only(lambda card: "run" in card.of)
TREC = tuple(FORMATS.only(lambda card: card.streamed))  # files whose names say nothing
TABLES = tuple(FORMATS.only(lambda card: "columns" in card.takes))
SUFFIXES = {suffix: card.name for card in FORMATS.values() for suffix in card.suffixes}


def written_formats(holds: str) -> Table[Format]:
    """The formats in which qrels or runs that hold something are written."""
    return FORMATS.only(lambda card: bool(card.writer) and card.holds == holds)


def file_format(path: Any, lines: str = "trec") -> str:
    """The format that the name of a place stands for, .gz and .zst do not count.

    A folder stands for Parquet, and so does a pattern unless it is one of JSON files.

    Any other name stands for `lines`, unless the file begins with BEIR's header. A file object without such a name is
    Parquet if its first bytes say so.
    """
    name = places.place_name(path)
    if files.file_packing(name):
        name = os.path.splitext(name)[0]
    by_suffix = SUFFIXES.get(os.path.splitext(name)[1].lower())
    if places.is_many(path):
        return "json" if by_suffix == "json" else "parquet"
    return by_suffix or begun_as(path) or lines


def begun_as(path: Any) -> str | None:
    """The format that the first bytes of a file tell, None if they tell none or could be read only once.

    What the file is damaged by is found by whoever reads it.
    """
    is_object = places.is_file_object(path)
    if not (places.reopens(path) if is_object else places.on_disk(path)):
        return None
    length = 2 * len(HEADER)
    try:
        if is_object:
            head = places.opened(path).read(length)
        else:
            with open(path, "rb", 0) as file:
                head = file.read(length)
        for card in FORMATS.values() if is_object else ():
            if card.magic and head.startswith(card.magic):
                return card.name
        if files.packed_as(head[: files.HEAD]):
            with files.Source(path) as source:
                head = source.read(length)
    except (FormatError, OSError):
        return None
    line = head.removeprefix(files.BOM).partition(b"\n")[0]
    return next((card.name for card in FORMATS.values() if card.header and line.strip() == card.header), None)


def find_format(path: Any, is_run: bool, format: str | None) -> Format:
    """The card of a format; None is the format of the file's name."""
    return FORMATS[file_format(path)] if format is None else (RUN_FORMATS if is_run else QRELS_FORMATS).find(format)


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
        The queries of JSON files of search responses, as `search_responses.given_ids` takes them.

    Returns
    -------
    tuple
        query_ids, offsets, ids, numbers, repairs: see `trec.read`.

    Raises
    ------
    ValueError
        The format or the rule for duplicates does not exist, or qrels are to be read from standard input; a threshold
        is given for a file that is no table, or query ids for one that is no JSON.
    FormatError, DuplicateError, OSError
        The file does not have the expected content, or cannot be read.
    """
    card = find_format(path, is_run, format)
    check_choice("duplicates", duplicates, DUPLICATES)
    if not is_run and isinstance(path, str) and path == "-":
        raise ValueError("qrels cannot be read from standard input; expected a path")
    if query_ids is not None and "query_ids" not in card.takes:
        raise ValueError(f"query_ids is for responses of searches in JSON, got format {card.name!r}")
    if threshold is not None and "threshold" not in card.takes:
        raise ValueError(f"threshold is for ratings in a table, {', '.join(TABLES)}; got format {card.name!r}")
    wanted = encode(only) if only is not None and card.lines else None
    line_format = card.lines.get("run" if is_run else "qrels")
    return card.read(
        Reading(path, is_run, card.name, duplicates, columns, watch, threshold, wanted, query_ids, line_format)
    )


def write(path: Path, data: Nested, is_run: bool, format: str | None) -> None:
    """Save judgments or rankings in one step; None is the format of the name.

    Raises
    ------
    ValueError
        The format cannot be written, or cannot hold an id or a number.
    OSError
        The file cannot be written; its old content is untouched.
    """
    from fastir.inputs import writers

    writable = written_formats("labels")
    path = os.fsdecode(path)
    card = FORMATS[file_format(path)] if format is None else writable.find(format)
    if card.name not in writable or (card.name == "parquet" and files.file_packing(path)):
        what = "packed Parquet" if card.name in writable else card.name
        raise ValueError(f"cannot write {quote(path)}: {what} can only be read; expected {', '.join(writable)}")

    with files.created(path) as file:
        try:
            getattr(writers, card.writer)(file, data, is_run)
        except ValueError as error:
            raise ValueError(f"cannot write {quote(path)}: {error}") from None
