"""What can be wrong with a submission: each kind of fault, how bad it is, and whether `evaluate` refuses it."""

from __future__ import annotations

from typing import NamedTuple

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


def refused(about: str) -> Kind:
    return Kind(FAULT, True, about)


def taken(about: str) -> Kind:
    return Kind(FAULT, False, about)


def remark(about: str) -> Kind:
    return Kind(REMARK, False, about)


KINDS = {  # in the order in which they are shown
    "empty file": refused("there is no line with data"),
    "damaged file": refused("the compressed data are damaged or end early; the lines before are checked"),
    "UTF-16": refused("the file is UTF-16; it is checked as if it were UTF-8"),
    "CR line ends": refused("lines end in a carriage return alone; they are checked as if they ended in LF"),
    "swapped files": refused("a run was given in place of judgments, or the reverse; it is checked as what it is"),
    "header": refused("a BEIR file does not begin with its header"),
    "long line": refused("a line has more than 16 MiB; the lines after it are not read"),
    "malformed line": refused("a line has the wrong number of fields"),
    "number": refused("a score, label or rank of results is not a number, NaN, too large or out of range"),
    "rank": refused("the rank in a TREC run is not a number"),
    "NUL byte": refused("a line holds a NUL byte"),
    "carriage return": refused("there is a carriage return inside a line"),
    "comment with data": refused("a line begins with `#` and has the fields of a line with data"),
    "quotation mark": refused("an id in a BEIR file begins with a quotation mark"),
    "duplicate": refused("a duplicate document in a ranking, or in the judgments of a query"),
    "refused input": refused("the reader of a dict, a table or another format refuses it"),
    "no common query": refused("no query of the run is in the qrels"),
    "no common document": refused("no ranking holds a judged document, but some would if ids were written alike"),
    "not UTF-8": taken("a line is not UTF-8; its ids are compared as bytes"),
    "missing query": taken("the run has no result for a query"),
    "unknown query": taken("a query of the run is not in the qrels, or not among the queries that a run must have"),
    "document ids": taken(
        "a ranking holds no judged document, and its ids are written differently; or no ranking holds one"
    ),
    "ranks against scores": taken("a document has a better rank but a lower score than another document of its query"),
    "scores as ranks": taken(
        "ranks look like scores: they do not ascend, or have gaps and begin neither at 0 nor at 1"
    ),
    "other columns": taken("labels look like times, ids or lengths, or the lines like ratings or a run"),
    "swapped data": taken("the labels look like scores, and the scores like labels: qrels and run may be swapped"),
    "different tags": taken("a tag is not that of the first line"),
    "negative label": taken("a label is below -2; -1 and -2 mean in the pool and not relevant"),
    "too many documents": taken("a ranking has more documents than `max_depth`"),
    "tag form": taken("a tag does not match the pattern `tag`"),
    "byte order mark": remark("the file begins with a byte order mark, which is skipped"),
    "CRLF line ends": remark("lines end in CR LF"),
    "blank lines": remark("blank lines, which are skipped"),
    "comment lines": remark("lines that begin with `#`, which are skipped"),
    "more fields": remark("lines of a run have more than six fields"),
    "rank form": remark("ranks are not whole numbers from 0 up"),
    "infinite scores": remark("scores are infinite"),
    "labels that are not whole": remark("labels are fractions, which some tools truncate"),
    "labels below 1": remark("labels are fractions, and none reaches 1, the usual `rel_level`"),
    "no relevant document": remark("a query has no label above 0, so most metrics are 0 for every run"),
    "run length": remark("the rankings of a run differ in length"),
    "ties": remark("documents of a query have equal scores: their order does not follow the ranks"),
    "nothing judged": remark("a ranking holds no judged document"),
    "unjudged documents": remark("ranked documents are not in the qrels"),
}
ORDER = {kind: place for place, kind in enumerate(KINDS)}
OF_PROBLEM = {  # the kind of what line_formats calls a problem; of a number, "number"
    "fields": "malformed line",
    "no rank": "rank",
    "nul": "NUL byte",
    "carriage return": "carriage return",
    "data comment": "comment with data",
    "quotation": "quotation mark",
}
# Kinds that are counted, not listed: the words for one and for several of them
COUNTED = {
    "CRLF line ends": ("line ends in CR LF", "lines end in CR LF"),
    "blank lines": ("line is blank", "lines are blank"),
    "comment lines": ("line is a comment", "lines are comments"),
    "more fields": ("line has more than six fields", "lines have more than six fields"),
    "rank form": ("rank is not a whole number from 0 up", "ranks are not whole numbers from 0 up"),
    "infinite scores": ("score is infinite", "scores are infinite"),
    "labels that are not whole": ("label is not whole", "labels are not whole"),
}
