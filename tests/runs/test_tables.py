"""Tables: whatever shape the rows come in, and in whatever order, the values are those of the dicts, bit for bit."""

import random
import warnings
from collections import namedtuple

import gen
import numpy as np
import pytest
from common import UNEVEN

import fastir
from fastir.runs import tables

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")

METRICS = ["ndcg@10", "map", "bpref", "rbp", "recall@5", "num_ret"]
QRELS, RUN = ({query: docs for query, docs in side.items() if docs} for side in gen.collection(77))
MANY = {query: {f"d{i}": i % 4 for i in range(60)} for query in ("a", "b", "c")}  # many hits: ranked, not counted
EVERY = {query: {f"d{i}": (i * 7919) % 101 / 4 for i in range(80)} for query in ("c", "a", "x")}
ROLES = ("query_id", "doc_id")

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
    "Arrow string": columns_as(pyarrow.string()),
    "Arrow large string": columns_as(pyarrow.large_string()),
    "Arrow string view": columns_as(pyarrow.string_view()),
    "Arrow dictionary": dictionary,
    "Arrow slices": sliced,
    "Arrow batch": lambda rows, number: arrow(rows, number).combine_chunks().to_batches()[0],
    "Arrow protocol": capsules,
    "DuckDB": duck,
    "arrays": arrays,
}
ONCE = {
    "tuples, once": lambda rows, number: iter(rows),
    "named tuples": lambda rows, number: map(namedtuple("Row", "query doc number")._make, rows),
    "reader": lambda rows, number: pyarrow.RecordBatchReader.from_batches(
        arrow(rows, number).schema, arrow(rows, number).to_batches(max_chunksize=11)
    ),
}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"n_threads": 3},
        {"validate": "judged"},
        {"ties": "doc_id_asc"},
        {"score_dtype": "float32"},
    ],
    ids=lambda options: "-".join(map(str, options.values())) or "default",
)
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
        report.in_both,
        report.only_in_qrels,
        report.only_in_run,
        report.no_relevant,
        report.nothing_judged,
        report.queries_with_ties,
        report.unjudged_share,
        report.repairs,
    )


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
    monkeypatch.setattr(tables, "WINDOW", 100)
    rows = [*rows_of({f"q{i}": {"d1": 1.0, "d2": 2.0} for i in range(200)}), ("q0", "d9", 1.0)]
    table = arrow(rows, "score")
    reader = pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=7))
    with pytest.raises(ValueError, match="do not stand together, and the table can be read only once"):
        fastir.evaluate({"q0": {"d1": 1}}, reader, "map")
    assert fastir.evaluate({"q0": {"d1": 1}}, table, "mrr")["mrr"] == 1 / 3


# ---- integer ids -------------------------------------------------------------------------------------------------

INTEGER_QRELS = {7: {10: 1, 9: 0, 100: 2}, 8: {-3: 1, 5: 1}}
INTEGER_RUN = {8: {5: 1.0, -3: 1.0, 6: 1.0}, 7: {9: 2.0, 10: 2.0, 100: 2.0, 11: 3.0}, 9: {1: 1.0}}


def as_text(nested):
    return {str(query): {str(doc): number for doc, number in docs.items()} for query, docs in nested.items()}


@pytest.mark.parametrize("qrels", [INTEGER_QRELS, as_text(INTEGER_QRELS)], ids=["int", "str"])
@pytest.mark.parametrize("width", ["int8", "int16", "int64", "uint8", "uint64", "object", "str"])
@pytest.mark.parametrize("order", [1, -1])
def test_integer_columns_equal_the_text_of_their_numbers_and_tie_by_it(qrels, width, order):
    rows = [row for row in rows_of(INTEGER_RUN) if "u" not in width or row[1] >= 0][::order]
    run = {q: {d: s for p, d, s in rows if p == q} for q in (7, 8, 9)}
    want = fastir.evaluate(as_text(INTEGER_QRELS), as_text(run), METRICS)
    table = frame(rows, "score")
    for column in ("qid", "docno", ["qid", "docno"]):
        got = fastir.evaluate(qrels, table.astype(dict.fromkeys(np.atleast_1d(column), width)), METRICS)
        assert got.values.tobytes() == want.values.tobytes()


