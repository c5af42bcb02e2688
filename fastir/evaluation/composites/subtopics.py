"""Qrels with groups: several judgments of each query, by subtopic or by group of judges, and how they are evaluated.

A group is evaluated like a query of its own, and a query's value is the mean over its groups. Some metrics (alpha_ndcg)
are relative to the best possible ranking for all groups together. That ranking is made once from the qrels, greedily,
and evaluated like a run; the metric's value is the quotient of the two means. Metrics of pairs count the pairs of all
groups, as they do for preferences of judges: which documents that any judge saw were retrieved, by rank.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from fastir.data.qrels import GroupedQrels, Preferences
from fastir.data.run import Run, as_run, repeated_run
from fastir.engine.columns._ids import encode
from fastir.engine.measure import CARDS, NUM_Q
from fastir.engine.measure._codes import READ_CODES
from fastir.engine.measure._tasks import judges_metric
from fastir.engine.measure.judges import Judges
from fastir.errors import UnknownMetricError, quote
from fastir.evaluation.drivers.coverage import without_missing
from fastir.evaluation.drivers.judged import rank_collector
from fastir.request import names
from fastir.request.compiler import EMPTY, code_from
from fastir.request.options import MAX_DEPTH
from fastir.request.plan import Settings, compile_settings

if TYPE_CHECKING:
    from fastir.evaluation.drivers.evaluate_one import PlainEvaluator, RunEvaluator, RunValues
    from fastir.inputs.files import Watch
    from fastir.inputs.parents import AnyParents


class SubtopicEvaluator:
    """Evaluates runs against qrels with groups; arguments as for `PerMetricRules`."""

    def __init__(
        self,
        prepare: Callable[..., RunEvaluator],
        qrels: GroupedQrels,
        settings: Settings,
        columns: Mapping[str, str] | None,
        parents: AnyParents | None,
    ) -> None:
        metrics, level = settings.names, settings.options.rel_level
        self.requests: dict[str, names.Request] = dict(zip(metrics, settings.requests, strict=True))
        for text, request in self.requests.items():
            if not request.card.groups:
                having = ", ".join(card.name for card in CARDS if card.groups)
                raise UnknownMetricError(
                    f"metric {quote(text)} is not defined on qrels with groups; those that are: {having}"
                )
            only_judged = settings.plan.judged_only or request.params.get("judged_only")
            if only_judged and request.card.groups == "relevant":
                raise ValueError(
                    f"judged_only: metric {quote(text)} cannot drop documents, as one may be judged for "
                    "one group of its query and not for another; drop them from the run"
                )
        self.qrels = qrels
        self.settings = settings
        self.values: dict[str, dict[str, Any]] = dict(zip(metrics, settings.values, strict=True))
        self.columns = columns
        self.parents = parents
        self.whole: RunEvaluator = prepare(qrels.columns.union, compile_settings((NUM_Q,), settings.options))
        self.queries: dict[Any, int] = {query_id: place for place, query_id in enumerate(qrels)}
        self.places: list[int] = [self.queries[query_id] for query_id, _ in qrels.columns.keys]
        options = settings.options.replace(queries="qrels")
        paired = tuple(text for text, request in self.requests.items() if request.card.groups == "pairs")
        self.bases: dict[str, str] = {
            text: averaged_metric(request) for text, request in self.requests.items() if text not in paired
        }
        self.parts: RunEvaluator = prepare(
            qrels.columns.parts, compile_settings(tuple(self.bases.values()) or (NUM_Q,), options)
        )
        self.paired: RunEvaluator | None = None
        if paired:
            self.paired = prepare(preferences_in(qrels), compile_settings(paired, options))
        levels = {request.relevant_from(level) for request in self.requests.values()}
        parts = qrels.columns.parts.columns
        judged, grades = parts.judged(), parts.label_codes()[0]
        self.relevant: dict[float, np.ndarray] = {at: judged.status(code_from(at, grades)) == 0 for at in levels}
        self.level: float = level
        self.ideals: dict[str, np.ndarray] = self.best(prepare)

    def best(self, prepare: Callable[..., RunEvaluator]) -> dict[str, np.ndarray]:
        """For each metric that is relative to the ideal ranking, the ideal ranking's value for every query."""
        ideal_runs: dict[tuple[Any, ...], dict[Any, Any]] = {}
        ideals = {}
        for text, request in self.requests.items():
            if request.card.normalises:
                alpha, level = self.values[text]["alpha"], request.relevant_from(self.level)
                depth = request.cutoff or MAX_DEPTH
                run = ideal_runs.get((alpha, level, depth))
                if run is None:
                    run = ideal_runs[alpha, level, depth] = ideal_run(self.qrels, alpha, level, depth)
                plain = self.settings.options.replace(
                    queries="qrels", max_depth=None, min_score=None, judged_only=False, ties="trec"
                )
                ideal = prepare(self.qrels.columns.parts, compile_settings((self.bases[text],), plain))
                ideals[text] = self.mean(text, ideal.measure(self.spread(Run.from_dict(run)), 1)[1][:, 0])
        return ideals

    def spread(self, run: Run) -> Run:
        """The run with the ranking of each query repeated for each of the query's groups."""
        keys = zip(self.qrels.columns.parts, self.qrels.columns.keys, strict=True)
        return repeated_run(run, ((part, query_id) for part, (query_id, _) in keys))

    def mean(self, text: str, values: np.ndarray) -> np.ndarray:
        """The mean over each query's groups of a metric's values, summed in their order."""
        request = self.requests[text]
        counted = ~np.isnan(values)
        if request.card.groups == "relevant":
            counted &= self.relevant[request.relevant_from(self.level)]
        totals = [0.0] * len(self.queries)
        numbers = [0] * len(self.queries)
        for place, value, counts in zip(self.places, values.tolist(), counted.tolist(), strict=True):
            if counts:
                totals[place] += value
                numbers[place] += 1
        none = EMPTY.get(self.values[text].get("empty"), 0.0)
        raw = request.cutoff == 1 and self.values[text].get("rank_one") == "raw"
        return np.array(
            [total / (1 if raw else number) if number else none for total, number in zip(totals, numbers, strict=True)]
        )

    def measure(self, run: Any, n_threads: SupportsIndex | None, watch: Any = None) -> RunValues:
        """Evaluate a run like `PlainEvaluator.measure`, with the Coverage of all groups' judgments together."""
        run = as_run(run, self.columns, self.settings.options.duplicates, self.parents, self.settings.lines)
        query_ids, _, status, coverage = self.whole.measure(run, n_threads, watch)
        by_part = self.parts.measure(self.spread(run), n_threads)[1]
        columns = {base: column for column, base in enumerate(dict.fromkeys(self.bases.values()))}
        places = {text: column for column, text in enumerate(self.requests)}
        values = np.empty((len(self.queries), len(self.requests)))
        if self.paired is not None:
            values[:, [places[text] for text in self.paired.settings.names]] = self.paired.measure(run, n_threads)[1]
        for text, base in self.bases.items():
            means = self.mean(text, by_part[:, columns[base]])
            if text in self.ideals:
                ideal = self.ideals[text]
                means = np.where(ideal > 0, means / np.where(ideal > 0, ideal, 1.0), ideal)  # else 0 or NaN
            values[:, places[text]] = means
        kept = [self.queries[query_id] for query_id in query_ids]
        return query_ids, values[kept], status, coverage

    def evaluators(self) -> list[PlainEvaluator]:
        """The evaluators that decide the order of documents."""
        return self.parts.evaluators()


