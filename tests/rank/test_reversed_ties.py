"""ties="input_reversed" has the values of ties="input" on the input turned round, in every shape and size."""

import random

import numpy as np
import pytest

import fastir

METRICS = ["ndcg@3", "map", "mrr", "P@2", "recall@5", "ndcg(gain=exp2)", "bpref", "err@4"]
SETS = (METRICS, ["ndcg@3"], ["num_rel_ret", "map"])  # the first ranks alone, or all: each has its kernel
pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")


def collection(n, seed):
    """Three queries with n documents, of which many have one score."""
    rng = random.Random(seed)
    qrels = {f"q{q}": {f"d{rng.randrange(n)}": rng.choice((0, 1, 2)) for _ in range(n // 2 + 2)} for q in range(3)}
    docs = [f"d{i}" for i in range(n)]
    run = {q: {d: float(rng.randrange(1 + n // 4)) for d in rng.sample(docs, n)} for q in qrels}
    run["q2"] = dict(sorted(run["q2"].items(), key=lambda pair: -pair[1]))
    return qrels, run, rng


@pytest.mark.parametrize("n", [3, 9, 40, 300, 900])
def test_runs_with_ids(n):
    qrels, run, rng = collection(n, n)
    turned = {query: dict(reversed(docs.items())) for query, docs in run.items()}
    expected = fastir.evaluate(qrels, turned, METRICS, ties="input").values
    rows = {query: iter(docs.items()) for query, docs in run.items()}
    order = rng.sample([query for query, docs in run.items() for _ in docs], 3 * n)
    docs = [next(rows[query]) for query in order]
    table = {"query_id": order, "doc_id": [doc for doc, _ in docs], "score": [score for _, score in docs]}
    for each in (run, fastir.Run.from_dict(run), table):
        assert np.array_equal(fastir.evaluate(qrels, each, METRICS, ties="input_reversed").values, expected)
    judged = fastir.Evaluator(qrels, METRICS, ties="input_reversed").judged_rankings(run)
    assert np.array_equal(judged.evaluate(METRICS).values, expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [3, 9, 40, 300, 900])
def test_arrays(n, dtype):
    qrels, run, _ = collection(n, n)
    labels = np.array([[qrels[query].get(doc, -1) for doc in docs] for query, docs in run.items()])
    scores = np.array([list(docs.values()) for docs in run.values()], dtype)
    relevant = [{i: int(row[i]) for i in np.flatnonzero(row >= 0)} for row in labels]
    turned = [{n - 1 - i: label for i, label in row.items()} for row in relevant]
    ids = np.tile(np.arange(n), (3, 1))
    for names in SETS:
        expected = fastir.evaluate_matrix(np.ascontiguousarray(scores[:, ::-1]), turned, names, ties="input").values
        flat = fastir.evaluate_scores(labels.ravel(), scores.ravel(), names, group=[n] * 3, ties="input_reversed")
        matrix = fastir.evaluate_matrix(scores, relevant, names, ties="input_reversed")
        topk = fastir.evaluate_topk(ids, relevant, names, scores=scores, ties="input_reversed")
        for results in (flat, matrix, topk):
            assert np.array_equal(results.values, expected)


def test_it_is_the_order_of_argsort_turned_round():
    scores = np.array([1.0, 2.0, 1.0, 2.0, 1.0])
    order = np.argsort(scores, kind="stable")[::-1]
    documents = fastir.explain({"q": {"0": 1}}, {"q": dict(zip("01234", scores.tolist(), strict=True))}, "q", "mrr",
                               ties="input_reversed").documents  # fmt: skip
    assert [document.doc_id for document in documents if document.rank] == [str(place) for place in order]


def test_parts_that_keep_no_order_of_rows_refuse_it_by_its_name():
    evaluator = fastir.Evaluator({"q": {"a": 1}}, "mrr", ties="input_reversed", validate="judged")
    with pytest.raises(ValueError, match="ties='input_reversed' depends on the order of rows"):
        evaluator.partial([("q", "a", 1.0)])


@pytest.mark.parametrize("call", [fastir.fuse, fastir.tune])
def test_calls_without_this_rule_say_which_rules_they_have(call):
    runs = {"a": {"q": {"a": 1.0}}, "b": {"q": {"a": 1.0}}}
    arguments = (runs,) if call is fastir.fuse else ({"q": {"a": 1}}, runs, "mrr")
    with pytest.raises(ValueError, match=r"ties='input_reversed': .* give ties='input'"):
        call(*arguments, ties="input_reversed")
