"""Costs of documents: metrics of the documents whose costs fit a budget, and what it costs to find relevant ones.

A run is ranked once. Metrics with a budget are those without one, for the documents that fit; a rank costs the sum of
the costs down to it.
"""

from __future__ import annotations

import copy
import functools
import math
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self, SupportsIndex

import numpy as np

from fastir.checks import mapping
from fastir.data.qrels import Qrels, refuse_without_labels
from fastir.data.run import Run, as_run
from fastir.engine.columns.rows import list_of_each, occurrences, offsets_from_sizes
from fastir.engine.join._judged import judgments, with_falls
from fastir.engine.measure import COSTS_OF_RANKS, LAST_REL, NUM_Q, NUM_REL, NUM_REL_RET, POSITIONED, TBG
from fastir.engine.measure._arithmetic import powers_of_two
from fastir.engine.rank._judged_ranks import JudgedRanks
from fastir.engine.rank._numbers import are_plain_numbers, rank_within
from fastir.engine.threads import run as run_kernel
from fastir.errors import UnknownMetricError, quote
from fastir.evaluation.composites.from_plain import FromPlain
from fastir.evaluation.composites.ranked_rows import Reading, ReadNumbers, keyed, read_numbers
from fastir.evaluation.drivers.coverage import without_missing
from fastir.evaluation.drivers.evaluate_one import Job, PlainEvaluator, RunValues
from fastir.evaluation.drivers.judged import rank_collector, used_slots
from fastir.evaluation.drivers.min_score import retrieved
from fastir.inputs.mappings import DocWeights, from_file, read_number
from fastir.inputs.shapes import PATH, TABLE, input_shape
from fastir.request.names import NAMES, Request
from fastir.request.options import MAX_DEPTH, TIES, TIES_BY_ID, TIES_BY_INPUT
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


class DocCosts:
    """Costs by document, or by query and document, in the forms in which they are looked up."""

    def __init__(self, doc_costs: Mapping[Any, Any]) -> None:
        self.by_query: dict[str, Any] | None = None
        self.all_right: bool = True  # whether each cost is one, also of documents that no one reads
        if (forms := plain_forms(doc_costs)) is None and any(hasattr(value, "items") for _, value in doc_costs.items()):
            self.by_query = {str(query_id): value for query_id, value in doc_costs.items()}
            for query_id, costs in self.by_query.items():
                if hasattr(costs, "items"):
                    self.by_query[query_id] = self.forms_of(costs)
        else:
            self.forms: dict[bool, dict[Any, Any]] = forms or self.forms_of(doc_costs)

    def forms_of(self, costs: Mapping[Any, Any]) -> dict[bool, dict[Any, Any]]:
        """{whether ids are int: costs by id}, of which other forms are made; costs are floats, or what is none."""
        if (forms := plain_forms(costs)) is not None:
            return forms
        by_text = {}
        for doc_id, cost in costs.items():
            try:
                by_text[str(doc_id)] = read_number(cost, EXPECTED, "", 0.0)
            except (TypeError, ValueError, OverflowError):
                by_text[str(doc_id)], self.all_right = cost, False
        return {False: by_text}

    def of_queries(self, query_ids: Iterable[str], integers: bool) -> list[dict[Any, Any]]:
        """The costs by document for each query."""
        if self.by_query is None:
            return [keyed(self.forms, integers)] * len(list(query_ids))
        found: list[dict[Any, Any]] = []
        for query_id in query_ids:
            forms: Any = self.by_query.get(query_id, {False: {}})
            mapping(f"doc_costs of query {quote(query_id)}", forms, "map ids to costs")
            found.append(keyed(forms, integers))
        return found

    def refuse(self, query_id: Any, doc_id: Any) -> None:
        """Raise the error about a document without a right cost."""
        cost = self.of_queries([str(query_id)], False)[0].get(str(doc_id))
        if cost is None:
            raise ValueError(f"doc_costs: document {quote(doc_id)} of query {quote(query_id)} has no cost")
        read_number(cost, EXPECTED, f"(query {query_id}, document {doc_id})", 0.0)


def plain_forms(costs: Mapping[Any, Any]) -> dict[bool, dict[Any, Any]] | None:
    """A dict of plain ids and numbers as it is, by whether its ids are int; None: others."""
    if type(costs) is not dict:
        return None
    return next(({integers: costs} for integers in (False, True) if are_plain_numbers(costs, integers)), None)


class Hits(NamedTuple):
    """Where a call puts the judged documents of all rankings; see `collecting_plan` and `with_falls`."""

    ranks: np.ndarray
    labels: np.ndarray
    falls: np.ndarray


