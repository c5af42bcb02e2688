"""What people try first and is not what they mean: an error that says what to do, and no number."""

import pytest
from common import EXAMPLES

import fastir

QRELS, RUN = {"q": {"d1": 1}}, {"q": {"d1": 1.0, "d2": 2.0}}
LONG = [("a", "q", "d1", 2.0), ("a", "q", "d2", 1.0), ("b", "q", "d2", 2.0), ("b", "q", "d1", 1.0)]


def frame(rows, names=("system", "query_id", "doc_id", "score")):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(rows, columns=list(names))


def test_runs_that_change_between_batches_are_seen():
    pyarrow = pytest.importorskip("pyarrow")
    names = ["system", "query_id", "doc_id", "score"]
    rows = [dict(zip(names, row, strict=True)) for row in LONG]
    batches = [pyarrow.RecordBatch.from_pylist(part) for part in (rows[:2], rows[2:])]
    with pytest.raises(ValueError, match="such as 'a' and 'b'"):
        fastir.evaluate(QRELS, pyarrow.Table.from_batches(batches), "mrr")


def test_partitions_of_several_runs_are_not_one_run(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    pyarrow = pytest.importorskip("pyarrow")
    names = ["run", "query_id", "doc_id", "score"]
    table = pyarrow.Table.from_pylist([dict(zip(names, row, strict=True)) for row in LONG])
    parquet.write_to_dataset(table, tmp_path, partition_cols=["run"])
    with pytest.raises(ValueError, match="several runs in its column 'run'"):
        fastir.evaluate(QRELS, tmp_path, "mrr")
    assert fastir.evaluate(QRELS, tmp_path / "run=a", "mrr")["mrr"] == 1.0


def test_values_whose_metrics_nobody_knows():
    first = {"a": {"q1": {"own": 0.1}, "q2": {"own": 0.3}}, "b": {"q1": {"own": 0.2}, "q2": {"own": 0.2}}}
    with pytest.raises(ValueError, match="run 'a': neither 'q1' nor 'own' is the name of a metric; say with metrics="):
        fastir.compare_scores(first)
    assert fastir.compare_scores(first, "own").metrics == ["own"]
    turned = {run: {"own": {q: row["own"] for q, row in rows.items()}} for run, rows in first.items()}
    assert fastir.compare_scores(turned, "own") == fastir.compare_scores(first, "own")


def test_compare_takes_what_was_evaluated_before(tmp_path):
    qrels, bm25, dense = (str(EXAMPLES / name) for name in ("qrels.txt", "bm25.run", "dense.run"))
    pytest.importorskip("scipy")
    a, b = (fastir.evaluate(qrels, run, ["map", "mrr"]) for run in (bm25, dense))
    a.save(tmp_path / "a.json")
    expected = fastir.compare(qrels, {"a": bm25, "b": dense}, ["map", "mrr"])
    for first, second in ((a, b), (tmp_path / "a.json", b), (a, dense), (bm25, b)):
        assert fastir.compare(qrels, {"a": first, "b": second}, ["map", "mrr"]).pairs == expected.pairs
    seeds = fastir.compare(qrels, {"a": [a, a], "b": [b, b]}, "map", seeds="mean")
    assert seeds.pairs == fastir.compare(qrels, {"a": [bm25] * 2, "b": [dense] * 2}, "map", seeds="mean").pairs
    with pytest.raises(TypeError, match="ties: it has no effect on Results"):
        fastir.compare(qrels, {"a": a, "b": b}, "map", ties="input")
    with pytest.raises(ValueError, match="run 'a' has no metric 'P@5'"):
        fastir.compare(qrels, {"a": a, "b": b}, "P@5")


def test_ratings_and_lists_of_files():
    with pytest.raises(TypeError, match=r"unknown option 'threshold'; for ratings Qrels\.from_table and from_file"):
        fastir.evaluate(QRELS, RUN, "mrr", threshold=4)
    with pytest.raises(TypeError, match="give their folder or a pattern, and several runs to evaluate_many"):
        fastir.evaluate(QRELS, ["a.parquet", "b.parquet"], "mrr")
    ratings = frame([("u", "i", 4.5), ("u", "j", 2.0)], ("user", "item", "rating"))
    predicted = frame([("u", "j", 0.9), ("u", "i", 0.8)], ("user", "item", "prediction"))
    qrels = fastir.Qrels.from_table(ratings, threshold=4)
    assert fastir.evaluate(qrels, predicted, ["hit_ratio@1", "HR@2"]).values.tolist() == [[0.0, 1.0]]


@pytest.mark.parametrize("name", ["coverage", "coverage@10", "gini", "novelty@5", "catalog_coverage", "ILD@10"])
def test_what_is_no_mean_over_queries(name):
    with pytest.raises(fastir.UnknownMetricError, match="it does not depend on the ranks of relevant documents"):
        fastir.evaluate(QRELS, RUN, name)


def test_files_and_groups_that_are_nearly_tables(tmp_path):
    pandas = pytest.importorskip("pandas")
    parquet = pytest.importorskip("pyarrow.parquet")
    given = frame(LONG)
    given.to_parquet(tmp_path / "r.parquet")
    with pytest.raises(TypeError, match=r"got a pyarrow ParquetFile, which is not a table yet; expected run\.read\(\)"):
        fastir.evaluate(QRELS, parquet.ParquetFile(tmp_path / "r.parquet"), "mrr")
    with pytest.raises(TypeError, match=r"got a pandas DataFrameGroupBy.*expected run\.obj"):
        fastir.evaluate(QRELS, given.groupby("system"), "mrr")
    assert isinstance(given, pandas.DataFrame)