def preferences_in(qrels: GroupedQrels) -> Preferences:
    """The labels of each group as the preferences of a judge."""
    return Preferences(
        {
            query_id: {
                group_id: {"": {doc_id: label for doc_id, label in docs.items() if label >= 0}}
                for group_id, docs in qrels[query_id].items()
            }
            for query_id in qrels
        },
        qrels.columns.repairs,
    )


def averaged_metric(request: names.Request) -> str:
    """Return the metric that is averaged over groups: the metric itself, or the one that it normalises."""
    base = request.card.normalises
    return str(request._replace(card=names.NAMES[base]) if base else request)


def ideal_run(qrels: GroupedQrels, alpha: float, level: float, depth: int) -> dict[str, dict[str, float]]:
    """The best ranking of every query by greedy choice, down to `depth`, as {query_id: {doc_id: score}}.

    The next document is the one that adds most novelty. If several do, the one with the largest id comes first.
    """
    run: dict[str, dict[str, float]] = {}
    for query_id in qrels:
        groups = [{doc for doc, label in docs.items() if label >= level} for docs in qrels[query_id].values()]
        docs = sorted(set().union(*groups), key=lambda doc: encode(str(doc)), reverse=True)
        serves = np.array([[doc in group for doc in docs] for group in groups], float)
        interest = [1.0] * len(groups)
        left = np.zeros(len(docs))
        ranking = run[query_id] = {}
        for rank in range(min(depth, len(docs))):
            novelty = left.copy()
            for weight, row in zip(interest, serves, strict=True):
                novelty += weight * row
            best = int(novelty.argmax())
            ranking[docs[best]] = -float(rank)
            left[best] = -np.inf
            interest = [weight * (1.0 - alpha * row[best]) for weight, row in zip(interest, serves, strict=True)]
    return run


