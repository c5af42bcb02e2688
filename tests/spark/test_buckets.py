"""Qrels that are too large for every worker come to the run by buckets, with the bits of one machine."""

import pytest

import fastir

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyspark")

from spark_rows import METRICS, data, lists, same, table  # noqa: E402

from fastir.spark import evaluate, evaluate_many, frames  # noqa: E402


@pytest.fixture
def small(monkeypatch):
    """A limit that all qrels exceed, those of a DataFrame before they are collected."""
    monkeypatch.setattr(frames, "MAX_EVALUATOR_BYTES", 100)
    monkeypatch.setattr(frames, "MAX_JUDGMENTS", 3)


def judgments(qrels):
    rows = [(query, doc, label) for query, docs in qrels.items() for doc, label in docs.items()]
    return table(rows[::-1], ("query_id", "doc_id", "label"))


def alike(got, expected):
    """The same but for the order of the queries, which a DataFrame of qrels does not have."""
    assert got.results.query_ids == sorted(expected.query_ids)
    assert dict(got) == dict(expected)
    assert got.results.to_dict() == expected.to_dict()
    assert got.results.status == expected.status
    for field in fastir.data.results.report.Report.__slots__:
        if field != "repairs" and not field.endswith("_example"):
            assert getattr(got.report, field) == getattr(expected.report, field), field
    counts = [{kind: count for kind, (count, _) in each.report.repairs.items()} for each in (got, expected)]
    assert counts[0] == counts[1]


@pytest.mark.parametrize("partitions", [1, 7, 64])
def test_no_partitioning_changes_a_bit(spark, given, small, partitions):
    qrels, _, run = given
    expected = fastir.evaluate(qrels, run, METRICS, queries="qrels")
    frame = spark.createDataFrame(run).repartition(partitions)
    same(evaluate(qrels, frame, METRICS, queries="qrels"), expected)
    alike(
        evaluate(spark.createDataFrame(judgments(qrels)).repartition(partitions), frame, METRICS, queries="qrels"),
        expected,
    )


@pytest.mark.parametrize("options", [
    {"queries": "intersection", "n_threads": 2},
    {"queries": "qrels", "convention": "trec_eval-9", "weights": {f"q{i}": i / 7 for i in range(40)}},
    {"queries": "qrels", "duplicates": "max", "parents": {"d1": "d2"}, "aggregate": "sum", "ties": "average"},
], ids=str)  # fmt: skip
def test_options_are_those_of_evaluate(spark, given, small, options):
    qrels, _, run = given
    metrics = ["ndcg@10", "map", "mrr", "num_rel"]  # the last one differs among the queries that the run lacks
    got = evaluate(spark.createDataFrame(judgments(qrels)), spark.createDataFrame(run), metrics, **options)
    alike(got, fastir.evaluate(qrels, run, metrics, **options))


def test_query_ids_choose_among_qrels_that_the_driver_holds(spark, given, small):
    qrels, _, run = given
    chosen, frame = list(qrels)[::3], spark.createDataFrame(run)
    expected = fastir.evaluate(qrels, run, METRICS, queries=chosen)
    same(evaluate(qrels, frame, METRICS, queries=chosen), expected)
    with pytest.raises(fastir.NoOverlapError, match="query 'nowhere' is not in the qrels"):
        evaluate(qrels, frame, METRICS, queries=["nowhere"])
    with pytest.raises(fastir.FastirError, match="cannot choose query ids; filter the DataFrame"):
        evaluate(spark.createDataFrame(judgments(qrels)), frame, METRICS, queries=chosen)


def test_query_ids_choose_among_qrels_of_a_small_data_frame(spark, given):
    qrels, _, run = given
    chosen, frame, judged = list(qrels)[::3], spark.createDataFrame(run), spark.createDataFrame(judgments(qrels))
    expected = fastir.evaluate(qrels, run, METRICS, queries=chosen)
    got = evaluate(judged, frame, METRICS, queries=set(chosen))
    assert dict(got) == dict(expected) and got.results.to_dict() == expected.to_dict()


