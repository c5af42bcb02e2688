"""fastir.spark.evaluate has the numbers of fastir.evaluate, to the last bit, wherever the rows lie."""
# Also of: frames, tasks.

import ast
import os
import pickle
import random
import re

import numpy as np
import pytest
from common import ROOT

import fastir

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyspark")

from spark_rows import METRICS, data, lists, same, table  # noqa: E402

from fastir.spark import evaluate, evaluate_many  # noqa: E402


@pytest.mark.parametrize("partitions", [1, 7])
def test_no_partitioning_changes_a_bit(spark, given, partitions):
    qrels, _, run = given
    expected = fastir.evaluate(qrels, run, METRICS, queries="qrels")
    got = evaluate(qrels, spark.createDataFrame(run).repartition(partitions), METRICS, queries="qrels")
    same(got, expected)
    assert got.report.only_in_run_example == "q40"  # the first by its bytes, in whatever partition it is


def test_empty_partitions_and_shuffled_qrels_of_a_dataframe(spark, given):
    qrels, rows, run = given
    judgments = [(query, doc, label) for query, docs in qrels.items() for doc, label in docs.items()]
    judged = table(judgments, ("qid", "docno", "relevance"))
    options = {"queries": "intersection", "qrels_columns": {"label": "relevance"}}
    few = spark.createDataFrame(run).filter("query_id in ('q5', 'q6')").repartition(5)
    got = evaluate(spark.createDataFrame(judged), few, METRICS, **options)
    same(got, fastir.evaluate(qrels, table([row for row in rows if row[0] in ("q5", "q6")]), METRICS, **options))


def test_grouped_names_a_query_that_lies_in_two_partitions(spark, given):
    qrels, _, run = given
    frame = spark.createDataFrame(run)
    with pytest.raises(ValueError, match=r"^run: the rows of query 'q3' lie in two partitions, 0 and 1; strategy='sh"):
        evaluate(qrels, frame.repartition(2), METRICS, strategy="grouped")
    got = evaluate(qrels, frame.repartition(4, "query_id"), METRICS, strategy="grouped", queries="qrels")
    same(got, fastir.evaluate(qrels, run, METRICS, queries="qrels"))


@pytest.mark.parametrize("columns", [["query_id", "doc_ids"], ["query_id", "doc_ids", "scores"]])
def test_lists_are_read_as_they_lie(spark, given, columns):
    qrels, rows, _ = given
    ranked = lists(rows)
    got = evaluate(qrels, spark.createDataFrame(ranked).select(columns).repartition(3), METRICS, queries="qrels")
    run = {}
    for query, docs, scores in zip(*(column.to_pylist() for column in ranked.columns), strict=True):
        run[query] = dict(zip(docs, scores, strict=True)) if "scores" in columns else docs
    expected = fastir.evaluate(qrels, run, METRICS, queries="qrels")
    assert got.results == expected
    assert got.report.in_both == expected.report.in_both


@pytest.mark.parametrize("options", [
    {"convention": "trec_eval-9", "queries": "qrels"},
    {"convention": "ranx", "ties": "trec", "queries": "qrels"},
    {"ties": "average", "queries": "qrels"},
    {"duplicates": "max", "queries": "qrels"},
    {"weights": {f"q{i}": i / 7 for i in range(40)}, "queries": "qrels"},
    {"parents": {"d1": "d2", "d3": "d2"}, "aggregate": "sum", "queries": "qrels"},
    {"empty": "skip", "rel_level": 2, "judged_only": True, "max_depth": 9, "queries": "intersection"},
], ids=str)  # fmt: skip
def test_options_are_those_of_evaluate(spark, given, options):
    qrels, _, run = given
    metrics = ["ndcg@10", "map", "mrr"]
    got = evaluate(qrels, spark.createDataFrame(run).repartition(2), metrics, **options)
    assert got.results == fastir.evaluate(qrels, run, metrics, **options)
    assert got.results.provenance.options == fastir.evaluate(qrels, run, metrics, **options).provenance.options


