"""What is wrong with a run that has no error: it and the qrels were swapped, or ids of documents never match.

Swapped qrels and run are found where only their numbers can show it: in dicts, tables, JSON and arrays. Real-valued
labels are legitimate, and so are scores that are small whole numbers. Both together, with labels that are nearly all
different within a query and scores that are tied within queries as labels are, are a run and qrels that were swapped.
Whole scores that differ within each query are a ranking by hand.

Ids are compared only where no ranking of a run holds a judged document. That is legitimate, but more often ids are
written in two ways. What would make a query's ids equal (white space, case, a suffix, the form of a number) is a guess
that is worth an error; else the warning shows an id of each side, those that look alike if there are any.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.data.run import Run, as_run
from fastir.errors import NoOverlapError, quote
from fastir.inputs.exclusions import Exclusion
from fastir.inputs.shapes import DICTS, HELD_OBJECT, OTHER_OBJECT, PATH, TABLE, input_shape

if TYPE_CHECKING:
    from fastir.evaluation.drivers.coverage import Coverage

MAX_QUERIES = 100  # queries of each side that are read
MAX_IDS = 30_000  # ranked documents behind which no further query's ids are compared

# ---- swapped qrels and run -------------------------------------------------------------------------------------------

MIN_LABEL, MAX_LABEL = -2, 10  # labels of collections
MAX_ROWS_READ_AGAIN = 10_000  # rows of a file or table that is read again where ties do not hint at labels
MIN_DISTINCT_FRACTION = 0.9  # of the labels
MAX_GRADES = 15  # different labels of a query that a judge tells apart
MIN_ROWS_OF_SCORES, MAX_WHOLE_LABEL = 1000, 100  # whole labels are scores only among so many, and above this
MIN_TIED_FRACTION = 0.2  # of the scores
FEW_FLAT_QUERIES = 3  # queries of which one score for all documents says nothing


def are_swapped(labels: np.ndarray, label_offsets: np.ndarray, scores: np.ndarray, score_offsets: np.ndarray) -> bool:
    """Whether labels look like scores, and scores like labels; the rows of the first queries are looked at."""
    return like_labels(scores, score_offsets) and like_scores(labels, label_offsets)


def like_labels(scores: np.ndarray, offsets: np.ndarray) -> bool:
    """Whether scores are small whole numbers, and tied within queries, or all the same."""
    offsets = offsets[: MAX_QUERIES + 1]
    scores = scores[offsets[0] : offsets[-1]]
    if (
        not len(scores)
        or (scores[:MAX_QUERIES] != np.trunc(scores[:MAX_QUERIES])).any()
        or (scores != np.trunc(scores)).any()
    ):
        return False
    low, high = scores.min(), scores.max()
    if low < MIN_LABEL or high > MAX_LABEL or high < 0:  # ranks are read as scores below 0
        return False
    if low == high and len(offsets) > FEW_FLAT_QUERIES:
        return True
    return len(scores) - n_distinct(scores, offsets) >= MIN_TIED_FRACTION * len(scores)


def like_scores(labels: np.ndarray, offsets: np.ndarray) -> bool:
    """Whether labels are fractions, or many and large, and finer than a judge's grades."""
    if len(labels) < MIN_ROWS_OF_SCORES and labels.dtype == np.int32:
        return False
    offsets = offsets[: MAX_QUERIES + 1]
    labels = labels[offsets[0] : offsets[-1]]
    if len(labels) < 2 or not may_be_scores(labels):
        return False
    return are_distinct(labels, offsets) or are_fine(labels)


def are_distinct(labels: np.ndarray, offsets: np.ndarray) -> bool:
    """Whether nearly all labels of a query differ, or more than a judge tells apart."""
    return n_distinct(labels, offsets) >= min(MIN_DISTINCT_FRACTION * len(labels), MAX_GRADES * (len(offsets) - 1))


def are_fine(labels: np.ndarray) -> bool:
    """Whether most labels have more than three decimals."""
    thousandths = labels * 1000.0
    return 2 * int(np.count_nonzero(np.abs(thousandths - np.round(thousandths)) > 1e-6)) > len(labels)


def may_be_scores(labels: np.ndarray) -> bool:
    """Whether some labels are fractions, or there are many and large ones."""
    if labels.dtype.kind == "f" and (labels != np.trunc(labels)).any():
        return True
    return len(labels) >= MIN_ROWS_OF_SCORES and bool(labels.max() > MAX_WHOLE_LABEL)


