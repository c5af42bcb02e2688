"""compare_scores: what it takes, what it returns, and that order, threads and company change nothing."""

import pickle

from twenty_queries import RUNS, numbers, random_runs

import fastir

QRELS = {"q1": {"a": 1}, "q2": {"a": 1, "b": 2}, "q3": {"c": 1}}
RANKINGS = {
    "good": {"q1": {"a": 2.0, "b": 1.0}, "q2": {"b": 2.0, "a": 1.0}, "q3": {"c": 3.0}},
    "poor": {"q1": {"b": 2.0, "a": 1.0}, "q2": {"c": 2.0, "a": 1.0}, "q3": {"d": 2.0, "c": 1.0}},
}


def test_values_come_back_and_can_be_compared_again():
    runs = random_runs(5, n_metrics=2)
    comparison = fastir.compare_scores(runs)
    assert comparison.per_query == runs
    assert comparison.values.shape == (2, 5, 3)
    assert not comparison.values.flags.writeable
    assert numbers(fastir.compare_scores(comparison.per_query)) == numbers(comparison)
    again = pickle.loads(pickle.dumps(comparison))
    assert numbers(again) == numbers(comparison) and again.method == comparison.method


def test_the_convention_is_told():
    results = {name: fastir.evaluate(QRELS, run, "ndcg@10") for name, run in RANKINGS.items()}
    assert fastir.compare_scores(results).method.convention == "fastir"
    results["good"] = fastir.evaluate(QRELS, RANKINGS["good"], "ndcg@10", convention="ranx")
    method = fastir.compare_scores(results).method
    assert method.convention == f"{results['good'].convention}, fastir"
    assert fastir.compare_scores(RUNS).method.convention == ""