def test_what_evaluate_warns_of_and_refuses(spark, given):
    qrels, _, run = given
    frame = spark.createDataFrame(run)
    with pytest.warns(fastir.FastirWarning) as here:
        fastir.evaluate(qrels, run, "mrr")
    with pytest.warns(fastir.FastirWarning) as there:
        evaluate(qrels, frame, "mrr")
    [here], [there] = (
        [str(one.message) for one in made if one.category is fastir.FastirWarning] for made in (here, there)
    )
    cut = "4 queries of the run are not in the qrels and were ignored"
    assert cut in there
    assert there.split(cut)[0] == here.split(cut)[0]
    with pytest.raises(fastir.NoOverlapError, match=r"query 'q0' is missing from the run .3 missing from the run, 4 "):
        evaluate(qrels, frame, "mrr", queries="strict")
    with pytest.raises(fastir.NoOverlapError, match="the run is empty"):
        evaluate(qrels, frame.filter("query_id = 'none'"), "mrr")
    with pytest.raises(fastir.NoOverlapError, match="no query in common: the qrels have 'x', the run has 'q"):
        evaluate({"x": {"d": 1}}, frame, "mrr")
    with pytest.raises(ValueError, match=r"^ties='input' needs the order of rows.* columns=.'score': name, 'rank': na"):
        evaluate(qrels, frame, "mrr", ties="input")
    with pytest.raises(ValueError, match=r"^duplicates='first' needs the order of rows"):
        evaluate(qrels, frame, "mrr", duplicates="first")
    with pytest.raises(ValueError, match=r"^convention ranx: ties='input' needs the order of rows"):
        evaluate(qrels, frame, "mrr", convention="ranx")
    with pytest.raises(ValueError, match=r"^ties='input' needs the order of rows"):
        evaluate(qrels, frame, "mrr", ties="input", strategy="grouped")
    with pytest.raises(ValueError, match="strategy='lists', but the column 'doc_id' of the run holds no lists"):
        evaluate(qrels, frame, "mrr", strategy="lists")
    with pytest.raises(TypeError, match="expected a Spark DataFrame or paths of Parquet files, got dict"):
        evaluate(qrels, {"q1": {"d": 1.0}}, "mrr")


def test_bad_rows_are_errors_of_one_sentence(spark, given):
    qrels, rows, run = given
    query, doc, _ = rows[0]
    twice = spark.createDataFrame(table([*rows, (query, doc, 1.0)]))
    with pytest.raises(fastir.DuplicateError, match=rf"'{doc}'.*{query}.*in partition \d"):
        evaluate(qrels, twice, "mrr")
    nan = spark.createDataFrame(table([*rows, (query, "x", float("nan"))]))
    with pytest.raises(ValueError, match=rf"^run: .*NaN.*{query}.*in partition \d"):
        evaluate(qrels, nan, "mrr")
    null = spark.createDataFrame(run.set_column(2, "score", pa.array([None, *run["score"].to_pylist()[1:]])))
    with pytest.raises(ValueError, match=r"^run: row \d+: 'score' is null, its value is missing .in partition \d"):
        evaluate(qrels, null, "mrr")
    with pytest.raises(ValueError, match="the table has no column 'query_id'"):
        evaluate(qrels, spark.createDataFrame(run).withColumnRenamed("query_id", "q.x"), "mrr")


def test_names_of_columns_may_have_dots(spark, given):
    qrels, _, run = given
    frame = spark.createDataFrame(run.rename_columns(["q.x", "d`y", "score"]))
    got = evaluate(qrels, frame, METRICS, columns={"query_id": "q.x", "doc_id": "d`y"}, queries="qrels")
    same(got, fastir.evaluate(qrels, run, METRICS, queries="qrels"))


