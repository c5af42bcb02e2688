"""A ranking as boxes: what notebooks show above the table, and precision down to each rank."""

import fastir
from fastir.analyses.explain.boxes import boxes


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
        1,
        3,
        1,
        1,
    ]
    assert "<script" not in html and boxes.count("2.000") == 3 and "<table" in table
    assert boxes.index("4px") < boxes.index("3px"), "the higher label has the thicker frame"
    many = fastir.explain(qrels, {"q": {f"d{j}": float(j) for j in range(500)}}, "q", "map")
    assert many._repr_html_().count("border: ") == 10
    empty = fastir.explain({"q": {"a": 1}}, {"q": {}}, "q", "map")
    assert "border: " not in empty._repr_html_()
