"""Where two evaluations differ: the queries that gain and lose."""

import math

import numpy as np
import pytest
from common import UNEVEN

import fastir

pytestmark = UNEVEN


def results_of(ranks, **options):
    """Results whose reciprocal ranks are those of the ranks, by query; 0 where that is None."""
    qrels = {query: {"rel": 1} for query in ranks}
    run = {query: {"rel" if i + 1 == rank else f"x{i}": -float(i) for i in range(9)} for query, rank in ranks.items()}
    return fastir.evaluate(qrels, run, ["mrr", "num_ret"], queries="qrels", **options)


def test_queries_gain_and_lose():
    new = results_of({"a": 1, "b": 2, "c": 4, "d": None, "e": 5})
    old = results_of({"a": 2, "b": 1, "c": 4, "d": 1, "e": 8})
    diff = new.diff(old, "mrr")
    assert diff.gains == [("a", 1.0, 0.5, 0.5), ("e", 0.2, 0.125, 0.2 - 0.125)]
    assert diff.losses == [("d", 0.0, 1.0, -1.0), ("b", 0.5, 1.0, -0.5)]
    assert (diff.n_gains, diff.n_equal, diff.n_losses, diff.left_out) == (2, 1, 2, [])
    assert (diff.mean, diff.other_mean) == (new["mrr"], old["mrr"])
    shorter = new.diff(old, "mrr", top=1)
    assert (shorter.gains, shorter.losses, shorter.n_gains) == (diff.gains[:1], diff.losses[:1], 2)
    assert (
        str(shorter)
        == """\
mrr: 0.3900 against 0.5750, -0.1850; 2 gained, 1 equal, 2 lost
query_id            value     old   change
a                  1.0000  0.5000  +0.5000
... 1 more gained
d                  0.0000  1.0000  -1.0000
... 1 more lost"""
    )


def test_only_queries_that_both_have_are_compared():
    new, old = results_of({"a": 1, "b": 2}), results_of({"b": 1, "c": 1})
    diff = new.diff(old, "mrr")
    assert (diff.left_out, diff.mean, diff.other_mean, diff.losses) == (["a", "c"], 0.5, 1.0, [("b", 0.5, 1.0, -0.5)])
    with pytest.raises(fastir.NoOverlapError, match="these results have 'a', the others 'z'"):
        new.diff(results_of({"z": 1}), "mrr")
    with pytest.raises(KeyError, match="'map' was not evaluated"):
        new.diff(old, "map")
    with pytest.raises(TypeError, match="must be Results, got dict"):
        new.diff({"a": 1.0}, "mrr")
    with pytest.raises(ValueError, match="top: the number of queries must be positive"):
        new.diff(old, "mrr", top=0)


def test_rounding_is_no_gain_and_nan_is_left_out():
    def made(values):
        values = np.array([values]).T
        return fastir.Results([*"abcd"], ["m"], values, np.zeros(4, np.uint8), ["mean"], fastir.Report())

    diff = made([0.1 + 0.2, 0.5, math.nan, 0.0]).diff(made([0.3, 0.25, 1.0, 1e-9]), "m")
    assert (diff.n_gains, diff.n_equal, diff.n_losses, diff.left_out) == (1, 1, 1, ["c"])
