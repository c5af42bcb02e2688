"""Two passes over a DataFrame give the bits of one machine, and no row moves, whatever a partition has."""

import os
import random

import pytest

import fastir

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyspark")

from spark_rows import METRICS, data, table  # noqa: E402

from fastir.spark import evaluate, two_pass  # noqa: E402

OPTIONS = {"validate": "judged", "queries": "qrels"}
CHECKED = "only judged documents checked for duplicates"


@pytest.fixture(scope="module")
def given():
    qrels, rows = data()
    return qrels, rows, table(rows)


def same_but_for_what_was_checked(got, expected):
    assert got.results == expected
    assert CHECKED in got.report.repairs
    assert (got.report.in_both, got.report.queries_with_ties) == (
        expected.report.in_both,
        expected.report.queries_with_ties,
    )
    assert got.report.only_in_run == expected.report.only_in_run


@pytest.mark.parametrize("partitions", [1, 7, 64])
def test_no_partitioning_changes_a_bit(spark, given, partitions):
    qrels, _, run = given
    frame = spark.createDataFrame(run).repartition(partitions)
    same_but_for_what_was_checked(
        evaluate(qrels, frame, METRICS, **OPTIONS), fastir.evaluate(qrels, run, METRICS, **OPTIONS)
    )


@pytest.mark.parametrize("ties", ["trec", "doc_id_asc", "optimistic", "pessimistic"])
def test_one_query_in_all_partitions_with_many_ties(spark, ties):
    rng = random.Random(3)
    docs = rng.sample(range(5000), 2000)
    qrels = {"q": {f"d{doc}": rng.randrange(4) for doc in docs[:50]}}
    run = table([("q", f"d{doc}", float(rng.randrange(30))) for doc in docs])
    frame = spark.createDataFrame(run).repartition(6)
    got = evaluate(qrels, frame, METRICS, ties=ties, score_dtype="float32", **OPTIONS)
    same_but_for_what_was_checked(
        got, fastir.evaluate(qrels, run, METRICS, ties=ties, score_dtype="float32", **OPTIONS)
    )


def test_empty_partitions_and_states_that_tasks_merge(spark, given, monkeypatch):
    qrels, rows, _ = given
    few = [row for row in rows if row[0] in ("q5", "q6", "q41")]
    frame = spark.createDataFrame(table(few)).filter("score > 0").repartition(9, "query_id")
    expected = fastir.evaluate(qrels, table([row for row in few if row[2] > 0]), METRICS, **OPTIONS)
    monkeypatch.setattr(two_pass, "DRIVER_JUDGMENTS", 0)
    same_but_for_what_was_checked(evaluate(qrels, frame, METRICS, strategy="two-pass", **OPTIONS), expected)
    with pytest.raises(fastir.NoOverlapError, match="the run is empty"):
        evaluate(qrels, frame.filter("score < 0"), METRICS, **OPTIONS)


def test_weights_warnings_and_integer_ids_are_those_of_one_machine(spark):
    qrels = {1: {10: 1, 11: 2}, 2: {12: 1}, 3: {13: 1}}
    run = pa.table({"query_id": [2, 1, 1, 4], "doc_id": [12, 11, 10, 1], "score": [1.0, 0.5, 0.7, 1.0]})
    options = {"validate": "judged", "weights": {1: 0.1, 2: 0.7, 3: 0.3}, "n_threads": 2}
    with pytest.warns(fastir.FastirWarning) as here:
        expected = fastir.evaluate(qrels, run, ["ndcg", "mrr"], **options)
    with pytest.warns(fastir.FastirWarning) as there:
        got = evaluate(qrels, spark.createDataFrame(run).repartition(2), ["ndcg", "mrr"], **options)
    same_but_for_what_was_checked(got, expected)
    said = [[str(one.message) for one in made if one.category is fastir.FastirWarning] for made in (here, there)]
    assert said[0] == said[1]


def test_ranks_stand_in_for_scores_and_for_the_order_of_rows(spark, given):
    qrels, rows, _ = given
    last, ranked = {}, []
    for query, doc, _ in rows:
        last[query] = last.get(query, 0) + 1
        ranked.append((query, doc, last[query]))
    run = table(ranked, ("query_id", "doc_id", "rank"))
    got = evaluate(qrels, spark.createDataFrame(run).repartition(3), METRICS, ties="input", **OPTIONS)
    assert got.results == fastir.evaluate(qrels, run, METRICS, ties="input", **OPTIONS)


