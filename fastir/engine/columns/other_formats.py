"""Lines of other formats: a line or header that a reader refuses is recognised by what it is, and the message says so.

A hint is a row of a table: what recognises the line, and the sentence. The first that fits is said. The number of
fields alone recognises nothing: five fields are a sample, preferences, judgments of LETOR or a comment behind a line.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from fastir.declared import Record

MARKUP = "it looks like HTML or XML, which fastir does not read"
MAX_RATING = 10
HEADER = "query-id\tcorpus-id\tscore"  # of BEIR
NUMBER = r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?"  # no digit fits two parts of it
WHOLE = r"[+-]?\d+"
USUAL_NAMES = (
    "queryid qid query topic topicid q0 iter iteration docid docno doc document documentid pid passageid corpusid rank "
    "position score sim prediction tag run runid runtag system rel relevance label rating grade judgment user userid "
    "item itemid movieid time timestamp"
)
COLUMN_NAMES = frozenset(USUAL_NAMES.split())  # in lower case, without what is neither a letter nor a digit
READ_RATINGS = (
    "read ratings as a table: fastir.Qrels.from_table(pandas.read_csv(path, sep={!r}, "
    "names=['user_id', 'item_id', 'rating', 'time'], engine='python'))"
)


class Line(Record):
    """A line that a reader refuses, or the header of a table."""

    text: str
    fields: list[str]  # as blanks separate them
    is_run: bool  # whether a run is expected

    def is_whole(self) -> bool:
        """Whether it has as many fields as a line of TREC."""
        return len(self.fields) >= 6 if self.is_run else len(self.fields) == 4


def is_number(text: str) -> bool:
    return re.fullmatch(NUMBER, text) is not None


def is_whole(text: str) -> bool:
    return re.fullmatch(WHOLE, text) is not None


def is_probability(text: str) -> bool:
    return text == "NA" or (is_number(text) and 0 < float(text) <= 1)


def is_json_row(line: Line) -> bool:
    """Whether it is an object of values, not of objects: a row of JSON Lines."""
    import json

    try:
        row = json.loads(line.text)
    except (ValueError, RecursionError):
        return False
    return type(row) is dict and any(not isinstance(value, (dict, list)) for value in row.values())


def is_header(line: Line) -> bool:
    """Whether half of the fields, or more, are names of columns."""
    words = [re.sub(r"[^a-z0-9]", "", field.lower()) for field in re.split(r"[\s,;|]+", line.text.strip())]
    n_names = sum(word in COLUMN_NAMES for word in words)
    return n_names >= 2 and 2 * n_names >= len(words)


def are_ratings(fields: list[str]) -> bool:
    """Whether fields are a user, an item, a rating and a time in seconds."""
    return len(fields) == 4 and is_number(fields[2]) and is_whole(fields[3]) and float(fields[3]) > 1e6


def separator_test(mark: str, *numbers: int) -> Callable[[Line], bool]:
    """The test for a line of so many fields with a mark between them."""

    def fits(line: Line) -> bool:
        return len(line.text.split(mark)) in numbers and len(line.fields) < 3

    return fits


def is_commented(line: Line) -> bool:
    """Whether a comment follows the fields of a line, behind # or as words."""
    at = next((place for place, field in enumerate(line.fields) if field.startswith("#")), 0)
    if not line.is_run and len(line.fields) > 4 and not (is_number(line.fields[4]) or is_probability(line.fields[4])):
        at = 4
    return at == (6 if line.is_run else 4) and is_number(line.fields[at - (2 if line.is_run else 1)])


def is_book(names: list[str]) -> bool:
    """Whether columns belong to a book of judgments of Quepid: the others are raters."""
    return [name.strip().lower() for name in names[:2]] == ["query", "docid"] and len(names) > 2


def is_csv(line: Line) -> bool:
    return line.text.count(",") >= 2 and len(line.fields) < 3


def is_scored(fields: list[str]) -> bool:
    """Whether the third field is a score and no rank."""
    return len(fields) == 3 and is_number(fields[2]) and not fields[2].isdigit()


