"""A worker that the system kills in any strategy, before it has done its work or after it, changes no value."""

import importlib
import os
import signal

import pytest

import fastir

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyspark")

from spark_rows import METRICS, data, lists, table  # noqa: E402

from fastir.spark import RankingEvaluator, compare, evaluate, evaluate_many, frames  # noqa: E402

pytestmark = [
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL"),
    pytest.mark.filterwarnings("ignore::fastir.FastirWarning"),
]

OPTIONS = {"queries": "qrels"}
JUDGED = {"validate": "judged"}
PASSES = ("tasks.one_pass", "tasks.merge_states")


def kill_around(function, folder):
    """The function, around whose first call in each pass its process is killed: once before it, once after it.

    A kill leaves a file, which the killed process alone has made. Workers import no test: they get this by value.
    """

    def kill_once(moment):
        try:
            open(os.path.join(folder, moment), "x").close()
        except FileExistsError:
            return
        os.kill(os.getpid(), signal.SIGKILL)

    name, of_passes = function.__name__, function.__name__ == "one_pass"

    def call(*arguments):
        in_pass = f"{name} {1 + (arguments[4] is not None)}" if of_passes else name
        kill_once(f"before {in_pass}")
        answer = function(*arguments)
        kill_once(f"after {in_pass}")
        return answer

    return call


@pytest.fixture
def kill_in(spark, tmp_path, monkeypatch):
    """Call it with the functions around which workers are killed; what it returns says whether all kills happened."""
    assert spark.conf.get("spark.master") == "local[2,8]"
    folder = tmp_path / "kills"
    folder.mkdir()

    def patch(*functions):
        expected = set()
        for module, name in (each.split(".") for each in functions):
            source = importlib.import_module(f"fastir.spark.{module}")
            monkeypatch.setattr(source, name, kill_around(getattr(source, name), str(folder)))
            named = [f"{name} 1", f"{name} 2"] if name == "one_pass" else [name]
            expected |= {f"{moment} {each}" for moment in ("before", "after") for each in named}
        return lambda: {path.name for path in folder.iterdir()} == expected

    return patch


def laid_out(spark, rows, strategy, folder=None):
    """The rows as a DataFrame of three partitions, or in as many files; whole queries lie together if they have to."""
    by_query = ["query_id"] if strategy == "grouped" else []
    frame = spark.createDataFrame(rows).repartition(3, *by_query)
    if folder is None:
        return frame
    frame.write.parquet(str(folder))
    return folder


STRATEGIES = {
    "shuffle": ("tasks.values",),
    "grouped": ("tasks.values",),
    "lists": ("tasks.values",),
    "two-pass": PASSES,
}