# ---- preferences of judges -----------------------------------------------------------------------------------------
class PreferenceEvaluator:
    """Evaluates runs by the preferences of judges: metrics of pairs, and arguments as for `PerMetricRules`."""

    def __init__(
        self,
        prepare: Callable[..., RunEvaluator],
        qrels: Preferences,
        settings: Settings,
        columns: Mapping[str, str] | None,
        parents: AnyParents | None,
    ) -> None:
        for request in settings.requests:
            if request.card.groups != "pairs" and request.card.name != NUM_Q:
                having = ", ".join(card.name for card in CARDS if card.groups == "pairs")
                raise UnknownMetricError(
                    f"metric {quote(request.text)} is not defined on preferences; those that are: {having}"
                )
        self.qrels = qrels
        self.settings = settings
        self.columns = columns
        self.parents = parents
        self.whole: RunEvaluator = prepare(
            qrels.columns.union, compile_settings((NUM_Q,), settings.options), columns, parents
        )

    def measure(self, run: Any, n_threads: SupportsIndex | None, watch: Watch | None = None) -> RunValues:
        """Evaluate a run like `PlainEvaluator.measure`, with the Coverage of all judges' documents together."""
        evaluator = self.evaluators()[0]
        n_rows = evaluator.qrels.columns.n_rows
        ranks, labels = np.empty(n_rows, np.int64), np.empty(n_rows, np.int32)
        collector = rank_collector(evaluator, ranks, labels, READ_CODES["relevant"])
        query_ids, kept, status, coverage = collector.measure(run, n_threads, watch)
        depth = self.settings.options.max_depth or MAX_DEPTH
        names = [request.card.name for request in self.settings.requests]
        counted = [name != NUM_Q for name in names]
        metrics = [judges_metric(name) for name in names if name != NUM_Q]
        values = np.ones((len(query_ids), len(counted)))
        first = 0
        for row, (orders, size) in enumerate(
            zip(self.qrels.columns.orders, kept[:, 0].astype(int).tolist(), strict=True)
        ):
            stop = first + size
            retrieved = labels[first:stop][ranks[first:stop] <= depth] - 1  # a label is 1 more than a position
            n_docs = len(self.qrels.columns.documents[row])
            first += n_docs
            judges = Judges(orders, retrieved, n_docs)
            values[row, counted] = [metric(judges) for metric in metrics]
        if self.settings.queries == "intersection":
            query_ids, values, status = without_missing(query_ids, values, status)
        return query_ids, values, status, coverage

    def evaluators(self) -> list[PlainEvaluator]:
        """The PlainEvaluators that decide the order of documents."""
        return self.whole.evaluators()
