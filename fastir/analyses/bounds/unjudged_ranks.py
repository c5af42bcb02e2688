"""Rankings with their unjudged documents: what is judged and where the others are, for blocks of queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastir.analyses.bounds._labelings import UNJUDGED
from fastir.data.qrels import Qrels
from fastir.data.run import repeated_run
from fastir.engine.columns.rows import list_of_each, occurrences, offsets_from_sizes, repeat, sums
from fastir.engine.measure import NUM_RET
from fastir.evaluation.drivers.judged import RunJudge
from fastir.evaluation.evaluator import Evaluator

if TYPE_CHECKING:
    from fastir.data.rankings import JudgedRankings
    from fastir.data.run import Run

BLOCK_DOCUMENTS = 1 << 20  # ranked documents of a block of queries


class UnjudgedRanks(NamedTuple):
    """The rankings of a block of queries: judged and unjudged documents."""

    offsets: np.ndarray  # int64 of shape (n_queries + 1,)
    # int64 and int32 of shape (n_slots,): judged and unjudged documents, by rank; the label of an unjudged document is
    # UNJUDGED
    ranks: np.ndarray
    labels: np.ndarray
    num_ret: np.ndarray  # int64 of shape (n_queries,)
    unseen: np.ndarray  # int64 of shape (n_queries,): unjudged documents at no rank of these slots
    # int64 of shape (n_queries + 1,), int32 array: the labels of the query that no labeling changes, best first
    judged_offsets: np.ndarray
    judged_labels: np.ndarray

    @property
    def n_queries(self) -> int:
        return len(self.num_ret)

    def count_unjudged(self, cutoff: int) -> np.ndarray:
        """How many unjudged documents each query has at the ranks up to a cutoff."""
        return sums((self.labels == UNJUDGED) & (self.ranks <= cutoff), self.offsets)

    def cut(self, cutoff: int) -> UnjudgedRanks:
        """These rankings without the ranks beyond a cutoff; unjudged documents there become unseen."""
        kept = self.ranks <= cutoff
        if kept.all():
            return self
        beyond = sums((self.labels == UNJUDGED) & ~kept, self.offsets)
        offsets = offsets_from_sizes(sums(kept, self.offsets))
        return self._replace(
            offsets=offsets, ranks=self.ranks[kept], labels=self.labels[kept], unseen=self.unseen + beyond
        )

    def count_judged_from(self, label: int) -> np.ndarray:
        """How many judged documents of each query have at least this label."""
        return sums(self.judged_labels >= label, self.judged_offsets)


def positions(sizes: np.ndarray) -> np.ndarray:
    """0, 1, 2, ... within each segment of these sizes."""
    return np.arange(int(sizes.sum()), dtype=np.int64) - repeat(np.cumsum(sizes) - sizes, sizes)


def blocks(num_ret: np.ndarray) -> list[tuple[int, int]]:
    """Ranges of queries that together have about BLOCK_DOCUMENTS documents."""
    block = np.cumsum(num_ret) // BLOCK_DOCUMENTS
    starts = np.flatnonzero(np.concatenate([[True], np.diff(block) > 0])[: len(num_ret)])
    return list(zip(starts.tolist(), [*starts[1:].tolist(), len(num_ret)], strict=True))


class Hits(NamedTuple):
    """Documents of a block of queries: rows from 0 up, and for each row rising ranks; with their labels."""

    rows: np.ndarray
    ranks: np.ndarray
    labels: np.ndarray

    def select(self, kept: np.ndarray) -> Hits:
        return self if kept.all() else Hits(*(array[kept] for array in self))


class Places(NamedTuple):
    """Where the unjudged documents of a block of queries are."""

    rows: np.ndarray  # int64 of shape (n_unjudged,): as in Hits
    ranks: np.ndarray
    unseen: np.ndarray  # int64 of shape (n_queries,): unjudged documents that are not in the ranking
    negative: np.ndarray  # int64 of shape (n_queries,): how many unjudged documents have a negative label in the qrels


def judged_hits(judged: JudgedRankings, block: tuple[int, int], max_depth: int) -> Hits:
    """The judged documents of a block at ranks to `max_depth`, also those with negative labels."""
    start, stop = block
    entries = slice(judged.offsets[start], judged.offsets[stop])
    rows = list_of_each(judged.offsets[start : stop + 1])
    hits = Hits(rows, judged.ranks[entries], judged.labels[entries])
    return hits.select(hits.ranks <= max_depth)


def unjudged_documents(hits: Hits, num_ret: np.ndarray, depth: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows and ranks of all unjudged documents down to a depth."""
    deepest = np.minimum(num_ret, depth)
    offsets = offsets_from_sizes(deepest)
    judged = hits.select((hits.labels >= 0) & (hits.ranks <= deepest[hits.rows]))
    unjudged = np.ones(offsets[-1], bool)
    unjudged[offsets[judged.rows] + judged.ranks - 1] = False
    unjudged_offsets, ranks, _ = marked_ranks(unjudged, offsets)
    return list_of_each(unjudged_offsets), ranks


