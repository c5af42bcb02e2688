"""Costs of documents: metrics of the documents whose costs fit a budget, and what it costs to find relevant ones.

A run is ranked once. Metrics with a budget are those without one, for the documents that fit; a rank costs the sum of
the costs down to it.
"""

from __future__ import annotations

import copy
import itertools
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Self, SupportsIndex

import numpy as np

from fastir.checks import mapping
from fastir.data.qrels import Qrels, refuse_without_labels
from fastir.data.run import Run, as_run
from fastir.engine.columns.rows import list_of_each, occurrences, offsets_from_sizes, repeat, select
from fastir.engine.measure import COSTS_OF_RANKS, LAST_REL, NUM_Q, NUM_REL, NUM_REL_RET
from fastir.errors import UnknownMetricError, quote
from fastir.evaluation.composites.from_plain import FromPlain
from fastir.evaluation.composites.ranked_rows import ranked_rows
from fastir.evaluation.drivers.evaluate_one import PlainEvaluator, RunValues
from fastir.inputs.mappings import DocWeights, from_file, read_number
from fastir.inputs.shapes import PATH, TABLE, input_shape
from fastir.request.names import NAMES, Request
from fastir.request.options import TIES, TIES_BY_ID, TIES_BY_INPUT
from fastir.request.plan import COSTED, ID_PROPERTIES, Settings, compile_derived, compile_settings

if TYPE_CHECKING:
    from fastir.request.options import Duplicates

EXPECTED = "doc_costs: a cost must be a finite number from 0 up"
BUDGET_PARAMS = ("budget", "over_budget", "at_least_one")
Budget = tuple[float, str, str] | None  # the values of BUDGET_PARAMS; None: all documents


def read_doc_costs(doc_costs: DocWeights | str | os.PathLike[str], parents: Any) -> DocWeights | str:
    """Costs of documents by their ids; a str is a column of tables of runs."""
    if isinstance(doc_costs, os.PathLike):
        return from_file(doc_costs, "cost")
    if isinstance(doc_costs, str):
        if parents is not None:
            raise ValueError(f"doc_costs={doc_costs!r}: with parents or exclude, costs come as {{doc_id: cost}}")
        return doc_costs
    return mapping("doc_costs", doc_costs, "map ids to costs, {doc_id: cost} or {query_id: {doc_id: cost}}")


def costs_of_rows(column: str, run: Any, columns: Mapping[str, str] | None, duplicates: Any) -> DocWeights:
    """The costs in a column of a table of a run."""
    if input_shape(run, Run, columns) not in (TABLE, PATH):
        raise TypeError(
            f"doc_costs={column!r} names a column of a table; this run is a {type(run).__name__}, and its costs come "
            "as {doc_id: cost}"
        )
    return as_run(run, {**(columns or {}), "score": column}, duplicates).to_dict()


