"""A run and its judgments as JudgedRankings, through the same joins that metrics are evaluated through."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

import numpy as np

from fastir.data.qrels import GroupedQrels
from fastir.data.rankings import JudgedRankings, defer_rankings, make_rankings
from fastir.engine.columns.rows import offsets_from_sizes, stretches
from fastir.engine.join._judged import collecting_plan, judgments
from fastir.engine.measure import NUM_REL_RET, NUM_RET
from fastir.engine.measure._codes import READ_CODES, STATUS_CODES
from fastir.request.custom import one_order
from fastir.request.options import MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastir.data.results.report import Report
    from fastir.engine.measure._grades import Grades
    from fastir.engine.measure._measure import Plan
    from fastir.evaluation.drivers.coverage import Coverage
    from fastir.evaluation.drivers.evaluate_one import PlainEvaluator, RunEvaluator
    from fastir.evaluation.drivers.prepared import PreparedQrels
    from fastir.inputs.files import Watch
    from fastir.request.plan import Settings


class Ranks(NamedTuple):
    """The ranks of the judged documents, query by query; `sizes` says how many each query has."""

    sizes: np.ndarray
    ranks: np.ndarray
    labels: np.ndarray
    num_ret: np.ndarray
    missing: np.ndarray


class RunJudge:
    """Judges runs by the rules of an Evaluator; what is the same for all runs is made once."""

    __slots__ = ("collector", "evaluator", "rules", "settings")

    def __init__(self, prepared: RunEvaluator) -> None:
        self.settings: Settings = prepared.settings
        self.rules: dict[str, Any] = single_order(prepared)
        self.evaluator: PlainEvaluator = single_evaluator(prepared)
        self.collector: PlainEvaluator = without_plan(self.evaluator)

    def judge(self, run: Any) -> JudgedRankings:
        """Return the JudgedRankings of a run, whose arrays are made at the first use."""
        make, coverage = self.late(run, self.settings.n_threads)
        if not coverage.is_complete:
            coverage.warn(self.settings.queries)
        return defer_rankings(make)

    def with_coverage(
        self, run: Any, n_threads: SupportsIndex | None, watch: Watch | None = None
    ) -> tuple[JudgedRankings, Coverage]:
        """The JudgedRankings of a run, and the Coverage, which has not warned."""
        make, coverage = self.late(run, n_threads, watch)
        return make(), coverage

    def late(
        self, run: Any, n_threads: SupportsIndex | None, watch: Watch | None = None
    ) -> tuple[Callable[[], JudgedRankings], Coverage]:
        """What makes the JudgedRankings of a run that was read, and the Coverage, which has not warned."""
        evaluator = self.evaluator
        n = evaluator.qrels.columns.n_rows
        ranks, labels = np.empty(n, np.int64), np.empty(n, np.int32)
        collector = with_plan(self.collector, collecting_plan(evaluator.judged, ranks, labels, MAX_DEPTH))
        measured = collector.measure_rows(run, n_threads, watch)

        def make() -> JudgedRankings:
            _, values, status, coverage = collector.fill_missing(*measured)
            sizes, num_ret = values.T.astype(np.int64, "C")
            ideals = judgments(evaluator.judged)
            kept = used_slots(ideals[0], sizes)
            ranked = Ranks(sizes, ranks[kept], labels[kept], num_ret, status == STATUS_CODES["missing"])
            return rankings(evaluator, self.rules, ranked, coverage(), ideals)

        return make, measured[3]


def single_order(prepared: RunEvaluator) -> dict[str, Any]:
    """The rules, by the names of RULES, that order the documents for all metrics of an Evaluator."""
    if isinstance(prepared.qrels, GroupedQrels):
        raise ValueError("the qrels have groups, each with judgments of its own; judged rankings have one")
    return one_order(evaluator.settings for evaluator in prepared.evaluators())


def single_evaluator(prepared: RunEvaluator) -> PlainEvaluator:
    """The evaluator that ranks a caller's run, where there is one order: sets of rules hand theirs a Run."""
    evaluator = prepared.evaluators()[0]
    if evaluator.parents is not prepared.parents or evaluator.columns is not prepared.columns:
        evaluator = copy.copy(evaluator)
        evaluator.columns, evaluator.parents = prepared.columns, prepared.parents
    return evaluator


def rank_collector(
    evaluator: PlainEvaluator, ranks: np.ndarray, labels: np.ndarray, reads: int = READ_CODES["pool"]
) -> PlainEvaluator:
    """Return an evaluator with the rules of `evaluator` that collects ranks and labels instead of metrics.

    Its two values are the number of hits, which it writes from the first judgment of the query on, and of documents.
    """
    return with_plan(without_plan(evaluator), collecting_plan(evaluator.judged, ranks, labels, MAX_DEPTH, reads))


def without_plan(evaluator: PlainEvaluator) -> PlainEvaluator:
    """Return an evaluator with the rules of `evaluator` and two values, but without their `collecting_plan`."""
    settings = copy.copy(evaluator.settings)
    settings.names, settings.label_limits = [NUM_REL_RET, NUM_RET], []
    settings.queries = None if settings.queries == "intersection" else settings.queries
    collector = copy.copy(evaluator)
    collector.settings, collector.shape = settings, (evaluator.shape[0], len(settings.names))
    collector.missing, collector.missing_sums = np.zeros(collector.shape), {}  # neither hits nor documents
    return collector


def with_plan(collector: PlainEvaluator, plan: Plan) -> PlainEvaluator:
    """A copy with a plan of its own."""
    settings, collector = collector.settings.__copy__(), collector.__copy__()
    settings.plan = plan
    collector.settings = settings
    return collector


def used_slots(offsets: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The positions that are used, where each query has a stretch of them and uses the first ones, so many."""
    used = np.flatnonzero(sizes)
    return stretches(offsets[used], sizes[used])


def rankings(
    evaluator: PreparedQrels,
    rules: dict[str, Any],
    ranked: Ranks,
    report: Report,
    ideals: tuple[np.ndarray, np.ndarray] | None = None,
) -> JudgedRankings:
    """The JudgedRankings of all queries; `ideals` are their `judgments`, if they were made."""
    ids, grades = list(evaluator.judged.query_ids), evaluator.settings.grades
    return rankings_from_ranks(ids, ranked, ideals or judgments(evaluator.judged), grades, rules, report)


def rankings_from_ranks(
    query_ids: list[Any],
    ranked: Ranks,
    ideals: tuple[np.ndarray, np.ndarray],
    grades: Grades | None,
    rules: dict[str, Any],
    report: Report,
) -> JudgedRankings:
    """Return the JudgedRankings of these ranks and judgments; if there are grades, the labels are their codes."""
    labels, (ideal_offsets, ideal_labels) = np.maximum(ranked.labels, -1), ideals
    arrays = {
        "offsets": offsets_from_sizes(ranked.sizes),
        "ranks": ranked.ranks,
        "labels": labels if grades is None else grades.decode(labels),
        "num_ret": ranked.num_ret,
        "ideal_offsets": ideal_offsets,
        "ideal_labels": ideal_labels if grades is None else grades.decode(ideal_labels),
        "missing": ranked.missing,
    }
    return make_rankings(JudgedRankings, query_ids, arrays, report=report, **rules)
