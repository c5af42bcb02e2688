"""Tables: whatever shape the rows come in, and in whatever order, the values are those of the dicts, bit for bit."""

import random
from collections import namedtuple

import gen
import numpy as np
import pytest
from common import UNEVEN

import fastir
from fastir.evaluation.drivers import tables

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")

METRICS = ["ndcg@10", "map", "bpref", "rbp", "recall@5", "num_ret"]
QRELS, RUN = ({query: docs for query, docs in side.items() if docs} for side in gen.collection(77))
MANY = {query: {f"d{i}": i % 4 for i in range(60)} for query in ("a", "b", "c")}  # many hits: ranked, not counted
EVERY = {query: {f"d{i}": (i * 7919) % 101 / 4 for i in range(80)} for query in ("c", "a", "x")}

pytestmark = UNEVEN


def rows_of(nested):
    return [(query, doc, number) for query, docs in nested.items() for doc, number in docs.items()]


def frame(rows, number):
    queries, docs, numbers = zip(*rows, strict=True)
    return pandas.DataFrame({"qid": queries, "docno": docs, number: numbers})


def arrow(rows, number):
    queries, docs, numbers = map(list, zip(*rows, strict=True))
    return pyarrow.table({"qid": queries, "docno": docs, number: numbers})


def columns_as(kind):
    def cast(rows, number):
        table = arrow(rows, number)
        ids = {name: table[name].cast(kind) for name in ("qid", "docno")}
        return pyarrow.table({**ids, number: table[number]})

    return cast


def dictionary(rows, number):
    table = arrow(rows, number)
    ids = {name: table[name].combine_chunks().dictionary_encode() for name in ("qid", "docno")}
    return pyarrow.table({**ids, number: table[number]})


def sliced(rows, number):
    """Chunks that begin in the middle of their buffers."""
    table = arrow(rows[:1] + rows + rows[:1], number).slice(1, len(rows))
    return pyarrow.concat_tables([table.slice(0, 7), table.slice(7, 50), table.slice(57)])


def duck(rows, number):
    connection = duckdb.connect()
    connection.register("source", arrow(rows, number))
    return connection.sql("select * from source")


def arrays(rows, number):
    """Object strings, strings of fixed width, and numbers that are not contiguous."""
    queries, docs, numbers = zip(*rows, strict=True)
    wide = np.array([numbers, numbers]).T
    return {"qid": np.array(queries, object), "docno": np.array(docs), number: wide[:, 0]}


def capsules(rows, number):
    """An object that knows nothing but Arrow's protocol."""

    class Foreign:
        def __init__(self, table):
            self.table = table

        def __arrow_c_stream__(self, requested_schema=None):
            return self.table.__arrow_c_stream__(requested_schema)

    return Foreign(arrow(rows, number))


SHAPES = {
    "tuples": lambda rows, number: rows,
    "pandas": frame,
    "pandas, objects": lambda rows, number: frame(rows, number).astype({"qid": object, "docno": object}),
    "pandas, categories": lambda rows, number: frame(rows, number).astype({"qid": "category", "docno": "category"}),
    "pandas, Arrow strings": lambda rows, number: frame(rows, number).astype(
        dict.fromkeys(("qid", "docno"), "string[pyarrow]")
    ),
    "pandas, Python strings": lambda rows, number: frame(rows, number).astype(
        dict.fromkeys(("qid", "docno"), "string[python]")
    ),
    "polars": lambda rows, number: polars.DataFrame(rows, schema=["qid", "docno", number], orient="row"),
    "polars, categories": lambda rows, number: polars.DataFrame(
        rows, schema=["qid", "docno", number], orient="row"
    ).with_columns(polars.col("qid").cast(polars.Categorical)),
    "Arrow string": columns_as(pyarrow.string()), "Arrow large string": columns_as(pyarrow.large_string()),
    "Arrow string view": columns_as(pyarrow.string_view()), "Arrow dictionary": dictionary, "Arrow slices": sliced,
    "Arrow batch": lambda rows, number: arrow(rows, number).combine_chunks().to_batches()[0],
    "Arrow protocol": capsules, "DuckDB": duck, "arrays": arrays,
}  # fmt: skip
ONCE = {
    "tuples, once": lambda rows, number: iter(rows),
    "named tuples": lambda rows, number: map(namedtuple("Row", "query doc number")._make, rows),
    "reader": lambda rows, number: pyarrow.RecordBatchReader.from_batches(
        arrow(rows, number).schema, arrow(rows, number).to_batches(max_chunksize=11)
    ),
}


