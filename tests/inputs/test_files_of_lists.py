"""Files and tables with lists of ids: the same bits as in memory, and errors that name line and field."""

import json

import pytest
from common import UNEVEN

import fastir
from fastir.cli import main

pytestmark = UNEVEN
pyarrow = pytest.importorskip("pyarrow")
pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pytest.importorskip("pyarrow.feather")
pytest.importorskip("pyarrow.parquet")

METRICS = ["mrr", "ndcg@3", "map", "recall@2", "num_q", "num_ret"]
DATA = {  # of each kind of ids: {query: ids in rank order}, {query: relevant ids}
    "text": ({"a": ["x", "y", "z"], "b": ["y"], "c": [], "d": ["w", "x"]}, {"d": ["x", "v"], "a": ["z"], "b": ["y"]}),
    "integers": ({"a": [3, 1, 2], "b": [1], "c": [], "d": [7, 3]}, {"d": [3, 9], "a": [2], "b": [1]}),
    "escapes": ({"a": ['q"', "\u00e9", "a b"], "\u6587": ["y,"]}, {"a": ["\u00e9"], "\u6587": ["y,", "z"]}),
}
NAMES = {"run": "retrieved", "qrels": "relevant"}


def table(lists, side):
    return {"query_id": list(lists), NAMES[side]: list(lists.values())}


def records(lists, side):
    return [{"query_id": query_id, NAMES[side]: ids} for query_id, ids in lists.items()]


def arrow(lists, side):
    kind = pyarrow.int64() if isinstance(next(iter(lists.values()))[0], int) else pyarrow.string()
    columns = table(lists, side)
    return pyarrow.table({**columns, NAMES[side]: pyarrow.array(columns[NAMES[side]], pyarrow.list_(kind))})


def write_jsonl(path, lists, side):
    path.write_text("".join(json.dumps(row) + "\n" for row in records(lists, side)))


def write_cells(path, lists, side, write, mark):
    frame = pandas.DataFrame({"query_id": list(lists), NAMES[side]: list(map(write, lists.values()))})
    frame.to_csv(path, sep=mark, index=False)


def cells(write, mark=","):
    return lambda path, lists, side: write_cells(path, lists, side, write, mark)


def write_feather(path, lists, side):
    pyarrow.feather.write_feather(arrow(lists, side), path, compression="lz4")


def write_stream(path, lists, side):
    data = arrow(lists, side)
    with pyarrow.ipc.new_stream(path, data.schema) as sink:
        sink.write_table(data)


FILES = {  # each way of writing a file of lists, and the end of its name
    "object": ("json", lambda path, lists, side: path.write_text(json.dumps(lists))),
    "object of UTF-8": (
        "json",
        lambda path, lists, side: path.write_text(json.dumps(lists, ensure_ascii=False), "utf-8"),
    ),
    "array of objects": ("json", lambda path, lists, side: path.write_text(json.dumps(records(lists, side)))),
    "JSON Lines": ("jsonl", write_jsonl),
    "Parquet": ("parquet", lambda path, lists, side: pyarrow.parquet.write_table(arrow(lists, side), path)),
    "Arrow": ("arrow", lambda path, lists, side: polars.from_arrow(arrow(lists, side)).write_ipc(path)),
    "Arrow stream": ("arrow", write_stream),
    "Feather": ("feather", write_feather),
    "CSV of JSON": ("csv", cells(json.dumps)),
    "CSV of Python": ("csv", cells(str)),
    "TSV of JSON": ("tsv", cells(json.dumps, "\t")),
}
TEXT_FILES = {"blanks": ("csv", cells(" ".join)), "commas": ("tsv", cells(",".join, "\t"))}
CONTAINERS = {  # each shape in memory
    "dict": lambda lists, side: lists, "columns": table, "records": records,
    "pandas": lambda lists, side: pandas.DataFrame(table(lists, side)),
    "polars": lambda lists, side: polars.from_arrow(arrow(lists, side)), "Arrow": arrow,
}  # fmt: skip


def pairs_of(kind):
    files = FILES | (TEXT_FILES if kind == "text" else {})
    return [(kind, name, file) for name, file in files.items()]


def same(results, expected):
    assert results.query_ids == expected.query_ids
    assert results.values.tobytes() == expected.values.tobytes()


