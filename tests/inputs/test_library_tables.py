"""Objects of other libraries: pyarrow's datasets, Hugging Face's, ids of ir_datasets, and what is nearly a table."""

import subprocess
import sys
from collections import defaultdict
from contextlib import suppress
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

import fastir
from fastir.inputs import library_tables

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
dataset = pytest.importorskip("pyarrow.dataset")
QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 2}}
RUN = {"q1": {"d2": 3.0, "d1": 2.0}, "q2": {"d1": 0.5, "d9": 0.75}}
COLUMNS = {"query_id": ["q1", "q1", "q2", "q2"], "doc_id": ["d2", "d1", "d1", "d9"], "score": [3.0, 2.0, 0.5, 0.75]}
JUDGED = {"query_id": ["q1", "q1", "q2"], "doc_id": ["d1", "d2", "d1"], "label": [1, 0, 2]}
METRICS = ["ndcg@10", "map"]
ORDERS = pytest.mark.parametrize("rows", [[0, 1, 2, 3], [0, 2, 1, 3]], ids=["grouped", "mixed"])


def table_of(rows=(0, 1, 2, 3)):
    return pyarrow.table({**COLUMNS, "text": ["x"] * 4}).take(list(rows))


def expected():
    return fastir.evaluate(QRELS, RUN, METRICS)


# ---- pyarrow -------------------------------------------------------------------------------------------------------
@ORDERS
def test_a_dataset_of_pyarrow_is_read_while_it_is_evaluated(tmp_path, rows, monkeypatch):
    monkeypatch.setattr(library_tables, "BATCH_ROWS", 2)
    for number in range(2):
        parquet.write_table(table_of(rows[2 * number : 2 * number + 2]), tmp_path / f"{number}.parquet")
    files = dataset.dataset(tmp_path)
    held = dataset.dataset(table_of(rows))
    for data in (files, held, dataset.dataset([files]), files.scanner(), held.scanner(columns=list(COLUMNS))):
        for options in ({}, {"n_threads": 2}, {"duplicates": "max"}):
            assert fastir.evaluate(QRELS, data, METRICS, **options) == expected()
    assert fastir.Qrels.from_table(dataset.dataset(pyarrow.table(JUDGED))).to_dict() == QRELS


def test_a_filter_of_a_dataset_counts():
    data = dataset.dataset(table_of()).filter(dataset.field("query_id") == "q1")
    assert list(fastir.Run.from_table(data)) == ["q1"]


def test_errors_of_a_dataset_name_the_file_and_its_row(tmp_path):
    parquet.write_table(table_of(), tmp_path / "0.parquet")
    broken = pyarrow.table({"query_id": ["q", "q"], "doc_id": ["a", None], "score": [1.0, 2.0]})
    parquet.write_table(broken, tmp_path / "1.parquet")
    with pytest.raises(fastir.FormatError, match=r"1\.parquet: run: row 1: .doc_id. is null"):
        fastir.evaluate(QRELS, dataset.dataset(tmp_path), METRICS)
    with pytest.raises(ValueError, match=r"run: row 5: .doc_id. is null"):
        fastir.evaluate(QRELS, dataset.dataset(tmp_path).scanner(), METRICS)
    with pytest.raises(
        ValueError, match=r"table has no column 'score' or 'prediction' or 'similarity' or 'rank'; it has 'query_id'"
    ):
        fastir.evaluate(QRELS, dataset.dataset(table_of().drop_columns("score")), METRICS)


# ---- Hugging Face --------------------------------------------------------------------------------------------------
@ORDERS
def test_a_dataset_of_hugging_face(rows):
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset(table_of(rows))
    for made in (data, data.shuffle(seed=1), data.with_format("numpy"), data.to_iterable_dataset()):
        assert fastir.evaluate(QRELS, made, METRICS) == expected()
    assert set(fastir.Run.from_table(data.select([0, 1]))) <= set(RUN)
    assert fastir.Qrels.from_table(datasets.Dataset.from_dict(JUDGED)).to_dict() == QRELS
    with pytest.raises(TypeError, match=r"run: got a datasets DatasetDict, which is not .* expected run\['train'\]"):
        fastir.evaluate(QRELS, datasets.DatasetDict(train=data), METRICS)