def marked_ranks(marked: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The marked ranks, one query after the other: where each query begins, their ranks and their positions."""
    places = np.flatnonzero(marked)
    starts = np.searchsorted(places, offsets)
    return starts, places - repeat(offsets[:-1], np.diff(starts)) + 1, places


def unjudged_places(
    judged: JudgedRankings, block: tuple[int, int], depth: int, max_depth: int, unseen: int = 0
) -> Places:
    """The unjudged documents of one ranking of each query, and of so many documents outside it."""
    hits, num_ret = judged_hits(judged, block, max_depth), np.minimum(judged.num_ret[slice(*block)], max_depth)
    rows, ranks = unjudged_documents(hits, num_ret, depth)
    negative = hits.select((hits.labels < 0) & (hits.ranks <= depth)).rows
    outside = np.full(len(num_ret), unseen, np.int64)
    return Places(rows, ranks, outside, occurrences(negative, minlength=len(num_ret)))


def unjudged_ranks(
    judged: JudgedRankings, block: tuple[int, int], unjudged: Places, max_depth: int, judged_only: bool
) -> UnjudgedRanks:
    """The rankings of a block with their unjudged documents, by the options.

    Rankings are cut at `max_depth`; with `judged_only` unjudged documents below the depth are left out.
    """
    start, stop = block
    num_ret = np.minimum(judged.num_ret[start:stop], max_depth)
    hits = judged_hits(judged, block, max_depth)
    if judged_only:
        hits = hits.select(hits.labels >= 0)
    offsets = offsets_from_sizes(num_ret)
    by_rank, is_slot = np.empty(offsets[-1], np.int32), np.zeros(offsets[-1], bool)
    for side, side_labels in ((hits, hits.labels), (unjudged, UNJUDGED)):  # it replaces its negative label
        at = offsets[side.rows] + side.ranks - 1
        by_rank[at], is_slot[at] = side_labels, True
    starts, ranks, slots = marked_ranks(is_slot, offsets)
    labels, sizes = by_rank[slots], np.diff(starts)
    if judged_only:
        num_ret, ranks = sizes, positions(sizes) + 1
    ideal = judged.ideal_labels[judged.ideal_offsets[start] : judged.ideal_offsets[stop]]
    ideal_sizes = np.diff(judged.ideal_offsets[start : stop + 1])
    judged_sizes = ideal_sizes - unjudged.negative
    return UnjudgedRanks(
        *(offsets_from_sizes(sizes), ranks, labels, num_ret.astype(np.int64), unjudged.unseen),
        *(offsets_from_sizes(judged_sizes), ideal[positions(ideal_sizes) < repeat(judged_sizes, ideal_sizes)]),
    )


# ---- two runs --------------------------------------------------------------------------------------------------------
ABSENT_RANK = 1 << 62  # the rank of a document that is not in the ranking


class SharedDocuments(NamedTuple):
    """The documents that two runs have in common: their rows and ranks in each, by rows."""

    rows: np.ndarray
    first: np.ndarray
    second: np.ndarray


class RunPairs(NamedTuple):
    """The unjudged documents of a block of queries in two runs; the first ones are in the order of the first run."""

    rows: np.ndarray  # int64 of shape (n_unjudged,): the rank is ABSENT if the document is not in the run
    first: np.ndarray
    second: np.ndarray
    negative: np.ndarray  # int64 of shape (n_queries,): how many of them have a negative label

    def ranks(self, second: bool) -> np.ndarray:
        """The ranks in one of the runs."""
        return self.second if second else self.first

    def order(self, second: bool) -> np.ndarray:
        """The unjudged documents by query and by rank in one of the runs; documents without a rank come last."""
        return np.lexsort((self.ranks(second), self.rows))

    def places(self, second: bool, n_queries: int) -> Places:
        """Where one of the runs has them."""
        order = self.order(second)
        seen = order[self.ranks(second)[order] != ABSENT_RANK]
        rows = self.rows[seen]
        unseen = occurrences(self.rows, minlength=n_queries) - occurrences(rows, minlength=n_queries)
        return Places(rows, self.ranks(second)[seen], unseen, self.negative)


def find_shared(first: Run, second: Run, judged: JudgedRankings) -> SharedDocuments:
    """The documents that both runs rank for a query of judged rankings, by the same rules as these."""
    by_text = {str(query_id): query_id for query_id in second}
    names = [(query_id, by_text[str(query_id)]) for query_id in judged.query_ids if str(query_id) in by_text]
    renamed = repeated_run(second, names)
    ids, offsets, _ = renamed.columns.arrays()
    numbers = (positions(np.diff(offsets)) + 1).astype(np.int32)
    numbered = Qrels(list(renamed), offsets, ids, numbers)  # a label is a row of the second run
    rules: dict[str, Any] = {"ties": judged.ties, "score_dtype": judged.score_dtype, "queries": "qrels"}
    judge = RunJudge(Evaluator(numbered, NUM_RET, **rules).rules.prepared)
    in_first, in_second = (judge.with_coverage(run, None)[0] for run in (first, renamed))
    ranks = np.full(int(offsets[-1]), ABSENT_RANK)
    places = {query_id: row for row, query_id in enumerate(judged.query_ids)}
    rows = np.array([places[query_id] for query_id in in_first.query_ids], np.int64)
    first_rows, second_rows = (list_of_each(each.offsets) for each in (in_first, in_second))
    ranks[offsets[second_rows] + in_second.labels - 1] = in_second.ranks
    return SharedDocuments(rows[first_rows], in_first.ranks, ranks[offsets[first_rows] + in_first.labels - 1])


def run_pairs(
    both: tuple[JudgedRankings, JudgedRankings],
    shared: SharedDocuments,
    block: tuple[int, int],
    depth: int,
    max_depth: int,
) -> RunPairs:
    """The unjudged documents that one of two runs has down to a depth."""
    start, stop = block
    in_block = (shared.rows >= start) & (shared.rows < stop)
    rows = shared.rows[in_block] - start
    ranks = [
        np.where(each[in_block] <= max_depth, each[in_block], ABSENT_RANK) for each in (shared.first, shared.second)
    ]
    width = max(int(each.num_ret[start:stop].max(initial=0)) for each in both) + 1
    sides, negatives = [], []
    for side, judged in enumerate(both):
        hits = judged_hits(judged, block, max_depth)
        negatives.append(hits.select(hits.labels < 0))
        own_rows, own_ranks = unjudged_documents(hits, np.minimum(judged.num_ret[start:stop], max_depth), depth)
        here = ranks[side] != ABSENT_RANK
        keys, partners = rows[here] * width + ranks[side][here], ranks[1 - side][here]
        order = np.argsort(keys, kind="stable")
        other = look_up(keys[order], partners[order], own_rows * width + own_ranks)
        sides.append((own_rows, own_ranks, other))
    (rows_a, first, in_second), (rows_b, second, in_first) = sides
    fresh = (in_first == ABSENT_RANK) | (in_first > depth)  # else the document is one of the first run
    rows = np.concatenate([rows_a, rows_b[fresh]])
    firsts, seconds = np.concatenate([first, in_first[fresh]]), np.concatenate([in_second, second[fresh]])
    is_negative = np.zeros(len(rows), bool)
    for hits, these in zip(negatives, (firsts, seconds), strict=True):
        is_negative |= np.isin(
            rows * width + np.minimum(these, width - 1) * (these != ABSENT_RANK), hits.rows * width + hits.ranks
        )
    negative = occurrences(rows[is_negative], minlength=stop - start)
    order = np.argsort(rows, kind="stable")
    return RunPairs(rows[order], firsts[order], seconds[order], negative)


def look_up(keys: np.ndarray, values: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The value of each wanted key among sorted ones, ABSENT where there is none."""
    if not len(keys):
        return np.full(len(wanted), ABSENT_RANK)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, values[at], ABSENT_RANK)
