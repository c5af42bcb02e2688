"""What the shape of a caller's data is, and what it nearly is."""

import numpy as np
import pytest
from common import EXAMPLES

import fastir

QRELS, RUN = {"q": {"d1": 1}}, {"q": {"d1": 1.0, "d2": 2.0}}
LONG = [("a", "q", "d1", 2.0), ("a", "q", "d2", 1.0), ("b", "q", "d2", 2.0), ("b", "q", "d1", 1.0)]


def frame(rows, names=("system", "query_id", "doc_id", "score")):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(rows, columns=list(names))


def columns(rows, names=("system", "query_id", "doc_id", "score")):
    return {name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


@pytest.mark.parametrize("make", [frame, columns])
@pytest.mark.parametrize("name", ["run", "system", "run_id", "system_id", "tagged"])
def test_a_table_of_several_runs_is_not_one_run(make, name):
    names = (name, "query_id", "doc_id", "score")
    given = {"columns": {"run": name}} if name == "tagged" else {}
    message = rf"several runs in its column '{name}', such as 'a' and 'b'; evaluate_many evaluates each"
    for rows in (LONG, LONG[:1] + LONG[2:]):
        with pytest.raises(ValueError, match=message):
            fastir.evaluate(QRELS, make(rows, names), "mrr", **given)
        with pytest.raises(ValueError, match=message):
            fastir.Run.from_table(make(rows, names), **given)
    assert fastir.evaluate(QRELS, make(LONG[2:], names), "mrr", **given)["mrr"] == 0.5
    found = fastir.evaluate_many(QRELS, make(LONG, names), "mrr", **given)
    assert {run: results["mrr"] for run, results in found.items()} == {"a": 1.0, "b": 0.5}


def test_frames_with_a_column_of_queries_are_no_matrices():
    given = frame([(1, 1, 0.5), (1, 0, 0.7), (2, 1, 0.2)], ("qid", "label", "score"))
    with pytest.raises(ValueError, match=r"labels: a table, with the queries in its column 'qid'.*qid=labels\['qid'\]"):
        fastir.evaluate_scores(given[["qid", "label"]], given[["qid", "score"]], "mrr")
    with pytest.raises(ValueError, match="scores: a table"):
        fastir.evaluate_scores(given["label"], given[["qid", "score"]], "mrr")
    found = fastir.evaluate_scores(given["label"], given["score"], "mrr", qid=given["qid"])
    assert found.per_query("mrr") == {1: 0.5, 2: 1.0}


def test_a_saved_object_names_what_reads_it(tmp_path):
    pytest.importorskip("scipy")
    qrels, run = str(EXAMPLES / "qrels.txt"), str(EXAMPLES / "bm25.run")
    fastir.compare(qrels, {"a": run, "b": run}, "map").save(tmp_path / "c.json")
    for load in (fastir.load_results, fastir.Results.load):
        with pytest.raises(fastir.FormatError, match=r"saved comparison, expected results.*Comparison\.load reads it"):
            load(tmp_path / "c.json")
