"""Judged ids with one and the same hash in Python, which are looked up one behind another."""

import pytest

import fastir

MODULUS = 2**61 - 1  # of the hash of an int


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("order", [1, -1])
def test_every_one_of_several_integers_with_one_hash_is_found(n, order):
    ids = [7 + i * MODULUS for i in range(n)]
    assert len(set(map(hash, ids))) == 1
    # More judged documents than retrieved ones: from the second call on the ranking's ids are looked up among them.
    qrels = {1: {doc: 1 + i for i, doc in enumerate(ids)} | dict.fromkeys(range(100, 110), 1)}
    run = {1: {doc: float(order * i) for i, doc in enumerate([*ids, 7 + 4 * MODULUS - 1])}}
    evaluator = fastir.Evaluator(qrels, ["ndcg", "map", "num_rel_ret"])
    first, second, third = (evaluator.evaluate(run).values.tolist() for _ in range(3))
    assert first == second == third
    assert first[0][2] == n