def test_values_per_query_and_groups(spark, given):
    qrels, _, run = given
    groups = {query: "odd" if int(query[1:]) % 2 else "even" for query in qrels}
    frame = spark.createDataFrame(pa.table({"query_id": list(groups), "group": list(groups.values())}))
    got = evaluate(qrels, spark.createDataFrame(run), ["mrr", "ndcg"], by=frame, queries="qrels")
    wanted = fastir.evaluate(qrels, run, ["mrr", "ndcg"], queries="qrels")
    assert got.by_segment == wanted.by_segment(groups)
    assert got.per_query.columns == ["query_id", "mrr", "ndcg", "group"]
    found = got.per_query.toArrow()
    assert dict(zip(found["query_id"].to_pylist(), found["ndcg"].to_pylist(), strict=True)) == wanted.per_query("ndcg")
    assert got.keys() == ["mrr", "ndcg"] and "mrr" in got and len(got) == 2 and got.items() == wanted.items()
    assert repr(got) == repr(wanted)
    with pytest.raises(ValueError, match="by: query 'q1' has two groups"):
        evaluate(qrels, spark.createDataFrame(run), "mrr", by=frame.union(frame.replace("odd", "x")))
    with pytest.raises(ValueError, match="there are no groups"):
        _ = evaluate(qrels, spark.createDataFrame(run), "mrr", queries="qrels").by_segment


def test_groups_by_a_column(spark, given):
    qrels, rows, run = given
    of = {query: "odd" if int(query[1:]) % 2 else "even" for query in [*qrels, *(f"q{i}" for i in range(50))]}
    options = {"queries": "intersection"}
    frame = spark.createDataFrame(run.append_column("seg.ment", pa.array([of[row[0]] for row in rows]))).repartition(3)
    expected = fastir.evaluate(qrels, run, "mrr", **options).by_segment(of)
    assert evaluate(qrels, frame, "mrr", by="seg.ment", **options).by_segment == expected
    with pytest.raises(ValueError, match=r"^by: query 'q0' has no group; queries='intersection' leaves out queries"):
        evaluate(qrels, frame, "mrr", by="seg.ment", queries="qrels")
    with pytest.raises(ValueError, match=r"^by: the run has no column 'segment'; it has 'query_id', 'doc_id', 'score'"):
        evaluate(qrels, frame, "mrr", by="segment", **options)
    with pytest.raises(ValueError, match=r"^by: query 'q\d+' has two groups"):
        evaluate(qrels, frame, "mrr", by="doc_id", **options)
    judged = [(int(query[1:]), doc, label, of[query]) for query, docs in qrels.items() for doc, label in docs.items()]
    numbers = run.set_column(0, "query_id", pa.array([int(row[0][1:]) for row in rows]))
    frames = (
        spark.createDataFrame(table(judged, ("query_id", "doc_id", "label", "group"))),
        spark.createDataFrame(numbers),
    )
    got = evaluate(*frames, "mrr", by="group", queries="qrels")
    assert dict(got.by_segment["odd"]) == dict(
        fastir.evaluate(qrels, run, "mrr", queries="qrels").by_segment(of)["odd"]
    )


def test_qrels_with_groups_and_metrics_that_read_all_judgments(spark, given):
    qrels, _, run = given
    by_topic = {query: {"0": docs, "1": dict.fromkeys(list(docs)[:3], 1)} for query, docs in qrels.items()}
    frame = spark.createDataFrame(run).repartition(2)
    for judged, metrics in ((by_topic, ["alpha_ndcg@10"]), (qrels, ["hole@10", "map"])):
        got = evaluate(judged, frame, metrics, queries="qrels")
        same(got, fastir.evaluate(judged, run, metrics, queries="qrels"))


