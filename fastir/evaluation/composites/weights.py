"""Weights of judged documents: metrics in which a relevant document counts as its weight.

Such metrics are measured on qrels that have weights as labels: the weight of each relevant document, 0 for the others.
The later code knows no weights, only real-valued labels. What psp and psndcg divide by is a mean over all
queries that count, of what the ranking by weight has.
"""

from __future__ import annotations

import copy
import math
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from fastir.data.qrels import Qrels, refuse_without_labels
from fastir.data.rankings import measure_rankings
from fastir.data.results.report import Report
from fastir.data.run import as_run
from fastir.engine.columns.rows import list_of_each, occurrences, offsets_from_sizes, repeat, select
from fastir.engine.measure import BY_MEANS, NUM_Q
from fastir.errors import UnknownMetricError, quote
from fastir.evaluation.composites.from_plain import FromPlain
from fastir.evaluation.composites.samples import label_gains
from fastir.evaluation.drivers.evaluate_one import PlainEvaluator, RunValues
from fastir.evaluation.drivers.judged import Ranks, rankings_from_ranks
from fastir.inputs.mappings import DocWeights, align, align_numbers, from_file
from fastir.inputs.shapes import PATH, TABLE, input_shape
from fastir.request.names import Request
from fastir.request.plan import ID_PROPERTIES, ORDER_RULES, WEIGHTED, Settings, compile_derived, compile_settings

if TYPE_CHECKING:
    from fastir.request.options import Duplicates

ANY_WEIGHT = math.nextafter(0, 1)  # what has a weight is relevant
NO_ORDER = dict.fromkeys(ORDER_RULES)  # the ranking by weight follows from no rule


class WeightedQrels(Qrels):
    """Judgments with float64 weights parallel to their labels: NaN if missing, as only labels above 0 need one."""

    def __init__(self, qrels: Qrels, weights: np.ndarray) -> None:
        super().__init__(*qrels.columns.fields())
        self.columns.weights = weights

    def _only(self, places: list[int], kept: np.ndarray | None = None) -> WeightedQrels:
        weights: Any = self.columns.weights
        plain, (rows, _) = Qrels(*self.columns.fields()), self.columns.rows(places, kept)
        return WeightedQrels(select(plain, places, kept), weights[rows])

    def __reduce__(self) -> tuple[Any, ...]:
        return WeightedQrels, (Qrels(*self.columns.fields()), self.columns.weights)


def read_doc_weights(
    doc_weights: DocWeights | str | os.PathLike[str],
    qrels: Any,
    columns: Mapping[str, str] | None,
    duplicates: Duplicates | None,
) -> DocWeights:
    """Weights of documents in any form; a str is a column of the table of the qrels."""
    if isinstance(doc_weights, os.PathLike):
        return from_file(doc_weights)
    if not isinstance(doc_weights, str):
        return doc_weights
    if input_shape(qrels, Qrels, columns) not in (TABLE, PATH):
        raise TypeError(
            f"doc_weights={doc_weights!r} names a column of a table of qrels; these qrels are a "
            f"{type(qrels).__name__}, and their weights come as {{doc_id: weight}}"
        )
    return as_run(qrels, {**(columns or {}), "score": doc_weights}, duplicates).to_dict()


def weigh_qrels(qrels: Qrels, doc_weights: DocWeights) -> WeightedQrels:
    """Judgments with the weights of their documents."""
    refuse_without_labels(qrels, "doc_weights")
    columns = qrels.columns
    doc_ids = columns.ids[:]
    if (weights := align_numbers(doc_weights, doc_ids, columns.numbers)) is not None:
        return WeightedQrels(qrels, weights)
    ids = (columns.query_ids[query] for query in list_of_each(columns.offsets).tolist())
    rows = zip(ids, doc_ids, columns.numbers.tolist(), strict=True)
    return WeightedQrels(qrels, align(doc_weights, rows, "query", "document"))


