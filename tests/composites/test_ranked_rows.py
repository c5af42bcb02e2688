"""Rows in rank order: those of a slow twin, for every tie rule and both precisions."""

import random

import numpy as np
import pytest

import fastir
from fastir.evaluation.composites.ranked_rows import ranked_rows


def slow(ranking, ties, single):
    """The documents of one ranking, by sorting twice."""
    given = list(reversed(ranking.items())) if ties == "input_reversed" else list(ranking.items())
    if ties in ("trec", "doc_id_asc"):
        given.sort(key=lambda pair: str(pair[0]).encode(), reverse=ties == "trec")
    return [doc for doc, score in sorted(given, key=lambda pair: -(float(np.float32(pair[1])) if single else pair[1]))]


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("ties", ["trec", "doc_id_asc", "input", "input_reversed"])
@pytest.mark.parametrize("integers", [False, True])
def test_rows_are_in_rank_order(ties, single, integers):
    rng = random.Random(f"{ties} {single} {integers}")
    run = {}
    for query, n in enumerate([0, 1, 2, 3, 17, 0, 60]):
        docs = rng.sample(range(1, 1000), n)
        run[f"q{query}"] = {
            (doc if integers else f"d{doc}"): rng.randrange(4) / 3 + rng.randrange(2) * 2**-40 for doc in docs
        }
    held = fastir.Run.from_dict(run)
    rows = ranked_rows(held, ties, single)
    assert rows.dtype == np.int64 and sorted(rows.tolist()) == list(range(held.columns.n_rows))
    docs = held.columns.ids.take(rows)[:]
    assert docs == [doc for ranking in run.values() for doc in slow(ranking, ties, single)]
    assert ranked_rows(fastir.Run.from_dict({"q": {}}), ties, single).tolist() == []