@pytest.mark.parametrize("options", [
    {}, {"n_threads": 3}, {"validate": "judged"}, {"ties": "doc_id_asc"}, {"score_dtype": "float32"},
], ids=lambda options: "-".join(map(str, options.values())) or "default")  # fmt: skip
@pytest.mark.parametrize("shape", [*SHAPES, *ONCE])
@pytest.mark.parametrize("order", ["grouped", "shuffled", "by score"])
@pytest.mark.parametrize("collection", [(QRELS, RUN), (MANY, EVERY)], ids=["few", "many"])
def test_every_shape_and_order_of_a_run(collection, order, shape, options):
    qrels, run = collection
    rows = rows_of(run)
    if order == "shuffled":
        random.Random(5).shuffle(rows)
    elif order == "by score":
        rows.sort(key=lambda row: -row[2])
    table = {**SHAPES, **ONCE}[shape](rows, "score")
    got, want = fastir.evaluate(qrels, table, METRICS, **options), fastir.evaluate(qrels, run, METRICS, **options)
    assert got.values.tobytes() == want.values.tobytes()
    assert got.status == want.status
    assert counts(got.report) == counts(want.report)


def counts(report):
    return (
        report.in_both, report.only_in_qrels, report.only_in_run, report.no_relevant, report.nothing_judged,
        report.queries_with_ties, report.unjudged_share, report.repairs,
    )  # fmt: skip


@pytest.mark.parametrize("shape", [*SHAPES, *ONCE])
def test_every_shape_of_qrels(shape):
    rows = rows_of(QRELS)
    table = {**SHAPES, **ONCE}[shape]
    assert fastir.Qrels.from_table(table(rows, "label")).to_dict() == QRELS
    random.Random(5).shuffle(rows)
    got, want = fastir.evaluate(table(rows, "relevance"), RUN, METRICS), fastir.evaluate(QRELS, RUN, METRICS)
    assert got.to_dict() == want.to_dict()


@pytest.mark.parametrize("shape", [*SHAPES, *ONCE])
def test_a_run_object_from_a_table_is_the_run(shape):
    rows = rows_of(RUN)
    random.Random(5).shuffle(rows)
    assert fastir.Run.from_table({**SHAPES, **ONCE}[shape](rows, "score")).to_dict() == RUN


def test_queries_that_cross_batches_and_batches_without_rows():
    table = arrow(rows_of(RUN), "score")
    pieces = []
    for batch in table.to_batches(max_chunksize=1):
        pieces += [batch, batch.slice(0, 0)]
    reader = pyarrow.RecordBatchReader.from_batches(table.schema, pieces)
    want = fastir.evaluate(QRELS, RUN, METRICS)
    assert fastir.evaluate(QRELS, reader, METRICS).values.tobytes() == want.values.tobytes()


def test_a_stream_whose_queries_come_back_too_late_is_refused(monkeypatch):
    monkeypatch.setattr(tables, "WINDOW_ROWS", 100)
    rows = [*rows_of({f"q{i}": {"d1": 1.0, "d2": 2.0} for i in range(200)}), ("q0", "d9", 1.0)]
    table = arrow(rows, "score")
    reader = pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=7))
    with pytest.raises(ValueError, match="are not contiguous, and the table can be read only once"):
        fastir.evaluate({"q0": {"d1": 1}}, reader, "map")
    assert fastir.evaluate({"q0": {"d1": 1}}, table, "mrr")["mrr"] == 1 / 3


