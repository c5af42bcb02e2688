"""Pools, contributions and leaderboards without a team, against sets made by hand."""

import pytest
from pooled_runs import made

import fastir
from fastir.errors import NoOverlapError


def top(ranking, depth):
    """The first documents under trec_eval's rule of ties."""
    return sorted(ranking, key=lambda doc_id: (ranking[doc_id], doc_id), reverse=True)[:depth]


def of_pool(pool):
    documents = {query_id: {} for query_id in pool.query_ids}
    for query_id, doc_id, names in pool:
        documents[query_id][doc_id] = names
    return documents


def test_a_pool_is_the_union_of_the_first_documents():
    _, runs = made()
    pool = fastir.pool(runs, 5)
    for query_id, documents in of_pool(pool).items():
        tops = {name: top(run[query_id], 5) for name, run in runs.items()}
        assert list(documents) == sorted(set().union(*tops.values()))
        for doc_id, names in documents.items():
            assert list(names) == [name for name in runs if doc_id in tops[name]]
    assert len(pool) == len(list(pool)) == sum(map(len, of_pool(pool).values()))
    assert "5 queries from 6 runs to depth 5" in repr(pool)


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
    assert whole.depth is None and len(whole) > len(fastir.pool(runs, 7))


def test_a_pool_is_written_as_a_table(tmp_path):
    pytest.importorskip("pandas")
    pool = fastir.pool({"a": {"q": {"x": 2.0, "y": 1.0}}, "b": {"q": {"x": 1.0}}}, 2)
    pool.save(tmp_path / "pool.tsv")
    assert (tmp_path / "pool.tsv").read_text() == "query_id\tdoc_id\truns\nq\tx\ta,b\nq\ty\ta\n"
    assert pool.to_pandas().to_dict("list") == {
        "query_id": ["q", "q"],
        "doc_id": ["x", "y"],
        "runs": [("a", "b"), ("a",)],
    }
    assert [row.doc_id for row in pool.unjudged({"q": {"x": 0, "y": -1}})] == ["y"]
    with pytest.raises(ValueError, match=r"must end in \.tsv, \.qrels or \.txt, got "):
        pool.save(tmp_path / "pool.csv")


@pytest.mark.parametrize("depth", [3, None])
@pytest.mark.parametrize("with_teams", [False, True])
def test_contributions_count_what_each_team_has(depth, with_teams):
    qrels, runs = made(seed=1)
    teams = {name: f"team{place // 2}" for place, name in enumerate(runs)} if with_teams else None
    result = fastir.contributions(qrels, runs, teams=teams, pool_depth=depth)
    of = teams or {name: name for name in runs}
    has = {team: set() for team in of.values()}
    for name, run in runs.items():
        has[of[name]] |= {(q, d) for q, ranking in run.items() for d in top(ranking, depth)}
    judged = {(q, d): label for q, own in qrels.items() for d, label in own.items() if label >= 0}
    for team, share in result.teams.items():
        others = set().union(*(own for other, own in has.items() if other != team))
        found = has[team] & judged.keys()
        assert share.judged == len(found) and share.only_judged == len(found - others)
        assert share.relevant == sum(judged[pair] > 0 for pair in found)
        assert share.only_relevant == sum(judged[pair] > 0 for pair in found - others)
    everyone = set().union(*has.values())
    assert result.judged == len(result) == len(judged)
    assert result.nobody_judged == len(judged.keys() - everyone)
    assert {(q, d): label for q, d, label, _ in result} == judged


def test_a_series_has_the_teams():
    pandas = pytest.importorskip("pandas")
    qrels, runs = made()
    teams = {name: f"team{place // 2}" for place, name in enumerate(runs)}
    found = fastir.contributions(qrels, runs, teams=pandas.Series(teams))
    assert found == fastir.contributions(qrels, runs, teams=teams)


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
    assert "place" in repr(result)


@pytest.mark.parametrize("call", [fastir.contributions, lambda *a, **o: fastir.leave_one_out(*a, "map", **o)])
@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"teams": {"run0": "t"}}, ValueError, "teams: run 'run1' has none"),
        ({"teams": {f"run{i}": "t" for i in range(9)}}, ValueError, "there is no run 'run6'"),
        ({"teams": {f"run{i}": ["t"] for i in range(6)}}, TypeError, "that of run 'run0' is .* cannot be a name"),
        ({"teams": ["t"]}, TypeError, "teams must map runs to teams, or be a path, got list"),
        ({"pool_depth": 0}, ValueError, "pool_depth: the number of documents of a ranking must be positive"),
        ({"qrels": {"other": {"d1": 1}}}, NoOverlapError, "no run has a query of the qrels"),
        ({"qrels": {"q1": {1: 1}}}, TypeError, r"the qrels have ids of type \(str, int\), run 'run0' of \(str, str\)"),
        ({"runs": {}}, ValueError, "there are no runs"),
        ({"runs": {"a": {"q": {"d": 1.0}}, "b": {"q": {1: 1.0}}}}, TypeError, "run 'b' has ids of type"),
        ({"runs": {"a": {"q": {"d": float("nan")}}}}, ValueError, "run 'a': .*NaN"),
    ],
)
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


@pytest.mark.parametrize(
    "call",
    [
        fastir.contributions,
        lambda qrels, runs: fastir.leave_one_out(qrels, runs, "prefs_simp"),
        lambda qrels, runs: fastir.to_judge(qrels, {**runs, "y": runs["x"]}, "map", 5),
        lambda qrels, runs: fastir.pool(runs, 5).unjudged(qrels),
        lambda qrels, runs: fastir.agreement(qrels, qrels),
    ],
)
def test_preferences_are_no_labels(call):
    prefs = fastir.Qrels.from_dict({"q": {"ann": {"1": {"a": 2, "b": 1}}}})
    with pytest.raises(TypeError, match="preferences give documents no labels"):
        call(prefs, {"x": {"q": {"a": 1.0}}})
