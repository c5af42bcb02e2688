"""Runs that are lists of ids: as evaluators, comparisons and many threads read them."""

import pickle
import threading

import numpy as np
import pytest
from common import UNEVEN
from id_lists_given import EXPECTED, FEW, QRELS, RUN, same_bits

import fastir
from fastir.engine.join._id_lists import longest_list

pytestmark = UNEVEN


def test_evaluators_comparisons_and_explanations_take_lists():
    evaluator = fastir.Evaluator(QRELS, FEW)
    assert same_bits(evaluator.evaluate(RUN), EXPECTED)
    assert same_bits(pickle.loads(pickle.dumps(evaluator)).evaluate(RUN), EXPECTED)
    many = fastir.evaluate_many(QRELS, {"a": RUN, "b": {"q1": ["d3"]}}, FEW)
    assert same_bits(many["a"], EXPECTED)
    assert many["b"].per_query("mrr") == {"q1": 1.0, "q2": 0.0, "q3": 0.0, "q4": 0.0}
    explanation = evaluator.explain(RUN, "q1")
    assert [(one.doc_id, one.rank, one.score) for one in explanation.documents[:2]] == [("d1", 1, 3.0), ("d3", 2, 2.0)]
    pytest.importorskip("scipy")
    comparison = fastir.compare(QRELS, {"a": RUN, "b": {query: docs[::-1] for query, docs in RUN.items()}}, "mrr")
    assert comparison.systems[0].mean == EXPECTED["mrr"]


def test_a_run_made_of_lists_has_the_scores_that_say_their_order(tmp_path):
    run = fastir.Run.from_dict(RUN)
    assert run["q1"] == {"d1": 3.0, "d3": 2.0, "x": 1.0}
    assert same_bits(fastir.evaluate(QRELS, run, FEW), EXPECTED)
    run.save(tmp_path / "run.json")
    assert fastir.Run.from_file(tmp_path / "run.json").to_dict() == run.to_dict()
    with pytest.raises(fastir.DuplicateError, match="duplicate document 'a' in query 'q', at ranks 1 and 2"):
        fastir.Run.from_dict({"q": ["a", "a"]})
    assert fastir.Run.from_dict({"q": ["a", "b", "a"]}, duplicates="last")["q"] == {"a": 1.0, "b": 2.0}


def test_lists_in_many_threads_give_the_same_bits():
    rng = np.random.default_rng(3)
    numbers = rng.permuted(np.tile(np.arange(500), (700, 1)), axis=1)
    relevant = numbers[:, [3, 70, 400]].tolist()
    evaluated = [fastir.evaluate_lists(numbers, relevant, FEW, n_threads=threads) for threads in (1, 4)]
    assert same_bits(*evaluated)
    evaluator, run = fastir.Evaluator(dict(enumerate(relevant)), FEW), dict(enumerate(numbers.tolist()))
    found = []
    threads = [threading.Thread(target=lambda: found.append(evaluator.evaluate(run))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and all(same_bits(one, evaluated[0]) for one in found)


def test_one_very_long_list():
    ids = list(map(str, range(300_000)))
    assert fastir.evaluate_lists([ids], [["299999"]], "mrr")["mrr"] == 1 / 300_000
    with pytest.raises(fastir.DuplicateError, match="duplicate document '7' in query 0, at ranks 8 and 300001"):
        fastir.evaluate_lists([[*ids, "7"]], [["299999"]], "mrr")


def test_the_longest_list_decides_how_a_run_is_read():
    assert longest_list({"p": ["a"], "q": ("b", "c", "d"), "r": ["a", "b"], "s": "not a list"}) == 3


@pytest.mark.parametrize("integers", [False, True])
def test_values_of_cutoffs_do_not_depend_on_how_much_of_a_list_is_read(integers):
    rng = np.random.default_rng(5)
    ids = list(range(40)) if integers else [f"d{i}" for i in range(40)]
    retrieved = [[ids[i] for i in rng.permutation(40)[: rng.integers(0, 40)]] for _ in range(60)]
    relevant = [[ids[i] for i in rng.permutation(40)[: rng.integers(0, 6)]] for _ in range(60)]
    names = [card.spelled("@3") for card in fastir.metrics() if card.cutoff and not card.sampled]
    few = fastir.evaluate_lists(retrieved, relevant, names)
    whole = fastir.evaluate_lists(retrieved, relevant, [*names, "num_ret"])
    assert few.values.tobytes() == np.ascontiguousarray(whole.values[:, :-1]).tobytes()
    assert few.report.nothing_judged == whole.report.nothing_judged > 0
    assert few.report.nothing_judged_example == whole.report.nothing_judged_example
    shown = [ranking[:3] for ranking in retrieved]
    shares = {fastir.evaluate_lists(lists, relevant, "P@3").report.unjudged_share for lists in (shown, retrieved)}
    assert len(shares) == 1


def test_what_stands_twice_behind_all_cutoffs_is_not_found():
    twice = [["a", "b", "c", "c"]]
    assert fastir.evaluate_lists(twice, [["a"]], ["P@2", "mrr@3"])["P@2"] == 0.5
    with pytest.raises(fastir.DuplicateError, match="at ranks 3 and 4"):
        fastir.evaluate_lists(twice, [["a"]], ["P@2", "mrr@4"])
    for rule in ("first", "once", "last"):
        repaired = fastir.evaluate_lists(twice, [["a"]], "P@2", duplicates=rule)
        assert repaired.report.repairs["duplicates"][0] == 1
    with pytest.raises(fastir.DuplicateError):
        fastir.evaluate_lists(twice, [["a"]], "P@2", judged_only=True)


def test_a_list_is_read_on_only_to_see_whether_it_has_a_judged_document():
    assert fastir.evaluate_lists([["a", "b", None]], [["a"]], "P@2")["P@2"] == 0.5
    with pytest.raises(TypeError, match="rank 3 of query 0"):
        fastir.evaluate_lists([["x", "b", None]], [["a"]], "P@2")
    with pytest.warns(fastir.FastirWarning, match="1 ranking holds no judged document"):
        results = fastir.evaluate_lists([["x", "y", "a"], ["x", "y", "z"]], [["a"], ["a"]], "P@2")
    assert results.report.nothing_judged == 1 and results.report.nothing_judged_example == 1


@pytest.mark.parametrize("kind", [tuple, frozenset, list, set])
def test_relevant_ids_of_any_collection_are_those_of_a_dict(kind):
    rng = np.random.default_rng(6)
    listed = [kind(f"d{i}" for i in rng.integers(0, 12, rng.integers(0, 14))) for _ in range(30)]
    found = fastir.Qrels.from_dict(dict(enumerate(listed)))
    dicts = {q: dict.fromkeys(sorted(ids) if kind in (set, frozenset) else ids, 1) for q, ids in enumerate(listed)}
    assert found.to_dict() == dicts
    assert [list(found[q]) for q in found] == [list(dicts[q]) for q in dicts]
    mixed = {**dict(enumerate(listed)), 99: {"d1": 0.5}, 100: kind(["d3"])}
    assert fastir.Qrels.from_dict(mixed).to_dict() == {**dicts, 99: {"d1": 0.5}, 100: {"d3": 1}}
    with pytest.raises(TypeError):
        fastir.Qrels.from_dict({0: {7: 1}, 1: kind(["a"])})
