"""A ranking that is looked up among the judged documents gives what its rows give as a table, or as exact objects."""

import random

import numpy as np
import pytest

import fastir

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")

METRICS = ["ndcg", "map", "bpref", "judged@10", "num_rel_ret"]


@pytest.mark.parametrize(
    "make", [str, int, lambda i: f"{'a document with a long id ' * 3}{i}"], ids=["text", "int", "long"]
)
@pytest.mark.parametrize("n_ranked", [1, 63, 64, 65, 200])
@pytest.mark.parametrize("n_judged", [1, 20, 1000])
def test_few_rows_among_many_judgments_are_found(make, n_ranked, n_judged):
    rng = random.Random(n_ranked)
    qrels = {"q": {make(i): i % 3 for i in range(n_judged)}, "p": {make(0): 1}}
    ranked = rng.sample(range(max(2 * n_judged, 300)), n_ranked)
    run = {"q": {make(i): float(rng.randrange(9)) for i in ranked}}
    rows = [("q", doc_id, score) for doc_id, score in run["q"].items()]
    table = dict(zip(("query_id", "doc_id", "score"), map(list, zip(*rows, strict=True)), strict=True))
    values = fastir.Evaluator(qrels, METRICS, queries="qrels").evaluate(run).values
    assert (
        values.tobytes()
        == fastir.evaluate(qrels, fastir.Run.from_table(table), METRICS, queries="qrels").values.tobytes()
    )
    assert values[0, 4] == sum(qrels["q"].get(doc_id, 0) > 0 for doc_id in run["q"])


NUMPY_IDS = {
    "np.int64": (int, np.int64), "np.int32": (int, np.int32),
    "np.uint64 of 62 bits": (lambda i: (1 << 62) + 7 * i, np.uint64), "np.int64 below 0": (lambda i: 3 - i, np.int64),
    "np.str_": (lambda i: f"d{i}", np.str_), "np.str_, not ASCII": (lambda i: f"文{i}é", np.str_),
    "mixed": (int, lambda i: int(i) if i % 3 == 1 else np.int64(i)),
    "mixed with a large int": (lambda i: i if i else 1 << 70, lambda i: i if i > 1 << 63 else np.int64(i)),
}  # fmt: skip


@pytest.mark.parametrize("kind", NUMPY_IDS)
@pytest.mark.parametrize("metrics", [["ndcg@10", "map", "mrr"], ["bpref", "judged@5", "map"]])
@pytest.mark.parametrize("seed", range(5))
def test_ids_of_numpy_give_what_exact_ones_give(kind, metrics, seed):
    exact, of_numpy = NUMPY_IDS[kind]
    rng = random.Random(seed)
    qrels = {f"q{q}": {exact(i): rng.randrange(-1, 3) for i in rng.sample(range(80), 20)} for q in range(10)}
    run = {f"q{q}": {exact(i): rng.randrange(20) / 4 for i in rng.sample(range(80), rng.randrange(1, 70))}
           for q in range(10)}  # fmt: skip
    odd = {query: {of_numpy(doc): score for doc, score in docs.items()} for query, docs in run.items()}
    expected = fastir.evaluate(qrels, run, metrics)
    for judged in (
        qrels,
        {query: {of_numpy(doc): label for doc, label in docs.items()} for query, docs in qrels.items()},
    ):
        evaluator = fastir.Evaluator(judged, metrics)
        for _ in range(2):
            found = evaluator.evaluate(odd)
            assert found.values.tobytes() == expected.values.tobytes()
            assert found.report == expected.report
