"""Runs compared from qrels and runs, and how a Comparison is shown: tables, files, records, differences by query."""

import math

import gen
import pytest
from common import UNEVEN
from compared_runs import METRICS, collection

import fastir


def test_it_evaluates_and_compares_what_came_out(three):
    qrels, runs = collection()
    results = fastir.evaluate_many(qrels, runs, METRICS)
    assert three.pairs == fastir.compare_scores(results).pairs
    assert three.runs == list(runs) and three.metrics == METRICS
    for system in three.systems:
        assert math.isclose(system.mean, results[system.run][system.metric], rel_tol=1e-15)
    assert {run: {metric: results[run].per_query(metric) for metric in METRICS} for run in runs} == {
        run: {metric: {query: of_run[metric][query] for query in qrels} for metric in METRICS}
        for run, of_run in three.per_query.items()
    }


@UNEVEN
def test_files_pairs_and_runs_are_compared_alike(tmp_path):
    qrels, runs = collection(queries=8)
    paths = {name: gen.write_run(tmp_path / name, run) for name, run in runs.items()}
    expected = fastir.compare(qrels, runs, METRICS, test="randomization", n_resamples=999)
    others = (paths, list(runs.items()), {name: fastir.Run.from_dict(run) for name, run in runs.items()})
    for other in others:
        for threads in (1, 3):
            found = fastir.compare(
                gen.write_qrels(tmp_path / "qrels", qrels),
                other,
                METRICS,
                test="randomization",
                n_resamples=999,
                n_threads=threads,
            )
            assert found.pairs == expected.pairs and found.systems == expected.systems


def test_options_of_the_evaluation_are_passed_on():
    qrels, runs = collection(2)
    found = fastir.compare(qrels, runs, "ndcg@5", rel_level=2, convention="xgboost")
    results = fastir.evaluate_many(qrels, runs, "ndcg@5", rel_level=2, convention="xgboost")
    assert [system.mean for system in found.systems] == [of_run["ndcg@5"] for of_run in results.values()]
    with pytest.raises(TypeError, match="unknown option 'tie'"):
        fastir.compare(qrels, runs, "map", tie="trec")


QRELS = {"both": {"a": 1}, "one": {"a": 1}, "none": {"a": 1}, "also": {"a": 1}}
UNLIKE = {
    "x": {"both": {"a": 1.0}, "one": {"a": 1.0}, "also": {"a": 1.0}, "foreign": {"a": 1.0}},
    "y": {"both": {"b": 2.0, "a": 1.0}, "also": {"a": 1.0}},
}


@UNEVEN
@pytest.mark.parametrize(("queries", "compared", "differences"), [
    (None, ["also", "both", "none", "one"], [0, 0.5, 0, 1]),
    ("qrels", ["also", "both", "none", "one"], [0, 0.5, 0, 1]),
    ("intersection", ["also", "both"], [0, 0.5]),
    (["one", "both"], ["both", "one"], [0.5, 1]),
])  # fmt: skip
def test_one_rule_says_which_queries_count_for_all_runs(queries, compared, differences):
    found = fastir.compare(QRELS, UNLIKE, "mrr", queries=queries)
    assert found.query_ids == compared
    assert [x - y for x, y in found.values[0].tolist()] == differences


def test_rules_that_cannot_be_kept():
    with pytest.raises(fastir.NoOverlapError, match="run 'x': queries='strict', but query 'none' is missing"):
        fastir.compare(QRELS, UNLIKE, "mrr", queries="strict")
    with pytest.raises(fastir.NoOverlapError, match="query 'zz' is not in the qrels"):
        fastir.compare(QRELS, UNLIKE, "mrr", queries=["both", "zz"])
    with pytest.raises(ValueError, match="queries must be one of None, 'qrels', 'intersection', 'strict', got 'zero'"):
        fastir.compare(QRELS, UNLIKE, "mrr", queries="zero")
    with pytest.warns(fastir.FastirWarning, match="run 'y': 2 queries of the qrels are missing"):
        fastir.compare(QRELS, {"y": UNLIKE["y"], "z": {query: {"a": 1.0} for query in QRELS}}, "mrr")


