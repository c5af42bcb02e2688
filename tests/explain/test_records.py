"""Explanations and their differences as records: printed, as frames, and document by document."""

import math

import pytest
from common import UNEVEN
from explained import QRELS, RUN, explanations

import fastir
from fastir.analyses.explain.records import boxes

pytestmark = UNEVEN


def test_it_prints_ranks_ties_labels_and_what_is_missing():
    ranking = {f"x{number}": -float(number) for number in range(30)}
    ranking.update(a=0.5, b=-20.5, c=-20.5)
    evaluator = fastir.Evaluator({"q": {"a": 2, "b": 1, "c": -1, "m": 1}}, ["ndcg", "recall"])
    lines = str(evaluator.explain({"q": ranking}, "q")).splitlines()
    assert lines[0] == "query q: ndcg 0.7076, recall 0.6667"
    assert lines[1].split() == ["rank", "doc_id", "score", "tied", "label", "ndcg", "recall"]
    assert lines[2].split() == ["1", "a", "0.5", "2", "+0.6388", "+0.3333"]
    assert lines[3].split() == ["2", "x0", "0", "-"] or lines[3].split() == ["2", "x0", "-0", "-"]
    assert lines[12].split() == ["11-22", "...", "-"]
    assert lines[13].split() == ["23", "c", "-20.5", "2", "-1"]
    assert lines[14].split() == ["24", "b", "-20.5", "2", "1", "+0.0688", "+0.3333"]
    assert lines[-1].split() == ["missing", "m", "1"]


def test_records_are_what_a_frame_takes():
    pandas = pytest.importorskip("pandas")
    [explanation] = explanations(QRELS, RUN, ["ndcg", "map"])[1].values()
    frame = pandas.DataFrame(explanation.records("map"))
    assert list(frame.columns) == ["doc_id", "rank", "score", "tied", "label", "gain", "discount", "contribution"]
    assert math.isclose(frame["contribution"].sum(), explanation.values["map"])
    assert explanation.records() == explanation.records("ndcg")
    with pytest.raises(KeyError, match="'mrr' was not evaluated; the metrics here are 'ndcg', 'map'"):
        explanation.records("mrr")


def test_documents_enter_leave_move_and_stay():
    evaluator = fastir.Evaluator({"q": {"a": 1, "b": 2, "c": 1, "d": 1}}, ["dcg", "map"])
    new = evaluator.explain({"q": {"a": 4.0, "c": 3.0, "b": 2.0, "u": 1.0}}, "q")
    old = evaluator.explain({"q": {"a": 4.0, "b": 3.0, "d": 2.0, "v": 1.0}}, "q")
    diff = new.diff(old)
    moves = {move.doc_id: move for move in diff.moves}
    assert {doc: (move.what, move.rank, move.other_rank) for doc, move in moves.items()} == {
        "a": ("stayed", 1, 1), "b": ("moved", 3, 2), "c": ("entered", 2, None), "d": ("left", None, 3),
        "u": ("entered", 4, None), "v": ("left", None, 4),
    }  # fmt: skip
    b = moves["b"]
    assert (b.label, b.gain, b.discount) == (2, 2.0, pytest.approx(0.5, rel=1e-15))
    assert b.change == b.contribution - b.other_contribution == pytest.approx(1 - 2 / math.log2(3))
    assert moves["c"].change == pytest.approx(1 / math.log2(3))
    assert moves["d"].change == -0.5
    assert (diff.metric, diff.value, diff.other_value) == ("dcg", new.values["dcg"], old.values["dcg"])
    assert [abs(move.change) for move in diff.moves] == sorted((abs(move.change) for move in diff.moves), reverse=True)
    for metric in new.values:
        changes = math.fsum(move.change for move in new.diff(old, metric).moves)
        assert math.isclose(changes, new.values[metric] - old.values[metric], abs_tol=1e-15)


def test_a_diff_prints_the_judged_documents_and_counts_the_others():
    evaluator = fastir.Evaluator({"q": {"a": 1, "b": 2, "c": 1, "d": 1}}, ["dcg", "map"])
    new = evaluator.explain({"q": {"a": 4.0, "c": 3.0, "b": 2.0, "u": 1.0}}, "q")
    old = evaluator.explain({"q": {"a": 4.0, "b": 3.0, "d": 2.0, "v": 1.0}}, "q")
    assert (
        str(new.diff(old))
        == """\
query q, dcg: 2.6309 against 2.7619, -0.1309
doc_id  what     rank  was  label  gain  discount     was   change
c       entered     2    -      1     1    0.6309  -       +0.6309
d       left        -    3      1     1    -       0.5000  -0.5000
b       moved       3    2      2     2    0.5000  0.6309  -0.2619

documents without a label: 1 entered, 1 left"""
    )


def test_explanations_of_two_queries_have_no_diff():
    evaluator = fastir.Evaluator({"q": {"a": 1}, "r": {"a": 1}}, "mrr", queries="qrels")
    first, second = (evaluator.explain({"q": {"a": 1.0}}, query) for query in "qr")
    with pytest.raises(ValueError, match="two queries, 'q' and 'r'"):
        first.diff(second)
    with pytest.raises(KeyError, match="'map' was not evaluated"):
        first.diff(first, "map")


# ---- a ranking as boxes: what notebooks show above the table, and precision down to each rank ------------------------
def test_labels_that_are_relevant_have_a_shade_and_count():
    made = boxes([("a", 4, 0.5), ("b", None, 0.5), ("c", -2, 0.5), ("d", 1, 0.75), ("e", 2, 1.0)], rel_level=2)
    assert [box.rank for box in made] == [1, 2, 3, 4, 5] and [box.label for box in made] == [4, None, None, 1, 2]
    assert [box.shade for box in made] == [1.0, 0.0, 0.0, 0.0, 0.5]
    assert [box.precision for box in made] == [1.0, 1 / 2, 1 / 3, 1 / 4, 2 / 5]
    assert boxes([("a", 0, 1.0)], rel_level=0)[0].shade == 1.0, "relevant by the caller's word"
    assert boxes([], 1) == []


def test_a_notebook_shows_the_first_ranks_as_boxes_above_the_table():
    qrels, run = {"q": {"a<": 2, "b": 0, "d": 1}}, {"q": {"a<": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}
    found = fastir.explain(qrels, run, "q", ["dcg", "map"])
    html = found._repr_html_()
    boxes, table = html.rsplit("<figure", 1)
    assert [boxes.count(part) for part in ("1px dashed", "px solid;", 'title="a&lt;"', "dcg down to it")] == [
        1, 3, 1, 1,
    ]  # fmt: skip
    assert "<script" not in html and boxes.count("2.000") == 3 and "<table" in table
    assert boxes.index("4px") < boxes.index("3px"), "the higher label has the thicker frame"
    many = fastir.explain(qrels, {"q": {f"d{j}": float(j) for j in range(500)}}, "q", "map")
    assert many._repr_html_().count("border: ") == 10
    empty = fastir.explain({"q": {"a": 1}}, {"q": {}}, "q", "map")
    assert "border: " not in empty._repr_html_()
