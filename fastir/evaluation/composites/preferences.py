"""Runs evaluated by the preferences of several judges: which documents that any judge saw were retrieved, by rank.

What metrics make of that and of the judges' orders is arithmetic of measure/judges.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from fastir.engine.measure import CARDS, NUM_Q
from fastir.engine.measure._codes import READ_CODES
from fastir.engine.measure._tasks import judges_metric
from fastir.engine.measure.judges import Judges
from fastir.errors import UnknownMetricError, quote
from fastir.evaluation.drivers.coverage import without_missing
from fastir.evaluation.drivers.judged import rank_collector
from fastir.request.options import MAX_DEPTH
from fastir.request.plan import Settings, compile_settings

if TYPE_CHECKING:
    from fastir.data.qrels import Preferences
    from fastir.evaluation.drivers.evaluate_one import PlainEvaluator, RunEvaluator, RunValues
    from fastir.inputs.files import Watch
    from fastir.inputs.parents import AnyParents


class PreferenceEvaluator:
    """Evaluates runs by the preferences of judges.

    Parameters
    ----------
    prepare : function
        ``prepare(qrels, settings, columns, parents)`` returns a PlainEvaluator, or what holds several.
    qrels : Preferences
    settings : Settings
        Metrics of pairs, and the options.
    columns : mapping or None
        The names of the columns of runs that are tables.
    parents : Parents or None
        The document of each id in a run.
    """

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
