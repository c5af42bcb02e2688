"""Means by segments of the queries, in one table."""

import math

import gen
import pytest
from common import UNEVEN

import fastir

QRELS = {"q1": {"a": 1}, "q2": {"a": 0}, "q3": {"a": 2, "b": 1}}
RUN = {"q1": {"b": 5.0, "a": 1.0}, "q2": {"a": 1.0}, "q3": {"a": 2.0, "b": 1.0}}
SEGMENTS = {"q1": "short", "q2": "long", "q3": "short", "elsewhere": "long"}


def test_groups_by_hand():
    groups = fastir.evaluate(QRELS, RUN, ["mrr", "num_ret"]).by_segment(SEGMENTS)
    assert {group: dict(results) for group, results in groups.items()} == {
        "short": {"mrr": 0.75, "num_ret": 4.0}, "long": {"mrr": 0.0, "num_ret": 1.0},
    }  # fmt: skip
    assert groups["short"].per_query("mrr") == {"q1": 0.5, "q3": 1.0}
    assert groups["long"].status == {"q2": "no_relevant"}
    assert groups.micro == {"mrr": 0.5, "num_ret": 5.0}
    assert groups.macro == {"mrr": 0.375, "num_ret": 2.5}
    assert repr(groups).splitlines() == [
        "segment     mrr  num_ret", "short    0.7500        4", "long     0.0000        1",
        "micro    0.5000        5", "macro    0.3750        2",
    ]  # fmt: skip
    assert groups.to_pandas().loc["macro"].to_dict() == groups.macro


def test_groups_of_what_is_skipped_or_weighted():
    results = fastir.evaluate(QRELS, RUN, ["mrr(empty=skip)", "mrr(empty=nan)"], weights={"q1": 3, "q2": 1, "q3": 1})
    groups = results.by_segment(SEGMENTS)
    assert math.isnan(groups["long"]["mrr(empty=skip)"])
    assert groups["short"]["mrr(empty=nan)"] == groups.macro["mrr(empty=skip)"] == 2.5 / 4
    assert math.isnan(groups.macro["mrr(empty=nan)"])
    assert math.isnan(groups.micro["mrr(empty=nan)"])


@UNEVEN
def test_one_group_is_the_whole():
    qrels, run = gen.collection(3)
    results = fastir.evaluate(qrels, run, ["map", "ndcg", "num_rel"])
    groups = results.by_segment(dict.fromkeys(qrels, "all"))
    assert groups["all"] == results
    assert groups["all"].report == results.report
    assert groups.micro == groups.macro == dict(results)


def test_groups_that_are_none():
    results = fastir.evaluate(QRELS, RUN, "mrr")
    with pytest.raises(ValueError, match="segments: query 'q2' has no segment"):
        results.by_segment({"q1": 1, "q3": 1})
    with pytest.raises(TypeError, match="segments must map query ids to segments, got str"):
        results.by_segment("short")
