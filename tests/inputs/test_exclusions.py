"""The option `exclude`: every shape of runs loses the same documents, as if they had never been retrieved."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

import fastir

hypothesis = pytest.importorskip("hypothesis")
given, settings, st = hypothesis.given, hypothesis.settings, hypothesis.strategies

IDS = st.sampled_from(["a", "b", "c", "q1", "q2", "q22", "é", "7"])
QUERIES = st.sampled_from(["q1", "q2", "q22", "é", "7"])
QRELS = st.dictionaries(QUERIES, st.dictionaries(IDS, st.integers(0, 2), min_size=1), min_size=1)
RUNS = st.dictionaries(QUERIES, st.dictionaries(IDS, st.sampled_from([1.0, 2.0, 3.0, 4.0]), min_size=1), min_size=1)
EXCLUDES = st.one_of(st.just("query_id"), st.dictionaries(QUERIES, st.lists(IDS), max_size=4))
METRICS = ["ndcg", "map", "mrr@2", "num_ret", "bpref", "judged@3"]
FILTERED = {"queries": "qrels"}


def twin(run, exclude):
    """The run that is left, and how many documents left it."""
    gone = {query: {query} if exclude == "query_id" else set(exclude.get(query, ())) for query in run}
    left = {query: {doc: s for doc, s in docs.items() if doc not in gone[query]} for query, docs in run.items()}
    return left, sum(map(len, run.values())) - sum(map(len, left.values()))


def shapes(run):
    rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    columns = dict(zip(("query_id", "doc_id", "score"), map(np.array, zip(*rows, strict=True)), strict=True))
    return [run, fastir.Run.from_dict(run), rows, columns]


def seen(results):
    return results.query_ids, results.values.tobytes(), results.report.in_both, results.report.unjudged_share


@given(QRELS, RUNS, EXCLUDES, st.sampled_from(["trec", "input", "optimistic"]))
@settings(max_examples=60, deadline=None)
@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_it_is_as_if_they_had_not_been_retrieved(qrels, run, exclude, ties):
    if not set(qrels) & set(run):
        return
    left, count = twin(run, exclude)
    expected = fastir.evaluate(qrels, left, METRICS, ties=ties, convention=fastir.Convention("own"), **FILTERED)
    for one in shapes(run):
        options = {"exclude": exclude, "ties": ties, "convention": fastir.Convention("own"), **FILTERED}
        results = fastir.evaluate(qrels, one, METRICS, **options)
        assert seen(results) == seen(expected)
        assert results.report.repairs.get("excluded documents", (0, ""))[0] == count


QUERY, RUN = {"q1": {"a": 1, "q1": 1}, "q2": {"b": 1}}, {"q1": {"q1": 3.0, "x": 2.0, "a": 1.0}, "q2": {"b": 1.0}}


def test_files_lists_and_engines_of_many_runs(tmp_path):
    path, pairs = tmp_path / "run.txt", tmp_path / "gone.txt"
    path.write_text("".join(f"{q} Q0 {d} 1 {s} x\n" for q, docs in RUN.items() for d, s in docs.items()))
    pairs.write_text("q1\tq1\n")
    (tmp_path / "run.json").write_text(json.dumps(RUN))
    expected = fastir.evaluate(QUERY, RUN, METRICS, exclude="query_id")
    assert expected.per_query("num_ret") == {"q1": 2, "q2": 1}
    assert expected.report.repairs == {"excluded documents": (1, "query q1, document q1")}
    assert "repaired" not in repr(expected.report)
    lists = {query: list(docs) for query, docs in RUN.items()}
    for run in (path, tmp_path / "run.json", lists):
        for exclude in ("query_id", {"q1": {"q1"}, "other": ["z"]}, pairs):
            found = fastir.evaluate(QUERY, run, METRICS, exclude=exclude)
            assert seen(found) == seen(expected)
            assert found.report.repairs == expected.report.repairs
    many = fastir.evaluate_many(QUERY, {"x": RUN, "y": path}, METRICS, exclude="query_id")
    assert seen(many["x"]) == seen(many["y"]) == seen(expected)
    judged = fastir.judged_rankings(QUERY, RUN, exclude="query_id")
    assert judged.evaluate(METRICS).values.tobytes() == expected.values.tobytes()
    evaluator = pickle.loads(pickle.dumps(fastir.Evaluator(QUERY, METRICS, exclude="query_id")))
    assert seen(evaluator.evaluate(RUN)) == seen(expected)
    assert [document.doc_id for document in evaluator.explain(RUN, "q1").documents] == ["x", "a"]
    partial = evaluator.partial(RUN)
    assert partial.result().values.tobytes() == expected.values.tobytes()
    assert partial.result().report.repairs == expected.report.repairs


def test_lists_by_position_and_integers():
    results = fastir.evaluate_lists([[7, 0, 8], [9, 1]], [[8, 0], [9]], ["mrr", "recall"], exclude={0: [7]})
    assert results.per_query("mrr") == {0: 1.0, 1: 1.0}
    own = fastir.evaluate_lists([[0, 8], [9, 1]], [[8, 0], [9]], ["mrr", "recall"], exclude="query_id")
    assert own.per_query("recall") == {0: 0.5, 1: 1.0}
    for exclude in ({1: [10]}, {"1": ["10"]}, {1: np.array([10])}):
        assert fastir.evaluate({1: {11: 1}}, {1: {10: 2.0, 11: 1.0}}, "mrr", exclude=exclude)["mrr"] == 1.0


def test_all_parts_of_a_document_leave():
    run, parents = {"q": {"d#1": 3.0, "e#1": 2.0, "d#2": 1.5, "a#1": 1.0}}, {"d#1": "d", "d#2": "d", "a#1": "a"}
    results = fastir.evaluate({"q": {"a": 1}}, run, ["mrr", "num_ret"], parents=parents, exclude={"q": ["d"]})
    assert (results["mrr"], results["num_ret"]) == (0.5, 2)
    assert results.report.repairs["excluded documents"] == (2, "query q, document d#1")


def test_a_ranking_that_loses_its_only_judged_document_is_no_spelling_mistake():
    with pytest.warns(fastir.FastirWarning, match="no judged document"):
        assert fastir.evaluate({"q": {"q": 1}}, {"q": {"q": 1.0, "x": 0.5}}, "map", exclude="query_id")["map"] == 0


def test_beir_leaves_out_what_is_called_like_its_query_and_mteb_where_it_is_told():
    names = ["ndcg", "mrr", "num_ret"]
    by_beir = fastir.evaluate(QUERY, RUN, names, convention="beir")
    asked = fastir.evaluate(QUERY, RUN, names, convention="beir", exclude="query_id")
    kept = fastir.evaluate(QUERY, RUN, names, convention="beir", exclude={})
    assert by_beir["num_ret"] == asked["num_ret"] == 3
    assert by_beir.report.repairs == {"excluded documents": (1, "query q1, document q1")}
    assert kept["num_ret"] == fastir.evaluate(QUERY, RUN, names, convention="mteb")["num_ret"] == 4
    assert fastir.evaluate(QUERY, fastir.Run.from_dict(RUN), names, convention="beir") == by_beir


def test_what_is_wrong_is_named(tmp_path):
    for exclude, message in (
        (3, r"exclude must be 'query_id', \{query_id: doc_ids\} or a path, got int 3"),
        ({"q1": "a"}, "the documents of query 'q1' must be a collection of ids, got str 'a'"),
        ({"q1": [1.5]}, "a document of query 'q1' must be a str or an int, got float 1.5"),
        ({None: ["a"]}, "a query id must be a str or an int, got NoneType None"),
    ):
        with pytest.raises(TypeError, match=message):
            fastir.evaluate(QUERY, RUN, "map", exclude=exclude)
    with pytest.raises(FileNotFoundError, match="queryid"):
        fastir.evaluate(QUERY, RUN, "map", exclude="queryid")
    bad = tmp_path / "bad.txt"
    bad.write_text("q1 a\nq1\n")
    with pytest.raises(fastir.FormatError, match=r"bad.txt:2: expected a query and a document, got 1 field"):
        fastir.evaluate(QUERY, RUN, "map", exclude=bad)
    with pytest.raises(ValueError, match="two passes cannot leave documents out"):
        fastir.Evaluator(QUERY, "map", exclude="query_id", validate="judged").partial(strategy="two-pass")


def test_the_command(tmp_path):
    for name, data in (("qrels", QUERY), ("run", RUN)):
        form = "{} 0 {} {}\n" if name == "qrels" else "{} Q0 {} 1 {} x\n"
        rows = (form.format(q, d, v) for q in data for d, v in data[q].items())
        (tmp_path / name).write_text("".join(rows))
    call = [sys.executable, "-m", "fastir", "eval", "qrels", "run", "-m", "num_ret", "--exclude", "query_id"]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "3" in done.stdout.split()
