"""A session of Spark Connect, which has no JVM of its own, has the same numbers."""

import os
import shutil
import subprocess
import sys

import pytest
from processes import patient

CODE = """
import sys
import pyarrow as pa
import pyarrow.parquet
from pyspark.sql import SparkSession

import fastir
import fastir.spark.frames

spark = SparkSession.builder.remote("local[2]").config("spark.sql.shuffle.partitions", "3").getOrCreate()
assert "connect" in type(spark).__module__
qrels = {f"q{i}": {f"d{i + j}": j % 3 for j in range(5)} for i in range(20)}
rows = [(f"q{i}", f"d{j}", float(i * j % 7)) for j in range(30) for i in range(2, 20)]
run = pa.table(dict(zip(("query_id", "doc_id", "score"), map(list, zip(*rows)))))
expected = fastir.evaluate(qrels, run, ["ndcg@10", "map"], queries="qrels")
got = fastir.spark.evaluate(qrels, spark.createDataFrame(run).repartition(3), ["ndcg@10", "map"], queries="qrels")
assert got.results == expected and got.report == expected.report
assert got.per_query.count() == 20
two = fastir.spark.evaluate(
    qrels, spark.createDataFrame(run).repartition(3), ["ndcg@10", "map"], queries="qrels", validate="judged"
)
assert two.results == expected
judged = pa.table({"query_id": [q for q in qrels for _ in range(5)], "doc_id": [d for q in qrels.values() for d in q],
                   "label": [label for q in qrels.values() for label in q.values()]})
pyarrow.parquet.write_table(run, sys.argv[1])
assert fastir.spark.evaluate(qrels, sys.argv[1], ["ndcg@10", "map"], queries="qrels").results == expected
fastir.spark.frames.MAX_JUDGMENTS = 10
buckets = fastir.spark.evaluate(spark.createDataFrame(judged), spark.createDataFrame(run), ["ndcg@10", "map"])
assert dict(buckets) == dict(expected)
try:
    fastir.spark.evaluate(qrels, spark.createDataFrame(run).repartition(2), "map", strategy="grouped")
except ValueError as error:
    print(error)
spark.stop()
"""


def test_a_connect_session_has_the_same_numbers(tmp_path):
    pytest.importorskip("pyspark")
    pytest.importorskip("grpc")
    pytest.importorskip("pyarrow")
    if shutil.which("java") is None:
        pytest.skip("no Java: default-jre-headless on Debian")
    here = {**os.environ, "PYSPARK_PYTHON": sys.executable}  # workers import fastir as this process does
    call = [sys.executable, "-c", CODE, str(tmp_path / "run.parquet")]
    done = subprocess.run(call, capture_output=True, text=True, timeout=patient(300), env=here)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "lie in two partitions" in done.stdout
