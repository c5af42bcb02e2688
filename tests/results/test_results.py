"""Results and Report on their own: made by hand, with no evaluation behind them.

Also of: fields.
"""

import copy
import csv
import json
import math
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from fastir.data.results.report import Report
from fastir.data.results.results import Results

NAN = float("nan")
NAMES = ["ndcg@10", "AP", "num_ret"]
ROWS = [[0.1, NAN, 10.0], [0.2, 0.5, 7.0], [0.3, 1 / 3, 0.0]]


def make(rows=ROWS, query_ids=("q1", "q2", "q3"), codes=(0, 0, 1), names=NAMES, report=None):
    """Results of three queries: AP leaves the first one out, the third is missing from the run."""
    aggregates = ["sum" if name.startswith("num") else "mean" for name in names]
    values = np.array(rows, dtype=np.float64).reshape(len(rows), len(names))
    return Results(list(query_ids), names, values, np.array(codes, np.uint8), aggregates, report or Report())


def test_it_is_a_mapping_from_the_typed_name_to_the_mean():
    results = make()
    assert list(results) == results.names == NAMES
    assert len(results) == 3
    assert "AP" in results and "map" not in results and 3 not in results
    assert dict(results) == dict(results.items()) == {name: results[name] for name in NAMES}
    assert results.get("map") is None
    assert all(type(value) is float for value in dict(results).values())


def test_means_are_exact_sums_divided_by_the_number_of_values():
    assert make()["ndcg@10"] == math.fsum([0.1, 0.2, 0.3]) / 3
    tenths = make([[0.1, 1.0, 1.0]] * 10, range(10), [0] * 10)
    assert tenths["ndcg@10"] == 0.1  # a plain sum gives 0.09999999999999999


def test_nan_leaves_the_mean_and_nothing_else():
    results = make()
    assert results["AP"] == (0.5 + 1 / 3) / 2
    assert math.isnan(results.values[0, 1])
    assert math.isnan(results.per_query("AP")["q1"])
    assert math.isnan(make([[NAN, NAN, NAN]], ["q"], [2])["AP"])


def test_counts_add_up():
    assert make()["num_ret"] == 17.0
    assert make().aggregates == {"ndcg@10": "mean", "AP": "mean", "num_ret": "sum"}


def test_no_queries_have_no_mean():
    results = make([], [], [])
    assert math.isnan(results["AP"])
    assert results["num_ret"] == 0.0
    assert results.to_dict() == results.per_query("AP") == results.status == {}
    assert repr(results).endswith("0 queries")


def test_an_unknown_name_is_answered_with_the_names():
    for ask in (lambda results: results["ndcg"], lambda results: results.per_query("ndcg")):
        with pytest.raises(KeyError, match=r"'ndcg' was not evaluated.*'ndcg@10', 'AP', 'num_ret'"):
            ask(make())


def test_values_per_query():
    results = make()
    assert results.query_ids == ["q1", "q2", "q3"]
    assert results.per_query("ndcg@10") == {"q1": 0.1, "q2": 0.2, "q3": 0.3}
    assert results.to_dict()["q2"] == {"ndcg@10": 0.2, "AP": 0.5, "num_ret": 7.0}
    assert type(results.to_dict()["q2"]["AP"]) is float
    assert results.status == {"q1": "evaluated", "q2": "evaluated", "q3": "missing"}


def test_rankings_without_ids_are_numbered():
    results = make(query_ids=range(3))
    assert results.query_ids == [0, 1, 2]
    assert results.per_query("ndcg@10") == {0: 0.1, 1: 0.2, 2: 0.3}


def test_nobody_can_change_it():
    results = make()
    with pytest.raises(ValueError, match="read-only"):
        results.values[0, 0] = 1.0
    results.query_ids.append("q4")
    results.names.clear()
    assert results == make()
    with pytest.raises(AttributeError):
        results.values = None
    with pytest.raises(AttributeError):
        results.other = None


def test_to_pandas_is_a_frame_of_ones_own():
    pandas = pytest.importorskip("pandas")
    results = make()
    frame = results.to_pandas()
    assert list(frame.columns) == NAMES
    assert list(frame.index) == ["q1", "q2", "q3"] and frame.index.name == "query_id"
    assert np.array_equal(frame.to_numpy(), results.values, equal_nan=True)
    frame.loc["q1", "AP"] = 1.0
    assert math.isnan(results.values[0, 1])
    assert isinstance(frame, pandas.DataFrame)


def test_repr_is_a_table():
    assert repr(make()) == "\n".join([
        "ndcg@10  0.2000", "AP       0.4167", "num_ret      17", "3 queries (1 missing)",
    ])  # fmt: skip
    assert repr(make(codes=(2, 1, 2))).endswith("\n3 queries (1 missing, 2 without relevant documents)")
    assert repr(make([[0.1, NAN, 1.0]], ["q"], [0])) == "\n".join([
        "ndcg@10  0.1000", "AP          nan", "num_ret       1", "1 query",
    ])  # fmt: skip


STRANGE_IDS = ["tab\there", 'quote"', "new\nline", "é文😀", "not utf-8: \udcff", "", " ", "# hash", "\r", "\x00"]


def strange():
    rng = np.random.default_rng(1)
    rows = np.ldexp(rng.random((len(STRANGE_IDS), 3)), rng.integers(-1000, 1000, (len(STRANGE_IDS), 3)))
    rows[0, 1] = NAN
    return make(rows.tolist(), STRANGE_IDS, [0] * len(STRANGE_IDS))


