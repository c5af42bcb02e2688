"""What both curves share: the metrics of a run at every rank, from judgments that are joined once, and their tables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fastir.checks import refuse_options
from fastir.data.rankings_values import evaluate_rankings
from fastir.data.results.results import Results
from fastir.engine.measure import CARDS, NUM_RET
from fastir.errors import quote
from fastir.evaluation.choose import prepare
from fastir.evaluation.evaluator import Evaluator
from fastir.rendering.text import counted, json_types
from fastir.request.options import choice_params
from fastir.request.plan import compile_settings

if TYPE_CHECKING:
    from fastir.data.qrels import QrelsLike
    from fastir.data.run import RunLike

POINTS = tuple(level / 10 for level in range(11))


class Curve:
    """The tables of a curve: points for every query of a run, and their average. A subclass makes those of a row."""

    __slots__ = ()
    _printed_rows: int | None = 10
    _averaged: ClassVar[str]  # the name of the average in JSON

    query_ids: list[Any]
    points: tuple[float, ...]
    area: Callable[..., float]
    interpolated: Callable[..., Any]
    _area: Callable[[int], float]
    _drawn: Callable[[int], Any]

    def _row(self, query_id: Any) -> int:
        if query_id not in self.query_ids:
            raise KeyError(f"query {quote(query_id)} was not evaluated")
        return self.query_ids.index(query_id)

    def _columns(self) -> dict[str, Any]:
        curves = list(map(self._drawn, range(len(self.query_ids))))
        ids = [query_id for query_id, curve in zip(self.query_ids, curves, strict=True) for _ in curve.rank]
        data: dict[str, Any] = {"query_id": ids}
        for name in ("rank", *self.interpolated()._fields[:2]):
            data[name] = np.concatenate([getattr(curve, name) for curve in curves] or [[]])
        return {**data, "rank": data["rank"].astype(int)}

    def _title(self) -> str:
        return f"area {self.area():.4f}, mean of {counted(len(self.query_ids), 'query', 'queries')}"

    def _json(self, per_query: bool = True) -> dict[str, Any]:
        data: dict[str, Any] = {"area": self.area(), "points": list(self.points)}
        data[self._averaged] = self.interpolated()[1]
        if per_query:
            data["per_query"] = {
                query_id: {"area": self._area(row), **self._drawn(row)._asdict()}
                for row, query_id in enumerate(self.query_ids)
            }
        return json_types(data)


def check_options(function: str, options: Iterable[str], metrics: Collection[str]) -> None:
    """Refuse weights of documents and parameters of metrics that none of the curve's metrics reads."""
    params = {param.name for card in CARDS if card.name in metrics for param in card.params}
    others = {"doc_weights", *choice_params()} - params
    refuse_options(function, options, others, f"the curve is made of {', '.join(metrics)}, which do not read it")


def evaluate_by_rank(
    qrels: QrelsLike, run: RunLike, metrics: list[str], by_rank: tuple[str, ...], options: dict[str, Any]
) -> tuple[Results, list[np.ndarray], Iterator[np.ndarray]]:
    """The Results of num_ret and other metrics, and the values and the means of further metrics at every rank.

    The run is read once. If there is one order of documents, all values follow from its judged rankings; else the run
    is held in memory and evaluated twice.
    """
    names = [NUM_RET, *metrics, *(f"{metric}@1" for metric in by_rank)]
    evaluator = Evaluator(qrels, names, **options)
    rules, n_threads = evaluator.rules, options.get("n_threads")
    settings, weights = rules.settings, rules.weights
    try:
        judge = rules.run_judge()
    except ValueError:  # there are several orders, or an average over all of them
        held = rules.hold_run(run)

        def evaluate(names: list[str]) -> Results:
            compiled = compile_settings(tuple(names), settings.options)
            prepared = prepare(rules.qrels, compiled, rules.columns, rules.parents)
            query_ids, values, status, coverage = prepared.measure(held, n_threads)
            return Results(query_ids, compiled.names, values, status, compiled.aggregates, coverage, weights, None)

        first, coverage = rules.evaluate_one(held, n_threads)
    else:
        rankings, coverage = judge.with_coverage(run, n_threads)

        def evaluate(names: list[str]) -> Results:
            return evaluate_rankings(rankings, tuple(names), settings.options, weights)

        first = evaluate(names)
    rules.warn_of_run(coverage, run)
    depth = int(first.values[:, 0].max(initial=0.0))
    ranks = range(1, max(depth, 1) + 1)
    # with the other metrics, so that each evaluation takes the parameters of all
    at_ranks = evaluate([*(f"{metric}@{rank}" for metric in by_rank for rank in ranks), *names])
    blocks = [slice(place * len(ranks), place * len(ranks) + depth) for place in range(len(by_rank))]
    means = (np.array([at_ranks[name] for name in at_ranks.names[block]]) for block in blocks)
    return first, [at_ranks.values[:, block] for block in blocks], means