def n_distinct(column: np.ndarray, offsets: np.ndarray) -> int:
    """How many different numbers the queries have, added up."""
    borders = (offsets - offsets[0]).tolist()
    return sum(len(set(column[start:stop].tolist())) for start, stop in itertools.pairwise(borders))


def note_swap(coverage: Coverage, run: Any) -> None:
    """Note in a Coverage, for its warning, that a run looks like qrels where the qrels' labels are `like_scores`."""
    prepared, counts = coverage.prepared, coverage.counts
    shape = input_shape(run, Run, prepared.columns)
    try:
        if shape in (DICTS, OTHER_OBJECT):
            some = itertools.islice(next(iter(run.values())).values(), MAX_QUERIES)
            if not all(float(score).is_integer() for score in some):
                return
            held = Run.from_dict(dict(itertools.islice(run.items(), MAX_QUERIES)))
        elif shape == HELD_OBJECT:
            held = run
        elif shape in (TABLE, PATH) and (
            counts.n_ranked_docs < MAX_ROWS_READ_AGAIN or 2 * counts.n_tied_queries > counts.n_matched_queries
        ):
            held = as_run(run, prepared.columns, "first", None, prepared.settings.lines)
        else:
            return
    except Exception:
        return  # a source that can be read only once, and is evaluated already
    if like_labels(held.columns.numbers, held.columns.offsets):
        coverage.swapped, coverage.is_complete = True, False


# ---- ids that never match --------------------------------------------------------------------------------------------

# A service that evaluates few queries at a time from one Evaluator has legitimate misses, and each look takes as long
# as fifty evaluations: after so many looks the next ones are at the 16th, 32nd, 64th and so on such run.
FEW_QUERIES, MAX_LOOKS = 10, 8


NUMBER_FORM = re.compile(r"^(?:0[0-9]|[0-9]+\.0$)", re.MULTILINE)  # of ASCII that the following may change


def without_leading_zeros(text: str) -> str:
    """An id of digits without the zeros before and the point behind it."""
    head = text.removesuffix(".0")
    return str(int(head)) if head.isdecimal() else text


def without_suffix(text: str) -> str:
    """An id up to its last point or number sign."""
    return max((text.rpartition(mark)[0] for mark in ".#"), key=len) or text


def normalize_id(text: str) -> str:
    return text.strip().casefold()


Form = Callable[[str], str]
GUESSES: dict[str, tuple[Form, Form]] = {  # how the ids of one side and of the other may be read
    "white space around them": (str.strip, str.strip),
    "upper and lower case": (str.casefold, str.casefold),
    "the form of a number": (without_leading_zeros, without_leading_zeros),
    # of one side alone: a.1 and a.2 are two ids
    "a suffix": (str, without_suffix),
    "case, white space and a suffix": (normalize_id, lambda text: without_suffix(normalize_id(text))),
}


def compare_ids(coverage: Coverage, run: Any) -> None:
    """Note an id of each side in a Coverage without any judged document in a ranking, for its warning."""
    prepared, counts = coverage.prepared, coverage.counts
    if not counts.n_unjudged_queries or counts.n_unjudged_queries != counts.n_matched_queries:
        return
    if counts.n_matched_queries < FEW_QUERIES:
        prepared.misses += 1
        if prepared.misses > MAX_LOOKS and prepared.misses & (prepared.misses - 1):
            return
    from fastir.inputs.tables import table

    settings = prepared.settings
    try:
        shape = input_shape(run, Run, prepared.columns)
        if shape == DICTS and prepared.stand_for is None:
            run = first_queries(run, map(str, prepared.qrels))
        elif shape == TABLE and not table(run, "run", prepared.columns).again:
            return
        held = as_run(run, prepared.columns, settings.options.duplicates, None, settings.lines)
        if isinstance(prepared.parents, Exclusion):
            held = prepared.parents.without(held)
    except Exception:
        return  # a source that can be read only once, and is evaluated already
    by_text = {str(query_id): query_id for query_id in held}
    common = (
        (query_id, list(prepared.qrels[query_id]), held.columns.ids[held.columns.slice_of(by_text[str(query_id)])])
        for query_id in prepared.qrels
        if str(query_id) in by_text
    )
    is_native = settings.options.convention == "fastir"
    coverage.sides = compare_lists(common, prepared.stand_for is None and is_native)
    if coverage.sides and prepared.stand_for is not None and is_native:
        check_parents(prepared.stand_for, held, coverage.sides)


