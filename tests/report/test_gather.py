"""What a report shows is what the functions of its parts return."""

import collections
import io
import os
import shutil
import sys
import warnings

import pytest
from common import EXAMPLES

import fastir
from fastir.report.gather import gather

QRELS, RUNS = EXAMPLES / "qrels.txt", [EXAMPLES / "bm25.run", EXAMPLES / "dense.run"]


def gather_data(qrels, runs, metrics, depth=3, **rules):
    return gather(qrels, runs, metrics, "stem", depth, {}, rules, None)


def test_values_are_those_of_results():
    found = gather_data(QRELS, RUNS, ["ndcg@10", "map"], queries="qrels")
    results = fastir.evaluate_many(QRELS, RUNS, ["ndcg@10", "map"], queries="qrels")
    for run, result in results.items():
        assert found.comparison.per_query[run]["map"] == result.per_query("map")
        assert found.results[run] == result


def test_a_warning_is_issued_once_and_kept():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = gather_data({"q1": {"a": 1}, "q2": {"a": 1}}, {"x": {"q1": {"a": 1.0}}, "y": {"q1": {"a": 1.0}}}, "map")
    texts = [str(warning.message) for warning in caught]
    assert len(texts) == 2
    assert found.warnings == texts
    assert len(set(texts)) == len(texts)


def test_a_stream_is_read_once():
    streams = {path.stem: io.BytesIO(path.read_bytes()) for path in RUNS}
    found = gather_data(QRELS, streams, "map", queries="qrels")
    assert found.rankings.queries == gather_data(QRELS, RUNS, "map", queries="qrels").rankings.queries


def test_saved_results_are_refused():
    with pytest.raises(TypeError, match="rankings"):
        gather_data(QRELS, {"a": fastir.evaluate(QRELS, RUNS[0], "map")}, "map")


@pytest.mark.parametrize(("rules", "share"), [({}, 1 / 2), ({"judged_only": True}, 1.0), ({"max_depth": 1}, 0.0)])
def test_the_share_of_judged_documents_follows_the_options_of_the_evaluation(rules, share):
    """Of the first two documents one is judged; without those that are not, both are."""
    runs = {name: {"q": {"x": 3.0, "a": 2.0, "b": 1.0}, "p": {"x": 3.0, "a": 2.0, "b": 1.0}} for name in ("one", "two")}
    found = gather_data({"q": {"a": 1, "b": 0}, "p": {"a": 1, "b": 0}}, runs, "map", depth=2, **rules)
    assert [list(found.judged[run].values.ravel()) for run in runs] == [[share, share]] * 2


def test_the_file_of_a_run_is_opened_twice(tmp_path):
    opened, folders = [], {str(tmp_path)}

    def note(event, arguments):
        if event == "open" and os.path.dirname(str(arguments[0])) in folders:
            opened.append(os.path.basename(arguments[0]))

    for run in RUNS:
        shutil.copy(run, tmp_path / run.name)
    sys.addaudithook(note)
    gather_data(QRELS, [tmp_path / run.name for run in RUNS], ["ndcg@10", "map"], queries="qrels")
    assert collections.Counter(opened) == dict.fromkeys((run.name for run in RUNS), 2)
    folders.clear()  # a hook stays
