"""Judged rankings: 20 metrics from them against the same from the run, and how long a run takes to become them."""

import numpy as np
from timing import METRICS, Goal

import fastir

ROUNDS = 15
MANY = (
    [f"{name}@{k}" for name in ("ndcg", "map", "P", "recall") for k in (5, 10, 20, 100)] + METRICS[1:3] + ["rbp", "err"]
)
KEPT, RUN, JUDGE, LOAD = "fastir, judged rankings", "fastir, the run", "fastir, judge", "fastir, load"


def test_twenty_metrics(race, collection, tmp_path):
    qrels, run = collection("passages")
    evaluator = fastir.Evaluator(qrels, MANY, n_threads=1, queries="qrels")
    judged = evaluator.judged_rankings(run)
    path = tmp_path / "judged.npz"
    judged.save(path)
    assert fastir.JudgedRankings.load(path) == judged
    expected = evaluator.evaluate(run)
    assert np.array_equal(judged.evaluate(MANY, n_threads=1).values, expected.values)
    calls = {
        KEPT: lambda: dict(judged.evaluate(MANY, n_threads=1)), RUN: lambda: dict(evaluator.evaluate(run)),
        JUDGE: lambda: evaluator.judged_rankings(run), LOAD: lambda: fastir.JudgedRankings.load(path),
    }  # fmt: skip
    race("judged rankings, 6980 x 1000", calls, [Goal(KEPT, RUN), Goal(LOAD, RUN)], ROUNDS)