def test_a_saved_tsv_reads_back_exactly(tmp_path):
    results = strange()
    results.save(tmp_path / "out.tsv")
    with open(tmp_path / "out.tsv", encoding="utf-8", errors="surrogateescape", newline="") as file:
        assert file.readline().startswith("# fastir {")
        header, *rows = csv.reader(file, delimiter="\t")
    assert header == ["query_id", *NAMES]
    assert [row[0] for row in rows] == STRANGE_IDS
    assert np.array_equal([[float(cell) for cell in row[1:]] for row in rows], results.values, equal_nan=True)
    assert b"not utf-8: \xff\t" in (tmp_path / "out.tsv").read_bytes()


def test_plain_tsv_is_plain(tmp_path):
    make().save(str(tmp_path / "OUT.TSV"))
    assert (tmp_path / "OUT.TSV").read_bytes().partition(b"\n")[2] == (
        b"query_id\tndcg@10\tAP\tnum_ret\nq1\t0.1\tnan\t10.0\nq2\t0.2\t0.5\t7.0\nq3\t0.3\t0.3333333333333333\t0.0\n"
    )


def test_a_saved_json_reads_back_exactly(tmp_path):
    results = strange()
    results.save(tmp_path / "out.json")
    data = json.loads((tmp_path / "out.json").read_text("utf-8"), parse_constant=pytest.fail)
    assert list(data) == ["fastir", "mean", "per_query"]
    assert data["mean"] == dict(results)
    assert data["per_query"].pop(STRANGE_IDS[0])["AP"] is None
    everything = results.to_dict()
    del everything[STRANGE_IDS[0]]
    assert data["per_query"] == everything


@pytest.mark.parametrize("name", ["out.doc", "out", "tsv", "out.tsv.gz"])
def test_other_suffixes_are_refused(name, tmp_path):
    with pytest.raises(ValueError, match=r"\.tsv, \.json, \.parquet, \.txt, .* or \.csv"):
        make().save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_saving_replaces_the_file_in_one_step(tmp_path, monkeypatch):
    path = tmp_path / "out.tsv"
    path.write_text("old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match=r"No space left on device.*out\.tsv'$"):
        make().save(path)
    assert path.read_text() == "old"
    monkeypatch.undo()
    make().save(path)
    assert path.read_text().splitlines()[1].startswith("query_id\t")
    assert os.listdir(tmp_path) == ["out.tsv"]


def test_an_id_that_cannot_be_written_leaves_no_draft(tmp_path):
    with pytest.raises(UnicodeEncodeError):
        make(query_ids=["a", "b", "\ud800"]).save(tmp_path / "out.tsv")
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"absent.out\.json'$"):
        make().save(tmp_path / "absent" / "out.json")


@pytest.mark.skipif(not hasattr(os, "symlink") or os.name == "nt", reason="symbolic links need rights on Windows")
def test_saving_through_a_link_keeps_the_link(tmp_path):
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    make().save(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert "mean" in json.loads((tmp_path / "real.json").read_text())


def test_equality_is_by_content():
    assert make() == make()
    assert make() == make(report=Report(in_both=1)), "how the inputs met is not part of the values"
    assert make() != make([[0.1, 0.1, 10.0], *ROWS[1:]])
    assert make() != make(codes=(0, 0, 2))
    assert make() != make(query_ids=("q1", "q2", "q4"))
    assert make() != make(names=["ndcg@10", "map", "num_ret"])
    assert make() != 3
    assert make() == dict(make())


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickling(protocol):
    results = make(report=Report(in_both=2, repairs={"blank lines": (3, "run.txt:7")}))
    again = pickle.loads(pickle.dumps(results, protocol))
    assert again == results
    assert again.report == results.report
    assert not again.values.flags.writeable
    assert copy.deepcopy(results) == results


def test_evaluating_and_reading_means_imports_nothing_more():
    code = """
import sys, numpy
before = set(sys.modules)
from fastir.data.results.report import Report
from fastir.data.results.results import Results
made = Results(["q"], ["map"], numpy.ones((1, 1)), numpy.zeros(1, "u1"), ["mean"], Report())
made["map"], made.status, repr(made), made.to_dict()
print(*sorted({"csv", "json", "pandas", "tempfile", "difflib", "argparse"} & (set(sys.modules) - before)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_evaluating_a_dict_imports_what_it_needs():
    code = """
import sys, fastir
fastir.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "map")["map"]
print(*sorted(name for name in sys.modules if name.startswith("fastir.")))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    others = "engine.measure.judges inputs.formats inputs.preferences engine.columns.line_formats"
    others += " evaluation.drivers.id_lists data.results.tables"
    imported = set(done.stdout.split())
    assert "fastir.evaluation.drivers.in_memory" in imported
    assert not imported & {f"fastir.{name}" for name in [*others.split(), "data.results.report", "request.metric"]}


@pytest.mark.filterwarnings("ignore:no label reaches")
def test_the_footer_says_which_level_it_counts_by_where_a_metric_has_its_own():
    import fastir

    qrels, run = {"q": {"a": 0.9, "b": 0.6}}, {"q": {"a": 2.0, "b": 1.0}}
    for metrics, words in (
        ("map", "without relevant documents"),
        ("map-l1", "without relevant documents"),
        (["map", "map(rel=.5)"], "without documents of label 1 or more"),
        ("map-l.5", "without documents of label 1 or more"),
        (["map", fastir.custom_metric("own", lambda judged: judged.num_ret)], "without relevant documents"),
    ):
        assert f"1 query (1 {words})" in repr(fastir.evaluate(qrels, run, metrics))
    assert "(1 without documents of label 2 or more)" in repr(fastir.evaluate(qrels, run, "map-l.5", rel_level=2))
