"""Columns of ids and their documents, in every form."""

import numpy as np
import pytest
from common import UNEVEN

import fastir

pytestmark = UNEVEN

QRELS = {"q": {"a": 2, "b": 1}, "r": {"b": 1}}
RUN = {"q": {"a1": 3.0, "x": 2.5, "a2": 2.0, "b1": 1.0}, "r": {"x": 1.0, "b1": 0.5}}
PARENTS = {"a1": "a", "a2": "a", "b1": "b"}
DOCUMENTS = {"q": {"a": 3.0, "x": 2.5, "b": 1.0}, "r": {"x": 1.0, "b": 0.5}}
METRICS = ["ndcg", "map", "num_ret"]


def columns():
    return np.array(list(PARENTS)), np.array(list(PARENTS.values()), object)


def pandas_frame(tmp_path):
    return pytest.importorskip("pandas").DataFrame(dict(zip("cd", columns(), strict=True)))


def arrow_table(tmp_path):
    chunks, documents = columns()
    return pytest.importorskip("pyarrow").table({"c": chunks.tolist(), "d": documents.tolist()})


def polars_frame(tmp_path):
    chunks, documents = columns()
    return pytest.importorskip("polars").DataFrame({"c": chunks.tolist(), "d": documents.tolist()})


def arrow_arrays(tmp_path):
    table = arrow_table(tmp_path)
    return table["c"], table["d"]


def tsv(tmp_path):
    path = tmp_path / "parents.tsv"
    path.write_text("".join(f"{chunk}\t{document}\n" for chunk, document in PARENTS.items()) + "\n")
    return path


def parquet(tmp_path):
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(arrow_table(tmp_path), tmp_path / "parents.parquet")
    return str(tmp_path / "parents.parquet")


def csv(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "parents.csv"
    path.write_text("chunk,document\n" + "".join(f"{chunk},{document}\n" for chunk, document in PARENTS.items()))
    return path


FORMS = {
    "mapping": lambda _: PARENTS, "pair of arrays": lambda _: columns(),
    "pair of lists": lambda _: (list(PARENTS), list(PARENTS.values())),
    "function": lambda _: lambda ids: np.array([PARENTS.get(doc_id, doc_id) for doc_id in ids]),
    "pandas": pandas_frame, "pyarrow": arrow_table, "polars": polars_frame,
    "pair of Arrow arrays": arrow_arrays, "TSV": tsv, "Parquet": parquet, "CSV": csv,
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_values(form, tmp_path):
    parents = FORMS[form](tmp_path)
    expected = fastir.evaluate(QRELS, DOCUMENTS, METRICS).values
    rows = [(query, doc, score) for query, docs in RUN.items() for doc, score in docs.items()]
    fastir.Run.from_dict(RUN).save(tmp_path / "run")
    fastir.Run.from_dict(RUN).save(tmp_path / "run.json")
    for run in (RUN, rows, fastir.Run.from_dict(RUN), tmp_path / "run", tmp_path / "run.json"):
        np.testing.assert_array_equal(fastir.evaluate(QRELS, run, METRICS, parents=parents).values, expected)
    many = fastir.evaluate_many(QRELS, {"x": RUN, "y": tmp_path / "run"}, METRICS, parents=parents)
    np.testing.assert_array_equal(many["y"].values, expected)


@pytest.mark.parametrize(("parents", "error", "message"), [
    ({"a1": None}, ValueError, "the document of chunk 'a1' must be a str or an int like those before it, got None"),
    ({"a1": "a", "a2": float("nan")}, ValueError, "the document of chunk 'a2' must be .* got float nan"),
    ({"a1": "a", "a2": 3}, TypeError, "the document of chunk 'a2' must be .* got int 3"),
    ({"a1": ["a"]}, TypeError, "the document of chunk 'a1' must be .* got list"),
    ({"a1": "a", 2: "b"}, TypeError, "row 1: 'a chunk' must be a str or an int like the ids before it, got int 2"),
    ((["a1", "a1"], ["a", "b"]), ValueError, "chunk 'a1' has two documents, 'a' and 'b'"),
    ((["a1"], ["a", "b"]), ValueError, "columns differ in length: 1 chunks, 2 documents"),
    (lambda ids: ids[1:], ValueError, "the function returned 3 documents for 4 ids"),
    (lambda ids: "abcd", TypeError, "what the function returned must be an array of ids, got str"),
    (lambda ids: [None] * len(ids), ValueError, "row 0: 'what the function returned' is missing, got None"),
    (5, TypeError, "parents must be a mapping of chunk to document, .* got int"),
    (np.zeros((2, 2)), TypeError, "parents must be a mapping of chunk to document, .* got ndarray"),
])  # fmt: skip
def test_what_is_wrong_is_said(parents, error, message):
    with pytest.raises(error, match=message):
        fastir.evaluate(QRELS, RUN, METRICS, parents=parents)
