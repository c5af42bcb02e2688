"""Shared by the layers that take dicts: an Evaluator with results for the run's queries, in the run's order."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from fastir.compat._rows import measured
from fastir.data.qrels import Qrels
from fastir.evaluation.drivers.prepared import PreparedQrels
from fastir.evaluation.evaluator import Evaluator


class RunOrder:
    """Qrels and metrics prepared once; the rows of a result are the run's queries, in the order of the run.

    Parameters
    ----------
    qrels : Qrels
        With str ids. If it has no queries, results have no rows.
    metrics : iterable of str
        May be empty.
    **options
        The options of `fastir.Evaluator`, without `queries`.
    """

    def __init__(self, qrels: Qrels, metrics: Iterable[str], **options: Any) -> None:
        self._positions = {query_id: position for position, query_id in enumerate(qrels)}
        self._metrics = tuple(metrics)
        options["queries"] = "qrels"  # every query of the run that is in the qrels has a row
        self._evaluator = Evaluator(qrels, self._metrics, **options) if self._metrics and self._positions else None

    def values(self, run: dict[str, dict[str, float]]) -> tuple[list[str], np.ndarray]:
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
            return measured(prepared.judged, settings.plan, run, self._positions, settings.ties, settings.single)
        judged_run = {query_id: ranking for query_id, ranking in run.items() if query_id in self._positions}
        if not judged_run:
            return [], np.empty((0, len(settings.names)))
        query_ids, values, _, _ = prepared.measure(judged_run, 1)
        places = {query_id: place for place, query_id in enumerate(query_ids)}
        return list(judged_run), values[[places[query_id] for query_id in judged_run]]
