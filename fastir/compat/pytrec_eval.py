"""A drop-in replacement for the module pytrec_eval: ``from fastir.compat import pytrec_eval``.

Or, for code that calls pytrec_eval itself, as BEIR, MTEB and ir_measures do: ``fastir.compat.install("pytrec_eval")``.
It needs no pytrec_eval; compared with pytrec_eval-terrier 0.5.11.

**Same**: every function and class with its parameters, the names of measures and nicknames, the keys of the result and
their order, every value to the last bit (scores are compared as float32, equal ones by document id from the last to the
first; recall points are rounded as by trec_eval 9; ``gm_map`` and ``gm_bpref`` are logarithms; ``runid`` and
``relstring`` are 0.0); the queries of `scores` in their order, without unjudged ones; the result for empty qrels or
scores; a number behind a measure that takes none is ignored; and the types of errors: TypeError for an id that is not a
str, a label that is not an integer or a score that is not a number, ValueError for a measure, AssertionError for a
duplicate document in a file.

**Different on purpose**: inputs that end the process or silently give wrong values there are a ValueError here (a
cutoff of 0, ``ndcg.10``), a TypeError (a relevance level below 1), an OverflowError (scores and labels beyond their
type) or an ordinary query (one with negative labels only). A NaN among the scores is a ValueError; so is anything
behind a measure's numbers (``ndcg_cut_10abc``), a cutoff of 1.5 and a ``utility`` without four parameters. Integers and
floats of NumPy are labels and scores, too. A query may be called ``no query``, and an id may hold a NUL. An evaluator
can be pickled, and used by many threads at once.

**Not offered**: nothing; measures of preferences and of groups of judges are in the nicknames of pytrec_eval, too, but
not supported there.
"""

import collections
import functools
import math
import operator
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from fastir.compat._rows import run_values
from fastir.data.qrels import Qrels
from fastir.data.results._fields import row_dicts
from fastir.engine.columns._dicts import plain_judgments
from fastir.errors import UnknownMetricError, quote
from fastir.evaluation.drivers.prepared import PreparedQrels
from fastir.evaluation.evaluator import Evaluator
from fastir.inputs import dicts
from fastir.rendering.text import counted
from fastir.request.names import FAMILIES, NAMES, NICKNAMES, Request, read

__all__ = (
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
)

__version__ = "0.5.11"  # the version of pytrec_eval-terrier that this module behaves like

# In the order in which trec_eval computes them, which is the order of the result's keys.
OFFICIAL_MEASURES = ["runid", *NICKNAMES["official"].split()]
NEW_MEASURES = {"rbp", "rbp_resid", "unj"}  # trec_eval 10 has them
TEXT_MEASURES = {"runid", "relstring"}  # text in trec_eval
MEASURES = [
    *OFFICIAL_MEASURES,
    "relstring",
    *(name for name in NICKNAMES["all_trec"].split() if name not in {*OFFICIAL_MEASURES, *NEW_MEASURES}),
]
WITH_GAINS = {"G", "Rndcg", "ndcg", "ndcg_rel"}  # their parameters are gains, label=gain

PREFERENCE_MEASURES = "simp pair avgjg num_prefs_poss num_prefs_ful num_prefs_ful_ret"  # known, but not supported
ALL_PREFS = (
    f"{PREFERENCE_MEASURES} simp_ret simp_imp pair_ret pair_imp avgjg_ret avgjg_imp avgjg_Rnonrel avgjg_Rnonrel_ret"
)

supported_measures: set[str] = set(MEASURES)
supported_nicknames: dict[str, set[str]] = {
    "official": set(OFFICIAL_MEASURES),
    "set": {"runid", *NICKNAMES["set"].split()},
    "all_trec": set(MEASURES),
    "all_prefs": {"runid", "num_q", *(f"prefs_{name}" for name in ALL_PREFS.split())},
    "prefs": {"runid", "num_q", *(f"prefs_{name}" for name in PREFERENCE_MEASURES.split())},
    "qrels_jg": {"runid", "num_q", *NICKNAMES["qrels_jg"].split()},
}