def is_ranked_and_scored(fields: list[str]) -> bool:
    """Whether fields are a query, a document, a rank and a score."""
    return fields[1].upper() not in ("0", "Q0") and fields[2].isdigit() and is_number(fields[3])


# For lines of any format: the text of the message, and the test that recognises the line
LINES: tuple[tuple[str, Callable[[Line], bool]], ...] = (
    ("it looks like JSON Lines: pass format='jsonl'", is_json_row),
    ("it looks like JSON: pass format='json'", lambda line: line.text.lstrip().startswith(("{", "["))),
    (MARKUP, lambda line: line.text.lstrip().startswith("<")),
    (
        "it looks like a table in Markdown; fastir reads CSV with the same header",
        lambda line: line.text.lstrip().startswith("|"),
    ),
    (
        "it looks like YAML; fastir reads JSON: pass format='json'",
        lambda line: line.text.startswith("---") or (len(line.fields) < 3 and line.fields[0].endswith(":")),
    ),
    (
        "it looks like LETOR or SVMrank ('qid:'), whose judgments format='letor' reads",
        lambda line: any(re.match("qid:.", field) for field in line.fields[:3]),
    ),
    (
        "it looks like LIBSVM (label index:value ...), whose judgments format='letor' reads with a file of the sizes "
        "of queries beside it",
        lambda line: len(line.fields) > 2 and all(re.match(r"\d+:", field) for field in line.fields[1:]),
    ),
    ("it is the header of a BEIR file, whose format is beir", lambda line: line.text.rstrip() == HEADER),
    (
        f"it looks like the header of a BEIR file, which is {HEADER!r}",
        lambda line: "query-id" in line.text or "corpus-id" in line.text,
    ),
    (
        "it looks like the header of Quepid's CSV: pass format='quepid'",
        lambda line: is_quepid(line.text.split(",")) or is_book(line.text.split(",")),
    ),
    (
        "it looks like a header of CSV with comma separated columns: pass format='csv'",
        lambda line: is_csv(line) and is_header(line),
    ),
    ("it looks like a header, which this format does not have: remove the line", is_header),
    (
        "it looks like ratings (user item rating time); " + READ_RATINGS.format(r"\s+"),
        lambda line: not line.is_run and are_ratings(line.fields),
    ),
    (
        "it looks like ratings (user::item::rating::time); " + READ_RATINGS.format("::"),
        lambda line: are_ratings(line.text.split("::")),
    ),
    (
        "it looks like ratings (user,item,rating,time); " + READ_RATINGS.format(","),
        lambda line: are_ratings(line.text.split(",")),
    ),
    ("it looks like CSV with comma separated columns: put a header above them, and pass format='csv'", is_csv),
    ("semicolons separate its fields; put blanks for them", separator_test(";", 4, 6)),
    ("'|' separates its fields; put blanks for it", separator_test("|", 4, 6)),
)