def first_queries(run: Any, judged: Iterable[str]) -> dict[Any, Any]:
    """The rankings of the first judged queries, which are all that is compared."""
    by_text = {str(query_id): query_id for query_id in run}
    common = itertools.islice(filter(by_text.__contains__, judged), MAX_QUERIES)
    return {by_text[query_id]: run[by_text[query_id]] for query_id in common}


def compare_lists(queries: Iterable[tuple[Any, list[Any], list[Any]]], guessing: bool = True) -> str | None:
    """An id of each side, in words, of queries in which no ranked document is judged.

    The first MAX_QUERIES are read, and fewer if they have more than MAX_IDS ranked documents.

    If `guessing`, ids that would match if they were written alike are an error.
    """
    from fastir.rendering.look_alikes import first_look_alikes, quote_ids

    sides = unseen = None
    n_ids = 0
    for query_id, judged, ranked in itertools.islice(queries, MAX_QUERIES):
        if n_ids > MAX_IDS:
            break
        if not judged or not ranked:
            continue
        n_ids += len(ranked)
        sides = sides or in_words(query_id, judged[0], ranked[0])
        if guessing and (guess := alike(judged, ranked)):
            difference, one, other = guess
            judged_id, ranked_id = quote_ids(one, other)
            raise NoOverlapError(
                f"no document in common: in query {quote(query_id)} the qrels have {judged_id}, the run has "
                f"{ranked_id}; do the ids differ only in {difference}?"
            )
        if unseen is None and (pair := first_look_alikes(judged, ranked)):
            unseen = f"{in_words(query_id, *pair)}, which look alike and differ"
    return unseen or sides


def in_words(query_id: Any, judged_id: Any, ranked_id: Any) -> str:
    """An id of each side of a query."""
    from fastir.rendering.look_alikes import quote_ids

    one, other = quote_ids(judged_id, ranked_id)
    return f"query {quote(query_id)}: the qrels have {one}, the run has {other}"


def alike(judged: list[Any], ranked: list[Any]) -> tuple[str, Any, Any] | None:
    """The first difference without which an id of each list would be the same, and these ids.

    A form that leaves all ids as they are is not tried. Ids with one form are looked for only if there are some: sets
    of all forms are compared first.
    """
    one, other = list(map(str, judged)), list(map(str, ranked))
    text = "\n".join((*one, *other))
    has_suffixes, has_blanks = "." in text or "#" in text, text.split() != [*one, *other]
    is_possible = {
        str.strip: has_blanks,
        str.casefold: text != text.casefold(),
        without_leading_zeros: not text.isascii() or NUMBER_FORM.search(text) is not None,
        str: has_suffixes,
        normalize_id: has_blanks or has_suffixes,
    }
    for difference, forms in GUESSES.items():
        if not is_possible.get(forms[0], True):
            continue
        if not has_suffixes and forms[0] is not forms[1]:
            forms = forms[0], forms[0]  # which leaves ids as they are written, or without case and white space
        for judged_form, ranked_form in dict.fromkeys((forms, forms[::-1])):
            if set(map(judged_form, one)).isdisjoint(map(ranked_form, other)):
                continue
            id_by_form = {judged_form(str(doc_id)): doc_id for doc_id in judged}
            for doc_id in ranked:
                judged_id = id_by_form.get(ranked_form(str(doc_id)), doc_id)
                if str(judged_id) != str(doc_id):  # the same id is one that `exclude` took out
                    return difference, judged_id, doc_id
    return None


def check_parents(parents: Any, held: Run, sides: str) -> None:
    """Refuse parents of which none applies to a run."""
    parent_table = parents.of(held)
    documents = dict(zip(map(str, parent_table.chunks[:]), map(str, parent_table.documents[:]), strict=True))
    ids = list(dict.fromkeys(map(str, held.columns.ids[:])))
    if documents and not any(documents.get(doc_id, doc_id) != doc_id for doc_id in ids):
        first = quote(next(iter(documents)))
        raise NoOverlapError(f"parents has none of the run's ids, and no document is judged: it has {first}; {sides}")
