"""The scan of a file of lines: every fault with its line, where the readers of `evaluate` stop at the first.

What a line means is said by the LineFormats of the readers, and so are the words for what is wrong with it. The
compiled LineTable reads the lines that are right; `LineRows.take` gets the others, one by one.
"""

from __future__ import annotations

import codecs
import itertools
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from fastir.analyses.check._rows import LineTable
from fastir.analyses.check.checked import KIND_OF_PROBLEM, Findings
from fastir.analyses.check.rules import Rules
from fastir.analyses.check.sides import Side
from fastir.engine.columns._number import fast_number, slow_number
from fastir.engine.columns.ids import Arena
from fastir.engine.columns.line_formats import TREC_QRELS, WHAT, LineFormat, explain
from fastir.engine.columns.other_formats import HEADER, hint_for_line
from fastir.engine.columns.rows import occurrences, offsets_from_sizes, repeat
from fastir.errors import FormatError, quote
from fastir.inputs import formats
from fastir.inputs.files import ByteReader, Watch
from fastir.inputs.misread import SAMPLE_BYTES, SAMPLE_ROWS, misread_qrels, misread_ranks
from fastir.inputs.trec import MAX_LINE_BYTES, show
from fastir.rendering.text import counted

# ---- a file as lines, whatever its encoding --------------------------------------------------------------------------
BLOCK_BYTES = 1 << 20  # bytes that are read at a time
UTF_16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}  # by the mark at the beginning


def read_texts(place: Any, findings: Findings, watch: Watch | None = None) -> Iterator[tuple[bytes, bytes]]:
    """Whole lines of a file, and what ends each; what is wrong with the file as a whole goes to the findings."""
    rest = b""
    end = b"\n"
    decoder: codecs.IncrementalDecoder | None = None
    with ByteReader(place) as source:
        if "byte order mark" in source.repairs:
            findings.add("byte order mark", "the file begins with a byte order mark", 1)
        for number, block in enumerate(read_blocks(source, findings, watch)):
            text = block
            if number == 0 and (encoding := wide_encoding(block)):
                findings.add("UTF-16", "the file is UTF-16; expected UTF-8", 1)
                decoder = codecs.getincrementaldecoder(encoding)("replace")
            if decoder is not None:
                text = decoder.decode(block).removeprefix("\ufeff").encode("utf-8", "surrogatepass")
            if number == 0 and b"\n" not in text and b"\r" in text.rstrip(b"\r"):
                findings.add("CR line ends", "lines end in a carriage return alone; expected LF or CRLF", 1)
                end = b"\r"
            text = rest + text
            stop = text.rfind(end) + 1
            rest = text[stop:]
            if stop:
                yield text[:stop], end
            if len(rest) > MAX_LINE_BYTES:
                findings.add("long line", f"a line has more than {MAX_LINE_BYTES >> 20} MiB; what follows is not read")
                return
    if rest and "damaged file" not in findings.numbers:
        yield rest, end


def read_blocks(source: ByteReader, findings: Findings, watch: Watch | None) -> Iterator[bytes]:
    """The bytes of a file up to its end, or to where compressed data are damaged."""
    head = source.carried
    while True:
        if watch is not None:
            watch(source.position())
        try:
            with source.naming():
                block = source.file.read1(BLOCK_BYTES)  # which returns what comes before the damage
        except FormatError as error:
            findings.add("damaged file", str(error.args[0]))
            block = b""
        if not head + block:
            return
        yield head + block
        head = b""


def wide_encoding(head: bytes) -> str | None:
    """The name of the UTF-16 in which a file begins, with a mark or with an ASCII character."""
    if head[:2] in UTF_16:
        return UTF_16[head[:2]]
    if len(head) > 3 and head[1] == head[3] == 0 and head[0] and head[2]:
        return "utf-16-le"
    return "utf-16-be" if len(head) > 3 and head[0] == head[2] == 0 and head[1] and head[3] else None


# ---- the scan --------------------------------------------------------------------------------------------------------
FORMATS = tuple(formats.RUN_FORMATS.only(lambda card: any(card.lines)))
SAMPLE_LINES = 100  # lines that tell whether a run was given instead of judgments
SWAP = re.compile("; it looks like [^;]*: are the two files swapped[?]")  # a guess from one line; here all are known
TAG_FIELD = 5  # the index of a tag among the fields
LARGEST, SMALLEST = 2.0**31 - 1, -(2.0**31)


def scan_lines(
    place: Any, is_run: bool, format: str, findings: Findings, rules: Rules, watch: Watch | None = None
) -> Side:
    """Read a file and note all faults of its lines."""
    texts = read_texts(place, findings, watch)
    first: list[tuple[bytes, bytes]] = []
    head: list[bytes] = []
    while len(head) < SAMPLE_LINES and (some := next(texts, None)):
        first.append(some)
        text, end = some
        head += text.removesuffix(end).split(end, SAMPLE_LINES)[: SAMPLE_LINES - len(head)]
    if format == "trec" and is_swapped(head, is_run):
        what, expected = ("judgments", "a run is") if is_run else ("a run", "judgments are")
        findings.add("swapped files", f"the file holds {what}, where {expected} expected: are the files swapped?")
        is_run = not is_run
    rows = LineRows(is_run, formats.FORMATS[format].lines[is_run], findings, rules)
    rows.take_all(itertools.chain(first, texts))
    rows.note_misread(b"\n".join(head))
    return rows


