"""The documents of each query, of a run or of qrels, and what can be wrong in one of the two alone."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from fastir.analyses.check.checked import Findings
from fastir.analyses.check.rules import Rules
from fastir.engine.columns.rows import offsets_from_sizes
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
    """

    def __init__(self, is_run: bool, findings: Findings) -> None:
        self.is_run: bool = is_run
        self.findings: Findings = findings

    def query_ids(self) -> list[str]:
        raise NotImplementedError

    def rankings(self) -> Iterator[tuple[str, Ranking]]:
        """(query, Ranking) of every query."""
        raise NotImplementedError


def examine(side: Side, rules: Rules) -> None:
    """Note what is wrong with the documents of each query."""
    shortest: tuple[float, str] = (math.inf, "")
    longest: tuple[float, str] = (0, "")
    largest, fractions = -math.inf, False
    for query_id, ranking in side.rankings():
        if ranking.lines is not None:
            note_duplicates(side, query_id, ranking)
        if not side.is_run:
            note_labels(side.findings, query_id, ranking)
            largest = max([largest, *(label for label in ranking.numbers if label == label)])
            fractions = fractions or "real-valued labels" in side.findings.numbers
            continue
        note_ties(side.findings, query_id, ranking)
        note_ranks(side.findings, query_id, ranking)
        n = len(ranking.docs)
        shortest = min(shortest, (n, query_id), key=lambda pair: pair[0])
        longest = max(longest, (n, query_id), key=lambda pair: pair[0])
        if rules.max_depth is not None and n > rules.max_depth:
            text = f"{counted(n, 'document', 'documents')}, more than {rules.max_depth}"
            side.findings.add("too many documents", text, None, query_id)
    if fractions and 0 < largest < 1:
        text = f"no label reaches 1, the largest is {largest:g}: rel_level=0.5 makes documents relevant from 0.5 on"
        side.findings.add("labels below 1", text)
    if shortest[0] < longest[0]:
        least, most = (
            f"{counted(int(n), 'document', 'documents')} (query {quote(query_id)})"
            for n, query_id in (shortest, longest)
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


def note_duplicates(side: Side, query_id: str, ranking: Ranking) -> None:
    """Every line that repeats a document of an earlier line of the query."""
    first: dict[str, int] = {}
    for doc_id, line in zip(ranking.docs, ranking.lines or (), strict=True):
        before = first.setdefault(doc_id, line)
        if before != line:
            text = f"duplicate document {quote(doc_id)} in query {quote(query_id)}, first on line {before}"
            side.findings.add("duplicate", text, line, query_id, doc_id)


def note_labels(findings: Findings, query_id: str, ranking: Ranking) -> None:
    """Labels that are not what collections have, and a query without a relevant document."""
    for place, label in enumerate(ranking.numbers):
        line = None if ranking.lines is None else ranking.lines[place]
        if label < LOWEST_CODE:
            doc_id = ranking.docs[place]
            text = f"label {label:g} is below {LOWEST_CODE} (query {quote(query_id)}, document {quote(doc_id)})"
            findings.add("negative label", text, line, query_id, doc_id)
        if label == label and not float(label).is_integer():
            findings.count("real-valued labels", line, f"{label:g}")
    if not any(label > 0 for label in ranking.numbers):
        findings.add("no relevant document", f"query {quote(query_id)} has no label above 0", None, query_id)


def note_ties(findings: Findings, query_id: str, ranking: Ranking) -> None:
    """How many documents share their score with another one."""
    first: dict[float, int] = {}
    tied: dict[int, int] = {}  # a document that is not the first with its score: that one
    for place, score in enumerate(ranking.numbers):
        before = first.setdefault(score, place) if score == score else place
        if ranking.docs[before] != ranking.docs[place]:
            tied[place] = before
    if tied:
        other, one = next(iter(tied.items()))
        number = len({*tied, *tied.values()})
        docs = "such as " + " and ".join(quote_ids(ranking.docs[one], ranking.docs[other]))
        text = f"{number} documents share their score with another one, {docs} ({ranking.numbers[one]!r})"
        if len(set(ranking.numbers)) == 1:
            text += "; all scores are equal: ids decide the order, ties='input' keeps the file's order"
        findings.add("ties", text, None, query_id)


def note_ranks(findings: Findings, query_id: str, ranking: Ranking) -> None:
    """A document with a better rank and a lower score than another one, if there is one."""
    if ranking.ranks is None:
        return
    both = enumerate(zip(ranking.ranks, ranking.numbers, strict=True))
    order = [place for place, (rank, number) in both if rank == rank and number == number]
    order.sort(key=ranking.ranks.__getitem__)
    lowest: int | None = None  # of the ranks before
    waiting: int | None = None  # of this rank
    for before, place in zip([None, *order], order, strict=False):
        if before is not None and ranking.ranks[before] < ranking.ranks[place]:
            lowest = waiting
        if lowest is not None and ranking.numbers[place] > ranking.numbers[lowest]:
            line = None if ranking.lines is None else ranking.lines[place]
            better, other = quote_ids(ranking.docs[lowest], ranking.docs[place])
            text = (
                f"{rank_text(ranking, lowest, better)}, but {rank_text(ranking, place, other)}; fastir ranks by scores"
            )
            findings.add("ranks against scores", text, line, query_id, ranking.docs[place])
            return
        if waiting is None or ranking.numbers[place] < ranking.numbers[waiting]:
            waiting = place


def rank_text(ranking: Ranking, place: int, doc_id: str) -> str:
    ranks = ranking.ranks or [math.nan] * len(ranking.docs)
    return f"document {doc_id} has rank {ranks[place]:g} and score {ranking.numbers[place]!r}"


# ---- what can be wrong between a run and the qrels -------------------------------------------------------------------


Strangers = list[tuple[str, list[str], list[str]]]  # query, judged documents, ranked documents


def compare(judged: Side, run: Side, rules: Rules) -> None:
    """Note what is wrong between both, as findings of the run."""
    judgments = dict(judged.rankings())
    labels = {query_id: dict.fromkeys(ranking.docs) for query_id, ranking in judgments.items()}
    queries = dict.fromkeys(run.query_ids())
    if not labels or not queries:
        return  # which is a fault of that side
    note_queries(list(labels), queries, run, rules)
    if like_scores(*first_numbers(judgments.items())) and like_labels(*first_numbers(run.rankings())):
        run.findings.add("swapped data", SWAPPED_TEXT)
    strangers: Strangers = []
    n_common = n_ranked = n_judged = 0
    for query_id, ranking in run.rankings():
        if query_id not in labels:
            continue
        n_found = sum(doc_id in labels[query_id] for doc_id in ranking.docs)
        n_common, n_ranked, n_judged = n_common + 1, n_ranked + len(ranking.docs), n_judged + n_found
        if not n_found:
            kept = ranking.docs if len(strangers) < MAX_QUERIES else []
            strangers.append((query_id, list(labels[query_id]), kept))
    if n_judged < n_ranked:
        share = f"{(n_ranked - n_judged) / n_ranked:.1%}"
        of = f"{counted(n_ranked, 'ranked document', 'ranked documents')} ({share})"
        unjudged = n_ranked - n_judged
        run.findings.add("unjudged documents", f"{unjudged} of {of} are not in the qrels", occurrences=unjudged)
    if strangers:
        note_strangers(strangers, n_common, list(labels), run)


def first_numbers(rankings: Iterable[tuple[str, Ranking]]) -> tuple[np.ndarray, np.ndarray]:
    """The labels or scores of the first queries, and the offsets of these."""
    columns = [ranking.numbers for _, ranking in itertools.islice(rankings, MAX_QUERIES)]
    return np.array(list(itertools.chain(*columns)), float), offsets_from_sizes(list(map(len, columns)))


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