class WeightedPart:
    """The metrics, at these columns of all, that share labels: they have one relevance level and one gain."""

    def __init__(self, settings: Settings, columns: list[int], level: float, gain: Any) -> None:
        self.columns = columns
        self.level = level
        self.gain = gain
        bases = [linear_metric(settings.requests[column], settings.values[column]) for column in columns]
        options = settings.options.replace(rel_level=ANY_WEIGHT)._replace(convention="fastir", choices=())
        self.settings: Settings = compile_derived(tuple(bases), options)
        self.ideal_settings: Settings = compile_derived(tuple(bases), options._replace(max_depth=None))
        self.places: list[int] = [self.settings.names.index(base) for base in bases]
        by_means = (place for place, column in enumerate(columns) if settings.requests[column].card.name in BY_MEANS)
        self.by_means: list[int] = list(by_means)

    def labels(self, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Weights as labels, of documents with these labels."""
        relevant = labels >= self.level
        worth = np.maximum(label_gains(labels, self.gain, 0), 0.0)
        return np.where(relevant, worth * weights, np.minimum(labels, 0.0))

    def best(self, offsets: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """The values of `by_means` for the rankings by weight: an array of shape (n_queries, n_metrics)."""
        n = len(offsets) - 1
        queries = list_of_each(offsets)
        order = np.lexsort((-labels, queries))
        order = order[labels[order] > 0]
        sizes = occurrences(queries[order], minlength=n)
        starts = offsets_from_sizes(sizes)
        ranks = np.arange(1, len(order) + 1) - repeat(starts[:-1], sizes)
        ranked = Ranks(sizes, ranks, labels[order], sizes.astype(np.int64), np.zeros(n, bool))
        ideal = rankings_from_ranks(list(range(n)), ranked, (starts, labels[order]), None, NO_ORDER, Report())
        return measure_rankings(ideal, self.ideal_settings)[:, [self.places[place] for place in self.by_means]]

    def divide(self, values: np.ndarray, best: np.ndarray, n: int) -> np.ndarray:
        """The values of all columns, from those measured and what `best` has for the n queries that count.

        A query that is missing from `best` counts as 0.
        """
        values = values[:, self.places]
        for place, divisor in zip(self.by_means, means_over(best, n), strict=True):
            values[:, place] = quotients(values[:, place], divisor)
        return values


def means_over(best: np.ndarray, n: int) -> list[float]:
    """Return the divisor of each metric that divides means: the mean value of the best rankings of n queries."""
    return [math.fsum(column.tolist()) / n if n else 0.0 for column in best.T]


def quotients(values: np.ndarray, divisor: float) -> np.ndarray:
    """Values of such a metric; 0 where no document counts."""
    return values / divisor if divisor > 0 else np.zeros(len(values))


def weighted_parts(settings: Settings) -> list[WeightedPart]:
    """The parts of metrics by their labels; the first has the relevance level of the options, if any does."""
    columns: dict[tuple[float, Any], list[int]] = {}
    level = settings.options.rel_level
    for column, (request, values) in enumerate(zip(settings.requests, settings.values, strict=True)):
        columns.setdefault((request.relevant_from(level), values.get("gain", "binary")), []).append(column)
    parts = [WeightedPart(settings, places, *key) for key, places in columns.items()]
    return sorted(parts, key=lambda part: part.level != level)


def linear_metric(request: Request, values: dict[str, Any]) -> str:
    """The metric on labels that are weights."""
    params = {**values, "gain": "linear"} if "gain" in values else values
    return str(request._replace(level=None, params=params))


def check_query_weights(requests: Iterable[Request]) -> None:
    """Refuse weights of queries for metrics that are quotients of two means."""
    for request in requests:
        if request.card.name in BY_MEANS:
            raise ValueError(
                f"weights: metric {quote(request.text)} divides by a mean over the queries, in which all count the same"
            )


class WeightedEvaluator(FromPlain):
    """Evaluates metrics of weighted documents alone, under one set of rules; arguments as for `PerMetricRules`."""

    def __init__(self, prepare: Callable[..., PlainEvaluator], qrels: Qrels, settings: Settings) -> None:
        weights = qrels.columns.weights
        if weights is None:
            text = quote(settings.requests[0].text)
            raise UnknownMetricError(
                f"metric {text} needs {ID_PROPERTIES[WEIGHTED]}={{doc_id: weight}}; none were given"
            )
        self.qrels = qrels
        self.settings = settings
        self.plain: PlainEvaluator = prepare(qrels, compile_settings((NUM_Q,), settings.options))
        self.places: dict[Any, int] = {query_id: place for place, query_id in enumerate(qrels)}
        self.parts: list[WeightedPart] = weighted_parts(settings)
        self.divides: bool = True  # by the means, as whoever puts queries together does later
        self.best: list[np.ndarray] = []
        columns = qrels.columns
        self.measuring: list[PlainEvaluator] = []
        for part in self.parts:
            labels = part.labels(columns.numbers, weights)
            part_qrels = Qrels(columns.query_ids, columns.offsets, columns.ids, labels, columns.repairs)
            self.measuring.append(prepare(part_qrels, part.settings))
            self.best.append(part.best(columns.offsets, labels) if part.by_means else np.empty((len(qrels), 0)))

    def answer(self, run: Any, n_threads: SupportsIndex | None, plain: RunValues) -> RunValues:
        """The result of `measure`, from the values of the job."""
        query_ids, _, status, coverage = plain
        rows = [self.places[query_id] for query_id in query_ids]
        values = np.empty((len(query_ids), len(self.settings.names)))
        for part, best, prepared in zip(self.parts, self.best, self.measuring, strict=True):
            measured = prepared.measure(run, n_threads)[1]
            divided = part.divide(measured, best[rows], len(rows)) if self.divides else measured[:, part.places]
            values[:, part.columns] = divided
        return query_ids, values, status, coverage

    def without_division(self) -> WeightedEvaluator:
        """This evaluator for some of the queries: nothing is divided by means, which `divisors` has for all."""
        copied = copy.copy(self)
        copied.divides = False
        return copied

    def best_values(self, query_ids: list[Any]) -> dict[str, np.ndarray]:
        """Return {metric: its values for the best rankings of these queries}; their mean is the metric's divisor."""
        rows = [self.places[query_id] for query_id in query_ids]
        return {
            self.settings.names[part.columns[place]]: column
            for part, best in zip(self.parts, self.best, strict=True)
            for place, column in zip(part.by_means, best[rows].T, strict=True)
        }