@pytest.mark.parametrize(("kind", "name", "file"), [pair for kind in DATA for pair in pairs_of(kind)])
def test_a_file_gives_the_bits_of_the_same_data_in_memory(kind, name, file, tmp_path):
    run, qrels = DATA[kind]
    ending, write = file
    expected = fastir.evaluate(qrels, run, METRICS)
    paths = {side: tmp_path / f"{side}.{ending}" for side in NAMES}
    for side, lists in (("run", run), ("qrels", qrels)):
        write(paths[side], lists, side)
    for judged in (qrels, paths["qrels"], fastir.Qrels.from_file(paths["qrels"])):
        for ranked in (run, paths["run"], fastir.Run.from_file(paths["run"])):
            same(fastir.evaluate(judged, ranked, METRICS), expected)
            same(fastir.Evaluator(judged, METRICS, duplicates="first").evaluate(ranked), expected)
            same(fastir.evaluate_many(judged, {"r": ranked}, METRICS)["r"], expected)
    same(fastir.evaluate_lists(str(paths["run"]), str(paths["qrels"]), METRICS), expected)
    checked = fastir.check(paths["qrels"], paths["run"])
    assert {fault.kind for fault in checked.of("fault")} <= {"unknown query"}


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("shape", CONTAINERS)
def test_a_table_in_memory_gives_the_same_bits(kind, shape):
    run, qrels = DATA[kind]
    expected = fastir.evaluate(qrels, run, METRICS)
    given = CONTAINERS[shape](qrels, "qrels"), CONTAINERS[shape](run, "run")
    same(fastir.evaluate(*given, METRICS), expected)
    same(fastir.evaluate(given[0], given[1], METRICS, duplicates="last"), expected)
    if shape != "dict":
        same(fastir.evaluate(fastir.Qrels.from_table(given[0]), fastir.Run.from_table(given[1]), METRICS), expected)


def test_scores_and_labels_beside_lists(tmp_path):
    path = tmp_path / "judged.jsonl"
    path.write_text(
        '{"qid": "a", "doc_ids": ["x", "y"], "labels": [0, 2]}\n{"qid": "b", "doc_ids": [], "labels": []}\n'
    )
    assert fastir.Qrels.from_file(path).to_dict() == {"a": {"x": 0, "y": 2}, "b": {}}
    path.write_text('{"qid": "a", "doc_ids": ["x", "y"], "scores": [1, 2.5]}\n')
    assert fastir.Run.from_file(path).to_dict() == {"a": {"x": 1.0, "y": 2.5}}
    path.write_text('{"qid": "a", "doc_ids": ["x", "x"], "labels": [0, 2]}\n')
    with pytest.raises(fastir.DuplicateError, match="qrels: duplicate document 'x' in query 'a', at places 1 and 2"):
        fastir.Qrels.from_file(path)
    path.write_text('{"qid": "a", "doc_ids": ["x"], "labels": [1e10]}\n')
    with pytest.raises(fastir.FormatError, match=r"label is 1e.10, which is out of range .query a, document x"):
        fastir.Qrels.from_file(path)


@pytest.mark.parametrize("name", ["query", "doc", "document", "document_id", "chunk_id", "rel", "grade"])
def test_names_of_columns_in_files(name, tmp_path):
    usual = {"query": "query_id", "rel": "label", "grade": "label"}
    row = {"query_id": "a", "doc_id": "x", "label": 2}
    row = {name if column == usual.get(name, "doc_id") else column: value for column, value in row.items()}
    frame = pandas.DataFrame([row])
    frame.to_csv(tmp_path / "rows.tsv", sep="\t", index=False)
    frame.to_feather(tmp_path / "rows.feather")
    (tmp_path / "rows.json").write_text(json.dumps([row]))
    for ending in ("tsv", "feather", "json"):
        assert fastir.Qrels.from_file(tmp_path / f"rows.{ending}").to_dict() == {"a": {"x": 2}}


def test_whole_floats_are_ids(tmp_path):
    frame = pandas.DataFrame({"user_id": [1.0, 2.0], "item_id": [7.0, 2.0**53 - 1], "rating": [1.0, 2.0]})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.to_parquet(tmp_path / "rows.parquet")
    expected = {1: {7: 1}, 2: {2**53 - 1: 2}}
    assert fastir.Qrels.from_table(frame).to_dict() == expected
    assert fastir.Qrels.from_file(tmp_path / "rows.parquet").to_dict() == expected
    (tmp_path / "rows.csv").write_text("user_id,item_id,rating\n1.0,7.0,1\n2.0,8.0,2\n")
    qrels = fastir.Qrels.from_file(tmp_path / "rows.csv")
    assert qrels.to_dict() == {"1": {"7": 1}, "2": {"8": 2}}
    assert qrels.columns.repairs["ids with .0 read as whole numbers"][0] == 4
    (tmp_path / "rows.csv").write_text("user_id,item_id,rating\na,7.0,1\nb,8.5,2\n")
    assert fastir.Qrels.from_file(tmp_path / "rows.csv").to_dict() == {"a": {"7.0": 1}, "b": {"8.5": 2}}
    for odd in (0.5, float("nan"), 2.0**53):
        with pytest.raises((TypeError, ValueError), match=r"item_id.* (got dtype float64|is missing)"):
            fastir.Qrels.from_table(frame.assign(item_id=[1.0, odd]))