class RankedRun:
    """A run in rank order, with the cost of each document; only of queries that have judgments.

    `columns` are the columns of the run, `rows` their positions in rank order, `offsets` those of the queries.
    """

    def __init__(self, run: Run, query_ids: set[str], settings: Settings, doc_costs: Any) -> None:
        run = select(run, [place for place, query in enumerate(run.columns.query_ids) if str(query) in query_ids])
        self.columns: Any = run.columns
        queries = list_of_each(self.columns.offsets)
        order = ranked_rows(run, TIES[settings.ties], bool(settings.single))
        sizes = np.diff(self.columns.offsets)
        if settings.options.max_depth is not None:
            places = np.arange(len(order)) - repeat(self.columns.offsets[:-1], sizes)
            order = order[places < settings.options.max_depth]
            sizes = np.minimum(sizes, settings.options.max_depth)
        self.rows: np.ndarray = order
        self.queries: np.ndarray = queries[order]
        self.offsets: np.ndarray = offsets_from_sizes(sizes)
        self.costs: np.ndarray = align_costs(doc_costs, self.columns)[order]
        self.sums: np.ndarray = np.empty(len(order))
        for first, stop in itertools.pairwise(self.offsets.tolist()):
            np.cumsum(self.costs[first:stop], out=self.sums[first:stop])

    def within(self, budget: Budget) -> Run:
        """The documents that fit a budget, as a run with scores that fall by rank."""
        kept = np.ones(len(self.rows), bool)
        if budget is not None:
            most, over, at_least_one = budget
            kept = self.sums <= most if over == "stop" else self.fitting(most)
            if at_least_one == "true":
                used = np.flatnonzero(np.diff(self.offsets))
                firsts = self.offsets[used]
                found = occurrences(self.queries[kept], minlength=len(self.offsets) - 1)
                kept[firsts[found[used] == 0]] = True
        sizes = occurrences(self.queries[kept], minlength=len(self.offsets) - 1)
        ids = self.columns.ids_at(self.rows[kept])
        scores = repeat(self.offsets[:-1], np.diff(self.offsets)) - np.arange(len(kept), dtype=float)  # - ranks
        return Run(self.columns.query_ids, offsets_from_sizes(sizes), ids, scores[kept], {})

    def fitting(self, most: float) -> np.ndarray:
        """Whether a document fits the budget after those that fit before it."""
        kept = []
        costs = self.costs.tolist()
        for first, stop in itertools.pairwise(self.offsets.tolist()):
            total = 0.0
            for cost in costs[first:stop]:
                fits = total + cost <= most
                total += cost if fits else 0.0
                kept.append(fits)
        return np.array(kept, bool)

    def costs_at(self, ranks: dict[str, float]) -> dict[str, float]:
        """{query_id: what the documents down to a rank cost}, of {query_id: rank}."""
        places = {str(query_id): place for place, query_id in enumerate(self.columns.query_ids)}
        return {
            query_id: float(self.sums[self.offsets[places[query_id]] + int(rank) - 1])
            for query_id, rank in ranks.items()
        }


def align_costs(doc_costs: Any, columns: Any) -> np.ndarray:
    """The cost of each row; every row has one."""
    doc_ids = columns.ids[:]
    if type(doc_costs) is dict and set(map(type, doc_costs)) <= {type(doc_id) for doc_id in doc_ids[:1]}:
        found = list(map(doc_costs.get, doc_ids))
        if set(map(type, found)) <= {int, float}:
            costs = np.array(found, float)
            if ((costs >= 0) & (costs < np.inf)).all():
                return costs
    by_text = {str(key): value for key, value in doc_costs.items()}
    nested = any(hasattr(value, "items") for value in by_text.values())
    aligned = []
    for query_id, (first, stop) in zip(columns.query_ids, itertools.pairwise(columns.offsets.tolist()), strict=True):
        of_query: Mapping[str, Any] = by_text
        if nested:
            of_query = mapping(
                f"doc_costs of query {quote(query_id)}", by_text.get(str(query_id), {}), "map ids to costs"
            )
            of_query = {str(doc_id): cost for doc_id, cost in of_query.items()}
        for doc_id in doc_ids[first:stop]:
            cost = of_query.get(str(doc_id))
            if cost is None:
                raise ValueError(f"doc_costs: document {quote(doc_id)} of query {quote(query_id)} has no cost")
            aligned.append(read_number(cost, EXPECTED, f"(query {query_id}, document {doc_id})", 0.0))
    return np.array(aligned, float)


def refuse_without_order(settings: Settings) -> None:
    """Refuse rules by which no document has one rank, and what counts documents beyond a budget."""
    for request, values in zip(settings.requests, settings.values, strict=True):
        text = quote(request.text)
        if (ties := TIES[settings.ties]) not in (*TIES_BY_ID, *TIES_BY_INPUT):
            raise ValueError(f"metric {text}: ties={ties!r} gives documents of equal scores no ranks to add costs by")
        if settings.options.judged_only:
            raise ValueError(f"metric {text}: judged_only drops documents, but a user pays for all of them")
        if values.get("average") == "micro":
            raise ValueError(f"metric {text}: average='micro' does not go with a budget")


