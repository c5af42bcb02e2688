"""ties_report: the least, the largest and the expected value of each query over the orders of equal scores.

While a run is evaluated, the first and the last rank of each hit's tie are put away. The three tie rules are then
measured from these, of the queries with ties alone: the run is judged once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

import numpy as np

from fastir.data.results.results import Results, set_ties
from fastir.engine.columns.rows import offsets_from_sizes, repeat, stretches
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

Settled = tuple[np.ndarray, np.ndarray]  # ranks and labels
BEST, WORST, EXPECTED = "optimistic", "pessimistic", "average"


class Tied(NamedTuple):
    """The hits of the queries with ties, in rank order, the best labels of each tie first; and their judgments."""

    queries: np.ndarray
    firsts: np.ndarray
    lasts: np.ndarray
    labels: np.ndarray
    num_ret: np.ndarray
    largest: np.ndarray  # of all queries
    offsets: np.ndarray
    ideal_offsets: np.ndarray
    ideals: np.ndarray


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
        self.starts: np.ndarray = self.judgments[0][:-1][np.diff(self.judgments[0]) > 0]
        self.spare: list[tuple[PlainEvaluator, tuple[np.ndarray, ...]]] = []  # what `collector` made, for the next run
        is_whole = settings.options.max_depth is None  # else the order decides which documents count at all
        self.by_label: np.ndarray = np.array([is_whole and extreme_by_label(request) for request in shown])

    def measure(
        self, run: Any, n_threads: SupportsIndex | None, watch: Watch | None = None
    ) -> tuple[RunValues, Tied | None]:
        """What `PlainEvaluator.measure` returns, and the documents of queries with ties; None if there are none.

        `run` is in memory: rows in any order are ranked by a join that does not know the ties.
        """
        try:
            collector, arrays = self.spare.pop()
        except IndexError:
            collector, arrays = self.collector()
        arrays[-1][self.starts] = 0
        measured = collector.measure(run, n_threads, watch)
        tied = self.tied(*arrays) if measured[3].counts.n_tied_queries else None
        self.spare.append((collector, arrays))
        return measured, tied

    def collector(self) -> tuple[PlainEvaluator, tuple[np.ndarray, ...]]:
        """An evaluator that puts the ties of each hit away in arrays, which are the arguments of `tied`."""
        prepared, n = self.prepared, self.prepared.qrels.columns.n_rows
        arrays = tuple(np.empty(n, dtype) for dtype in (np.int64, np.int64, np.int32, np.int64, np.int64))
        plan, _ = compile_plan(*prepared.settings.compiled, prepared.settings.grades)
        return with_plan(prepared, with_ties(plan, prepared.judged, *arrays)), arrays

    def tied(
        self, firsts: np.ndarray, lasts: np.ndarray, labels: np.ndarray, num_ret: np.ndarray, n_hits: np.ndarray
    ) -> Tied:
        """The documents of the queries with ties."""
        n_queries, (offsets, ideals) = self.prepared.judged.n_queries, self.judgments
        found = np.zeros(n_queries, np.int64)
        found[np.diff(offsets) > 0] = n_hits[self.starts]
        hits, borders = stretches(offsets[:-1], found), offsets_from_sizes(found)
        firsts, lasts, labels = firsts[hits], lasts[hits], np.maximum(labels[hits], -1)
        largest = np.ones(n_queries, np.int64)
        largest[found > 0] = np.maximum.reduceat(lasts - firsts + 1, borders[:-1][found > 0])
        queries = np.flatnonzero(largest > 1)
        sizes, n_ideals, totals = found[queries], np.diff(offsets)[queries], num_ret[offsets[queries]]
        if len(queries) < n_queries:
            ideals = ideals[stretches(offsets[queries], n_ideals)]
            kept = stretches(borders[queries], sizes)
            firsts, lasts, labels = firsts[kept], lasts[kept], labels[kept]
        order = by_place(repeat(offsets_from_sizes(totals)[:-1], sizes) + firsts, labels)
        hits_in_order = firsts[order], lasts[order], labels[order]
        ends = offsets_from_sizes(sizes), offsets_from_sizes(n_ideals)
        return Tied(queries, *hits_in_order, totals, largest, *ends, ideals)

    def values(self, tied: Tied, rule: str, settled: Settled, n_threads: SupportsIndex | None) -> np.ndarray:
        """The values of the queries with ties under a rule, a column for each metric of its settings."""
        settings = self.settings[rule]
        values = np.empty((len(tied.queries), len(settings.names)))
        lasts = tied.lasts if rule == EXPECTED else None
        of_hits, of_ideals = (tied.offsets, *settled, tied.num_ret), (tied.ideal_offsets, tied.ideals)
        kernel = JudgedRanks(settings.plan, *of_hits, *of_ideals, values, lasts)
        run_kernel(kernel, n_threads)
        kernel.check()
        return values

    def report(self, results: Results, tied: Tied | None, n_threads: SupportsIndex | None) -> Results:
        """The Results of the run with their report; `tied` is what `measure` found."""
        names, plain = results.names, results.values
        all_ids = self.prepared.judged.query_ids
        values = np.stack([plain] * 3, 2)
        groups = np.ones(len(plain), np.int64)
        if tied is not None:
            by_id = {query_id: row for row, query_id in enumerate(results.query_ids)}
            rows = np.array([by_id.get(all_ids[place], -1) for place in tied.queries.tolist()], np.int64)
            kept = rows >= 0
            rows = rows[kept]
            groups[rows] = tied.largest[tied.queries][kept]
            measured = {
                rule: self.values(tied, rule, of, n_threads)[kept]
                for rule, of in settle(tied).items()
                if rule in self.settings
            }
            best, worst = (measured[rule][:, : len(names)] for rule in (BEST, WORST))
            expected = np.full(best.shape, np.nan)
            if EXPECTED in self.settings:
                closed = [names.index(name) for name in self.settings[EXPECTED].names if name in names]
                expected[:, closed] = measured[EXPECTED][:, : len(closed)]
            low, high = np.fmin(best, worst), np.fmax(best, worst)
            others = ~self.by_label
            for known in (expected, plain[rows]) if others.any() else ():
                low[:, others] = np.fmin(low, known)[:, others]
                high[:, others] = np.fmax(high, known)[:, others]
            values[rows] = np.stack([expected, low, high], 2)
        return set_ties(results, values, groups)


def by_place(places: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The order of hits by their places, and of those of one place by their labels, the best first."""
    most = int(labels.max()) + 2
    if int(places.max() + 1) * most < 2**63:  # one key is sorted faster than two
        return np.argsort(places * most - labels, kind="stable")  # most come nearly in order
    return np.lexsort((-labels.astype(np.int64), places))


def settle(tied: Tied) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Ranks and labels in rank order by rule: each tie's best labels at its first ranks, or its worst before its last.

    They come with the best labels of each tie first; for the expected value both stay.
    """
    n = len(tied.labels)
    begins = np.ones(n, bool)
    np.not_equal(tied.lasts[1:], tied.lasts[:-1], out=begins[1:])
    begins[tied.offsets[:-1]] = True  # each of these queries has hits
    starts = np.flatnonzero(begins)
    ends = np.append(starts[1:], n)
    places, sizes = np.arange(n), ends - starts
    within, opposite = places - repeat(starts, sizes), repeat(starts + ends - 1, sizes) - places
    worst = tied.lasts - (opposite - places + within), tied.labels[opposite]
    return {BEST: (tied.firsts + within, tied.labels), WORST: worst, EXPECTED: (tied.firsts, tied.labels)}
