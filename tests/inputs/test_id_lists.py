"""Columns of lists of ids: of Arrow, frames, tables and files, and what is wrong in them."""

import json
import re

import pytest
from common import UNEVEN
from id_lists_given import EXPECTED, FEW, IDS, RELEVANT, RETRIEVED, same_bits

import fastir
from fastir.data.run import Run
from fastir.inputs import id_lists

pytestmark = UNEVEN
ARROW = ["list", "large_list", "views", "dictionary", "chunked", "sliced"]


def arrow_column(lists, kind):
    pyarrow = pytest.importorskip("pyarrow")
    types = {
        "large_list": pyarrow.large_list(pyarrow.large_string()),
        "dictionary": pyarrow.list_(pyarrow.dictionary(pyarrow.int32(), pyarrow.string())),
        "views": pyarrow.list_(pyarrow.string_view()),
    }
    if kind == "sliced":
        return pyarrow.array([["no"], *lists, ["no"]])[1:-1]
    if kind == "chunked":
        whole = pyarrow.array(lists)
        return pyarrow.chunked_array([whole[:1], whole[1:1], whole[1:]])
    return pyarrow.array(lists, types.get(kind, pyarrow.list_(pyarrow.string())))


@pytest.mark.parametrize("kind", ARROW)
def test_arrow_columns_of_lists(kind):
    retrieved, relevant = arrow_column(RETRIEVED, kind), arrow_column(RELEVANT, kind)
    for sides in ((retrieved, relevant), (retrieved, RELEVANT), (RETRIEVED, relevant)):
        assert same_bits(fastir.evaluate_lists(*sides, FEW), EXPECTED)
        assert same_bits(fastir.evaluate_lists(*sides, FEW, n_threads=3), EXPECTED)


@pytest.mark.parametrize("rule", ["first", "max", "last", "once"])
@pytest.mark.parametrize("convention", ["fastir", "ir_measures"])
def test_repeats_in_columns_and_in_lists(rule, convention):
    retrieved, relevant = [["a", "b", "a", "c"], ["c", "c", "d"]], [["a", "c"], ["d", "d"]]
    options = {"duplicates": rule, "convention": convention}
    lists = fastir.evaluate_lists(retrieved, relevant, ["ndcg", "map"], **options)
    columns = fastir.evaluate_lists(arrow_column(retrieved, ""), arrow_column(relevant, ""), ["ndcg", "map"], **options)
    assert same_bits(lists, columns)
    assert lists.report == columns.report


def test_lists_of_one_length_in_arrow():
    pyarrow = pytest.importorskip("pyarrow")
    flat = pyarrow.array([5, 4, 3, 2, 1, 0], pyarrow.int16())
    column = pyarrow.FixedSizeListArray.from_arrays(flat, 3)
    expected = fastir.evaluate_lists([[5, 4, 3], [2, 1, 0]], [[4], [0]], FEW)
    assert same_bits(fastir.evaluate_lists(column, [[4], [0]], FEW), expected)
    assert fastir.evaluate_lists(column[1:], [[1]], "mrr")["mrr"] == 1 / 2


def test_frames_and_tables_with_a_row_per_query(tmp_path):
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    names = {"retrieved": RETRIEVED, "relevant": RELEVANT}
    frame = pandas.DataFrame(names)
    assert same_bits(fastir.evaluate_lists(frame, None, FEW), EXPECTED)
    assert same_bits(fastir.evaluate_lists(frame["retrieved"], frame["relevant"], FEW), EXPECTED)
    arrow = frame["retrieved"].astype(pandas.ArrowDtype(pyarrow.list_(pyarrow.string())))
    assert same_bits(fastir.evaluate_lists(arrow, RELEVANT, FEW), EXPECTED)
    assert same_bits(fastir.evaluate_lists(names, None, FEW), EXPECTED)
    table = pyarrow.table({"Q": IDS, "contexts": RETRIEVED, "expected_ids": RELEVANT})
    columns = {"query_id": "Q", "retrieved": "contexts"}
    results = fastir.evaluate_lists(table, None, FEW, columns=columns)
    assert same_bits(results, EXPECTED) and list(results.query_ids) == IDS
    with pytest.raises(ValueError, match=r"no column 'retrieved' or .* columns=\{'retrieved': name\}"):
        fastir.evaluate_lists(table, None, FEW)


