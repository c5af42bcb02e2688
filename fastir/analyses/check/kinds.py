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
    "byte order mark": remark("the file begins with a byte order mark, which is skipped"),
    "CRLF line ends": remark("lines end in CR LF"),
    "blank lines": remark("blank lines, which are skipped"),
    "comment lines": remark("lines that begin with `#`, which are skipped"),
    "more fields": remark("lines of a run have more than six fields"),
    "rank form": remark("ranks are not integers from 0 up"),
    "infinite scores": remark("scores are infinite"),
    "real-valued labels": remark("labels are fractions, which some tools truncate"),
    "labels below 1": remark("labels are fractions, and none reaches 1, the usual `rel_level`"),
    "no relevant document": remark("a query has no label above 0, so most metrics are 0 for every run"),
    "run length": remark("the rankings of a run differ in length"),
    "ties": remark("documents of a query have equal scores: their order does not follow the ranks"),
    "nothing judged": remark("a ranking holds no judged document"),
    "unjudged documents": remark("ranked documents are not in the qrels"),
}
ORDER = {kind: place for place, kind in enumerate(KINDS)}
KIND_OF_PROBLEM = {  # the kind for each word of line_formats; "number" for a problem with a number
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
    "rank form": ("rank is not an integer from 0 up", "ranks are not integers from 0 up"),
    "infinite scores": ("score is infinite", "scores are infinite"),
    "real-valued labels": ("label is a fraction", "labels are fractions"),
}
