"""The documents of each query, of a run or of qrels, and what can be wrong in one of the two alone."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from fastir.analyses.check._rows import count_judged, ties_and_disorder
from fastir.analyses.check.checked import MAX_LISTED, Findings
from fastir.analyses.check.rules import Rules
from fastir.engine.columns._ids import ids_from_arena
from fastir.engine.columns.ids import Arena
from fastir.engine.columns.rows import sums, without_duplicates
from fastir.engine.join._contiguous import find_duplicates
from fastir.engine.join._judged import Judged
from fastir.errors import NoOverlapError, quote
from fastir.evaluation.drivers.coverage import SWAPPED_TEXT
from fastir.evaluation.drivers.suspect_runs import MAX_QUERIES, alike, compare_lists, like_labels, like_scores
from fastir.rendering.look_alikes import first_look_alikes, quote_each, quote_first, quote_ids
from fastir.rendering.text import counted

LOWEST_CODE = -2  # the lowest label that collections have: -1 is not judged, -2 spam


class Ranking(NamedTuple):
    """The documents of a query in the order of the file, or of its reader's output."""

    docs: list[str]
    numbers: list[float]  # scores or labels; NaN for those that were refused
    ranks: list[float] | None  # that the file says; NaN is none
    lines: list[int] | None


class Side:
    """A run or qrels, query by query.

    Parameters
    ----------
    is_run : bool
    findings : Findings
        What is wrong with it.

    Attributes
    ----------
    query_ids : list of str
    offsets : int64 array of shape (n_queries + 1,)
    ids : Arena
        Of documents, query by query.
    numbers, ranks : arrays
        Aligned with ids; ranks are None for data that have none.
    """

    query_ids: list[str]
    offsets: np.ndarray
    ids: Arena
    numbers: np.ndarray
    ranks: np.ndarray | None = None

    def __init__(self, is_run: bool, findings: Findings) -> None:
        self.is_run: bool = is_run
        self.findings: Findings = findings

    def lines_of(self, rows: np.ndarray) -> np.ndarray | None:
        """The lines of some rows, from 1; None for data that have none."""
        return None

    def ranking(self, place: int) -> Ranking:
        """The documents of the query at a position."""
        start, stop = self.offsets[place : place + 2].tolist()
        columns = self.ranks if self.ranks is None else self.ranks[start:stop], self.lines_of(np.arange(start, stop))
        ranks, lines = (column if column is None else column.tolist() for column in columns)
        return Ranking(self.ids[start:stop], self.numbers[start:stop].tolist(), ranks, lines)

    @functools.cached_property
    def index(self) -> Judged:
        """The documents of each query, to look them up for every run; their labels are 0."""
        ids, offsets = self.ids, self.offsets
        if pairs := find_duplicates(ids_from_arena(ids), offsets):
            offsets, kept, _ = without_duplicates(offsets, self.numbers, pairs, "first", False)
            ids = ids.take(kept)
        return Judged(self.query_ids, ids, offsets, np.zeros(len(ids), np.int32))

    def rankings(self) -> Iterator[tuple[str, Ranking]]:
        """(query, Ranking) of every query."""
        return ((query_id, self.ranking(place)) for place, query_id in enumerate(self.query_ids))

    def describe(self, rows: np.ndarray) -> Iterator[tuple[str, str, Any, int | None]]:
        """Query, document, number and line of some rows."""
        places = np.searchsorted(self.offsets, rows, "right") - 1
        docs = self.ids.take(rows)[:]
        lines = self.lines_of(rows)
        numbers = itertools.repeat(None) if lines is None else lines.tolist()
        return zip(
            (self.query_ids[place] for place in places), docs, self.numbers[rows].tolist(), numbers, strict=False
        )

    def note_rows(self, kind: str, rows: np.ndarray, text: Callable[[int, str, str, Any], str]) -> None:
        """Note a fault of each of some rows; text(number of the fault, query, document, number of the row)."""
        for place, (query_id, doc_id, number, line) in enumerate(self.describe(rows[:MAX_LISTED])):
            self.findings.add(kind, text(place, query_id, doc_id, number), line, query_id, doc_id)
        if len(rows) > MAX_LISTED:
            self.findings.numbers[kind] = len(rows)


def examine(side: Side, rules: Rules) -> None:
    """Note what is wrong with the documents of each query."""
    ids = ids_from_arena(side.ids)
    note_duplicates(side, find_duplicates(ids, side.offsets))
    if not side.is_run:
        note_labels(side)
        return
    ranks = None if side.ranks is None else np.ascontiguousarray(side.ranks)
    *ties, disordered = ties_and_disorder(ids, side.offsets, np.ascontiguousarray(side.numbers, float), ranks)
    note_ties(side, *ties)
    for place in np.flatnonzero(disordered).tolist():
        note_ranks(side.findings, side.query_ids[place], side.ranking(place))
    note_lengths(side, np.diff(side.offsets), rules.max_depth)


