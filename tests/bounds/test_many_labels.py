"""Bounds where unjudged documents have more labels than can stand in the judgments; of few, by all labelings."""

import itertools
import random

import numpy as np
import pytest
from every_option import METRICS

import fastir

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")

GAINED = ["ndcg(gain={2:3,4:7})", "ndcg(gain={1:0,5:2})@3", "dcg(gain={3:-1,4:2})", "rbp(gains={1:1,2:0.5,3:1,4:2})"]
REFUSED = {"ndcg(gain={1:1,2:5})", "rbp(gains={1:0.5,2:1})"}  # gains that fall, or are scaled by the largest label
NAMES = [
    *(name for name in METRICS if name not in REFUSED),
    *GAINED,
    *("map-l4", "ndcg-l3", "r_precision-l4", "bpref-l4", "nerr(max_grade=query)@1"),
]
HIGH = [  # that have labels above 4
    *(
        "ndcg", "ndcg@1", "ndcg-l6", "ndcg_burges", "ideal_dcg@2", "map-l5", "num_rel-l7",
        "nerr(max_grade=query)", "compat",
    ),
    *("ndcg(gain={5:5.5})", "ndcg(gain={0:1,6:6.5})@3", "ndcg(gain={3:2,5:5,6:5})", "ndcg(gain={4:3},ideal=retrieved)"),
    *(
        "dcg(gain={5:-3})", "dcg(gain={3:20})", "dcg(gain={2:0.5,3:0.25})", "rbp(gains={5:9,7:0.5})",
        "rbp(gains=scaled)",
    ),
]  # fmt: skip
KNOWN = [0], [0, 2], [0, 1, 4]  # the labels of judgments, by seed


def cases(seed, n=12):
    """Judgments of queries with one or two unjudged documents, and their rankings."""
    random_ = random.Random(seed)
    qrels, run = {}, {}
    for number in range(n):
        docs = [f"d{i}" for i in range(random_.randint(1, 7))]
        unjudged = random_.sample(docs, min(len(docs), random_.randint(1, 2)))
        labels = {doc: random_.choice(KNOWN[seed]) for doc in docs if doc not in unjudged}
        labels |= {f"u{i}": random_.choice([-1, *KNOWN[seed]]) for i in range(random_.randint(0, 3))}
        qrels[f"q{number}"] = labels or {"u": 0}
        run[f"q{number}"] = {doc: random_.random() for doc in docs}
    return qrels, run


def enumerated(qrels, run, metrics, max_label, **options):
    """{query_id: the values of all labelings, of shape (n_labelings, n_metrics)}."""
    labeled, query_of = {}, []
    for query_id, labels in qrels.items():
        unjudged = [doc for doc in run[query_id] if labels.get(doc, -1) < 0]
        for number, given in enumerate(itertools.product(range(max_label + 1), repeat=len(unjudged))):
            labeled[f"{query_id} {number}"] = {**labels, **dict(zip(unjudged, given, strict=True))}
            query_of.append(query_id)
    rankings = {name: run[name.split()[0]] for name in labeled}
    values = fastir.evaluate(labeled, rankings, metrics, queries="qrels", **options).values
    return {query_id: values[[other == query_id for other in query_of]] for query_id in qrels}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("names", "max_label", "options"), [
    (NAMES, 4, {}),
    (NAMES, 4, {"empty": "nan", "rel_level": 3}),
    (HIGH, 9, {"rel_level": 4}),
    (HIGH, 9, {"empty": "one"}),
], ids=["all metrics", "all metrics, options", "high labels, rel_level", "high labels, empty"])  # fmt: skip
def test_labels_between_those_of_the_judgments_have_bounds_of_all_labelings(seed, names, max_label, options):
    qrels, run = cases(seed)
    values = enumerated(qrels, run, names, max_label, **options)
    found = fastir.bounds(qrels, run, names, max_label=max_label, queries="qrels", **options)
    for row, query_id in enumerate(found.value.query_ids):
        for column, name in enumerate(found.value.names):
            own = values[query_id][:, column]
            some, left_out = own[~np.isnan(own)], np.isnan(own).any()
            slack = 1e-12 * np.abs(some).max(initial=0.0)
            for bound, sign in ((found.lower.values[row, column], 1), (found.upper.values[row, column], -1)):
                where = (name, qrels[query_id], run[query_id], bound, sign, own)
                if np.isnan(bound):
                    assert left_out, where  # and the mean is more extreme without this query
                    continue
                assert (sign * bound <= sign * some + slack).all(), where
                assert bound in some or not found.exact[name], where


def test_documents_below_the_depth_gain_what_a_metric_gives_documents_without_a_judgment():
    ranking = {f"d{i}": -float(i) for i in range(100_000)}
    metric = "dcg(gain={-1:0.5})"
    found = fastir.bounds({"q": {"d1": 1}}, {"q": ranking}, metric, max_label=2, pool_depth=1)
    ends = [fastir.evaluate({"q": {"d0": label, "d1": 1}}, {"q": ranking}, metric)[metric] for label in (0, 2)]
    assert [found.lower[metric], found.upper[metric]] == ends and found.exact[metric]