WRONG = [  # a file's name and text, the line that its error names, and the message
    ("x.json", '{"a": ["x", null]}', None, "the document id at rank 2 of query 'a' is null"),
    ("x.json", '{"a": ["x"], "b": {"y": 1}}', None, "query 'b' has an object, but query 'a' an array"),
    ("x.json", '{"a": {"y": 1}, "b": ["x"]}', None, "query 'b' has an array, but query 'a' an object"),
    ("x.json", '{"a": ["x", ["y"]]}', None, "rank 2 of query 'a' is an array"),
    ("x.json", '{"a": [{"d": "y"}, "x"]}', None, "rank 1 of query 'a' is an object"),
    ("x.json", '{"a": ["x", 1]}', None, "rank 2 of query 'a' is 1; expected all strings, or all integers"),
    ("x.json", '{"a": [1.5]}', None, "rank 1 of query 'a' is 1.5"),
    ("x.json", '{"a": ["x"], "a": ["y"]}', None, "duplicate (query|key) 'a'"),
    ("x.json", '{"a": ["x", "y"', 1, "malformed JSON at character 16"),
    (
        "x.jsonl", '{"qid": "a", "retrieved": ["x"]}\n\n{"qid": "b", "retrieved": ["y", null]}\n', 3,
        "retrieved: .* null",
    ),
    ("x.jsonl", '{"qid": "a", "retrieved": ["x"]}\n{"qid": "b"}\n', 2, "retrieved: the list of query number 1 is null"),
    (
        "x.jsonl", '{"qid": "a", "retrieved": ["x"]}\n{"qid": "b", "retrieved": "y"}\n', 2,
        "retrieved: a string, where line 1",
    ),
    ("x.jsonl", '{"qid": "a", "retrieved": [["x"]]}\n', 1, "retrieved: a list of lists"),
    ("x.jsonl", '{"qid": "a", "retrieved": ["x", {"y": 1}]}\n', 1, "retrieved: a list of objects and strings"),
    ("x.csv", 'qid,retrieved\na,"[""x"", ""y"""\n', 2, "retrieved: row 0: the list does not end"),
    ("x.csv", 'qid,retrieved\na,"[""x\ny""]"\n\nb,[null]\n', 2, "retrieved: row 0: the list holds"),
    ("x.csv", 'qid,retrieved\na,"[""x""]"\n\nb,[null]\n', 4, "retrieved: row 1: the list holds"),
    ("x.csv", 'qid,retrieved\na,"[""x""]"\nb,x\n', 3, "retrieved: some cells are lists in brackets"),
    ("x.tsv", "qid\tretrieved\na\tx,y\nb\tx y\n", 3, "retrieved: commas or blanks could separate"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "line", "message"), WRONG)
