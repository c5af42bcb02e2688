"""What can be wrong between a run and the qrels: queries that one side lacks, and documents that never match."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np

from fastir.analyses.check.findings import Findings
from fastir.analyses.check.rules import Rules
from fastir.analyses.check.sides import Ranking, Side
from fastir.engine.columns.rows import offsets_from_sizes
from fastir.errors import NoOverlapError, quote
from fastir.evaluation.drivers.coverage import SWAPPED_TEXT
from fastir.evaluation.drivers.swapped import MAX_QUERIES as SWAPPED_QUERIES
from fastir.evaluation.drivers.swapped import like_labels, like_scores
from fastir.evaluation.drivers.unmatched_ids import MAX_QUERIES, alike, compare_lists
from fastir.rendering.look_alikes import first_look_alikes, quote_each, quote_first, quote_ids
from fastir.rendering.text import counted

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
    columns = [ranking.numbers for _, ranking in itertools.islice(rankings, SWAPPED_QUERIES)]
    return np.array(list(itertools.chain(*columns)), float), offsets_from_sizes(list(map(len, columns)))


def note_queries(judged: list[str], queries: dict[str, None], run: Side, rules: Rules) -> None:
    """Queries that the run lacks, or that it should not have."""
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