class RunOrder:
    """Qrels and metrics prepared once; the rows of a result are the run's queries, in the order of the run."""

    def __init__(self, qrels: Qrels, metrics: Iterable[str], **options: Any) -> None:
        self._positions = {query_id: position for position, query_id in enumerate(qrels)}
        self._metrics = tuple(metrics)
        options["queries"] = "qrels"  # every query of the run that is in the qrels has a row
        self._evaluator = Evaluator(qrels, self._metrics, **options) if self._metrics and self._positions else None

    def values(self, run: dict[str, Any]) -> tuple[list[str], np.ndarray]:
        """The run's queries that are in the qrels, and float64 values of shape (n_queries, n_metrics)."""
        if not isinstance(run, dict):
            raise TypeError(f"the run must be a dict {{query_id: {{doc_id: score}}}}, got {type(run).__name__}")
        evaluator = self._evaluator
        if evaluator is None:
            query_ids = [query_id for query_id in run if query_id in self._positions]
            return query_ids, np.empty((len(query_ids), len(self._metrics)))
        prepared = evaluator.rules.prepared
        settings = prepared.settings
        if isinstance(prepared, PreparedQrels):
            return run_values(prepared.judged, settings.plan, run, self._positions, settings.ties, settings.single)
        judged_run = {query_id: ranking for query_id, ranking in run.items() if query_id in self._positions}
        if not judged_run:
            return [], np.empty((0, len(settings.names)))
        query_ids, values, _, _ = prepared.measure(judged_run, 1)
        places = {query_id: place for place, query_id in enumerate(query_ids)}
        return list(judged_run), values[[places[query_id] for query_id in judged_run]]


