"""Layout: what documents count in each run, laid out once for all settings; and how well a setting ranks a query.

    runs ── chunks of queries ──▶ documents in the order of ids ──▶ lists: run, feature, rank
                                            │ judged as a run, by the join
                                            ▼
                                  positions and labels of the judged ones

A chunk's ids are let go once it is judged: what stays are numbers, of about the size of the runs' scores.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from fastir.analyses.fusion._trials import TrialValues
from fastir.analyses.fusion.cards import SEGMENTS, Method
from fastir.analyses.fusion.fuse import TIE_SIGNS, RunSet, empty_columns
from fastir.analyses.fusion.settings import Setting, recipes
from fastir.data.qrels import Qrels
from fastir.data.rankings import JudgedRankings, check_rankings, first_fraction, make_rankings
from fastir.data.results.report import Report
from fastir.engine.columns.rows import list_of_each, occurrences, offsets_from_sizes, repeat, sums
from fastir.engine.measure import NUM_Q
from fastir.engine.measure._grades import coded
from fastir.engine.threads import run
from fastir.errors import NoOverlapError, quote, warn_caller
from fastir.evaluation.drivers.judged import RunJudge
from fastir.evaluation.evaluator import Evaluator
from fastir.request.options import MAX_DEPTH, Options
from fastir.request.plan import ORDER_RULES, Settings, compile_fixed


class Layout:
    """Runs and judgments, laid out for a method."""

    card: Method
    norm: str | None
    runs: RunSet
    n_threads: Any
    score_dtype: str
    sizes: np.ndarray
    lists: tuple[np.ndarray, ...]
    left_out: np.ndarray
    judged: JudgedRankings

    def __init__(
        self,
        qrels: Qrels,
        runs: RunSet,
        card: Method,
        norm: str | None,
        ties: Any,
        n_threads: Any,
        score_dtype: str = "float64",
        exclude: str | None = None,
    ) -> None:
        self.card, self.norm, self.runs, self.n_threads, self.score_dtype = card, norm, runs, n_threads, score_dtype
        rule = None if ties == "input" else ties
        evaluator = Evaluator(qrels, NUM_Q, queries="qrels", ties=rule)
        places = {query_id: place for place, query_id in enumerate(runs.query_ids)}
        where = np.array([places.get(query_id, -1) for query_id in qrels], np.int64)
        missing = where < 0
        if missing.all():
            ours, theirs = (quote(next(iter(ids), None)) for ids in (qrels, runs.query_ids))
            raise NoOverlapError(f"no run has a query of the qrels: {ours} in the qrels, {theirs} in the runs")
        placed = (np.ascontiguousarray(np.where(missing, 0, a[:, where])) for a in (runs.firsts, runs.sizes))
        runs.firsts, runs.sizes = placed
        runs.query_ids = list(qrels)
        self.sizes = runs.sizes  # int64 of shape (n_runs, n_queries): how long each ranking is
        varying = card.table is not None and card.factors is None
        n_rows = int(self.sizes.sum())
        # where the rows of each document begin, and of each row its document, its run, what it counts and its rank
        # from 0; no slots for what settings do not share or read
        self.lists = (
            *(np.empty(n_rows + len(qrels), np.int32), np.empty(n_rows, np.int32), np.empty(n_rows, np.int32)),
            np.empty(n_rows if not varying or card.feature == "segments" else 0),
            np.empty(n_rows if varying else 0, np.int32),
        )
        kept = card._replace(param=None, factors=None)
        if varying:
            kept = kept._replace(feature="score", table=None, learnt="")
        norm_of_ranks = None if card.feature == "segments" and norm == "borda" else norm  # the method reads ranks
        recipe = recipes(kept, norm_of_ranks, [Setting(None, {})], len(runs.names), runs.longest)
        # only the document that is called like its query is judged
        own_documents = {query_id: {str(query_id): 1} for query_id in qrels}
        own = None if exclude is None else Evaluator(own_documents, NUM_Q, queries="qrels", ties=rule)
        chunks, left_out = [], [np.full(0 if own else len(qrels), -1)]
        for queries, kernel in runs.parts(recipe, TIE_SIGNS[ties], MAX_DEPTH, n_threads, self.lists):
            counts = kernel.counts[queries]
            n_docs, n_bytes = int(counts.sum()), int(kernel.n_bytes[queries].sum())
            columns = empty_columns(n_docs, n_bytes)
            columns[1][n_docs] = n_bytes
            kernel.copy_to(*columns, 0, 0)
            run(kernel, n_threads)
            fused = runs.as_run(queries, counts, *columns)
            chunks.append(
                arrays_of_queries(RunJudge(evaluator.rules.prepared).with_coverage(fused, n_threads)[0], queries)
            )
            if own is not None:
                found = RunJudge(own.rules.prepared).with_coverage(fused, n_threads)[0]
                left_out.append(positions_of_own(found, queries))
        arrays = {name: np.concatenate([chunk[name] for chunk in chunks]) for name in chunks[0]}
        for name in ("offsets", "ideal_offsets"):
            arrays[name] = offsets_from_sizes(arrays[name])
        self.left_out = np.concatenate(left_out)  # positions from 0 of the documents that do not count, or -1
        take_out(arrays, self.left_out)
        report = Report(in_both=int((~missing).sum()))
        arrays["missing"] = missing
        # of all queries; a rank is a position from 1 in the order in which ties are decided
        self.judged = make_rankings(JudgedRankings, runs.query_ids, arrays, ties, score_dtype, None, report)
        if not len(self.judged.ranks):
            warn_caller("no run has a judged document: all settings are worth the same")

    def compile(self, metric: str, options: Options) -> Settings:
        """The Settings of one metric."""
        [(_, settings)] = compile_fixed((metric,), options, {name: getattr(self.judged, name) for name in ORDER_RULES})[
            1
        ]
        if settings.label_limits:
            check_rankings(self.judged, settings.label_limits)
        return settings

    def table(self, compiled: Settings, settings: Sequence[Setting]) -> np.ndarray:
        """The value of each query in each setting: float64 array of shape (n_queries, n_settings)."""
        labels, ideal_labels = self.judged.labels, self.judged.ideal_labels
        if ideal_labels.dtype != np.int32:
            grades, (labels, ideal_labels) = coded(labels, ideal_labels)
            compiled = compiled.for_grades(grades, functools.partial(first_fraction, self.judged))
        values = np.empty((len(self.judged) * len(settings), 1))
        recipe = recipes(self.card, self.norm, settings, len(self.runs.names), self.runs.longest)
        kernel = TrialValues(
            *(compiled.plan, recipe, len(settings), *self.lists, self.sizes),
            *(compiled.single and self.judged.ties != "input", self.left_out),  # fused runs are in the order of scores
            *(self.judged.num_ret, self.judged.offsets, self.judged.ranks - 1, labels),
            *(self.judged.ideal_offsets, ideal_labels, values),
        )
        run(kernel, self.n_threads)
        kernel.check()
        return values.reshape(len(self.judged), len(settings))


def positions_of_own(judged: JudgedRankings, queries: slice) -> np.ndarray:
    """The position from 0 of the judged document of each of these queries; -1 if it is not in the ranking."""
    found = np.diff(judged.offsets)[queries] > 0
    positions = np.full(len(found), -1)
    positions[found] = judged.ranks[judged.offsets[:-1][queries][found]] - 1
    return positions


def take_out(arrays: dict[str, Any], left_out: np.ndarray) -> None:
    """Take the documents at these positions out of what is judged in each ranking."""
    rows = list_of_each(arrays["offsets"])
    kept = arrays["ranks"] - 1 != left_out[rows]
    if not kept.all():
        arrays["offsets"] = offsets_from_sizes(occurrences(rows[kept], minlength=len(left_out)))
        arrays["ranks"], arrays["labels"] = arrays["ranks"][kept], arrays["labels"][kept]


def arrays_of_queries(judged: JudgedRankings, queries: slice) -> dict[str, Any]:
    """The arrays of some queries, with sizes instead of offsets."""
    hits = slice(judged.offsets[queries.start], judged.offsets[queries.stop])
    ideal = slice(judged.ideal_offsets[queries.start], judged.ideal_offsets[queries.stop])
    return {
        "offsets": np.diff(judged.offsets)[queries],
        "ranks": judged.ranks[hits],
        "labels": judged.labels[hits],
        "num_ret": judged.num_ret[queries],
        "ideal_offsets": np.diff(judged.ideal_offsets)[queries],
        "ideal_labels": judged.ideal_labels[ideal],
    }


# ---- what methods learn from judgments -------------------------------------------------------------------------------
BAYES_RANKS = np.array((0, 5, 10, 15, 20, 30, 100, 200, 500, 1000))  # between which BayesFuse counts
MIN_PROBABILITY = 0.001  # the probability that replaces 0 in its odds


class Learner:
    """The relevant documents of each run by query and rank, from which any set of queries can learn."""

    def __init__(self, layout: Layout, card: Method, level: float) -> None:
        self.card: Any = card
        self.sizes: np.ndarray = layout.sizes
        if not card.learnt:
            return
        judged = layout.judged
        relevant = judged.labels >= level
        queries = list_of_each(judged.offsets)[relevant]
        self.num_rel: np.ndarray = sums(judged.ideal_labels >= level, judged.ideal_offsets)
        starts, _, run_of_row, _, rank_of_row = layout.lists
        bases = offsets_from_sizes(self.sizes.sum(0))[queries]
        documents = bases + queries + judged.ranks[relevant] - 1
        first, n_rows = bases + starts[documents], np.diff(starts)[documents]
        rows = repeat(first - offsets_from_sizes(n_rows)[:-1], n_rows) + np.arange(n_rows.sum())
        of_run, queries, ranks = run_of_row[rows], repeat(queries, n_rows), rank_of_row[rows].astype(np.int64)
        order = np.lexsort((ranks, queries, of_run))
        ends = np.cumsum(occurrences(of_run, minlength=len(self.sizes)))[:-1]
        self.hits: list[Any] = list(zip(np.split(queries[order], ends), np.split(ranks[order], ends), strict=True))

    def teach(self, settings: list[Setting], chosen: np.ndarray) -> list[Setting]:
        """The settings with what the queries where `chosen` is True teach; the same where there is nothing to learn."""
        if not self.card.learnt:
            return settings
        lists: dict[Any, list[Any]] = {}  # what is learnt depends on the number of parts alone
        taught = []
        for _, params in settings:
            rest = dict(params)
            parts = rest.pop("n_segments", None)
            if parts not in lists:
                lists[parts] = [
                    self.learn(queries[chosen[queries]], ranks[chosen[queries]], sizes, chosen, parts)
                    for (queries, ranks), sizes in zip(self.hits, self.sizes, strict=True)
                ]
            taught.append(Setting(None, {**rest, self.card.learnt: lists[parts]}))
        return taught

    def learn(self, queries: np.ndarray, ranks: np.ndarray, sizes: np.ndarray, chosen: np.ndarray, parts: Any) -> Any:
        """What the hits of one run teach."""
        name, n = self.card.name, int(chosen.sum())
        if name == "mapfuse":
            first = np.searchsorted(queries, queries)  # the position of each query's first hit
            precision = (np.arange(len(queries)) - first + 1) / (ranks + 1)
            return float(np.sum(precision / self.num_rel[queries]) / n)
        if name in ("posfuse", "slidefuse"):
            longer = occurrences(sizes[chosen])[::-1].cumsum()[::-1][1:]  # how many rankings have each rank
            return occurrences(ranks, minlength=len(longer)) / longer if len(longer) else np.zeros(1)
        if name == "probfuse":
            size = np.maximum(-(-sizes[queries] // parts), 1)
            part = ranks // size
            within = np.minimum((part + 1) * size, sizes[queries]) - part * size
            return occurrences(part, 1.0 / within, parts) / n
        edges = np.cumsum([0, *SEGMENTS]) if name == "segfuse" else BAYES_RANKS
        segment = np.searchsorted(edges, ranks[ranks < edges[-1]], "right") - 1
        share = occurrences(segment, minlength=len(edges) - 1) / (np.diff(edges) * float(n))
        if name == "segfuse":
            return share
        likely = np.where(share == 0, MIN_PROBABILITY, share)
        return repeat(np.log(likely / np.where(likely == 1, MIN_PROBABILITY, 1 - likely)), np.diff(BAYES_RANKS))
