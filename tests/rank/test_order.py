"""Whole rankings in rank order, against sorting them in Python."""

import numpy as np
import pytest
from fastir.engine.columns._ids import ids_from_arena
from fastir.engine.rank._order import in_rank_order

import fastir


def rankings(kind):
    """Rankings that fall, that fall with ties, that are all ties, and in no order; and empty ones."""
    random = np.random.default_rng(3)
    for n in (0, 1, 2, 17, 100, 1000):
        ids = [kind(number) for number in random.permutation(5 * n)[:n].tolist()]
        for scores in (random.random(n), random.integers(0, n // 4 + 1, n) / 8, np.zeros(n), random.normal(size=n)):
            yield dict(zip(ids, scores.tolist(), strict=True))
            yield dict(zip(ids, np.sort(scores)[::-1].tolist(), strict=True))


@pytest.mark.parametrize("kind", ["d{}".format, "é{}".format, int, lambda n: 7 * n - 200], ids=list("aéin"))
def test_the_higher_score_stands_first_then_the_larger_id(kind):
    given = dict(enumerate(rankings(kind)))
    run = fastir.Run.from_dict(given)
    ids, offsets, scores = run.columns.arrays()
    order = in_rank_order(ids_from_arena(ids), offsets, scores)
    assert np.array_equal(np.sort(order), np.arange(run.columns.n_rows))
    for place, ranking in enumerate(given.values()):
        names = list(ranking)
        found = [names[row - offsets[place]] for row in order[offsets[place] : offsets[place + 1]]]
        assert found == sorted(names, key=lambda doc_id, r=ranking: (r[doc_id], str(doc_id)), reverse=True)


def test_zeros_of_either_sign_and_infinite_scores():
    run = fastir.Run.from_dict({"q": {"a": 0.0, "b": -0.0, "c": np.inf, "d": -np.inf, "e": np.inf}})
    ids, offsets, scores = run.columns.arrays()
    assert in_rank_order(ids_from_arena(ids), offsets, scores).tolist() == [4, 2, 1, 0, 3]
