"""ranx's Qrels and Run: made of files, frames and collections of others, and compared with ranx's own."""

import gzip
import json
import math
import sys
import types

import numpy as np
import pytest
from common import ABSENT, SHARED
from ranx_data import NAMES, QRELS, RUN, collection

from fastir.compat.ranx import Qrels, Run, evaluate


def test_names():
    assert [made.name for made in (Qrels(), Qrels(QRELS, "n"), Run(name="m"), Run.from_dict(RUN, "k"))] == [
        None, "n", "m", "k",
    ]  # fmt: skip
    assert repr(Run(RUN, "bm25")) == "<Run bm25: 2 queries>"
    assert Run().metadata == {}


@pytest.mark.parametrize("ending", ["json", "trec", "txt", "trec.gz", "parquet", "parq", "lz4"])
@pytest.mark.parametrize("kind", [Qrels, Run])
def test_files_read_back(kind, ending, tmp_path):
    if ending == "lz4":
        pytest.importorskip("lz4.frame")
        pytest.importorskip("cbor2")
    if ending.startswith("parq"):
        pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")  # from_file reads Parquet with it, where pandas may have another reader
    path = tmp_path / f"x.{ending}"
    made = kind({"q2": {"ü": 1, "b": 3}, "q1": {"d": -2}}, "bm25")
    if (kind, ending) == (Qrels, "lz4"):
        with pytest.raises(AssertionError, match=r"kind must be one of 'json', .*got 'lz4'"):
            made.save(path)
        return
    made.save(path)
    again = kind.from_parquet(path) if ending.startswith("parq") else kind.from_file(str(path))
    assert again.to_dict() == made.to_dict()
    assert again.sorted
    assert again.name == ("bm25" if kind is Run and ending in ("trec", "txt", "trec.gz") else None)
    if kind is Run:
        assert kind.from_file(path, name="mine").name == "mine"
        evaluate(Qrels({"q1": {"d": 1}, "q2": {}}), again, "map")


@pytest.mark.parametrize("name", ["json", "lz4", "parquet", "trec", "trec.gz"])
def test_files_that_ranx_wrote(name):
    folder = SHARED / "data" / "small_formats" / "ranx"
    if not folder.is_dir():
        pytest.skip(ABSENT)
    if name == "lz4":
        pytest.importorskip("lz4.frame")
        pytest.importorskip("cbor2")
    read = {"parquet": "from_parquet"}.get(name, "from_file")
    run = getattr(Run, read)(folder / f"run.{name}")
    assert run.to_dict() == {"q1": {"d1": 0.1, "d2": 0.2, "d3": 0.3}, "q2": {"d1": 0.1, "d2": 0.2}}
    if name != "lz4":
        qrels = getattr(Qrels, read)(folder / f"qrels.{name}")
        assert qrels.to_dict() == {"q1": {"d1": 1, "d2": 2, "d3": 3}, "q2": {"d1": 1, "d2": 2}}
        assert evaluate(qrels, run, "ndcg") == 1


def test_lines_of_trec(tmp_path):
    run, qrels = tmp_path / "run.x", tmp_path / "qrels.gz"
    Run({"q2": {"a": 1, "b": 2.5}, "q1": {}, "q0": {"c": 1e-9}}).save(run, kind="trec")
    assert run.read_bytes() == b"q0 Q0 c 1 1e-09 None\nq2 Q0 b 1 2.5 None\nq2 Q0 a 2 1.0 None"
    Qrels({"q2": {"a": 1, "b": -2}, "q1": {"c": 0}}).save(qrels)
    assert gzip.decompress(qrels.read_bytes()) == b"q1 0 c 0\nq2 0 a 1\nq2 0 b -2"
    Run({"q": {}}).save(tmp_path / "run.json")
    assert json.loads((tmp_path / "run.json").read_text()) == {"q": {}}


def test_of_documents_that_stand_twice_the_last_counts(tmp_path):
    run, qrels = tmp_path / "run.txt", tmp_path / "qrels.txt"
    run.write_text("q Q0 a 1 9 x\nq Q0 b 2 8 x\nq Q0 a 3 7 x\n")
    qrels.write_text("q 0 a 1\nq 0 a 2\n")
    assert Run.from_file(run).to_dict() == {"q": {"b": 8, "a": 7}}
    assert Qrels.from_file(qrels).to_dict() == {"q": {"a": 2}}


def test_kinds_of_files(tmp_path):
    kinds = {
        "q.json": "json", "q.trec": "trec", "q.txt": "trec", "q.gz": "gz", "q.parquet": "parquet",
        "q.parq": "parquet",
    }  # fmt: skip
    for kind in (Qrels, Run):
        assert {name: kind.file_kind(name) for name in kinds} == kinds
        assert kind.file_kind("q", "json") == "json"
        for arguments in (("q.xml",), ("q",), ("q.json", "xml")):
            with pytest.raises(AssertionError, match="kind must be one of"):
                kind.file_kind(*arguments)
    assert Run.file_kind("r.lz4") == "lz4"


def test_what_cannot_be_saved_leaves_the_old_file(tmp_path):
    path = tmp_path / "run.txt"
    path.write_text("old")
    for bad in (Run(RUN, "two words"), Run({"q 1": {"a": 1.0}}), Run({"q": {"a b": 1.0}})):
        with pytest.raises(ValueError, match="white space"):
            bad.save(path)
    with pytest.raises(ValueError, match="JSON has no number for inf"):
        Run({"q": {"a": math.inf}}).save(path, "json")
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.txt"]


