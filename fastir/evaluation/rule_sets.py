"""Metrics that do not share their rules: some conventions rank, compare scores or choose queries by metric.

ir_measures, for example, calls several programs, each with a tie rule of its own. The metrics with the same rules share
a OneRuleSet, and the columns of all are put side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from fastir.inputs.shapes import DICTS, shape_of
from fastir.qrels import Qrels
from fastir.request.names import NAMES, Request
from fastir.request.plan import Settings, compile_settings
from fastir.run import Run, as_run

if TYPE_CHECKING:
    from fastir.evaluation.measuring import Measured, Measurer
    from fastir.evaluation.prepared import Prepared
    from fastir.request.options import Options


class PerRule:
    """Evaluates runs under several sets of rules.

    Parameters
    ----------
    prepare : function
        ``prepare(qrels, settings)`` returns a OneRuleSet.
    qrels : Qrels
    settings : Settings
        The options, and all metrics.
    columns : mapping or None
        The names of the columns of runs that are tables.
    """

    def __init__(
        self, prepare: Callable[..., Any], qrels: Qrels, settings: Settings, columns: Mapping[str, str] | None
    ) -> None:
        self.qrels = qrels
        self.settings = settings
        self.columns = columns
        self.parts: list[tuple[list[Request], Measurer | JudgedAnywhere]] = []
        for requests, rules, pooled in settings.parts:
            own = settings.options.but(**rules)
            if pooled:
                part = JudgedAnywhere(prepare, qrels, requests, own)
            else:
                part = prepare(qrels, compile_settings(tuple(request.text for request in requests), own))
            self.parts.append((requests, part))

    def measure(self, run: Any, n_threads: SupportsIndex | None, watch: Any = None) -> Measured:
        """Evaluate a run like `OneRuleSet.measure`.

        Rows are the queries that count for any of the metrics; the values of metrics for which a query does not count
        are NaN.
        """
        if shape_of(run, Run) != DICTS:
            run = as_run(run, self.columns, self.settings.options.duplicates)
        done = [part.measure(run, n_threads, watch) for _, part in self.parts]
        query_ids, _, status, coverage = max(done, key=lambda measured: len(measured[0]))
        places = {query_id: place for place, query_id in enumerate(query_ids)}
        columns = {request.text: column for column, request in enumerate(self.settings.requests)}
        values = np.full((len(places), len(columns)), np.nan)
        for (requests, _), (of_part, of_values, _, _) in zip(self.parts, done, strict=True):
            rows = [places[query_id] for query_id in of_part]
            values[np.ix_(rows, [columns[request.text] for request in requests])] = of_values
        return query_ids, values, status, coverage

    def rankers(self) -> list[Prepared]:
        """The Prepared objects that decide the order of documents: one for each set of rules."""
        return [ranker for _, part in self.parts for ranker in part.rankers()]


class JudgedAnywhere:
    """Evaluates metrics for which a document that was judged for any query counts as judged for each.

    Each is computed as another metric (`Card.pooled`) on qrels that are made for the run: the documents that it ranks
    for a query and that stand anywhere in the caller's qrels.

    Parameters
    ----------
    prepare, qrels
        As for PerRule.
    requests : list of Request
    options : Options
        The rules that they share among them.
    """

    def __init__(self, prepare: Callable[..., Any], qrels: Qrels, requests: list[Request], options: Options) -> None:
        self.prepare = prepare
        self.bases: list[str] = [str(request._replace(card=NAMES[request.card.pooled or ""])) for request in requests]
        no_matter = options.but(empty="zero")  # whether a query has relevant documents
        self.settings: Settings = compile_settings(tuple(self.bases), no_matter)
        self.plain: Measurer = prepare(qrels, compile_settings(("num_q",), options))
        self.query_ids: list[Any] = list(qrels)
        self.judged: set[Any] = {doc_id for docs in qrels.to_dict().values() for doc_id in docs}

    def measure(self, run: Any, n_threads: SupportsIndex | None, watch: Any = None) -> Measured:
        """Evaluate a run like `OneRuleSet.measure`, with a column for each of the requests."""
        query_ids, _, status, coverage = self.plain.measure(run, n_threads, watch)
        rankings = run.to_dict() if isinstance(run, Run) else run
        pool = {
            query_id: dict.fromkeys(self.judged.intersection(rankings.get(query_id, ())), 0)
            for query_id in self.query_ids
        }
        values = self.prepare(Qrels.from_dict(pool), self.settings).measure(run, n_threads)[1]
        return query_ids, values[:, [self.settings.names.index(base) for base in self.bases]], status, coverage

    def rankers(self) -> list[Prepared]:
        """The Prepared objects that decide the order of documents."""
        return self.plain.rankers()
