"""Metrics that do not share their rules: some conventions rank, compare scores or choose queries by metric.

ir_measures, for one, asks several programs, each with a tie rule of its own. The metrics of one set of rules are an
Evaluator; their columns are put beside each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from fastir.meeting import Meeting
from fastir.plan import Settings
from fastir.results import STATUSES, Results
from fastir.runs import Run

if TYPE_CHECKING:
    from fastir.api import Evaluator


class Mixed:
    """Evaluates runs under several sets of rules.

    Parameters
    ----------
    make : function
        ``make(metrics, **changed)`` makes an Evaluator with the caller's qrels and options, but for those that changed.
    settings : Settings
        Of all metrics.
    weights : dict or None
        Of the queries.
    """

    def __init__(self, make: Any, settings: Settings, weights: dict | None) -> None:
        self.settings = settings
        self.weights = weights
        self.parts: list[Evaluator] = [make(metrics, **rules) for metrics, rules in settings.parts]

    def evaluate(self, run: Run, n_threads: SupportsIndex | None, watch: Any) -> tuple[Results, Meeting | None]:
        """As Evaluator._evaluate; rows are the queries that count for any of the metrics, NaN where not for all."""
        done = [part._evaluate(run, n_threads, watch) for part in self.parts]
        widest, meeting = max(done, key=lambda pair: len(pair[0].query_ids))
        places = {query_id: place for place, query_id in enumerate(widest.query_ids)}
        names = self.settings.names
        values = np.full((len(places), len(names)), np.nan)
        for results, _ in done:
            rows = [places[query_id] for query_id in results.query_ids]
            values[np.ix_(rows, [names.index(name) for name in results.names])] = results.values
        status = np.array([STATUSES.index(word) for word in widest.status.values()], np.uint8)
        return Results(widest.query_ids, names, values, status, self.settings.aggregates, lambda: widest.report,
                       self.weights, self.settings.convention), meeting
