"""Runs as judged rankings, through the joins of evaluate: any shape, depth, duplicates and parents."""

import pickle

import gen
import pytest
from rankings_made import METRICS, QRELS, RUN, same

import fastir

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")


def test_every_shape_of_run_comes_to_the_same(tmp_path):
    pandas = pytest.importorskip("pandas")
    expected = fastir.judged_rankings(QRELS, RUN)
    held = fastir.Run.from_file(RUN)
    rows = [(q, d, s) for q, ranking in held.to_dict().items() for d, s in ranking.items()]
    frame = pandas.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    evaluator = fastir.Evaluator(QRELS, ["map"])
    for run in (held, held.to_dict(), frame, frame.sample(frac=1, random_state=0)):
        for n_threads in (1, 2):
            judged = fastir.judged_rankings(QRELS, run, n_threads=n_threads)
            assert judged == expected
        assert evaluator.judged_rankings(run) == expected


def test_a_deep_run_and_threads():
    qrels, run = gen.deep(1)
    judged = fastir.judged_rankings(qrels, run)
    expected = fastir.evaluate(qrels, run, METRICS)
    for n_threads in (1, 2, 3):
        same(judged.evaluate(METRICS, n_threads=n_threads), expected)


def test_duplicates_and_parents_are_settled_before():
    qrels = {"q": {"a": 1, "b": 2}}
    run = [("q", "a", 3.0), ("q", "x", 2.5), ("q", "a", 2.0), ("q", "b", 1.0)]
    for rule in ("first", "last", "max", "once"):
        judged = fastir.judged_rankings(qrels, run, duplicates=rule)
        assert judged.duplicates == rule
        same(judged.evaluate(["map", "ndcg"]), fastir.evaluate(qrels, run, ["map", "ndcg"], duplicates=rule))
    parts = {"q": {"a#1": 3.0, "b#1": 2.0, "a#2": 1.0}}
    parents = {part: part[0] for part in parts["q"]}
    judged = fastir.judged_rankings(qrels, parts, parents=parents)
    same(judged.evaluate("map"), fastir.evaluate(qrels, parts, "map", parents=parents))


def test_strict_queries():
    qrels, run = {"q": {"a": 1}, "r": {"a": 1}}, {"q": {"a": 1.0}}
    judged = fastir.judged_rankings(qrels, run, queries="qrels")
    with pytest.raises(fastir.NoOverlapError, match="query 'r' is missing from the run"):
        judged.evaluate("map", queries="strict")
    with pytest.raises(fastir.NoOverlapError, match="query 'r' is missing from the run"):
        fastir.judged_rankings(qrels, run, queries="strict")
    judged = fastir.judged_rankings({"q": {"a": 1}}, {"q": {"a": 1.0}, "s": {"a": 1.0}}, queries="qrels")
    with pytest.raises(fastir.NoOverlapError, match="query 's' is missing from the qrels"):
        judged.evaluate("map", queries="strict")


def test_the_rankings_of_few_queries_are_those_beside_empty_ones():
    qrels = {f"q{number}": {"a": 1, "b": number % 3} for number in range(300)}
    run = {f"q{number}": {"x": 2.0, "b": 1.5, "a": 1.0} for number in (7, 250, 31)}
    evaluator = fastir.Evaluator(qrels, "map", queries="qrels")
    late, whole = (evaluator.judged_rankings(each) for each in (run, {**{key: {} for key in qrels}, **run}))
    assert not hasattr(late, "labelz") and late.query_ids == list(qrels)
    for name in ("offsets", "ranks", "labels", "num_ret", "ideal_offsets", "ideal_labels"):
        assert getattr(late, name).tolist() == getattr(whole, name).tolist()
        assert not getattr(late, name).flags.writeable
    assert late.missing.sum() == 297 and late.report.in_both == 3
    assert pickle.loads(pickle.dumps(evaluator.judged_rankings(run))) == late
