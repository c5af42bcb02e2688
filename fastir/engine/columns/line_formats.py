"""The lines that `_trec` reads: the meaning of each field, and the messages for bad lines."""

from __future__ import annotations

from fastir.declared import Record
from fastir.engine.columns.other_formats import hint_for_line
from fastir.errors import quote
from fastir.rendering.text import counted


class LineFormat(Record):
    """The fields of a line, counted from 0; the query is the first."""

    name: str
    expected: str  # for messages
    doc: int  # the field of the document
    number: int  # the field of the number
    what: str  # the meaning of the number, a key of WHAT
    behind: str  # the fields behind it: "none", "at most one" or "some"
    tabs: bool = False  # whether a tab ends a field, and nothing else does; the first line is then HEADER
    query: int = 1  # how many fields the query takes: the second is a group of its judgments, the third a part of that
    ranked: bool = False  # whether the field before the number is a rank, and must be a number


# What a number is -> "number" (any), "label" (in the range of 32 bits), "integer" (of 32 bits), "rank" (an integer from
# 0 up), "probability" (above 0 and at most 1; NA is NaN) or "none" (the document is the last field).
WHAT = {
    "score": "number",
    "level": "number",
    "label": "label",
    "sampled label": "integer",
    "stratum": "integer",
    "method": "integer",
    "rank": "rank",
    "inclusion probability": "probability",
    "nothing": "none",
}

TREC_QRELS = LineFormat("qrels", "exactly 4 fields (query iteration document label)", 2, 3, "label", "none")
TREC_RUN = LineFormat("run", "6 fields or more (query Q0 document rank score tag)", 2, 4, "score", "some", ranked=True)
TREC_EVAL_RUN = TREC_RUN._replace(ranked=False)  # as the program reads it: anything may be the rank
BEIR_RUN = LineFormat("BEIR run", "3 fields, tabs between (query document score)", 1, 2, "score", "none", True)
BEIR_QRELS = LineFormat("BEIR qrels", "3 fields, tabs between (query document label)", 1, 2, "label", "none", True)
MSMARCO_RUN = LineFormat(
    "MS MARCO run", "3 fields (query document rank), or 4 (the score, too)", 1, 2, "rank", "at most one"
)
PAIRS = LineFormat("pairs", "exactly 2 fields (query document)", 1, 1, "nothing", "none")
GROUPS = TREC_QRELS._replace(query=2)  # whose iteration is a subtopic or a group of judges
PREFS = LineFormat("prefs", "exactly 5 fields (query judge part document level)", 3, 4, "level", "none", query=3)
QRELS_PREFS = LineFormat("qrels_prefs", "exactly 4 fields (query judge document level)", 2, 3, "level", "none", query=2)
STRATA = LineFormat(
    "strata", "exactly 5 fields (query iteration document stratum label)", 2, 4, "sampled label", "none"
)
STRATA_STRATUM = STRATA._replace(number=3, what="stratum", behind="at most one")
PRELS = LineFormat(
    "prels", "exactly 5 fields (query document label method probability)", 1, 4, "inclusion probability", "none"
)
PRELS_LABEL = PRELS._replace(number=2, what="sampled label", behind="some")
PRELS_METHOD = PRELS._replace(number=3, what="method", behind="at most one")

MAX_HINT_BYTES = 1 << 12  # of a line that a hint looks at
RANKS_ADVICE = (
    ": is a blank in the document's id? Such ids need a table or JSON; format='trec_eval' reads no ranks, as that "
    "program does"
)
LINE_PROBLEMS = {
    "nul": "the line holds a NUL byte; the file looks truncated, binary or UTF-16",
    "carriage return": "malformed line: a carriage return inside it; expected lines that end in LF or CRLF",
    "data comment": (
        "the line starts with '#' like a comment but has the fields of a data line; remove the '#' or the line"
    ),
    "quotation": "an id begins with a quotation mark, which BEIR would take for CSV; expected ids without",
}
NUMBER_PROBLEMS = {
    "number": "is not a number",
    "overflow": "is too large for a float",
    "fraction": "is not an integer number",
    "range": "is out of range; expected a number from -2^31 to 2^31 - 1",
    "negative": "is negative; expected an integer from 0 to 2^31 - 1",
    "improbable": "is out of range; expected a number above 0 and at most 1, or NA",
}


def explain(line_format: LineFormat, problem: str, text: bytes) -> tuple[str, int | None, str]:
    """Words for a bad line.

    Parameters
    ----------
    line_format : LineFormat
    problem : str
        "fields", or a key of the tables above.
    text : bytes

    Returns
    -------
    message : str
    column : int or None
    shown : str
        The line, cut.
    """
    shown = text[:200].decode("utf-8", "backslashreplace")
    fields = text.rstrip(b"\r").split(b"\t") if line_format.tabs else text.split()
    if problem == "fields":
        if b"\r" in text.rstrip(b"\r"):
            problem = "carriage return"
        elif line_format.tabs and len(fields) == line_format.number + 1 and b"" not in fields[:-1]:
            problem = "number"
    if problem in LINE_PROBLEMS:
        return LINE_PROBLEMS[problem], None, shown
    if problem == "fields":
        n = "an empty field" if line_format.tabs and b"" in fields else counted(len(fields), "field", "fields")
        hint = hint_of(line_format, text)
        return f"malformed {line_format.name} line with {n}, expected {line_format.expected}{hint}", None, shown
    if problem == "no rank":
        query, doc_id, rank = (fields[place].decode("utf-8", "backslashreplace") for place in (0, 2, 3))
        message = f"rank {quote(rank)} is not a number (query {bare(query)}, document {bare(doc_id)})"
        return message + (hint_of(line_format, text) or RANKS_ADVICE), 4, shown
    places = (0, line_format.doc, line_format.number)
    query, doc_id, got = (fields[place].decode("utf-8", "backslashreplace") for place in places)
    message = f"{line_format.what} {quote(got)} {NUMBER_PROBLEMS[problem]}"
    if problem == "number" and WHAT[line_format.what] == "number" and got.lower().lstrip("+-").startswith("nan"):
        message += ": NaN cannot be ranked"
    message += f" (query {bare(query)}, document {bare(doc_id)})"
    return message + hint_of(line_format, text), line_format.number + 1, shown


def hint_of(line_format: LineFormat, text: bytes) -> str:
    """What a bad line looks like, as the end of a message; nothing for BEIR, whose header has been read."""
    if line_format.tabs:
        return ""
    is_run = line_format.what in ("score", "rank")
    of_trec = line_format in (TREC_QRELS, TREC_RUN, TREC_EVAL_RUN)
    return hint_for_line(text[:MAX_HINT_BYTES].decode("utf-8", "backslashreplace"), is_run, of_trec)


def bare(text: object) -> str:
    """An id for a message, shortened and escaped as by quote(), without the quotes."""
    return quote(text).strip("'\"")