def note_lengths(side: Side, sizes: np.ndarray, max_depth: int | None) -> None:
    """Rankings that are too long, and that rankings differ in length."""
    for place in np.flatnonzero(sizes > max_depth).tolist() if max_depth is not None else ():
        text = f"{counted(int(sizes[place]), 'document', 'documents')}, more than {max_depth}"
        side.findings.add("too many documents", text, None, side.query_ids[place])
    if len(sizes) and sizes.min() < sizes.max():
        least, most = (
            f"{counted(int(sizes[place]), 'document', 'documents')} (query {quote(side.query_ids[place])})"
            for place in (int(sizes.argmin()), int(sizes.argmax()))
        )
        side.findings.add("run length", f"the rankings have from {least} to {most}")


def note_unknown(side: Side, corpus: dict[str, None], said_by: str) -> tuple[bool, str | None]:
    """Note each document that the collection has not; whether it has one, and the first that it has not."""
    seen: set[str] = set()
    unknown: set[str] = set()
    first = None
    for query_id, ranking in side.rankings():
        seen.update(ranking.docs)
        for place, doc_id in enumerate(ranking.docs):
            if doc_id not in corpus and doc_id not in unknown:
                unknown.add(doc_id)
                first = doc_id if first is None else first
                text = f"document {quote(doc_id)} is {'retrieved' if side.is_run else 'judged'}, but not in {said_by}"
                line = None if ranking.lines is None else ranking.lines[place]
                side.findings.add("unknown document", text, line, query_id, doc_id)
    return len(seen) > len(unknown), first


def note_duplicates(side: Side, pairs: list[tuple[int, int]]) -> None:
    """Every row that repeats a document of an earlier row of the query, as pairs of rows."""
    first_rows, rows = np.array(pairs, np.int64).reshape(-1, 2).T
    lines = side.lines_of(first_rows)

    def text(place: int, query_id: str, doc_id: str, number: Any) -> str:
        where = "" if lines is None else f", first on line {lines[place]}"
        return f"duplicate document {quote(doc_id)} in query {quote(query_id)}{where}"

    side.note_rows("duplicate", rows, text)


def note_labels(side: Side) -> None:
    """Labels that are not what collections have, and queries without a relevant document."""
    findings, labels = side.findings, side.numbers
    side.note_rows(
        "negative label",
        np.flatnonzero(labels < LOWEST_CODE),
        lambda _, query_id, doc_id, label: (
            f"label {label:g} is below {LOWEST_CODE} (query {quote(query_id)}, document {quote(doc_id)})"
        ),
    )
    for place in np.flatnonzero(sums(labels > 0, side.offsets) == 0).tolist():
        query_id = side.query_ids[place]
        findings.add("no relevant document", f"query {quote(query_id)} has no label above 0", None, query_id)
    fractions = np.flatnonzero((labels == labels) & (np.floor(labels) != labels))
    if len(fractions):
        [(_, _, label, line)] = side.describe(fractions[:1])
        findings.count("real-valued labels", line, f"{label:g}", len(fractions))
        largest = np.nanmax(labels)
        if 0 < largest < 1:
            text = f"no label reaches 1, the largest is {largest:g}: rel_level=0.5 makes documents relevant from 0.5 on"
            findings.add("labels below 1", text)


def note_ties(side: Side, n_tied: np.ndarray, ones: np.ndarray, others: np.ndarray) -> None:
    """How many documents share their score with another one, as `ties_and_disorder` counted them for each query."""
    places = np.flatnonzero(n_tied)
    pairs = zip(side.describe(others[places]), side.describe(ones[places]), strict=True)
    for place, ((query_id, one, score, _), (_, other, _, _)) in zip(places.tolist(), pairs, strict=True):
        text = f"{n_tied[place]} documents share their score with another one, such as "
        text += " and ".join(quote_ids(one, other)) + f" ({score!r})"
        start, stop = side.offsets[place : place + 2].tolist()
        if (side.numbers[start:stop] == score).all():
            text += "; all scores are equal: ids decide the order, ties='input' keeps the file's order"
        side.findings.add("ties", text, None, query_id)


def note_ranks(findings: Findings, query_id: str, ranking: Ranking) -> None:
    """A document with a better rank and a lower score than another one, if there is one."""
    ranks, numbers = np.array(ranking.ranks, float), np.array(ranking.numbers, float)
    order = np.flatnonzero((ranks == ranks) & (numbers == numbers))
    order = order[np.argsort(ranks[order], kind="stable")]
    ranks, numbers = ranks[order], numbers[order]
    n_before = np.searchsorted(ranks, ranks)  # documents with a better rank
    lowest = np.concatenate(([np.inf], np.minimum.accumulate(numbers)))[n_before]
    if not (wrong := numbers > lowest).any():
        return
    wrong_place = int(wrong.argmax())
    better = int(order[numbers[: n_before[wrong_place]].argmin()])
    place = int(order[wrong_place])
    line = None if ranking.lines is None else ranking.lines[place]
    one, other = quote_ids(ranking.docs[better], ranking.docs[place])
    text = f"{rank_text(ranking, better, one)}, but {rank_text(ranking, place, other)}; fastir ranks by scores"
    findings.add("ranks against scores", text, line, query_id, ranking.docs[place])


