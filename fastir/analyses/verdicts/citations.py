"""evaluate_citations: whether the citations of an answer support its sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from fastir.analyses.verdicts.nuggets import MISSING, Missing
from fastir.analyses.verdicts.rows import (
    NO_TEXT,
    SUPPORT,
    Coded,
    DistinctRows,
    RowNames,
    VerdictMetric,
    distinct_rows,
    quotients,
    read_columns,
    read_metrics,
    refuse_empty,
    results_of_runs,
    runs_of,
)
from fastir.checks import check_choice, mapping
from fastir.data.results.by_run import ResultsByRun
from fastir.declared import Table
from fastir.engine.columns.rows import id_set, occurrences
from fastir.errors import quote

FULL = 2  # twice the worth of full support
SUPPORTS = "full_support, partial_support or no_support"


class CitationCounts(NamedTuple):
    """Counts by run and query; sums of worth are twice what they say."""

    worth: np.ndarray  # of all citations
    strict: np.ndarray  # of those that support in full
    citations: np.ndarray
    best: np.ndarray  # of the best citation of each sentence
    best_strict: np.ndarray
    sentences: np.ndarray
    supported: np.ndarray  # sentences with a citation, all of which support it at least in part
    rewarded: np.ndarray  # sentences with full support by all of their citations, or that need none
    answered: np.ndarray | None  # expected nuggets in rewarded sentences
    nuggets: np.ndarray | None


def report_f1(counts: CitationCounts) -> np.ndarray:
    """The harmonic mean of precision and recall, 0 if both are."""
    twice = 2 * counts.rewarded * counts.answered
    return quotients(twice, counts.rewarded * counts.nuggets + counts.answered * counts.sentences)


# fmt: off
CITATION_METRICS = Table("metric of citations", (
    VerdictMetric("citation_precision", "worth of the citations over their number, half for partial support",
                  lambda c: quotients(c.worth, 2 * c.citations)),
    VerdictMetric("citation_precision_strict", "fraction of citations with full support",
                  lambda c: quotients(c.strict, 2 * c.citations)),
    VerdictMetric("citation_recall", "worth of each sentence's best citation over the number of sentences",
                  lambda c: quotients(c.best, 2 * c.sentences)),
    VerdictMetric("citation_recall_strict", "fraction of sentences with a citation of full support",
                  lambda c: quotients(c.best_strict, 2 * c.sentences)),
    VerdictMetric("sentence_citation_precision", "fraction of sentences all of whose citations give some support",
                  lambda c: quotients(c.supported, c.sentences)),
    VerdictMetric("report_precision", "fraction of sentences all of whose citations give full support, or need none",
                  lambda c: quotients(c.rewarded, c.sentences), ("sentence_precision",)),
    VerdictMetric("report_recall", "fraction of the expected nuggets that such sentences have",
                  lambda c: quotients(c.answered, c.nuggets)),
    VerdictMetric("report_f1", "harmonic mean of report_precision and report_recall", report_f1),
), columns=("summary", "aliases"))
# fmt: on
OF_NUGGETS = ("report_recall", "report_f1")  # which need expected nuggets


def evaluate_citations(
    rows: Any,
    metrics: str | Iterable[str],
    *,
    expected: Mapping[Any, Iterable[Any]] | None = None,
    missing: Missing = "error",
) -> ResultsByRun:
    """Evaluate answers by their citations: whether cited documents support the sentences that cite them.

    Parameters
    ----------
    rows : table, list of records, or path
        A row for each citation: query_id, sentence, citation, support ("full_support", "partial_support", "no_support",
        "FS", "PS", "NS", or 1, 0.5, 0), and run, unless there is one. A sentence without citations is a row without
        one; its support, if it has any, says whether it is right to cite nothing. For ``report_recall`` a column
        `nugget` names the nugget that the sentence has; a sentence with several has its rows again for each. Kinds of
        tables and files are those of `evaluate_nuggets`.
    metrics : str or iterable of str
        ``citation_precision``, ``citation_recall`` and both with ``_strict``; ``sentence_citation_precision``;
        ``report_precision``, and with expected nuggets ``report_recall`` and ``report_f1``.
    expected : {query_id: nuggets}, or None
        The nuggets that an answer should have, which ``report_recall`` and ``report_f1`` count. Its queries are those
        that every run is held to; None: all queries in any row.
    missing : {"error", "zero"}
        What a citation without a verdict is, and a query that a run has not answered: an error, or no support. None is
        ever left out of the denominator.

    Returns
    -------
    ResultsByRun
        {run: Results}, with a value from 0 to 1 for each query. **Undefined**: 0 for an answer without citations, or
        without sentences.

    Raises
    ------
    ValueError
        A citation has no verdict or two; a run lacks a query; a word is not one of those above; a nugget is not
        expected; a metric needs expected nuggets. FormatError, which is one, names the file.
    UnknownMetricError
        A metric does not exist.
    TypeError, OSError, ImportError
        As by `evaluate_nuggets`.

    Notes
    -----
    Precision and recall as in the TREC RAG track (Thakur et al., arXiv 2504.15205), where full support is worth 1 and
    partial support ½; strict ones count full support alone. The track judges one citation of each sentence; the best of
    several counts for recall. ``sentence_citation_precision`` as in ALCE (Gao et al., 2023). The metrics of reports as
    in ARGUE (Mayfield et al., 2024).

    Examples
    --------
    >>> import fastir
    >>> rows = [
    ...     {"query_id": "q1", "sentence": 1, "citation": "d3", "support": "full_support"},
    ...     {"query_id": "q1", "sentence": 1, "citation": "d7", "support": "no_support"},
    ...     {"query_id": "q1", "sentence": 2, "citation": None, "support": None},
    ... ]
    >>> fastir.evaluate_citations(rows, ["citation_precision", "citation_recall"])["run"]
    citation_precision  0.5000
    citation_recall     0.5000
    1 query
    """
    wanted = read_metrics(CITATION_METRICS, metrics)
    check_choice("missing", missing, MISSING)
    if expected is None and (needy := [name for name, metric in wanted.items() if metric.name in OF_NUGGETS]):
        raise ValueError(f"metric {quote(needy[0])} counts nuggets: expected={{query_id: nuggets}} says which")
    needed = ("query_id", "sentence", "citation", "support")
    columns, path = read_columns(rows, (*needed, "nugget") if expected is not None else needed, ("run",))
    where = RowNames(path, columns)
    refuse_empty(columns, ("query_id", "run", "sentence"), where)
    worth, cited = columns["support"].worth(SUPPORT, where, SUPPORTS), columns["citation"].codes != NO_TEXT
    if missing == "error" and (silent := cited & (worth == NO_TEXT)).any():
        raise where.error(int(silent.argmax()), "the citation has no verdict; missing='zero' counts it as no support")
    query, runs = columns["query_id"], runs_of(columns)
    query_ids = find_queries(query, expected, where)
    answers = runs.codes * len(query_ids) + numbers_among(query, query_ids)
    shape = len(runs.texts), len(query_ids)
    sentences = distinct_rows(runs, query, columns["sentence"])
    citations = distinct_citations(sentences, columns, worth, where)
    present = occurrences(answers, minlength=shape[0] * shape[1]).reshape(shape) > 0
    if missing == "error" and not present.all():
        run, place = np.argwhere(~present)[0].tolist()
        raise ValueError(
            f"run {quote(runs.texts[run])} has no answer to query {quote(query_ids[place])}; missing='zero' counts it "
            "as an answer without citations"
        )
    worth = np.maximum(worth, 0)
    counts = count_citations(citations, sentences, answers, shape, worth, cited)
    if expected is not None:
        rewarded = of_sentences(sentences, worth, cited)[3]
        n_nuggets = check_nuggets(columns, query_ids, expected, where)
        rows = np.flatnonzero(rewarded[sentences.numbers] & (columns["nugget"].codes != NO_TEXT))
        once = distinct_rows(Coded(answers[rows], []), Coded(columns["nugget"].codes[rows], columns["nugget"].texts))
        answered = occurrences(answers[rows[once.rows]], minlength=shape[0] * shape[1]).reshape(shape)
        counts = counts._replace(answered=answered, nuggets=n_nuggets)
    return ResultsByRun(results_of_runs(runs.texts, query_ids, wanted, counts, present))


def find_queries(query: Coded, expected: Any, where: RowNames) -> list[Any]:
    """The queries that every run is held to."""
    codes = query.codes[distinct_rows(query).rows].tolist()
    if expected is None:
        return [query.texts[code] for code in codes]
    query_ids = list(mapping("expected", expected, "map query ids to nuggets"))
    known = set(map(str, query_ids))
    for code in codes:
        if str(query.texts[code]) not in known:
            raise where.error(int((query.codes == code).argmax()), "nothing is expected of this query")
    return query_ids


def numbers_among(column: Coded, texts: list[Any]) -> np.ndarray:
    """The position of each row's text among these, NO_TEXT for another one; an int equals its decimal text."""
    places = {str(text): place for place, text in enumerate(texts)}
    numbers: np.ndarray = np.array([*(places.get(str(text), NO_TEXT) for text in column.texts), NO_TEXT], np.int64)
    return numbers[column.codes]


