"""Two passes over a DataFrame give the bits of one machine, and no row moves, whatever a partition has."""

import itertools
import os
import random
import warnings

import pytest

import fastir

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyspark")

from spark_rows import METRICS, data, table  # noqa: E402

from fastir.spark import evaluate, evaluate_many, frames, two_pass  # noqa: E402

OPTIONS = {"validate": "judged", "queries": "qrels"}
CHECKED = "only judged documents checked for duplicates"


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
    monkeypatch.setattr(two_pass, "MAX_UNSPLIT_JUDGMENTS", 0)
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
        fastir.DuplicateError, match=rf"duplicate document '{doc}' in query '{query}'.*in partition 0; its rows"
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
        with pytest.raises(ValueError, match=r"row 700: .*NaN.*in partition 0; its rows are counted from 0"):
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
            for number in itertools.count():  # workers count together: each makes the first file that is not there
                try:
                    open(os.path.join(folder, str(number)), "x").close()
                    break
                except FileExistsError:
                    pass
            if number == 4 * (dies_in - 1):
                os._exit(1)
            yield batch

    frame = spark.createDataFrame(run).repartition(3)
    got = evaluate(qrels, frame.mapInArrow(die_once, frame.schema), METRICS, **OPTIONS)
    assert len(os.listdir(folder)) >= 7
    same_but_for_what_was_checked(got, fastir.evaluate(qrels, run, METRICS, **OPTIONS))


NAMED = ("query_id", "doc_id", "score", "my run")
OF_RUNS = {"columns": {"run": "my run"}, "validate": "judged"}


def many_runs():
    """{name: rows} of runs of different queries, and the rows of all in any order, with the names."""
    of_runs = {name: data(seed)[1] for name, seed in (("b", 1), ("a", 7), ("c", 9))}
    of_runs["c"] = [row for row in of_runs["c"] if row[0] not in ("q5", "q41", "q42")]
    whole = [(*row, name) for name, rows in of_runs.items() for row in rows]
    return of_runs, random.Random(2).sample(whole, len(whole))


def texts(caught):
    return sorted(str(one.message) for one in caught if one.category is fastir.FastirWarning)


@pytest.mark.parametrize(("partitions", "runs_at_a_time", "rows_at_a_time"), [(1, 9, 1 << 17), (7, 1, 100)])
def test_many_runs_in_two_passes(spark, given, monkeypatch, partitions, runs_at_a_time, rows_at_a_time):
    from fastir.spark import tasks

    qrels, _, _ = given
    of_runs, whole = many_runs()
    frame = spark.createDataFrame(table(whole, NAMED)).repartition(partitions)
    monkeypatch.setattr(two_pass, "MAX_STATE_BYTES", 1 if runs_at_a_time == 1 else two_pass.MAX_STATE_BYTES)
    jobs = []
    mapped = frames.map_partitions

    def counting(frame, names, keys, function):
        jobs.append(keys)
        return mapped(frame, names, keys, function)

    monkeypatch.setattr(frames, "map_partitions", counting)
    monkeypatch.setattr(tasks, "BLOCK_ROWS", rows_at_a_time)
    with warnings.catch_warnings(record=True) as there:
        warnings.simplefilter("always")
        got = evaluate_many(qrels, frame, METRICS, **OF_RUNS)
    assert jobs == [()] * (1 + (3 if runs_at_a_time == 1 else 1))
    with warnings.catch_warnings(record=True) as here:
        warnings.simplefilter("always")
        expected = fastir.evaluate_many(
            qrels, {name: table(rows) for name, rows in of_runs.items()}, METRICS, validate="judged"
        )
    assert list(got) == ["a", "b", "c"]
    for name, results in got.items():
        assert results.values.tobytes() == expected[name].values.tobytes() and results == expected[name]
        assert CHECKED in results.report.repairs
        for field in ("in_both", "only_in_qrels", "only_in_run", "queries_with_ties", "nothing_judged"):
            assert getattr(results.report, field) == getattr(expected[name].report, field), field
    assert [text.split(" (such as")[0] for text in texts(there)] == [text.split(" (such as")[0] for text in texts(here)]
    assert len(texts(there)) == 3 and "run 'c': " in texts(there)[2]


