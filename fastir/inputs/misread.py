"""Columns that are read as what they are not: times as labels, scores as ranks, ranks beside scores that say otherwise.

Such numbers are possible, one by one, and together they are not. The first rows of a file or table are looked at, no
more than SAMPLE_ROWS and SAMPLE_QUERIES, so that the cost does not grow with the data. Qrels are warned of as they are
read; what is found of a run is a kind of repair (`rows`), of which an evaluation warns. `check` lists both as faults.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fastir.engine.columns.other_formats import MAX_RATING, READ_RATINGS, is_number, is_whole
from fastir.engine.columns.rows import CONTRADICTED, CONTRADICTED_FIRST, LIKE_SCORES
from fastir.errors import DuplicateError, quote, remedy
from fastir.inputs import places
from fastir.inputs.files import ByteReader

if TYPE_CHECKING:
    from fastir.engine.columns._ids import Ids
    from fastir.inputs.files import Path, Repairs

SAMPLE_ROWS, SAMPLE_QUERIES = 1000, 50  # that are looked at
SAMPLE_BYTES = 1 << 14  # of a file of lines
BLANKS = r"\s+"
MIN_FRACTION_OF_ROWS = 0.95
TIME, ID = 1e6, 100  # labels above are times or ids; above, and nearly all different, ids or lengths
MIN_DESCENDING_ROWS = 10  # so many descending ranks are no accident
N_SHOWN_DOCUMENTS = 3
OTHER_ITERATIONS = (
    "the second field differs: if it is a subtopic, pass format='subtopic'; if a group of judges, format='qrels_jg'; "
    "if neither, "
)


def misread_labels(labels: np.ndarray) -> str | None:
    """What is wrong with labels that are times, ids or lengths, None if they can be labels."""
    n = len(labels)
    if np.count_nonzero(labels > ID) < max(MIN_FRACTION_OF_ROWS * n, 2):
        return None
    n_different = len(np.unique(labels))
    shown = ", ".join(f"{label:.10g}" for label in labels[:N_SHOWN_DOCUMENTS].tolist())
    if np.count_nonzero(labels > TIME) >= MIN_FRACTION_OF_ROWS * n and n_different >= max(2, n / 10):
        return f"the labels look like times or ids ({shown})"
    if n_different >= max(N_SHOWN_DOCUMENTS, min(MIN_FRACTION_OF_ROWS * n, 100)) and (labels == np.trunc(labels)).all():
        return f"the labels look like ids or lengths ({shown})"
    return None


def misread_qrels(head: bytes, labels: np.ndarray) -> str | None:
    """The error in a file of qrels with columns that mean something else, and the fix; None if there is no error.

    `head` are its first SAMPLE_BYTES, or all of it; nothing of a format that has no iteration.
    """
    lines = head.split(b"\n")[: -1 if len(head) == SAMPLE_BYTES else None]
    problem = misread_labels(labels[:SAMPLE_ROWS])
    if problem is None and any(line.split()[1:2] not in ([], [b"0"], [b"Q0"]) for line in lines[:N_SHOWN_DOCUMENTS]):
        texts = [line.decode("utf-8", "surrogateescape") for line in lines[:SAMPLE_ROWS]]
        problem = misread_judgments([row for text in texts if len(row := text.split()) == 4 and text[0] != "#"])
    if problem is None or problem.endswith("?"):
        return problem
    return f"{problem}; if the fields are user, item, rating and time, {READ_RATINGS.format(BLANKS)}"


def misread_column(name: str, labels: np.ndarray) -> str | None:
    """What is wrong with the labels of a table that are something else, None if nothing is."""
    problem = misread_labels(labels[:SAMPLE_ROWS])
    return (
        problem
        and f"qrels: column {quote(name)}: {problem}; columns={{'label': name}} tells which column has the labels"
    )


def explain_duplicate(error: DuplicateError, path: Path | None, problem: str | None) -> DuplicateError:
    """The error for a duplicate document in qrels, with the cause in all of them, or with its lines."""
    message = str(error.args[0])
    if problem is not None:
        message = message.replace(remedy(False), problem)
    elif path is not None and error.line and places.on_disk(path) and has_other_iteration(path, error.line):
        message = message.replace(remedy(False), OTHER_ITERATIONS + remedy(False))
    return DuplicateError(message, error.path, error.line)


def has_other_iteration(path: Path, line: int) -> bool:
    """Whether a line of qrels judges the document of another line, under another iteration."""
    with ByteReader(path) as source:
        *before, last = source.read_all().split(b"\n", line)[:line]
    query, iteration, doc, *_ = last.split()
    rows = (fields for text in before if doc in text and len(fields := text.split()) == 4)
    return any(fields[0] == query and fields[2] == doc and fields[1] != iteration for fields in rows)


def misread_judgments(rows: Sequence[Sequence[str]]) -> str | None:
    """What is wrong with the first lines of qrels, if their four fields are something else; None if nothing is.

    The iteration of judgments is nearly always 0; of ratings it is the item, of a run with ranks the document.
    """
    iterations, docs = [row[1] for row in rows], [row[2] for row in rows]
    if len({(row[0], row[1]) for row in rows}) < max(MIN_FRACTION_OF_ROWS * len(rows), 1) or not all(
        map(is_number, docs)
    ):
        return None
    if len(rows) >= N_SHOWN_DOCUMENTS and are_ranks(rows):
        return "the third field looks like a rank (query document rank score): are the two files swapped?"
    if not all(0 <= float(doc) <= MAX_RATING for doc in docs):
        return None
    are_items = not all(map(is_whole, iterations)) or max(map(float, iterations)) > len(rows)
    are_times = all(is_number(row[3]) and float(row[3]) > TIME for row in rows)
    if are_times or (are_items and len(rows) >= N_SHOWN_DOCUMENTS):
        return "the second field differs from line to line, and the third holds ratings"
    return None


def are_ranks(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the third field counts the lines of each query, and the fourth holds scores rather than labels."""
    if all(row[3] in ("0", "1", "2", "3", "4") for row in rows):
        return False
    n_steps, before = 0, ("", 0.0)
    for query, _, rank, _ in rows:
        last = before[1] if query == before[0] else None
        if last is None and float(rank) not in (0, 1):
            return False
        if last is not None:
            if float(rank) != last + 1:
                return False
            n_steps += 1
        before = query, float(rank)
    return 2 * n_steps >= len(rows)


