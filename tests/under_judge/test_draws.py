"""Draws of labels and their values: each draw against evaluate() on the same labels as a dict."""

import numpy as np
import pytest
from judged_by_both import HUMAN, JUDGE, METRICS, RUNS

import fastir
from fastir.analyses.under_judge.draws import Measurer, ideal_labels
from fastir.analyses.under_judge.under_judge import RunsUnderJudge

OPTIONS = (None, 0.95, 100, 3)


@pytest.fixture(scope="module")
def under_judge():
    run = {query: {**docs, "unknown": 0.1} for query, docs in RUNS["a"].items()}
    return RunsUnderJudge((JUDGE, HUMAN), {None: run}, [*METRICS, "dcg@5", "bpref"], *OPTIONS, {})


def dicts_of(pairs, labels):
    """Labels of all pairs as a dict."""
    found = {}
    for query, doc, label in zip(pairs.queries.tolist(), pairs.doc_ids, labels.tolist(), strict=True):
        found.setdefault(pairs.query_ids[query], {})[doc] = label
    return found


def test_the_values_of_a_draw_are_those_of_evaluate_on_its_labels(under_judge):
    pairs = under_judge.pairs
    run = {query: {**docs, "unknown": 0.1} for query, docs in RUNS["a"].items()}
    again = RunsUnderJudge((JUDGE, HUMAN), {None: run}, under_judge.names, *OPTIONS, {})
    again.draws = type(again.draws)(pairs, again.design, 100, 3)
    blocks = np.concatenate(list(again.draws))
    for draw in (0, 57, 99):
        results = fastir.evaluate(dicts_of(pairs, blocks[draw]), run, under_judge.names)
        assert results.query_ids == pairs.query_ids
        assert np.array_equal(results.values, under_judge.values[None][draw])


def test_labels_of_humans_stay_and_the_others_are_labels_that_humans_gave(under_judge):
    pairs = under_judge.pairs
    seen = ~pairs.open
    for labels in under_judge.draws:
        assert (labels[:, seen] == pairs.human[seen]).all()
        assert set(np.unique(labels)) <= {0, 1, 2}


def test_the_mean_of_dcg_is_its_exact_expectation(under_judge):
    """DCG is linear in the gains: the discounts times the expected labels, but for the error of the draws."""
    pairs, design = under_judge.pairs, under_judge.design
    expected = under_judge.draws.chances.sum(axis=0)[design.cells] / under_judge.n_draws
    label = np.where(pairs.open, expected, pairs.human)
    dcg = []
    for query, (start, stop) in enumerate(zip(pairs.offsets[:-1], pairs.offsets[1:], strict=True)):
        of_doc = dict(zip(pairs.doc_ids[start:stop], label[start:stop].tolist(), strict=True))
        scores = {**RUNS["a"][pairs.query_ids[query]], "unknown": 0.1}
        best = sorted(scores, key=scores.get, reverse=True)[:5]
        dcg.append(sum(of_doc.get(doc, 0.0) / np.log2(rank + 1) for rank, doc in enumerate(best, 1)))
    values = under_judge.values[None][:, :, under_judge.names.index("dcg@5")]
    error = values.std(axis=0) / np.sqrt(len(values))
    assert (np.abs(values.mean(axis=0) - dcg) < 5 * error + 1e-3).all()
    assert abs(values.mean() - np.mean(dcg)) < 4 * values.mean(axis=1).std() / 10


def test_ideal_labels_are_sorted_by_query_without_those_that_are_not_known():
    labels, offsets = np.array([[0, 2, 1, -1, 1], [0, 0, 0, -1, -1]], np.int32), np.array([0, 3, 3, 5])
    sizes, ideal = ideal_labels(labels, offsets)
    assert sizes.tolist() == [3, 0, 1, 3, 0, 0] and ideal.tolist() == [2, 1, 0, 1, 0, 0, 0]


def test_blocks_of_any_size_have_the_same_shape(under_judge):
    draws = under_judge.draws
    draws.block = 7
    assert sum(len(labels) for labels in draws) == draws.n_draws
    assert isinstance(Measurer(under_judge.pairs, None, [([0, 1], None)]).n_metrics, int)
