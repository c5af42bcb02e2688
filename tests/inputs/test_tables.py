"""Columns of any kind: integers, categories, missing values, and what is no run."""
# Also of: column_readers.

import warnings

import numpy as np
import pytest
from common import UNEVEN

import fastir

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")
METRICS = ["ndcg@10", "map", "bpref", "rbp", "recall@5", "num_ret"]
ROLES = ("query_id", "doc_id")
pytestmark = UNEVEN


def rows_of(nested):
    return [(query, doc, number) for query, docs in nested.items() for doc, number in docs.items()]


def frame(rows, number):
    queries, docs, numbers = zip(*rows, strict=True)
    return pandas.DataFrame({"qid": queries, "docno": docs, number: numbers})


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


def table_with(column, row, value):
    rows = [["a", f"d{i}", float(i)] for i in range(5)]
    rows[row][column] = value
    return {name: np.array([one[place] for one in rows], object) for place, name in enumerate((*ROLES, "score"))}


@pytest.mark.parametrize("column, value, kind, message", [
    (0, None, ValueError, "row 3: 'query_id' is missing"),
    (1, None, ValueError, "row 3: 'doc_id' is missing"),
    (1, float("nan"), ValueError, "row 3: 'doc_id' is missing"),
    (1, 3, TypeError, "row 3: 'doc_id' must be a str"),
    (2, None, ValueError, "row 3: 'score'.*missing"),
    (2, "x", TypeError, "row 3: 'score' must be numeric, got str 'x'"),
    (2, float("nan"), ValueError, r"row 3: 'score' is NaN.*\(query a, document d3\)"),
])  # fmt: skip
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


@pytest.mark.parametrize("data, kind, message", [
    (pyarrow.table({"qid": [1.5], "docno": ["x"], "score": [1.0]}), TypeError,
     "'qid' must hold strings or integers, got float64; cast it to string"),
    (pyarrow.table({"qid": ["a"], "docno": ["x"], "score": ["1"]}), TypeError,
     "'score' must be numeric, got string; cast it to double"),
    ({"qid": ["a", "b"], "docno": ["x"], "score": [1.0]}, ValueError, "columns differ in length: 1, 2"),
    ({"qid": [["a"]], "docno": [["x"]], "score": [[1.0]]}, TypeError, "'qid' must be a str or an int"),
    ({"qid": ["a"], "docno": ["x"], "score": [[1.0]]}, ValueError, "one dimension"),
    ([("a", "x")], TypeError, "row 0: expected a tuple"),
    ([{"query_id": "a"}], ValueError, "no column 'doc_id'"),
    ([{"query_id": "a"}, {"doc_id": "x"}], ValueError, "row 1: .* is not in this row and in row 0 alike"),
    (pyarrow.array(["a"]), TypeError, "named columns"),
])  # fmt: skip
def test_what_is_no_run_is_refused(data, kind, message):
    with pytest.raises(kind, match=message):
        fastir.evaluate({"a": {"x": 1}}, data, "map")


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


def test_a_dask_frame_holds_no_rows_yet():
    dataframe = pytest.importorskip("dask.dataframe")
    frame = dataframe.from_pandas(pandas.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [1.0]}), npartitions=1)
    with pytest.raises(TypeError, match=r"run: got a dask DataFrame, .* expected run\.compute\(\)"):
        fastir.evaluate({"q": {"d": 1}}, frame, "mrr")
    with pytest.raises(TypeError, match=r"qrels: got a dask DataFrame, .* expected qrels\.compute\(\)"):
        fastir.Qrels.from_table(frame)
    assert fastir.evaluate({"q": {"d": 1}}, frame.compute(), "mrr")["mrr"] == 1.0


# ---- integers that float64 does not have -----------------------------------------------------------------------------
ROUNDED = "rankings in which different integers are one float64"
BIG = 2**60
SHAPES_OF_INTEGERS = {
    "lists": dict,
    "arrays": lambda rows: {name: np.array(column) for name, column in rows.items()},
    "uint64": lambda rows: {**rows, "score": np.array(rows["score"], np.uint64)},
    "objects": lambda rows: {**rows, "score": np.array(rows["score"], object)},
    "rows": lambda rows: list(zip(*rows.values(), strict=True)),
    "dict": lambda rows: nested(rows),
    "Run": lambda rows: fastir.Run.from_dict(nested(rows)),
    "from_table": lambda rows: fastir.Run.from_table(pyarrow.table(rows)),
    "pandas": pandas.DataFrame,
    "pandas objects": lambda rows: pandas.DataFrame(rows).astype({"score": object}),
    "pandas Int64": lambda rows: pandas.DataFrame(rows).astype({"score": "Int64"}),
    "pandas Arrow text": lambda rows: pandas.DataFrame(rows).astype(dict.fromkeys(ROLES, "string[pyarrow]")),
    "polars": polars.DataFrame,
    "Arrow": pyarrow.table,
    "Arrow uint64": lambda rows: pyarrow.table({**rows, "score": pyarrow.array(rows["score"], pyarrow.uint64())}),
    "slice": lambda rows: pyarrow.table({name: [column[0], *column] for name, column in rows.items()}).slice(1),
}