def test_polars_columns_and_frames():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"retrieved": RETRIEVED, "relevant": RELEVANT})
    assert same_bits(fastir.evaluate_lists(frame, None, FEW), EXPECTED)
    assert same_bits(fastir.evaluate_lists(frame["retrieved"], frame["relevant"], FEW), EXPECTED)


def test_files_with_a_row_per_query(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "lists.jsonl"
    rows = zip(IDS, RETRIEVED, RELEVANT, strict=True)
    path.write_text("".join(json.dumps({"qid": q, "retrieved": a, "relevant": b}) + "\n" for q, a, b in rows))
    results = fastir.evaluate_lists(path, None, FEW)
    assert same_bits(results, EXPECTED) and list(results.query_ids) == IDS
    parquet.write_table(pyarrow.table({"retrieved": RETRIEVED, "relevant": RELEVANT}), tmp_path / "lists.parquet")
    assert same_bits(fastir.evaluate_lists(str(tmp_path / "lists.parquet"), None, FEW), EXPECTED)
    path.write_text('{"retrieved": ["2024-01-01"], "relevant": ["2024-01-01"]}\n')
    assert fastir.evaluate_lists(path, None, "mrr")["mrr"] == 1
    path.write_text('{"retrieved": ["a"], "relevant": ["a"]}\n{"retrieved": 3}\n')
    with pytest.raises(fastir.FormatError, match=re.escape(str(path))):
        fastir.evaluate_lists(path, None, "mrr")
    with pytest.raises(fastir.FormatError, match="lists are read from"):
        fastir.evaluate_lists(tmp_path / "lists.trec", None, "mrr")


def test_columns_that_hold_something_else():
    pyarrow = pytest.importorskip("pyarrow")
    for column, error, message in (
        (pyarrow.array([["b", None]]), ValueError, "the document id at rank 2 of query number 0 is null"),
        (pyarrow.array([["b"], None]), ValueError, "the list of query number 1 is null"),
        (pyarrow.array([[1.5]]), TypeError, "must hold lists of strings or of integers"),
        (pyarrow.array([[["a"]]]), TypeError, "must hold lists of strings or of integers"),
        (pyarrow.array([True]), TypeError, "must hold lists of strings or of integers"),
        (
            pyarrow.array([["a", "b", "a"]]),
            fastir.DuplicateError,
            "duplicate document 'a' in query 0, at ranks 1 and 3",
        ),
    ):
        with pytest.raises(error, match=message):
            fastir.evaluate_lists(column, [["a"]] * len(column), "mrr")


def test_the_first_query_of_a_later_piece_is_named_by_its_number():
    pyarrow = pytest.importorskip("pyarrow")
    for piece, message in (
        ([None], "the list of query number 2 is null"),
        ([["b"], ["b", None]], "the document id at rank 2 of query number 3 is null"),
    ):
        column = pyarrow.chunked_array([[["a"], ["a"]], piece])
        with pytest.raises(ValueError, match=message):
            fastir.evaluate_lists(column, [["a"]] * len(column), "mrr")


def test_a_column_without_any_id_fits_ids_of_either_type():
    pyarrow = pytest.importorskip("pyarrow")
    for kind in (pyarrow.int64(), pyarrow.string()):
        column = pyarrow.array([[], []], pyarrow.list_(kind))
        for relevant in ([["a"], ["b"]], [[1], [2]]):
            assert fastir.evaluate_lists(column, relevant, "mrr")["mrr"] == 0


# ---- tables with the ranking of a query in each row
def rows(docs, scores=None, query_ids=("a", "b")):
    pa = pytest.importorskip("pyarrow")
    columns = {"qid": list(query_ids), "doc_ids": pa.array(docs, pa.list_(pa.string()))}
    if scores is not None:
        columns["scores"] = pa.array(scores, pa.list_(pa.float64()))
    return pa.concat_tables([pa.table(columns).slice(place, 1) for place in range(2)])


def test_lists_become_rankings():
    assert Run(*id_lists.read_rankings(rows([["x", "y"], []]), None, None)).to_dict() == {
        "a": {"x": 2.0, "y": 1.0},
        "b": {},
    }
    scored = id_lists.read_rankings(rows([["x", "y"], ["z"]], [[1.0, 5.0], [2.0]]), None, None)
    assert Run(*scored).to_dict() == {"a": {"x": 1.0, "y": 5.0}, "b": {"z": 2.0}}
    twice = rows([["x", "x"], ["z"]], [[1.0, 5.0], [2.0]])
    assert Run(*id_lists.read_rankings(twice, None, "max")).to_dict()["a"] == {"x": 5.0}
    with pytest.raises(fastir.DuplicateError, match=r"'x'.*a"):
        id_lists.read_rankings(twice, None, None)


@pytest.mark.parametrize(("given", "message"), [
    (lambda: rows([["x", "y"], ["z"]], [[1.0], [2.0]]), "ranking of query 'a' has 2 documents and 1 scores"),
    (lambda: rows([["x"], ["z"]], [[1.0], None]), "scores: the list of query number 1 is null"),
    (lambda: rows([["x"], ["y", "z"]], [[1.0], [2.0, None]]), "scores: the score at rank 2 of query number 1 is null"),
    (lambda: rows([["x"], None]), "the list of query number 1 is null"),
    (lambda: rows([["x"], ["y"]], query_ids="aa"), "duplicate query 'a'"),
    (lambda: rows([["x"], ["y"]]).rename_columns(["qid", "other"]), "no column 'doc_ids' or 'ranking'"),
    (lambda: rows([["x"], ["y"]]).append_column("score", [[1.0, 2.0]]), "score must hold lists of numbers"),
])  # fmt: skip
def test_rows_that_are_wrong_are_named(given, message):
    with pytest.raises((TypeError, ValueError), match=message):
        id_lists.read_rankings(given(), None, None)


class Document:
    """A document as a library returns it."""

    def __init__(self, doc_id, attribute="id"):
        setattr(self, attribute, doc_id)


@pytest.mark.parametrize("attribute", ["id", "doc_id", "docid", "node_id"])
def test_documents_stand_for_their_ids(attribute):
    def documents(lists, kind=list):
        return [kind(Document(doc_id, attribute) for doc_id in ids) for ids in lists]

    assert same_bits(fastir.evaluate_lists(documents(RETRIEVED), RELEVANT, FEW), EXPECTED)
    assert same_bits(fastir.evaluate_lists(documents(RETRIEVED, tuple), documents(RELEVANT), FEW), EXPECTED)
    assert fastir.evaluate_lists({"q": documents([[7, 8]])[0]}, {"q": documents([[8]])[0]}, "mrr")["mrr"] == 0.5


@pytest.mark.parametrize(("ids", "message"), [
    ([[Document("a"), Document(None)]], "run: query 0: the Document at place 2 has no id; set it when"),
    ([[Document(None)]], "run: query 0: the Document at place 1 has no id"),
    ([[], [Document("a")], [Document("b"), Document(7)]], "rank 2 of query 2 must be a str, got int 7"),
    ([[Document("a"), Document("b", "node_id")]], "rank 2 of query 0 must be a str, got Document .* attribute node_id"),
    ([[Document("a"), Document("a")]], "duplicate document 'a' in query 0, at ranks 1 and 2"),
])  # fmt: skip
def test_documents_without_an_id_are_named(ids, message):
    with pytest.raises((TypeError, fastir.DuplicateError), match=message):
        fastir.evaluate_lists(ids, [["a"]] * len(ids), "mrr")
