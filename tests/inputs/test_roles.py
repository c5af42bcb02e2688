"""What the columns of a table are called, and the one that each role has."""

import pytest
from common import UNEVEN

import fastir

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")
pytestmark = UNEVEN


def test_columns_that_are_called_otherwise():
    run = {"Q": ["a", "a"], "D": ["x", "y"], "S": [1.0, 2.0]}
    qrels = {"Q": ["a"], "D": ["x"], "grade": [3]}
    columns = {"query_id": "Q", "doc_id": "D", "score": "S", "label": "grade"}
    assert fastir.evaluate(qrels, run, "mrr", columns=columns)["mrr"] == 0.5
    assert fastir.Run.from_table(run, columns).to_dict() == {"a": {"x": 1.0, "y": 2.0}}
    with pytest.raises(ValueError, match=r"no column 'query_id'.*it has 'Q', 'D', 'S'"):
        fastir.Run.from_table(run)
    with pytest.raises(ValueError, match="columns: unknown role 'document'"):
        fastir.evaluate({"a": {"x": 1}}, run, "mrr", columns={"document": "D"})


def test_the_field_s_names_have_an_order():
    """PyTerrier's frames have docid and docno, and the second is the id."""
    table = {
        "qid": ["1", "1"], "docid": [0, 1], "docno": ["x", "y"], "rank": [1, 2], "score": [2.0, 1.0],
        "query": ["?", "?"],
    }  # fmt: skip
    assert fastir.evaluate({"1": {"y": 1}}, table, "mrr")["mrr"] == 0.5


@pytest.mark.parametrize("user", ["user_id", "userId"])
@pytest.mark.parametrize("item", ["item_id", "itemId", "movieId"])
def test_the_names_that_recommenders_use(user, item):
    ratings = {user: ["u", "u", "v"], item: [7, 8, 7], "rating": [4.0, 1.0, 3.0]}
    predicted = {user: ["u", "u", "v"], item: [7, 8, 7], "rating": [4.0, 1.0, 3.0], "prediction": [3.5, 3.9, 4.0]}
    for made in (dict, pandas.DataFrame, pyarrow.table):
        results = fastir.evaluate(made(ratings), made(predicted), "mrr", rel_level=3)
        assert results.per_query("mrr") == {"u": 0.5, "v": 1.0}


def test_a_dict_that_lacks_a_column_is_a_table_without_it():
    with pytest.raises(
        ValueError, match="no column 'score' or 'prediction' or 'similarity' or 'rank'; it has 'query_id', 'doc_id'"
    ):
        fastir.evaluate({"q1": {"d3": 1}}, {"query_id": ["q1"], "doc_id": ["d3"]}, "mrr")