def test_ids_of_other_types_meet_as_strings(spark, small):
    qrels = pa.table({"query_id": pa.array([1, 1, 2], pa.int32()), "doc_id": [10, 11, 12], "rating": [1, 2, 1]})
    run = pa.table({"query_id": ["2", "1", "1"], "doc_id": ["12", "11", "10"], "score": [1.0, 0.5, 0.7]})
    got = evaluate(spark.createDataFrame(qrels), spark.createDataFrame(run), ["ndcg", "mrr"])
    expected = fastir.evaluate(qrels, run, ["ndcg", "mrr"])
    assert got.results == expected and got.results.query_ids == [1, 2]


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_lists_and_many_runs(spark, given, small):
    qrels, rows, _ = given
    frame = spark.createDataFrame(judgments(qrels))
    ranked = lists(rows)
    run = {
        query: dict(zip(docs, scores, strict=True))
        for query, docs, scores in zip(*(c.to_pylist() for c in ranked.columns), strict=True)
    }
    alike(
        evaluate(frame, spark.createDataFrame(ranked), METRICS, queries="qrels"),
        fastir.evaluate(qrels, run, METRICS, queries="qrels"),
    )
    of_runs = {name: data(seed)[1] for name, seed in (("b", 1), ("a", 7))}
    of_runs["b"] = [row for row in of_runs["b"] if row[0] in ("q5", "q6")]
    whole = [(name, *row) for name, rows in of_runs.items() for row in rows]
    many = spark.createDataFrame(table(whole, ("run", "query_id", "doc_id", "score")))
    got = evaluate_many(frame, many, METRICS, queries="qrels")
    assert list(got) == ["a", "b"]
    tables = {name: lists(rows) for name, rows in of_runs.items()}
    named = [each.append_column("run", pa.array([name] * len(each))) for name, each in tables.items()]
    by_lists = evaluate_many(frame, spark.createDataFrame(pa.concat_tables(named)), METRICS, queries="qrels")
    assert list(by_lists) == ["a", "b"]
    for name, rows in of_runs.items():
        expected = fastir.evaluate(qrels, table(rows), METRICS, queries="qrels")
        assert got[name].to_dict() == expected.to_dict()
        assert {**by_lists[name].to_dict(), "q0": None} == {**expected.to_dict(), "q0": None}  # an empty ranking here


def test_what_is_refused(spark, given, small):
    qrels, rows, run = given
    judged, frame = spark.createDataFrame(judgments(qrels)), spark.createDataFrame(run)
    with pytest.raises(fastir.FastirError, match=r"^qrels: two passes take at most 100 bytes when prepared; strategy"):
        evaluate(judged, frame, "mrr", strategy="two-pass", validate="judged")
    with pytest.raises(fastir.FastirError, match=r"^qrels: two passes take at most 100 bytes when prepared; strategy"):
        evaluate_many(judged, frame.selectExpr("*", "'a' AS run"), "mrr", strategy="two-pass", validate="judged")
    with pytest.raises(fastir.FastirError, match=r"^qrels: more than 100 bytes when prepared, and with groups"):
        evaluate({"q5": {"0": {"d1": 1}}}, frame, "alpha_ndcg@10")
    with pytest.raises(fastir.NoOverlapError, match=r"queries='strict', but query 'q0' is missing from the run"):
        evaluate(judged, frame, "mrr", queries="strict")
    twice = spark.createDataFrame(table([*rows, (*rows[0][:2], 1.0)]))
    with pytest.raises(fastir.DuplicateError, match=rf"'{rows[0][1]}'.*{rows[0][0]}.*in bucket \d+; its rows"):
        evaluate(judged, twice, "mrr")
    with pytest.raises(fastir.UnknownMetricError, match="ndgc"):
        evaluate(judged, frame, "ndgc")