class RelevanceEvaluator:
    """Qrels and measures prepared once, for any number of runs.

    Parameters
    ----------
    query_relevance : mapping of query_id to dict of doc_id to int, or Qrels
        The judgments; queries without any are left out.
    measures : iterable of str
        ``"map"``, ``"ndcg_cut_10"``, ``"P.5,10"``, or nicknames such as ``"official"``; ValueError for others.
    relevance_level : int
        Documents with at least this label, from 1 up, are relevant.
    judged_docs_only_flag : bool
        Remove documents without a judgment from the rankings.

    Raises
    ------
    TypeError, OverflowError
        An id is not a str, a label no integer in [-2^31, 2^31 - 1], or the relevance level no integer from 1 up.
    """

    def __init__(
        self,
        query_relevance: Any,
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,
    ) -> None:
        self.keys: tuple[str, ...]
        self._row, self.keys, metrics, self._logarithms = compile_measures(frozenset(measures))
        if operator.index(relevance_level) < 1:
            raise TypeError(f"relevance_level must be 1 or more, got {relevance_level}")
        self._rows = RunOrder(
            judgments(query_relevance),
            metrics,
            rel_level=relevance_level,
            judged_only=bool(judged_docs_only_flag),
            convention="trec_eval-9",
            unranked="nan",
        )

    def evaluate(self, scores: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
        """The value of every measure for every query that has judgments: ``{query_id: {measure: float}}``.

        TypeError: `scores` is not a dict of dicts, an id not a str, or a score not a number. ValueError: a score is
        NaN.
        """
        if not scores:
            return {}
        query_ids, values = self.values(scores)
        return row_dicts(query_ids, self._row, self.keys, values)

    def values(self, scores: dict[str, dict[str, float]]) -> tuple[list[str], np.ndarray]:
        """The queries of `evaluate`, and the values for `keys`: float64, a row for each query."""
        query_ids, values = self._rows.values(scores)
        for column in self._logarithms:
            values[:, column] = [math.log(value) for value in values[:, column].tolist()]
        return query_ids, values


def values_at_cutoffs(
    qrels: Any, results: dict[str, Any], measures: Iterable[str], k_values: Iterable[int]
) -> tuple[tuple[str, ...], list[str], np.ndarray]:
    """The keys of measures at all cutoffs, the queries in both, and their values: float64, a row for each query."""
    cutoffs = ",".join(map(str, k_values))
    evaluator = RelevanceEvaluator(qrels, {f"{measure}.{cutoffs}" for measure in measures})
    query_ids, values = evaluator.values(results)
    if not query_ids:
        raise ZeroDivisionError("no query is in both the results and the qrels, so there is no mean")
    return evaluator.keys, query_ids, values


@functools.lru_cache(256)
def compile_measures(
    measures: frozenset[str],
) -> tuple[dict[str, float], tuple[str, ...], tuple[str, ...], tuple[int, ...]]:
    """The row of a result with 0.0 for all keys, the keys that are computed, their metrics, positions of logarithms."""
    numbers: dict[str, set[str]] = {}
    expanded = {name for measure in measures for name in supported_nicknames.get(measure, (measure,))}
    for measure in expanded:
        match = grammar().fullmatch(measure)
        if match is None:
            raise UnknownMetricError(f"unsupported measure {quote(measure)}; supported are {', '.join(MEASURES)}")
        numbers.setdefault(match[1], set()).update(match[2].split(",") if match[2] else ())
    row: dict[str, float] = {}
    keys: list[str] = []
    metrics: list[str] = []
    logarithms: list[int] = []
    for measure in MEASURES:
        if measure in TEXT_MEASURES & numbers.keys():
            row[measure] = 0.0
        elif measure in numbers:
            for request in requests(measure, sorted(numbers[measure])):
                if request.card.aggregate == "geometric":
                    logarithms.append(len(keys))
                keys.append(result_key(measure, request))
                metrics.append(request.text)
                row[keys[-1]] = 0.0
    return row, tuple(keys), tuple(metrics), tuple(logarithms)


@functools.cache
def grammar() -> re.Pattern[str]:
    """A measure, and numbers behind it; compiled when one is read."""
    number = r"[0-9]+(?:\.[0-9]+)?"
    return re.compile(rf"({'|'.join(map(re.escape, MEASURES))})(?:[._]({number}(?:,{number})*))?")


def requests(measure: str, numbers: list[str]) -> list[Request]:
    """The core's metrics behind a measure and the numbers behind it."""
    if measure == "set_F":
        numbers = numbers[:1]
    elif not NAMES[measure.lower()].positional and measure.lower() not in FAMILIES and measure not in WITH_GAINS:
        numbers = []
    return read(f"{measure}.{','.join(numbers)}" if numbers else measure, "trec_eval")


def result_key(measure: str, request: Request) -> str:
    """pytrec_eval's name for a value."""
    if measure.lower() not in FAMILIES:
        return measure
    at = request.card.at
    return f"{measure}_{request.params[at]:.2f}" if at else f"{measure}_{request.cutoff}"


def judgments(query_relevance: Any) -> Qrels:
    """Return Qrels from dicts of dicts, without queries that have no judgments; a Qrels is returned unchanged."""
    if isinstance(query_relevance, Qrels):
        return query_relevance
    data = {query_id: docs for query_id, docs in query_relevance.items() if len(docs)}
    columns = plain_judgments(data, floats=False)
    if columns is None:
        columns = dicts.judgments({query_id: int_labels(query_id, docs) for query_id, docs in data.items()})
    for what, ids in (("query", columns[0]), ("document", columns[2])):
        if ids and type(ids[0]) is not str:
            raise TypeError(f"query_relevance: {what} ids must be str, got {type(ids[0]).__name__} {quote(ids[0])}")
    return Qrels(*columns)


def int_labels(query_id: Any, docs: Any) -> dict[str, int]:
    """The judgments of a query with labels that are exactly int."""
    if not isinstance(docs, dict):
        raise TypeError(
            f"query_relevance: query {quote(query_id)} must map to a dict {{doc_id: label}}, got {type(docs).__name__}"
        )
    try:
        return {doc_id: operator.index(label) for doc_id, label in docs.items()}
    except TypeError:
        doc_id, label = next((doc_id, label) for doc_id, label in docs.items() if not hasattr(label, "__index__"))
        raise TypeError(
            f"query_relevance: a label must be an integer, got {type(label).__name__} {quote(label)} "
            f"(query {query_id}, document {doc_id})"
        ) from None


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """The scores in lines ``query_id Q0 doc_id rank score name``, ``{query_id: {doc_id: score}}``.

    ValueError: a line does not have six fields, or a score is not a number. AssertionError: a query has a document
    twice.
    """
    return parse_fields(f_run, 6, 4, float)


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """The labels in lines ``query_id 0 doc_id label``, ``{query_id: {doc_id: label}}``.

    ValueError: a line does not have four fields, or a label is not an integer. AssertionError: a query has a document
    twice.
    """
    return parse_fields(f_qrel, 4, 3, int)


def parse_fields(lines: Iterable[str], n_fields: int, place: int, number: type[Any]) -> dict[str, dict[str, Any]]:
    """The reader of both kinds of files: query and document in the first and third field, a number in another."""
    data: dict[str, dict[str, Any]] = collections.defaultdict(dict)
    for count, line in enumerate(lines, 1):
        fields = line.split()
        if len(fields) != n_fields:
            raise ValueError(
                f"line {count} has {counted(len(fields), 'field', 'fields')}, expected {n_fields}: {quote(line)}"
            )
        docs, doc_id = data[fields[0]], fields[2]
        if doc_id in docs:
            raise AssertionError(f"line {count}: duplicate document {quote(doc_id)} in query {quote(fields[0])}")
        try:
            docs[doc_id] = number(fields[place])
        except ValueError as error:
            raise ValueError(f"line {count}: {error}") from None
    return data


def compute_aggregated_measure(measure: str, values: list[float]) -> float:
    """One number for all queries: the sum if the measure begins with num_, the root of the product if with gm_ (whose
    values are logarithms), else the mean; NaN and a RuntimeWarning without values.
    """
    if measure.startswith("num_"):
        return float(np.sum(values))
    if measure.startswith("gm_"):
        return float(np.exp(np.sum(values) / len(values)))
    return float(np.mean(values))
