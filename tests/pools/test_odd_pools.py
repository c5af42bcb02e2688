"""Pools of runs without rows or queries, and contributions to graded judgments and to groups."""

import pytest

import fastir

RUNS = {"a": {"q": {"x": 3.0, "y": 2.0, "z": 1.0}, "p": {"v": 1.0}}, "b": {}, "c": {"p": {"v": 2.0}}}
QRELS = {"q": {"x": 1, "y": 2, "z": 3, "w": 2}, "p": {"v": 2, "u": 1}}


def test_a_run_without_rows_adds_nothing_to_a_pool():
    assert list(fastir.pool(RUNS, 2)) == [("q", "x", ("a",)), ("q", "y", ("a",)), ("p", "v", ("a", "c"))]
    assert list(fastir.pool({"b": {}}, 2)) == []


def test_contributions_count_from_the_level_of_relevance_on():
    found = fastir.contributions(QRELS, RUNS, rel_level=2)
    assert (found.judged, found.relevant, found.nobody_judged, found.nobody_relevant) == (6, 4, 2, 1)
    assert found.teams == {"a": (4, 3, 3, 2), "b": (0, 0, 0, 0), "c": (1, 1, 0, 0)}


def test_contributions_to_groups_count_the_largest_label_of_a_document():
    groups = {"q": {"1": {"x": 0, "y": 1}, "2": {"x": 2, "z": -1}}}
    found = fastir.contributions(groups, {"a": {"q": {"x": 1.0, "z": 0.5}}})
    assert {row.doc_id: row.label for row in found} == {"x": 2, "y": 1}
    assert found.teams == {"a": (1, 1, 1, 1)} and found.nobody_relevant == 1


def test_contributions_are_a_table_whose_first_column_is_text():
    found = fastir.contributions(QRELS, RUNS, rel_level=2)
    rows = [line.split() for line in found.to_table().splitlines()[1:4]]
    assert rows == [["a", "4", "3", "3", "2"], ["b", "0", "0", "0", "0"], ["c", "1", "1", "0", "0"]]
    assert found.to_table("markdown").splitlines()[1] == "| :--- | ---: | ---: | ---: | ---: |"


def test_a_list_to_judge_without_candidates_is_a_frame_with_its_columns():
    pytest.importorskip("pandas")
    runs = {"a": {"q": {"x": 1.0}}, "b": {"q": {"x": 2.0}}}
    found = fastir.to_judge({"q": {"x": 1}}, runs, "map", 3)
    assert len(found) == 0 and list(found.to_pandas().columns) == ["query_id", "doc_id", "influence", "n_runs"]


def test_where_a_metric_is_undefined_the_influence_counts_from_0():
    runs = {"both": {"q": ["a", "x"]}, "neither": {"q": ["x"]}}
    found = fastir.to_judge({"q": {"a": 1}}, runs, "mean_rank", 3)
    assert list(found) == [("q", "x", 0.5, 2)]  # from 1 to 1.5 in one run, and from 0 to 1 in the other


def test_documents_to_rank_100_can_be_judged_unless_another_depth_is_given():
    runs = {"deep": {"q": [f"d{i}" for i in range(150)]}, "other": {"q": ["d0"]}}
    assert len(fastir.to_judge({"q": {"d0": 1}}, runs, "map", 500)) == 99
    assert len(fastir.to_judge({"q": {"d0": 1}}, runs, "map", 500, pool_depth=None)) == 149


def test_a_list_to_judge_says_what_it_lacks():
    runs = {"a": {"q": ["x"]}, "b": {"q": ["x"]}}
    assert repr(fastir.to_judge({"q": {"x": 1}}, runs, "map", 3)).startswith("0 of 0 unjudged documents on map\n")
    with pytest.raises(fastir.errors.NoOverlapError, match="no run has a query of the qrels"):
        fastir.to_judge({"other": {"x": 1}}, runs, "map", 3)
