"""Similarity of runs against the definitions, spelled out slowly."""

import fractions
import math
import signal

import numpy as np
import pytest
from processes import more_looks, python

import fastir
from fastir.analyses.agreement.measures import MEASURES
from fastir.errors import FastirWarning, NoOverlapError


def test_identical_runs_are_alike_and_disjoint_ones_are_not():
    names = [*MEASURES]
    ranking = {f"d{i}": float(i) for i in range(50)}
    same = fastir.similarity({"q": ranking}, {"q": ranking}, names)
    assert same.values[0].tolist() == pytest.approx([1, 1 - same["rbo_res"], same["rbo_res"], 1, 1, 1])
    other = fastir.similarity({"q": ranking}, {"q": {f"e{i}": float(i) for i in range(50)}}, names)
    assert other.values[0, [0, 1, 3, 4]].tolist() == [0, 0, 0, 0] and math.isnan(other["tau"])


def test_a_query_of_one_run_alone_counts_as_an_empty_ranking():
    with pytest.warns(FastirWarning, match=r"1 query is in one run alone.*'q2'"):
        result = fastir.similarity({"q1": {"a": 1.0}, "q2": {"a": 1.0}}, {"q1": {"a": 1.0}}, [*MEASURES])
    assert result.values[1, :5].tolist() == [0, 0, 1, 0, 0]
    assert result.status == {"q1": "evaluated", "q2": "missing"}
    nothing = fastir.similarity({"q": {}}, {"q": {}}, ["rbo", "overlap@3"])
    assert np.isnan(nothing.values).all()


@pytest.mark.parametrize(("a", "b", "error", "message"), [
    ({"q": {"a": 1.0}}, {"p": {"a": 1.0}}, NoOverlapError, "no query in common: 'q' and 'p'"),
    ({"q": {"a": 1.0}}, {"q": {1: 1.0}}, TypeError, "run 'a' has ids that are str, run 'b' has ids that are int"),
    ({"q": {"a": math.nan}}, {"q": {"a": 1.0}}, ValueError,
     "run 'a': run: the score is NaN, not a number .query q, document a"),
    ({"q": {"a": 1.0}}, {"q": {"a": fractions.Fraction(1), "b": math.nan}}, ValueError,
     "run 'b': .*query q, document b"),
    ({"q": {"a": 2.0, "b": math.nan}}, {"q": {"a": 1.0}}, ValueError, "query q, document b"),
    ({"q": {"a": "high"}}, {"q": {"a": 1.0}}, TypeError, "score must be a number"),
])  # fmt: skip
def test_bad_input_is_named(a, b, error, message):
    with pytest.raises(error, match=message):
        fastir.similarity(a, b)


def test_every_two_of_several_runs_are_compared():
    runs = [{"q": {"a": 2.0, "b": 1.0}}, {"q": {"b": 2.0, "a": 1.0}}, {"q": {"c": 1.0}}]
    found = fastir.similarity(runs, metrics="jaccard")
    assert {name: each["jaccard"] for name, each in found.items()} == {"1, 2": 1.0, "1, 3": 0.0, "2, 3": 0.0}
    with pytest.raises(ValueError, match="similarity compares two runs or more, got 1"):
        fastir.similarity(runs[:1])


# ---- a comparison of long rankings answers signals while it reads them and puts ties in order ------------------------
RUNS = """
n = 400_000
ids = [f"document {i}" for i in range(n)]
random.Random(1).shuffle(ids)
a, b = {"q": dict.fromkeys(ids, 1.0)}, {"q": {doc_id: i % 7 * 1.0 for i, doc_id in enumerate(ids)}}
few = {"q": {"d": 1.0}}
if sys.argv[1] == "columns":
    a, b, few = map(fastir.Run.from_dict, (a, b, few))
"""
SIMILAR = 'fastir.similarity({}, {}, ["rbo", "tau"])'


@pytest.mark.parametrize("shape", ["dicts", "columns"])
def test_a_tied_ranking_leaves_no_long_wait(shape):
    """A look for signals every 16,384 documents at least."""
    assert more_looks(RUNS, SIMILAR.format("few", "few"), SIMILAR.format("a", "b"), shape) > 2 * 400_000 // 20_000


CHANGED = """
import signal
n = 100_000
a = {"q": {f"document {i}": 1.0 for i in range(n)}}
b = {"q": {f"document {i}": 2.0 * (i % 5) for i in range(n)}}
value = fastir.similarity(a, b, "rbo")["rbo"]
calls = []
def change(number, frame):
    calls.append(number)
    for run in (a, b):
        run["q"].clear()
        run["q"].update((f"another {len(calls)} {i}", 1.0) for i in range(1000))
signal.signal(signal.SIGPROF, change)
for delay in (0.01, 0.02, 0.04, 0.06):
    a["q"] = {f"document {i}": 1.0 for i in range(n)}
    b["q"] = {f"document {i}": 2.0 * (i % 5) for i in range(n)}
    signal.setitimer(signal.ITIMER_PROF, delay)
    found = fastir.similarity(a, b, "rbo")["rbo"]
    signal.setitimer(signal.ITIMER_PROF, 0)
    assert 0 <= found <= 1
print(len(calls), value)
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
def test_a_handler_may_change_what_is_read():
    """What is borrowed from a dict is held by a copy: the ids that a handler throws away are still read."""
    calls, _ = python(CHANGED).split()
    assert int(calls) > 0
