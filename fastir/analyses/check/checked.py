"""Checked: what `check` returns, a record for each fault, which prints as a table with a few examples of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from fastir.data.results.exportable import Exportable, columns_from_records
from fastir.errors import quote
from fastir.rendering import Cell, Table
from fastir.rendering.text import counted, json_types

FAULT, REMARK = "fault", "remark"


class Kind(NamedTuple):
    """A kind of fault.

    Attributes
    ----------
    severity : {"fault", "remark"}
    refused : bool
        Whether `evaluate` raises an error for it.
    about : str
    """

    severity: str
    refused: bool
    about: str


def refusal(about: str) -> Kind:
    return Kind(FAULT, True, about)


def fault(about: str) -> Kind:
    return Kind(FAULT, False, about)


def remark(about: str) -> Kind:
    return Kind(REMARK, False, about)


KINDS = {  # in the order in which they are shown
    "empty file": refusal("there is no line with data"),
    "damaged file": refusal("the compressed data are damaged or end early; the lines before are checked"),
    "UTF-16": refusal("the file is UTF-16; it is checked as if it were UTF-8"),
    "CR line ends": refusal("lines end in a carriage return alone; they are checked as if they ended in LF"),
    "swapped files": refusal("a run was given instead of judgments, or the reverse; it is checked as what it is"),
    "header": refusal("a BEIR file does not begin with its header"),
    "long line": refusal("a line has more than 16 MiB; the lines after it are not read"),
    "malformed line": refusal("a line has the wrong number of fields"),
    "number": refusal("a score, label or rank of results is not a number, NaN, too large or out of range"),
    "rank": refusal("the rank in a TREC run is not a number"),
    "NUL byte": refusal("a line holds a NUL byte"),
    "carriage return": refusal("there is a carriage return inside a line"),
    "comment with data": refusal("a line begins with `#` and has the fields of a line with data"),
    "quotation mark": refusal("an id in a BEIR file begins with a quotation mark"),
    "duplicate": refusal("a duplicate document in a ranking, or in the judgments of a query"),
    "refused input": refusal("the reader of a dict, a table or another format refuses it"),
    "no common query": refusal("no query of the run is in the qrels"),
    "no common document": refusal("no ranking holds a judged document, but some would if ids were written alike"),
    "not UTF-8": fault("a line is not UTF-8; its ids are compared as bytes"),
    "missing query": fault("the run has no result for a query"),
    "unknown query": fault("a query of the run is not in the qrels, or not among the queries that a run must have"),
    "document ids": fault(
        "a ranking holds no judged document, and its ids are written differently; or no ranking holds one"
    ),
    "ranks against scores": fault("a document has a better rank but a lower score than another document of its query"),
    "scores as ranks": fault(
        "ranks look like scores: they do not ascend, or have gaps and begin neither at 0 nor at 1"
    ),
    "other columns": fault("labels look like times, ids or lengths, or the lines like ratings or a run"),
    "swapped data": fault("the labels look like scores, and the scores like labels: qrels and run may be swapped"),
    "different tags": fault("a tag differs from the first line's"),
    "negative label": fault("a label is below -2; -1 and -2 mean in the pool and not relevant"),
    "too many documents": fault("a ranking has more documents than `max_depth`"),
    "tag form": fault("a tag does not match the pattern `tag`"),
    "unknown document": fault("a judged or retrieved document is not in the collection `corpus`"),
    "byte order mark": remark("the file begins with a byte order mark, which is skipped"),
    "CRLF line ends": remark("lines end in CR LF"),
    "blank lines": remark("blank lines, which are skipped"),
    "comment lines": remark("lines that begin with `#`, which are skipped"),
    "more fields": remark("lines of a run have more than six fields"),
    "rank form": remark("ranks are not integers from 0 up"),
    "infinite scores": remark("scores are infinite"),
    "real-valued labels": remark("labels are fractions, which some tools truncate"),
    "rows without a label": remark("the table of qrels has no labels: all that it lists is relevant"),
    "labels below 1": remark("labels are fractions, and none reaches 1, the usual `rel_level`"),
    "no relevant document": remark("a query has no label above 0, so most metrics are 0 for every run"),
    "run length": remark("the rankings of a run differ in length"),
    "ties": remark("documents of a query have equal scores: their order does not follow the ranks"),
    "nothing judged": remark("a ranking holds no judged document"),
    "unjudged documents": remark("ranked documents are not in the qrels"),
}
KIND_ORDER = {kind: place for place, kind in enumerate(KINDS)}
KIND_OF_PROBLEM = {  # the kind for each word of line_formats; "number" for a problem with a number
    "fields": "malformed line",
    "no rank": "rank",
    "nul": "NUL byte",
    "carriage return": "carriage return",
    "data comment": "comment with data",
    "quotation": "quotation mark",
}
# Kinds that are counted, not listed: the words for one and for several of them
COUNTED_KINDS = {
    "CRLF line ends": ("line ends in CR LF", "lines end in CR LF"),
    "blank lines": ("line is blank", "lines are blank"),
    "comment lines": ("line is a comment", "lines are comments"),
    "more fields": ("line has more than six fields", "lines have more than six fields"),
    "rank form": ("rank is not an integer from 0 up", "ranks are not integers from 0 up"),
    "infinite scores": ("score is infinite", "scores are infinite"),
    "real-valued labels": ("label is a fraction", "labels are fractions"),
}


# ---- faults of files -------------------------------------------------------------------------------------------------
class Fault(NamedTuple):
    """A fault or a remark: something that is wrong, or worth knowing.

    Attributes
    ----------
    severity : {"fault", "remark"}
    kind : str
        One of the kinds listed in docs/check.md.
    file : str
        The file; for other data the name of the run, or "qrels".
    line : int or None
        From 1; the first line if `number` is more than 1.
    query_id, doc_id : str or None
    text : str
        What is wrong, in words.
    number : int
        How often the fault occurs, if each occurrence would read the same, as blank lines do; otherwise 1.
    """

    severity: str
    kind: str
    file: str
    line: int | None
    query_id: str | None
    doc_id: str | None
    text: str
    number: int = 1

    def where(self) -> str:
        """The line, or else the query, in words."""
        if self.line is not None:
            return f"line {self.line}"
        return "" if self.query_id is None else f"query {self.query_id}"


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Checked(Exportable):
    """All faults of qrels and runs; made by `check`. Iteration gives each fault; prints as a table.

    Attributes
    ----------
    faults : list of Fault
        Faults and remarks: first the qrels, then each run. Within a file the worst kinds come first, and
        each kind is in the order of lines.
    files : list of str
        The checked files, the qrels first.
    examples : int
        How many faults of each kind and file the table shows.
    """

    faults: list[Fault]
    files: list[str]
    examples: int = 3

    def __iter__(self) -> Iterator[Fault]:
        return iter(self.faults)

    def __len__(self) -> int:
        return len(self.faults)

    @property
    def ok(self) -> bool:
        """Whether there are no faults; remarks do not count."""
        return not any(fault.severity == FAULT for fault in self.faults)

    def of(self, severity: str | None = None, kind: str | None = None, file: str | None = None) -> list[Fault]:
        """The faults of one severity, kind and file, as a new list; None means any."""
        filters = {"severity": severity, "kind": kind, "file": file}
        chosen = {name: value for name, value in filters.items() if value is not None}
        return [fault for fault in self.faults if all(getattr(fault, name) == value for name, value in chosen.items())]

    def counts(self) -> dict[str, dict[str, int]]:
        """{file: {kind: number of faults}} of all checked files."""
        by_file: dict[str, dict[str, int]] = {file: {} for file in self.files}
        for fault in self.faults:
            kinds = by_file.setdefault(fault.file, {})
            kinds[fault.kind] = kinds.get(fault.kind, 0) + fault.number
        return by_file

    def summary(self) -> str:
        """The number of faults and remarks, in words."""
        n_faults = sum(fault.number for fault in self.of(FAULT))
        said = counted(n_faults, "fault", "faults") + f", {counted(len(self.of(REMARK)), 'remark', 'remarks')}"
        return f"{said} in {counted(len(self.files), 'file', 'files')}"

    def _columns(self) -> dict[str, list[Any]]:
        return columns_from_records(Fault._fields, self.faults)

    def _json(self, per_query: bool = True) -> dict[str, Any]:
        data = {"ok": self.ok, "files": self.files, "counts": self.counts()}
        if per_query:
            data["faults"] = [fault._asdict() for fault in self.faults]
        return json_types(data)

    def _table(self, digits: int = 4) -> Table:
        counts, shown = self.counts(), dict[tuple[str, str], int]()
        rows = []
        for fault in self.faults:
            group = fault.file, fault.kind
            shown[group] = shown.get(group, 0) + 1
            number = counts[fault.file][fault.kind]
            if shown[group] <= self.examples:
                texts = fault.severity, fault.kind, str(number), fault.where(), fault.text
                rows.append([Cell(fault.file), *map(Cell, texts)])
        hidden = len(self.faults) - len(rows)
        more = f"; the table leaves out {hidden} of them" if hidden else ""
        return Table(["file", "severity", "kind", "count", "where", "what"], rows, 6, [f"{self.summary()}{more}."])


# ---- the faults of one file, while they are found --------------------------------------------------------------------
MAX_LISTED = 100_000  # faults of one kind that are listed; a file of another format has one in each line


class Findings:
    """What was found in one file.

    Parameters
    ----------
    file : str
        Its name, or a description of it.
    """

    def __init__(self, file: str) -> None:
        self.file: str = file
        self.faults: list[Fault] = []
        self.numbers: dict[str, int] = {}  # of each kind
        self.counted: dict[str, tuple[int | None, str]] = {}  # line and text of the first of each kind

    def add(
        self,
        kind: str,
        text: str,
        line: int | None = None,
        query_id: str | None = None,
        doc_id: str | None = None,
        occurrences: int = 1,
    ) -> None:
        """List a fault."""
        self.numbers[kind] = number = self.numbers.get(kind, 0) + 1
        if number <= MAX_LISTED:
            self.faults.append(Fault(KINDS[kind].severity, kind, self.file, line, query_id, doc_id, text, occurrences))

    def count(self, kind: str, line: int | None, text: str = "", more: int = 1) -> None:
        """Count some more of a kind of COUNTED_KINDS; the first call says where it occurs."""
        self.numbers[kind] = self.numbers.get(kind, 0) + more
        self.counted.setdefault(kind, (line, text))

    def sort(self) -> list[Fault]:
        """All faults, the worst kinds first, and each kind by its lines."""
        faults = list(self.faults)
        for kind, (line, text) in self.counted.items():
            number = self.numbers[kind]
            words = counted(number, *COUNTED_KINDS[kind]) + (f", such as {quote(text)}" if text else "")
            faults.append(Fault(KINDS[kind].severity, kind, self.file, line, None, None, words, number))
        for kind, number in self.numbers.items():
            if kind not in COUNTED_KINDS and number > MAX_LISTED:
                more = number - MAX_LISTED
                text = f"... and {more} more that are not listed"
                faults.append(Fault(KINDS[kind].severity, kind, self.file, None, None, None, text, more))
        unplaced = max((fault.line or 0 for fault in faults), default=0) + 1
        return sorted(faults, key=lambda fault: (KIND_ORDER[fault.kind], fault.line or unplaced))
