"""Results stand alone: what becomes of the caller's dicts after the call changes nothing in them."""

import gc
import pickle
import weakref

import pytest

import fastir


class Watched(dict):
    """A dict that can be watched."""


def qrels_and_run(make):
    qrels = {"q": {make(i): int(i < 3) for i in range(40)}, "p": {make(1): 1}}
    run = {"q": {make(i): float(i) for i in range(60)}, "p": {make(1): 2.0}, "extra": {make(1): 1.0}}
    return qrels, run


KINDS = {"text": lambda i: f"d{i}", "integers": lambda i: i - 5, "some beyond 64 bits": lambda i: i + 2**63 - 20}


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("change", ["none", "clear", "delete", "replace"])
def test_the_report_counts_the_ranking_as_it_was(make, change):
    qrels, run = qrels_and_run(make)
    results = fastir.evaluate(qrels, run, "ndcg@10", queries="qrels")
    if change == "clear":
        run["q"].clear()
        run.clear()
    elif change == "delete":
        for i in range(40):
            del run["q"][make(i)]
    elif change == "replace":
        for i in range(60):
            run["q"][make(i + 100)] = run["q"].pop(make(i))
    report = results.report
    assert report.unjudged_share == 20 / 61
    assert (report.only_in_run, report.only_in_run_example) == (1, "extra")


def test_integer_ids_are_counted_as_they_are():
    """-1 and -2 have one hash in Python, as have 0 and 2^61 - 1."""
    qrels = {"q": {1: 1, -2: 0, 0: 0, 7: 0}}
    results = fastir.evaluate(qrels, {"q": {1: 3.0, -1: 2.0, 2**61 - 1: 1.0, 7: 0.5}}, "ndcg@10")
    assert results.report.unjudged_share == 2 / 4


def test_the_callers_objects_are_released():
    """Results whose report nobody reads do not keep a ranking alive, nor the run."""
    qrels, run = qrels_and_run(KINDS["text"])
    run = Watched(run, q=Watched(run["q"]))
    gone = [weakref.ref(run), weakref.ref(run["q"])]
    results = fastir.evaluate(qrels, run, "ndcg@10", queries="qrels")
    del run
    gc.collect()
    assert [watch() for watch in gone] == [None, None]
    assert results["ndcg@10"] > 0


def test_a_pickle_made_later_has_the_same_report():
    qrels, run = qrels_and_run(KINDS["text"])
    results = fastir.evaluate(qrels, run, "ndcg@10", queries="qrels")
    run["q"].clear()
    assert pickle.loads(pickle.dumps(results)).report.unjudged_share == 20 / 61
