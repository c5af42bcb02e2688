"""Accumulator: the means of all batches are those of one call, to the last bit, in any order and any tree of merges."""

import math
import pickle
import random

import numpy as np
import pytest
from common import UNEVEN

import fastir

pytestmark = UNEVEN

# One of each kind of aggregation: mean, geometric, sum, count, and NaN left out or not.
METRICS = [
    "ndcg@10", "map", "mrr(empty=skip)", "mrr(empty=nan)", "gm_map", "gm_map(empty=nan)", "num_rel_ret",
    "num_q", "dcg", "bpref",
]  # fmt: skip


def batches(seed=0, n=12):
    """Batches of one to forty queries, of which one has none with a relevant document."""
    rng = np.random.default_rng(seed)
    for number in range(n):
        sizes = rng.integers(0, 30, rng.integers(1, 40))
        labels = rng.choice(4, sizes.sum(), p=[0.7, 0.1, 0.1, 0.1]) * (number != 3)
        yield {"labels": labels, "scores": rng.integers(0, 50, sizes.sum()).astype("f4"), "group": sizes}


def together(parts):
    """All batches as one."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def same(got, expected):
    """Equal to the last bit, or both NaN."""
    assert got.keys() == dict(expected).keys()
    for name, value in got.items():
        assert type(value) is float
        assert value == expected[name] or (math.isnan(value) and math.isnan(expected[name])), name


def filled(parts, **options):
    total = fastir.Accumulator(METRICS, **options)
    for part in parts:
        total.update(**part)
    return total


@pytest.mark.parametrize("options", [
    {},
    {"rel_level": 2, "ties": "pessimistic"},
    {"convention": "lightgbm"},
    {"max_depth": 5, "score_dtype": "float32", "n_threads": 2},
], ids=str)  # fmt: skip
def test_batches_are_as_one_call(options):
    parts = list(batches())
    total = filled(parts, **options)
    expected = fastir.evaluate_scores(metrics=METRICS, **together(parts), **options)
    same(total.result(), expected)
    assert total.n_queries == len(expected.query_ids)


def test_any_order_of_batches_and_merges_and_pickles():
    parts = list(batches())
    expected = fastir.evaluate_scores(metrics=METRICS, **together(parts))
    rng = random.Random(1)
    for _ in range(10):
        rng.shuffle(parts)
        several = [filled(parts[start::3]) for start in range(3)]
        rng.shuffle(several)
        a, b, c = (pickle.loads(pickle.dumps(each)) for each in several)
        b.merge(c)
        a.merge(b)
        same(a.result(), expected)
        same(c.result(), several[2].result())


def test_weights():
    parts = list(batches())
    rng = np.random.default_rng(2)
    for part in parts:
        part["weights"] = rng.choice([0.0, 0.1, 1 / 3, 2.0], len(part["group"]))
    expected = fastir.evaluate_scores(metrics=METRICS, **together(parts))
    same(filled(parts).result(), expected)
    same(filled(parts[::-1]).result(), expected)


def test_each_form_of_a_batch():
    """Labels in rank order, labels with scores, a matrix of scores, lists of items."""
    labels = [0, 1, 0, 1, 1, 0]
    ranked, scored = fastir.Accumulator("mrr"), fastir.Accumulator("mrr", ties="input", score_dtype="float32")
    ranked.update(labels, offsets=[0, 3, 6])
    ranked.update([0, 1], offsets=[0, 2], ideal_labels=[1, 1], ideal_offsets=[0, 2])
    scored.update(labels, [3, 2, 1, 3, 2, 1], qid=["a", "a", "a", "b", "b", "b"])
    scored.update(labels[:3], offsets=[0, 3])
    assert ranked.result() == {"mrr": 2 / 3} and scored.result() == {"mrr": 2 / 3}
    items = fastir.Accumulator("mrr", max_depth=2, ties="pessimistic")
    items.update(scores=np.array([[3.0, 2.0, 1.0], [3.0, 2.0, 1.0]]), relevant=[[1], [2]])
    assert items.result() == {"mrr": 0.25}
    items.update(indices=np.array([[0, 1], [1, 0]]), relevant=[[1], [1]])
    assert items.result() == {"mrr": 0.5} and items.n_queries == 4


def test_without_batches():
    assert fastir.Accumulator(["num_q", "num_ret"]).result() == {"num_q": 0.0, "num_ret": 0.0}
    same(fastir.Accumulator(METRICS).result(), fastir.evaluate_scores([], [], METRICS, group=[]))


def test_a_batch_that_fails_leaves_everything_as_it_was():
    total = fastir.Accumulator("mrr")
    total.update([1], [1])
    with pytest.raises(ValueError, match="scores: NaN in row 1"):
        total.update([1, 0], [1, math.nan])
    assert total.result() == {"mrr": 1.0} and total.n_queries == 1


def test_refused():
    with pytest.raises(fastir.UnknownMetricError, match="unknown metric 'ndgc'"):
        fastir.Accumulator("ndgc")
    with pytest.raises(ValueError, match="rel_level"):
        fastir.Accumulator("map", rel_level=0)
    total = fastir.Accumulator("map")
    with pytest.raises(TypeError, match="a batch needs labels"):
        total.update()
    with pytest.raises(TypeError, match="labels and relevant"):
        total.update([1], relevant=[[1]])
    for other in (fastir.Accumulator("mrr"), fastir.Accumulator("map", rel_level=2)):
        with pytest.raises(ValueError, match="different metrics or options"):
            total.merge(other)
    with pytest.raises(TypeError, match="merged only with an Accumulator, got dict"):
        total.merge({})


def test_the_max_depth_of_a_batch_counts():
    batch = {"scores": [[0.1, 0.9, 0.5, 0.3]], "relevant": [[1, 3]]}
    cases = ({}, {"max_depth": 3}, 2.0), ({}, {"max_depth": 1}, 1.0), ({"max_depth": 1}, {}, 1.0), ({}, {}, 2.0)
    for options, given, wanted in cases:
        total = fastir.Accumulator("num_rel_ret", **options)
        total.update(**batch, **given)
        assert total.result() == {"num_rel_ret": wanted}


def test_batches_of_matrices_of_ratings_and_of_lists_with_excluded_items():
    rng = np.random.default_rng(6)
    labels, scores = rng.integers(0, 3, (20, 8)), rng.random((20, 8))
    ratings = [{int(item): 4.5 - item / 2 for item in rng.permutation(8)[:4]} for _ in range(20)]
    seen, lists = [[0, 5]] * 20, np.argsort(-scores, axis=1)
    rows = fastir.Accumulator(["ndcg@5", "mrr"])
    items, top = fastir.Accumulator(["ndcg@5", "mrr"]), fastir.Accumulator(["ndcg@5", "mrr"])
    for part in (slice(0, 7), slice(7, 20)):
        rows.update(labels[part], scores[part])
        items.update(scores=scores[part], relevant=ratings[part], exclude=seen[part], threshold=3.5)
        top.update(indices=lists[part], relevant=ratings[part], exclude=seen[part], threshold=3.5)
    assert rows.result() == dict(fastir.evaluate_scores(labels, scores, ["ndcg@5", "mrr"]))
    expected = dict(fastir.evaluate_matrix(scores, ratings, ["ndcg@5", "mrr"], exclude=seen, threshold=3.5))
    assert items.result() == top.result() == expected


def test_a_batch_of_runs_reads_the_judgments_of_its_queries_alone():
    qrels = {f"q{i}": {"a": i % 3, "b": 1} for i in range(50)}
    run = {f"q{i}": {"x": 3.0, "b": 2.0, "a": 1.0} for i in range(40, 55)}
    total, whole = fastir.Accumulator(["mrr", "ndcg@10"]), fastir.Accumulator(["mrr", "ndcg@10"])
    total.update(run=run, qrels={**qrels, "q1": {"a": "no label"}})
    whole.update(run=run, qrels=fastir.Qrels.from_dict(qrels))
    assert total.n_queries == whole.n_queries == 10
    assert total.result() == whole.result()
