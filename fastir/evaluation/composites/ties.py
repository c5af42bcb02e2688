"""ties_report: the least, the largest and the expected value of each query over the orders of equal scores.

A run is judged once more, with equal scores left equal: for each judged document the first and the last rank of its
tie. The three tie rules are then measured from these ranks, of the queries with ties alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

import numpy as np

from fastir.data.results.results import Results, remake
from fastir.data.results.ties import TieRange, TieReport
from fastir.data.run import Run
from fastir.engine.columns.rows import offsets_from_sizes, stretches
from fastir.engine.join._judged import collecting_plan, judgments
from fastir.engine.rank._judged_ranks import JudgedRanks
from fastir.engine.threads import run as run_kernel
from fastir.evaluation.drivers.evaluate_one import PlainEvaluator, RunEvaluator, RunValues, measure_together
from fastir.evaluation.drivers.judged import used_slots, with_plan, without_plan
from fastir.inputs.shapes import DICTS, input_shape
from fastir.request.metric import extreme_by_label
from fastir.request.options import MAX_DEPTH, TIES
from fastir.request.plan import Settings, compile_settings, has_closed_form

if TYPE_CHECKING:
    from fastir.inputs.files import Watch

BEST, WORST, EXPECTED = "optimistic", "pessimistic", "average"


class Tied(NamedTuple):
    """The judged documents of the queries with ties: `sizes` of each query, first and last rank of each tie."""

    queries: np.ndarray
    sizes: np.ndarray
    firsts: np.ndarray
    lasts: np.ndarray
    labels: np.ndarray
    num_ret: np.ndarray
    largest: np.ndarray


class TieMeasurer:
    """Measures runs together with what the order of equal scores could change."""

    def __init__(self, prepared: RunEvaluator, has_custom: bool) -> None:
        if has_custom or not isinstance(prepared, PlainEvaluator):
            what = "metrics of your own" if has_custom else "metrics or judgments with rules of their own"
            raise ValueError(f"ties_report: {what} have no report of ties; evaluate the others with it")
        self.prepared: PlainEvaluator = prepared
        self.collector: PlainEvaluator = without_plan(prepared)
        settings = prepared.settings
        shown = settings.requests[: settings.n_shown]
        closed = [
            request.text
            for request, values in zip(shown, settings.values, strict=False)
            if has_closed_form(request, values, settings.options.max_depth)
        ]
        self.settings: dict[str, Settings] = {}
        for rule, names in ((BEST, settings.metrics), (WORST, settings.metrics), (EXPECTED, tuple(closed))):
            if names:
                ruled = compile_settings(names, settings.options.replace(ties=rule))
                self.settings[rule] = ruled.for_grades(settings.grades)
        self.reads: int = max(settings.plan.reads, *(each.plan.reads for each in self.settings.values()))
        self.by_label = np.array([extreme_by_label(request) for request in shown])

    def measure(
        self, run: Any, n_threads: SupportsIndex | None, watch: Watch | None = None
    ) -> tuple[RunValues, Tied | None]:
        """What `PlainEvaluator.measure` returns, and the documents of queries with ties; None if there are none.

        `run` is in memory, as it may be read twice.
        """
        prepared, judged = self.prepared, self.prepared.judged
        n = prepared.qrels.columns.n_rows
        firsts, lasts, labels = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int32)
        plan = collecting_plan(judged, firsts, labels, MAX_DEPTH, self.reads, lasts)
        collector = with_plan(self.collector, plan)
        collector.settings.ties = TIES.index(EXPECTED)
        if prepared.parents is None and input_shape(run, Run) == DICTS:
            measured, collected = measure_together([(prepared, None), (collector, None)], run)
        else:
            measured = prepared.measure(run, n_threads, watch)
            if not measured[3].counts.n_tied_queries:
                return measured, None
            collected = collector.measure(run, n_threads)
        sizes, num_ret = collected[1].T.astype(np.int64, "C")
        ideal_offsets, _ = judgments(judged)
        kept = used_slots(ideal_offsets, sizes)
        firsts, lasts, labels = firsts[kept], lasts[kept], labels[kept]
        of_hit = np.repeat(np.arange(len(sizes)), sizes)
        largest = np.ones(len(sizes), np.int64)
        np.maximum.at(largest, of_hit, lasts - firsts + 1)
        queries = np.flatnonzero(largest > 1)
        if not len(queries):
            return measured, None
        tied = largest[of_hit] > 1
        hits = firsts[tied], lasts[tied], labels[tied]
        return measured, Tied(queries, sizes[queries], *hits, num_ret[queries], largest)

    def values(self, tied: Tied, rule: str, n_threads: SupportsIndex | None) -> np.ndarray:
        """The values of the queries with ties under a rule, a column for each metric of its settings."""
        settings = self.settings[rule]
        of_hit = np.repeat(np.arange(len(tied.sizes)), tied.sizes)
        ranks, labels = settle(of_hit, tied, rule)
        offsets, ideals = judgments(self.prepared.judged)
        n_ideals = np.diff(offsets)[tied.queries]
        ideals = ideals[stretches(offsets[tied.queries], n_ideals)]
        values = np.empty((len(tied.sizes), len(settings.names)))
        ends = offsets_from_sizes(tied.sizes), offsets_from_sizes(n_ideals)
        lasts = tied.lasts if rule == EXPECTED else None
        kernel = JudgedRanks(settings.plan, ends[0], ranks, labels, tied.num_ret, ends[1], ideals, values, lasts)
        run_kernel(kernel, n_threads)
        kernel.check()
        return values

    def report(self, results: Results, tied: Tied | None, n_threads: SupportsIndex | None) -> TieReport:
        """The report on Results of the run; `tied` is what `measure` found."""
        names, plain = results.names, results.values
        all_ids = self.prepared.judged.query_ids
        values = np.repeat(plain[:, :, None], 3, 2)
        groups = np.ones(len(plain), np.int64)
        open_form: list[int] = []
        if tied is not None:
            places = np.full(len(all_ids), -1)
            by_id = {query_id: row for row, query_id in enumerate(results.query_ids)}
            places[:] = [by_id.get(query_id, -1) for query_id in all_ids]
            kept = places[tied.queries] >= 0
            rows = places[tied.queries][kept]
            groups[rows] = tied.largest[tied.queries][kept]
            best, worst = (self.values(tied, rule, n_threads)[kept][:, : len(names)] for rule in (BEST, WORST))
            expected = np.full(best.shape, np.nan)
            if EXPECTED in self.settings:
                closed = [names.index(name) for name in self.settings[EXPECTED].names if name in names]
                expected[:, closed] = self.values(tied, EXPECTED, n_threads)[kept][:, : len(closed)]
            open_form = [column for column, name in enumerate(names) if not self.is_closed(name)] if len(rows) else []
            low, high = np.fmin(best, worst), np.fmax(best, worst)
            others = ~self.by_label
            for known in (expected, plain[rows]):
                low[:, others] = np.fmin(low, known)[:, others]
                high[:, others] = np.fmax(high, known)[:, others]
            values[rows] = np.stack([expected, low, high], 2)
        means = [remake(results, np.ascontiguousarray(values[:, :, place])) for place in range(3)]
        ranges = []
        for column, name in enumerate(names):
            expected_mean, lowest, highest = (each[name] for each in means)
            expected_mean = float("nan") if column in open_form else expected_mean
            n_queries = int((values[:, column, 2] > values[:, column, 1]).sum())
            bias, apart = results[name] - expected_mean, highest - lowest
            largest = int(groups.max(initial=1))
            ranges.append(TieRange(name, expected_mean, lowest, highest, apart, bias, n_queries, largest))
        return TieReport(ranges, results.query_ids, values, plain - values[:, :, 0], groups)

    def is_closed(self, name: str) -> bool:
        """Whether the expected value of a metric has a closed form here."""
        return EXPECTED in self.settings and name in self.settings[EXPECTED].names


def settle(of_hit: np.ndarray, tied: Tied, rule: str) -> tuple[np.ndarray, np.ndarray]:
    """Ranks and labels in rank order: the best labels of each tie first, or the worst last; first ranks if expected."""
    labels = np.maximum(tied.labels, -1)
    sign = 1 if rule == WORST else -1
    order = np.lexsort((sign * labels.astype(np.int64), tied.lasts, of_hit))
    labels = labels[order]
    if rule == EXPECTED:
        return tied.firsts, labels
    new = np.ones(len(labels), bool)
    new[1:] = (of_hit[1:] != of_hit[:-1]) | (tied.lasts[1:] != tied.lasts[:-1])
    starts = np.flatnonzero(new)
    sizes = np.diff(np.append(starts, len(labels)))
    within = np.arange(len(labels)) - np.repeat(starts, sizes)
    if rule == BEST:
        return tied.firsts + within, labels
    return tied.lasts - np.repeat(sizes, sizes) + 1 + within, labels
