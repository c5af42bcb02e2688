"""Runs that are Parquet files are read by the workers, with the bits of one machine; no row passes through the JVM."""

import itertools
import types

import numpy as np
import pytest

import fastir

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyspark")

from pyarrow import parquet  # noqa: E402
from spark_rows import METRICS, lists, same, table  # noqa: E402

from fastir.spark import evaluate, evaluate_many, frames, run_files  # noqa: E402

N_FILES = 3
OPTIONS = {"queries": "qrels"}


def written(folder, tables):
    """Files with these tables, in a folder whose name a URI escapes."""
    folder = folder / "a run, 100 %"
    folder.mkdir(parents=True)
    for number, rows in enumerate(tables):
        parquet.write_table(rows, folder / f"part {number}.parquet", row_group_size=50)
    return folder


def strewn(run):
    """Some rows of every query in each file."""
    return [run.take(np.arange(number, run.num_rows, N_FILES)) for number in range(N_FILES)]


def by_query(rows):
    """All rows of a query in one file."""
    return [table([row for row in rows if int(row[0][1:]) % N_FILES == number]) for number in range(N_FILES)]


@pytest.fixture
def no_rows_of_spark(monkeypatch):
    """Without the function that reads columns of a DataFrame."""
    monkeypatch.setattr(frames, "number_columns", None)


@pytest.mark.usefixtures("no_rows_of_spark")
@pytest.mark.parametrize("strategy", ["shuffle", "two-pass", "grouped", "lists"])
def test_files_have_the_bits_of_one_machine(spark, given, tmp_path, strategy):
    qrels, rows, run = given
    tables = {"grouped": by_query(rows), "lists": [lists(rows)]}.get(strategy) or strewn(run)
    options = OPTIONS | ({"validate": "judged"} if strategy == "two-pass" else {})
    got = evaluate(qrels, written(tmp_path, tables), METRICS, strategy=strategy, **options)
    expected = fastir.evaluate(qrels, run, METRICS, **options)
    if strategy == "lists":  # with a ranking of q0 that is empty
        assert dict(got) == dict(expected)
    else:
        assert got.results == expected


@pytest.mark.usefixtures("no_rows_of_spark")
@pytest.mark.parametrize("given_as", [str, lambda folder: sorted(folder.iterdir()), lambda folder: (str(folder),)])
def test_paths_are_one_or_several(spark, given, tmp_path, given_as):
    qrels, _, run = given
    got = evaluate(qrels, given_as(written(tmp_path, strewn(run))), METRICS, **OPTIONS)
    same(got, fastir.evaluate(qrels, run, METRICS, **OPTIONS))


@pytest.mark.usefixtures("no_rows_of_spark")
def test_files_without_rows_and_one_without_queries_of_the_qrels(spark, given, tmp_path):
    qrels, _, run = given
    some = [run.slice(0, 0), run, table([("elsewhere", "d1", 1.0)])]
    got = evaluate(qrels, written(tmp_path, some), METRICS, **OPTIONS)
    assert got.results == fastir.evaluate(qrels, run, METRICS, **OPTIONS)
    assert got.report.only_in_run == 5
    with pytest.raises(fastir.NoOverlapError, match="the run is empty"):
        evaluate(qrels, written(tmp_path / "empty", some[:1]), METRICS)


def test_a_folder_above_the_run_is_no_column_of_it(spark, given, tmp_path):
    qrels, _, run = given
    folder = written(tmp_path / "score=1" / "query_id=old", strewn(run))
    same(evaluate(qrels, folder, METRICS, **OPTIONS), fastir.evaluate(qrels, run, METRICS, **OPTIONS))


@pytest.mark.usefixtures("no_rows_of_spark")
@pytest.mark.parametrize("strategy", ["shuffle", "two-pass"])
def test_folders_name_the_runs(spark, given, tmp_path, strategy):
    qrels, rows, run = given
    runs = {"bm25": run, "other": table([(query, doc, -score) for query, doc, score in rows])}
    for name, columns in runs.items():
        written(tmp_path / f"run={name}", strewn(columns))
    options = OPTIONS | ({"validate": "judged"} if strategy == "two-pass" else {})
    got = evaluate_many(qrels, tmp_path, METRICS, strategy=strategy, **options)
    assert dict(got) == dict(fastir.evaluate_many(qrels, runs, METRICS, **options))


def test_many_runs_whose_second_pass_is_in_portions(spark, given, tmp_path, monkeypatch):
    from fastir.spark import two_pass

    qrels, _, run = given
    for name in "abc":
        written(tmp_path / f"run={name}", strewn(run))
    monkeypatch.setattr(two_pass, "MAX_STATE_BYTES", 100)
    got = evaluate_many(qrels, tmp_path, METRICS, validate="judged", **OPTIONS)
    expected = fastir.evaluate(qrels, run, METRICS, validate="judged", **OPTIONS)
    assert list(got) == ["a", "b", "c"]
    assert all(one.values.tobytes() == expected.values.tobytes() for one in got.values())


