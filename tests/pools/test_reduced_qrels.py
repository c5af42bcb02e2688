"""Leaderboards on fewer judgments against evaluating again, under every option that evaluate has."""

import math

import pytest
from pooled_runs import made

import fastir

METRICS = ["map", "ndcg@5", "mrr", "bpref", "rbp", "num_rel", "judged@5"]


def lacking(qrels, runs, team, depth=None):
    """The judgments without those that only this run has."""
    rows = fastir.contributions(qrels, runs, pool_depth=depth)
    own = {(row.query_id, row.doc_id) for row in rows if row.teams == (team,)}
    return {q: {d: label for d, label in docs.items() if (q, d) not in own} for q, docs in qrels.items()}


@pytest.mark.filterwarnings("ignore::fastir.errors.FastirWarning")
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"rel_level": 2},
        {"judged_only": True},
        {"max_depth": 4},
        {"ties": "input"},
        {"ties": "average", "metrics": ["map", "ndcg@5"]},
        {"ties": "pessimistic"},
        {"score_dtype": "float32"},
        {"queries": "intersection"},
        {"empty": "nan"},
        {"weights": {"q0": 2.0, "q1": 1.0, "q2": 0.5, "q3": 0.0, "q4": 3.0}},
        {"convention": "trec_eval-9", "metrics": ["map", "ndcg_cut_5"]},
        {"convention": "lightgbm", "metrics": ["ndcg@5"]},
        {"ties": "optimistic"},
        {"convention": "trec_eval-10", "queries": "intersection", "metrics": ["all_trec"]},
        {"convention": "tf-ranking", "metrics": ["ndcg@5"]},
        {"convention": "ranx", "metrics": ["map", "ndcg@5"]},
        {"metrics": ["hole@5", "map"]},
        {"metrics": ["gm_map", "ndcg(gain=exp2)@5"]},
    ],
    ids=str,
)
def test_what_is_left_out_is_as_if_it_had_not_been_judged(options):
    qrels, runs = made(seed=4)
    runs["run5"] = {query_id: ranking for query_id, ranking in runs["run5"].items() if query_id != "q2"}
    given = {"queries": "qrels", **options}
    metrics = given.pop("metrics", METRICS)
    result = fastir.leave_one_out(qrels, runs, metrics, pool_depth=8, **given)
    assert any(result.removed.values())
    for team in runs:
        want = fastir.evaluate_many(lacking(qrels, runs, team, 8), runs, metrics, **given)
        assert list(result.without[team]) == list(want)
        assert result.without[team] == want


def test_groups_of_judgments_lose_the_documents_and_stay_groups():
    qrels = {"q": {"one": {"a": 1, "b": 1}, "two": {"a": 1, "c": 1}}}
    runs = {"x": {"q": {"a": 2.0, "b": 1.0}}, "y": {"q": {"c": 2.0, "a": 1.0}}}
    result = fastir.leave_one_out(qrels, runs, ["alpha_ndcg@5", "map_avgjg"])
    left = {"q": {"one": {"a": 1}, "two": {"a": 1, "c": 1}}}
    assert result.without["x"] == fastir.evaluate_many(left, runs, ["alpha_ndcg@5", "map_avgjg"])


@pytest.mark.filterwarnings("ignore::fastir.errors.FastirWarning")
def test_runs_are_read_as_by_evaluate():
    """Duplicates, columns and parents."""
    pandas = pytest.importorskip("pandas")
    rows = [("q", "a#1", 1.0), ("q", "a#1", 2.0), ("q", "b#7", 0.5)]
    frame = pandas.DataFrame(rows, columns=["query", "chunk", "score"])
    options = {
        "run_columns": {"query_id": "query", "doc_id": "chunk"},
        "duplicates": "max",
        "parents": {"a#1": "a", "b#7": "b", "c#2": "c"},
    }
    qrels, runs = {"q": {"a": 1, "b": 1, "c": 0}}, {"x": frame, "y": {"q": {"b#7": 1.0, "c#2": 0.5}}}
    result = fastir.leave_one_out(qrels, runs, "map", **options)
    assert result.results == fastir.evaluate_many(qrels, runs, "map", queries="qrels", **options)
    assert result.removed == {"x": 1, "y": 1}
    assert result.without["x"] == fastir.evaluate_many({"q": {"b": 1, "c": 0}}, runs, "map", **options)


def test_a_query_may_lose_all_of_its_judgments():
    qrels, runs = {"q": {"a": 1}, "r": {"a": 1}}, {"x": {"q": {"a": 1.0}}, "y": {"r": {"a": 1.0}}}
    with pytest.warns(fastir.FastirWarning):
        result = fastir.leave_one_out(qrels, {"x": runs["x"], "y": {**runs["y"], "q": {"b": 1.0}}}, "mrr", empty="nan")
    assert result.without["x"]["x"].per_query("mrr")["r"] == 0.0
    assert math.isnan(result.without["x"]["x"].per_query("mrr")["q"])
