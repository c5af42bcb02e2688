"""Bounds against all labelings of up to eight unjudged documents, for every metric and option."""

import itertools
import math
import random

import numpy as np
import pytest
from every_labeling import case, check
from every_option import METRICS

import fastir

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
OPTIONS = [
    {}, {"judged_only": True}, {"max_depth": 4}, {"rel_level": 2}, {"empty": "one"},
    {"empty": "nan", "judged_only": True, "max_depth": 6}, {"rel_level": 2, "empty": "one"},
]  # fmt: skip


@pytest.mark.parametrize("depth", [None, 3])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("max_label", [1, 2])
def test_bounds_are_those_of_all_labelings(options, depth, max_label):
    number = 10 * OPTIONS.index(options) + 100 * max_label
    check(*case(number, 5, max_label), METRICS, max_label, depth, **options)


@pytest.mark.parametrize(("unseen", "max_label"), [(1, 2), (2, 2), (4, 1)])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_bounds_with_unseen_documents_are_those_of_all_labelings(options, unseen, max_label):
    number = 10 * OPTIONS.index(options) + 100 * max_label + 1000 * unseen
    check(*case(number, 4 - unseen // 2, max_label), METRICS, max_label, unseen % 2 + 1, unseen, **options)


def test_a_relevant_document_that_was_not_retrieved_lowers_what_divides_by_all_relevant_ones():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 2.0, "b": 1.0}}
    names = ["ndcg@2", "recall", "map", "P@2"]
    assert fastir.bounds(qrels, run, names).lower["ndcg@2"] == 1.0
    found = fastir.bounds(qrels, run, names, unseen=1, max_label=3)
    expected = fastir.evaluate({"q": {"a": 1, "b": 0, "c": 3}}, run, names)
    assert {name: found.lower[name] for name in names} == dict(expected.items())
    assert found.upper["ndcg@2"] == 1.0 and found.unseen == 1
    assert "labels of retrieved unjudged documents, and of 1 document outside the ranking, from 0 to 3" in repr(found)


@pytest.mark.parametrize("seed", range(6))
def test_of_many_unseen_documents_no_labeling_is_beyond_the_bounds(seed):
    rng = random.Random(seed)
    labels, ranking = case(seed, 5, 2)
    found = fastir.bounds({"q": labels}, {"q": ranking}, METRICS, unseen=40, max_label=2, queries="qrels")
    docs = [doc for doc in ranking if labels.get(doc, -1) < 0] + [f"unseen{i}" for i in range(40)]
    most = [
        {**labels, **{doc: rng.choice(some) for doc in docs}} for some in ((0, 2), (2,), (0,), (0, 1, 2), (0, 0, 1))
    ]
    qrels = {str(i): judged for i, judged in enumerate(most)}
    values = fastir.evaluate(qrels, dict.fromkeys(qrels, ranking), METRICS, queries="qrels").values
    for column, name in enumerate(found.lower.names):
        own = values[:, column][~np.isnan(values[:, column])]
        slack = 1e-12 * max(1.0, np.abs(own).max(initial=0))
        assert (own >= found.lower.values[0, column] - slack).all(), name
        assert (own <= found.upper.values[0, column] + slack).all(), name


@pytest.mark.parametrize(("given", "message"), [
    ({"unseen": -1}, "unseen must be at least 0, got -1"),
    ({"unseen": 10**6 + 1}, "unseen"),
    ({"unseen": 1, "against": {"q": {"b": 1.0}}}, "unseen: differences of two runs have bounds over the documents"),
])  # fmt: skip
def test_how_many_documents_may_be_unseen(given, message):
    with pytest.raises(ValueError, match=message):
        fastir.bounds({"q": {"a": 1}}, {"q": {"a": 1.0}}, "map", **given)


@pytest.mark.parametrize("least", [None, 0.3, 0.6, 2.0])
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
def test_metrics_of_silence_have_the_extremes_over_all_labels_of_what_is_retrieved(least, seed):
    rng = random.Random(seed)
    qrels = {f"q{i}": {f"j{j}": rng.choice((0, 0, 1)) for j in range(rng.randrange(1, 3))} for i in range(4)}
    run = {query: {f"u{j}": rng.random() for j in range(rng.randrange(3))} | dict.fromkeys(docs, rng.random())
           for query, docs in qrels.items()}  # fmt: skip
    low = {} if least is None else {"min_score": least}
    metrics = ["surfaced", "false_surface", "false_abstention", "p@2"]
    found = fastir.bounds(qrels, run, metrics, max_label=1, **low)
    free = [(query, doc) for query, docs in run.items() for doc, score in docs.items()
            if doc not in qrels[query] and (least is None or score >= least)]  # fmt: skip
    values = []
    for labels in itertools.product((0, 1), repeat=len(free)):
        judged = {query: dict(docs) for query, docs in qrels.items()}
        for (query, doc), label in zip(free, labels, strict=True):
            judged[query][doc] = label
        values.append([fastir.evaluate(judged, run, metrics, **low)[metric] for metric in metrics])
    for metric, column in zip(metrics, zip(*values, strict=True), strict=True):
        ends = [value for value in column if value == value]
        if not ends:
            assert math.isnan(found.lower[metric]) and math.isnan(found.upper[metric])
        elif found.exact[metric]:
            assert (found.lower[metric], found.upper[metric]) == pytest.approx((min(ends), max(ends)))
        else:
            assert found.lower[metric] <= min(ends) and max(ends) <= found.upper[metric]