def test_errors_of_many_runs_name_the_run(spark, given):
    qrels, _, _ = given
    _, whole = many_runs()
    frame = spark.createDataFrame(table(whole, NAMED)).coalesce(1)
    place = next(i for i, row in enumerate(whole) if i > 500 and row[3] == "a" and row[0] in qrels)
    query = whole[place][0]
    judged = next(row for row in whole if row[3] == "b" and row[1] in qrels.get(row[0], ()))
    wrong = [*whole[:place], (*whole[place][:2], float("nan"), "a"), *whole[place + 1 :]]
    with pytest.raises(
        ValueError, match=rf"^run 'a': run: row {place}: .*NaN.*query {query},.*in partition 0; its rows"
    ):
        evaluate_many(qrels, spark.createDataFrame(table(wrong, NAMED)).coalesce(1), "mrr", **OF_RUNS)
    twice = spark.createDataFrame(table([(*judged[:2], 99.0, "b")], NAMED))
    with pytest.raises(fastir.DuplicateError, match=r"^run 'b': run: duplicate judged document .* in two parts"):
        evaluate_many(qrels, frame.union(twice), "mrr", **OF_RUNS)
    with pytest.raises(ValueError, match=r"^runs: 'my run' is null, the name of a run is missing"):
        nameless = frame.selectExpr(*NAMED[:3], "nullif(`my run`, 'a') AS `my run`")
        evaluate_many(qrels, nameless, "mrr", **OF_RUNS)
    with pytest.raises(fastir.NoOverlapError, match=r"^run 'a': no query in common"):
        evaluate_many({"x": {"d": 1}}, frame, "mrr", **OF_RUNS)
    with pytest.raises(fastir.NoOverlapError, match=r"^the runs are empty"):
        evaluate_many(qrels, frame.filter("score < 0"), "mrr", **OF_RUNS)
    with pytest.raises(ValueError, match=r"^strategy='two-pass' looks for duplicates only among judged"):
        evaluate_many(qrels, frame, "mrr", strategy="two-pass", columns={"run": "my run"})


def test_a_run_that_comes_late_is_an_error():
    from fastir.spark import tasks

    evaluator = fastir.Evaluator({"q": {"a": 1}}, "mrr", validate="judged")
    rows = table([("q", "a", 1.0, "x")], ("query_id", "doc_id", "score", "run"))
    [state] = tasks.one_pass(True, False, 1, evaluator, None, rows.to_reader(), 0)
    with pytest.raises(ValueError, match=r"^run 'x': run: it has rows in the second pass and none in the first"):
        tasks.one_pass(True, False, 1, evaluator, {"y": state.state}, rows.to_reader(), 0)


def test_ids_of_unknown_queries_are_counted_by_tasks_and_stay_there(spark, given, monkeypatch):
    qrels, rows, _ = given
    unknown = [(f"x{i}", f"d{j}", float(j)) for i in range(700) for j in range(3)]
    run = table([*rows, *random.Random(3).sample(unknown, len(unknown))])
    seen = []
    returned = frames.collect_answers

    def looking(states):
        answers = returned(states)
        seen.extend(answers)
        return answers

    monkeypatch.setattr(frames, "collect_answers", looking)
    frame = spark.createDataFrame(run).repartition(4)
    spark.conf.set("spark.sql.adaptive.coalescePartitions.enabled", "false")  # else one task would have all buckets
    try:
        got = evaluate(qrels, frame, METRICS, **OPTIONS)
    finally:
        spark.conf.unset("spark.sql.adaptive.coalescePartitions.enabled")
    assert sum(hasattr(answer, "n") for answer in seen) > 1
    expected = fastir.evaluate(qrels, run, METRICS, **OPTIONS)
    same_but_for_what_was_checked(got, expected)
    assert got.report.only_in_run == 704 and got.report.only_in_run_example == "q40"
    assert sum(len(repr(answer)) for answer in seen if not hasattr(answer, "state")) < 1000
    assert all("x" not in query for each in seen if hasattr(each, "state") for query in ids_in(each.state))


def ids_in(state):
    from fastir.spark import tasks

    return tasks.load_partial(state)._state.unknown_queries
