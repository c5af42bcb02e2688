"""Rankings as columns in one pass, beside what Python makes of them; what is unusual is left to others."""

import random

import numpy as np
import pytest
from fastir.engine.columns._dict_columns import columns_from_rankings

import fastir
from fastir.engine.columns.ids import Arena


def as_dicts(columns):
    query_ids, offsets, *text, numbers = columns
    ids, stops = Arena(*text)[:], offsets.tolist()
    return {
        query_id: dict(zip(ids[start:stop], numbers[start:stop].tolist(), strict=True))
        for query_id, start, stop in zip(query_ids, stops, stops[1:], strict=False)
    }


@pytest.mark.parametrize("seed", range(8))
def test_columns_hold_what_the_dicts_hold_in_their_order(seed):
    rng = random.Random(seed)
    words = ["d", "é", "日本", "a much longer id than the others", "", "x y", "\0"]
    rankings = {
        f"q{q}": {
            f"{rng.choice(words)}{i}": rng.uniform(-9, 9) for i in range(rng.choice([0, 1, 9, 255, 256, 257, 900]))
        }
        for q in range(rng.randint(0, 12))
    }
    for ranking in rankings.values():
        for doc_id in list(ranking)[::3]:
            del ranking[doc_id]
    found = columns_from_rankings(rankings)
    assert as_dicts(found) == rankings
    assert [list(docs) for docs in as_dicts(found).values()] == [list(docs) for docs in rankings.values()]
    assert fastir.Run.from_dict(rankings).to_dict() == rankings


@pytest.mark.parametrize(
    "unusual",
    [
        {1: 2.0},
        {"a": 1},
        {"a": np.float64(1.0)},
        {np.str_("a"): 1.0},
        {"\ud800": 1.0},
        {"a": float("nan")},
        ["a"],
        {"b": 1.0, 7: 1.0},
    ],
    ids=repr,
)
def test_what_is_unusual_is_left_to_who_can_read_it_or_say_what_is_wrong(unusual):
    assert columns_from_rankings({"q": {"a": 1.0}, "r": unusual}) is None
