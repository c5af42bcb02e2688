"""ties_report: the least, the largest and the expected value of each query over the orders of equal scores.

While a run is evaluated, the first and the last rank of each hit's tie are put away. The three tie rules are then
measured from these, of the queries with ties alone: the run is judged once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

import numpy as np

from fastir.data.results.results import Results, remake
from fastir.data.results.ties import TieRange, TieReport
from fastir.engine.columns.rows import occurrences, offsets_from_sizes, repeat, stretches
from fastir.engine.join._judged import judgments, with_ties
from fastir.engine.rank._judged_ranks import JudgedRanks
from fastir.engine.threads import run as run_kernel
from fastir.evaluation.drivers.evaluate_one import PlainEvaluator, RunEvaluator, RunValues
from fastir.evaluation.drivers.judged import with_plan
from fastir.request.compiler import compile_plan
from fastir.request.metric import extreme_by_label
from fastir.request.plan import Settings, compile_settings, has_closed_form

if TYPE_CHECKING:
    from fastir.inputs.files import Watch

BEST, WORST, EXPECTED = "optimistic", "pessimistic", "average"


class Tied(NamedTuple):
    """The hits of the queries with ties, in rank order, the best labels of each tie first; `sizes` of each query."""

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
        prepared.missing_values()  # before it is copied for each run
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
        self.judgments: Any = judgments(prepared.judged)
        self.by_label: np.ndarray = np.array([extreme_by_label(request) for request in shown])

    def measure(
        self, run: Any, n_threads: SupportsIndex | None, watch: Watch | None = None
    ) -> tuple[RunValues, Tied | None]:
        """What `PlainEvaluator.measure` returns, and the documents of queries with ties; None if there are none.

        `run` is in memory: rows in any order are ranked by a join that does not know the ties.
        """
        prepared, judged = self.prepared, self.prepared.judged
        n = prepared.qrels.columns.n_rows
        firsts, lasts, num_ret = np.zeros(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
        labels = np.empty(n, np.int32)
        plan, _ = compile_plan(*prepared.settings.compiled, prepared.settings.grades)
        plan = with_ties(plan, judged, firsts, lasts, num_ret, labels)
        measured = with_plan(prepared, plan).measure(run, n_threads, watch)
        if not measured[3].counts.n_tied_queries:
            return measured, None
        hits = np.flatnonzero(firsts)
        of_hit = np.searchsorted(self.judgments[0], hits, "right") - 1
        largest = np.ones(judged.n_queries, np.int64)
        np.maximum.at(largest, of_hit, lasts[hits] - firsts[hits] + 1)
        tied = largest[of_hit] > 1
        hits, of_hit = hits[tied], of_hit[tied]
        labels = np.maximum(labels[hits], -1)
        places = of_hit * (num_ret[hits].max() + 1) + firsts[hits]  # as two keys are sorted faster than three
        order = np.lexsort((-labels.astype(np.int64), places))
        hits = hits[order]
        queries = np.flatnonzero(largest > 1)
        sizes = occurrences(of_hit, minlength=judged.n_queries)[queries]
        totals = num_ret[self.judgments[0][queries]]
        return measured, Tied(queries, sizes, firsts[hits], lasts[hits], labels[order], totals, largest)

    def values(self, tied: Tied, rule: str, n_threads: SupportsIndex | None) -> np.ndarray:
        """The values of the queries with ties under a rule, a column for each metric of its settings."""
        settings = self.settings[rule]
        ranks, labels = settle(tied, rule)
        offsets, ideals = self.judgments
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
        values = np.stack([plain] * 3, 2)
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


def settle(tied: Tied, rule: str) -> tuple[np.ndarray, np.ndarray]:
    """Ranks and labels in rank order: each tie's best labels at its first ranks, or its worst ones before its last.

    They come with the best labels of each tie first; for the expected value both stay.
    """
    if rule == EXPECTED:
        return tied.firsts, tied.labels
    n = len(tied.labels)
    begins = np.ones(n, bool)
    begins[1:] = tied.lasts[1:] != tied.lasts[:-1]
    begins[np.cumsum(tied.sizes[:-1])] = True  # each of these queries has hits
    starts = np.flatnonzero(begins)
    sizes = np.diff(starts, append=n)
    within = np.arange(n) - repeat(starts, sizes)
    if rule == BEST:
        return tied.firsts + within, tied.labels
    after = repeat(sizes, sizes) - 1 - within
    return tied.lasts - after, tied.labels[np.arange(n) - within + after]
