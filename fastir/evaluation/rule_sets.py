"""Metrics that do not share their rules: some conventions rank, compare scores or choose queries by metric.

ir_measures, for one, asks several programs, each with a tie rule of its own. The metrics of one set of rules are an
Evaluator; their columns are put beside each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from fastir.evaluation.coverage import Meeting
from fastir.qrels import Qrels
from fastir.request.names import NAMES, Request
from fastir.request.plan import Settings
from fastir.results.results import STATUSES, Results
from fastir.run import Run

if TYPE_CHECKING:
    from fastir.evaluation.evaluator import Evaluator


class Mixed:
    """Evaluates runs under several sets of rules.

    Parameters
    ----------
    make : function
        ``make(qrels, metrics, **changed)`` makes an Evaluator with the caller's options, but for those that changed.
    qrels : Qrels
    settings : Settings
        Of all metrics.
    weights : dict or None
        Of the queries.
    """

    def __init__(self, make: Any, qrels: Qrels, settings: Settings, weights: dict | None) -> None:
        self.settings = settings
        self.weights = weights
        self.parts: list[tuple[list[Request], Evaluator | Pooled]] = []
        for requests, rules, pooled in settings.parts:
            texts = tuple(request.text for request in requests)
            part = Pooled(make, qrels, requests, rules) if pooled else make(qrels, texts, **rules)
            self.parts.append((requests, part))

    def evaluate(self, run: Any, n_threads: SupportsIndex | None, watch: Any) -> tuple[Results, Meeting | None]:
        """As Evaluator._evaluate; rows are the queries that count for any of the metrics, NaN where not for all."""
        done = [part._evaluate(run, n_threads, watch) for _, part in self.parts]
        widest, meeting = max(done, key=lambda pair: len(pair[0].query_ids))
        places = {query_id: place for place, query_id in enumerate(widest.query_ids)}
        columns = {request.text: column for column, request in enumerate(self.settings.requests)}
        values = np.full((len(places), len(columns)), np.nan)
        for (requests, _), (results, _) in zip(self.parts, done, strict=True):
            rows = [places[query_id] for query_id in results.query_ids]
            values[np.ix_(rows, [columns[request.text] for request in requests])] = results.values
        status = np.array([STATUSES.index(word) for word in widest.status.values()], np.uint8)
        return Results(
            widest.query_ids,
            self.settings.names,
            values,
            status,
            self.settings.aggregates,
            lambda: widest.report,
            self.weights,
            self.settings.convention,
        ), meeting


class Pooled:
    """Evaluates metrics for which a document that was judged for any query counts as judged for each.

    They are other metrics (`Card.pooled`) on qrels that are made for the run: of each query's documents those that
    stand anywhere in the caller's qrels.

    Parameters
    ----------
    make, qrels
        As for Mixed.
    requests : list of Request
    rules : dict
        The options that they share.
    """

    def __init__(self, make: Any, qrels: Qrels, requests: list[Request], rules: dict[str, Any]) -> None:
        self.make = make
        self.rules = {**rules, "empty": "zero"}  # whether a query has relevant documents does not matter
        self.bases = [str(request._replace(card=NAMES[request.card.pooled or ""])) for request in requests]
        self.plain: Evaluator = make(qrels, ("num_q",), **rules)
        self.query_ids = list(qrels)
        self.judged = {doc_id for docs in qrels.to_dict().values() for doc_id in docs}

    def _evaluate(self, run: Any, n_threads: SupportsIndex | None, watch: Any) -> tuple[Results, Meeting | None]:
        """As Evaluator._evaluate, with the columns in the order of the requests, and the status by the real qrels."""
        plain, meeting = self.plain._evaluate(run, n_threads, watch)
        rankings = run.to_dict() if isinstance(run, Run) else run
        pool = {
            query_id: dict.fromkeys(self.judged.intersection(rankings.get(query_id, ())), 0)
            for query_id in self.query_ids
        }
        results = self.make(pool, tuple(self.bases), **self.rules)._evaluate(run, n_threads)[0]
        columns = [results.names.index(base) for base in self.bases]
        status = np.array([STATUSES.index(word) for word in plain.status.values()], np.uint8)
        return Results(
            plain.query_ids, self.bases, results.values[:, columns], status, results._aggregates, lambda: plain.report
        ), meeting