def test_integer_dicts():
    want = fastir.evaluate(as_text(INTEGER_QRELS), as_text(INTEGER_RUN), METRICS)
    got = fastir.evaluate(INTEGER_QRELS, INTEGER_RUN, METRICS)
    assert got.values.tobytes() == want.values.tobytes()
    assert got.query_ids == [7, 8] and not got.report.repairs
    assert got.per_query("map")[7] == want.per_query("map")["7"]


def test_integers_that_meet_text_are_counted(tmp_path):
    path = tmp_path / "qrels"
    fastir.Qrels.from_dict(as_text(INTEGER_QRELS)).save(path)
    results = fastir.evaluate(path, INTEGER_RUN, METRICS)
    assert results.values.tobytes() == fastir.evaluate(INTEGER_QRELS, INTEGER_RUN, METRICS).values.tobytes()
    assert results.report.repairs["integer ids read as text"][0] == 8
    results = fastir.evaluate(as_text(INTEGER_QRELS), frame(rows_of(INTEGER_RUN), "score"), METRICS)
    assert results.report.repairs["integer ids read as text"][0] == 7


@pytest.mark.parametrize(
    "qrels, run",
    [
        (INTEGER_QRELS, as_text(INTEGER_RUN)),
        (as_text(INTEGER_QRELS), INTEGER_RUN),
        (INTEGER_QRELS, {7: {"10": 1.0}}),
        ({"q": {"a": 1}}, {"q": {"a": 1.0, 3: 2.0}}),
        ({"q": {"a": 1}}, {"q": {"a": 1.0}, 3: {"a": 1.0}}),
        ({"q": {"a": 1, 3: 1}}, {"q": {"a": 1.0}}),
        ({1: {1: 1}}, {1: {1: 1.0, "x": 1.0}}),
    ],
)
def test_dicts_whose_ids_differ_in_type_are_refused(qrels, run):
    with pytest.raises(TypeError, match=r"int|str"):
        fastir.evaluate(qrels, run, "map")


def test_numbers_with_leading_zeros_are_not_integers():
    table = {"query_id": np.array([1, 1]), "doc_id": np.array([7, 8]), "score": np.array([2.0, 1.0])}
    results = fastir.evaluate({"1": {"007": 1, "8": 1, "+7": 1}}, table, ["mrr", "num_rel_ret"])
    assert dict(results) == {"mrr": 0.5, "num_rel_ret": 1.0}


def test_integers_beyond_64_bits_are_their_text():
    big = 2**64 - 1
    table = {
        "query_id": np.array([1, 1], np.uint64),
        "doc_id": np.array([big, 8], np.uint64),
        "score": np.array([2.0, 1.0]),
    }
    assert fastir.evaluate({"1": {str(big): 1}}, table, "mrr")["mrr"] == 1.0


# ---- columns, names, errors --------------------------------------------------------------------------------------


def test_columns_that_are_called_otherwise():
    run = {"Q": ["a", "a"], "D": ["x", "y"], "S": [1.0, 2.0]}
    qrels = {"Q": ["a"], "D": ["x"], "grade": [3]}
    columns = {"query_id": "Q", "doc_id": "D", "score": "S", "label": "grade"}
    assert fastir.evaluate(qrels, run, "mrr", columns=columns)["mrr"] == 0.5
    assert fastir.Run.from_table(run, columns).to_dict() == {"a": {"x": 1.0, "y": 2.0}}
    with pytest.raises(ValueError, match=r"no column 'query_id'.*it has 'Q', 'D', 'S'"):
        fastir.Run.from_table(run)
    with pytest.raises(ValueError, match="columns: unknown role 'document'"):
        fastir.evaluate({"a": {"x": 1}}, run, "mrr", columns={"document": "D"})


def test_the_field_s_names_have_an_order():
    """PyTerrier's frames have docid and docno, and the second is the id."""
    table = {
        "qid": ["1", "1"],
        "docid": [0, 1],
        "docno": ["x", "y"],
        "rank": [1, 2],
        "score": [2.0, 1.0],
        "query": ["?", "?"],
    }
    assert fastir.evaluate({"1": {"y": 1}}, table, "mrr")["mrr"] == 0.5


def table_with(column, row, value):
    rows = [["a", f"d{i}", float(i)] for i in range(5)]
    rows[row][column] = value
    return {name: np.array([one[place] for one in rows], object) for place, name in enumerate((*ROLES, "score"))}


