"""Pairs of a document and a number, listed by query: the same bits as dicts, and errors that name query and place."""

import json

import numpy as np
import pytest

import fastir

METRICS = ["map", "ndcg@3", "mrr", "num_ret"]
QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}, "q3": {"z": 1}}
RUN = {"q1": {"a": 2.5, "x": 1.0, "b": 0.5}, "q2": {"d": 1.0, "c": 1.0}, "q3": {}}
FORMS = {
    "tuples": lambda doc, number: (doc, number), "lists": lambda doc, number: [doc, number],
    "score first": lambda doc, number: (number, doc), "NumPy": lambda doc, number: (np.str_(doc), np.float64(number)),
}  # fmt: skip


def pairs(data, form="tuples"):
    return {query: [FORMS[form](*pair) for pair in docs.items()] for query, docs in data.items()}


@pytest.mark.parametrize("form", FORMS)
def test_pairs_are_what_their_dicts_are(form, tmp_path):
    qrels, run = pairs(QRELS, form), pairs(RUN, form)
    expected = fastir.evaluate(QRELS, RUN, METRICS)
    for results in (
        fastir.evaluate(qrels, RUN, METRICS), fastir.evaluate(QRELS, run, METRICS),
        fastir.Evaluator(qrels, METRICS).evaluate(run), fastir.evaluate_many(qrels, {"r": run}, METRICS)["r"],
        fastir.evaluate(fastir.Qrels.from_dict(qrels), fastir.Run.from_dict(run), METRICS),
    ):  # fmt: skip
        assert results.values.tobytes() == expected.values.tobytes()
    assert fastir.Run.from_dict(run).to_dict() == RUN
    assert fastir.Qrels.from_dict(qrels).to_dict() == QRELS
    assert fastir.judged_rankings(qrels, run) == fastir.judged_rankings(QRELS, RUN)
    assert fastir.fuse({"a": run, "b": RUN}) == fastir.fuse({"a": RUN, "b": RUN})
    texts = [fault.text for fault in fastir.check(QRELS, {"run": RUN})]
    assert [fault.text for fault in fastir.check(qrels, run)] == texts
    if form != "NumPy":
        for name, data in (("qrels", qrels), ("run", run)):
            (tmp_path / f"{name}.json").write_text(json.dumps(data))
        assert fastir.evaluate(tmp_path / "qrels.json", tmp_path / "run.json", METRICS) == expected


def test_whole_numbers_beside_whole_numbers_are_documents_in_tuples():
    assert fastir.Run.from_dict({1: [(3, 2.5), (4, 1)]}).to_dict() == {1: {3: 2.5, 4: 1.0}}
    assert fastir.Run.from_dict({1: [(2.5, 3), (1.5, 4)]}).to_dict() == {1: {3: 2.5, 4: 1.5}}
    assert fastir.Qrels.from_dict({1: [(3, 2), (4, 0)]}).to_dict() == {1: {3: 2, 4: 0}}
    with pytest.raises(TypeError, match="rank 1 of query 1 must be a str, got list"):
        fastir.Run.from_dict({1: [[3, 2], [4, 0]]})


def test_duplicates_are_repaired_where_an_option_says_so():
    twice = [("a", 1.0), ("b", 3.0), ("a", 2.0)]
    with pytest.raises(fastir.DuplicateError, match="duplicate document 'a' in query 'q'"):
        fastir.evaluate({"q": {"a": 1}}, {"q": twice}, "mrr")
    assert fastir.Run.from_dict({"q": twice}, "max").to_dict() == {"q": {"a": 2.0, "b": 3.0}}
    with pytest.warns(fastir.FastirWarning, match="1 duplicate was repaired"):
        results = fastir.evaluate({"q": [("a", 1), ("a", 3)]}, {"q": {"a": 1.0}}, "dcg", duplicates="mean")
    assert results["dcg"] == 2.0


def test_integers_that_are_one_float_are_told():
    with pytest.warns(fastir.FastirWarning, match="different integers"):
        fastir.evaluate({"q": {"a": 1}}, {"q": [("a", 2**60), ("b", 2**60 + 1)]}, "map")


@pytest.mark.parametrize(("listed", "message"), [
    ({"p": [], "q": [("a", 1.0), "b"]}, r"query 'q', place 2: expected a pair like the first, \('a', 1.0\), got 'b'"),
    ({"q": [("a", 1.0), (2.0, "b")]}, "query 'q', place 2: .* got .2.0, 'b'"),
    ({"q": [("a", 1.0), ("b", None)]}, "query 'q', place 2: .* got .'b', None"),
    ({"q": [("a", 1.0), ("b", 1, 2)]}, "query 'q', place 2: .* got .'b', 1, 2"),
    ({"q": [("a", 1.0), (3, 2.0)]}, "query 'q', place 2: .* got .3, 2.0"),
    ({"q": [("a", 1.0)], "r": ["x"]}, "query 'r', place 1: .* got 'x'"),
    ({"q": [("a", 1.0)], "r": {"x": 1}}, "query 'r' must have a list of pairs, got {'x': 1}"),
    ({"q1": ["b", ("a", 1.0)]}, "2 of query 'q1' must be a str, got tuple"),
    ({"q1": [("a", float("nan"))]}, "(NaN|nan).*query q1, document a"),
])  # fmt: skip
def test_an_error_names_the_query_and_the_place(listed, message):
    with pytest.raises((TypeError, ValueError), match=f"run: .*{message}"):
        fastir.evaluate(QRELS, listed, "map")
    with pytest.raises((TypeError, ValueError), match=f"qrels: .*{message}"):
        fastir.evaluate(listed, RUN, "map")