# ---- ir_datasets ---------------------------------------------------------------------------------------------------
class Judgment(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


class Scored(NamedTuple):
    query_id: str
    doc_id: str
    score: float


class OfIrDatasets:
    """What ir_datasets.load returns of a dataset with both."""

    def dataset_id(self):
        return "mine"

    def has_qrels(self):
        return True

    has_scoreddocs = has_qrels

    def qrels_iter(self):
        return iter([Judgment(*row) for row in zip(*JUDGED.values(), strict=True)])

    def scoreddocs_iter(self):
        return iter([Scored(*row) for row in zip(*COLUMNS.values(), strict=True)])


def test_a_dataset_of_ir_datasets_and_its_id(monkeypatch):
    known = {"mine": OfIrDatasets()}
    monkeypatch.setitem(sys.modules, "ir_datasets", SimpleNamespace(load=known.__getitem__))
    assert fastir.evaluate(OfIrDatasets(), OfIrDatasets(), METRICS) == expected()
    assert fastir.evaluate("ir_datasets:mine", "ir_datasets:mine", METRICS, duplicates="first") == expected()
    assert fastir.Qrels.from_table("ir_datasets:mine").to_dict() == QRELS
    with pytest.raises(ValueError, match=r"qrels: ir_datasets has no dataset .ir_datasets:yours"):
        fastir.evaluate("ir_datasets:yours", RUN, METRICS)


def test_the_package_ir_datasets_itself(tmp_path):
    ir_datasets = pytest.importorskip("ir_datasets")
    path = tmp_path / "qrels"
    fastir.Qrels.from_dict(QRELS).save(path)
    made = ir_datasets.create_dataset(qrels_trec=str(path))
    made = made if hasattr(made, "dataset_id") else None
    assert made is None or fastir.Qrels.from_table(made).to_dict() == QRELS
    with pytest.raises(ValueError, match=r"run: the dataset .* has no scoreddocs"):
        fastir.evaluate(QRELS, "ir_datasets:vaswani", METRICS)
    with pytest.raises(ValueError, match="ir_datasets has no dataset"):
        fastir.evaluate("ir_datasets:no-such-thing", RUN, METRICS)


def test_nothing_is_imported_for_a_table():
    program = """
import sys, fastir
fastir.evaluate({"q": {"d": 1}}, {"query_id": ["q"], "doc_id": ["d"], "score": [1.0]}, "map")
fastir.evaluate({"q": {"d": 1}}, [("q", "d", 1.0)], "map")
print({"pyarrow", "pandas", "datasets", "ir_datasets", "fsspec"} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# ---- what is nearly a table ----------------------------------------------------------------------------------------
def like(name, **attributes):
    return type(name, (), attributes)()


@pytest.mark.parametrize(("name", "methods", "call"), [
    ("DataFrame", ["toPandas", "mapInPandas", "collect"], "toPandas()"),
    ("Dataset", ["take_all", "iter_batches", "to_pandas"], "to_pandas()"),
    ("Dataset", ["data_vars", "to_dataframe"], "to_dataframe().reset_index()"),
    ("DeltaTable", ["to_pyarrow_table", "to_pandas"], "to_pyarrow_table()"),
    ("RowIterator", ["to_arrow", "__iter__"], "to_arrow()"),
], ids=str)  # fmt: skip
def test_what_is_nearly_a_table_is_told_the_call_that_makes_it_one(name, methods, call):
    made = like(name, **dict.fromkeys(methods, lambda self: iter(())))
    for what, ask in (
        ("run", lambda: fastir.evaluate(QRELS, made, METRICS)),
        ("run", lambda: fastir.Run.from_table(made)),
        ("qrels", lambda: fastir.evaluate(made, RUN, METRICS)),
    ):
        with pytest.raises(TypeError) as caught:
            ask()
        library = made.__module__.partition(".")[0]
        assert str(caught.value) == f"{what}: got a {library} {name}, which is not a table yet; expected {what}.{call}"


def test_a_lazy_frame_of_polars():
    polars = pytest.importorskip("polars")
    assert fastir.evaluate(QRELS, polars.LazyFrame(COLUMNS), METRICS) == expected()


def test_columns_in_the_index_of_a_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(COLUMNS).set_index(["query_id", "doc_id"])
    with pytest.raises(ValueError, match=r"no column 'query_id'.*run\.reset_index\(\), as the index is 'query_id'"):
        fastir.evaluate(QRELS, frame, METRICS)
    assert fastir.evaluate(QRELS, frame["score"], METRICS) == expected()
    assert fastir.evaluate(QRELS, frame.reset_index(), METRICS) == expected()


@pytest.mark.parametrize(
    ("rows", "call"),
    [([pyarrow.record_batch({"query_id": ["q"]})], r"pyarrow\.Table\.from_batches\(run\)")],
    ids=["batches"],
)
def test_rows_that_are_no_tuples(rows, call):
    with pytest.raises(TypeError, match=rf"(?s)run: row 0: expected a tuple .*; expected {call}$"):
        fastir.evaluate(QRELS, rows, METRICS)


def test_a_list_of_frames_and_an_array_of_records():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match=r"; expected pandas\.concat\(run\)$"):
        fastir.evaluate(QRELS, [pandas.DataFrame(COLUMNS)], METRICS)
    with pytest.raises(ValueError, match="the table has no column 'doc_id'"):
        fastir.evaluate(QRELS, np.zeros(2, [("query_id", "U2"), ("score", "f8")]), METRICS)


# ---- ranx ----------------------------------------------------------------------------------------------------------
class Documents:
    """What fastir sees of ranx's Qrels and Run: the module of the class, a name, and to_dict()."""

    __module__ = "ranx.data_structures.run"

    def __init__(self, data, name=None):
        self.data, self.name, self.read = data, name, 0

    def to_dict(self):
        self.read += 1
        return defaultdict(dict, self.data)


def ranx_classes():
    """The stand-in above, that of fastir.compat, and ranx where it is installed."""
    import fastir.compat.ranx

    classes = {"stand-in": (Documents, Documents), "compat": (fastir.compat.ranx.Qrels, fastir.compat.ranx.Run)}
    with suppress(ImportError):
        import ranx

        classes["ranx"] = ranx.Qrels, ranx.Run
    return classes


@pytest.mark.parametrize("kind", ranx_classes())
def test_objects_of_ranx_are_what_their_dicts_are(kind):
    qrels_class, run_class = ranx_classes()[kind]
    qrels, run, other = qrels_class(QRELS), run_class(RUN, name="bm25"), run_class(RUN, name="other")
    for pair in ((qrels, run), (QRELS, run), (qrels, RUN)):
        assert fastir.evaluate(*pair, METRICS) == expected()
    assert fastir.Evaluator(qrels, METRICS).evaluate(run) == expected()
    for runs in ([run, other], {"bm25": run, "other": other}):
        many = fastir.evaluate_many(qrels, runs, METRICS)
        assert list(many) == ["bm25", "other"]
        assert many["other"] == expected()
    assert "bm25" in str(fastir.compare(qrels, [run, other], "map"))
    assert fastir.check(qrels, run).ok
    assert fastir.check(qrels, [run, RUN]).ok
    assert len(fastir.fuse([run, other])) == 2


def test_objects_of_ranx_are_read_once():
    for call in (
        lambda qrels, run: fastir.evaluate(qrels, run, METRICS),
        lambda qrels, run: fastir.evaluate_many(qrels, {"r": run}, METRICS),
        fastir.check,
    ):
        qrels, run = Documents(QRELS), Documents(RUN)
        call(qrels, run)
        assert (qrels.read, run.read) == (1, 1)


def test_objects_of_ranx_in_the_wrong_order_are_found_as_dicts_are():
    rng = np.random.default_rng(2)
    judged = {f"q{q}": {f"d{d}": int(rng.integers(3)) for d in range(50)} for q in range(50)}
    scored = {query: {doc: 1 + float(rng.random()) for doc in docs} for query, docs in judged.items()}
    with pytest.warns(fastir.FastirWarning, match="are qrels and run swapped"):
        fastir.evaluate(Documents(scored), Documents(judged), "map")
    with pytest.raises(TypeError, match="runs must be a mapping of name to run"):
        fastir.evaluate_many(QRELS, Documents(RUN), "map")