@pytest.mark.parametrize(
    "column, value, kind, message",
    [
        (0, None, ValueError, "row 3: 'query_id' is missing"),
        (1, None, ValueError, "row 3: 'doc_id' is missing"),
        (1, float("nan"), ValueError, "row 3: 'doc_id' is missing"),
        (1, 3, TypeError, "row 3: 'doc_id' must be a str"),
        (2, None, ValueError, "row 3: 'score'.*missing"),
        (2, "x", TypeError, "row 3: 'score' must be numeric, got str 'x'"),
        (2, float("nan"), ValueError, r"row 3: 'score' is NaN.*\(query a, document d3\)"),
    ],
)
def test_what_is_wrong_in_a_row_is_named(column, value, kind, message):
    with pytest.raises(kind, match=message):
        fastir.evaluate({"a": {"d1": 1}}, table_with(column, 3, value), "map")


@pytest.mark.parametrize("column", [0, 1, 2])
def test_a_null_in_arrow_data_is_named(column):
    table = pyarrow.table({"qid": ["a", "a", "b"], "docno": ["x", "y", "x"], "score": [1.0, 2.0, 3.0]})
    name = table.column_names[column]
    values = table[name].to_pylist()
    values[2] = None
    table = table.set_column(column, name, pyarrow.array(values)).slice(1)
    with pytest.raises(ValueError, match=f"row 1: '{name}' is null"):
        fastir.evaluate({"a": {"x": 1}}, table, "map")


@pytest.mark.parametrize("role", ["query_id", "doc_id", "score"])
@pytest.mark.parametrize("ids", ["integers", "objects"])
def test_a_missing_category_is_named(role, ids):
    """Its code is -1: the last category, if that were read as a place. Text ids would go through Arrow instead."""
    columns = {"query_id": [1, 2, 3], "doc_id": [1, 2, 3], "score": [3.0, 2.0, 1.0]}
    if ids == "objects":
        columns |= {name: pandas.Series(list(map(str, columns[name])), dtype=object) for name in ROLES}
    whole = pandas.DataFrame(columns)
    whole[role] = pandas.Categorical.from_codes([0, 1, 0], columns[role][:2])
    assert sum(map(len, fastir.Run.from_table(whole).to_dict().values())) == 3
    whole[role] = pandas.Categorical.from_codes([0, 1, -1], whole[role].cat.categories)
    with pytest.raises(ValueError, match=f"run: row 2: '{role}' is missing"):
        fastir.evaluate({"1": {"1": 1}, "2": {"1": 1}}, whole, "mrr")


@pytest.mark.parametrize("kind", ["Int64", "Float64", "UInt8", "boolean"])
@pytest.mark.parametrize("ids", ["integers", "objects"])
def test_an_na_among_numbers_of_pandas_is_named(kind, ids):
    texts = {name: pandas.Series(["a", "b", "c"], dtype=object) for name in ROLES} if ids == "objects" else {}
    columns = {"query_id": [1, 2, 3], "doc_id": [1, 2, 3], **texts}
    frame = pandas.DataFrame({**columns, "score": pandas.array([1, None, 0], kind)})
    with pytest.raises(ValueError, match=r"run: row 1: 'score' is missing \(NA\)"):
        fastir.evaluate({1: {1: 1}}, frame, "mrr")
    frame = pandas.DataFrame({**columns, "score": pandas.array([1, 1, 0], kind)})
    assert [list(docs.values()) for docs in fastir.Run.from_table(frame).to_dict().values()] == [[1.0], [1.0], [0.0]]


@pytest.mark.parametrize("kind", ["Int64", "UInt8"])
@pytest.mark.parametrize("role", ROLES)
def test_an_na_among_ids_of_pandas_is_named(kind, role):
    frame = pandas.DataFrame({"query_id": [1, 2, 3], "doc_id": [1, 2, 3], "score": [3.0, 2.0, 1.0]})
    frame[role] = pandas.array([1, 2, None], kind)
    with pytest.raises(ValueError, match=rf"run: row 2: '{role}' is missing \(NA\)"):
        fastir.evaluate({1: {1: 1}}, frame, "mrr")


