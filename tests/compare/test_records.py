"""Pairs, systems and the method: what each record of a comparison says."""

import math
import pickle
import re

import numpy as np
import pytest
from twenty_queries import ARRAYS, RUNS, random_runs

import fastir
from fastir import stats

pandas = pytest.importorskip("pandas")


def test_a_pair():
    comparison = fastir.compare_scores(RUNS, correction=None)
    first, second, third = comparison.pairs
    assert [(pair.a, pair.b, pair.metric) for pair in comparison.pairs] == [
        ("x", "y", "score"), ("x", "z", "score"), ("y", "z", "score"),
    ]  # fmt: skip
    assert first.difference == pytest.approx(0.075, rel=1e-12)
    assert first.p_value == first.adjusted_p == stats.t_test(ARRAYS["x"], ARRAYS["y"]).p_value
    assert (first.low, first.high) == stats.t_interval(ARRAYS["x"], ARRAYS["y"])[1:3]
    assert first.effect == stats.effect_size(ARRAYS["x"], ARRAYS["y"])
    assert (first.wins, first.ties, first.losses, first.n_queries) == (10, 5, 5, 20)
    assert first.detectable == pytest.approx(stats.detectable(20) * np.std(ARRAYS["x"] - ARRAYS["y"], ddof=1))
    assert (first.exact, first.note) == (False, "")  # a distribution is assumed
    assert (second.wins, third.wins) == (11, 8)


def test_a_system():
    system = fastir.compare_scores(RUNS, confidence=0.9).systems[1]
    assert system[:3] == ("y", "score", math.fsum(RUNS["y"].values()) / 20)
    assert (system.low, system.high) == stats.bootstrap_interval(ARRAYS["y"], confidence=0.9)[1:3]


def test_the_method_says_how():
    method = fastir.compare_scores(
        random_runs(60), test="randomization", n_resamples=999, correction="holm", random_state=7
    ).method
    assert method[:8] == ("randomization", 999, 3, 0, 7, "holm", "metric", 3)
    assert (method.version, method.n_queries, method.queries) == (fastir.__version__, 60, "strict")
    for word in (
        "randomization", "999 resamples", "random_state 7", "holm", "each metric (3)", "95 %", "Cohen's d_z",
        "60 queries", "0 of 3 p-values exact",
    ):  # fmt: skip
        assert word in str(method)
    method = fastir.compare_scores(RUNS, test="randomization").method
    assert (method.exact_pairs, method.n_resamples) == (3, 0)
    assert "resamples" not in str(method)


def test_a_frame_of_pairs():
    frame = pandas.DataFrame(fastir.compare_scores(RUNS).pairs)
    assert frame.columns[:3].tolist() == ["a", "b", "metric"] and len(frame) == 3


def test_a_notebook_shows_records_as_a_table_of_four_decimals():
    qrels = {f"q{i}": {"a": 1} for i in range(7)}
    runs = {n: {f"q{i}": {"a": 1.0, "b": 2.0 * (i % 3 == n)} for i in range(7)} for n in range(3)}
    comparison = fastir.compare(qrels, runs, "mrr,map")
    again = pickle.loads(pickle.dumps(comparison))
    for records in (comparison.pairs, comparison.systems, again.pairs, again.systems):
        assert isinstance(records, list)
        shown = records._repr_html_()
        assert shown.startswith("<figure") and re.search(r"\d\.\d{4}<", shown)
        assert not re.search(r"\d\.\d{5}", shown.replace("text-align", ""))
