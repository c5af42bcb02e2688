"""What an evaluation on Spark costs, against rows and partitions: measured here, kept in spark_costs.json.

    python bench/spark_costs.py all FOLDER [MOST]                 every figure of the page, up to MOST rows (10^8)
    python bench/spark_costs.py invent FOLDER ROWS FILES          a run in any order, grouped and as lists; its qrels
    python bench/spark_costs.py invent-judged FOLDER ROWS FILES   the same rankings, and a judgment for every row
    python bench/spark_costs.py invent-skewed FOLDER ROWS FILES   all rows of one query
    python bench/spark_costs.py measure FOLDER ROUNDS [NAME ...]  the contenders, on two cores

Every file of a run is a partition. Each contender has a process and a session of its own: its first call is cold, the
rounds after it are warm. "Files" are those that the workers read themselves. Memory is the largest that its processes
had. docs/site/pictures.py writes the plot and the tables of docs/spark_costs.md from the record.
"""

import contextlib
import datetime
import functools
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from bench_spark import COUNT, REPARTITION, SQL, SQL_BY_JOIN, counted, evaluated, ranking_metrics, session_of
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
BUCKETS, LARGE_QRELS = "large qrels, by buckets", "large qrels, no Spark"
ALONE = (ONE_PROCESS, LARGE_QRELS)  # without Spark
OF_ROWS = {"shuffle": "any order", "two-pass": "any order", "grouped": "grouped", "lists": "lists"}  # their layouts
OURS = (*OF_ROWS, *(f"{each}, files" for each in OF_ROWS))
PEERS = ("SQL", "SQL that counts by a join", "RankingMetrics")
BASES = (COUNT, "counting the lists", "counting the grouped rows", REPARTITION, ONE_PROCESS)
SWEEP = (1, 2, 4, 8, 32, 64)  # partitions, besides those of the other figures


