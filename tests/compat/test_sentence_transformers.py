"""compute_metrics of sentence-transformers' InformationRetrievalEvaluator: by hand, and compared with its own."""

import random

import pytest

evaluation = pytest.importorskip("sentence_transformers.sentence_transformer.evaluation")
ours = pytest.importorskip("fastir.compat.sentence_transformers")
Theirs = evaluation.InformationRetrievalEvaluator
import fastir.compat  # noqa: E402


def hits(**scores):
    return [{"corpus_id": doc_id, "score": score} for doc_id, score in scores.items()]


def evaluator(kind=ours.InformationRetrievalEvaluator, **cutoffs):
    """Three queries, the last without relevant documents; of q1's three one is found behind a document that ties."""
    return kind(
        dict.fromkeys(("q1", "q2", "q3"), ""),
        dict.fromkeys("abcde", ""),
        {"q1": {"b", "c", "x"}, "q2": {"a"}, "q3": set()},
        **cutoffs,
    )


FOUND = [hits(d=0.5, b=1.0, a=1.0), hits(a=2.0)]


def test_values_by_hand():
    cutoffs = {"mrr_at_k": [1, 10], "map_at_k": [2, 5], "precision_recall_at_k": [2], "accuracy_at_k": [1, 2]}
    told = evaluator(**cutoffs).compute_metrics(FOUND)
    ndcg = told.pop("ndcg@k")
    assert told == {
        "accuracy@k": {1: 0.5, 2: 1.0}, "precision@k": {2: 0.5}, "recall@k": {2: pytest.approx((1 / 3 + 1) / 2)},
        "mrr@k": {1: 0.5, 10: 0.75}, "map@k": {2: (0.5 / 2 + 1) / 2, 5: pytest.approx((0.5 / 3 + 1) / 2)},
    }  # fmt: skip
    assert ndcg == {10: pytest.approx((0.6309297535714575 / 2.1309297535714575 + 1) / 2)}


def test_equal_scores_by_ascending_id():
    assert evaluator(accuracy_at_k=[1]).compute_metrics([hits(c=1.0, a=1.0), hits()])["accuracy@k"] == {1: 0.0}
    assert evaluator(accuracy_at_k=[1]).compute_metrics([hits(x=1.0, c=1.0), hits()])["accuracy@k"] == {1: 0.5}


def test_errors():
    with pytest.raises(ValueError, match="NaN"):
        evaluator().compute_metrics([hits(a=float("nan")), hits()])
    empty = ours.InformationRetrievalEvaluator({}, {}, {})
    with pytest.raises(ZeroDivisionError):
        empty.compute_metrics([])


def random_case(kind, seed):
    rng = random.Random(seed)
    docs = list(range(200)) if seed % 3 == 0 else [f"d{number}" for number in range(200)]
    queries = [f"q{number}" for number in range(20)]
    made = kind(
        dict.fromkeys(queries, ""),
        dict.fromkeys(docs, ""),
        {query: set(rng.sample(docs, rng.randint(0, 8))) for query in queries},
        mrr_at_k=[10, 1],
        ndcg_at_k=[10, 3, 200],
        map_at_k=[100, 5],
    )
    found = []
    for _ in made.queries_ids:
        score = rng.choice([rng.random, lambda: float(rng.randint(0, 5))])
        found.append([{"corpus_id": doc, "score": score()} for doc in rng.sample(docs, rng.choice([0, 1, 100]))])
        if rng.random() < 0.5:
            found[-1].sort(key=lambda hit: (-hit["score"], hit["corpus_id"]))
    return made, found


def test_sentence_transformers_says_the_same():
    """Keys, their order, values to the last digit, and types."""
    for seed in range(60):
        theirs, found = random_case(Theirs, seed)
        mine, _ = random_case(ours.InformationRetrievalEvaluator, seed)
        said = theirs.compute_metrics(found)
        assert repr(mine.compute_metrics(found)) == repr(said), seed
        with fastir.compat.patched("sentence_transformers"):
            assert repr(theirs.compute_metrics(found)) == repr(said)


class Model:
    """Encodes a text of digits as vectors that tie a lot."""

    similarity_fn_name = "dot"

    def similarity(self, left, right):
        return left @ right.T

    def encode(self, texts, **options):
        import torch

        return torch.tensor([[float(text[0]), float(text[-1])] for text in texts])

    encode_query = encode_document = encode


def test_a_whole_call(monkeypatch):
    monkeypatch.setattr("tqdm.tqdm.monitor_interval", 0)  # its thread would stay
    rng = random.Random(0)
    corpus = {f"d{number}": f"{rng.randint(0, 3)}{rng.randint(0, 3)}" for number in range(150)}
    queries = {f"q{number}": f"{rng.randint(1, 3)}{rng.randint(1, 3)}" for number in range(10)}
    relevant = {query: set(rng.sample(sorted(corpus), 5)) for query in queries}
    said = [
        kind(queries, corpus, relevant, write_csv=False).compute_all_metrics
        for kind in (Theirs, ours.InformationRetrievalEvaluator)
    ]
    tables = []
    for call in said:
        call.__self__.score_functions = {"dot": Model().similarity}
        tables.append(repr(call(Model())))
    assert tables[0] == tables[1] and "ndcg@k" in tables[0]
