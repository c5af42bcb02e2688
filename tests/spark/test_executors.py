"""An executor that is lost, with its workers and the files of its shuffles, changes no bit, whatever the strategy."""

import os
import shutil
import subprocess
import sys

import pytest

CODE = """
import os
import signal
import tempfile

import pyarrow as pa
from pyspark.sql import SparkSession

import fastir
from fastir.spark import buckets, evaluate, frames, tasks

spark = (
    SparkSession.builder.master("local-cluster[2,1,600]")
    .config("spark.executor.memory", "600m")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "3")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.log.level", "OFF")
    .getOrCreate()
)
qrels = {f"q{i}": {f"d{i + j}": j % 3 for j in range(5)} for i in range(20)}
rows = [(f"q{i}", f"d{j}", float(i * j % 7)) for j in range(30) for i in range(2, 20)]
run = pa.table(dict(zip(("query_id", "doc_id", "score"), map(list, zip(*rows)))))
by_query = {query: [row[1:] for row in rows if row[0] == query] for query in dict.fromkeys(row[0] for row in rows)}
lists = pa.table(
    {
        "query_id": list(by_query),
        "doc_ids": [[doc for doc, _ in docs] for docs in by_query.values()],
        "scores": [[score for _, score in docs] for docs in by_query.values()],
    }
)
folder = tempfile.mkdtemp()


def parent(pid):
    with open(f"/proc/{pid}/stat") as stat:
        return int(stat.read().rpartition(")")[2].split()[1])


def lost_once(function, mark):
    def once(*arguments):
        if not os.path.exists(mark):
            open(mark, "w").close()
            os.kill(parent(os.getppid()), signal.SIGKILL)  # of the worker's daemon: the executor
        return function(*arguments)

    return once


def check(strategy, module, name, data, **options):
    function, mark = getattr(module, name), os.path.join(folder, f"{strategy} {name}")
    setattr(module, name, lost_once(function, mark))
    try:
        got = evaluate(qrels, spark.createDataFrame(data).repartition(4, "query_id"), ["ndcg@10", "map"], **options)
    finally:
        setattr(module, name, function)
    expected = fastir.evaluate(qrels, run, ["ndcg@10", "map"], queries="qrels")
    assert os.path.exists(mark) and got.results.values.tobytes() == expected.values.tobytes(), strategy
    print("the same:", strategy, name, flush=True)


for strategy in ("shuffle", "grouped", "lists"):
    check(strategy, tasks, "values", lists if strategy == "lists" else run, strategy=strategy, queries="qrels")
for name in ("one_pass", "merged"):
    check("two-pass", tasks, name, run, queries="qrels", validate="judged")
frames.MOST_BYTES = 100
check("buckets", buckets, "bucket_states", run, queries="qrels")
spark.stop()
"""


def test_an_executor_that_is_lost_is_replaced():
    pytest.importorskip("pyspark")
    pytest.importorskip("pyarrow")
    if shutil.which("java") is None:
        pytest.skip("no Java: default-jre-headless on Debian")
    if not os.path.exists("/proc/self/stat"):
        pytest.skip("no /proc, which says which process is the executor")
    package = os.path.dirname(os.path.dirname(__import__("fastir").__file__))
    here = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": package}
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, timeout=600, env=here)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("the same:") == 6