@pytest.mark.filterwarnings("ignore:1 duplicate was repaired:fastir.FastirWarning")
def test_ranks_stand_in_for_scores_and_for_the_order_of_rows(spark, given):
    qrels, rows, _ = given
    ranked, last = [], {}
    for query, doc, _ in rows:
        last[query] = last.get(query, 0) + 1
        ranked.append((query, doc, last[query]))
    run = table(ranked, ("query_id", "doc_id", "rank"))
    got = evaluate(qrels, spark.createDataFrame(run).repartition(2), METRICS, ties="input", queries="qrels")
    assert got.results == fastir.evaluate(qrels, run, METRICS, ties="input", queries="qrels")
    later = [(query, doc, 2 * last[query] + 1 - rank) for query, doc, rank in ranked]
    again = table([*later, *ranked], ("query_id", "doc_id", "rank"))
    for rule, expected in (("first", run), ("last", table(later, again.column_names))):
        with pytest.warns(fastir.FastirWarning, match="duplicates were repaired"):
            got = evaluate(
                qrels, spark.createDataFrame(again).repartition(2), METRICS, duplicates=rule, queries="qrels"
            )
        assert dict(got) == dict(fastir.evaluate(qrels, expected, METRICS, queries="qrels"))
    alike = spark.createDataFrame(table([(q, f"x{doc}", rank) for q, doc, rank in ranked] + ranked, again.column_names))
    with pytest.raises(ValueError, match=r"^run: two documents have one rank, and ties='input' depends on the order"):
        evaluate(qrels, alike, METRICS, ties="input", queries="qrels")


def test_segments_that_lack_a_query_are_refused_before_any_row_is_read(spark, given):
    qrels, _, run = given

    def never(batches):
        raise RuntimeError("the run was read")

    frame = spark.createDataFrame(run)
    frame = frame.mapInArrow(never, frame.schema)
    segments = dict.fromkeys(list(qrels)[:-1], "a")
    of_frame = spark.createDataFrame(table(list(segments.items()), ("query_id", "group")))
    for by in (segments, of_frame):
        with pytest.raises(ValueError, match=f"^by: query '{list(qrels)[-1]}' has no group"):
            evaluate(qrels, frame, "mrr", by=by, queries="qrels")
    for by in ({"another": "a"}, of_frame.replace(list(segments), ["another"] * len(segments), "query_id").limit(1)):
        with pytest.raises(ValueError, match=f"^by: no query of the qrels has a group, such as '{next(iter(qrels))}'"):
            evaluate(qrels, frame, "mrr", by=by, queries="intersection")


def test_segments_are_looked_at_before_the_run_where_qrels_are_too_many_for_the_driver(spark, given, monkeypatch):
    qrels, _, run = given
    monkeypatch.setattr("fastir.spark.frames.MAX_JUDGMENTS", 3)

    def never(batches):
        raise RuntimeError("the run was read")

    frame = spark.createDataFrame(run)
    frame = frame.mapInArrow(never, frame.schema)
    judged = [(query, doc, label) for query, docs in qrels.items() for doc, label in docs.items()]
    of_qrels = spark.createDataFrame(table(judged, ("query_id", "doc_id", "label")))
    last = max(qrels)
    with pytest.raises(ValueError, match=f"^by: query '{last}' has no group; "):
        evaluate(of_qrels, frame, "mrr", by=dict.fromkeys(qrels.keys() - {last}, "a"), queries="qrels")


def test_a_segment_that_only_the_run_asks_for_is_missed_with_the_reason(spark, given):
    qrels, rows, run = given
    in_run = {row[0] for row in rows}
    lacking = next(query for query in qrels if query in in_run)
    with pytest.raises(ValueError, match=f"^by: query '{lacking}' has no group.* only the run says which need one"):
        evaluate(
            qrels, spark.createDataFrame(run), "mrr", by=dict.fromkeys(qrels.keys() - {lacking}, "a"),
            queries="intersection",
        )  # fmt: skip


def test_the_page_lists_the_conventions_that_work_with_scores_alone():
    from fastir.request.conventions import CONVENTIONS
    from fastir.spark import frames

    page = ROOT / "docs" / "at_scale.md"
    if not page.is_file():
        pytest.skip("needs the sources")
    some, whole = set(), set()
    for name in CONVENTIONS:
        answers = set()
        for card in fastir.metrics():
            try:
                rule = frames.order_rule(fastir.Evaluator({"q": {"a": 1}}, card.spelled(), convention=name))
            except ValueError:
                continue
            answers.add(rule is None)
        if answers == {True}:
            whole.add(name)
        elif True in answers:
            some.add(name)
    text = re.search(
        r"only scores, these work on Spark: (.*?); and for some of their metrics (.*?)\.\n",
        page.read_text("utf-8"),
        re.S,
    )
    assert [set(re.findall(r"`(.*?)`", names)) for names in text.groups()] == [whole, some]


