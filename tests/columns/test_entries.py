"""Reading the entries of CPython's dicts gives what PyDict_Next gives, in whatever way a dict came about."""

import random
import sys
import sysconfig

import pytest

import fastir
from fastir.engine.columns import _entries

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
