"""Falls of runs in a leaderboard without their team's documents: undefined values, directions, and what is printed."""

import math

import pytest

import fastir

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")

RUNS = {"good": {"q": ["a", "c"]}, "own": {"q": ["b", "x"]}, "none": {"q": ["x", "y"]}}
QRELS = {"q": {"a": 1, "b": 1, "c": 1}}


def test_a_run_whose_value_is_undefined_has_no_place_and_stands_last():
    found = fastir.leave_one_out(QRELS, RUNS, "mean_rank")
    assert [fall.run for fall in found.falls] == ["own", "good", "none"]  # 1, 1.5 and undefined
    assert [(fall.place, fall.place_without) for fall in found.falls] == [(1, 0), (2, 0), (0, 0)]
    assert math.isnan(found.tau["mean_rank"]["own"]) and math.isnan(found.falls[-1].value)


def test_falls_stand_by_place_and_the_report_names_the_largest():
    runs = {"first": {"q": ["a", "b"]}, "second": {"q": ["c", "x"]}, "third": {"q": ["x", "c"]}}
    found = fastir.leave_one_out(QRELS, runs, "p@2")
    assert [(fall.run, fall.place, fall.place_without, fall.places) for fall in found.falls] == [
        ("first", 1, 3, 2),
        ("second", 2, 2, 0),
        ("third", 2, 2, 0),
    ]
    assert found.removed == {"first": 2, "second": 0, "third": 0}
    lines = repr(found).splitlines()
    assert lines[1].split() == ["p@2", "first", "first", "2", "1.0000", "0.0000", "1", "3", "-1.0000"]
    assert " ".join(lines[-2:]) == (
        "p@2: first falls most, from place 1 to 3; values change by 33.33% in the mean, most that of first, by 100.00%."
    )


def test_where_no_run_falls_it_says_so():
    runs = {"first": {"q": ["a", "x"]}, "second": {"q": ["x", "a"]}}
    assert repr(fastir.leave_one_out(QRELS, runs, "mrr")).endswith("mrr: no run falls.")
    assert fastir.leave_one_out(QRELS, runs, ["mrr"]).results == fastir.evaluate_many(QRELS, runs, ["mrr"])
