"""The stand-in for ranx's compare and Report: its tables and exports byte for byte, and where its p-values differ."""

import math
import random

import numpy as np
import pytest

import fastir
from fastir.compat.ranx import Qrels, Run, compare
from fastir.compat.ranx.compare import share_of_permutations


def collection(runs=3, queries=12, seed=2):
    rng = random.Random(seed)
    qrels = {f"q{n}": {f"d{doc}": rng.choice((0, 0, 1, 2)) for doc in range(8)} | {"sure": 1} for n in range(queries)}
    return qrels, [
        {
            query: {doc: round(rng.random() + skill * label / 4, 3) for doc, label in docs.items()}
            for query, docs in qrels.items()
        }
        for skill in range(runs)
    ]


@pytest.mark.parametrize(("stat_test", "ours"), [("student", "t"), ("fisher", "randomization"), ("tukey", "tukey")])
def test_p_values_are_fastirs(stat_test, ours):
    qrels, runs = collection()
    named = [Run(run, name) for run, name in zip(runs, ("x", "y", None), strict=True)]
    found = compare(Qrels(qrels), named, ["map", "ndcg@5"], stat_test=stat_test, max_p=0.05)
    assert found.model_names == ["x", "y", "run_3"]
    expected = fastir.compare(
        qrels, dict(zip(found.model_names, runs, strict=True)), ["map", "ndcg@5"], test=ours, n_resamples=1000,
        random_state=42, convention="ranx",
    )  # fmt: skip
    for pair in expected.pairs:
        assert found.comparisons[pair.b, pair.a][pair.metric] == {
            "p_value": pytest.approx(pair.p_value, rel=1e-12),
            "significant": pair.p_value <= 0.05,
        }
        assert found.win_tie_loss[pair.a, pair.b][pair.metric] == {"W": pair.wins, "T": pair.ties, "L": pair.losses}
        assert found.win_tie_loss[pair.b, pair.a][pair.metric] == {"W": pair.losses, "T": pair.ties, "L": pair.wins}
    assert list(found.win_tie_loss) == [(a, b) for a in found.model_names for b in found.model_names if a != b]
    assert named[0].scores["map"] and named[2].mean_scores["map"] == found.results["run_3"]["map"]
    assert (found.metrics, found.max_p, found.stat_test) == (["map", "ndcg@5"], 0.05, stat_test)


def test_literal_p_values_are_ranxs():
    stats = pytest.importorskip("scipy.stats")
    qrels, runs = collection()
    values = {
        name: [of_query["map"] for of_query in fastir.evaluate(qrels, run, "map").to_dict().values()]
        for name, run in zip(("run_1", "run_2", "run_3"), runs, strict=True)
    }
    options = {"metrics": "map", "literal": True}
    student = compare(qrels, runs, **options).comparisons["run_1", "run_2"]["map"]["p_value"]
    assert student == stats.ttest_rel(values["run_1"], values["run_2"]).pvalue
    tukey = compare(qrels, runs, stat_test="Tukey", **options).comparisons["run_1", "run_3"]["map"]["p_value"]
    assert tukey == stats.tukey_hsd(*values.values()).pvalue[0, 2]
    assert tukey > compare(qrels, runs, "map", stat_test="tukey").comparisons["run_1", "run_3"]["map"]["p_value"]
    same = compare(qrels, [runs[0], runs[0]], **options).comparisons["run_1", "run_2"]["map"]
    assert same["p_value"] != same["p_value"] and not same["significant"]
    assert compare(qrels, [runs[0], runs[0]], "map").comparisons["run_1", "run_2"]["map"]["p_value"] == 1.0


