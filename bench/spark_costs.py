"""What an evaluation on Spark costs, against rows and partitions: measured here, kept in spark_costs.json.

    python bench/spark_costs.py invent FOLDER ROWS FILES          a run in any order, grouped and as lists; its qrels
    python bench/spark_costs.py invent-skewed FOLDER ROWS FILES   all rows of one query
    python bench/spark_costs.py measure FOLDER ROUNDS [NAME ...]  the contenders in turns, on two cores

Every file of a run is a partition. The plot of docs/spark_costs.md is drawn from the record by docs/site/pictures.py.
"""

import datetime
import functools
import json
import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from bench_spark import COUNT, REPARTITION, SQL, counted, evaluated, ranking_metrics, session_of
from pyarrow import dataset, parquet
from timing import METRICS

import fastir

HERE = Path(__file__).resolve().parent
RECORD = HERE / "spark_costs.json"
DEPTH, JUDGED = 1000, 2  # documents of a ranking, and judgments of a query
DOCS = 8_841_823  # a prime, as many documents as MS MARCO has passages
LAYOUTS = ("any order", "grouped", "lists")
OF = ("what", "rows", "queries", "partitions")  # of a figure
ONE_PROCESS = "one process, no Spark"


# ---- invented runs ---------------------------------------------------------------------------------------------------


def invent(folder, n_rows, n_files):
    """The same rankings three times: query q has DEPTH documents from all over the collection."""
    folder = Path(folder)
    queries = np.arange(n_rows // DEPTH)
    first = np.random.default_rng(1).integers(0, DEPTH, len(queries))
    judged = (first[:, None] + np.arange(JUDGED)) % DEPTH
    write(
        folder / "qrels.parquet",
        query_id=text(np.repeat(queries, JUDGED)),
        doc_id=text(docs(np.repeat(queries, JUDGED), judged.ravel())),
        label=np.tile(np.arange(1, JUDGED + 1), len(queries)),
    )
    for name in LAYOUTS:
        (folder / name).mkdir(exist_ok=True)
    for number, own in enumerate(np.array_split(queries, n_files)):
        places = np.arange(number, DEPTH, n_files)  # of every ranking, which all files have some rows of
        query, place = np.repeat(queries, len(places)), np.tile(places, len(queries))
        order = np.random.default_rng(number).permutation(len(query))
        rows(folder / "any order" / f"{number:03}.parquet", query[order], place[order])
        query, place = np.repeat(own, DEPTH), np.tile(np.arange(DEPTH), len(own))
        rows(folder / "grouped" / f"{number:03}.parquet", query, place)
        starts = np.arange(0, len(query) + 1, DEPTH, np.int32)
        write(
            folder / "lists" / f"{number:03}.parquet",
            query_id=text(own),
            doc_ids=pa.ListArray.from_arrays(starts, text(docs(query, place))),
            scores=pa.ListArray.from_arrays(starts, pa.array(scores(query, place))),
        )


def invent_skewed(folder, n_rows, n_files):
    """One query that has all rows, the score of document d being a mixture of its bits: no two are equal."""
    folder = Path(folder)
    (folder / "any order").mkdir(parents=True, exist_ok=True)
    judged = np.random.default_rng(1).choice(n_rows, DEPTH, replace=False)
    write(folder / "qrels.parquet", query_id=text(judged * 0), doc_id=text(judged), label=1 + judged % 3)
    for number in range(n_files):
        doc = np.arange(number, n_rows, n_files)
        score = mixed(doc).astype(float)
        write(folder / "any order" / f"{number:03}.parquet", query_id=text(doc * 0), doc_id=text(doc), score=score)


def docs(query, place):
    """Different ones for the places of a query."""
    return (mixed(query) + place * (1 + mixed(query + DOCS) % (DOCS - 1))) % DOCS


def scores(query, place):
    """Three decimals, some of which are equal."""
    return mixed(query * DEPTH + place) % 40_000 / 1000


def mixed(number):
    """A permutation of the numbers below 2^52, which looks like chance."""
    mask = (1 << 52) - 1
    for factor in (0x9E3779B97F4A7, 0x2545F4914F6CD):
        number = number * factor & mask
        number ^= number >> 26
    return number


def text(numbers):
    return pa.array(numbers).cast(pa.string())


def rows(path, query, place):
    write(path, query_id=text(query), doc_id=text(docs(query, place)), score=scores(query, place))


def write(path, **columns):
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.table(columns), path)