def test_integer_ids(spark):
    qrels = {1: {10: 1, 11: 2}, 2: {12: 1}}
    run = pa.table({"query_id": [2, 1, 1], "doc_id": [12, 11, 10], "score": [1.0, 0.5, 0.7]})
    got = evaluate(qrels, spark.createDataFrame(run), ["ndcg", "mrr"])
    assert got.results == fastir.evaluate(qrels, run, ["ndcg", "mrr"])


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_many_runs_in_one_table(spark, given):
    qrels, rows, _ = given
    of_runs = {name: data(seed)[1] for name, seed in (("b", 1), ("a", 7), ("c", 9))}
    whole = [(name, *row) for name, rows in of_runs.items() for row in rows]
    frame = spark.createDataFrame(table(whole, ("run", "query_id", "doc_id", "score")))
    got = evaluate_many(qrels, frame, METRICS, queries="qrels")
    assert list(got) == ["a", "b", "c"]
    for name, rows in of_runs.items():
        assert got[name] == fastir.evaluate(qrels, table(rows), METRICS, queries="qrels")
    with pytest.raises(fastir.NoOverlapError, match=r"^run 'a': no query in common"):
        evaluate_many({"x": {"d": 1}}, frame, "mrr")


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
@pytest.mark.parametrize("column", ["run", "my run"])
def test_many_runs_whose_rows_are_rankings(spark, given, column):
    qrels, _, _ = given
    tables = {name: lists(data(seed)[1]) for name, seed in (("b", 1), ("a", 7), ("c", 9))}
    named = [each.append_column(column, pa.array([name] * len(each))) for name, each in tables.items()]
    whole = pa.concat_tables(named)
    whole = whole.take(random.Random(0).sample(range(len(whole)), len(whole)))
    columns = None if column == "run" else {"run": column}
    got = evaluate_many(qrels, spark.createDataFrame(whole).repartition(3), METRICS, queries="qrels", columns=columns)
    assert list(got) == ["a", "b", "c"]
    for name, each in tables.items():
        run = {row["query_id"]: dict(zip(row["doc_ids"], row["scores"], strict=True)) for row in each.to_pylist()}
        assert got[name].to_dict() == fastir.evaluate(qrels, run, METRICS, queries="qrels").to_dict()
    nameless = spark.createDataFrame(tables["a"].append_column("run", pa.nulls(len(tables["a"]), pa.string())))
    with pytest.raises(ValueError, match="'run' is null, the name of a run is missing"):
        evaluate_many(qrels, nameless, "mrr")
    with pytest.raises(ValueError, match="has no column 'run' or 'system'"):
        evaluate_many(qrels, spark.createDataFrame(tables["a"]), "mrr")


ORDERED = ["query_id", "doc_id", "score", "position"]


def n_judged(judged):
    """How many documents of each ranking are judged, relevant or not."""
    return np.diff(judged.offsets).astype(float)


def with_positions(rows, names=ORDERED):
    """The rows with the position of each in its query, in another order."""
    last, placed = {}, []
    for query, *rest in rows:
        last[query] = last.get(query, -2) + 3
        placed.append((query, *rest, last[query]))
    return table(random.Random(1).sample(placed, len(placed)), names)