def test_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"q": ["q2", "q1", "q2"], "d": ["a", "b", "a"], "s": [1, 2, 3]})
    columns = {"q_id_col": "q", "doc_id_col": "d", "score_col": "s"}
    assert Qrels.from_df(frame, **columns).to_dict() == {"q1": {"b": 2}, "q2": {"a": 3}}
    for dtype in (object, "string"):
        run = Run.from_df(frame.astype({"q": dtype, "d": dtype, "s": float}), **columns, name="n")
        assert (run.name, run.to_dict()) == ("n", {"q1": {"b": 2.0}, "q2": {"a": 3.0}})
    assert Run.from_df(Run(RUN).to_dataframe()).to_dict() == RUN
    with pytest.raises(TypeError, match="got int 7"):
        Run.from_df(frame.assign(q=7), **columns)


def test_parquet_with_options_for_pandas(tmp_path):
    pytest.importorskip("pandas")
    Run(RUN).save(tmp_path / "run.parquet")
    run = Run.from_parquet(tmp_path / "run.parquet", pd_kwargs={"columns": ["q_id", "doc_id", "score"]}, name="n")
    assert (run.name, run.to_dict()) == ("n", RUN)
    with pytest.raises((KeyError, ValueError)):
        Run.from_parquet(tmp_path / "run.parquet", pd_kwargs={"columns": ["q_id"]})


def test_a_missing_package_is_named(monkeypatch, tmp_path):
    for module, package, call in (
        ("pandas", "pandas", Run(RUN).to_dataframe), ("lz4.frame", "lz4", lambda: Run(RUN).save(tmp_path / "x.lz4")),
        ("ir_datasets", "ir_datasets", lambda: Qrels.from_ir_datasets("x")),
        ("ranx.io", "ranx", lambda: Run.from_ranxhub("x")),
    ):  # fmt: skip
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(ImportError, match=f"pip install {package}$"):
            call()
    assert not list(tmp_path.iterdir())


def test_collections_of_others(monkeypatch):
    monkeypatch.setitem(
        sys.modules,
        "ir_datasets",
        types.SimpleNamespace(load=lambda name: types.SimpleNamespace(qrels_dict=lambda: {"q": {"a": 1}})),
    )
    qrels = Qrels.from_ir_datasets("beir/x")
    assert (qrels.name, qrels.to_dict()) == ("beir/x", {"q": {"a": 1}})
    content = {"run": {"q": {"a": 1}}, "metadata": {"run": {"name": "bm25"}}}
    monkeypatch.setitem(sys.modules, "ranx.io", types.SimpleNamespace(download=lambda name: content))
    monkeypatch.setitem(sys.modules, "ranx", types.SimpleNamespace())
    run = Run.from_ranxhub("x")
    assert (run.name, run.metadata, run.to_dict()) == ("bm25", content["metadata"], {"q": {"a": 1.0}})


NAMES += ["r-precision", "r-precision@5-l2", "rbp.95", "rbp@80-l2"]


@pytest.fixture(scope="module")
def ranx():
    return pytest.importorskip("ranx")


def test_installed_ranx_compares_our_runs(ranx):
    import fastir.compat

    qrels, run = collection(3)
    other = {query: dict.fromkeys(qrels[query], 1.0) for query in run}
    expected = ranx.compare(ranx.Qrels(qrels), [ranx.Run(run, "a"), ranx.Run(other, "b")], ["map", "ndcg@3"])
    with fastir.compat.patched("ranx"):
        assert ranx.evaluate is evaluate
        report = ranx.compare(Qrels(qrels), [Run(run, "a"), Run(other, "b")], ["map", "ndcg@3"])
    assert ranx.evaluate is not evaluate
    assert str(report) == str(expected)


def test_files_of_ranx(ranx, tmp_path):
    qrels, run = {"q1": {"d10": 1}}, {"q1": {"d10": 1.5, "d11": 2.0}, "q2": {"d12": 1e-12}}
    for ending in ("json", "trec", "lz4"):
        ranx.Run(run, "n").save(str(tmp_path / f"theirs.{ending}"))
        Run(run, "n").save(tmp_path / f"ours.{ending}")
        assert Run.from_file(tmp_path / f"theirs.{ending}").to_dict() == run
        assert ranx.Run.from_file(str(tmp_path / f"ours.{ending}")).to_dict() == run
    assert (tmp_path / "ours.trec").read_bytes() == (tmp_path / "theirs.trec").read_bytes()
    ranx.Qrels(qrels).save(str(tmp_path / "theirs.txt"))
    Qrels(qrels).save(tmp_path / "ours.txt")
    assert (tmp_path / "ours.txt").read_bytes() == (tmp_path / "theirs.txt").read_bytes()


@pytest.mark.parametrize("make", [
    lambda: Qrels({"q": {"a": 1, "b": 0.92}}),
    lambda: Qrels.from_dict({"q": {"b": np.float32(0.5)}}),
    lambda: Qrels().add("q", ["b"], [0.92]),
    lambda: Qrels().add_multi(["q"], [["b"]], [[0.92]]),
])  # fmt: skip
def test_labels_that_are_not_whole_are_refused(make):
    with pytest.raises(TypeError, match=r"not an integer; a float must be whole .*query q, document b"):
        make()
