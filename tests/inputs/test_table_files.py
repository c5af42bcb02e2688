"""CSV, JSONL and Parquet files: what a table says in memory it says in a file, exactly, and errors tell the file."""

import builtins
import csv
import gzip
import io
import json
import random
import sys

import gen
import pytest
from common import UNEVEN
from packings import PACKINGS, exact, packed

import fastir
from fastir import Qrels, Run
from fastir.inputs import parquet_files, table_files, table_rows

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
METRICS = ["ndcg@10", "map", "bpref", "rbp", "num_ret"]
QRELS = {"007": {"NA": 1, "2009-01-01": -2}, "é文😀": {"a,b": 3, 'x"y': 0, " z ": 1}, "true": {"1e5": 2}}
RUN = {
    "é文😀": {'x"y': 0.1 + 0.2, "a,b": 5e-324, "": 1.0},
    "007": {"2009-01-01": -0.0, "NA": 1e300, "NaN": float("-inf")},
}
FORMATS = ["csv", "jsonl", "parquet"]


def rows_of(nested):
    return [(query, doc, number) for query, docs in nested.items() for doc, number in docs.items()]


def content(rows, format, names=("query_id", "doc_id", "score")):
    """The bytes of a file that has a column before and one behind ours."""
    names = ["text", *names, "place"]
    rows = [("two\nlines", *row, place) for place, row in enumerate(rows)]
    if format == "csv":
        file = io.StringIO()
        csv.writer(file).writerows([names, *([*row[:3], repr(row[3]), row[4]] for row in rows)])
        return file.getvalue().encode()
    if format == "jsonl":
        return b"".join(json.dumps(dict(zip(names, row, strict=True))).encode() + b"\n" for row in rows)
    file = io.BytesIO()
    table = pyarrow.table({name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)})
    parquet.write_table(table, file, row_group_size=7)
    return file.getvalue()


@pytest.fixture
def write(tmp_path):
    def write(data, name):
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    return write


# ---- reading -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", ["", "any", "any.txt"])
def test_ids_and_numbers_are_as_they_are_written(format, name, packing, write):
    """As text: no number, date, truth value or missing value is made of an id."""
    if format == "parquet" and packing:
        pytest.skip("Parquet has no packing but its own")
    for cls, data, number in ((Qrels, QRELS, "label"), (Run, RUN, "score")):
        plain = content(rows_of(data), format, ("qid", "docno", number))
        path = write(packed(plain, packing), name or f"x.{format}{packing}")
        made = cls.from_file(path, format=format if name else None)
        assert exact(made) == exact(data)
        assert made.columns.repairs == {}


@UNEVEN
@pytest.mark.parametrize("options", [{}, {"n_threads": 3}, {"duplicates": "first"}, {"validate": "judged"}], ids=str)
@pytest.mark.parametrize("order", ["grouped", "shuffled"])
@pytest.mark.parametrize("format", FORMATS)
def test_values_are_those_of_the_dicts_bit_for_bit(format, order, options, write, monkeypatch):
    monkeypatch.setattr(table_files, "BLOCK_BYTES", 4096)
    monkeypatch.setattr(parquet_files, "BATCH_ROWS", 10)
    qrels, run = ({query: docs for query, docs in side.items() if docs} for side in gen.collection(12))
    want = fastir.evaluate(qrels, run, METRICS)
    rows = rows_of(run)
    if order == "shuffled":
        random.Random(3).shuffle(rows)
    run = write(content(rows, format), f"run.{format}")
    files = [write(content(rows_of(qrels), kind), f"qrels.{kind}") for kind in ("csv", format)]
    for other in (qrels, *files):
        got = fastir.evaluate(other, run, METRICS, **options)
        got_rows, want_rows = (dict(zip(one.query_ids, one.values.tolist(), strict=True)) for one in (got, want))
        assert got_rows == want_rows
        assert got.report == want.report or other is not qrels


@pytest.mark.parametrize("format", FORMATS)
def test_files_are_streamed_and_not_collected(format, write, monkeypatch):
    monkeypatch.setattr(table_rows, "group_rows", None)
    path = write(content(rows_of(RUN), format), f"run.{format}")
    assert fastir.evaluate(QRELS, path, "mrr", queries="qrels") == fastir.evaluate(QRELS, RUN, "mrr", queries="qrels")


