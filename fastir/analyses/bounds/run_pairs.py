"""Unjudged documents of two runs: what both retrieved is one document, with a rank in each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastir.analyses.bounds.unjudged_ranks import Places, judged_hits, positions, unjudged_documents
from fastir.data.qrels import Qrels
from fastir.data.run import repeated_run
from fastir.engine.columns.rows import list_of_each, occurrences
from fastir.engine.measure import NUM_RET
from fastir.evaluation.drivers.judged import RunJudge
from fastir.evaluation.evaluator import Evaluator

if TYPE_CHECKING:
    from fastir.data.rankings import JudgedRankings
    from fastir.data.run import Run

ABSENT = 1 << 62  # the rank of a document that a ranking lacks


class Shared(NamedTuple):
    """The documents that two runs have in common: their rows and ranks in each, by rows."""

    rows: np.ndarray
    first: np.ndarray
    second: np.ndarray


class RunPairs(NamedTuple):
    """The unjudged documents of a block of queries in two runs; the first ones are in the order of the first run.

    Attributes
    ----------
    rows, first, second : int64 arrays of shape (n_unjudged,)
        The ranks are ABSENT where a run lacks the document.
    negative : int64 array of shape (n_queries,)
        How many of them have a negative label.
    """

    rows: np.ndarray
    first: np.ndarray
    second: np.ndarray
    negative: np.ndarray

    def ranks(self, second: bool) -> np.ndarray:
        """The ranks in one of the runs."""
        return self.second if second else self.first

    def order(self, second: bool) -> np.ndarray:
        """The unjudged documents by query and by rank in one of the runs, last those that it lacks."""
        return np.lexsort((self.ranks(second), self.rows))

    def places(self, second: bool, n_queries: int) -> Places:
        """Where one of the runs has them."""
        order = self.order(second)
        seen = order[self.ranks(second)[order] != ABSENT]
        rows = self.rows[seen]
        unseen = occurrences(self.rows, minlength=n_queries) - occurrences(rows, minlength=n_queries)
        return Places(rows, self.ranks(second)[seen], unseen, self.negative)


def shared_documents(first: Run, second: Run, judged: JudgedRankings) -> Shared:
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
    ranks = np.full(int(offsets[-1]), ABSENT)
    places = {query_id: row for row, query_id in enumerate(judged.query_ids)}
    rows = np.array([places[query_id] for query_id in in_first.query_ids], np.int64)
    first_rows, second_rows = (list_of_each(each.offsets) for each in (in_first, in_second))
    ranks[offsets[second_rows] + in_second.labels - 1] = in_second.ranks
    return Shared(rows[first_rows], in_first.ranks, ranks[offsets[first_rows] + in_first.labels - 1])


def run_pairs(
    both: tuple[JudgedRankings, JudgedRankings], shared: Shared, block: tuple[int, int], depth: int, max_depth: int
) -> RunPairs:
    """The unjudged documents that one of two runs has down to a depth."""
    start, stop = block
    in_block = (shared.rows >= start) & (shared.rows < stop)
    rows = shared.rows[in_block] - start
    ranks = [np.where(each[in_block] <= max_depth, each[in_block], ABSENT) for each in (shared.first, shared.second)]
    width = max(int(each.num_ret[start:stop].max(initial=0)) for each in both) + 1
    sides, negatives = [], []
    for side, judged in enumerate(both):
        hits = judged_hits(judged, block, max_depth)
        negatives.append(hits.where(hits.labels < 0))
        own_rows, own_ranks = unjudged_documents(hits, np.minimum(judged.num_ret[start:stop], max_depth), depth)
        here = ranks[side] != ABSENT
        keys, partners = rows[here] * width + ranks[side][here], ranks[1 - side][here]
        order = np.argsort(keys, kind="stable")
        other = looked_up(keys[order], partners[order], own_rows * width + own_ranks)
        sides.append((own_rows, own_ranks, other))
    (rows_a, first, in_second), (rows_b, second, in_first) = sides
    fresh = (in_first == ABSENT) | (in_first > depth)  # else the document is among those of the first run
    rows = np.concatenate([rows_a, rows_b[fresh]])
    firsts, seconds = np.concatenate([first, in_first[fresh]]), np.concatenate([in_second, second[fresh]])
    is_negative = np.zeros(len(rows), bool)
    for hits, these in zip(negatives, (firsts, seconds), strict=True):
        is_negative |= np.isin(
            rows * width + np.minimum(these, width - 1) * (these != ABSENT), hits.rows * width + hits.ranks
        )
    negative = occurrences(rows[is_negative], minlength=stop - start)
    order = np.argsort(rows, kind="stable")
    return RunPairs(rows[order], firsts[order], seconds[order], negative)


def looked_up(keys: np.ndarray, values: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The value of each wanted key among sorted ones, ABSENT where there is none."""
    if not len(keys):
        return np.full(len(wanted), ABSENT)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, values[at], ABSENT)