# The same of lines of TREC that have another number of fields
TREC_LINES: tuple[tuple[str, Callable[[Line], bool]], ...] = (
    ("a comment stands behind the fields; comments need a line of their own, with '#' first", is_commented),
    (
        "it looks like ratings (user item rating time), which are judgments and no run",
        lambda line: line.is_run and are_ratings(line.fields) and float(line.fields[2]) <= MAX_RATING,
    ),
    (
        "it looks like a run of query, document, rank and score: pass format='msmarco'",
        lambda line: line.is_run and len(line.fields) == 4 and is_ranked_and_scored(line.fields),
    ),
    (
        "it looks like qrels: are the two files swapped?",
        lambda line: line.is_run and len(line.fields) == 4 and is_number(line.fields[3]),
    ),
    (
        "it looks like a run: are the two files swapped?",
        lambda line: not line.is_run and len(line.fields) >= 6 and is_number(line.fields[4]),
    ),
    (
        "the 5 columns of a sample (query document label method probability) need format='prels'",
        lambda line: (
            not line.is_run
            and len(line.fields) == 5
            and all(map(is_whole, line.fields[2:4]))
            and is_probability(line.fields[4])
        ),
    ),
    (
        "the 5 columns of a sample (query iteration document stratum label) need format='strata'; those of preferences "
        "(query judge part document level), format='prefs'",
        lambda line: not line.is_run and len(line.fields) == 5 and all(map(is_whole, line.fields[3:])),
    ),
    (
        "the 5 columns of preferences (query judge part document level) need format='prefs'; a blank in a document's "
        "id, a table or JSON",
        lambda line: not line.is_run and len(line.fields) == 5 and is_number(line.fields[4]),
    ),
    (
        f"a run of query, document and score needs the header {HEADER!r}, tabs and format='beir'",
        lambda line: line.is_run and is_scored(line.fields),
    ),
    (
        f"a run of query, document and score needs the header {HEADER!r}, tabs and format='beir'; one of query, "
        "document and rank needs format='msmarco'",
        lambda line: line.is_run and len(line.fields) == 3 and is_number(line.fields[2]),
    ),
    (
        "a query and a document on each line are judgments without labels, no run; a run needs scores, or the "
        "rank behind them and format='msmarco'",
        lambda line: line.is_run and len(line.fields) == 2,
    ),
    (
        "a query and a document on each line are judgments without labels: format='pairs' reads them",
        lambda line: not line.is_run and len(line.fields) == 2,
    ),
    (
        "the 3 columns of BEIR need their header and format='beir'",
        lambda line: not line.is_run and len(line.fields) == 3 and is_number(line.fields[2]),
    ),
)

# From the names of a table's columns
TABLES: tuple[tuple[str, Callable[[list[str]], bool]], ...] = (
    ("the columns are those of Quepid's CSV, which format='quepid' reads", lambda names: is_quepid(names)),
    ("it looks like a book of Quepid's, with a column for each rater, which format='quepid' reads", is_book),
    ("tabs separate its columns, not commas", lambda names: len(names) == 1 and "\t" in names[0].strip()),
    (
        "it looks like a line of TREC, which format='trec' reads",
        lambda names: len(names) == 1 and len(fields := names[0].split()) in (4, 6) and is_number(fields[3]),
    ),
    (MARKUP, lambda names: "".join(names).startswith("<")),
    ("it looks like JSON: pass format='json' or format='jsonl'", lambda names: "".join(names).startswith(("{", "["))),
    ("the header looks like data: is it missing?", lambda names: 2 * sum(map(is_number, names)) >= max(len(names), 1)),
)


def is_quepid(names: list[str]) -> bool:
    """Whether columns belong to ratings, or to a case or snapshot, as Quepid exports them."""
    stripped = {name.strip().lower() for name in names}
    return (
        not stripped.isdisjoint({"query", "query text"})
        and not stripped.isdisjoint({"docid", "doc id"})
        and not stripped.isdisjoint({"rating", "doc position"})
    )


def hint_for_line(text: str, is_run: bool, of_trec: bool) -> str:
    """The end of a message about a bad line: "; " and what it looks like, or nothing."""
    line = Line(text, text.split(), is_run)
    if not line.fields:
        return ""
    rows = LINES if line.is_whole() or not of_trec else LINES + TREC_LINES
    return next((f"; {about}" for about, fits in rows if fits(line)), "")


def are_pairs(lines: list[str]) -> bool:
    """Whether lines are a query and a document each, and can be nothing else.

    A second field that is a number in all lines may be a weight or a label, unless it is a whole number and not 0 or 1
    everywhere.
    """
    rows = [line.split() for line in lines]
    if not rows or any(len(row) != 2 for row in rows) or hint_for_line(lines[0], False, False):
        return False
    docs = [doc for _, doc in rows]
    return (
        not any(all(mark in line for line in lines) for mark in ",;|")
        and (all(map(str.isdigit, docs)) or not all(map(is_number, docs)))
        and not {"0", "1"}.issuperset(docs)
    )


def hint_for_markup(text: str) -> str:
    """The end of a message about text that is no JSON: "; " and that it is markup, if it is."""
    return f"; {MARKUP}" if text.lstrip().startswith("<") else ""


def hint_for_columns(names: list[str]) -> str:
    """The end of a message about a table without a column: "; " and the kind of its columns, or nothing."""
    return next((f"; {about}" for about, fits in TABLES if fits(names)), "")