@pytest.mark.parametrize("strategy", ["shuffle", "grouped"])
@pytest.mark.parametrize("options", [{"ties": "input"}, {"convention": "ranx"}, {"convention": "cornac"}], ids=str)
def test_a_column_of_positions_is_the_order_of_rows(spark, given, strategy, options):
    qrels, _, run = given
    metrics = ["ndcg@10", "map", "mrr", fastir.custom_metric("n_judged", n_judged)]
    metrics = metrics if "ties" in options else metrics[:3]  # one order
    expected = fastir.evaluate(qrels, run, metrics, queries="qrels", **options)
    assert dict(expected) != dict(fastir.evaluate(qrels, run, metrics, queries="qrels"))
    frame = spark.createDataFrame(with_positions(given[1])).repartition(3, "query_id")
    got = evaluate(qrels, frame, metrics, strategy=strategy, queries="qrels", validate="judged", **options)
    assert got.results.values.tobytes() == expected.values.tobytes()
    assert got.report.queries_with_ties == expected.report.queries_with_ties > 0


@pytest.mark.filterwarnings("ignore:.*repaired:fastir.FastirWarning")
def test_positions_tell_the_first_of_duplicates_in_many_runs_and_in_buckets(spark, given, monkeypatch):
    qrels, rows, _ = given
    again = rows + [(query, doc, score - 1.0) for query, doc, score in rows[:200]]
    names = {"rank": "at", "score": "score"}
    frame = spark.createDataFrame(with_positions(again, [*ORDERED[:3], "at"]))
    options = {"queries": "qrels", "duplicates": "last", "ties": "input"}
    expected = fastir.evaluate(qrels, table(again), METRICS, **options)
    many = evaluate_many(qrels, frame.selectExpr("*", "'a' AS run"), METRICS, columns=names, **options)
    assert many["a"].values.tobytes() == expected.values.tobytes()
    monkeypatch.setattr("fastir.spark.frames.MAX_EVALUATOR_BYTES", 100)
    got = evaluate(qrels, frame, METRICS, columns=names, **options)
    assert got.results.values.tobytes() == expected.values.tobytes()


@pytest.mark.parametrize(("position", "error"), [
    ("1", r"^run: two documents of query 'q\d+' have 1 in the column 'position', the order of the rows, which rules"),
    ("nullif(position, 4)", r"^run: row \d+: 'position', the order of the rows, is missing or not a number .in part"),
    ("string(position)", r"^run: 'position', the order of the rows, must be numeric, got string"),
])  # fmt: skip
def test_positions_that_are_no_order_are_refused(spark, given, position, error):
    frame = spark.createDataFrame(with_positions(given[1])).selectExpr(*ORDERED[:3], f"{position} AS position")
    with pytest.raises((TypeError, ValueError), match=error):
        evaluate(given[0], frame, "mrr", ties="input")


def test_a_worker_makes_an_evaluator_once():
    from fastir.spark import tasks

    one, other = (tasks.digest_pickles([pickle.dumps({"some": number})]) for number in (1, 2))
    version = fastir.__version__
    [first] = tasks.load_pickles(one, version)
    assert tasks.load_pickles(one | other, version)[0] is first
    [second] = tasks.load_pickles(other, version)
    assert tasks.load_pickles(one, version)[0] is not first
    assert second == {"some": 2} and list(tasks.LOADED_BY_DIGEST) == list(one)


def test_a_worker_of_another_version_refuses_what_it_is_sent():
    from fastir.spark import tasks

    pickles = tasks.digest_pickles([pickle.dumps(None)])
    [state] = tasks.answers(lambda: tasks.load_pickles(pickles, "0.0.7"), 3, "partition 3")["state"].to_pylist()
    failure = pickle.loads(state)
    assert isinstance(failure.error, fastir.FormatError)
    expected = f"sent what was pickled by fastir 0.0.7, and this is fastir {fastir.__version__}; all parts need one"
    assert expected in str(failure.error) and "in partition 3" in str(failure.error)


def test_nothing_below_dataframes_is_used_and_no_pandas():
    folder = ROOT / "fastir" / "spark"
    if not folder.is_dir():
        pytest.skip("needs the sources")
    for path in folder.glob("*.py"):
        code = {
            getattr(node, "attr", None) or getattr(node, "id", None) or getattr(node, "module", None)
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        } | {
            name.name
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Import)
            for name in node.names
        }
        assert not code & {"rdd", "sparkContext", "collect_list", "pandas", "toPandas"}, path


