"""Reading the entries of CPython's dicts gives what PyDict_Next gives, in whatever way a dict came about."""

import random
import sys
import sysconfig

import numpy as np
import pytest

import fastir
from fastir.engine.columns import _entries
from fastir.engine.columns._entries import columns_from_rankings
from fastir.engine.columns.ids import Arena

KNOWN = sys.version_info < (3, 15) and sysconfig.get_config_var("Py_GIL_DISABLED") != 1
if_known = pytest.mark.skipif(not KNOWN, reason="here dicts are read by PyDict_Next")
METRICS = ["ndcg", "map", "judged@10", "num_ret"]


@if_known
def test_this_interpreter_is_as_assumed():
    assert _entries.as_assumed(_entries.samples())
    assert _entries.in_use()


@if_known
def test_samples_of_all_sizes_are_as_assumed():
    assert _entries.as_assumed([{str(i): i for i in range(n)} for n in [*range(40), 85, 86, 10_000, 43_690, 100_000]])


@if_known
@pytest.mark.parametrize("seed", range(20))
def test_a_dict_that_was_changed_at_random_is_as_assumed(seed):
    rng = random.Random(seed)
    pairs = {}
    for step in range(3000):
        key = str(rng.randrange(200)) if rng.random() < 0.999 or seed % 2 else rng.randrange(9)
        if rng.random() < 0.4:
            pairs.pop(key, None)
        else:
            pairs[key] = step
        if step % 500 == 0:
            pairs = rng.choice([dict, dict.copy, lambda held: held | {"more": 1.0}])(pairs)
    assert _entries.as_assumed([pairs])


def test_a_ranking_with_removed_documents_has_the_values_of_a_new_dict():
    rng = random.Random(1)
    run = {"q": {f"d{i}": rng.random() for i in range(500)}}
    for i in range(0, 500, 3):
        del run["q"][f"d{i}"]
    qrels = {"q": {f"d{i}": i % 3 for i in range(0, 500, 2)}}
    assert fastir.evaluate(qrels, run, METRICS) == fastir.evaluate(qrels, {"q": dict(run["q"])}, METRICS)


def test_the_attributes_of_an_object_can_be_a_ranking():
    class Ranking:
        def __init__(self):
            self.a, self.b, self.c = 1.0, 3.0, 2.0

    qrels = {"q": {"a": 1, "b": 2}}
    expected = fastir.evaluate(qrels, {"q": {"a": 1.0, "b": 3.0, "c": 2.0}}, METRICS)
    assert fastir.evaluate(qrels, {"q": vars(Ranking())}, METRICS) == expected


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


@pytest.mark.parametrize("unusual", [
    {1: 2.0}, {"a": 1}, {"a": np.float64(1.0)}, {np.str_("a"): 1.0}, {"\ud800": 1.0}, {"a": float("nan")},
    ["a"], {"b": 1.0, 7: 1.0},
], ids=repr)  # fmt: skip
def test_what_is_unusual_is_left_to_who_can_read_it_or_say_what_is_wrong(unusual):
    assert columns_from_rankings({"q": {"a": 1.0}, "r": unusual}) is None
