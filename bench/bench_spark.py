"""Runs on Spark, with two cores: every strategy against a job that only counts the same rows in Python, and peers.

Wall clock: the work is done by other processes. The peers are Spark's own RankingMetrics, two metrics by a pass each,
and for all five one query with window functions, or one that counts by a join.
"""

import shutil

import pytest
from timing import METRICS, Goal
from workloads import passage_columns

FILES = 4
ROUNDS = 5
COUNT, REPARTITION = "counting the rows", "repartition and counting"
BY_JOIN = "SQL that counts by a join, five metrics"
OURS = {name: f"fastir, {name}" for name in ("lists", "grouped", "shuffle", "two-pass")}
OF_FILES = {name: f"{title}, files" for name, title in OURS.items()}
RANKING_METRICS, WINDOWS = "RankingMetrics, two metrics", "SQL with windows, five metrics"

# Both queries differ in how they find the ranks of the judged documents.
RANKED = """
WITH ranked AS (SELECT query_id, doc_id, row_number() OVER (PARTITION BY query_id ORDER BY score DESC, doc_id DESC) AS r
                FROM run),
     placed AS (SELECT query_id, r, label FROM ranked JOIN qrels USING (query_id, doc_id) WHERE label > 0),
"""
COUNTED = """
WITH found AS (SELECT query_id, doc_id, score, label FROM run JOIN qrels USING (query_id, doc_id) WHERE label > 0),
     placed AS (SELECT /*+ BROADCAST(found) */ found.query_id, any_value(label) AS label,
                       1 + count_if(run.score > found.score
                                    OR run.score = found.score AND run.doc_id > found.doc_id) AS r
                FROM run JOIN found ON run.query_id = found.query_id GROUP BY found.query_id, found.doc_id),
"""
METRICS_OF_PLACES = """
     hits AS (SELECT query_id, r, label, row_number() OVER (PARTITION BY query_id ORDER BY r) AS n FROM placed),
     ideal AS (SELECT query_id, sum(if(i <= 10, label / log2(i + 1), 0)) AS dcg, count(1) AS n_rel
               FROM (SELECT *, row_number() OVER (PARTITION BY query_id ORDER BY label DESC) AS i
                     FROM qrels WHERE label > 0) GROUP BY query_id),
     queries AS (SELECT query_id, any_value(dcg) AS ideal_dcg, any_value(n_rel) AS n_rel,
                        coalesce(sum(if(r <= 10, label / log2(r + 1), 0)), 0) AS dcg, coalesce(sum(n / r), 0) AS ap,
                        coalesce(max(1 / r), 0) AS rr, count_if(r <= 10) AS at_10, count_if(r <= 100) AS at_100
                 FROM ideal LEFT JOIN hits USING (query_id) GROUP BY query_id)
SELECT avg(dcg / ideal_dcg) AS `ndcg@10`, avg(ap / n_rel) AS map, avg(rr) AS mrr, avg(at_10 / 10) AS `P@10`,
       avg(at_100 / n_rel) AS `recall@100` FROM queries
"""
SQL, SQL_BY_JOIN = RANKED + METRICS_OF_PLACES, COUNTED + METRICS_OF_PLACES