@pytest.mark.parametrize("in_files", [False, True], ids=["frame", "files"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_one_run(spark, given, tmp_path, kill_in, strategy, in_files):
    qrels, rows, run = given
    laid = laid_out(
        spark, lists(rows).slice(1) if strategy == "lists" else run, strategy, tmp_path / "run" if in_files else None
    )
    options = OPTIONS | (JUDGED if strategy == "two-pass" else {})
    packing = ("run_files.pack_rows",) if in_files and strategy == "shuffle" else ()
    killed = kill_in(*STRATEGIES[strategy], *packing)
    got = evaluate(qrels, laid, METRICS, strategy=strategy, **options)
    assert killed()
    assert got.results == fastir.evaluate(qrels, run, METRICS, **options)


@pytest.mark.parametrize(("strategy", "in_files"), [*((each, False) for each in STRATEGIES), ("shuffle", True)])
def test_many_runs(spark, tmp_path, kill_in, strategy, in_files):
    qrels, one = data()
    runs = {"one": one, "other": data(seed=7)[1]}
    tables = [lists(rows).slice(1) if strategy == "lists" else table(rows) for rows in runs.values()]
    named = [each.append_column("run", pa.array([name] * len(each))) for name, each in zip(runs, tables, strict=True)]
    laid = laid_out(spark, pa.concat_tables(named), strategy, tmp_path / "runs" if in_files else None)
    options = OPTIONS | (JUDGED if strategy == "two-pass" else {})
    packing = ("run_files.pack_rows",) if in_files and strategy == "shuffle" else ()
    killed = kill_in(*STRATEGIES[strategy], *packing)
    got = evaluate_many(qrels, laid, METRICS, strategy=strategy, **options)
    assert killed()
    assert dict(got) == {name: fastir.evaluate(qrels, table(rows), METRICS, **options) for name, rows in runs.items()}


@pytest.mark.parametrize("strategy", ["shuffle", "two-pass"])
def test_a_metric_of_the_callers_own(spark, given, kill_in, strategy):
    qrels, _, run = given
    metrics = ["mrr", fastir.custom_metric("depth", lambda judged: judged.num_ret)]
    options = OPTIONS | (JUDGED if strategy == "two-pass" else {})
    laid = laid_out(spark, run, strategy)
    killed = kill_in(*(PASSES if strategy == "two-pass" else ("tasks.rank_queries",)))
    got = evaluate(qrels, laid, metrics, strategy=strategy, **options)
    assert killed()
    assert got.results == fastir.evaluate(qrels, run, metrics, **options)


@pytest.mark.parametrize("several", [False, True], ids=["one run", "many runs"])
def test_large_qrels(spark, given, kill_in, monkeypatch, several):
    qrels, _, run = given
    monkeypatch.setattr(frames, "MAX_EVALUATOR_BYTES", 100)
    laid = laid_out(spark, run, "shuffle")
    killed = kill_in("buckets.bucket_states")
    if several:
        got = evaluate_many(qrels, laid.selectExpr("*", "'a' AS run"), METRICS, **OPTIONS)["a"]
    else:
        got = evaluate(qrels, laid, METRICS, **OPTIONS).results
    assert killed()
    assert got.values.tobytes() == fastir.evaluate(qrels, run, METRICS, **OPTIONS).values.tobytes()


def test_a_comparison_of_frames_that_workers_make(spark, tmp_path, kill_in):
    pytest.importorskip("scipy")
    qrels, one = data()
    runs = {"one": one, "other": data(seed=7)[1]}
    results = {}
    killed = kill_in("tasks.values")
    for name, rows in runs.items():
        results[name] = evaluate(qrels, laid_out(spark, table(rows), "shuffle"), ["ndcg@10", "map"], **OPTIONS)
    assert killed()
    of_batches = kill_around(lambda batches: list(batches), str(tmp_path))
    values = {
        name: each.per_query.repartition(3).mapInArrow(of_batches, each.per_query.schema)
        for name, each in results.items()
    }
    tables = {name: table(rows) for name, rows in runs.items()}
    wanted = fastir.compare(qrels, tables, ["ndcg@10", "map"], test="randomization", **OPTIONS)
    assert compare(results, test="randomization").pairs == wanted.pairs
    assert compare(values, test="randomization").pairs == wanted.pairs
    assert len(list(tmp_path.glob("* <lambda>"))) == 2


def test_a_ranking_evaluator(spark, given, kill_in):
    pytest.importorskip("pyspark.ml")
    query_ids, docs, scores = map(list, zip(*given[1], strict=True))
    labels = [float(len(doc) % 2) for doc in docs]
    predictions = [score + place / len(docs) for place, score in enumerate(scores)]  # no two are equal
    frame = spark.createDataFrame(pa.table({"query_id": query_ids, "label": labels, "prediction": predictions}))
    killed = kill_in("tasks.totals")
    got = RankingEvaluator(metric="ndcg@10").evaluate(frame.repartition(5))
    assert killed()
    assert got == fastir.evaluate_scores(labels, predictions, "ndcg@10", qid=query_ids)["ndcg@10"]
