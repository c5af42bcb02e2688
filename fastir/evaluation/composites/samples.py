"""Sampled judgments: metrics that estimate, from a sample of the pool, what judgments of all of it would give.

A run is read against qrels that have the rows of the pool as labels: what remains of the run is the pool documents that
it retrieved, and their ranks. The rest is arithmetic of measure/_sampling.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from fastir.data.qrels import Qrels
from fastir.engine.columns.rows import list_of_each, occurrences, offsets_from_sizes
from fastir.engine.measure import NUM_Q
from fastir.engine.measure._codes import READ_CODES, STATUS_CODES
from fastir.engine.measure._sampling import NEVER, estimate, evidence_values
from fastir.errors import UnknownMetricError, quote
from fastir.evaluation.drivers.coverage import without_missing
from fastir.evaluation.drivers.evaluate_one import Job, PlainEvaluator, RunValues
from fastir.evaluation.drivers.judged import rank_collector, used_slots
from fastir.evaluation.drivers.prepared import check_labels
from fastir.inputs.roles import EVIDENCE_KINDS
from fastir.request.compiler import EMPTY, label_limits
from fastir.request.names import Gains, Request
from fastir.request.options import MAX_DEPTH, TIES
from fastir.request.plan import Settings, check_average, compile_settings

if TYPE_CHECKING:
    from fastir.inputs.files import Watch

HOW = {
    "strata": "strata: Qrels.from_file(path, 'strata') or Qrels.from_dict(labels, strata=...)",
    "probabilities": "inclusion probabilities: Qrels.from_file(path, 'prels') or "
    "Qrels.from_dict(labels, probabilities=...)",
    "sets": "sets of evidence: Qrels.from_file(path, 'evidence') or Qrels.from_sets({query_id: [doc_ids, ...]})",
    "hops": "hops: Qrels.from_file(path, 'hops') or Qrels.from_hops({query_id: [doc_ids, ...]})",
}


class Sample:
    """The pool of every query as arrays aligned with the rows of the qrels, and qrels with the rows as labels.

    These labels count the documents of a query from 1 up by rising labels of the caller's, so that the rules for equal
    scores that go by label order documents as the caller's labels would.
    """

    def __init__(self, qrels: Qrels) -> None:
        columns = qrels.columns
        n = columns.n_rows
        self.offsets: np.ndarray = columns.offsets
        self.labels: np.ndarray = columns.numbers
        self.queries: np.ndarray = list_of_each(self.offsets)
        self.by_label: np.ndarray = self.in_order(self.labels)
        places = np.empty(n, np.int32)
        first = self.offsets[self.queries]
        places[first + self.by_label] = np.arange(1, n + 1) - first
        self.pool: Qrels = Qrels(columns.query_ids, self.offsets, columns.ids, places, columns.repairs)
        probabilities = columns.probabilities
        self.probabilities: np.ndarray = np.zeros(n) if probabilities is None else probabilities
        self.strata: np.ndarray = np.zeros(n, np.int64)
        self.firsts: np.ndarray = np.zeros(len(qrels) + 1, np.int64)  # of each query's strata, among all strata
        self.sizes: np.ndarray = np.zeros(1, np.int64)
        if columns.strata is not None:
            self.number(columns.strata)
        self.gains: dict[tuple[Any, int], tuple[np.ndarray, np.ndarray]] = {}  # and the rows by falling gains

    def in_order(self, keys: np.ndarray) -> np.ndarray:
        """The rows of each query, counted from its first one, by rising keys."""
        return np.lexsort((keys, self.queries)) - self.offsets[self.queries]

    def number(self, strata: np.ndarray) -> None:
        """Number the strata of each query from 0."""
        rows = self.in_order(strata) + self.offsets[self.queries]
        pairs = np.stack([self.queries, strata[rows]])
        new = np.ones(len(strata), bool)
        new[1:] = (pairs[:, 1:] != pairs[:, :-1]).any(0)
        among_all = np.cumsum(new) - 1
        self.sizes = occurrences(among_all)
        self.firsts[1:] = np.cumsum(occurrences(self.queries[new], minlength=len(self.firsts) - 1))
        self.strata[rows] = among_all - self.firsts[self.queries]

    def with_gains(self, gain: Any, lowest: int) -> tuple[np.ndarray, np.ndarray]:
        """The gain of each row, and the rows of each query by falling gains; made once."""
        if (gain, lowest) not in self.gains:
            gains = label_gains(self.labels, gain, lowest)
            self.gains[gain, lowest] = gains, self.in_order(-gains)
        return self.gains[gain, lowest]


class SampleEvaluator:
    """Evaluates metrics of sampled judgments alone, under one set of rules; arguments as for `PerMetricRules`."""

    jobs: tuple[Job, ...] = ()  # what it measures together with other metrics

    def __init__(self, prepare: Callable[..., PlainEvaluator], qrels: Qrels, settings: Settings) -> None:
        self.sample: Sample = sample_for(qrels, settings)
        self.qrels = qrels
        self.settings = settings
        self.prepare = prepare
        self.evaluator: PlainEvaluator = prepare(self.sample.pool, compile_settings((NUM_Q,), settings.options))
        limits = [limit for metric in self.metrics() for limit in label_limits(*metric, metric[1].get("gain"))]
        if limits:
            check_labels(limits, qrels.columns.judged())
        relevant = self.sample.queries[self.sample.labels >= settings.level]
        self.status: np.ndarray = np.full(len(qrels), STATUS_CODES["no_relevant"], np.uint8)
        self.status[relevant] = STATUS_CODES["evaluated"]

    def metrics(self) -> Iterator[tuple[Request, dict[str, Any]]]:
        """Each metric, with the values of its parameters."""
        return zip(self.settings.requests, self.settings.values, strict=True)

    def measure(self, run: Any, n_threads: SupportsIndex | None, watch: Watch | None = None) -> RunValues:
        """Evaluate a run like `PlainEvaluator.measure`."""
        settings, sample = self.settings, self.sample
        n, depth = len(sample.labels), settings.options.max_depth or MAX_DEPTH
        ranks, places = np.empty(n, np.int64), np.empty(n, np.int32)
        collector = rank_collector(self.evaluator, ranks, places, READ_CODES["relevant"])
        collector.status = self.status
        query_ids, kept, status, coverage = collector.measure(run, n_threads, watch)
        sizes, num_ret = kept.T.astype(np.int64, "C")
        used = used_slots(sample.offsets, sizes)
        used = used[ranks[used] <= depth]
        rows = sample.by_label[sample.offsets[sample.queries[used]] + places[used] - 1]
        judged = settings.options.judged_only
        if judged:
            kept = sample.labels[sample.offsets[sample.queries[used]] + rows] >= 0
            used, rows = used[kept], rows[kept]
        queries = sample.queries[used]
        offsets = offsets_from_sizes(occurrences(queries, minlength=len(sizes)))
        at = np.arange(1, len(used) + 1) - offsets[queries] if judged else ranks[used]
        hits = offsets, np.append(at, 0), np.append(rows, 0)  # so that no array is empty
        standing = np.full(n, NEVER)
        standing[sample.offsets[queries] + rows] = at
        num_ret = np.minimum(num_ret, depth)
        values = np.stack([self.estimates(*metric, hits, num_ret, standing) for metric in self.metrics()], 1)
        if settings.queries == "intersection":
            query_ids, values, status = without_missing(query_ids, values, status)
        return query_ids, values, status, coverage

    def estimates(
        self,
        request: Request,
        params: dict[str, Any],
        hits: tuple[np.ndarray, np.ndarray, np.ndarray],
        num_ret: np.ndarray,
        standing: np.ndarray,
    ) -> np.ndarray:
        """The values of a metric for all queries; `standing` are the ranks of all rows."""
        sample, level = self.sample, math.ceil(request.relevant_from(self.settings.level))
        none, depth = EMPTY.get(params.get("empty")), request.cutoff or MAX_DEPTH
        if request.card.sampled in EVIDENCE_KINDS:
            evidence = getattr(self.qrels.columns, request.card.sampled)
            values = evidence_values(request.card.name, depth, params, evidence, standing)
            return values if none is None else np.where(np.diff(evidence.firsts) > 0, values, none)
        gain = params.get("gain", "binary")
        # Without a level of its own a metric takes gains from the first label on that can have one.
        lowest = level if request.level or gain == "binary" else 0 if isinstance(gain, Gains) else 1
        gains = sample.with_gains(gain, lowest)
        rows = sample.offsets, sample.labels, sample.by_label, sample.strata
        pool = *rows, sample.firsts, sample.sizes, sample.probabilities, *gains
        values, totals = np.empty(len(num_ret)), np.empty(len(num_ret))
        estimate(request.card.name, level, depth, hits, pool, num_ret, values, totals)
        return values if none is None else np.where(totals > 0, values, none)

    def answer(self, run: Any, n_threads: SupportsIndex | None) -> RunValues:
        """The result of `measure`: this evaluator has no jobs."""
        return self.measure(run, n_threads)

    def evaluators(self) -> list[PlainEvaluator]:
        """The evaluators that decide the order of documents."""
        return [self.prepare(self.qrels, compile_settings((NUM_Q,), self.settings.options))]


def sample_for(qrels: Qrels, settings: Settings) -> Sample:
    """The sample that metrics are estimated from, if the qrels have what they need, and the options permit it."""
    for request in settings.requests:
        needed, text = request.card.sampled, quote(request.text)
        if getattr(qrels.columns, needed) is None:
            raise UnknownMetricError(f"metric {text} is defined on qrels with {HOW[needed]}")
        if needed in EVIDENCE_KINDS and request.relevant_from(settings.level) != 1:
            raise ValueError(f"metric {text} takes no relevance level: members of {needed} have labels from 1 up")
        if settings.options.judged_only and needed not in EVIDENCE_KINDS:
            raise ValueError(f"judged_only: metric {text} needs the documents of the pool that were not judged, too")
    if TIES[settings.ties] == "average":
        check_average(settings.requests, settings.values, MAX_DEPTH)
    sample = qrels.__dict__.get("_sample")  # of several threads that make it, all get the first one's
    return sample or qrels.__dict__.setdefault("_sample", Sample(qrels))


def label_gains(labels: np.ndarray, gain: Any, lowest: int) -> np.ndarray:
    """The gain of each label, as the metrics of measure/_graded have it."""
    gains = labels.astype(float)
    if gain == "exp2":
        gains = np.maximum(gains, 0)
        gains = np.where(gains < 1, np.expm1(gains * math.log(2)), np.exp2(gains) - 1)
    elif gain == "binary":
        gains = np.ones(len(labels))
    for label, worth in gain.items() if isinstance(gain, Gains) else ():
        gains[labels == label] = worth
    return np.where(labels >= lowest, gains, 0.0)