def distinct_citations(
    sentences: DistinctRows, columns: dict[str, Coded], worth: np.ndarray, where: RowNames
) -> DistinctRows:
    """The citations of each sentence, which have one verdict each, also where rows are repeated for nuggets."""
    own = Coded(sentences.numbers, sentences.rows.tolist())
    citations = distinct_rows(own, columns["citation"])
    if (other := worth != worth[citations.rows][citations.numbers]).any():
        raise where.error(int(other.argmax()), "the citation has another verdict in a row before")
    rows = citations
    if "nugget" in columns:
        cited = Coded(columns["citation"].codes + 1, [None, *columns["citation"].texts])
        rows = distinct_rows(own, cited, columns["nugget"])
    if repeat := rows.repeat():
        raise where.error(repeat[0], f"the citation stands already in row {repeat[1]}")
    return citations


def of_sentences(
    sentences: DistinctRows, worth: np.ndarray, cited: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The worth of each sentence's best citation, and whether it has one, all support it, and it is rewarded."""
    n = len(sentences.rows)
    best, worst = np.zeros(n, np.int64), np.full(n, FULL, np.int64)
    np.maximum.at(best, sentences.numbers, np.where(cited, worth, 0))
    np.minimum.at(worst, sentences.numbers, worth)
    has_citation = occurrences(sentences.numbers[cited], minlength=n) > 0
    return best, has_citation & (worst > 0), has_citation, worst == FULL


def count_citations(
    citations: DistinctRows,
    sentences: DistinctRows,
    answers: np.ndarray,
    shape: tuple[int, int],
    worth: np.ndarray,
    cited: np.ndarray,
) -> CitationCounts:
    """The counts by answer, of a row for each citation and for each sentence."""

    def by_answer(rows: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        return occurrences(answers[rows], numbers.astype(np.float64), shape[0] * shape[1]).reshape(shape)

    rows = citations.rows[cited[citations.rows]]
    best, supported, _, rewarded = of_sentences(sentences, worth, cited)
    return CitationCounts(
        by_answer(rows, worth[rows]),
        by_answer(rows, np.where(worth[rows] == FULL, FULL, 0)),
        by_answer(rows, np.ones(len(rows))),
        by_answer(sentences.rows, best),
        by_answer(sentences.rows, np.where(best == FULL, FULL, 0)),
        by_answer(sentences.rows, np.ones(len(best))),
        by_answer(sentences.rows, supported),
        by_answer(sentences.rows, rewarded),
        None,
        None,
    )


def check_nuggets(
    columns: dict[str, Coded], query_ids: list[Any], expected: Mapping[Any, Iterable[Any]], where: RowNames
) -> np.ndarray:
    """How many nuggets are expected of each query; refuse rows with another one."""
    nugget, query = columns["nugget"], columns["query_id"]
    listed = [id_set(f"expected: the nuggets of query {quote(query_id)}", expected[query_id]) for query_id in query_ids]
    wanted = [set(map(str, nuggets)) for nuggets in listed]
    if (empty := next((q for q, nuggets in zip(query_ids, wanted, strict=True) if not nuggets), None)) is not None:
        raise ValueError(f"expected: query {quote(empty)} has no nugget")
    numbers = numbers_among(query, query_ids)
    for row in distinct_rows(query, nugget).rows.tolist():
        if nugget.codes[row] != NO_TEXT and str(nugget.text(row)) not in wanted[numbers[row]]:
            raise where.error(row, "the nugget is not expected")
    return np.array([len(nuggets) for nuggets in wanted], np.int64)
