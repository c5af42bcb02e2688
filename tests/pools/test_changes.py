"""How a value would change with one more judgment: as if it had been made, for any metric."""

import itertools
import random

import pytest
from every_convention import influence_that_differs
from pooled_runs import made

import fastir


@pytest.mark.parametrize("metric", ["map", "ndcg@5", "p@3", "rbp", "mrr", "bpref", "err", "recall@4"])
def test_influence_is_how_far_one_judgment_moves_the_differences(metric):
    qrels, runs = made(n_runs=4, n_queries=3, seed=5)
    qrels = {q: {d: label for d, label in own.items() if label >= 0} for q, own in qrels.items()}
    result = fastir.to_judge(qrels, runs, metric, 10_000, pool_depth=6)
    before = fastir.evaluate_many(qrels, runs, metric)
    assert len(result) == result.n_unjudged == len(fastir.pool(runs, 6).unjudged(qrels))
    for candidate in result:
        more = {q: {**own, candidate.doc_id: 2} if q == candidate.query_id else own for q, own in qrels.items()}
        after = fastir.evaluate_many(more, runs, metric)
        change = [after[run][metric] - before[run][metric] for run in runs]
        moved = sum(abs(a - b) for a, b in itertools.combinations(change, 2))
        assert candidate.influence == pytest.approx(moved, abs=1e-9)
    assert [c.influence for c in result] == sorted((c.influence for c in result), reverse=True)
    assert result.covered == pytest.approx(result.uncertainty)


def test_influence_under_every_convention_is_the_difference_of_two_evaluations():
    rng, judged = random.Random(27), 0
    for _ in range(40):
        broken, was_judged = influence_that_differs(rng)
        assert broken is None
        judged += was_judged
    assert judged > 20


@pytest.mark.parametrize(("options", "expected"), [
    ({"ties": "trec"}, 0.0),
    ({"ties": "doc_id_asc"}, 1.0),
    ({"convention": "ndeval"}, 1.0),
    ({"convention": "trec_eval-9"}, 0.0),
], ids=str)  # fmt: skip
def test_equal_scores_stand_by_the_rule_that_is_asked_for(options, expected):
    runs = {"one": {"q": {"x": 2.0, "z": 2.0, "y": 1.0}}, "two": {"q": {"z": 2.0, "w": 1.00000001, "y": 1.0}}}
    found = fastir.to_judge({"q": {"z": 1}}, runs, "p@1", 9, pool_depth=3, **options)
    influences = {candidate.doc_id: candidate.influence for candidate in found}
    assert influences["x"] == expected


@pytest.mark.parametrize("options", [{"ties": "optimistic"}, {"ties": "average"}, {"convention": "sklearn"}], ids=str)
def test_rules_by_which_no_document_can_be_judged_alone_are_refused(options):
    runs = {"one": {"q": {"x": 2.0, "z": 2.0}}, "two": {"q": {"z": 2.0}}}
    with pytest.raises(ValueError, match="ties="):
        fastir.to_judge({"q": {"z": 1}}, runs, "ndcg", 9, **options)
    with pytest.raises(ValueError, match=r"'recall' means several, recall_5, recall_10, .*; give one"):
        fastir.to_judge({"q": {"z": 1}}, runs, "recall", 9, convention="trec_eval-10")


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_of_a_document_that_stands_twice_the_first_rank_counts():
    rows = [("q", "x", 5.0), ("q", "a", 4.0), ("q", "y", 3.0), ("q", "x", 2.0), ("q", "a", 1.0)]
    runs = {"twice": fastir.Run.from_table(rows, duplicates="once"), "other": {"q": {"b": 2.0, "y": 1.0}}}
    qrels = {"q": {"a": 1, "b": 1, "n": -1}, "none": {}}
    result = fastir.to_judge(qrels, runs, "map", 10)
    assert [(c.doc_id, c.n_runs) for c in result] == [("x", 1), ("y", 2)]
    before = fastir.evaluate_many(qrels, runs, "map", queries="qrels")
    for candidate in result:
        more = {**qrels, "q": {**qrels["q"], candidate.doc_id: 1}}
        after = fastir.evaluate_many(more, runs, "map", queries="qrels")
        change = [after[run].per_query("map")["q"] - before[run].per_query("map")["q"] for run in runs]
        moved = sum(abs(a - b) for a, b in itertools.combinations(change, 2)) / len(qrels)
        assert candidate.influence == pytest.approx(moved, abs=1e-12)


def test_many_lists_are_evaluated_in_parts(monkeypatch):
    qrels, runs = made(n_runs=4, n_queries=3, seed=5)
    whole = fastir.to_judge(qrels, runs, "map", 10_000)
    monkeypatch.setattr("fastir.analyses.pools.changes.MAX_ENTRIES", 40)
    assert fastir.to_judge(qrels, runs, "map", 10_000).candidates == whole.candidates


def test_a_label_that_a_metric_cannot_take_names_the_query():
    with pytest.raises(OverflowError, match=r"label 7 is too large for max_grade=4 \(query q\)"):
        fastir.to_judge({"q": {"z": 1}}, {"a": {"q": {"x": 2.0}}, "b": {}}, "err", 5, max_label=7)
