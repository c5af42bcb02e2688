"""Values per query that lie on a cluster are compared with the numbers of fastir.compare."""

import pytest

import fastir

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyspark")
pytest.importorskip("scipy")

from spark_rows import data, table  # noqa: E402

from fastir.spark import compare, evaluate  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")


def test_the_numbers_are_those_of_compare(spark, tmp_path):
    qrels, one = data()
    other = data(seed=7)[1]
    metrics = ["ndcg@10", "map"]
    wanted = fastir.compare(qrels, {"a": table(one), "b": table(other)}, metrics, test="randomization", queries="qrels")
    got = {
        name: evaluate(qrels, spark.createDataFrame(table(rows)).repartition(3), metrics, queries="qrels")
        for name, rows in (("a", one), ("b", other))
    }
    path = str(tmp_path / "b")
    got["b"].per_query.repartition(2).write.parquet(path)
    for runs in (got, {"a": got["a"].per_query, "b": spark.read.parquet(path)}):
        assert compare(runs, test="randomization").pairs == wanted.pairs
    frames = {name: each.per_query for name, each in got.items()}
    [pair] = compare(frames, "map").pairs
    assert pair.metric == "map"
    with pytest.raises(ValueError, match=r"^run 'a': the frame has no column 'mrr'; it has 'query_id', 'ndcg@10'"):
        compare(frames, "mrr")
    with pytest.raises(ValueError, match=r"^run 'b': the frame has two rows of query 'q\d+'"):
        compare({"a": got["a"], "b": got["b"].per_query.union(got["b"].per_query)})
    with pytest.raises(TypeError, match="runs must be a mapping"):
        compare([got["a"]])
