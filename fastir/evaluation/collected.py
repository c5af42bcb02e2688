"""Rankings without ids as JudgedRankings, for metrics of the caller's own: the kernels that measure collect the hits.

So their ranks are those that metrics of the same call are computed from, by the same rules of ties.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.data.rankings_values import add_custom
from fastir.engine.columns.rows import list_of_each, occurrences, offsets_from_sizes
from fastir.engine.join._collect import collecting_plan
from fastir.engine.measure import NUM_REL_RET, NUM_RET
from fastir.engine.measure._grades import coded, has_fractions
from fastir.evaluation.drivers.judged import Ranks, rankings_from_ranks, used_slots
from fastir.request.custom import one_order
from fastir.request.options import RANKED, WHOLE
from fastir.request.plan import Settings

if TYPE_CHECKING:
    from fastir.data.rankings import JudgedRankings
    from fastir.data.results.report import Report
    from fastir.data.results.results import Results
    from fastir.engine.measure._grades import Grades
    from fastir.inputs.csr import Items
    from fastir.request.custom import CustomColumns

OUTSIDE, POOLED = -1, -2  # what kernels read: not in the qrels, and there without a judgment


class Collecting(Settings):
    """Settings by whose plan a kernel collects ranks and labels in place of metrics.

    The two values of a row are the number of hits that it collected, from the place on that was its first value, and
    that of the documents.
    """

    def __init__(self, settings: Settings, room: int) -> None:
        self.__dict__.update(settings.__dict__)
        self.ranks, self.labels = np.empty(room + 1, np.int64), np.empty(room + 1, np.int32)
        self.plan = collecting_plan(None, self.ranks, self.labels, WHOLE)
        self.names, self.label_limits = [NUM_REL_RET, NUM_RET], []

    def for_grades(self, grades: Grades | None, where: Any = None) -> Settings:
        """Labels are codes already, if they are not whole."""
        return self

    def rankings(
        self,
        query_ids: list[Any],
        offsets: np.ndarray,
        values: np.ndarray,
        judged: tuple[np.ndarray, np.ndarray],
        grades: Grades | None,
        rules: dict[str, Any],
        report: Report,
    ) -> JudgedRankings:
        """What was collected, from the values, the places of each query's hits and all judgments, best first."""
        sizes, num_ret = values.T.astype(np.int64, "C")
        kept = used_slots(offsets, sizes)
        ranked = Ranks(sizes, self.ranks[kept], self.labels[kept], num_ret, np.zeros(len(sizes), bool))
        rules = {**rules, "duplicates": None}
        if self.options.ties is RANKED:
            rules |= {"ties": None, "score_dtype": None}
        return rankings_from_ranks(query_ids, ranked, judged, grades, rules, report)


def empty_values(settings: Settings, offsets: np.ndarray) -> np.ndarray:
    """An array for the values of queries, for a kernel to fill; the hits of each have room from its offset on."""
    values = np.empty((len(offsets) - 1, len(settings.names)))
    if isinstance(settings, Collecting):
        values[:, 0] = offsets[:-1]
    return values


def best_first(labels: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and labels of the judgments among the labels of each query, the best first; -1 for negative ones."""
    n = len(offsets) - 1
    kept = labels != OUTSIDE
    owners, judged = list_of_each(offsets)[kept], np.maximum(labels[kept], -1)
    order = np.lexsort((-judged, owners))
    return offsets_from_sizes(occurrences(owners, minlength=n)), judged[order]


def whole_labels(*columns: np.ndarray) -> tuple[Grades | None, list[np.ndarray]]:
    """Copies of labels as int32, which are codes if some labels are not whole."""
    if any(map(has_fractions, columns)):
        return coded(*columns)
    return None, [column.astype(np.int32) for column in columns]


class CollectedItems:
    """The hits of rows of numbered items, and the columns that are made of them.

    Parameters
    ----------
    custom : CustomColumns
    parts : list of (columns, Settings)
        Of the other metrics of the call.
    wanted : Items
        The judged items, as the caller gave them.

    Raises
    ------
    ValueError
        There is not one order of items.
    """

    def __init__(self, custom: CustomColumns, parts: list[tuple[list[int], Settings]], wanted: Items) -> None:
        self.custom = custom
        self.rules: dict[str, Any] = custom.checked(lambda: one_order(part for _, part in parts))
        self.wanted = wanted
        ones = np.ones(len(wanted.numbers), np.int32)
        self.grades, (self.labels,) = whole_labels(ones if wanted.labels is None else wanted.labels)
        self.settings = Collecting(parts[0][1], len(wanted.numbers))
        self.blocks: list[np.ndarray] = []

    def add(self, measured: tuple[np.ndarray, ...]) -> None:
        """Take the values of a block of rows, which was read under `settings`."""
        self.blocks.append(measured[0])

    def with_columns(self, results: Results) -> Results:
        """Results with the columns of the caller's own metrics."""
        values = np.concatenate([np.empty((0, 2)), *self.blocks])
        offsets = self.wanted.between(0, len(values))
        judged = best_first(np.where(self.labels < 0, POOLED, self.labels).astype(np.int32), offsets)
        rankings = self.settings.rankings(
            results.query_ids, offsets, values, judged, self.grades, self.rules, results.report
        )
        return add_custom(results, self.custom, rankings)