@pytest.mark.parametrize("format", FORMATS)
def test_columns_that_are_called_otherwise(format, write):
    columns = {"query_id": "Q", "doc_id": "D", "label": "L", "score": "S"}
    run = write(content(rows_of(RUN), format, "QDS"), f"run.{format}")
    qrels = write(content(rows_of(QRELS), format, "QDL"), f"qrels.{format}")
    assert exact(Run.from_file(run, columns=columns)) == exact(RUN)
    assert exact(Qrels.from_file(qrels, columns=columns)) == exact(QRELS)
    evaluator = fastir.Evaluator(qrels, METRICS, queries="qrels", columns=columns)
    assert evaluator.evaluate(run) == fastir.evaluate(QRELS, RUN, METRICS, queries="qrels")
    message = rf"run\.{format}: run: the table has no column 'query_id'.*it has 'text', 'Q'"
    with pytest.raises(fastir.FormatError, match=message):
        Run.from_file(run)


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_integers_are_ids_too(format, write):
    run = {8: {5: 1.0, -3: 1.0}, 2**62: {9: 2.0}}
    path = write(content(rows_of(run), format), f"run.{format}")
    assert exact(Run.from_file(path)) == exact(run)
    results = fastir.evaluate({"8": {"5": 1}, str(2**62): {"9": 1}}, path, "mrr")
    assert dict(results) == {"mrr": 1.0} and results.report.repairs == {"integer ids read as text": (3, "the run")}


def test_the_lines_of_csv(write):
    text = '\ufeff"query_id","x","doc_id","score"\r\n\r\na,"1\r\n2",d, 1.5 \r\n"a",,"d 2",+.5e1\r\na,,"say ""d""",1'
    run = Run.from_file(write(text, "run.csv"))
    assert exact(run) == exact({"a": {"d": 1.5, "d 2": 5.0, 'say "d"': 1.0}})
    assert run.columns.repairs["byte order mark"][0] == 1


def test_bytes_that_are_no_utf_8_are_compared_as_bytes(write):
    path = write(b"query_id,doc_id,score\nq\xff,d\xfe,1\n", "run.csv")
    assert exact(Run.from_file(path)) == exact({"q\udcff": {"d\udcfe": 1.0}})


def test_standard_input(monkeypatch):
    for format in ("csv", "jsonl"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content(rows_of(RUN), format))))
        assert exact(Run.from_file("-", format=format)) == exact(RUN)


def test_many_runs_of_every_format(write):
    qrels = write(content(rows_of(QRELS), "csv"), "qrels.csv")
    runs = {format: write(content(rows_of(RUN), format), f"run.{format}") for format in FORMATS}
    results = fastir.evaluate_many(qrels, runs, METRICS, queries="qrels", n_threads=2)
    want = fastir.evaluate(QRELS, RUN, METRICS, queries="qrels")
    assert results["csv"] == results["jsonl"] == results["parquet"] == want


@pytest.mark.parametrize("n_threads", [1, 3])
def test_a_stream_whose_bytes_python_provides(n_threads):
    """Whichever thread of pyarrow asks for them."""
    from pyarrow import csv as reader

    rows = [(f"q{i}", f"d{i}-{j}", float(j)) for i in range(2000) for j in range(50)]
    data = content(rows, "csv")
    qrels = {f"q{i}": {f"d{i}-49": 1} for i in range(2000)}
    for _ in range(3):
        stream = reader.open_csv(
            pyarrow.PythonFile(io.BytesIO(data), "r"),
            reader.ReadOptions(block_size=1 << 16),
            reader.ParseOptions(newlines_in_values=True),
        )
        assert fastir.evaluate(qrels, stream, "mrr", n_threads=n_threads)["mrr"] == 1.0


# ---- what is wrong -----------------------------------------------------------------------------------------------
HEAD = "query_id,doc_id,score\n"