def is_swapped(head: list[bytes], is_run: bool) -> bool:
    """Whether most of some lines look like lines of the other side."""
    texts = [show(line) for line in head if line[:1] != b"#" and line.strip()]
    others = sum(SWAP.search(hint_for_line(text, is_run, True)) is not None for text in texts)
    return 2 * others > len(texts)


class LineRows(Side):
    """The rows of a file of lines, as columns.

    Parameters
    ----------
    is_run : bool
    line_format : LineFormat
    findings : Findings
    rules : Rules
        The pattern that tags must match.
    """

    def __init__(self, is_run: bool, line_format: LineFormat, findings: Findings, rules: Rules) -> None:
        super().__init__(is_run, findings)
        self.line_format = line_format
        self.rules = rules
        self.tags: dict[bytes, None] = {}
        self.has_tags: bool = is_run and line_format.behind == "some"
        self.has_ranks: bool = is_run and line_format.number == line_format.doc + 2
        self.is_whole: bool = True  # whether no line had to be left out
        self.first_numbers: np.ndarray = np.empty(0)  # in the order of the lines
        self.order: np.ndarray | None = None  # the position of each row in the file, unless they are in its order
        self.table: LineTable = LineTable(line_format, is_run, self.has_ranks)

    def take_all(self, texts: Iterable[tuple[bytes, bytes]]) -> None:
        """Read whole lines, each text with what ends its lines; `take` gets those that may be wrong."""
        for text, end in texts:
            if end == b"\n" and (text.isascii() or is_utf8(text)):
                self.table.read(text, self.take)
            else:
                self.table.skip(self.take, text.removesuffix(end).split(end))
        if self.table.n_crlf:
            self.findings.count("CRLF line ends", None, "", self.table.n_crlf)
        if not self.table.n_rows and self.is_whole:
            kind = "run is empty: no result" if self.is_run else "qrels are empty: no judgment"
            self.findings.add("empty file", f"the {kind} lines")
        self.group()

    def group(self) -> None:
        """Put the rows of a query together."""
        text, starts, self.numbers, ranks = self.table.take_columns()
        self.ids, self.ranks = Arena(text, starts, None), ranks if self.has_ranks else None
        self.first_numbers = self.numbers[:SAMPLE_ROWS]
        self.query_ids = list(map(show, self.table.query_ids))
        first_rows, queries = np.array([*self.table.stretches, (self.table.n_rows, 0)], np.int64).T
        sizes = np.diff(first_rows)
        self.offsets = offsets_from_sizes(occurrences(queries[:-1], sizes, len(self.query_ids)))
        if len(queries) - 1 > len(self.query_ids):
            self.order = np.argsort(repeat(queries[:-1], sizes), kind="stable")
            self.ids = self.ids.take(self.order)
            self.numbers = self.numbers[self.order]
            self.ranks = None if self.ranks is None else self.ranks[self.order]

    def lines_of(self, rows: np.ndarray) -> np.ndarray:
        rows = rows if self.order is None else self.order[rows]
        first_rows, n_skipped = np.array(self.table.skips).T
        return rows + 1 + n_skipped[np.searchsorted(first_rows, rows, "right") - 1]

    def take(self, line: bytes, number: int) -> None:
        """Read a line: a row, a line that is skipped, or a fault."""
        if line[-1:] == b"\r":
            self.findings.count("CRLF line ends", number)
            line = line.rstrip(b"\r")
        if not line.isascii() and not is_utf8(line):
            self.findings.add("not UTF-8", f"the line is not UTF-8: {quote(line)}", number)
        if b"\0" in line:
            self.refuse("nul", line, number)
        elif b"\r" in line:
            self.refuse("carriage return", line, number)
        elif number == 1 and self.line_format.tabs:
            if line.strip() != HEADER.encode():
                self.is_whole = False
                self.findings.add("header", f"the header is {quote(show(line))}, expected {HEADER!r}", 1)
        elif not (fields := line.split()):
            self.findings.count("blank lines", number)
        elif self.line_format.tabs:
            self.take_tabs(line, number)
        elif line[:1] == b"#":
            self.take_comment(fields, line, number)
        else:
            self.take_fields(fields, line, number)

    def take_comment(self, fields: list[bytes], line: bytes, number: int) -> None:
        if self.fits(fields) and slow_number(fields[self.line_format.number]) is not None:
            self.refuse("data comment", line, number)
        else:
            self.findings.count("comment lines", number)

    def fits(self, fields: list[bytes]) -> bool:
        """Whether a line has as many fields as its format says."""
        behind = len(fields) - self.line_format.number - 1
        return behind >= 1 if self.line_format.behind == "some" else 0 <= behind <= (self.line_format.behind != "none")

    def take_tabs(self, line: bytes, number: int) -> None:
        """Read a row with single tabs between query, document and number; blanks may follow the number."""
        fields = line.split(b"\t", 2)
        if len(fields) < 3 or b"" in fields:
            self.refuse("fields", line, number)
        elif b'"' in (fields[0][:1], fields[1][:1]):
            self.refuse("quotation", line, number)
        else:
            token = fields[2].split()[0] if fields[2][:1].strip() else b""
            value: float | str | None = fast_number(token) if token else None
            if value is None:  # the readers then take all up to a tab for the number
                token = fields[2].partition(b"\t")[0]
                value = slow_number(token)
            if value is not None and fields[2][len(token) :].strip():
                self.refuse("fields", line, number)
            else:
                self.add_row(fields[0], fields[1], math.nan, value, line, number)

    def take_fields(self, fields: list[bytes], line: bytes, number: int) -> None:
        """Read a row with blanks between its fields."""
        form = self.line_format
        if not self.fits(fields):
            self.refuse("fields", line, number)
            return
        rank = self.read_rank(fields, line, number) if self.has_ranks else math.nan
        if self.has_tags:
            if len(fields) > TAG_FIELD + 1:
                self.findings.count("more fields", number)
            if fields[TAG_FIELD] not in self.tags:
                self.take_tag(fields[TAG_FIELD], number)
        self.add_row(fields[0], fields[form.doc], rank, slow_number(fields[form.number]), line, number)

    def read_rank(self, fields: list[bytes], line: bytes, number: int) -> float:
        """The rank that a line says, NaN if it says none."""
        token = fields[self.line_format.number - 1]
        rank = slow_number(token)
        if self.line_format.ranked and rank is None:
            self.refuse("no rank", line, number, fields)
        elif not token.isdigit():
            self.findings.count("rank form", number, show(token))
        return rank if isinstance(rank, float) else math.nan

    def take_tag(self, tag: bytes, number: int) -> None:
        """Look at a tag that no line before has."""
        shown = quote(show(tag))
        if self.tags:
            first = quote(show(next(iter(self.tags))))
            self.findings.add("different tags", f"the tag is {shown}; the first line's tag is {first}", number)
        self.tags[tag] = None
        if self.rules.tag is not None and not self.rules.tag.fullmatch(show(tag)):
            wanted = quote(self.rules.tag.pattern)
            self.findings.add("tag form", f"the tag {shown} does not match {wanted}", number)

    def add_row(
        self, query: bytes, doc: bytes, rank: float, value: float | str | None, line: bytes, number: int
    ) -> None:
        """Keep a row, without its number if that is wrong."""
        if not isinstance(value, float):
            problem, value = "number" if value is None else "overflow", math.nan
        else:
            problem = self.meaning(value, number)
        if problem:
            self.refuse(problem, line, number, [query, doc])
            value = math.nan
        self.table.add(query, doc, -value if self.line_format.what == "rank" else value, rank)

    def meaning(self, value: float, number: int) -> str:
        """The problem of a number that is a label or a rank, as the readers find it; "" if there is none."""
        kind = WHAT[self.line_format.what]
        if kind == "number":
            if math.isinf(value):
                self.findings.count("infinite scores", number)
            return ""
        if not SMALLEST <= value <= LARGEST:
            return "range"
        if kind == "label":
            return ""
        return "fraction" if not value.is_integer() else "negative" if value < 0 else ""

    def refuse(self, problem: str, line: bytes, number: int, fields: list[bytes] | None = None) -> None:
        """Note the problem of a line; its query and document are known if its fields are."""
        self.is_whole = False
        text = SWAP.sub("", explain(self.line_format, problem, line)[0])
        query_id = doc_id = None
        if fields is not None:
            query_id, doc_id = show(fields[0]), show(fields[1] if len(fields) == 2 else fields[self.line_format.doc])
        self.findings.add(KIND_OF_PROBLEM.get(problem, "number"), text, number, query_id, doc_id)

    def note_misread(self, head: bytes) -> None:
        """Note columns that look like something else than they are read as; the head is the first lines."""
        if self.line_format.what == "rank" and len(self.numbers):
            if found := misread_ranks(-self.numbers, self.offsets.tolist()):
                self.findings.add(
                    "scores as ranks",
                    f"{counted(found[0], 'query', 'queries')} with ranks that look like scores, such as {found[1]}",
                )
        elif self.line_format.what == "label":
            has_iterations = self.line_format is TREC_QRELS
            if problem := misread_qrels(head[: SAMPLE_BYTES - 1] if has_iterations else b"", self.first_numbers):
                self.findings.add("other columns", problem)


def is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
