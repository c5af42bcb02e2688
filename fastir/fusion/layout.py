"""Layout: what documents count in each run, laid out once for all settings; and how well a setting ranks a query.

    runs ── chunks of queries ──▶ documents in the order of ids ──▶ features, ranks
                                            │ judged as a run, by the join
                                            ▼
                                  positions and labels of the judged ones

A chunk's ids are let go once it is judged: what stays are numbers, of about the size of the runs' scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fastir.columns.rows import offsets_from_sizes
from fastir.errors import NoOverlapError, quote, warn_caller
from fastir.evaluation.evaluator import Evaluator
from fastir.fusion._trials import Trials
from fastir.fusion.cards import Method
from fastir.fusion.settings import Setting, recipes
from fastir.fusion.united import SIGNS, United, arrays_of_ids
from fastir.measure import NUM_Q
from fastir.measure._grades import coded
from fastir.qrels import Qrels
from fastir.rankings import JudgedRankings
from fastir.request.fixed_order import RULES, compile_fixed
from fastir.request.options import WHOLE, Options
from fastir.request.plan import Settings
from fastir.results.report import Report
from fastir.runs.judged import covered
from fastir.threads import run


class Layout:
    """Runs and judgments, laid out for a method.

    Attributes
    ----------
    judged : JudgedRankings
        With all queries of the qrels; ranks are positions from 1 in the order in which ties are decided.
    sizes : int64 array of shape (n_runs, n_queries)
        How long each ranking is.
    slots : int64 array of shape (n_queries,)
        Where each query's documents begin in the following.
    features : float64 array of shape (n_runs, n_slots)
        What each document counts; only what settings share, and no slots if they share nothing.
    places : int32 array of shape (n_runs, n_slots)
        Ranks from 0, and the length of the ranking for a document that it lacks; no slots if they are not needed.
    """

    def __init__(self, qrels: Qrels, runs: United, card: Method, norm: str | None, ties: Any, n_threads: Any) -> None:
        self.card, self.norm, self.runs, self.n_threads = card, norm, runs, n_threads
        evaluator = Evaluator(qrels, NUM_Q, queries="qrels", ties=None if ties == "input" else ties)
        places = {query_id: place for place, query_id in enumerate(runs.query_ids)}
        where = np.array([places.get(query_id, -1) for query_id in qrels], np.int64)
        missing = where < 0
        if missing.all():
            ours, theirs = (quote(next(iter(ids), None)) for ids in (qrels, runs.query_ids))
            raise NoOverlapError(f"no run has a query of the qrels: {ours} in the qrels, {theirs} in the runs")
        placed = (np.ascontiguousarray(np.where(missing, 0, a[:, where])) for a in (runs.firsts, runs.sizes))
        runs.firsts, runs.sizes = placed
        runs.query_ids = list(qrels)
        self.sizes = runs.sizes
        varying = card.table is not None and card.factors is None
        shared = not varying and card.rule != "majority"
        shape = len(runs.names), int(self.sizes.sum())  # more than the documents are: the rest is never touched
        self.features = np.empty(shape if shared or card.feature == "segments" else (shape[0], 0))
        self.places = np.empty(shape if varying or card.rule == "majority" else (shape[0], 0), np.int32)
        kept = card._replace(params=(), factors=None)
        if not shared:
            kept = kept._replace(feature="score", table=None, absent=0.0)
        own = None if card.feature == "segments" and norm == "borda" else norm  # for which the method reads ranks
        recipe = recipes(kept, own, [Setting(None, {})], shape[0], runs.longest)
        chunks, n = [], 0
        for first, stop, kernel in runs.parts(recipe, SIGNS[ties], WHOLE, n_threads, True):
            counts = kernel.counts[first:stop]
            n_docs, n_bytes = int(counts.sum()), int(kernel.n_bytes[first:stop].sum())
            text, starts, scores = arrays_of_ids(n_docs, n_bytes)
            starts[n_docs] = n_bytes
            views: Any = [whole[:, n:] if whole.size else None for whole in (self.features, self.places)]
            kernel.copy_to(text, starts, scores, 0, 0, *views)
            run(kernel, n_threads)
            together = runs.run(slice(first, stop), counts, text, starts, scores)
            chunks.append(rows_of(covered(evaluator._prepared, together, n_threads)[0], first, stop))
            n += n_docs
        self.judged = put_together(chunks, missing, ties)
        self.slots = offsets_from_sizes(self.judged.num_ret)
        if not len(self.judged.ranks):
            warn_caller("no run has a judged document: all settings are worth the same")

    def compiled(self, metric: str, options: Options) -> Settings:
        """The Settings of one metric.

        Raises
        ------
        ValueError, UnknownMetricError, OverflowError
            As by `JudgedRankings.evaluate`.
        """
        [(_, settings)] = compile_fixed((metric,), options, {name: getattr(self.judged, name) for name in RULES})[1]
        if settings.label_limits:
            self.judged._check_labels(settings.label_limits)
        return settings

    def measured(
        self, compiled: Settings, settings: Sequence[Setting], queries: np.ndarray, chosen: np.ndarray
    ) -> np.ndarray:
        """The value of each query in the setting beside it: float64 array of shape (n_rows,)."""
        labels, ideal_labels = self.judged.labels, self.judged.ideal_labels
        if ideal_labels.dtype != np.int32:
            grades, (labels, ideal_labels) = coded(labels, ideal_labels)
            compiled = compiled.for_grades(grades)
        values = np.empty((len(queries), 1))
        recipe = recipes(self.card, self.norm, settings, len(self.runs.names), self.runs.longest)
        kernel = Trials(
            *(compiled.plan, recipe, self.features, self.places, self.slots, self.judged.num_ret, self.sizes),
            *(self.judged.offsets, self.judged.ranks - 1, labels, self.judged.ideal_offsets, ideal_labels),
            *(queries.astype(np.int32), chosen.astype(np.int32), values),
        )
        run(kernel, self.n_threads)
        kernel.check()
        return values[:, 0]

    def table(self, compiled: Settings, settings: Sequence[Setting]) -> np.ndarray:
        """The value of each query in each setting: float64 array of shape (n_queries, n_settings)."""
        n_queries, n = len(self.judged), len(settings)
        queries, chosen = np.repeat(np.arange(n_queries), n), np.tile(np.arange(n), n_queries)
        return self.measured(compiled, settings, queries, chosen).reshape(n_queries, n)


def rows_of(judged: JudgedRankings, begin: int, end: int) -> dict[str, Any]:
    """The arrays of some queries, with sizes in the place of offsets."""
    hits = slice(judged.offsets[begin], judged.offsets[end])
    ideal = slice(judged.ideal_offsets[begin], judged.ideal_offsets[end])
    return {
        "query_ids": judged.query_ids[begin:end],
        "offsets": np.diff(judged.offsets[begin : end + 1]),
        "ranks": judged.ranks[hits],
        "labels": judged.labels[hits],
        "num_ret": judged.num_ret[begin:end],
        "ideal_offsets": np.diff(judged.ideal_offsets[begin : end + 1]),
        "ideal_labels": judged.ideal_labels[ideal],
    }


def put_together(chunks: list[dict[str, Any]], missing: np.ndarray, ties: Any) -> JudgedRankings:
    arrays = {name: np.concatenate([chunk[name] for chunk in chunks]) for name in chunks[0] if name != "query_ids"}
    for name in ("offsets", "ideal_offsets"):
        arrays[name] = offsets_from_sizes(arrays[name])
    arrays["missing"] = missing
    query_ids = [query_id for chunk in chunks for query_id in chunk["query_ids"]]
    report = Report(in_both=int((~missing).sum()))
    return JudgedRankings._of(query_ids, arrays, None if ties == "input" else ties, None, None, report)
