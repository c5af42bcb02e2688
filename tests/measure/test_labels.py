"""Labels of any span: near ones are sorted by counting, those far apart by comparing, and nobody can tell."""
# Also of: walk.

import random

import gen
import oracle
import pytest
from common import UNEVEN

import fastir

pytestmark = UNEVEN

# Without an exponential gain or a largest grade, which allow no labels of this size.
PLAIN = ("num_rel", "num_rel_ret", "map", "bpref", "r_precision", "recall", "mrr", "cg", "dcg", "ndcg")
REQUESTS = [oracle.Request(name) for name in PLAIN]
REQUESTS += [oracle.Request(name, k=k) for name in ("recall", "map", "cg", "dcg", "ndcg") for k in (1, 10)]
REQUESTS += [oracle.Request("ndcg", suffix=2), oracle.Request("rbp", params={"gains": "scaled"})]
LEAST, LARGEST = -(2**31), 2**31 - 1
LABELS = {
    "span 1023": lambda rng: rng.choice((0, 1, 512, 1022, 1023)),
    "span 1024": lambda rng: rng.choice((0, 1, 512, 1023, 1024)),
    "span 1023 below zero": lambda rng: rng.choice((-1020, -1, 0, 1, 2, 3)),
    "span 1024 below zero": lambda rng: rng.choice((-1021, -1, 0, 1, 2, 3)),
    "all of 32 bits": lambda rng: rng.choice((LEAST, LEAST + 1, -1, 0, 1, 2, LARGEST - 1, LARGEST)),
    "random": lambda rng: rng.randint(LEAST, LARGEST),
    "random to a thousand": lambda rng: rng.randint(-500, 1000),
    "two far apart": lambda rng: rng.choice((-5000, 5000)),
    "negative and wide": lambda rng: rng.choice((LEAST, -70_000, -1)),
    "large and near": lambda rng: LARGEST - rng.randrange(4),
    "small and near": lambda rng: LEAST + rng.randrange(4),
}


@pytest.fixture(params=LABELS)
def collection(request):
    """Topics whose labels have that span; by random choice not all reach it."""
    rng = random.Random(request.param)
    docs = [f"d{number}" for number in range(120)]
    label = LABELS[request.param]
    qrels = {f"q{size}": {doc: label(rng) for doc in rng.sample(docs, size)} for size in (1, 2, 3, 10, 60, 120)}
    return qrels, {query: {doc: float(rng.randrange(60)) for doc in rng.sample(docs, 90)} for query in qrels}


@pytest.mark.parametrize("level", [1, 2, 1000, LARGEST])
def test_labels_of_any_span_have_the_oracles_values(level, collection, tmp_path):
    qrels, run = collection
    names = [str(request) for request in REQUESTS]
    results = fastir.evaluate(qrels, run, names, rel_level=level)
    expected = oracle.evaluate(qrels, run, REQUESTS, rel_level=level)
    for query, row in zip(results.query_ids, results.values.tolist(), strict=True):
        assert row == pytest.approx(expected[query], rel=1e-12), query
    paths = gen.write_qrels(tmp_path / "qrels", qrels), gen.write_run(tmp_path / "run", run)
    assert fastir.evaluate(*paths, names, rel_level=level).values.tobytes() == results.values.tobytes()


def test_the_order_of_judgments_does_not_matter(collection):
    qrels, run = collection
    expected = fastir.evaluate(qrels, run, PLAIN)
    for seed in range(5):
        shuffled = {query: gen.shuffled(random.Random(seed), judged) for query, judged in qrels.items()}
        assert fastir.evaluate(shuffled, run, PLAIN).values.tobytes() == expected.values.tobytes()


def test_judgments_keep_the_callers_order(collection):
    qrels, run = collection
    prepared = fastir.Qrels.from_dict(qrels)
    fastir.evaluate(prepared, run, "map")
    assert {query: list(judged.items()) for query, judged in prepared.to_dict().items()} == {
        query: list(judged.items()) for query, judged in qrels.items()
    }


@pytest.mark.parametrize("lowest", [1001, 978, 977, 976, 0, -5, -100_000, LEAST])
def test_of_equal_labels_the_first_that_came_is_named(lowest):
    """The only place where the order of equal labels shows: which document has a label too large for a metric."""
    rng = random.Random(lowest)
    docs = [f"d{number}" for number in range(50)]
    for _ in range(20):
        judged = {doc: rng.choice((lowest, 2000, 1500)) for doc in rng.sample(docs, 50)}
        judged[next(iter(judged))] = lowest
        first = next(doc for doc, label in judged.items() if label == max(judged.values()))
        with pytest.raises(OverflowError, match=rf"label {judged[first]} .*\(query q, document {first}\)$"):
            fastir.evaluate({"q": judged}, {"q": {"d1": 1.0}}, "ndcg_burges")
