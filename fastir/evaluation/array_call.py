"""ArrayCall: a call on rankings without ids, from its metrics to its Results; `labels` and `matrix` measure in between.

For metrics of the caller's own the kernels that measure also collect the hits, as JudgedRankings. So their ranks are
those that metrics of the same call are computed from, by the same rules of ties.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from fastir.data.rankings import add_custom
from fastir.data.results.micro import without_counts
from fastir.data.results.results import Results
from fastir.engine.columns.rows import list_of_each, occurrences, offsets_from_sizes
from fastir.engine.join._judged import collecting_plan
from fastir.engine.measure import NUM_Q, NUM_REL_RET, NUM_RET
from fastir.engine.measure._grades import coded, has_fractions
from fastir.evaluation.drivers.judged import Ranks, rankings_from_ranks, used_slots
from fastir.inputs import arrays, dicts, pairing
from fastir.rendering.text import counted
from fastir.request.custom import CustomColumns, custom_columns, one_order
from fastir.request.options import MAX_DEPTH, RANKED, Options
from fastir.request.plan import NO_LIMIT, Settings, refuse_small, without_ids

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fastir.data.results.report import Report
    from fastir.engine.measure._grades import Grades

OUTSIDE, POOLED = -1, -2  # what kernels read: not in the qrels, and there without a judgment


class ArrayCall:
    """The metrics of a call on rankings without ids, and what becomes of the values that were measured.

    `weights` are query weights; `weighted` says whether documents have weights, too. Immutable.
    """

    __slots__ = ("custom", "parts", "rules", "settings", "weights")
    settings: Settings  # of all metrics
    parts: list[tuple[list[int], Settings]]  # columns and Settings of each set of rules among these
    rules: dict[str, Any]  # the one order of documents that custom metrics need

    def __init__(self, options: Options, metrics: str | Iterable[str], weights: Any, weighted: bool = False) -> None:
        named, custom = custom_columns(metrics, NUM_Q)
        self.settings, self.parts = without_ids(named, options, weighted)
        self.custom: CustomColumns | None = custom
        self.weights: Any = weights
        if custom is not None:
            self.rules = custom.check_rules(lambda: one_order(part for _, part in self.parts))

    def results(
        self, query_ids: Sequence[Any], values: np.ndarray, status: np.ndarray, report: Callable[[], Report]
    ) -> Results:
        """The Results of fastir's metrics."""
        settings = self.settings
        if settings.sizes:
            refuse_small(settings.sizes, values, query_ids)
        weights = None if self.weights is None else weights_by_query(self.weights, query_ids)
        results = Results(
            query_ids, settings.names, values, status, settings.aggregates, report, weights, settings.provenance
        )
        return without_counts(results, settings) if settings.micro else results

    def with_custom(
        self,
        results: Results,
        collecting: Collecting,
        offsets: np.ndarray,
        values: np.ndarray,
        grades: Grades | None,
        judged: tuple[np.ndarray, np.ndarray],
    ) -> Results:
        """Results with custom metrics, from what was collected and the labels and offsets of all judgments.

        The hits of each query have room from its offset on; `values` are those that were measured by `collecting`.
        """
        sizes, num_ret = values.T.astype(np.int64, "C")
        kept = used_slots(offsets, sizes)
        ranked = Ranks(sizes, collecting.ranks[kept], collecting.labels[kept], num_ret, np.zeros(len(sizes), bool))
        rules = {**self.rules, "duplicates": None}
        if self.settings.options.ties is RANKED:
            rules |= {"ties": None, "score_dtype": None}
        ids, judgments = list(results.query_ids), best_first(*judged)
        rankings = rankings_from_ranks(ids, ranked, judgments, grades, rules, results.report)
        return add_custom(results, cast("CustomColumns", self.custom), rankings)


plain_call: Callable[..., Any] = functools.lru_cache(256)(ArrayCall)  # equal requests share a call


def make_call(options: Options, metrics: str | Iterable[str], weights: Any) -> ArrayCall:
    """The ArrayCall of checked options, one that was kept where all metrics are fastir's and no query has a weight."""
    named, custom = custom_columns(metrics, NUM_Q)
    if weights is None and custom is None:
        return plain_call(options, named, None)
    return ArrayCall(options, named if custom is None else custom.metrics, weights)


def weights_by_query(
    weights: Mapping[Any, float] | ArrayLike | None, query_ids: Sequence[Any]
) -> dict[Any, float] | None:
    """Weights by query id, checked."""
    if weights is None:
        return None
    if not hasattr(weights, "keys") or pairing.is_default(getattr(weights, "index", None)):
        array = arrays.numbers(cast("ArrayLike", weights), "weights")
        if len(array) != len(query_ids):
            verb = "is" if len(query_ids) == 1 else "are"
            raise ValueError(
                f"weights has {counted(len(array), 'entry', 'entries')} but there {verb} "
                f"{counted(len(query_ids), 'query', 'queries')}"
            )
        weights = dict(zip(query_ids, array.tolist(), strict=True))
    return dicts.query_weights(weights, query_ids)


def example_of(name: str, number: int, place: int, query_ids: Sequence[Any]) -> dict[str, Any]:
    """Fields of a Report: a number, and the query at `place` as an example, unless it is 0."""
    return {name: number, f"{name}_example": str(query_ids[place]) if number else None}


def counts_of(name: str, mask: np.ndarray, query_ids: Sequence[Any]) -> dict[str, Any]:
    """Fields of a Report: how many queries a mask marks, and the first of them as an example."""
    return example_of(name, int(mask.sum()), int(mask.argmax()) if len(mask) else 0, query_ids)


def repairs_of(query_ids: Sequence[Any], *found: tuple[str, int, int]) -> dict[str, tuple[int, str]]:
    """The repairs of a Report, of (kind, number, the place of the first query); those whose number is not 0."""
    return {kind: (number, f"query {query_ids[place]}") for kind, number, place in found if number}


class Collecting(Settings):
    """Settings with a plan by which a kernel collects ranks and labels instead of metrics.

    The kernel reads the first value of a row as the position of its first hit. It writes the number of hits there, and
    the number of documents into the second value.
    """

    ranks: np.ndarray
    labels: np.ndarray

    def __init__(self, settings: Settings, room: int) -> None:
        self.__dict__.update(settings.__dict__)
        self.ranks, self.labels = np.empty(room + 1, np.int64), np.empty(room + 1, np.int32)
        self.plan = collecting_plan(None, self.ranks, self.labels, MAX_DEPTH)
        self.names, self.label_limits, self.largest_label = [NUM_REL_RET, NUM_RET], [], NO_LIMIT


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


def encode_labels(*columns: np.ndarray) -> tuple[Grades | None, list[np.ndarray]]:
    """Copy labels as int32; real-valued labels become codes."""
    if any(map(has_fractions, columns)):
        return coded(*columns)
    return None, [column.astype(np.int32) for column in columns]