# ---- invented runs ---------------------------------------------------------------------------------------------------
def invent(folder, n_rows, n_files, n_judged=JUDGED):
    """The same rankings three times: query q has DEPTH documents from all over the collection."""
    folder = Path(folder)
    queries = np.arange(n_rows // DEPTH)
    first = np.random.default_rng(1).integers(0, DEPTH, len(queries))
    judged = (first[:, None] + np.arange(n_judged)) % DEPTH
    write(
        folder / "qrels.parquet",
        query_id=text(np.repeat(queries, n_judged)),
        doc_id=text(docs(np.repeat(queries, n_judged), judged.ravel())),
        label=np.tile(1 + np.arange(n_judged) % 2, len(queries)),
    )
    for name in LAYOUTS:
        (folder / name).mkdir(parents=True, exist_ok=True)
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


def invent_judged(folder, n_rows, n_files):
    """All documents of a ranking are judged, which makes the qrels too large for every worker."""
    invent(folder, n_rows, n_files, DEPTH)


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


def one_process(folder):
    qrels = parquet.read_table(folder / "qrels.parquet")
    return lambda: dict(fastir.evaluate(qrels, dataset.dataset(folder / "any order").to_table(), METRICS))


def contenders(spark, folder):
    """{name: call} of those in Spark."""
    qrels = parquet.read_table(folder / "qrels.parquet")
    frames = {name: spark.read.parquet(str(folder / name)) for name in LAYOUTS if (folder / name).exists()}
    judgments = spark.read.parquet(str(folder / "qrels.parquet"))
    judgments.createOrReplaceTempView("qrels")
    frames["any order"].createOrReplaceTempView("run")
    laid_out = {strategy: name for strategy, name in OF_ROWS.items() if name in frames}
    return {
        **{each: functools.partial(evaluated, qrels, frames[name], each) for each, name in laid_out.items()},
        **{
            f"{each}, files": functools.partial(evaluated, qrels, str(folder / name), each)
            for each, name in laid_out.items()
        },
        BUCKETS: lambda: evaluated(judgments, frames["any order"], "shuffle"),
        COUNT: lambda: counted(frames["any order"]),
        "counting the lists": lambda: counted(frames["lists"]),
        "counting the grouped rows": lambda: counted(frames["grouped"]),
        REPARTITION: lambda: counted(frames["any order"].repartition("query_id")),
        "RankingMetrics": lambda: ranking_metrics(spark),
        "SQL": lambda: spark.sql(SQL).toArrow().to_pylist()[0],
        "SQL that counts by a join": lambda: spark.sql(SQL_BY_JOIN).toArrow().to_pylist()[0],
    }


def measure_all(folder, most=10**8):
    """Every figure of the page; a run is removed when it is measured."""
    folder, most = Path(folder), int(most)
    small, middle = most // 100, most // 10
    for rows in (small, middle):
        with invented(invent, folder, rows, 16) as run:
            measure(run, 3, *OURS, *PEERS, *BASES)
    for files in SWEEP:
        with invented(invent, folder, middle, files) as run:
            measure(run, 1, *OURS)
    with invented(invent_judged, folder, middle, 16) as run:
        measure(run, 1, BUCKETS, LARGE_QRELS)
    with invented(invent, folder, most, 64) as run:
        measure(run, 0, *OURS)
    with invented(invent_skewed, folder, most, 64) as run:
        measure(run, 0, "two-pass", "two-pass, files")


@contextlib.contextmanager
def invented(how, folder, rows, files):
    """A folder with a run, which is removed at the end."""
    run = folder / f"{how.__name__} {rows} {files}"
    run.mkdir(parents=True)
    print(f"{rows} rows in {files} files", flush=True)
    try:
        how(run, rows, files)
        yield run
    finally:
        shutil.rmtree(run)


def measure(folder, rounds, *names):
    """Measure contenders one after the other, and compare their answers."""
    answers = {}
    for name in names or (*OURS, *PEERS, *BASES):
        call = [sys.executable, __file__, "call", str(folder), str(rounds), name]
        *_, answer = subprocess.check_output(call, text=True).splitlines()
        answers[name] = json.loads(answer)
    values = {name: answer for name, answer in answers.items() if isinstance(answer, dict)}
    for one in values.values():
        for other in values.values():
            both = one.keys() & other.keys()
            assert all(math.isclose(one[metric], other[metric], rel_tol=1e-9) for metric in both), values
    ours = [values[name] for name in values if name not in PEERS]
    assert all(one == ours[0] for one in ours), values


def call(folder, rounds, name):
    """Call one contender, keep its figures, and print its answer."""
    folder, rounds = Path(folder), int(rounds)
    n_files = len(list((folder / "any order").iterdir()))
    n_rows = dataset.dataset(folder / "any order").count_rows()
    n_queries = len(parquet.read_table(folder / "qrels.parquet")["query_id"].unique())
    spark = None if name in ALONE else session()
    if spark is not None:
        spark.conf.set("spark.sql.shuffle.partitions", str(n_files))
    contender = one_process(folder) if spark is None else contenders(spark, folder)[name]
    costs = []
    for number in range(1 + rounds):
        began = time.perf_counter(), cpu_seconds()
        answer = contender()
        costs.append((time.perf_counter() - began[0], cpu_seconds() - began[1]))
        text = f"{n_rows} rows, {n_files} files, {name}, {'warm' if number else 'cold'}"
        print(f"{text}: {costs[-1][0]:.2f} s, {costs[-1][1]:.2f} s of cores", file=sys.stderr, flush=True)
    figure = {"rows": n_rows, "queries": n_queries, "partitions": n_files, "what": name}
    figure |= dict(zip(("cold_wall", "cold_cpu"), (round(cost, 3) for cost in costs[0]), strict=True))
    if rounds:
        warm = (round(statistics.median(clock), 3) for clock in zip(*costs[1:], strict=True))
        figure |= dict(zip(("wall", "cpu"), warm, strict=True)) | {"rounds": rounds}
    keep(figure | memory())
    print(json.dumps(answer))


def memory():
    """The largest memory that this process, the JVM and a worker have had, in MB of 10^6 bytes."""
    largest = {"driver_mb": 0, "jvm_mb": 0, "worker_mb": 0}
    for pid in processes():
        try:
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        except OSError:  # it has just ended
            continue
        status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
        kind = "driver_mb" if pid == os.getpid() else "jvm_mb" if status["Name"] == "java" else "worker_mb"
        if "VmHWM" in status:
            largest[kind] = max(largest[kind], round(int(status["VmHWM"].split()[0]) * 1024 / 1e6))
    return largest


def cpu_seconds():
    """Of this process, the JVM, and its workers, those that have ended among them."""
    ticks = 0
    for fields in processes().values():
        ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def processes():
    """{number: the fields of its stat from the state on} of this process and those below it."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            found[int(stat.parent.name)] = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
    tree = {os.getpid()}
    while more := {pid for pid, fields in found.items() if int(fields[1]) in tree} - tree:
        tree |= more
    return {pid: found[pid] for pid in tree}


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
    inventors = {"invent": invent, "invent-judged": invent_judged, "invent-skewed": invent_skewed}
    if command in inventors:
        inventors[command](Path(folder), *map(int, more))
    else:
        {"all": measure_all, "measure": measure, "call": call}[command](folder, *more)