def test_literal_shares_lose_ties_to_rounding_and_can_be_0():
    """Sakai's X and Y, exact p 0.065918, of which ranx gives 0.0505 (STATISTICS)."""
    x = np.array([7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1]) / 10
    y = np.array([5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2]) / 10
    assert share_of_permutations(x, y, 200_000, 1) == pytest.approx(0.0505, abs=0.003)
    assert share_of_permutations(x * 10, y * 10, 200_000, 1) == pytest.approx(0.065918, abs=0.003)
    assert share_of_permutations(x, y, 500, 1) == share_of_permutations(x, y, 500, 1)
    assert share_of_permutations(np.ones(30), np.zeros(30), 100, 1) == 0.0
    assert share_of_permutations(x, x, 100, 1) == 1.0


def test_a_metric_without_any_value_has_no_p_value():
    only_relevant = {"q": {"a": 1}, "r": {"a": 1}}
    runs = [{"q": {"a": 1.0}, "r": {"a": 1.0}}, {"q": {"a": 1.0}, "r": {"b": 2.0, "a": 1.0}}]
    found = compare(only_relevant, runs, ["bpref", "mrr"])
    p = found.comparisons["run_1", "run_2"]["bpref"]["p_value"]
    assert p != p and found.win_tie_loss["run_1", "run_2"]["bpref"] == {"W": 0, "T": 0, "L": 0}
    assert found.win_tie_loss["run_1", "run_2"]["mrr"] == {"W": 1, "T": 1, "L": 0}
    assert str(found).splitlines()[2] == "a    run_1        nan   1"


def test_one_run_and_no_runs():
    qrels, runs = collection(1)
    one = compare(qrels, runs, "mrr")
    assert (len(one.comparisons), one.win_tie_loss, one.model_names) == (0, {}, ["run_1"])
    assert str(compare(qrels, [], "mrr")) == "#    Model    MRR\n---  -------  -----"


def test_what_cannot_be_compared():
    qrels, runs = collection(2)
    with pytest.raises(NotImplementedError, match="one of 'student', 'fisher', 'tukey', got 'wilcoxon'"):
        compare(qrels, runs, "mrr", stat_test="wilcoxon")
    with pytest.raises(ValueError, match="two runs are named 'x'"):
        compare(qrels, [Run(run, "x") for run in runs], "mrr")
    with pytest.raises(AssertionError, match="must have the same queries"):
        compare(qrels, [{"q1": runs[0]["q1"]}], "mrr")
    with pytest.raises(AssertionError, match="metrics must be"):
        compare(qrels, runs, [7])
    run = Run({"q1": runs[0]["q1"]}, "few")
    found = compare(Qrels(qrels), [run, Run(runs[1], "all")], "mrr", make_comparable=True)
    assert len(run) == len(qrels) and found.results["few"]["mrr"] < found.results["all"]["mrr"]


def test_the_same_as_ranx():
    ranx = pytest.importorskip("ranx")
    qrels, runs = collection(4, 15)
    metrics = ["map@100", "mrr", "ndcg@10", "precision@5", "r-precision", "ndcg_burges@3-l2", "hit_rate@3"]
    for options in (
        {}, {"max_p": 0.3, "rounding_digits": 4}, {"max_p": 0.2, "show_percentages": True},
        {"stat_test": "tukey", "max_p": 0.2},
    ):  # fmt: skip
        named = [(run, f"r{place}") for place, run in enumerate(runs)]
        theirs = ranx.compare(ranx.Qrels(qrels), [ranx.Run(*run) for run in named], metrics, **options)
        ours = compare(Qrels(qrels), [Run(*run) for run in named], metrics, literal=True, **options)
        assert str(ours) == str(theirs) and ours.to_latex() == theirs.to_latex()
        assert ours.win_tie_loss == theirs.win_tie_loss and list(ours.to_dict()) == list(theirs.to_dict())
        for pair, expected in theirs.comparisons.items():
            if len(pair) == 2:
                found = ours.comparisons[pair]
                for metric in metrics:
                    p = expected[metric]["p_value"]
                    assert math.isclose(found[metric]["p_value"], p, rel_tol=1e-9) or p != p
                    assert found[metric]["significant"] == expected[metric]["significant"]
    assert theirs.to_dataframe().columns.tolist() == ours.to_dataframe().columns.tolist()
