"""Metrics that do not share their rules: some conventions rank, compare scores or choose queries by metric.

ir_measures, for example, calls several programs, each with a tie rule of its own. The metrics with the same rules share
a PlainEvaluator, and the columns of all are put side by side.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias

import numpy as np

from fastir.data.qrels import Qrels
from fastir.data.run import Run, as_run
from fastir.engine.join._judged import Judged
from fastir.engine.measure import NUM_Q
from fastir.evaluation.composites.forbidden import ForbiddenEvaluator
from fastir.evaluation.composites.from_plain import FromPlain
from fastir.evaluation.composites.samples import SampleEvaluator
from fastir.evaluation.composites.weights import WeightedEvaluator
from fastir.evaluation.drivers.coverage import Repairs
from fastir.evaluation.drivers.evaluate_one import Job, PlainEvaluator, RunEvaluator, RunValues, measure_together
from fastir.inputs.exclusions import Exclusion
from fastir.inputs.shapes import DICTS, input_shape
from fastir.request.names import NAMES, Request
from fastir.request.plan import (
    BY_SCORE,
    COSTED,
    FORBIDDEN,
    GROUPED,
    POOLED,
    SAMPLED,
    WEIGHTED,
    Settings,
    compile_settings,
)

if TYPE_CHECKING:
    from fastir.evaluation.composites.costs import CostEvaluator
    from fastir.evaluation.composites.exposure import DocGroups, ExposureEvaluator
    from fastir.inputs.mappings import DocWeights
    from fastir.inputs.parents import AnyParents
    from fastir.request.options import Options

    Composite: TypeAlias = SampleEvaluator | WeightedEvaluator | ForbiddenEvaluator | ExposureEvaluator | CostEvaluator
    Part: TypeAlias = "PlainEvaluator | JudgedAnywhere | IdealByScore | Composite"


class PerMetricRules:
    """Evaluates runs under several sets of rules; ``prepare(qrels, settings)`` returns the PlainEvaluator of one.

    `columns` are the names of the columns of runs that are tables, `parents` the document of each id in a run.
    """

    def __init__(
        self,
        prepare: Callable[..., Any],
        qrels: Qrels,
        settings: Settings,
        columns: Mapping[str, str] | None,
        parents: AnyParents | None,
        forbidden: Qrels | None = None,
        doc_groups: DocGroups | None = None,
        doc_costs: DocWeights | str | None = None,
    ) -> None:
        self.qrels = qrels
        self.settings = settings
        self.columns = columns
        self.parents = parents
        self.forbidden = forbidden
        self.parts: list[tuple[list[Request], Part]] = []
        for requests, rules, read in settings.parts:
            options = settings.options.replace(**rules)
            part: Part
            if read == POOLED:
                part = JudgedAnywhere(prepare, qrels, requests, options)
            elif read == BY_SCORE:
                part = IdealByScore(prepare, qrels, requests, options)
            else:
                some = compile_settings(tuple(request.text for request in requests), options)
                if read == FORBIDDEN:
                    part = ForbiddenEvaluator(prepare, qrels, some, forbidden)
                elif read == GROUPED:
                    from fastir.evaluation.composites.exposure import ExposureEvaluator

                    part = ExposureEvaluator(prepare, qrels, some, doc_groups)
                elif read == COSTED:
                    from fastir.evaluation.composites.costs import CostEvaluator

                    part = CostEvaluator(prepare, qrels, some, doc_costs)
                elif read in EVALUATOR_BY_READ:
                    part = EVALUATOR_BY_READ[read](prepare, qrels, some)
                else:
                    part = prepare(qrels, some)
            self.parts.append((requests, part))

    def measure(self, run: Any, n_threads: SupportsIndex | None, watch: Any = None) -> RunValues:
        """Evaluate a run like `PlainEvaluator.measure`.

        Rows are the queries that count for any of the metrics; the values of metrics for which a query does not count
        are NaN.
        """
        repairs: Repairs = {} if self.forbidden is None else self.forbidden.columns.repairs
        nested = input_shape(run, Run) == DICTS
        if nested and self.parents is not None:
            less = self.parents.from_dicts(run) if isinstance(self.parents, Exclusion) else None
            nested = less is not None
            run, excluded = less or (run, {})
            repairs = {**repairs, **excluded}
        done = self.measure_dicts(run, n_threads) if nested else self.measure_rows(run, n_threads, watch)
        query_ids, _, status, coverage = max(done, key=lambda measured: len(measured[0]))
        coverage.add_repairs(repairs)
        places = {query_id: place for place, query_id in enumerate(query_ids)}
        columns = {request.text: column for column, request in enumerate(self.settings.requests)}
        values = np.full((len(places), len(columns)), np.nan)
        for (requests, _), (of_part, of_values, _, _) in zip(self.parts, done, strict=True):
            rows = [places[query_id] for query_id in of_part]
            values[np.ix_(rows, [columns[request.text] for request in requests])] = of_values
        return query_ids, values, status, coverage

    def measure_rows(self, rows: Any, n_threads: SupportsIndex | None, watch: Any) -> list[RunValues]:
        """The values of each part, for a run that is read once for each rule about duplicates."""
        held: dict[Any, Run] = {}
        done = []
        for (_, part), (_, rules, _) in zip(self.parts, self.settings.parts, strict=True):
            rule = rules["duplicates"]
            if rule not in held:
                held[rule] = as_run(rows, self.columns, rule, self.parents, self.settings.lines)
            if isinstance(part, FromPlain):
                part = part.for_rows(rows, self.columns, rule)
            done.append(part.measure(held[rule], n_threads, watch))
        return done

    def measure_dicts(self, run: dict[Any, Any], n_threads: SupportsIndex | None) -> list[RunValues]:
        """The values of each part, for a dict of dicts that is read once for all."""
        begun: list[tuple[Sequence[Job], Callable[..., RunValues]]] = []
        for _, part in self.parts:
            if isinstance(part, PlainEvaluator):
                begun.append(([(part, None)], lambda run, n_threads, measured: measured))
            else:
                begun.append(part.begin() if isinstance(part, FromPlain) else (part.jobs, part.answer))
        together = [job for jobs, _ in begun for job in jobs]
        part_values = iter(measure_together(together, run) if together else ())
        return [answer(run, n_threads, *itertools.islice(part_values, len(jobs))) for jobs, answer in begun]

    def evaluators(self) -> list[PlainEvaluator]:
        """The evaluators that decide the order of documents: one for each set of rules."""
        return [evaluator for _, part in self.parts for evaluator in part.evaluators()]


def without_division(prepared: RunEvaluator) -> RunEvaluator:
    """An evaluator for runs with some of the queries: metrics that divide means are divided by none."""
    if not isinstance(prepared, PerMetricRules):
        return prepared
    copied = copy.copy(prepared)
    copied.parts = [
        (requests, part.without_division() if isinstance(part, WeightedEvaluator) else part)
        for requests, part in copied.parts
    ]
    return copied


def best_values(prepared: RunEvaluator, query_ids: list[Any]) -> dict[str, np.ndarray]:
    """{metric that divides means: what the best ranking of each of these queries has}."""
    found: dict[str, np.ndarray] = {}
    for _, part in prepared.parts if isinstance(prepared, PerMetricRules) else ():
        if isinstance(part, WeightedEvaluator):
            found |= part.best_values(query_ids)
    return found


class JudgedAnywhere:
    """Evaluates metrics for which a document that was judged for any query counts as judged for each.

    Each is computed as another metric (`Card.pooled`), with other judgments: every query gets those of all queries.
    `options` are the rules that the requests share.
    """

    def __init__(self, prepare: Callable[..., Any], qrels: Qrels, requests: list[Request], options: Options) -> None:
        self.prepare = prepare
        bases: list[str] = [str(request._replace(card=NAMES[request.card.pooled or ""])) for request in requests]
        no_matter = options.replace(empty="zero")  # whether a query has relevant documents
        self.settings: Settings = compile_settings(tuple(bases), no_matter)
        self.columns: list[int] = [self.settings.names.index(base) for base in bases]
        self.plain: PlainEvaluator = prepare(qrels, compile_settings((NUM_Q,), options))
        self.query_ids: list[Any] = list(qrels)
        self.judged: dict[str, Any] = {str(doc_id): doc_id for docs in qrels.to_dict().values() for doc_id in docs}
        offsets, labels = np.array([0, len(self.judged)], np.int64), np.zeros(len(self.judged), np.int32)
        everywhere = Judged(self.query_ids[:1], list(self.judged.values()), offsets, labels)
        self.jobs: list[Job] = [(self.plain, None), (prepare(qrels, self.settings), everywhere)]

    def answer(self, run: Any, n_threads: SupportsIndex | None, plain: RunValues, pooled: RunValues) -> RunValues:
        """The result of `measure`, from the values of the jobs."""
        query_ids, _, status, coverage = plain
        return query_ids, pooled[1][:, self.columns], status, coverage

    def measure(self, run: Run, n_threads: SupportsIndex | None, watch: Any = None) -> RunValues:
        """Evaluate a run, on qrels of the documents that it ranks for a query and that any query of the caller has.

        It may have duplicate documents in a query, which a dict of dicts cannot have.
        """
        from fastir.evaluation.drivers.min_score import retrieved

        rankings = with_text(retrieved(run, self.settings), self.query_ids)
        pool = {
            query_id: {self.judged[doc_id]: 0 for doc_id in rankings.get(str(query_id), ()) if doc_id in self.judged}
            for query_id in self.query_ids
        }
        pooled = self.prepare(Qrels.from_dict(pool), self.settings).measure(run, n_threads)
        return self.answer(run, n_threads, self.plain.measure(run, n_threads, watch), pooled)

    def evaluators(self) -> list[PlainEvaluator]:
        """The evaluators that decide the order of documents."""
        return self.plain.evaluators()


class IdealByScore(FromPlain):
    """Evaluates metrics with an ideal ranking that orders documents of one label by their scores in the run.

    A document that is missing from the run has the score 0. Equal scores keep the order of the qrels. Each run gets its
    own qrels, with labels in this order: each document has its own label, the first document the largest.
    """

    def __init__(
        self, prepare: Callable[..., PlainEvaluator], qrels: Qrels, requests: list[Request], options: Options
    ) -> None:
        self.prepare = prepare
        self.plain: PlainEvaluator = prepare(qrels, compile_settings((NUM_Q,), options))
        self.single: bool = options.score_dtype == "float32"
        self.labels: dict[Any, Any] = qrels.to_dict()
        self.levels: dict[float, list[int]] = {}
        for column, request in enumerate(requests):
            self.levels.setdefault(request.relevant_from(1), []).append(column)
        self.bases: list[str] = [
            str(request._replace(level=None, params={**request.params, "missing_documents": "last"}))
            for request in requests
        ]
        self.options = options

    def answer(self, run: Any, n_threads: SupportsIndex | None, plain: RunValues) -> RunValues:
        """The result of `measure`, from the values of the job."""
        query_ids, _, status, coverage = plain
        return query_ids, self.rank_ideal_by(run)(run, n_threads), status, coverage

    def rank_ideal_by(self, run: Any) -> Callable[[Any, SupportsIndex | None], np.ndarray]:
        """A function of a run and n_threads that gives the values; the ideal rankings go by the scores in `run`."""
        from fastir.evaluation.drivers.min_score import retrieved

        rankings = with_text(retrieved(run, self.plain.settings), self.labels)
        parts = []
        for level, columns in self.levels.items():
            ordered = {
                query_id: self.in_order(docs, rankings.get(str(query_id), {}), level)
                for query_id, docs in self.labels.items()
            }
            settings = compile_settings(tuple(self.bases[column] for column in columns), self.options)
            parts.append((columns, settings.names, self.prepare(Qrels.from_dict(ordered), settings)))

        def measure_values(run: Any, n_threads: SupportsIndex | None) -> np.ndarray:
            measured = [(columns, names, prepared.measure(run, n_threads)[1]) for columns, names, prepared in parts]
            values = np.empty((len(measured[0][2]), len(self.bases)))
            for columns, names, of_part in measured:
                values[:, columns] = of_part[:, [names.index(self.bases[column]) for column in columns]]
            return values

        return measure_values

    def in_order(self, docs: Mapping[Any, int], ranking: Mapping[str, float], level: float) -> dict[Any, int]:
        """Labels that fall along the ideal ranking; the documents outside it keep theirs, at most 0."""
        precision = np.float32 if self.single else float
        scores = {doc_id: precision(ranking.get(str(doc_id), 0)) for doc_id, label in docs.items() if label >= level}
        ideal = sorted(scores, key=lambda doc_id: (-docs[doc_id], -scores[doc_id]))
        places = {doc_id: len(ideal) - place for place, doc_id in enumerate(ideal)}
        return {doc_id: places.get(doc_id, min(label, 0)) for doc_id, label in docs.items()}


EVALUATOR_BY_READ: dict[str, type[SampleEvaluator | WeightedEvaluator]] = {
    SAMPLED: SampleEvaluator,
    WEIGHTED: WeightedEvaluator,
}


def with_text(run: Any, query_ids: Iterable[Any]) -> dict[str, dict[str, float]]:
    """{query_id: {doc_id: score}} of a run, for these queries; the ids as text, as integers equal their text."""
    rankings = run.to_dict() if isinstance(run, Run) else run
    wanted = set(map(str, query_ids))
    return {
        str(query_id): {str(doc_id): score for doc_id, score in docs.items()}
        for query_id, docs in rankings.items()
        if str(query_id) in wanted
    }