def test_a_judged_document_that_stands_twice(spark, given):
    qrels, rows, _ = given
    query, doc = "q9", next(iter(qrels["q9"]))
    rest = [row for row in rows if row[:2] != (query, doc)]
    frame = spark.createDataFrame(table([(query, doc, 30.0), *rest, (query, doc, 31.0)]))
    one = frame.coalesce(1)
    with pytest.raises(
        fastir.DuplicateError, match=rf"duplicate document '{doc}' in query '{query}'.*in partition 0, whose"
    ):
        evaluate(qrels, one, "mrr", **OPTIONS)
    halves = frame.filter("score <> 31").union(frame.filter("score = 31"))
    with pytest.raises(fastir.DuplicateError, match=rf"duplicate judged document in query '{query}', in two parts"):
        evaluate(qrels, halves, "mrr", **OPTIONS)
    with pytest.warns(fastir.FastirWarning, match="1 duplicate was repaired"):
        got = evaluate(qrels, halves, METRICS, duplicates="once", **OPTIONS)
    whole = table([(query, doc, 30.0), *rest, (query, doc, 31.0)])
    with pytest.warns(fastir.FastirWarning):
        expected = fastir.evaluate(qrels, whole, METRICS, duplicates="once", **OPTIONS)
    same_but_for_what_was_checked(got, expected)


def test_bad_rows_are_errors_with_the_row_and_the_partition(spark, given):
    qrels, rows, _ = given
    nan = spark.createDataFrame(table([*rows[:700], ("q9", "x", float("nan")), *rows[700:]])).coalesce(1)
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "100")
    try:
        with pytest.raises(ValueError, match=r"row 700: .*NaN.*in partition 0, whose rows are counted from 0"):
            evaluate(qrels, nan, "mrr", **OPTIONS)
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")


def test_what_two_passes_cannot_do_is_refused_or_shuffled(spark, given):
    qrels, _, run = given
    frame = spark.createDataFrame(run).repartition(3)
    with pytest.raises(
        ValueError, match=r"^strategy='two-pass' looks for duplicates only among judged documents: give"
    ):
        evaluate(qrels, frame, "mrr", strategy="two-pass")
    with pytest.raises(ValueError, match=r"^two passes cannot remove duplicates"):
        evaluate(qrels, frame, "mrr", strategy="two-pass", duplicates="max", **OPTIONS)
    with pytest.raises(ValueError, match=r"^ties='input' needs the order of rows"):
        evaluate(qrels, frame, "mrr", ties="input", **OPTIONS)
    got = evaluate(qrels, frame, "mrr", ties="average", **OPTIONS)  # "auto" takes the shuffle
    assert got.results == fastir.evaluate(qrels, run, "mrr", ties="average", **OPTIONS)
    assert CHECKED not in got.report.repairs


def test_partitions_with_several_runs_are_refused(spark, given):
    qrels, rows, _ = given
    names = ("query_id", "doc_id", "score", "run")
    one, other = (spark.createDataFrame(table([(*row, name) for row in rows], names)).repartition(2) for name in "ab")
    with pytest.raises(ValueError, match=r"several runs in its column 'run', such as 'a' and 'b'"):
        evaluate(qrels, one.union(other), "mrr", **OPTIONS)


def test_a_run_that_changes_between_the_passes_is_an_error(spark, given, tmp_path):
    qrels, _, run = given
    mark = str(tmp_path / "seen")

    def shrink(batches):
        for batch in batches:
            again = os.path.exists(mark)
            open(mark, "w").close()
            yield batch.slice(0, 500) if again else batch

    frame = spark.createDataFrame(run).coalesce(1)
    with pytest.raises(ValueError, match=r"rows in the first pass and \d+ in the second"):
        evaluate(qrels, frame.mapInArrow(shrink, frame.schema), METRICS, **OPTIONS)


def test_scores_that_change_between_the_passes_are_an_error(spark, given, tmp_path):
    qrels, _, run = given
    mark = str(tmp_path / "seen")

    def turn(batches):
        for batch in batches:
            again = os.path.exists(mark)
            open(mark, "w").close()
            place = batch.schema.get_field_index("score")
            scores = pa.array([-score for score in batch.column(place).to_pylist()])
            yield batch.set_column(place, "score", scores) if again else batch

    frame = spark.createDataFrame(run).coalesce(1)
    with pytest.raises(ValueError, match=r"^run: query 'q\d+' has other documents or scores in the second pass than"):
        evaluate(qrels, frame.mapInArrow(turn, frame.schema), METRICS, **OPTIONS)


@pytest.mark.parametrize("dies_in", [1, 2])
def test_a_worker_that_dies_in_a_pass_is_replaced(spark, given, tmp_path, dies_in):
    qrels, _, run = given
    folder = str(tmp_path)

    def die_once(batches):
        for batch in batches:
            name = os.path.join(folder, str(len(os.listdir(folder))))
            open(name, "w").close()
            if os.path.basename(name) == str(4 * (dies_in - 1)):
                os._exit(1)
            yield batch

    frame = spark.createDataFrame(run).repartition(3)
    got = evaluate(qrels, frame.mapInArrow(die_once, frame.schema), METRICS, **OPTIONS)
    assert len(os.listdir(folder)) >= 7
    same_but_for_what_was_checked(got, fastir.evaluate(qrels, run, METRICS, **OPTIONS))
