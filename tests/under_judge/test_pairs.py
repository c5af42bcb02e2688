"""Who judged which pair, and the columns of the model."""

import numpy as np
import pytest
from judged_by_both import HUMAN, JUDGE, RUNS

from fastir.analyses.under_judge import pairs as module
from fastir.analyses.under_judge.pairs import make_design, rank_columns, read_pairs
from fastir.analyses.under_judge.under_judge import RankedPairs


def test_pairs_are_those_of_either_side_by_query():
    pairs = read_pairs({"q": {"a": 2, "b": 0, "c": -1}, "r": {"a": 1}}, {"s": {"z": 1}, "q": {"b": 1, "c": 0, "e": -1}})
    rows = [
        (pairs.query_ids[query], *rest)
        for query, *rest in zip(pairs.queries, pairs.doc_ids, pairs.judge.tolist(), pairs.human.tolist(), strict=True)
    ]
    assert sorted(rows) == [
        ("q", "a", 2, -1),
        ("q", "b", 0, 1),
        ("q", "c", -1, 0),
        ("r", "a", 1, -1),
        ("s", "z", -1, 1),
    ]
    assert pairs.both.sum() == 1 and pairs.open.sum() == 2


def test_ranks_are_found_in_each_run_as_numbers_of_pairs():
    pairs = read_pairs(JUDGE, HUMAN)
    ranked = RankedPairs(pairs, RUNS, ("map",), {})
    for name, run in ranked.runs.items():
        for query, (start, stop) in enumerate(zip(run.offsets[:-1], run.offsets[1:], strict=True)):
            scores = RUNS[name][run.query_ids[query]]
            best = sorted(scores, key=scores.get, reverse=True)
            found = [pairs.doc_ids[pair] for pair in run.labels[start:stop]]
            assert found == [best[rank - 1] for rank in run.ranks[start:stop]]


def test_pairs_with_equal_level_query_and_ranks_share_a_cell():
    pairs = read_pairs(JUDGE, HUMAN)
    ranked = RankedPairs(pairs, RUNS, ("map",), {})
    by_rank, by_level = (make_design(pairs, list(ranked.runs.values()), strata) for strata in (None, "level"))
    assert len(by_level.columns) < len(by_rank.columns) <= len(pairs.doc_ids)
    assert len(np.unique(np.stack([pairs.queries, pairs.judge]), axis=1).T) == len(by_level.columns)
    assert np.array_equal(by_rank.queries[by_rank.cells], pairs.queries)
    assert by_rank.columns.shape[1] == len(by_rank.prior) > by_level.columns.shape[1]


def test_rank_columns_are_a_line_over_the_logarithm_that_bends_at_knots():
    ranks = np.array([0, 1, 3, 10, 40])
    columns = rank_columns(ranks)
    assert columns.shape == (5, 5) and not columns[0].any()  # the line, three knots, whether it was retrieved
    assert np.diff(columns[1:, 0]) == pytest.approx(np.diff(np.log(ranks[1:])))
    assert columns[:, 1].tolist() == pytest.approx([0, 0, 0, np.log(10 / 3), np.log(40 / 3)])
    assert columns[:, -1].tolist() == [0, 1, 1, 1, 1]


def test_ranks_are_rounded_by_less_than_a_tenth():
    class Run:
        labels, ranks = np.arange(2000), np.arange(1, 2001)

    rounded = module.ranks_of_pairs(2000, Run)
    assert rounded[:10].tolist() == list(range(1, 11)) and len(np.unique(rounded)) < 80
    assert np.abs(rounded / Run.ranks - 1).max() < 0.1
