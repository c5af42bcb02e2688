"""Values of parts, merged in any order, are those of the whole run, to the last bit; no division changes the report."""

import pickle
import random

import gen
import numpy as np
import pytest

import fastir
from fastir.evaluation.partial.values import AllValues, Values

METRICS = ["ndcg@10", "map", "mrr", "bpref", "P@5"]


def states(qrels, run, n_parts, rng, **options):
    """The values of a run whose queries are divided at random, as other processes send them."""
    evaluator = fastir.Evaluator(qrels, METRICS, queries="intersection", **options)
    parts = [{} for _ in range(n_parts)]
    for query, ranking in run.items():
        rng.choice(parts)[query] = ranking
    made = [Values.from_run(evaluator.rules.prepared, part, at, part.keys) for at, part in enumerate(parts) if part]
    made = [pickle.loads(pickle.dumps(state)) for state in made]
    rng.shuffle(made)
    return made


def total_of(qrels, made):
    total = AllValues(list(qrels), np.zeros((len(qrels), len(METRICS))))
    for state in made:
        total.merge(state)
    return total


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
@pytest.mark.parametrize("options", [{}, {"ties": "average"}, {"convention": "trec_eval-9"}], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_merged_values_have_the_bits_of_the_whole_run(options, seed):
    rng = random.Random(seed)
    qrels, run = gen.collection(seed)[:2]
    run = {**run, "nobody's b": {"x": 1.0}, "nobody's a": {"x": 1.0}}
    expected = fastir.evaluate(qrels, run, METRICS, **{**options, "queries": "intersection"})
    for n_parts in (1, 3, 8):
        total = total_of(qrels, states(qrels, run, n_parts, rng, **options))
        held = total.parts >= 0
        assert [query for query, known in zip(qrels, held, strict=True) if known] == expected.query_ids
        assert total.values[held].tobytes() == expected.values.tobytes()
        report = total.coverage(fastir.Evaluator(qrels, METRICS).rules.prepared)()
        assert report.only_in_run_example == "nobody's a"
        for name in fastir.Report.__slots__:
            if name != "only_in_run_example" and not name.startswith("only_in_qrels"):
                assert getattr(report, name) == getattr(expected.report, name), name


def test_what_moves_is_values_and_no_ids():
    qrels = {f"a long name of a query {i}": {"d": 1} for i in range(1000)}
    [state] = states(qrels, {query: {"d": 1.0} for query in qrels}, 1, random.Random(0))
    assert len(pickle.dumps(state)) < 1000 * (8 * len(METRICS) + 9) + 1500


@pytest.mark.parametrize("first", [0, 4])
def test_a_query_in_two_parts_is_named_with_both(first):
    qrels = {"q": {"d": 1}, "r": {"d": 1}}
    evaluator = fastir.Evaluator(qrels, METRICS, queries="intersection")
    one, other = (
        Values.from_run(evaluator.rules.prepared, {query: {"d": 1.0} for query in queries}, part, list)
        for part, queries in ((first, "qr"), (7, "r"))
    )
    with pytest.raises(ValueError, match=f"query 'r' lie in two partitions, {first} and 7; strategy='shuffle'"):
        total_of(qrels, [one, other])


def test_values_move_to_other_qrels():
    small, large = {"b": {"d": 1}, "a": {"e": 2}}, {"a": {"e": 2}, "x": {"d": 1}, "b": {"d": 1}}
    run = {"b": {"z": 2.0, "d": 1.0}, "a": {"e": 1.0, "y": 1.0}}
    [state] = states(small, run, 1, random.Random(0))
    moved = state.at_positions(np.array([2, 0]))
    assert {first for n, first in moved.counts.values() if n == 0} == {-1}, "nothing has no example"
    total = total_of(large, [moved])
    assert total.parts.tolist() == [0, -1, 0]
    expected = fastir.evaluate(large, run, METRICS, queries="intersection")
    assert total.values[[0, 2]].tobytes() == expected.values.tobytes()
    assert total.counts["tied_queries"] == (1, 0)