def test_rows_of_a_query_of_a_run_go_to_one_partition():
    """Few rows come into one partition whatever decides, so that what is asked of Spark is looked at."""
    from fastir.spark import frames

    asked = []

    class Frame:
        def repartition(self, *names):
            asked.append(names)
            return self

        def __getattr__(self, name):
            return lambda *_: self

    one, several = ("query_id", "doc_id", "score", "rank"), ("query_id", "doc_id", "score", "run", "rank")
    for columns in (frames.RunColumns(one, None, "rank"), frames.RunColumns(several, "run", "rank")):
        frames.map_partitions(Frame(), columns, columns.keys, None)
        frames.map_partitions(Frame(), columns, (), None)
    assert asked == [("0",), ("0", "3")]


def test_weights_of_documents(spark):
    weights = {f"d{number}": 0.5 + number for number in range(40)}
    qrels = {f"q{q}": {f"d{(7 * q + 3 * d) % 40}": d % 3 for d in range(6)} for q in range(9)}
    run = {f"q{q}": {f"d{(5 * q + d) % 40}": float(d % 17) for d in range(40)} for q in range(9)}
    rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    judged = [(query, doc, label, weights[doc]) for query, docs in qrels.items() for doc, label in docs.items()]
    frame = spark.createDataFrame(rows, ["query_id", "doc_id", "score"]).repartition(5)
    of_qrels = spark.createDataFrame(judged, ["query_id", "doc_id", "label", "ips"])
    metrics = ["psp@3", "psndcg@5", "weighted_recall@5", "ndcg"]
    expected = fastir.evaluate(qrels, run, metrics, doc_weights=weights, queries="intersection")
    for given, doc_weights in ((qrels, weights), (of_qrels, "ips"), (of_qrels, weights)):
        for strategy in ("auto", "shuffle"):
            found = evaluate(given, frame, metrics, doc_weights=doc_weights, strategy=strategy, queries="intersection")
            assert dict(found.results) == dict(expected)


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_excluded_documents_leave_in_one_pass_and_in_two(spark, given):
    qrels, _, run = given
    exclude = {query: [*list(docs)[:1], "d7"] for query, docs in list(qrels.items())[:20]}
    options = {"exclude": exclude, "queries": "qrels", "validate": "judged"}
    expected = fastir.evaluate(qrels, run, METRICS, **options)
    for strategy in ("shuffle", "two-pass"):
        got = evaluate(qrels, spark.createDataFrame(run).repartition(3), METRICS, strategy=strategy, **options)
        assert got.results.values.tobytes() == expected.values.tobytes()
        assert got.report.repairs["excluded documents"] == expected.report.repairs["excluded documents"]


@pytest.mark.parametrize("strategy", ["shuffle", "grouped", "two-pass", "lists"])
def test_a_metric_of_the_callers_own_is_called_on_the_driver_for_all_queries(spark, given, strategy):
    qrels, rows, run = given
    pid = os.getpid()

    def depth(judged):
        assert os.getpid() == pid
        return judged.num_ret

    metrics = ["mrr", fastir.custom_metric("depth", depth), fastir.custom_metric("n_judged", n_judged), "ndcg@3"]
    frame = spark.createDataFrame(lists(rows) if strategy == "lists" else run)
    options = {"queries": "qrels"} | ({"validate": "judged"} if strategy == "two-pass" else {})
    got = evaluate(qrels, frame.repartition(4, "query_id"), metrics, strategy=strategy, **options)
    expected = fastir.evaluate(qrels, run, metrics, queries="qrels")
    assert got.results.values.tobytes() == expected.values.tobytes()
    assert (got.results.names, got.results.query_ids) == (expected.names, expected.query_ids)
    with pytest.raises(TypeError, match="'depth' is a custom metric"):
        evaluate_many(qrels, frame, metrics)