@UNEVEN
def test_a_convention_that_leaves_queries_out_leaves_them_out_for_all_runs():
    found = fastir.compare(QRELS, UNLIKE, "mrr", convention="trec_eval-10")
    assert found.query_ids == ["also", "both"]
    assert fastir.compare(QRELS, UNLIKE, "mrr", convention="trec_eval-10", queries="qrels").query_ids == sorted(QRELS)


def test_wrong_options_are_told_before_any_run_is_read(tmp_path):
    for option, value in {"test": "u", "correction": "x", "n_resamples": 0, "interval": "z", "effect": "tau"}.items():
        with pytest.raises(ValueError, match=option):
            fastir.compare(QRELS, {"a": tmp_path / "absent"}, "mrr", **{option: value})
    with pytest.raises(FileNotFoundError):
        fastir.compare(QRELS, {"a": tmp_path / "absent"}, "mrr")


def test_seeds_are_runs_of_one_system():
    qrels, runs = collection(4)
    first, second, third, fourth = runs.values()
    found = fastir.compare(qrels, {"a": [first, second], "b": [third, fourth]}, "map", seeds="mean")
    results = fastir.evaluate_many(qrels, runs, "map")
    means = [(results[f"run_{first}"]["map"] + results[f"run_{first + 1}"]["map"]) / 2 for first in (0, 2)]
    assert [system.mean for system in found.systems] == pytest.approx(means, rel=1e-14)


def test_folds_are_put_together():
    qrels, runs = collection(2)
    half = list(qrels)[:15]

    def folds(run):
        return [{query: docs for query, docs in run.items() if (query in half) == first} for first in (True, False)]

    split = {name: folds(run) for name, run in runs.items()}
    whole = fastir.compare(qrels, runs, "map")
    for queries in (None, "qrels", "strict"):
        found = fastir.compare(qrels, split, "map", seeds="folds", queries=queries)
        assert found.pairs == whole.pairs
    lacking = {name: parts[:1] for name, parts in split.items()}
    assert fastir.compare(qrels, lacking, "map", seeds="folds").query_ids == sorted(half)
    with pytest.raises(fastir.NoOverlapError):
        fastir.compare(qrels, lacking, "map", seeds="folds", queries="qrels")


def test_a_comparison_says_which_queries_gain_and_lose(three):
    qrels, runs = collection()
    results = fastir.evaluate_many(qrels, runs, METRICS)
    expected = results["run_2"].diff(results["run_0"], "map", top=5)
    found = three.diff("run_2", "run_0", "map", top=5)
    assert (found.gains, found.losses) == (expected.gains, expected.losses)
    assert math.isclose(found.mean, expected.mean, rel_tol=1e-15)
    [pair] = [pair for pair in three.pairs if (pair.a, pair.b, pair.metric) == ("run_0", "run_2", "map")]
    assert (found.n_gains, found.n_equal, found.n_losses) == (pair.losses, pair.ties, pair.wins)
    for arguments in (("run_9", "run_0", "map"), ("run_0", "run_9", "map"), ("run_0", "run_1", "p@9")):
        with pytest.raises(KeyError, match="was not compared; there are "):
            three.diff(*arguments)


@pytest.mark.parametrize(("options", "named"), [
    ({"rel_level": 2}, r"rel_level \(default and 2\)"), ({"max_depth": 1}, r"max_depth \(default and 1\)"),
    ({"convention": "trec_eval-9"}, r"convention \(fastir and trec_eval-9"),
    ({"ap_norm": "hits"}, r"ap_norm \(R and hits\)"), ({"queries": "intersection"}, None), ({}, None),
])  # fmt: skip
def test_results_of_other_options_are_warned_of_and_these_named(options, named):
    qrels = {f"q{i}": {"a": 1, "b": 2} for i in range(6)}
    run = {f"q{i}": {"a": 3.0, "b": 2.0 + i} for i in range(6)}
    other = fastir.evaluate(qrels, run, "map", **options)
    call = qrels, {"a": run, "b": other}, "map"
    if named is None:
        fastir.compare(*call, test="randomization", n_resamples=100)
        return
    with pytest.warns(fastir.FastirWarning, match=f"'a' and 'b' were evaluated under .*: {named}"):
        fastir.compare(*call, test="randomization", n_resamples=100)