INTEGER_QRELS = {7: {10: 1, 9: 0, 100: 2}, 8: {-3: 1, 5: 1}}
INTEGER_RUN = {8: {5: 1.0, -3: 1.0, 6: 1.0}, 7: {9: 2.0, 10: 2.0, 100: 2.0, 11: 3.0}, 9: {1: 1.0}}


def as_text(nested):
    return {str(query): {str(doc): number for doc, number in docs.items()} for query, docs in nested.items()}


def test_integers_that_meet_text_are_counted(tmp_path):
    path = tmp_path / "qrels"
    fastir.Qrels.from_dict(as_text(INTEGER_QRELS)).save(path)
    results = fastir.evaluate(path, INTEGER_RUN, METRICS)
    assert results.values.tobytes() == fastir.evaluate(INTEGER_QRELS, INTEGER_RUN, METRICS).values.tobytes()
    assert results.report.repairs["integer ids read as text"][0] == 8
    results = fastir.evaluate(as_text(INTEGER_QRELS), frame(rows_of(INTEGER_RUN), "score"), METRICS)
    assert results.report.repairs["integer ids read as text"][0] == 7


@pytest.mark.parametrize("qrels, run", [
    (INTEGER_QRELS, as_text(INTEGER_RUN)), (as_text(INTEGER_QRELS), INTEGER_RUN),
    (INTEGER_QRELS, {7: {"10": 1.0}}), ({"q": {"a": 1}}, {"q": {"a": 1.0, 3: 2.0}}),
    ({"q": {"a": 1}}, {"q": {"a": 1.0}, 3: {"a": 1.0}}), ({"q": {"a": 1, 3: 1}}, {"q": {"a": 1.0}}),
    ({1: {1: 1}}, {1: {1: 1.0, "x": 1.0}}),
])  # fmt: skip
def test_dicts_whose_ids_differ_in_type_are_refused(qrels, run):
    with pytest.raises(TypeError, match=r"int|str"):
        fastir.evaluate(qrels, run, "map")


def test_judged_validation_does_not_look_at_unjudged_documents(tmp_path):
    rows = [("a", "z", 3.0), ("a", "x", 2.0), ("a", "z", 1.0)]
    path = tmp_path / "run"
    path.write_text("".join(f"{query} Q0 {doc} 1 {score} t\n" for query, doc, score in rows))
    for run in (rows, path):
        assert fastir.evaluate({"a": {"x": 1}}, run, "mrr", validate="judged")["mrr"] == 0.5
        with pytest.raises(fastir.DuplicateError):
            fastir.evaluate({"a": {"x": 1}}, run, "mrr")
    with pytest.raises(ValueError, match="validate must be one of 'full', 'judged'"):
        fastir.evaluate({"a": {"x": 1}}, rows, "mrr", validate="none")


@pytest.mark.parametrize("queries", [None, "qrels", "intersection"])
def test_a_table_of_few_queries_is_evaluated_as_the_dict_is(queries):
    qrels = {f"q{i}": {"a": i % 3, "b": 1} for i in range(500)}
    run = {query: {"b": 2.0, "x": 1.5, "a": 1.0} for query in ("q499", "q0", "nowhere")}
    evaluator = fastir.Evaluator(qrels, METRICS, queries=queries)
    expected = evaluator.evaluate(run)
    for table in (rows_of(run), frame(rows_of(run), "score"), arrow(rows_of(run), "score")):
        results = evaluator.evaluate(table)
        assert results == expected
        assert results.values.tobytes() == expected.values.tobytes()
        assert results.status == expected.status
        assert results.report == expected.report
    with pytest.raises(fastir.NoOverlapError, match="no query in common"):
        evaluator.evaluate(rows_of({"nowhere": {"a": 1.0}}))
