"""The choice of the inner evaluator: one set of rules, or several for other judgments and metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fastir.data.qrels import GroupedQrels, Preferences, Qrels
from fastir.evaluation.drivers.evaluate_one import PlainEvaluator

if TYPE_CHECKING:
    from fastir.evaluation.drivers.coverage import Coverage
    from fastir.evaluation.drivers.evaluate_one import RunEvaluator
    from fastir.evaluation.drivers.prepared import Task
    from fastir.inputs.parents import AnyParents
    from fastir.request.plan import Settings


def prepare(
    qrels: Qrels, settings: Settings, columns: Mapping[str, str] | None = None, parents: AnyParents | None = None
) -> RunEvaluator:
    """A PlainEvaluator, or what puts several together, for other judgments or for metrics with rules of their own."""
    if isinstance(qrels, Preferences):
        from fastir.evaluation.composites.preferences import PreferenceEvaluator

        return PreferenceEvaluator(prepare, qrels, settings, columns, parents)
    if isinstance(qrels, GroupedQrels):
        from fastir.evaluation.composites.subtopics import SubtopicEvaluator

        return SubtopicEvaluator(prepare, qrels, settings, columns, parents)
    if settings.parts:
        from fastir.evaluation.composites.per_metric import PerMetricRules

        return PerMetricRules(prepare, qrels, settings, columns, parents)
    return FromAnyOrder(qrels, settings, columns, parents)


class FromAnyOrder(PlainEvaluator):
    """A PlainEvaluator that reads unordered tables twice if that is faster: `drivers` know nothing of `partial`."""

    __slots__ = ()

    def reread(self, task: Task, threads: int) -> Coverage | None:
        from fastir.evaluation.partial import row_groups

        return row_groups.from_groups(task, threads) if row_groups.suits(self, task.run) else None