@pytest.mark.parametrize("missing", [pandas.NA, pandas.NaT, np.ma.masked, None, float("nan")], ids=repr)
@pytest.mark.parametrize("column", [0, 1, 2])
def test_whatever_stands_for_a_missing_value_among_objects_is_named(column, missing):
    table = table_with(0, 0, "a")
    name = list(table)[column]
    table[name][3] = missing
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, of a masked element that becomes NaN
        with pytest.raises(ValueError, match=rf"run: row 3: '{name}' .*(missing|numeric)"):
            fastir.evaluate({"a": {"d1": 1}}, table, "map")


@pytest.mark.parametrize("column", ["query_id", "doc_id", "score"])
def test_a_masked_value_of_numpy_is_named(column):
    table = {"query_id": np.array(["a", "a"]), "doc_id": np.array(["x", "y"]), "score": np.array([9.0, 1.0])}
    whole = {name: np.ma.masked_array(values) for name, values in table.items()}
    assert fastir.evaluate({"a": {"x": 1}}, whole, "mrr")["mrr"] == 1.0
    table[column] = np.ma.masked_array(table[column], mask=[0, 1])
    for use in (fastir.Run.from_table, lambda table: fastir.evaluate({"a": {"x": 1}}, table, "mrr")):
        with pytest.raises(ValueError, match=f"run: row 1: '{column}' is masked"):
            use(table)
    with pytest.raises(ValueError, match="qrels: row 0: 'label' is masked"):
        labels = np.ma.masked_array([9, 1], mask=[1, 0])
        fastir.Qrels.from_table({"query_id": ["a", "a"], "doc_id": ["x", "y"], "label": labels})


@pytest.mark.parametrize(
    "data, kind, message",
    [
        (polars.LazyFrame({"a": [1]}), TypeError, r"LazyFrame.*run\.collect\(\)"),
        (
            pyarrow.table({"qid": [1.5], "docno": ["x"], "score": [1.0]}),
            TypeError,
            "'qid' must hold strings or integers.*'g'",
        ),
        (pyarrow.table({"qid": ["a"], "docno": ["x"], "score": ["1"]}), TypeError, "'score' must be numeric.*'u'"),
        ({"qid": ["a", "b"], "docno": ["x"], "score": [1.0]}, ValueError, "columns differ in length: 1, 2"),
        ({"qid": [["a"]], "docno": [["x"]], "score": [[1.0]]}, ValueError, "one dimension"),
        ([("a", "x")], TypeError, "row 0: expected a tuple"),
        ([{"query_id": "a"}], TypeError, "row 0: expected a tuple"),
        (pyarrow.array(["a"]), TypeError, "named columns"),
    ],
)
def test_what_is_no_run_is_refused(data, kind, message):
    with pytest.raises(kind, match=message):
        fastir.evaluate({"a": {"x": 1}}, data, "map")


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    "rows",
    [
        [("a", "x", 1.0), ("a", "y", 1.0), ("a", "x", 2.0)],
        [("b", "y", 1.0), ("a", "x", 1.0), ("b", "z", 1.0), ("a", "x", 2.0)],
        [("foreign", "x", 1.0), ("a", "y", 1.0), ("foreign", "x", 2.0)],
    ],
)
def test_a_document_that_stands_twice_names_both_rows(rows, threads):
    qrels = {"a": {"x": 1, "u": 0}, "b": {"y": 1}}
    first, later = (i for i, row in enumerate(rows) if row[1] == "x")
    message = f"duplicate document 'x' in query '{rows[later][0]}', in rows {first} and {later}"
    with pytest.raises(fastir.DuplicateError, match=message):
        fastir.evaluate(qrels, rows, "map", n_threads=threads)
    results = fastir.evaluate(qrels, rows, "map", n_threads=threads, duplicates="last")
    assert results.report.repairs["duplicates"][0] == 1
    if rows[later][0] == "a":
        with pytest.raises(fastir.DuplicateError, match=message):
            fastir.evaluate(qrels, rows, "map", n_threads=threads, validate="judged")
    else:
        assert fastir.evaluate(qrels, rows, "map", n_threads=threads, validate="judged")["map"] == 0.0


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


@pytest.mark.parametrize(
    "label, kind",
    [(2.0**31, OverflowError), (float("nan"), ValueError), (float("inf"), OverflowError)],
)
def test_labels_of_a_table_are_in_the_range_of_32_bits(label, kind):
    table = {"query_id": ["a", "a"], "doc_id": ["x", "y"], "label": [1.0, label]}
    with pytest.raises(kind, match=r"row 1.*\(query a, document y\)"):
        fastir.Qrels.from_table(table)