class CostEvaluator(FromPlain):
    """Evaluates metrics that read costs, under one set of rules."""

    def __init__(
        self,
        prepare: Callable[..., PlainEvaluator],
        qrels: Qrels,
        settings: Settings,
        doc_costs: DocWeights | str | None,
    ) -> None:
        if doc_costs is None:
            text = quote(settings.requests[0].text)
            raise UnknownMetricError(f"metric {text} needs {ID_PROPERTIES[COSTED]}={{doc_id: cost}}; none were given")
        refuse_without_labels(qrels, "doc_costs")
        refuse_without_order(settings)
        self.settings = settings
        self.doc_costs: DocWeights | str = doc_costs
        self.query_ids: set[str] = set(map(str, qrels))
        self.plain: PlainEvaluator = prepare(qrels, compile_settings((NUM_Q,), settings.options))
        options = settings.options._replace(convention="fastir", choices=(), max_depth=None, queries="qrels")
        self.bases: list[tuple[str, ...]] = []  # the metrics without costs, of each request
        by_budget: dict[Budget, list[str]] = {}
        for request, values in zip(settings.requests, settings.values, strict=True):
            bases = base_metrics(request, values)
            self.bases.append(bases)
            by_budget.setdefault(budget_of(request, values), []).extend(bases)
        self.parts: dict[Budget, PlainEvaluator] = {
            budget: prepare(qrels, compile_derived(tuple(dict.fromkeys(bases)), options))
            for budget, bases in by_budget.items()
        }

    def for_rows(self, rows: Any, columns: Mapping[str, str] | None, duplicates: Duplicates | None) -> Self:
        """This evaluator with the costs in a column of these rows, if the costs are one."""
        if not isinstance(self.doc_costs, str):
            return self
        copied = copy.copy(self)
        copied.doc_costs = costs_of_rows(self.doc_costs, rows, columns, duplicates)
        return copied

    def answer(self, run: Any, n_threads: SupportsIndex | None, plain: RunValues) -> RunValues:
        """The result of `measure`, from the values of the job."""
        query_ids, _, status, coverage = plain
        if isinstance(self.doc_costs, str):
            costs_of_rows(self.doc_costs, run, None, None)  # raises: dicts have no columns
        held = as_run(run, None, self.settings.options.duplicates)
        ranked = RankedRun(held, self.query_ids, self.settings, self.doc_costs)
        measured = {}
        for budget, prepared in self.parts.items():
            ids, found, _, _ = prepared.measure(ranked.within(budget), n_threads)
            rows = {query_id: row for row, query_id in enumerate(ids)}
            measured[budget] = found[[rows[query_id] for query_id in query_ids]]
        values = np.empty((len(query_ids), len(self.settings.requests)))
        requests = zip(self.settings.requests, self.settings.values, self.bases, strict=True)
        for column, (request, chosen, bases) in enumerate(requests):
            budget = budget_of(request, chosen)
            names = self.parts[budget].settings.names
            of_bases = [measured[budget][:, names.index(base)] for base in bases]
            values[:, column] = of_bases[0]
            if len(of_bases) > 1:
                values[:, column] = rank_costs(ranked, query_ids, request, chosen, of_bases)
        return query_ids, values, status, coverage


def budget_of(request: Request, values: dict[str, Any]) -> Budget:
    """The budget of a metric with its rules; None for the cost of a rank."""
    return None if request.card.name in COSTS_OF_RANKS else tuple(values[name] for name in BUDGET_PARAMS)


def base_metrics(request: Request, values: dict[str, Any]) -> tuple[str, ...]:
    """The metric without a budget; for the cost of a rank that rank, and how many relevant documents are found."""
    params = {name: value for name, value in values.items() if name not in BUDGET_PARAMS}
    if request.card.name not in COSTS_OF_RANKS:
        return (str(request._replace(params=params)),)
    rank = request._replace(card=NAMES[COSTS_OF_RANKS[request.card.name]], params=params)
    counts = (request._replace(card=NAMES[name], params={}) for name in (NUM_REL_RET, NUM_REL))
    return str(rank), *map(str, counts)


def rank_costs(
    ranked: RankedRun, query_ids: list[Any], request: Request, chosen: dict[str, Any], of_bases: list[np.ndarray]
) -> np.ndarray:
    """The costs of ranks; what the metric of ranks has where no relevant document, or not all of them, is retrieved."""
    ranks, n_found, n_relevant = of_bases
    is_cost = n_found > 0
    values = ranks.copy()
    if COSTS_OF_RANKS[request.card.name] == LAST_REL:
        values[is_cost & (n_found < n_relevant)] = 0.0 if chosen["no_hit"] == "zero" else np.nan
        is_cost &= n_found == n_relevant
    wanted = {str(query_ids[row]): float(ranks[row]) for row in np.flatnonzero(is_cost).tolist()}
    values[is_cost] = list(ranked.costs_at(wanted).values())
    return values
