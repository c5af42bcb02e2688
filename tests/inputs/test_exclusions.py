"""The option `exclude`: every shape of runs loses the same documents, as if they had never been retrieved."""

import json
import math
import pickle
import random
import subprocess
import sys
from fractions import Fraction

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


def twin(qrels, run, exclude):
    """The run that is left, and how many documents left rankings of the judged queries."""
    gone = {query: {query} if exclude == "query_id" else set(exclude.get(query, ())) for query in run}
    left = {query: {doc: s for doc, s in docs.items() if doc not in gone[query]} for query, docs in run.items()}
    return left, sum(len(run[query]) - len(left[query]) for query in run if query in qrels)


def are_of_other_queries(exclude, qrels):
    """Whether documents are excluded, and for no query of the qrels."""
    queries = set() if exclude == "query_id" else {query for query, docs in exclude.items() if docs}
    return bool(queries) and queries.isdisjoint(qrels)


def rows_of(run):
    return [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]


def columns_of(rows):
    return dict(zip(("query_id", "doc_id", "score"), map(np.array, zip(*rows, strict=True)), strict=True))


def mixed(rows):
    """The rows in an order in which those of a query do not stand together."""
    return sorted(rows, key=lambda row: (row[1], row[2], row[0]))


def shapes(run, folder):
    """The run as data of every kind; those whose rows keep their order, and others."""
    rows, held = rows_of(run), fastir.Run.from_dict(run)
    held.save(folder / "run.txt")
    held.save(folder / "run.json")
    together = [run, held, rows, columns_of(rows), folder / "run.txt", folder / "run.json"]
    (folder / "mixed.txt").write_text("".join(f"{q} Q0 {d} 1 {s} x\n" for q, d, s in mixed(rows)))
    return together, [mixed(rows), columns_of(mixed(rows)), folder / "mixed.txt"]


def seen(results):
    report = results.report
    counts = report.in_both, report.unjudged_share, report.queries_with_ties, report.nothing_judged
    return results.query_ids, results.values.tobytes(), results.status, counts