def test_an_empty_table_is_an_empty_run():
    types = {"qid": "string", "docno": "string", "score": "double"}
    table = pyarrow.table({name: pyarrow.array([], kind) for name, kind in types.items()})
    with pytest.raises(fastir.NoOverlapError, match="the run is empty"):
        fastir.evaluate({"a": {"x": 1}}, table, "map")


def test_the_caller_s_table_is_as_it_was():
    table = table_with(1, 0, "z")
    before = {name: column.copy() for name, column in table.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fastir.evaluate({"a": {"z": 1}}, table, METRICS, score_dtype="float32")
    assert all((table[name] == before[name]).all() for name in table)


@pytest.mark.parametrize("user", ["user_id", "userId"])
@pytest.mark.parametrize("item", ["item_id", "itemId", "movieId"])
def test_the_names_that_recommenders_use(user, item):
    ratings = {user: ["u", "u", "v"], item: [7, 8, 7], "rating": [4.0, 1.0, 3.0]}
    predicted = {user: ["u", "u", "v"], item: [7, 8, 7], "rating": [4.0, 1.0, 3.0], "prediction": [3.5, 3.9, 4.0]}
    for made in (dict, pandas.DataFrame, pyarrow.table):
        results = fastir.evaluate(made(ratings), made(predicted), "mrr", rel_level=3)
        assert results.per_query("mrr") == {"u": 0.5, "v": 1.0}


def test_half_stars_become_labels_by_a_threshold(tmp_path):
    ratings = {"userId": [1, 1, 1, 2], "movieId": [10, 11, 12, 10], "rating": [4.0, 3.5, 0.5, 5.0]}
    expected = {1: {10: 1, 11: 0, 12: 0}, 2: {10: 1}}
    for made in (dict, pandas.DataFrame, pyarrow.table):
        assert fastir.Qrels.from_table(made(ratings), threshold=4).to_dict() == expected
    pandas.DataFrame(ratings).to_csv(tmp_path / "ratings.csv", index=False)
    assert str(fastir.Qrels.from_file(tmp_path / "ratings.csv", threshold=4).to_dict()) == str(
        {str(user): {str(item): label for item, label in items.items()} for user, items in expected.items()}
    )
    assert fastir.evaluate(ratings, {1: {11: 2.0, 12: 1.0}}, "dcg@1").per_query("dcg@1") == {1: 3.5, 2: 0.0}
    with pytest.raises(ValueError, match="row 1: 'rating' is NaN"):
        fastir.Qrels.from_table({**ratings, "rating": [4.0, np.nan, 0.5, 5.0]}, threshold=4)
    (tmp_path / "qrels.txt").write_text("q 0 d 1\n")
    with pytest.raises(ValueError, match="threshold is for ratings in a table, csv, jsonl, parquet; got format 'trec'"):
        fastir.Qrels.from_file(tmp_path / "qrels.txt", threshold=4)
    with pytest.raises(TypeError, match="threshold must be a number"):
        fastir.Qrels.from_table(ratings, threshold="4")


# ---- what is no table, or has no rows yet --------------------------------------------------------------------------


def test_a_dict_that_lacks_a_column_is_a_table_without_it():
    with pytest.raises(ValueError, match="no column 'score' or 'prediction' or 'rank'; it has 'query_id', 'doc_id'"):
        fastir.evaluate({"q1": {"d3": 1}}, {"query_id": ["q1"], "doc_id": ["d3"]}, "mrr")


def test_a_dask_frame_holds_no_rows_yet():
    dataframe = pytest.importorskip("dask.dataframe")
    frame = dataframe.from_pandas(pandas.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [1.0]}), npartitions=1)
    with pytest.raises(TypeError, match=r"run: got a dask DataFrame, .* expected run\.compute\(\)"):
        fastir.evaluate({"q": {"d": 1}}, frame, "mrr")
    with pytest.raises(TypeError, match=r"qrels: got a dask DataFrame, .* expected qrels\.compute\(\)"):
        fastir.Qrels.from_table(frame)
    assert fastir.evaluate({"q": {"d": 1}}, frame.compute(), "mrr")["mrr"] == 1.0
