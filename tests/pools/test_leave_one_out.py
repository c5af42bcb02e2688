"""leave_one_out(): the leaderboard without a team's own documents, and which runs fall."""

import math

import pytest
from pooled_runs import made

import fastir


@pytest.mark.parametrize("metrics", ["map", ["ndcg@5", "mean_rank", "rbp"]])
def test_leaving_a_team_out_is_evaluating_without_its_own_documents(metrics):
    qrels, runs = made(seed=2)
    teams = {name: f"team{place // 2}" for place, name in enumerate(runs)}
    result = fastir.leave_one_out(qrels, runs, metrics, teams=teams, pool_depth=6)
    assert result.results == fastir.evaluate_many(qrels, runs, metrics)
    rows = fastir.contributions(qrels, runs, teams=teams, pool_depth=6)
    for team in dict.fromkeys(teams.values()):
        own = {(row.query_id, row.doc_id) for row in rows if row.teams == (team,)}
        kept = {q: {d: label for d, label in docs.items() if (q, d) not in own} for q, docs in qrels.items()}
        assert result.removed[team] == len(own)
        assert result.without[team] == fastir.evaluate_many(kept, runs, metrics)
        for metric, taus in result.tau.items():
            a, b = ({name: r[metric] for name, r in of.items()} for of in (result.results, result.without[team]))
            assert taus[team] == fastir.rank_correlation(a, b, metric).tau_b
    for fall in result.falls:
        a, b = result.results, result.without[teams[fall.run]]
        assert (fall.value, fall.value_without) == (a[fall.run][fall.metric], b[fall.run][fall.metric])
        sign = -1 if fall.metric == "mean_rank" else 1
        for of, place in ((a, fall.place), (b, fall.place_without)):
            assert place == 1 + sum(sign * r[fall.metric] > sign * of[fall.run][fall.metric] for r in of.values())
    for metric, fall in result.largest_fall.items():
        assert fall.places == max(other.places for other in result.falls if other.metric == metric)
    assert "rank without" in repr(result)


RUNS = {"good": {"q": ["a", "c"]}, "own": {"q": ["b", "x"]}, "none": {"q": ["x", "y"]}}
QRELS = {"q": {"a": 1, "b": 1, "c": 1}}


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_a_run_whose_value_is_undefined_has_no_place_and_stands_last():
    found = fastir.leave_one_out(QRELS, RUNS, "mean_rank")
    assert [fall.run for fall in found.falls] == ["own", "good", "none"]  # 1, 1.5 and undefined
    assert [(fall.place, fall.place_without) for fall in found.falls] == [(1, 0), (2, 0), (0, 0)]
    assert math.isnan(found.tau["mean_rank"]["own"]) and math.isnan(found.falls[-1].value)


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_falls_stand_by_place_and_the_report_names_the_largest():
    runs = {"first": {"q": ["a", "b"]}, "second": {"q": ["c", "x"]}, "third": {"q": ["x", "c"]}}
    found = fastir.leave_one_out(QRELS, runs, "p@2")
    assert [(fall.run, fall.place, fall.place_without, fall.places) for fall in found.falls] == [
        ("first", 1, 3, 2),
        ("second", 2, 2, 0),
        ("third", 2, 2, 0),
    ]
    assert found.removed == {"first": 2, "second": 0, "third": 0}
    lines = repr(found).splitlines()
    assert lines[1].split() == ["p@2", "first", "first", "2", "1.0000", "0.0000", "1", "3", "-1.0000"]
    assert " ".join(lines[-2:]) == (
        "p@2: first falls most, from rank 1 to 3; values change by 33.33% on average; first changes most, by 100.00%."
    )


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_where_no_run_falls_it_says_so():
    runs = {"first": {"q": ["a", "x"]}, "second": {"q": ["x", "a"]}}
    assert repr(fastir.leave_one_out(QRELS, runs, "mrr")).endswith("mrr: no run falls.")
    assert fastir.leave_one_out(QRELS, runs, ["mrr"]).results == fastir.evaluate_many(QRELS, runs, ["mrr"])


def test_leaving_out_documents_with_real_labels_is_evaluating_without_them():
    qrels = {"q": {"a": 0.92, "b": 0.25, "c": 0.5, "d": 1.75}}
    runs = {"x": {"q": {"a": 3.0, "b": 2.0, "d": 1.0}}, "y": {"q": {"b": 3.0, "c": 2.0, "d": 1.0}}}
    found = fastir.leave_one_out(qrels, runs, ["ndcg@3", "map"], rel_level=0.5)
    for run, own in (("x", "a"), ("y", "c")):
        left = {"q": {doc: label for doc, label in qrels["q"].items() if doc != own}}
        wanted = fastir.evaluate(left, runs[run], ["ndcg@3", "map"], rel_level=0.5)
        for row in found.falls:
            if row.run == run:
                assert row.value_without == wanted[row.metric]


# ---- leaderboards on fewer judgments against evaluating again, under every option that evaluate has ------------------
METRICS = ["map", "ndcg@5", "mrr", "bpref", "rbp", "num_rel", "judged@5"]


def lacking(qrels, runs, team, depth=None):
    """The judgments without those that only this run has."""
    rows = fastir.contributions(qrels, runs, pool_depth=depth)
    own = {(row.query_id, row.doc_id) for row in rows if row.teams == (team,)}
    return {q: {d: label for d, label in docs.items() if (q, d) not in own} for q, docs in qrels.items()}


@pytest.mark.filterwarnings("ignore::fastir.errors.FastirWarning")
@pytest.mark.parametrize("options", [
    {}, {"rel_level": 2}, {"judged_only": True}, {"max_depth": 4}, {"ties": "input"},
    {"ties": "average", "metrics": ["map", "ndcg@5"]}, {"ties": "pessimistic"}, {"score_dtype": "float32"},
    {"queries": "intersection"}, {"empty": "nan"},
    {"weights": {"q0": 2.0, "q1": 1.0, "q2": 0.5, "q3": 0.0, "q4": 3.0}},
    {"convention": "trec_eval-9", "metrics": ["map", "ndcg_cut_5"]},
    {"convention": "lightgbm", "metrics": ["ndcg@5"]}, {"ties": "optimistic"},
    {"convention": "trec_eval-10", "queries": "intersection", "metrics": ["all_trec"]},
    {"convention": "tf-ranking", "metrics": ["ndcg@5"]}, {"convention": "ranx", "metrics": ["map", "ndcg@5"]},
    {"metrics": ["hole@5", "map"]}, {"metrics": ["gm_map", "ndcg(gain=exp2)@5"]},
], ids=str)  # fmt: skip
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