@given(QRELS, RUNS, EXCLUDES, st.sampled_from(["trec", "input", "optimistic"]), st.sampled_from(["full", "judged"]))
@settings(max_examples=60, deadline=None, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_it_is_as_if_they_had_not_been_retrieved(tmp_path, qrels, run, exclude, ties, validate):
    if not set(qrels) & set(run):
        return
    if are_of_other_queries(exclude, qrels):
        with pytest.raises(fastir.NoOverlapError, match="exclude has '"):
            fastir.Evaluator(qrels, METRICS, exclude=exclude)
        return
    left, count = twin(qrels, run, exclude)
    expected = fastir.evaluate(qrels, left, METRICS, ties=ties, **FILTERED)
    together, others = shapes(run, tmp_path)
    for one in together + others * (ties != "input"):
        for n_threads in (1, 2):
            options = {"exclude": exclude, "ties": ties, "validate": validate, "n_threads": n_threads, **FILTERED}
            results = fastir.evaluate(qrels, one, METRICS, **options)
            assert seen(results) == seen(expected)
            assert results.report.repairs.get("excluded documents", (0, ""))[0] == count


@given(QRELS, RUNS, EXCLUDES, st.integers(0, 12))
@settings(max_examples=40, deadline=None)
@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_parts_lose_them_in_one_pass_and_in_two(qrels, run, exclude, cut):
    if not set(qrels) & set(run):
        return
    if are_of_other_queries(exclude, qrels):
        with pytest.raises(fastir.NoOverlapError, match="exclude has '"):
            fastir.Evaluator(qrels, METRICS, exclude=exclude)
        return
    left, count = twin(qrels, run, exclude)
    expected = fastir.evaluate(qrels, left, METRICS, **FILTERED)
    evaluator = fastir.Evaluator(qrels, METRICS, exclude=exclude, validate="judged", **FILTERED)
    rows = mixed(rows_of(run))
    parts = [columns_of(part) for part in (rows[:cut], rows[cut:]) if part]
    first = evaluator.partial(strategy="two-pass")
    for part in parts:
        first.merge(pickle.loads(pickle.dumps(evaluator.partial(part, strategy="two-pass"))))
    second, whole = evaluator.partial(after=first), evaluator.partial(strategy="grouped")
    for part in parts:
        second.merge(evaluator.partial(part, after=first))
    for query, docs in run.items():
        whole.merge(evaluator.partial(columns_of(rows_of({query: docs})), strategy="grouped"))
    for results in (second.result(), whole.result()):
        assert seen(results) == seen(expected)
        assert results.report.repairs.get("excluded documents", (0, ""))[0] == count


def test_parts_of_other_exclusions_do_not_merge():
    part = fastir.Evaluator(QUERY, "map", exclude="query_id").partial(RUN)
    for exclude in ({}, {"q1": ["q1"]}):
        with pytest.raises(ValueError, match="other qrels, metrics or options"):
            fastir.Evaluator(QUERY, "map", exclude=exclude).partial(RUN).merge(part)


def test_row_groups_in_no_order_are_read_twice_and_lose_them(tmp_path, monkeypatch):
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow

    monkeypatch.setattr("fastir.evaluation.partial.row_groups.MAX_ROWS_IN_MEMORY", 10)
    rng = np.random.default_rng(3)
    run = {f"q{q}": {f"d{d}": float(rng.integers(9)) for d in rng.permutation(60)[:40]} for q in range(20)}
    qrels = {query: {f"d{d}": int(rng.integers(3)) for d in range(0, 60, 7)} for query in run}
    exclude = {query: [f"d{d}" for d in range(0, 60, 2)] for query in list(run)[:15]} | {"q19": list(run["q19"])}
    parquet.write_table(pyarrow.table(columns_of(mixed(rows_of(run)))), tmp_path / "run.parquet", row_group_size=50)
    left, count = twin(qrels, run, exclude)
    results = fastir.evaluate(qrels, tmp_path / "run.parquet", METRICS, exclude=exclude, validate="judged", **FILTERED)
    assert seen(results) == seen(fastir.evaluate(qrels, left, METRICS, **FILTERED))
    assert results.report.repairs["excluded documents"] == (count, "query q0")
    assert "only judged documents checked for duplicates" in results.report.repairs


def test_a_document_that_stands_twice_is_named_by_its_rows():
    """Behind rows that leave; and whether it is one of them, where all documents are looked at."""
    rows = [("q", "x", 5.0), ("q", "y", 4.0), ("q", "a", 3.0), ("q", "z", 2.0), ("q", "a", 1.0)]
    for validate, exclude in (("judged", ["x", "y"]), ("full", ["x"]), ("full", ["a"])):
        with pytest.raises(fastir.DuplicateError, match=r"'a' in query 'q'.*rows? 2.*4"):
            fastir.evaluate({"q": {"a": 1}}, rows, "map", exclude={"q": exclude}, validate=validate)
    others = [("q", "a", 3.0), ("r", "b", 1.0), ("q", "b", 2.0), ("q", "a", 1.0)]
    with pytest.raises(fastir.DuplicateError, match="'a' in query 'q'"):
        fastir.evaluate({"q": {"b": 1}, "r": {"b": 1}}, others, "map", exclude={"q": ["a"]})


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_the_first_of_a_documents_rows_stays_gone():
    rows = [("q", "x", 5.0), ("q", "a", 3.0), ("q", "x", 2.0)]
    for rule in ("first", "last", "max", "once"):
        found = fastir.evaluate({"q": {"a": 1}}, rows, ["mrr", "num_ret"], exclude={"q": ["x"]}, duplicates=rule)
        assert (found["mrr"], found["num_ret"]) == (1.0, 1)


QUERY, RUN = {"q1": {"a": 1, "q1": 1}, "q2": {"b": 1}}, {"q1": {"q1": 3.0, "x": 2.0, "a": 1.0}, "q2": {"b": 1.0}}


def test_files_lists_and_engines_of_many_runs(tmp_path):
    path, pairs = tmp_path / "run.txt", tmp_path / "gone.txt"
    path.write_text("".join(f"{q} Q0 {d} 1 {s} x\n" for q, docs in RUN.items() for d, s in docs.items()))
    pairs.write_text("q1\tq1\n")
    (tmp_path / "run.json").write_text(json.dumps(RUN))
    expected = fastir.evaluate(QUERY, RUN, METRICS, exclude="query_id")
    assert expected.per_query("num_ret") == {"q1": 2, "q2": 1}
    assert expected.report.repairs == {"excluded documents": (1, "query q1")}
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
    by_beir = fastir.Evaluator(QUERY, ["ndcg", "mrr"], convention="beir", validate="judged")
    with pytest.raises(ValueError, match="several rules"):
        by_beir.partial()
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
    assert results.report.repairs["excluded documents"] == (2, "query q")


def test_a_ranking_that_loses_its_only_judged_document_is_no_spelling_mistake():
    with pytest.warns(fastir.FastirWarning, match="no judged document"):
        assert fastir.evaluate({"q": {"q": 1}}, {"q": {"q": 1.0, "x": 0.5}}, "map", exclude="query_id")["map"] == 0


def test_beir_leaves_out_what_is_called_like_its_query_and_mteb_where_it_is_told():
    names = ["ndcg", "mrr", "num_ret"]
    by_beir = fastir.evaluate(QUERY, RUN, names, convention="beir")
    asked = fastir.evaluate(QUERY, RUN, names, convention="beir", exclude="query_id")
    kept = fastir.evaluate(QUERY, RUN, names, convention="beir", exclude={})
    assert by_beir["num_ret"] == asked["num_ret"] == 3
    assert by_beir.report.repairs == {"excluded documents": (1, "query q1")}
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
    other = tmp_path / "other.txt"
    other.write_text("q7 a\n")
    for exclude in ({"q7": ["a"]}, {"q7": ["a"], "q8": []}, other, {7: ["a"]}):
        with pytest.raises(fastir.NoOverlapError, match=r"the qrels have 'q1', exclude has 'q?7'"):
            fastir.evaluate(QUERY, RUN, "map", exclude=exclude)
    with pytest.raises(FileNotFoundError, match="queryid"):
        fastir.evaluate(QUERY, RUN, "map", exclude="queryid")
    bad = tmp_path / "bad.txt"
    bad.write_text("q1 a\nq1\n")
    with pytest.raises(fastir.FormatError, match=r"bad.txt:2: expected a query and a document, got 1 field"):
        fastir.evaluate(QUERY, RUN, "map", exclude=bad)


def test_the_command(tmp_path):
    for name, data in (("qrels", QUERY), ("run", RUN)):
        form = "{} 0 {} {}\n" if name == "qrels" else "{} Q0 {} 1 {} x\n"
        rows = (form.format(q, d, v) for q in data for d, v in data[q].items())
        (tmp_path / name).write_text("".join(rows))
    call = [sys.executable, "-m", "fastir", "eval", "qrels", "run", "-m", "num_ret", "--exclude", "query_id"]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "3" in done.stdout.split()


@pytest.mark.parametrize("value", [
    lambda rng: rng.random(), lambda rng: rng.randint(0, 3), lambda rng: 2**53 + rng.randint(0, 3),
    lambda rng: np.float32(rng.randint(0, 5)), lambda rng: Fraction(rng.randint(0, 3), 3),
    lambda rng: rng.choice([-0.0, 0.0, 1]),
])  # fmt: skip
@pytest.mark.parametrize("doc_id", ["d{}".format, int, np.int64])
@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_a_dict_has_the_values_and_the_report_of_one_without_the_documents(value, doc_id):
    """Again and again, with ties, documents that no metric reads, and scores of NaN that leave, too."""
    rng = random.Random(7)
    metrics = ["ndcg@10", "map", "bpref", "judged@10", "num_ret", "num_rel_ret"]
    for turn in range(40):
        n = rng.choice([3, 12, 80])
        own = int if doc_id is np.int64 else doc_id
        qrels = {
            f"q{q}": {own(i): rng.choice([-1, 0, 1, 2]) for i in rng.sample(range(n), rng.randint(1, n))}
            for q in range(4)
        }
        run = {f"q{q}": {doc_id(i): value(rng) for i in rng.sample(range(n), rng.randint(1, n))} for q in range(5)}
        gone = {q: set(rng.sample([own(i) for i in range(n)], rng.randint(0, n))) for q in list(run)[turn % 3 :]}
        less = {q: {doc: v for doc, v in docs.items() if doc not in gone.get(q, ())} for q, docs in run.items()}
        for q, docs in run.items():
            docs.update({doc: math.nan for doc in docs if doc in gone.get(q, ()) and rng.random() < 0.05})
        without, plain = fastir.Evaluator(qrels, metrics, exclude=gone), fastir.Evaluator(qrels, metrics)
        for _ in range(2):
            results, expected = without.evaluate(run), plain.evaluate(less)
            assert results.values.tobytes() == expected.values.tobytes()
            assert results.report.unjudged_share == expected.report.unjudged_share


@pytest.mark.parametrize("validate", ["full", "judged"])
def test_a_query_in_mixed_rows_whose_documents_are_all_excluded_is_in_the_run(validate):
    rows = [("q", "a", 1.0), ("p", "b", 1.0), ("q", "c", 2.0), ("p", "a", 0.5)]
    qrels, options = {"q": {"a": 1}, "p": {"b": 1}, "r": {"b": 1}}, {"exclude": {"q": ["a", "c"]}, "validate": validate}
    for given in (rows, columns_of(rows)):
        with pytest.warns(fastir.FastirWarning):
            results = fastir.evaluate(qrels, given, ["mrr", "num_ret"], **options)
        assert results.per_query("mrr") == {"q": 0.0, "p": 1.0, "r": 0.0} and results.per_query("num_ret")["q"] == 0
        assert (results.report.in_both, results.report.only_in_qrels) == (2, 1)
