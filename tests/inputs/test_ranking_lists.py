"""A row for each ranking: ids, and perhaps scores, as a Run."""

import pytest

import fastir
from fastir.data.run import Run

pa = pytest.importorskip("pyarrow")

from fastir.inputs import ranking_lists  # noqa: E402


def rows(docs, scores=None, query_ids=("a", "b")):
    columns = {"qid": list(query_ids), "doc_ids": pa.array(docs, pa.list_(pa.string()))}
    if scores is not None:
        columns["scores"] = pa.array(scores, pa.list_(pa.float64()))
    return pa.concat_tables([pa.table(columns).slice(place, 1) for place in range(2)])


def test_lists_become_rankings():
    assert Run(*ranking_lists.read(rows([["x", "y"], []]), None, None)).to_dict() == {
        "a": {"x": 2.0, "y": 1.0},
        "b": {},
    }
    scored = ranking_lists.read(rows([["x", "y"], ["z"]], [[1.0, 5.0], [2.0]]), None, None)
    assert Run(*scored).to_dict() == {"a": {"x": 1.0, "y": 5.0}, "b": {"z": 2.0}}
    twice = rows([["x", "x"], ["z"]], [[1.0, 5.0], [2.0]])
    assert Run(*ranking_lists.read(twice, None, "max")).to_dict()["a"] == {"x": 5.0}
    with pytest.raises(fastir.DuplicateError, match=r"'x'.*a"):
        ranking_lists.read(twice, None, None)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (rows([["x", "y"], ["z"]], [[1.0], [2.0]]), "ranking of query 'a' has 2 documents and 1 scores"),
        (rows([["x"], ["z"]], [[1.0], None]), "scores: the list of query number 1 is null"),
        (rows([["x"], ["y", "z"]], [[1.0], [2.0, None]]), "scores: the score at rank 2 of query number 1 is null"),
        (rows([["x"], None]), "the list of query number 1 is null"),
        (rows([["x"], ["y"]], query_ids="aa"), "duplicate query 'a'"),
        (rows([["x"], ["y"]]).rename_columns(["qid", "other"]), "the table has no column 'doc_ids' or 'ranking'"),
        (rows([["x"], ["y"]]).append_column("score", pa.array([1.0, 2.0])), "score must hold lists of numbers"),
    ],
)
def test_rows_that_are_wrong_are_named(given, message):
    with pytest.raises((TypeError, ValueError), match=message):
        ranking_lists.read(given, None, None)
