"""explain(): any run, any ids, and a query that is not there."""

import math
import pickle

import gen
import pytest
from common import UNEVEN
from explained import QRELS, RUN, agree, explanations, same

import fastir

pytestmark = UNEVEN


def test_a_query_that_the_run_lacks_is_an_empty_ranking():
    qrels = {"q": {"a": 1}, "other": {"b": 1}, "none": {"c": 0}}
    evaluator = fastir.Evaluator(qrels, "mrr", queries="qrels")
    told = {query: evaluator.explain({"q": {"a": 1.0}, "none": {}}, query) for query in qrels}
    assert [explanation.status for explanation in told.values()] == ["evaluated", "missing", "no_relevant"]
    assert told["other"].documents == [] and [document.doc_id for document in told["other"].missing] == ["b"]
    assert told["other"].values == {"mrr": 0.0}
    with pytest.raises(KeyError, match="query 'zz' is not in the qrels"):
        evaluator.explain({"q": {"a": 1.0}}, "zz")


def test_every_input_is_explained_alike(tmp_path):
    qrels = {str(number): docs for number, docs in enumerate(gen.collection(3)[0].values())}
    run = {str(number): docs for number, docs in enumerate(gen.collection(3)[1].values())}
    files = gen.write_qrels(tmp_path / "qrels", qrels), gen.write_run(tmp_path / "run", run)
    rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    expected = fastir.Evaluator(qrels, ["map", "ndcg"]).explain(run, "1")
    assert expected.documents
    assert fastir.Evaluator(qrels, ["map", "ndcg"]).explain(rows, "1") == expected
    assert fastir.Evaluator(qrels, ["map", "ndcg"]).explain(fastir.Run.from_dict(run), "1") == expected
    assert fastir.Evaluator(str(files[0]), ["map", "ndcg"]).explain(files[1], 1) == expected
    assert pickle.loads(pickle.dumps(expected)) == expected


def test_integer_ids_stay_integers():
    evaluator = fastir.Evaluator({7: {1: 1, 20: 2, 300: 1}}, "ndcg")
    explanation = evaluator.explain({7: {20: 1.0, 1: 1.0, 5: 1.0}}, 7)
    assert [document.doc_id for document in explanation.documents] == [5, 20, 1]
    assert [document.doc_id for document in explanation.missing] == [300]
    assert explanation.query_id == 7
    assert explanation.values == dict(evaluator.evaluate({7: {20: 1.0, 1: 1.0, 5: 1.0}}).to_dict()[7])


def test_ids_that_look_like_the_unknown_ones():
    qrels = {"q": {"?0": 1, "??1": 0, "a": 1}}
    agree(*explanations(qrels, {"q": {"?1": 3.0, "?0": 2.0, "a": 1.0, "???": 0.5}}, ["map", "bpref"]))


def test_nothing_of_the_callers_is_changed_or_kept():
    run = {"q": dict(RUN["q"])}
    evaluator = fastir.Evaluator(QRELS, "map")
    explanation = evaluator.explain(run, "q")
    assert run == RUN
    run["q"].clear()
    assert len(explanation.documents) == 7


def test_metrics_that_rank_differently_have_no_single_ranking():
    run = {"q": {"b": 1.0, "a": 1.0, "c": 0.5}}
    evaluator = fastir.Evaluator(QRELS, ["nDCG@5", "RR@5"], convention="ir_measures")
    with pytest.raises(ValueError, match="this ranking is not the same for all"):
        evaluator.explain(run, "q")
    untied = {"q": {"b": 0.2, "a": 0.1}}
    assert same(evaluator.explain(untied, "q").values, evaluator.evaluate(untied).to_dict()["q"])
    grouped = fastir.Evaluator({"q": {"g": {"a": 1}, "h": {"b": 1}}}, "map_ia", ties="optimistic")
    with pytest.raises(ValueError, match="this ranking is not the same for all"):
        grouped.explain(run, "q")


def test_metrics_that_drop_unjudged_documents():
    evaluator = fastir.Evaluator(QRELS, ["ndcg(judged_only=true)", "precision(judged_only=true)"])
    explanation = evaluator.explain(RUN, "q")
    assert [document.doc_id for document in explanation.documents] == ["b", "a", "c", "e"]
    agree(evaluator.evaluate(RUN), {"q": explanation})
    parts = [document.contribution["precision(judged_only=true)"] for document in explanation.documents]
    assert parts == [0, 0.25, 0.25, 0.25]
    assert explanation.documents[1].discount["ndcg(judged_only=true)"] == pytest.approx(1 / math.log2(3))
    with pytest.raises(ValueError, match="this ranking is not the same for all"):
        fastir.Evaluator(QRELS, ["ndcg(judged_only=true)", "ndcg"]).explain(RUN, "q")
