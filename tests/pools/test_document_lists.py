"""Pools and lists of documents as files: tables, or qrels that wait for their labels."""

import pytest
from pooled_runs import made

import fastir


def test_a_pool_is_written_as_a_table(tmp_path):
    pytest.importorskip("pandas")
    pool = fastir.pool({"a": {"q": {"x": 2.0, "y": 1.0}}, "b": {"q": {"x": 1.0}}}, 2)
    pool.save(tmp_path / "pool.tsv")
    assert (tmp_path / "pool.tsv").read_text() == "query_id\tdoc_id\truns\nq\tx\ta,b\nq\ty\ta\n"
    assert pool.to_pandas().to_dict("list") == {
        "query_id": ["q", "q"],
        "doc_id": ["x", "y"],
        "runs": [("a", "b"), ("a",)],
    }
    assert [row.doc_id for row in pool.unjudged({"q": {"x": 0, "y": -1}})] == ["y"]
    with pytest.raises(ValueError, match=r"must end in \.tsv, \.qrels or \.txt, got "):
        pool.save(tmp_path / "pool.csv")


def test_a_list_needs_a_name_that_says_its_format(tmp_path):
    _, runs = made()
    with pytest.raises(ValueError, match=r"must end in \.tsv, \.qrels or \.txt, got "):
        fastir.to_judge({"q0": {"d1": 1}}, runs, "map", 3).save(tmp_path / "next.csv")
    (tmp_path / "next.txt").write_text("before")
    with pytest.raises(ValueError, match="document id 'a b' is empty or holds white space"):
        fastir.pool({"run": {"q": {"a b": 1.0}}}, 1).save(tmp_path / "next.txt")
    assert (tmp_path / "next.txt").read_text() == "before"


def test_a_list_is_written_as_a_table(tmp_path):
    runs = {"a": {"q": {"x": 2.0}}, "b": {"q": {"y": 1.0}}}
    chosen = fastir.to_judge({"q": {"z": 1}}, runs, "p@1", 1)
    chosen.save(tmp_path / "next.tsv")
    assert (tmp_path / "next.tsv").read_text() == "query_id\tdoc_id\tinfluence\tn_runs\nq\tx\t1.0\t1\n"
    assert repr(chosen).startswith("1 of 2 unjudged documents, 50% of the influence on p@1\n")