def misread_ranks(ranks: np.ndarray, offsets: Sequence[int]) -> tuple[int, str] | None:
    """How many queries have ranks that look like scores, and an example; None unless most of the queries have some.

    Ranks come in the order of the rows. All queries are judged together: each may miss ranks that were filtered out,
    but then they ascend.
    """
    n_queries = n_descending = n_odd = n_rows = 0
    example = ""
    for first, stop in itertools.pairwise(offsets[: SAMPLE_QUERIES + 1]):
        of_query = ranks[first : min(stop, first + SAMPLE_ROWS)]
        if len(of_query) < 2:
            continue
        n_queries += 1
        steps = np.diff(of_query)
        low, high = of_query.min(), of_query.max()
        are_all = low in (0, 1) and high - low < len(of_query)  # a ranking with its lines in any order
        descends = not (steps > 0).any() and low < high
        is_odd = low > 1 and np.count_nonzero(steps == 1) * 2 < len(steps) and not (steps > 0).all()
        n_descending += bool(descends)
        n_rows += len(of_query) if are_all else MIN_DESCENDING_ROWS
        n_odd += bool(is_odd)
        if (descends or is_odd) and not example:
            example = ", ".join(f"{rank:g}" for rank in of_query[:N_SHOWN_DOCUMENTS].tolist())
    if not (n_queries and ((n_descending == n_queries and n_rows >= MIN_DESCENDING_ROWS) or 2 * n_odd > n_queries)):
        return None
    return max(n_descending, n_odd), example


def misread_rows(queries: Ids, scores: np.ndarray, ranks: np.ndarray | None) -> Repairs:
    """What is wrong with the ranks of the first rows of a table, as kinds of repairs.

    Without `ranks` beside them the scores are minus the ranks.
    """
    n = min(len(queries), SAMPLE_ROWS if ranks is None else len(ranks))
    offsets = query_offsets(queries, n)
    if ranks is None:
        found = misread_ranks(-scores, offsets)
        return {} if found is None else {LIKE_SCORES: (found[0], f"the run, such as {found[1]}")}
    n_queries, n_contradicted = contradicted_queries(queries, scores, ranks, offsets)
    if offsets[-1] == len(queries):
        return {CONTRADICTED: (n_contradicted, "the run")} if n_contradicted else {}
    return (
        {CONTRADICTED_FIRST: (n_contradicted, f"the first {n_queries} that were looked at")}
        if 2 * n_contradicted > n_queries
        else {}
    )


def query_offsets(queries: Ids, n: int) -> list[int]:
    """Where the first queries begin, within n rows, and the last one ends."""
    offsets = [0]
    while offsets[-1] < n and len(offsets) <= SAMPLE_QUERIES:
        offsets.append(queries.change(offsets[-1], n))
    return offsets


def contradicted_queries(queries: Ids, scores: np.ndarray, ranks: np.ndarray, offsets: list[int]) -> tuple[int, int]:
    """How many queries stretches of rows have, and of how many the ranks contradict the scores.

    As in a TREC file, the first and the last row of a query say which way its ranks and its scores go.
    """
    ends: dict[str | int, tuple[int, int]] = {}
    for start, stop in itertools.pairwise(offsets):
        query = queries[start]
        ends[query] = ends.get(query, (start, start))[0], stop - 1
    n_contradicted = 0
    for first, last in ends.values():
        (rank, score), (last_rank, last_score) = ((ranks.item(row), scores.item(row)) for row in (first, last))
        if score < last_score:
            n_contradicted += rank < last_rank
        elif score > last_score:
            n_contradicted += rank > last_rank
    return len(ends), n_contradicted
