"""Results of several runs: saved and read back, in a table and as a frame."""

import pickle

import pytest

import fastir
from fastir.data.results.results import Results
from fastir.errors import FormatError

FORMATS = ("json", "tsv", "parquet")
QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}, "q3": {"d": 0}, "q4": {"e": 1}}
RUN = {"q1": {"b": 2.0, "x": 2.0, "a": 1.0}, "q2": {"y": 1.0, "c": 0.1}, "q3": {"d": 1.0}, "q5": {"z": 1.0}}
METRICS = ["nDCG@10", "map", "num_ret", "gm_map", "rbp(p=0.5)"]


def same(found, results):
    assert found == results and type(found) is type(results)
    assert found.report == results.report
    assert found.provenance == results.provenance
    assert dict(found.items()) == pytest.approx(dict(results.items()), rel=0, abs=0, nan_ok=True)


@pytest.mark.parametrize("format", FORMATS)
def test_results_of_several_runs_read_back(format, tmp_path):
    path = tmp_path / f"results.{format}"
    runs = {"one": RUN, "odd\tname": {"q1": {"a": 1.0}, "q2": {"c": 1.0}}}
    results = fastir.evaluate_many(QRELS, runs, METRICS, queries="intersection")
    results.save(path)
    found = fastir.load_results(path)
    assert type(found) is fastir.ResultsByRun and list(found) == list(runs)
    for name in runs:
        same(found[name], results[name])
    with pytest.raises(FormatError, match="saved results by run, expected results of one run"):
        Results.load(path)


def test_a_table_of_the_means(qrels, run):
    other = {"q1": run["q1"], "q2": {"d1": 1.0}}
    results = fastir.evaluate_many(qrels, {"one": run, ("k1", 0.9): other}, ["ndcg@10", "num_ret"])
    assert repr(results) == (
        "run          ndcg@10  num_ret\n"
        "one          *0.7268        6\n"
        "('k1', 0.9)   0.6867        4"
    )  # fmt: skip
    assert repr(fastir.ResultsByRun()) == "run"
    again = pickle.loads(pickle.dumps(results))
    assert again == results and type(again) is fastir.ResultsByRun


def test_a_frame_of_the_means(qrels, run):
    pytest.importorskip("pandas")
    results = fastir.evaluate_many(qrels, {"one": run, ("k1", 0.9): run}, ["map", "num_ret"])
    frame = results.to_pandas()
    assert list(frame.index) == ["one", ("k1", 0.9)] and frame.index.name == "run"
    assert list(frame.columns) == ["map", "num_ret"] and set(map(str, frame.dtypes)) == {"float64"}
    assert frame.values.tolist() == [list(map(one.get, one)) for one in results.values()]
    assert fastir.ResultsByRun().to_pandas().shape == (0, 0)
