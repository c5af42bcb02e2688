"""A ranking that is looked up among the judged documents, where these are many, gives what its rows give as a table."""

import random

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
