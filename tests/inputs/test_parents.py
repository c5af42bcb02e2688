"""The forms that `parents` may have, and what is wrong with others."""

import pickle

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


def test_compare_takes_them():
    pytest.importorskip("scipy")
    qrels = {f"{query}{i}": docs for i in range(4) for query, docs in QRELS.items()}
    chunks, documents = ({f"{q}{i}": docs for i in range(4) for q, docs in run.items()} for run in (RUN, DOCUMENTS))
    options = {"test": "sign", "parents": PARENTS}
    comparison = fastir.compare(qrels, {"chunks": chunks, "documents": documents}, ["ndcg"], **options)
    assert [(pair.wins, pair.losses, pair.ties) for pair in comparison.pairs] == [(0, 0, 8)]


def test_a_mapping_is_copied_and_pickled():
    parents = dict(PARENTS)
    evaluator = fastir.Evaluator(QRELS, METRICS, parents=parents)
    parents.clear()
    expected = fastir.evaluate(QRELS, DOCUMENTS, METRICS).values
    for one in (evaluator, pickle.loads(pickle.dumps(evaluator))):
        np.testing.assert_array_equal(one.evaluate(RUN).values, expected)


def test_ids_of_every_length_have_their_parents():
    """Of 2000 ids up to 60 bytes long, many alike up to their ends, a third are not in the mapping."""
    alike = "passage-of-a-document-" * 3
    ends = list(map(str, range(40)))
    ids = [alike[: 60 - len(end)][-length:] + end for end in ends for length in range(1, 51)]
    assert len(set(ids)) == len(ids) == 2000
    parents = {doc_id: f"{'d' * (i % 40)}{i // 7}" for i, doc_id in enumerate(ids) if i % 3}
    run = {"q": {doc_id: float(len(ids) - i) for i, doc_id in enumerate(ids)}}
    documents = {"q": dict.fromkeys(parents.get(doc_id, doc_id) for doc_id in ids)}
    expected = {"q": {document: float(len(ids) - i) for i, document in enumerate(documents["q"])}}
    qrels = {"q": dict.fromkeys(list(documents["q"])[::5], 1)}
    found = fastir.evaluate(qrels, run, METRICS, parents=parents)
    assert found.values.tobytes() == fastir.evaluate(qrels, expected, METRICS).values.tobytes()


def test_integers_equal_their_text():
    run, qrels = {1: {10: 2.0, 11: 1.0, 12: 0.5}}, {1: {7: 1, 12: 1}}
    table = {"query_id": np.array([1, 1, 1]), "doc_id": np.array([10, 11, 12]), "score": np.array([2.0, 1.0, 0.5])}
    for parents in ({10: 7, 11: 7}, {"10": "7", "11": "7"}, (np.array([10, 11]), np.array([7, 7]))):
        for given in (run, table):
            results = fastir.evaluate(qrels, given, ["map", "num_ret"], parents=parents)
            assert (results["map"], results["num_ret"]) == (1.0, 2)


def test_a_function_gets_an_array_of_distinct_ids():
    seen = []
    fastir.evaluate(QRELS, RUN, "map", parents=lambda ids: seen.append(ids) or np.array([doc_id[0] for doc_id in ids]))
    assert type(seen[0]) is np.ndarray
    assert seen[0].tolist() == ["a1", "x", "a2", "b1"]


def test_a_function_may_be_one_of_a_single_id():
    qrels, run = {"q": {"a": 1}}, {"q": {"b#1": 3.0, "a#7": 2.0, "a#2": 1.0}}
    for parents in (lambda doc_id: doc_id.split("#")[0], {"b#1": "b", "a#7": "a", "a#2": "a"}.__getitem__):
        assert fastir.evaluate(qrels, run, "mrr", parents=parents)["mrr"] == 0.5
    with pytest.raises(TypeError, match=r"take an array of ids, or one id; .* AttributeError: .*'splitt'.*'splitt'"):
        fastir.evaluate(qrels, run, "mrr", parents=lambda doc_id: doc_id.splitt("#"))


@pytest.mark.parametrize(("options", "message"), [
    ({"aggregate": "median", "parents": PARENTS}, "aggregate must be one of 'max', 'sum', 'mean', got 'median'"),
    ({"aggregate": "sum"}, "aggregate='sum' needs parents"),
    ({"aggregate": "sum", "parents": PARENTS, "duplicates": "once"}, "but duplicates='once' keeps all of them"),
])  # fmt: skip
def test_options_that_exclude_each_other_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        fastir.Evaluator(QRELS, METRICS, **options)


def test_no_parents_leave_a_run_as_it_is():
    expected = fastir.evaluate(QRELS, RUN, METRICS).values
    np.testing.assert_array_equal(fastir.evaluate(QRELS, RUN, METRICS, parents={}).values, expected)


def test_the_report_names_the_first_query_whose_rows_are_merged():
    """Also where groups of judgments need the merged run itself."""
    run = {"p": {"x": 1.0}, "q": {"a1": 3.0, "a2": 2.0}, "r": {"b1": 3.0, "b2": 2.0, "x": 1.0}}
    parents = {"a1": "a", "a2": "a", "b1": "b", "b2": "b"}
    qrels = {"p": {"x": 1}, "q": {"a": 1}, "r": {"b": 1}}
    groups = {query: {"1": docs} for query, docs in qrels.items()}
    for judged, metric in ((qrels, "mrr"), (groups, "st_recall@1")):
        for given in (run, fastir.Run.from_dict(run)):
            results = fastir.evaluate(judged, given, metric, parents=parents)
            assert results.report.repairs == {"parts of a document": (2, "query q")} and results[metric] == 1.0