def nested(rows):
    run = {}
    for query, doc, score in zip(*rows.values(), strict=True):
        run.setdefault(query, {})[doc] = score
    return run


def integer_rows(*scores, n=0):
    """Three documents of q, of which b is relevant; two of p; and n queries more."""
    more = [(f"r{i}", "a", i) for i in range(n)]
    rows = [*zip("qqq", "cab", scores, strict=True), ("p", "a", BIG + 1), ("p", "b", 2), *more]
    return dict(zip(("query_id", "doc_id", "score"), map(list, zip(*rows, strict=True)), strict=True))


@pytest.mark.parametrize("n", [0, 400])
@pytest.mark.parametrize("shape", SHAPES_OF_INTEGERS)
def test_integers_that_become_one_float64_are_warned_of(shape, n):
    qrels = {"q": {"b": 1}, "p": {"a": 1}}
    place = "query q, documents 'c' and 'b'"
    with pytest.warns(fastir.FastirWarning, match=f"one float64, so that documents tie .{place}"):
        results = fastir.evaluate(qrels, SHAPES_OF_INTEGERS[shape](integer_rows(BIG, 5, BIG + 1, n=n)), "mrr")
    assert results.report.repairs[ROUNDED] == (1, place)
    apart = fastir.evaluate(qrels, SHAPES_OF_INTEGERS[shape](integer_rows(BIG, BIG, 2 * BIG, n=n)), "mrr")
    assert ROUNDED not in apart.report.repairs


def test_integers_in_rows_that_do_not_stand_together_and_in_files(tmp_path):
    rows = integer_rows(BIG, 5, BIG + 1)
    table = pyarrow.table(rows).take([0, 3, 1, 4, 2])
    pandas.DataFrame(rows).to_parquet(tmp_path / "run.parquet")
    evaluator = fastir.Evaluator({"q": {"b": 1}, "p": {"a": 1}}, "mrr", validate="judged")
    first = evaluator.partial(strategy="two-pass")
    first.add(table)
    second = evaluator.partial(strategy="two-pass", after=first)
    second.add(table)
    for results in (evaluator.evaluate(table), evaluator.evaluate(tmp_path / "run.parquet"), second.result()):
        assert results.report.repairs[ROUNDED] == (1, "query q, documents 'c' and 'b'")


# ---- tables with labels in rank order --------------------------------------------------------------------------------
LABEL_METRICS = ["ndcg@10", "mrr"]
TABLE = {"qid": ["b", "b", "a", "a", "a"], "label": [0, 1, 2, 0, 1], "score": [0.5, 0.25, 0.1, 0.9, 0.4]}


def expected():
    return dict(fastir.evaluate_scores(TABLE["label"], TABLE["score"], LABEL_METRICS, qid=TABLE["qid"]))


def total_of(*batches, **options):
    total = fastir.Accumulator(LABEL_METRICS)
    for batch in batches:
        total.update(batch, **options)
    return total


@pytest.mark.parametrize("shape", ["dict", "arrow", "pandas", "polars", "reader", "dataset"])
def test_a_batch_may_be_a_table(shape):
    def made(table):
        if shape == "reader":
            return table.to_reader()
        if shape == "dataset":
            return pytest.importorskip("pyarrow.dataset").dataset(table)
        if shape == "polars":
            return pytest.importorskip("polars").DataFrame(table)
        return {"dict": table.to_pydict, "arrow": lambda: table, "pandas": table.to_pandas}[shape]()

    if shape == "pandas":
        pytest.importorskip("pandas")
    table = pyarrow.table(TABLE)
    total = total_of(made(table.slice(0, 2)), made(table.slice(2)))
    assert total.n_queries == 2 and total.result() == expected()
    assert total_of(made(table.take([4, 0, 2, 1, 3]))).result() == expected(), "in any order"


def test_ranks_and_other_names():
    ranked = {"query_id": TABLE["qid"], "relevance": TABLE["label"], "rank": [1, 2, 3, 1, 2]}
    assert total_of(ranked).result() == expected()
    named = {"q": TABLE["qid"], "y": TABLE["label"], "s": TABLE["score"]}
    assert total_of(named, columns={"query_id": "q", "label": "y", "score": "s"}).result() == expected()


@pytest.mark.parametrize(("arguments", "options", "error", "message"), [
    ([{"qid": ["a"]}], {}, ValueError, "no column 'label' or 'relevance' .*; it has 'qid'"),
    ([{"qid": ["a"], "label": [1]}], {}, ValueError,
     "labels: the table has no column 'score' or 'prediction' or 'similarity' or 'rank'"),
    ([TABLE], {"columns": {"doc": "x"}}, ValueError, "columns: unknown role .doc.; expected query_id"),
    ([TABLE, [1.0]], {}, TypeError, "has queries and scores in its columns"),
    ([[1, 0]], {"columns": {}}, TypeError, "columns is for a table, but none was given"),
    ([], {"run": {"q": {"d": 1.0}}}, TypeError, "run and qrels belong together"),
])  # fmt: skip
def test_what_does_not_fit_together(arguments, options, error, message):
    total = fastir.Accumulator(LABEL_METRICS)
    with pytest.raises(error, match=message):
        total.update(*arguments, **options)
    assert total.n_queries == 0
