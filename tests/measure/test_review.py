"""Metrics of technology-assisted review: values by hand, tar_eval's numbers, and bounds that no labels leave."""

import itertools

import pytest

import fastir

QRELS = {"q": {"a": 1, "b": 0, "c": 1, "d": 2}}
RUN = {"q": {"a": 5.0, "x": 4.0, "c": 3.0, "b": 2.0}}  # relevant at ranks 1 and 3; d is not retrieved

# scripts/tar_eval_2018.py of CLEF-TAR/tar (dbc13d0), task 2: the labels of all documents of a topic in rank order, the
# rank at which the review stops, and the unrounded values of the metrics below
METRICS = ("wss(wanted=nearest)@0.95", "wss@1", "last_rel", "loss_er", "ncg_share@0.1", "ncg_share@0.5")
TOPICS = [
    ("110000001000", 4,
     [0.2, 0.25, 9, 0.2158439899037505, 0.3333333333333333, 0.6666666666666666]),
    ("10110000000110000000", 6,
     [0.3, 0.35, 13, 0.2416326530612245, 0.2, 0.6]),
    ("1100001010000100011101000000000", 10,
     [0.24032258064516132, 0.2903225806451613, 22, 0.39622574151744117, 0.2222222222222222, 0.5555555555555556]),
    ("1000000000000000000000000000000000000000", 13,
     [0.9249999999999999, 0.975, 1, 0.10354377021860603, 1.0, 1.0]),
    ("1111111101001111000001010001011100100", 12,
     [0.08513513513513514, 0.05405405405405406, 35, 0.375546018991965, 0.2, 0.65]),
]  # fmt: skip


@pytest.mark.parametrize(("metric", "by_hand"), [
    ("wss(n_docs=20)@0.6", (20 - 3) / 20 - 0.4), ("wss(n_docs=20)", -0.05),
    ("wss(n_docs=20,wanted=nearest)@0.4", (20 - 1) / 20 - 0.6), ("ncg_share(n_docs=20)@0.1", 1 / 3),
    ("ncg_share(n_docs=20)@1", 2 / 3), ("loss_er(n_docs=20,b=2)@3", (1 / 3) ** 2 + (2 / 20 * 3 / 5) ** 2),
    ("fallout(n_docs=20)", 2 / 17), ("fallout(n_docs=20)@3-l2", 3 / 19),
])  # fmt: skip
def test_by_hand(metric, by_hand):
    assert fastir.evaluate(QRELS, RUN, metric)[metric] == pytest.approx(by_hand, rel=1e-14)


@pytest.mark.parametrize(("labels", "stop", "wanted"), TOPICS)
def test_values_are_those_of_tar_eval(labels, stop, wanted):
    ranked = list(map(int, labels))
    names = [f"{name}@{stop}" if name == "loss_er" else name for name in METRICS]
    found = fastir.evaluate_ranked(ranked, [0, len(ranked)], names, n_docs="judged")
    assert [found[name] for name in names] == pytest.approx(wanted, rel=1e-13)
    assert dict(found) == dict(fastir.evaluate_ranked(ranked, [0, len(ranked)], names, n_docs=len(ranked)))


def test_real_labels_are_relevant_from_the_level_up():
    qrels = {"q": {"a": 0.5, "b": 0.2, "c": 0.92, "d": 0.7}}
    names = ["wss(n_docs=20)@0.6", "ncg_share(n_docs=20)@0.1", "loss_er(n_docs=20)@3", "fallout(n_docs=20)"]
    found = fastir.evaluate(qrels, RUN, names, rel_level=0.5)
    assert found.values.tolist() == fastir.evaluate(QRELS, RUN, names).values.tolist()


@pytest.mark.parametrize(
    "metric", ["wss(n_docs=9)@0.5", "ncg_share(n_docs=9)@0.3", "loss_er(n_docs=9)@2", "fallout(n_docs=9)@2"]
)
def test_no_labels_of_unjudged_documents_leave_the_bounds(metric):
    run = {"q": {"a": 5.0, "x": 4.0, "y": 3.0, "c": 2.0, "z": 1.0}}
    bounds = fastir.bounds(QRELS, run, metric)
    values = [
        fastir.evaluate({"q": {**QRELS["q"], **dict(zip("xyz", labels, strict=True))}}, run, metric)[metric]
        for labels in itertools.product((0, 1, 2), repeat=3)
    ]
    assert bounds.lower[metric] <= min(values) and max(values) <= bounds.upper[metric]
    assert bounds.outer[metric] or (bounds.lower[metric], bounds.upper[metric]) == (min(values), max(values))