def test_what_is_wrong_is_named_with_line_and_field(name, text, line, message, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    qrels = {"a": {"x": 1}, "b": {"y": 1}}
    for call in (
        lambda: fastir.Run.from_file(path),
        lambda: fastir.evaluate(qrels, path, "mrr"),
        lambda: fastir.evaluate_lists(path, {"a": ["x"], "b": ["y"]}, "mrr"),
    ):
        with pytest.raises(fastir.FormatError, match=message) as caught:
            call()
        assert (str(caught.value.path), caught.value.line) == (str(path), line)
    assert fastir.check(qrels, path).faults[0].kind == "refused input"


def test_an_array_of_other_objects_says_what_it_has(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('[{"Q": "a", "D": ["x"]}]')
    with pytest.raises(fastir.FormatError, match=r"array of objects with 'Q', 'D', of which .*columns="):
        fastir.Qrels.from_file(path)
    assert fastir.Qrels.from_file(path, columns={"query_id": "Q", "doc_id": "D"}).to_dict() == {"a": {"x": 1}}


def test_the_command_line_takes_files_of_lists(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub.csv").write_text("customer_id,prediction\na,x y\nb,y\n")
    (tmp_path / "truth.csv").write_text("customer_id,bought\na,y\nb,y z\n")
    assert main(["eval", "truth.csv", "sub.csv", "-m", "mrr", "--qrels-columns", "relevant=bought"]) == 0
    assert "0.7500" in capsys.readouterr().out
    (tmp_path / "gold.json").write_text('{"a": ["y"], "b": ["y"]}')
    assert main(["check", "gold.json", "sub.csv"]) == 0
    (tmp_path / "bad.csv").write_text('customer_id,prediction\na,"[""x"""\n')
    assert main(["eval", "gold.json", "bad.csv"]) == 2
    assert "bad.csv:2: prediction: row 0" in capsys.readouterr().err


def test_label_of_an_array_of_objects_without_labels(tmp_path):
    path = tmp_path / "taken.json"
    path.write_text('[{"user": "a", "item": "x", "time": 5}, {"user": "a", "item": "y", "time": 6}]')
    assert fastir.Qrels.from_file(path, label=2).to_dict() == {"a": {"x": 2, "y": 2}}
    path.write_text('{"a": ["x"]}')
    with pytest.raises(fastir.FormatError, match="label=2 is for tables without labels; the qrels are lists of ids"):
        fastir.Qrels.from_file(path, label=2)


QUESTIONS = [  # as LoCoMo's results have them, beside what was retrieved
    {"question": "When?", "answer": "x", "evidence": ["D1:3", "D2:1"], "context": ["D1:3", "D4:5"]},
    {"question": "Who?", "answer": "y", "evidence": ["D2:8"], "context": ["D2:7", "D2:8"]},
]


def test_lists_by_any_keys_are_named_by_the_caller(tmp_path):
    path = tmp_path / "results.json"
    path.write_text(json.dumps(QUESTIONS))
    columns = {
        "qrels_columns": {"query_id": "question", "relevant": "evidence"},
        "run_columns": {"query_id": "question", "retrieved": "context"},
    }
    for data in (path, QUESTIONS):
        assert fastir.evaluate(data, data, "recall@2", **columns)["recall@2"] == 0.75
    for nested in ([{"sample_id": "c", "qa": QUESTIONS}], {"sample_id": "c", "qa": QUESTIONS}, {"qa": QUESTIONS}):
        path.write_text(json.dumps(nested))
        with pytest.raises(
            fastir.FormatError, match="'qa' is an array of objects with 'question', 'answer', 'evidence'"
        ):
            fastir.evaluate(path, path, "recall@2", **columns)
    nuggets = [
        {"qid": "q", "query": "t", "nuggets": [{"text": "a", "importance": "vital"}]}
    ]  # as nuggetizer writes them
    path.write_text(json.dumps(nuggets))
    with pytest.raises(fastir.FormatError, match="'nuggets' is an array of objects with 'text', 'importance'"):
        fastir.Qrels.from_file(path)


ROWS = [{"n": 1, "query_id": "a", "retrieved": ["x", "y"]}, {"n": 2, "query_id": "b", "retrieved": []}]


@pytest.mark.parametrize(("old", "new"), [
    (": ", ":"), ("[{", " [ { "), ('"n": 1', '"n": null'), ('"n": 1', '"n": -1.5'),
    ('"n": 1', '"n": {"m": []}'), ('"n": 1', '"n": "\\"\\u00e9"'), ('"y"', '"\\u0079"'),
    ('"query_id": "b", "retrieved": []', '"retrieved": [], "query_id": "b"'), ('"b"', '"\\u0062"'),
])  # fmt: skip
def test_arrays_of_objects_are_read_however_they_are_written(old, new, tmp_path):
    path = tmp_path / "rows.json"
    text = json.dumps(ROWS)
    assert old in text
    path.write_text(text.replace(old, new))
    assert fastir.Run.from_file(path).to_dict() == {"a": {"x": 2.0, "y": 1.0}, "b": {}}
    path.write_text(text.replace(old, new).replace('"a"', "7").replace('"b"', "8").replace('"\\u0062"', "8"))
    assert fastir.Run.from_file(path).to_dict() == {7: {"x": 2.0, "y": 1.0}, 8: {}}


@pytest.mark.parametrize(("old", "new", "message"), [
    ('"b"', '"a"', "duplicate query 'a'"), ('"b"', "3", "must be a str"),
    ('"n": 2, ', "", "'n' is not in this row and in row 0 alike"), ('"n": 2', '"n": 2, "n": 3', "duplicate key 'n'"),
    ('"n": 2', '"n": nope', "malformed JSON"), ('"y"', "null", "the id at rank 2 of query 'a' must be a str"),
    ("}]", "}", "malformed JSON"), ("}]", "}] x", "malformed JSON"), ('["x"', '["x",', "malformed JSON"),
])  # fmt: skip
def test_what_is_wrong_in_an_array_of_objects(old, new, message, tmp_path):
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(ROWS).replace(old, new))
    with pytest.raises(fastir.FormatError, match=message):
        fastir.Run.from_file(path)