@pytest.mark.parametrize("name, text, message", [
    ("x.csv", "", "the file is empty"),
    ("x.csv", HEAD, "the run is empty"),
    ("x.csv", "a,b,1\n", "no column 'query_id'"),
    ("x.csv", HEAD + "a,b,1\na,c,x\n", "row 1: score 'x' is not a number"),
    ("x.csv", HEAD + "a,b,\n", "row 0: score '' is not a number"),
    ("x.csv", HEAD + "a,b,nan\n", "row 0: score 'nan' is not a number"),
    ("x.csv", HEAD + "a,b,1_0\n", "row 0: score '1_0' is not a number"),
    ("x.csv", HEAD + "a,b,1e999\n", "row 0: score '1e999' is too large for a float"),
    ("x.csv", HEAD + "a,b\n", "Expected 3 columns, got 2"),
    ("x.csv", HEAD + "a,b,1\na,b,2\n", "duplicate document 'b' in query 'a', in rows 0 and 1"),
    ("x.csv", "query_id,doc_id,score,score\na,b,1,2\n", "several columns called 'score'"),
    ("x.jsonl", "", "the file is empty"),
    ("x.jsonl", "[1]\n", "expected a JSON object"),
    ("x.jsonl", "{\n", "property name"),
    ("x.jsonl", '{"qid": "a", "docid": "b", "score": 1}\n{"qid": "a"}\n', "row 1: 'docid' is null"),
    ("x.jsonl", '{"qid": "a", "docid": "b", "score": 1}\n{"qid": 2, "docid": "b", "score": 1}\n',
     "from string to number"),
    ("x.jsonl", '{"qid": "a", "docid": 1.5, "score": 1}\n', "from string to number"),
    ("x.jsonl", '{"qid": "a", "docid": "b", "score": "1"}\n', "from number to string"),
    ("x.jsonl", '{"qid": "a", "docid": "b", "score": 1e999}\n', "too big"),
    ("x.jsonl", '{"qid": "a", "docid": "b", "score": NaN}\n', "row 0: 'score' is NaN"),
    ("x.jsonl", '{"qid": "a", "docid": "b", "score": 1}\nnull\n', "expected a JSON object on every line, got null"),
    ("x.parquet", "", "0 bytes"),
    ("x.parquet", "PAR1 is not enough: PAR1", "."),
    ("x.csv.gz", "plain", "is not gzip compressed"),
])  # fmt: skip
@pytest.mark.parametrize("streamed", [True, False])
def test_what_is_wrong_is_told_with_the_file(streamed, name, text, message, write):
    path = write(text, name)
    with pytest.raises(fastir.FormatError, match=message) as caught:
        if streamed:
            fastir.evaluate({"a": {"b": 1}}, path, "mrr")
        else:
            Run.from_file(path)
    assert caught.value.path == str(path) and str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    "label, message", [("2147483648", "is out of range; expected a number from"), ("x", "label 'x' is not a number")]
)
def test_labels_are_numbers(label, message, write):
    with pytest.raises(fastir.FormatError, match=message):
        Qrels.from_file(write(f"query_id,doc_id,label\na,b,{label}\n", "q.csv"))
    for text, label in (("1.0", 1), ("1.5", 1.5)):
        assert Qrels.from_file(write(f"query_id,doc_id,label\na,b,{text}\n", "q.csv")).to_dict() == {"a": {"b": label}}


@UNEVEN
def test_duplicates_are_repaired_on_request(write):
    path = write(HEAD + "a,b,1\na,c,1.5\na,b,2\n", "x.csv")
    assert Run.from_file(path, duplicates="max").to_dict() == {"a": {"b": 2.0, "c": 1.5}}
    results = fastir.evaluate({"a": {"b": 1}}, path, "mrr", duplicates="max")
    assert results["mrr"] == 1.0 and results.report.repairs["duplicates"] == (1, f"{path}: row 2")


@pytest.mark.filterwarnings("error::ResourceWarning")
@pytest.mark.parametrize("format", FORMATS)
def test_an_error_in_the_middle_of_a_big_file_ends_it(format, write):
    """Many times over: no thread of pyarrow is left with a file that is gone."""
    rows = [(f"q{i}", f"d{j}", float(j)) for i in range(300) for j in range(300)]
    rows[100] = rows[99]
    path = write(content(rows, format), f"x.{format}")
    message = "duplicate document 'd99' in query 'q0', in rows 99 and 100"
    for _ in range(5):
        with pytest.raises(fastir.DuplicateError, match=message):
            fastir.evaluate({"q0": {"d1": 1}}, path, "mrr")


@pytest.mark.parametrize("format", FORMATS)
def test_a_damaged_file_is_an_error(format, write):
    data = content([(f"q{i}", f"d{j}", float(j)) for i in range(30) for j in range(300)], format)
    data = data[:-100] if format == "parquet" else gzip.compress(data)[:-100]
    path = write(data, f"x.{format}" + ("" if format == "parquet" else ".gz"))
    with pytest.raises(fastir.FormatError, match=r"damaged|[Mm]agic|footer"):
        fastir.evaluate({"q0": {"d1": 1}}, path, "mrr")