# ---- measured --------------------------------------------------------------------------------------------------------


def session():
    settings = {
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "6g",
        "spark.sql.files.maxPartitionBytes": "1g",
        "spark.sql.files.openCostInBytes": "1g",  # so that no two files share a partition
    }
    return session_of(settings)


def contenders(spark, folder):
    """{name: call}, the answers of which are equal where they are of the same metrics."""
    qrels = parquet.read_table(folder / "qrels.parquet")
    frames = {name: spark.read.parquet(str(folder / name)) for name in LAYOUTS if (folder / name).exists()}
    spark.createDataFrame(qrels).createOrReplaceTempView("qrels")
    frames["any order"].createOrReplaceTempView("run")
    layouts = {"shuffle": "any order", "two-pass": "any order", "grouped": "grouped", "lists": "lists"}
    calls = {
        strategy: functools.partial(evaluated, qrels, frames[name], strategy)
        for strategy, name in layouts.items()
        if name in frames
    }
    return {
        **calls,
        COUNT: lambda: counted(frames["any order"]),
        "counting the lists": lambda: counted(frames["lists"]),
        "counting the grouped rows": lambda: counted(frames["grouped"]),
        REPARTITION: lambda: counted(frames["any order"].repartition("query_id")),
        "RankingMetrics": lambda: ranking_metrics(spark),
        "SQL": lambda: spark.sql(SQL).toArrow().to_pylist()[0],
        ONE_PROCESS: lambda: dict(fastir.evaluate(qrels, dataset.dataset(folder / "any order").to_table(), METRICS)),
    }


def measure(folder, rounds, *names):
    folder, rounds = Path(folder), int(rounds)
    n_files = len(list((folder / "any order").iterdir()))
    n_rows = dataset.dataset(folder / "any order").count_rows()
    n_queries = len(set(parquet.read_table(folder / "qrels.parquet")["query_id"].to_pylist()))
    spark = session()
    spark.conf.set("spark.sql.shuffle.partitions", str(n_files))
    calls = contenders(spark, folder)
    calls = {name: calls[name] for name in names or calls}
    costs, answers = {name: [] for name in calls}, {}
    for number in range(rounds + (rounds > 1)):  # the first of several warms up
        for name in random.sample(list(calls), len(calls)):
            began = time.perf_counter(), cpu_seconds()
            answer = calls[name]()
            cost = time.perf_counter() - began[0], cpu_seconds() - began[1]
            print(f"{n_rows} rows, {n_files} files, {name}: {cost[0]:.2f} s, {cost[1]:.2f} s of cores", flush=True)
            if isinstance(answer, dict) and len(answer) == len(METRICS) and name != "SQL":
                answers[name] = answer
            if number or rounds == 1:
                costs[name].append(cost)
                wall, cpu = (round(statistics.median(clock), 3) for clock in zip(*costs[name], strict=True))
                of = {"rows": n_rows, "queries": n_queries, "partitions": n_files, "what": name}
                keep({**of, "wall": wall, "cpu": cpu, "rounds": len(costs[name])})
    assert len(set(map(repr, answers.values()))) <= 1, answers


def cpu_seconds():
    """Of this process, the JVM, and its workers, those that have ended among them."""
    parents, used = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        parents[int(stat.parent.name)] = int(fields[1])
        used[int(stat.parent.name)] = sum(map(int, fields[11:15]))
    tree = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in tree} - tree:
        tree |= more
    return sum(used[pid] for pid in tree) / os.sysconf("SC_CLK_TCK")


def keep(figure):
    """Put a figure into the record, in place of an older one of the same."""
    commit = subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], text=True, cwd=HERE).strip()
    record = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else []
    found = {tuple(each[name] for name in OF): each for each in record}
    found[tuple(figure[name] for name in OF)] = figure | {"commit": commit, "date": f"{datetime.date.today()}"}
    lines = ",\n".join(json.dumps(found[key]) for key in sorted(found))
    RECORD.write_text(f"[\n{lines}\n]\n", "utf-8")


if __name__ == "__main__":
    command, folder, *more = sys.argv[1:]
    if command == "measure":
        measure(folder, *more)
    else:
        {"invent": invent, "invent-skewed": invent_skewed}[command](folder, *map(int, more))
