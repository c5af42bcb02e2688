"""From rows to columns grouped by query: labels are integers, and both rows of a duplicate are named."""

import numpy as np
import pytest
from common import UNEVEN

import fastir

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")

pytestmark = UNEVEN


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("rows", [
    [("a", "x", 1.0), ("a", "y", 1.0), ("a", "x", 2.0)],
    [("b", "y", 1.0), ("a", "x", 1.0), ("b", "z", 1.0), ("a", "x", 2.0)],
    [("foreign", "x", 1.0), ("a", "y", 1.0), ("foreign", "x", 2.0)],
])  # fmt: skip
def test_a_document_that_stands_twice_names_both_rows(rows, threads):
    qrels = {"a": {"x": 1, "u": 0}, "b": {"y": 1}}
    first, later = (i for i, row in enumerate(rows) if row[1] == "x")
    message = f"duplicate document 'x' in query '{rows[later][0]}', in rows {first} and {later}"
    with pytest.raises(fastir.DuplicateError, match=message):
        fastir.evaluate(qrels, rows, "map", n_threads=threads)
    results = fastir.evaluate(qrels, rows, "map", n_threads=threads, duplicates="last")
    assert results.report.repairs["duplicates"][0] == 1
    if rows[later][0] == "a":
        with pytest.raises(fastir.DuplicateError, match=message):
            fastir.evaluate(qrels, rows, "map", n_threads=threads, validate="judged")
    else:
        assert fastir.evaluate(qrels, rows, "map", n_threads=threads, validate="judged")["map"] == 0.0


@pytest.mark.parametrize(
    "label, kind", [(2.0**31, OverflowError), (float("nan"), ValueError), (float("inf"), OverflowError)]
)
def test_labels_of_a_table_are_in_the_range_of_32_bits(label, kind):
    table = {"query_id": ["a", "a"], "doc_id": ["x", "y"], "label": [1.0, label]}
    with pytest.raises(kind, match=r"row 1.*\(query a, document y\)"):
        fastir.Qrels.from_table(table)


def test_half_stars_become_labels_by_a_threshold(tmp_path):
    ratings = {"userId": [1, 1, 1, 2], "movieId": [10, 11, 12, 10], "rating": [4.0, 3.5, 0.5, 5.0]}
    expected = {1: {10: 1, 11: 0, 12: 0}, 2: {10: 1}}
    for made in (dict, pandas.DataFrame, pyarrow.table):
        assert fastir.Qrels.from_table(made(ratings), threshold=4).to_dict() == expected
    pandas.DataFrame(ratings).to_csv(tmp_path / "ratings.csv", index=False)
    assert str(fastir.Qrels.from_file(tmp_path / "ratings.csv", threshold=4).to_dict()) == str(
        {str(user): {str(item): label for item, label in items.items()} for user, items in expected.items()}
    )
    assert fastir.evaluate(ratings, {1: {11: 2.0, 12: 1.0}}, "dcg@1").per_query("dcg@1") == {1: 3.5, 2: 0.0}
    with pytest.raises(ValueError, match="row 1: 'rating' is NaN"):
        fastir.Qrels.from_table({**ratings, "rating": [4.0, np.nan, 0.5, 5.0]}, threshold=4)
    (tmp_path / "qrels.txt").write_text("q 0 d 1\n")
    with pytest.raises(
        ValueError, match="threshold is for ratings in a table, csv, tsv, jsonl, parquet, arrow; got format 'trec'"
    ):
        fastir.Qrels.from_file(tmp_path / "qrels.txt", threshold=4)
    with pytest.raises(TypeError, match="threshold must be a number"):
        fastir.Qrels.from_table(ratings, threshold="4")


@pytest.mark.parametrize("sign", [-1, 1])
def test_labels_go_from_the_least_to_the_largest_of_32_bits(sign):
    largest = 2**31 - 1 if sign > 0 else 2**31
    for label in (largest - 1, largest, largest - 0.5):
        table = {"query_id": ["q", "q"], "doc_id": ["a", "b"], "label": [1, sign * label]}
        assert fastir.Qrels.from_table(table).to_dict() == {"q": {"a": 1, "b": sign * label}}
    for label in (largest + 1, largest + 0.5 if sign < 0 else 2.0**31, 2**40):
        table = {"query_id": ["q", "q"], "doc_id": ["a", "b"], "label": [1, sign * label]}
        with pytest.raises(OverflowError, match=r"qrels: row 1: 'label' .* is out of range; .*\(query q, document b\)"):
            fastir.Qrels.from_table(table)
