"""The area under the ROC curve of the first k documents: every pair, every order of a tie, and torchmetrics."""

import itertools
import math
import random

import numpy as np
import pytest

import fastir


def by_pairs(labels, k=None, one_class=math.nan):
    kept = labels[:k]
    pairs = [(a, b) for a, b in itertools.combinations(kept, 2) if a != b]
    return sum(a > b for a, b in pairs) / len(pairs) if pairs else one_class


def value(labels, metric, scores=None, **options):
    scores = -np.arange(len(labels), dtype=float) if scores is None else scores
    return fastir.evaluate_scores(labels, scores, metric, **options)[metric]


@pytest.mark.parametrize("k", [1, 2, 3, 5, 20])
def test_it_is_the_share_of_pairs_in_the_right_order(k):
    rng = random.Random(k)
    for _ in range(200):
        labels = [rng.choice((0, 0, 1)) for _ in range(rng.randrange(1, 12))]
        assert value(labels, f"auc@{k}") == pytest.approx(by_pairs(labels, k), nan_ok=True)
        assert value(labels, f"auc(one_class=zero)@{k}") == pytest.approx(by_pairs(labels, k, 0.0))
        assert value(labels, "auc") == pytest.approx(by_pairs(labels), nan_ok=True)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 7])
def test_the_expected_value_is_the_mean_over_all_orders_of_equal_scores(k):
    rng = random.Random(k)
    for _ in range(60):
        n = rng.randrange(1, 7)
        labels, scores = [rng.randrange(2) for _ in range(n)], [float(rng.randrange(3)) for _ in range(n)]
        orders = [
            by_pairs([labels[place] for place in order], k, 0.0)
            for order in itertools.permutations(range(n))
            if all(scores[a] >= scores[b] for a, b in itertools.pairwise(order))
        ]
        expected = math.fsum(orders) / len(orders)
        metric = f"auc(one_class=zero)@{k}"
        assert value(labels, metric, scores, ties="average") == pytest.approx(expected, abs=1e-12), (labels, scores)


def test_orders_in_which_it_is_undefined_do_not_count():
    labels, scores = [1, 0, 0, 1], [2.0, 1.0, 1.0, 1.0]
    assert value(labels, "auc@2", scores, ties="average") == 1.0
    assert value(labels, "auc(one_class=zero)@2", scores, ties="average") == pytest.approx(2 / 3)
    assert value([0, 0, 1, 1], "auc@2", scores, ties="average") == 0.0
    assert math.isnan(value([1, 1, 1, 0], "auc@1", scores, ties="average"))
    assert math.isnan(value([1, 1, 1, 1], "auc@2", scores, ties="average"))


def test_a_long_tie_has_a_chance_for_every_number_of_relevant_documents():
    labels = [1, 0] * 4000
    assert value(labels, "auc@3000", np.zeros(8000), ties="average") == pytest.approx(0.5, rel=1e-9)
    assert value([1, *labels], "auc@3001", np.r_[1.0, np.zeros(8000)], ties="average") > 0.5


def test_it_is_that_of_torchmetrics():
    torch = pytest.importorskip("torch")
    retrieval = pytest.importorskip("torchmetrics.retrieval")
    rng = random.Random(3)
    sizes = [rng.randrange(1, 9) for _ in range(60)]
    labels = [rng.choice((0, 0, 1)) for _ in range(sum(sizes))]
    scores = [rng.random() + 0.01 for _ in labels]
    queries = torch.tensor([query for query, size in enumerate(sizes) for _ in range(size)])
    for k in (None, 1, 2, 4):
        peer = retrieval.RetrievalAUROC(top_k=k)(torch.tensor(scores), torch.tensor(labels), indexes=queries)
        name = "auc" if k is None else f"auc@{k}"
        ours = fastir.evaluate_scores(labels, scores, name, group=sizes, convention="torchmetrics")[name]
        assert ours == pytest.approx(float(peer), rel=1e-5)


def test_bare_lists_and_queries_that_are_dropped_or_counted():
    labels, offsets = [1, 0, 1, 0, 0, 0, 0], [0, 4, 7]
    per_query = fastir.evaluate_ranked(labels, offsets, "auc").per_query("auc")
    assert per_query[0] == 0.75 and math.isnan(per_query[1])
    means = {
        (metric, empty): fastir.evaluate_ranked(labels, offsets, metric, empty=empty)[metric]
        for metric in ("auc", "auc(one_class=zero)", "ndcg")
        for empty in ("zero", "skip")
    }
    ndcg = 1.5 / (1 + 1 / math.log2(3))
    assert means == {
        ("auc", "zero"): 0.75, ("auc", "skip"): 0.75, ("auc(one_class=zero)", "zero"): 0.375,
        ("auc(one_class=zero)", "skip"): 0.75, ("ndcg", "zero"): pytest.approx(ndcg / 2),
        ("ndcg", "skip"): pytest.approx(ndcg),
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_whether_anything_is_retrieved_is_averaged_over_one_kind_of_queries():
    """Two queries with a relevant document, one of them answered; three without, two of them answered."""
    qrels = {"a": {"x": 1}, "b": {"y": 1}, "c": {"z": 0}, "d": {}, "e": {}}
    run = {"a": {"w": 1.0}, "b": {}, "c": {"z": 1.0}, "d": {"v": 1.0}, "e": {}}
    means = fastir.evaluate(qrels, run, ["surfaced", "false_surface", "false_abstention"])
    assert list(dict(means).values()) == [3 / 5, 2 / 3, 1 / 2]
