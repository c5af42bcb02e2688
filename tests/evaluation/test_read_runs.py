"""The first documents of each run, in the order of `evaluate`, for every function that reads a pool's runs."""

import pytest
from pooled_runs import made
from three_teams import of_pool

import fastir
from fastir.errors import NoOverlapError


def test_the_rank_order_is_that_of_evaluate():
    _, runs = made(seed=3)
    for name, run in runs.items():
        pool = fastir.pool({name: run}, 4)
        for query_id, documents in of_pool(pool).items():
            relevant = {query_id: dict.fromkeys(documents, 1)}
            assert fastir.evaluate(relevant, {query_id: run[query_id]}, "p@4")["p@4"] == 1.0


def test_dicts_files_and_runs_give_the_same_pool(tmp_path):
    _, runs = made()
    for name, run in runs.items():
        fastir.Run.from_dict(run).save(tmp_path / f"{name}.trec", "trec")
    want = of_pool(fastir.pool(runs, 7))
    assert of_pool(fastir.pool({name: tmp_path / f"{name}.trec" for name in runs}, 7)) == want
    assert of_pool(fastir.pool({name: fastir.Run.from_dict(run) for name, run in runs.items()}, 7)) == want
    whole = fastir.pool(runs, None)
    assert whole.pool_depth is None and len(whole) > len(fastir.pool(runs, 7))


@pytest.mark.parametrize("call", [fastir.contributions, lambda *a, **o: fastir.leave_one_out(*a, "map", **o)])
@pytest.mark.parametrize(("change", "error", "message"), [
    ({"teams": {"run0": "t"}}, ValueError, "teams: run 'run1' has no team"),
    ({"teams": {f"run{i}": "t" for i in range(9)}}, ValueError, "there is no run 'run6'"),
    ({"teams": {f"run{i}": ["t"] for i in range(6)}}, TypeError, "the team of run 'run0' is .* cannot be a name"),
    ({"teams": ["t"]}, TypeError, "teams must map runs to teams, or be a path, got list"),
    ({"pool_depth": 0}, ValueError, "pool_depth: the number of documents of a ranking must be positive"),
    ({"qrels": {"other": {"d1": 1}}}, NoOverlapError, "no run has a query of the qrels"),
    ({"qrels": {"q1": {1: 1}}}, TypeError, r"the qrels have ids of type \(str, int\), run 'run0' of \(str, str\)"),
    ({"runs": {}}, ValueError, "there are no runs"),
    ({"runs": {"a": {"q": {"d": 1.0}}, "b": {"q": {1: 1.0}}}}, TypeError, "run 'b' has ids of type"),
    ({"runs": {"a": {"q": {"d": float("nan")}}}}, ValueError, "run 'a': .*NaN"),
])  # fmt: skip
def test_bad_input_is_named(call, change, error, message):
    qrels, runs = made()
    given = {"qrels": qrels, "runs": runs, **change}
    with pytest.raises(error, match=message):
        call(given.pop("qrels"), given.pop("runs"), **given)


def test_duplicates_are_repaired_on_request():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"query_id": ["q"] * 3, "doc_id": ["a", "b", "a"], "score": [1.0, 2.0, 3.0]})
    runs, qrels = {"x": frame, "y": {"q": {"b": 1.0, "a": 0.5}}}, {"q": {"b": 1}}
    with pytest.raises(fastir.DuplicateError, match="run 'x': "):
        fastir.pool(runs, 1)
    assert [row.doc_id for row in fastir.pool(runs, 1, duplicates="max")] == ["a", "b"]
    assert [row.doc_id for row in fastir.pool({"x": frame}, 1, duplicates="first")] == ["b"]
    assert fastir.contributions(qrels, runs, pool_depth=1, duplicates="max").teams["x"].judged == 0
    assert [row.doc_id for row in fastir.to_judge(qrels, runs, "mrr", 5, duplicates="first")] == ["a"]


@pytest.mark.parametrize("call", [
    fastir.contributions,
    lambda qrels, runs: fastir.leave_one_out(qrels, runs, "prefs_simp"),
    lambda qrels, runs: fastir.to_judge(qrels, {**runs, "y": runs["x"]}, "map", 5),
    lambda qrels, runs: fastir.pool(runs, 5).unjudged(qrels),
    lambda qrels, runs: fastir.agreement(qrels, qrels),
])  # fmt: skip
def test_preferences_are_no_labels(call):
    prefs = fastir.Qrels.from_dict({"q": {"ann": {"1": {"a": 2, "b": 1}}}})
    with pytest.raises(TypeError, match="preferences have no labels"):
        call(prefs, {"x": {"q": {"a": 1.0}}})