def session_of(settings):
    """A session with two cores, on this machine alone."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]")
    common = {"spark.ui.enabled": "false", "spark.log.level": "ERROR"}
    here = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    for name, value in {**common, **here, **settings}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


@pytest.fixture(scope="module")
def spark():
    pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("no Java: default-jre-headless on Debian")
    session = session_of({"spark.sql.shuffle.partitions": "8", "spark.driver.memory": "4g"})
    yield session
    session.stop()


@pytest.fixture(scope="module")
def stored(spark, quick, tmp_path_factory):
    """The qrels, and {name: a folder with the run}: rows in any order, rows of whole queries, and rankings as lists."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import parquet

    queries = 96 if quick else 10_000
    qrels, grouped = (
        {name: column.astype(str) if name.endswith("id") else column for name, column in side.items()}
        for side in passage_columns(queries, 1000, False)
    )
    run = pa.table(grouped)
    n = run.num_rows
    folder = tmp_path_factory.mktemp("run")
    tables = {
        "any order": run.take(np.random.default_rng(1).permutation(n)),
        "grouped": run,
        "lists": pa.table({
            "query_id": run["query_id"].take(np.arange(0, n, 1000)),
            **{
                f"{name}s": pa.ListArray.from_arrays(
                    np.arange(0, n + 1, 1000, np.int32), run[name].combine_chunks()
                )
                for name in ("doc_id", "score")
            },
        }),
    }  # fmt: skip
    for name, table in tables.items():
        (folder / name).mkdir()
        whole = 1000 if name == "grouped" else 1  # rows that stay together
        size = -(-table.num_rows // FILES // whole) * whole
        for first in range(0, table.num_rows, size):
            parquet.write_table(table.slice(first, size), folder / name / f"{first:09}.parquet")
    return pa.table(qrels), {name: str(folder / name) for name in tables}


@pytest.fixture(scope="module")
def frames(spark, stored):
    return {name: spark.read.parquet(folder) for name, folder in stored[1].items()}


def counted(frame):
    def count(batches):
        import pyarrow

        rows = sum(batch.num_rows for batch in batches)
        yield pyarrow.RecordBatch.from_pydict({"n": [rows]})

    return sum(frame.mapInArrow(count, "n long").toArrow()["n"].to_pylist())


def evaluated(qrels, run, strategy):
    from fastir.spark import evaluate

    options = {"validate": "judged"} if strategy == "two-pass" else {}
    return dict(evaluate(qrels, run, METRICS, strategy=strategy, queries="qrels", **options))


@pytest.mark.parametrize("strategy", ["lists", "grouped"])
def test_runs_as_they_lie(race, stored, frames, strategy):
    qrels, folders = stored
    assert evaluated(qrels, frames[strategy], strategy) == evaluated(qrels, frames["any order"], "shuffle")
    ours, files = OURS[strategy], OF_FILES[strategy]
    calls = {
        ours: lambda: evaluated(qrels, frames[strategy], strategy),
        files: lambda: evaluated(qrels, folders[strategy], strategy),
        COUNT: lambda: counted(frames[strategy]),
    }
    assert calls[files]() == calls[ours]()
    goals = [Goal(ours, COUNT, 1 / 1.3, "wall"), Goal(files, COUNT, 1, "wall")]
    race(f"Spark, {strategy}", calls, goals, ROUNDS)


def test_rows_in_any_order(race, stored, frames):
    import fastir

    qrels, folders = stored
    run, folder = frames["any order"], folders["any order"]
    shuffle, passes = OURS["shuffle"], OURS["two-pass"]
    calls = {
        shuffle: lambda: evaluated(qrels, run, "shuffle"), passes: lambda: evaluated(qrels, run, "two-pass"),
        OF_FILES["shuffle"]: lambda: evaluated(qrels, folder, "shuffle"),
        OF_FILES["two-pass"]: lambda: evaluated(qrels, folder, "two-pass"), COUNT: lambda: counted(run),
        REPARTITION: lambda: counted(run.repartition("query_id")),
    }  # fmt: skip
    expected = dict(fastir.evaluate(qrels, run.toArrow(), METRICS))
    assert all(calls[name]() == expected for name in (shuffle, passes, OF_FILES["shuffle"], OF_FILES["two-pass"]))
    goals = [
        Goal(shuffle, REPARTITION, 1 / 1.25, "wall"), Goal(passes, COUNT, 1 / 2.6, "wall"),
        Goal(passes, shuffle, None, "wall"), Goal(OF_FILES["shuffle"], COUNT, 1, "wall"),
        Goal(OF_FILES["two-pass"], COUNT, 1, "wall"),
    ]  # fmt: skip
    race("Spark, rows in any order", calls, goals, ROUNDS)


def test_peers(race, spark, stored, frames):
    qrels, folders = stored
    run = frames["any order"]
    shuffle, files, passes = OURS["shuffle"], OF_FILES["shuffle"], OF_FILES["two-pass"]
    spark.createDataFrame(qrels).createOrReplaceTempView("qrels")
    run.createOrReplaceTempView("run")
    calls = {
        shuffle: lambda: evaluated(qrels, run, "shuffle"),
        files: lambda: evaluated(qrels, folders["any order"], "shuffle"),
        passes: lambda: evaluated(qrels, folders["any order"], "two-pass"),
        RANKING_METRICS: lambda: ranking_metrics(spark),
        WINDOWS: lambda: spark.sql(SQL).toArrow().to_pylist()[0],
        BY_JOIN: lambda: spark.sql(SQL_BY_JOIN).toArrow().to_pylist()[0],
    }
    answers = {name: call() for name, call in calls.items()}
    for name in (WINDOWS, BY_JOIN):
        assert answers[name] == pytest.approx(answers[shuffle], abs=1e-12)
    assert answers[RANKING_METRICS]["map"] == pytest.approx(answers[shuffle]["map"], abs=1e-12)
    goals = [
        Goal(shuffle, RANKING_METRICS, 2.5, "wall"),
        *(Goal(ours, name, 3, "wall") for ours in (shuffle, files, passes) for name in (WINDOWS, BY_JOIN)),
    ]
    race("Spark, peers", calls, goals, ROUNDS)


def ranking_metrics(spark):
    """Two metrics of pyspark.ml's evaluator, which takes ids that are doubles and knows no grades."""
    from pyspark.ml.evaluation import RankingEvaluator

    rankings = spark.sql(
        """
        SELECT prediction, label FROM
            (SELECT query_id, transform(sort_array(collect_list(struct(score, doc_id)), false),
                                        each -> double(each.doc_id)) AS prediction FROM run GROUP BY query_id)
        JOIN (SELECT query_id, collect_list(double(doc_id)) AS label FROM qrels WHERE label > 0 GROUP BY query_id)
        USING (query_id)
        """
    )
    found = {}
    for name, metric in (("map", "meanAveragePrecision"), ("binary ndcg@10", "ndcgAtK")):
        found[name] = RankingEvaluator(metricName=metric, k=10).evaluate(rankings)
    return found