@pytest.mark.parametrize("name", ["absent.csv", "absent.jsonl", "absent.parquet"])
def test_a_file_that_is_not_there(name, tmp_path):
    with pytest.raises(FileNotFoundError, match=name):
        fastir.evaluate({"a": {"b": 1}}, tmp_path / name, "mrr")


@pytest.mark.parametrize("format", FORMATS)
def test_without_pyarrow_the_extra_is_named(format, write, monkeypatch):
    path = write(content(rows_of(RUN), format), f"run.{format}")
    real = builtins.__import__

    def without(name, *rest):
        if name.partition(".")[0] == "pyarrow":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(fastir.FormatError, match=r"run\..*pip install 'fastir\[arrow\]'"):
        fastir.evaluate(QRELS, path, "mrr")
    with pytest.raises(ValueError, match=r"cannot write.*pip install 'fastir\[arrow\]'"):
        Run.from_dict(RUN).save(path.with_suffix(".parquet"))


# ---- writing -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("data", [QRELS, RUN, {7: {2: 1, 1: 0}}, {7: {"x": 1.5}}, {"q": {-1: 0.5}}], ids=str)
@pytest.mark.parametrize("rows", [1, 3, 1 << 18])
def test_parquet_reads_back_exactly(data, rows, tmp_path, monkeypatch):
    monkeypatch.setattr(fastir.inputs.writers, "BATCH_ROWS", rows)
    cls = Run if type(rows_of(data)[0][2]) is float else Qrels
    path = tmp_path / "x.parquet"
    cls.from_dict(data).save(path)
    assert exact(cls.from_file(path)) == exact(data)
    assert parquet.read_schema(path).names == ["query_id", "doc_id", "score" if cls is Run else "label"]
    cls.from_dict(data).save(tmp_path / "any", format="parquet")
    assert (tmp_path / "any").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name, data, message", [
    ("x.parquet", {"q": {"d\udcff": 1.0}}, r"'d\\udcff' is not UTF-8 text"),
    ("x.parquet", {"q": {}}, "query 'q' has no documents"),
    ("x.parquet.gz", {"q": {"d": 1.0}}, "compressed Parquet can only be read"),
    ("x.csv", {"q": {"d": 1.0}}, "csv can only be read; expected trec, json, parquet"),
])  # fmt: skip
def test_what_cannot_be_written_leaves_no_file(name, data, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        Run.from_dict(data).save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def odd_line(rng, integers):
    """A line of JSON that most often is usual, and sometimes wrong."""
    query, doc = (rng.randrange(3), rng.randrange(10**6)) if integers else (f"q{rng.randrange(3)}", f"dü{rng.random()}")
    row = {"query_id": query, "doc_id": doc, "score": rng.choice([rng.random(), rng.randrange(9), -1e-7])}
    more = {"t": "two\nlines", "n": None, "list": [1, {"a": 2}], "text": "plain", "b": True, "é": "\\"}
    row |= {name: more[name] for name in rng.sample(sorted(more), rng.choice([0, 0, 0, 1, 2]))}
    if rng.random() < 0.03:
        row[rng.choice(list(row))] = rng.choice([None, "x", 7, 0.5, [], 10**18, 10**19, "\ud800"])
    items = list(row.items())
    if rng.random() < 0.3:
        rng.shuffle(items)
    if rng.random() < 0.02:
        items = rng.choice([items[1:], [*items, items[0]]])
    text = ", ".join(f"{json.dumps(n)}:{json.dumps(value, ensure_ascii=rng.random() < 0.5)}" for n, value in items)
    return f"{{{text}}}" + rng.choice(["\n", "\n", "\n", "\r\n", "\n\n", " \n", " ", ""])


def test_lines_of_json_are_what_pyarrow_reads(write, monkeypatch):
    """The quick reader takes the lines down to the first that is unusual; without it pyarrow takes them all."""
    rng, n_read = random.Random(5), 0
    monkeypatch.setattr(table_files, "BLOCK_BYTES", 2000)

    def outcome(path):
        try:
            return fastir.Run.from_file(path, duplicates="last").to_dict()
        except fastir.FastirError as error:
            return type(error)

    for case in range(150):
        text = "".join(odd_line(rng, case % 2) for _ in range(rng.randrange(1, 60)))
        path = write(text.encode("utf-8", "surrogatepass"), f"{case}.jsonl")
        found = outcome(path)
        with monkeypatch.context() as context:
            context.setattr(table_files.Jsonl, "plain_rows", lambda file, names: ())
            assert outcome(path) == found, text
        n_read += isinstance(found, dict)
    assert 30 < n_read < 140