def rank_text(ranking: Ranking, place: int, doc_id: str) -> str:
    ranks = ranking.ranks or [math.nan] * len(ranking.docs)
    return f"document {doc_id} has rank {ranks[place]:g} and score {ranking.numbers[place]!r}"


# ---- what can be wrong between a run and the qrels -------------------------------------------------------------------


Strangers = list[tuple[str, list[str], list[str]]]  # query, judged documents, ranked documents


def compare(judged: Side, run: Side, rules: Rules) -> None:
    """Note what is wrong between both, as findings of the run."""
    places = {query_id: place for place, query_id in enumerate(judged.query_ids)}
    queries = dict.fromkeys(run.query_ids)
    if not places or not queries:
        return  # which is a fault of that side
    note_queries(judged.query_ids, queries, run, rules)
    if like_scores(*first_numbers(judged)) and like_labels(*first_numbers(run)):
        run.findings.add("swapped data", SWAPPED_TEXT)
    place_of_query = np.array([places.get(query_id, -1) for query_id in queries], np.int64)
    n_found = count_judged(judged.index, ids_from_arena(run.ids), run.offsets, place_of_query)
    is_common = place_of_query >= 0
    n_ranked, n_judged = int(np.diff(run.offsets)[is_common].sum()), int(n_found.sum())
    if n_judged < n_ranked:
        share = f"{(n_ranked - n_judged) / n_ranked:.1%}"
        of = f"{counted(n_ranked, 'ranked document', 'ranked documents')} ({share})"
        unjudged = n_ranked - n_judged
        run.findings.add("unjudged documents", f"{unjudged} of {of} are not in the qrels", occurrences=unjudged)
    strangers: Strangers = []
    for place in np.flatnonzero(is_common & (n_found == 0)).tolist():
        query_id = run.query_ids[place]
        sides: tuple[list[str], list[str]] = [], []
        if len(strangers) < MAX_QUERIES:  # of the others, nothing is compared
            sides = list(dict.fromkeys(judged.ranking(places[query_id]).docs)), run.ranking(place).docs
        strangers.append((query_id, *sides))
    if strangers:
        note_strangers(strangers, int(is_common.sum()), judged.query_ids, run)


def first_numbers(side: Side) -> tuple[np.ndarray, np.ndarray]:
    """The labels or scores of the first queries, and the offsets of these."""
    offsets = side.offsets[: MAX_QUERIES + 1]
    return side.numbers[: offsets[-1]].astype(float), offsets


def note_queries(judged: list[str], queries: dict[str, None], run: Side, rules: Rules) -> None:
    """Queries that are missing from the run, or that it should not have."""
    findings, wanted = run.findings, rules.queries
    if not any(query_id in queries for query_id in judged):
        difference = alike(judged, list(queries))
        one, other = quote_ids(*difference[1:]) if difference else quote_first(judged, queries)
        guess = f"; do the ids differ only in {difference[0]}?" if difference else ""
        text = f"no query in common: the qrels have {one}, the run has {other}{guess}"
        findings.add("no common query", text)
        if wanted is None:
            return
    wanted = dict.fromkeys(judged) if wanted is None else wanted
    missing = [query_id for query_id in wanted if query_id not in queries]
    unknown = [query_id for query_id in queries if query_id not in wanted]
    for query_id, text in quote_each(missing, unknown).items():
        findings.add("missing query", f"query {text} of {rules.said_by} is missing from the run", None, query_id)
    for query_id, text in quote_each(unknown, missing).items():
        findings.add("unknown query", f"query {text} is not in {rules.said_by}", None, query_id)


def note_strangers(strangers: Strangers, n_common: int, judged: list[str], run: Side) -> None:
    """Rankings without a judged document: whether ids are written in two ways, or may be."""
    findings = run.findings
    if len(strangers) == n_common:
        places = {query_id: place for place, query_id in enumerate(judged)}
        strangers.sort(key=lambda stranger: places[stranger[0]])  # which evaluate looks at in the order of the qrels
        try:
            sides = compare_lists(strangers)
        except NoOverlapError as error:
            findings.add("no common document", str(error))
        else:
            findings.add("document ids", f"no ranking holds a judged document; in {sides}")
        return
    for stranger in strangers[:MAX_QUERIES]:
        try:
            sides = compare_lists([stranger])
        except NoOverlapError as error:
            findings.add("document ids", str(error), None, stranger[0])
        else:
            if first_look_alikes(*stranger[1:]):
                findings.add("document ids", f"no ranked document is judged; in {sides}", None, stranger[0])
            else:
                note_nothing(findings, stranger[0])
    for query_id, _, _ in strangers[MAX_QUERIES:]:
        note_nothing(findings, query_id)


def note_nothing(findings: Findings, query_id: str) -> None:
    findings.add("nothing judged", f"no ranked document of query {quote(query_id)} is judged", None, query_id)