@pytest.mark.usefixtures("no_rows_of_spark")
def test_a_column_is_the_order_of_rows_and_one_is_the_segment(spark, given, tmp_path):
    qrels, rows, run = given
    more = run.append_column("position", pa.array(range(len(rows)))).append_column("kind", pa.array(["k"] * len(rows)))
    got = evaluate(qrels, written(tmp_path, strewn(more)), METRICS, ties="input", by="kind", queries="intersection")
    expected = fastir.evaluate(qrels, run, METRICS, ties="input", queries="intersection")
    assert got.results == expected
    assert got.by_segment["k"] == dict(expected)


@pytest.mark.usefixtures("no_rows_of_spark")
def test_custom_metrics_and_files_of_integer_ids(spark, tmp_path):
    qrels = {1: {10: 1, 11: 2}, 2: {10: 1}}
    run = table([(1, 11, 0.5), (2, 12, 0.9), (1, 12, 0.9), (2, 10, 0.2)])
    depth = fastir.custom_metric("depth", lambda judged: judged.num_ret)
    got = evaluate(qrels, written(tmp_path, strewn(run)), ["ndcg@10", depth])
    assert got.results == fastir.evaluate(qrels, run, ["ndcg@10", depth])


def test_large_qrels_take_the_rows_of_spark(spark, given, tmp_path, monkeypatch):
    qrels, _, run = given
    monkeypatch.setattr(frames, "MAX_EVALUATOR_BYTES", 100)
    got = evaluate(qrels, written(tmp_path, strewn(run)), METRICS, **OPTIONS)
    assert dict(got) == dict(fastir.evaluate(qrels, run, METRICS, **OPTIONS))


def test_files_that_only_spark_can_read_are_read_by_it(spark, given, tmp_path, monkeypatch):
    qrels, _, run = given
    monkeypatch.setattr(run_files, "PYARROW_SCHEMES", {"s3a": "s3"})
    same(
        evaluate(qrels, written(tmp_path, strewn(run)), METRICS, **OPTIONS),
        fastir.evaluate(qrels, run, METRICS, **OPTIONS),
    )
    elsewhere = ["s3a://bucket/b.parquet", "s3a://bucket/a.parquet"]
    frame = types.SimpleNamespace(inputFiles=lambda: elsewhere, limit=lambda n: spark.range(n))
    assert run_files.readable_files(frame).uris == ("s3://bucket/a.parquet", "s3://bucket/b.parquet")


def test_errors_name_the_file(spark, given, tmp_path):
    qrels, rows, run = given
    nan = table([("q5", "x", float("nan"))])
    folder = written(tmp_path, [*by_query(rows), nan])
    with pytest.raises(ValueError, match=r"^run: .*NaN.*q5.* \(in file '/.*/a run, 100 %/part 3\.parquet'; its rows"):
        evaluate(qrels, folder, METRICS, strategy="grouped")
    with pytest.raises(ValueError, match=r"^run: .*NaN.*q5.*in partition \d"):
        evaluate(qrels, folder, METRICS)
    (folder / "part 3.parquet").unlink()
    with pytest.raises(ValueError, match=r"^run: the rows of query 'q.*' lie in two partitions"):
        evaluate(qrels, written(tmp_path / "strewn", strewn(run)), METRICS, strategy="grouped")
    with pytest.raises(TypeError, match="expected a Spark DataFrame or paths of Parquet files, got list"):
        evaluate(qrels, [], METRICS)


def test_paths_need_a_session(monkeypatch):
    monkeypatch.setattr(frames.sql.SparkSession, "getActiveSession", lambda: None)
    with pytest.raises(RuntimeError, match=r"^run: paths of files need an active Spark session"):
        evaluate({"q": {"d": 1}}, "run.parquet", "map")


@pytest.mark.parametrize("at_a_time", [1, 60, 10**6])
def test_packs_hold_all_rows_and_a_query_is_in_one_bucket(given, monkeypatch, at_a_time):
    rows = [*given[1], (None, "d1", 1.0)]
    monkeypatch.setattr(run_files, "BLOCK_ROWS", at_a_time)
    packs = list(run_files.make_packer(5)(table(rows).to_batches(max_chunksize=50), "a file"))
    assert len(packs) == {1: -(-len(rows) // 50), 60: -(-len(rows) // 100), 10**6: 1}[at_a_time]
    found, bucket_of = [], {}
    for pack in itertools.chain.from_iterable(batch.to_pylist() for batch in packs):
        one = pa.RecordBatch.from_pydict({name: [value] for name, value in pack.items()})
        for some in run_files.unpack_rows(iter([one])):
            found += zip(*(column.to_pylist() for column in some.columns), strict=True)
            for query in set(some[0].to_pylist()):
                assert bucket_of.setdefault(query, pack["bucket"]) == pack["bucket"]
    assert sorted(found, key=str) == sorted(rows, key=str)
    assert len(set(bucket_of.values())) == 5
