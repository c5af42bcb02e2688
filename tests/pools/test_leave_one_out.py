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
