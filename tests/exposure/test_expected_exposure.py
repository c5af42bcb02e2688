"""Expected exposure: a textbook twin, and what callers bring."""

import math
import random

import numpy as np
import pytest

import fastir

QRELS = {"q1": {"a": 1, "b": 2, "c": 0}, "q2": {"c": 1}}
GROUPS = {"a": {"m": 1}, "b": {"f": 1.0}, "c": {"m": 0.5, "f": 0.5}}
TARGET = {"m": 0.75, "f": 0.25}


def twin(rankings, relevant, groups, target, depth):
    """ee_d, ee_r and ee_l of one query."""
    exposure = dict.fromkeys(target, 0.0)
    for ranking in rankings:
        for rank, doc in enumerate(ranking, 1):
            for group, share in groups.get(doc, {}).items() if doc in relevant else ():
                exposure[group] += share / math.log2(max(rank, 2)) / len(rankings)
    available = sum(1 / math.log2(max(rank, 2)) for rank in range(1, depth + 1))
    wanted = {group: share * available for group, share in target.items()}
    return (
        sum(x * x for x in exposure.values()),
        sum(exposure[group] * wanted[group] for group in target),
        sum((exposure[group] - wanted[group]) ** 2 for group in target),
    )


@pytest.mark.parametrize("depth", [1, 20])
def test_values_are_those_of_the_twin(depth):
    rng = random.Random(3)
    docs = [f"d{i}" for i in range(15)]
    groups = {doc: {"m": share, "f": 1 - share} for doc in docs for share in [rng.random()]}
    qrels = {f"q{i}": {doc: rng.randrange(3) for doc in rng.sample(docs, 6)} for i in range(20)}
    sequences = {query: [rng.sample(docs, rng.randrange(1, 9)) for _ in range(rng.randrange(1, 5))] for query in qrels}
    found = fastir.expected_exposure(qrels, sequences, groups, TARGET, depth=depth, rel_level=2)
    expected = [
        twin(sequences[query], {doc for doc in labels if labels[doc] > 1}, groups, TARGET, depth)
        for query, labels in qrels.items()
    ]
    assert np.allclose(found.values, expected, rtol=1e-12, atol=1e-14)
    assert list(found) == ["ee_d", "ee_r", "ee_l"]


@pytest.mark.parametrize(("rankings", "m", "answered"), [
    (["abc", "cb"], 0.75, [0.25, 2.929724156856537, 32.53847895414802]),
    (["dcba"], 0.5, [1.125, 5.859448313713074, 19.924445186862727]),
    (["ad", "da", "ab"], 0.3, [1.6111111111111114, 5.468818426132202, 26.0747507634218]),
])  # fmt: skip
def test_values_are_what_the_code_of_the_track_answered(rankings, m, answered):
    """EELMetric of wptrec, fair-trec/trec2022-fair-public, with a and d relevant; its weights are single precision."""
    groups = GROUPS | {"d": {"m": 0.25, "f": 0.75}}
    qrels, target = {"q": {"a": 1, "d": 1}}, {"m": m, "f": 1 - m}
    found = fastir.expected_exposure(qrels, {"q": [list(ranked) for ranked in rankings]}, groups, target)
    assert found.values.tolist() == [pytest.approx(answered, rel=1e-6)]


def test_sequences_and_runs_have_the_same_values(tmp_path):
    sequences = {"q1": [["a", "b", "c"], ["c", "b"]], "q2": [["c"], ["a"]]}
    runs = [{query: rankings[turn] for query, rankings in sequences.items()} for turn in (0, 1)]
    scored = [{query: {doc: -rank for rank, doc in enumerate(docs)} for query, docs in run.items()} for run in runs]
    fastir.Run.from_dict(runs[0]).save(tmp_path / "first.trec")
    expected = fastir.expected_exposure(QRELS, sequences, GROUPS, TARGET).values
    for form in (
        runs,
        scored,
        [tmp_path / "first.trec", fastir.Run.from_dict(scored[1])],
        {query: tuple(rankings) for query, rankings in sequences.items()},
        {query: [run[query] for run in scored] for query in sequences},
        {"q1": [runs[0]["q1"], scored[1]["q1"]], "q2": [scored[0]["q2"], runs[1]["q2"]]},
    ):
        assert np.array_equal(fastir.expected_exposure(QRELS, form, GROUPS, TARGET).values, expected)
    one = fastir.expected_exposure(QRELS, runs[0], GROUPS, TARGET)
    assert np.array_equal(one.values, fastir.expected_exposure(QRELS, [runs[0]], GROUPS, TARGET).values)


def test_the_mean_is_over_the_rankings_that_a_query_has():
    found = fastir.expected_exposure(QRELS, {"q1": [["a"], ["a"]], "q2": [["c"]]}, GROUPS, TARGET, depth=1)
    assert found.per_query("ee_d") == {"q1": 1.0, "q2": 0.5}


def test_a_query_without_exposure_has_the_loss_of_its_target():
    found = fastir.expected_exposure(QRELS, {"q1": [["x"]]}, GROUPS, TARGET, depth=1)
    assert found.values.tolist() == [[0, 0, 0.625], [0, 0, 0.625]]
    assert found.report.only_in_qrels == 1


def test_relevant_documents_without_groups_are_told_of():
    with pytest.warns(fastir.FastirWarning, match="1 times a relevant document without groups is ranked, such as 'z'"):
        found = fastir.expected_exposure({"q": {"a": 1, "z": 1}}, {"q": ["z", "a"]}, GROUPS, TARGET)
    assert found["ee_d"] == 1


@pytest.mark.parametrize(("words", "error", "message"), [
    ({"runs": {"zz": [["a"]]}}, fastir.NoOverlapError, "the qrels have 'q1', the runs have 'zz'"),
    ({"target": {}}, ValueError, "target is empty"),
    ({"doc_groups": {"a": {"m": 2}}}, ValueError, "document 'a': the sum of its shares is 2"),
    ({"depth": 0}, ValueError, "depth"),
    ({"rel_level": "high"}, TypeError, "rel_level"),
    ({"qrels": {"q1": {"g": {"a": 1}}}}, TypeError, "needs labels"),
])  # fmt: skip
def test_what_has_no_exposure_is_refused(words, error, message):
    given = {"qrels": QRELS, "runs": {"q1": [["a"]]}, "doc_groups": GROUPS, "target": TARGET, **words}
    with pytest.raises(error, match=message):
        fastir.expected_exposure(**given)
