"""compare(bounds=True): a pair says where labels of unjudged documents could change the sign of its difference."""

import pytest

import fastir
from fastir.analyses.compare.records import SIGN_CAN_CHANGE

pytest.importorskip("scipy")

QRELS = {f"q{i}": {"a": 1, "b": 0} for i in range(4)}
FIRST = {query: {"a": 2.0, "b": 1.0} for query in QRELS}
RUNS = {
    "first": FIRST,
    "judged": {query: {"b": 2.0, "a": 1.0} for query in QRELS},
    "unjudged": {**{query: {"x": 2.0, "a": 1.0} for query in QRELS}, "q0": {"a": 1.0}},
}


def notes(comparison):
    return {(pair.a, pair.b, pair.metric): pair.note.partition(SIGN_CAN_CHANGE)[2] for pair in comparison.pairs}


def test_pairs_whose_sign_could_turn_say_between_which_values_they_lie():
    found = notes(fastir.compare(QRELS, RUNS, ["mrr", "P@1"], test="sign", bounds=True))
    assert found["first", "judged", "mrr"] == ""
    assert found["first", "unjudged", "mrr"] == ""  # which can be as good, and no better
    assert found["judged", "unjudged", "P@1"] == ""
    turned = fastir.compare(QRELS, {**RUNS, "other": {q: {"y": 2.0, "a": 1.0} for q in QRELS}}, "P@1", bounds=True)
    assert notes(turned)["unjudged", "other", "P@1"] == ": -0.7500 to +1.0000"


def test_the_note_is_that_of_bounds_and_stands_in_both_tables():
    runs = {name: RUNS[name] for name in ("unjudged",)} | {"other": {q: {"y": 2.0, "a": 1.0} for q in QRELS}}
    comparison = fastir.compare(QRELS, runs, "P@1", bounds=True)
    found = fastir.bounds(QRELS, runs["unjudged"], "P@1", against=runs["other"])
    assert (found.lower["P@1"], found.upper["P@1"]) == (-0.75, 1.0)
    assert "\nUnjudged documents could change the sign of a - b (P@1).\n" in comparison.to_table()
    assert "-0.7500 to +1.0000" in comparison.to_table(rows="pairs")


def test_many_differences_that_could_turn_are_counted():
    runs = {f"r{i}": {query: {f"x{i}": 2.0, "a": 1.0} for query in QRELS} for i in range(6)}
    table = fastir.compare(QRELS, runs, "P@1", bounds=True).to_table()
    assert "could change the sign of 15 differences, as the pairs say." in table


def test_without_bounds_nothing_changes():
    with_, without = (fastir.compare(QRELS, RUNS, "mrr", test="sign", bounds=bounds) for bounds in (True, False))
    pairs = [[repr(pair._replace(note="")) for pair in each.pairs] for each in (with_, without)]
    assert pairs[0] == pairs[1] and not any(notes(without).values())
    assert with_.systems == without.systems and with_.method == without.method


def test_queries_that_were_left_out_do_not_count():
    chosen = fastir.compare(QRELS, list(RUNS.items()), "P@1", test="sign", bounds=True, queries=["q0", "q1"])
    assert len(chosen.query_ids) == 2 and notes(chosen)["first", "judged", "P@1"] == ""


def test_each_segments_of_queries_has_the_bounds_of_its_own():
    runs = {"unjudged": RUNS["unjudged"], "other": {q: {"y": 2.0, "a": 1.0} for q in QRELS}}
    segments = dict(zip(QRELS, ("one", "two", "two", "two"), strict=True))
    comparison = fastir.compare(QRELS, runs, "P@1", test="sign", bounds=True, segments=segments)
    pair = "unjudged", "other", "P@1"
    assert notes(comparison)[pair] == ": -0.7500 to +1.0000"
    assert notes(comparison.segments["one"])[pair] == ""
    assert notes(comparison.segments["two"])[pair] == ": -1.0000 to +1.0000"
    assert comparison.to_table(rows="pairs").count("could change its sign") == 2


@pytest.mark.parametrize("given", [{"seeds": "mean"}, {"bounds": "yes"}, {"runs": "results"}])
def test_what_has_no_bounds_is_refused(given):
    runs = {"first": [FIRST, FIRST], "judged": [FIRST, FIRST]} if "seeds" in given else RUNS
    if given.pop("runs", None):
        runs = {name: fastir.evaluate(QRELS, run, "mrr") for name, run in RUNS.items()}
    with pytest.raises((TypeError, ValueError), match="bounds"):
        fastir.compare(QRELS, runs, "mrr", **{"bounds": True, **given})