class JudgedRun(NamedTuple):
    """The judged documents of all queries in rank order; `sizes` and `totals`: how many, of how many ranks."""

    sizes: np.ndarray
    ranks: np.ndarray
    labels: np.ndarray
    totals: np.ndarray

    def cut(self, new_ranks: np.ndarray, totals: np.ndarray) -> JudgedRun:
        """The documents whose new ranks are above 0."""
        kept = new_ranks > 0
        sizes = occurrences(list_of_each(offsets_from_sizes(self.sizes))[kept], minlength=len(totals))
        return JudgedRun(sizes, new_ranks[kept], self.labels[kept], totals)


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
        self.costs: DocCosts | None = None if isinstance(doc_costs, str) else DocCosts(doc_costs)
        self.plain: PlainEvaluator = prepare(qrels, compile_settings((NUM_Q,), settings.options))
        self.judgments: tuple[np.ndarray, np.ndarray] = judgments(self.plain.judged)
        options = settings.options._replace(convention="fastir", choices=(), max_depth=None, queries="qrels")
        options = options._replace(min_score=None)  # the parts rank a run of ranks
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
        copied.costs = DocCosts(costs_of_rows(self.doc_costs, rows, columns, duplicates))
        return copied

    def begin(self) -> tuple[list[Job], Callable[..., RunValues]]:
        n = self.plain.qrels.columns.n_rows
        hits = Hits(np.empty(n, np.int64), np.empty(n, np.int32), np.zeros(n, np.uint8))
        reads = max(part.settings.plan.reads for part in self.parts.values())
        collector = rank_collector(self.plain, hits.ranks, hits.labels, reads)
        with_falls(collector.settings.plan, self.plain.judged, hits.falls)
        return [(collector, None)], functools.partial(self.measure_within, hits)

    def measure_within(self, hits: Hits, run: Any, n_threads: SupportsIndex | None, collected: RunValues) -> RunValues:
        """The result of `measure`, from the hits that the job has put away."""
        query_ids, counts, status, coverage = collected
        if self.costs is None:
            costs_of_rows(str(self.doc_costs), run, None, None)  # raises: dicts have no columns
        sizes, totals = counts.T.astype(np.int64)
        totals = np.minimum(totals, self.settings.options.max_depth or MAX_DEPTH)
        slots = used_slots(self.judgments[0], sizes)
        judged = JudgedRun(sizes, hits.ranks[slots], hits.labels[slots], totals)
        of_hit = list_of_each(offsets_from_sizes(sizes))
        judged = judged.cut(np.where(judged.ranks <= totals[of_hit], judged.ranks, 0), totals)
        found: dict[Budget, np.ndarray] = {}
        if None in self.parts:
            found[None] = self.values(judged, self.parts[None], n_threads)
        wanted = self.rank_costs(found)
        falls = np.zeros(len(query_ids), np.uint8)
        falls[sizes > 0] = hits.falls[self.judgments[0][:-1][sizes > 0]]
        least = np.zeros(len(totals), np.int64)
        if any(request.card.name in POSITIONED for request in self.settings.requests):
            some = judged.sizes > 0
            least[some] = judged.ranks[np.cumsum(judged.sizes)[some] - 1]
        read = self.read(retrieved(run, self.settings), query_ids, totals, wanted, least, falls)
        n_read, of_hit = np.diff(read.offsets), list_of_each(offsets_from_sizes(judged.sizes))
        places = np.where(judged.ranks <= n_read[of_hit], read.offsets[of_hit] + judged.ranks - 1, -1)
        for budget, part in self.parts.items():
            if budget is not None:
                most, over, at_least_one = budget
                ranks, kept = rank_within(read.numbers, read.offsets, most, over == "skip", at_least_one == "true")
                found[budget] = self.values(judged.cut(np.append(ranks, 0)[places], kept), part, n_threads)
        values = np.empty((len(query_ids), len(self.settings.requests)))
        requests = zip(self.settings.requests, self.settings.values, self.bases, strict=True)
        for column, (request, chosen, bases) in enumerate(requests):
            budget = budget_of(request, chosen)
            if budget is not None:
                values[:, column] = found[budget][:, self.parts[budget].settings.names.index(bases[0])]
                continue
            if request.card.name in POSITIONED:
                base = found[budget][:, self.parts[budget].settings.names.index(bases[0])]
                values[:, column] = self.positioned(judged, read, request, chosen, base)
                continue
            ranks, is_cost = wanted[column]
            rows = np.flatnonzero(is_cost)
            values[:, column] = ranks
            values[rows, column] = read.sums[read.offsets[rows] + ranks[rows].astype(np.int64) - 1]
        if self.settings.queries == "intersection" and not coverage.is_complete:
            return *without_missing(query_ids, values, status), coverage
        return query_ids, values, status, coverage

    def values(self, judged: JudgedRun, part: PlainEvaluator, n_threads: SupportsIndex | None) -> np.ndarray:
        """The values of metrics without costs, for all queries."""
        values = np.empty((len(judged.sizes), len(part.settings.names)))
        offsets, labels = offsets_from_sizes(judged.sizes), np.maximum(judged.labels, -1)
        kernel = JudgedRanks(part.settings.plan, offsets, judged.ranks, labels, judged.totals, *self.judgments, values)
        run_kernel(kernel, n_threads)
        kernel.check()
        return values

    def read(
        self,
        run: Any,
        query_ids: list[Any],
        totals: np.ndarray,
        wanted: dict[int, tuple[np.ndarray, np.ndarray]],
        least: np.ndarray,
        falls: np.ndarray,
    ) -> ReadNumbers:
        """The costs of the documents that are read: down to the ranks whose costs are wanted, and to the budgets."""
        costs: Any = self.costs
        for ranks, is_cost in wanted.values():
            least[is_cost] = np.maximum(least, np.where(is_cost, ranks, 0))[is_cost]
        budgets = [budget for budget in self.parts if budget is not None]
        if not costs.all_right or any(over == "skip" for _, over, _ in budgets):
            least = totals
        most = totals if budgets or not costs.all_right else least
        limit = max((most for most, _, _ in budgets), default=0.0)
        places = {str(query_id): place for place, query_id in enumerate(query_ids)}
        rules = self.settings.ties, bool(self.settings.single), self.settings.options.duplicates
        reading = Reading(least, most, limit, math.nan, *rules)
        return read_numbers(run, places, functools.partial(costs.of_queries, places), reading, falls, costs.refuse)

    def positioned(
        self, judged: JudgedRun, read: ReadNumbers, request: Request, chosen: dict[str, Any], base: np.ndarray
    ) -> np.ndarray:
        """A metric of gains by how much of the costs stands above; `base` has the values of queries without gains."""
        grades, floor = self.plain.settings.grades, request.level or math.nextafter(0, 1)
        labels, tops = (codes if grades is None else grades.decode(codes) for codes in (judged.labels, self.tops()))
        labels, least = np.where(labels >= floor, labels, 0.0), chosen["min_rel"]
        gains = (np.clip(labels, least, chosen["max_rel"]) - least) / (chosen["max_rel"] - least)
        of_hit = list_of_each(offsets_from_sizes(judged.sizes))
        places, scale = read.offsets[of_hit] + judged.ranks - 1, float(chosen[POSITIONED[request.card.name]])
        if request.card.name == TBG:
            above = np.where(judged.ranks > 1, read.sums[places - 1], 0.0)
            weights = powers_of_two(-above / scale)
        else:
            weights = np.maximum(0.0, 1 - read.sums[places] / scale)
        values = occurrences(of_hit, gains * weights, len(base)) if len(gains) else np.zeros(len(base))
        return np.where(tops >= floor, values, base)

    def tops(self) -> np.ndarray:
        """The largest label of each query, or its code; -1 for none."""
        offsets, labels = self.judgments
        tops = np.full(len(offsets) - 1, -1, labels.dtype)
        some = np.diff(offsets) > 0
        tops[some] = labels[offsets[:-1][some]]
        return tops

    def rank_costs(self, found: dict[Budget, np.ndarray]) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """{column: the ranks whose costs are wanted, and of which queries they are}; others have the metric's value.

        That is what the metric of ranks has where no relevant document, or not all of them, is retrieved.
        """
        wanted = {}
        for column, bases in enumerate(self.bases):
            if len(bases) == 1:  # with a budget, or by positions
                continue
            request, chosen = self.settings.requests[column], self.settings.values[column]
            names = self.parts[None].settings.names
            ranks, n_found, n_relevant = (found[None][:, names.index(base)] for base in bases)
            ranks, is_cost = ranks.copy(), n_found > 0
            if COSTS_OF_RANKS[request.card.name] == LAST_REL:
                ranks[is_cost & (n_found < n_relevant)] = 0.0 if chosen["no_hit"] == "zero" else np.nan
                is_cost &= n_found == n_relevant
            wanted[column] = ranks, is_cost
        return wanted


def budget_of(request: Request, values: dict[str, Any]) -> Budget:
    """The budget of a metric with its rules; None for the cost of a rank."""
    return (
        None if request.card.name in (*COSTS_OF_RANKS, *POSITIONED) else tuple(values[name] for name in BUDGET_PARAMS)
    )


def base_metrics(request: Request, values: dict[str, Any]) -> tuple[str, ...]:
    """The metric without a budget; for the cost of a rank that rank, and how many relevant documents are found."""
    params = {name: value for name, value in values.items() if name not in BUDGET_PARAMS}
    if request.card.name not in COSTS_OF_RANKS:
        return (str(request._replace(params=params)),)
    rank = request._replace(card=NAMES[COSTS_OF_RANKS[request.card.name]], params=params)
    counts = (request._replace(card=NAMES[name], params={}) for name in (NUM_REL_RET, NUM_REL))
    return str(rank), *map(str, counts)
