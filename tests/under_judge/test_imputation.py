"""The model of human labels: its mode, its draws, and the scores that say how far a query moved it."""

import numpy as np
import pytest

from fastir.analyses.under_judge.imputation import KnownPairs, LabelModel, fit, logistic


def pairs_and_outcome(seed=0, n_queries=40, n=30, rate=0.0):
    random = np.random.default_rng(seed)
    queries = np.repeat(np.arange(n_queries), n)
    x = np.stack([np.ones(len(queries)), random.normal(0, 1, len(queries))], axis=1)
    effects = random.normal(0, 0.8, n_queries)
    outcome = (random.random(len(queries)) < logistic(x @ [rate, 1.0] + effects[queries])).astype(float)
    return KnownPairs(x, queries, n_queries), outcome


PRIOR = np.array([1e-3, 0.16])


def test_the_mode_balances_what_was_seen_and_the_priors():
    pairs, outcome = pairs_and_outcome()
    found = fit(pairs, outcome, PRIOR)
    excess = outcome - logistic(pairs.design @ found.beta + found.effects[pairs.queries])
    assert pairs.design.T @ excess == pytest.approx(PRIOR * found.beta, abs=0.05)
    by_query = np.bincount(pairs.queries, excess)
    assert np.allclose(by_query, found.effects * (by_query @ found.effects) / (found.effects @ found.effects), atol=0.2)
    assert found.beta == pytest.approx([0.0, 1.0], abs=0.4)


def test_draws_have_the_mode_and_the_joint_precision():
    pairs, outcome = pairs_and_outcome()
    found = fit(pairs, outcome, PRIOR)
    beta, effects = found.draw(np.random.default_rng(1), 20_000)
    assert beta.mean(axis=0) == pytest.approx(found.beta, abs=0.01)
    covariance = np.linalg.inv(found.factor @ found.factor.T)
    assert np.cov(beta.T) == pytest.approx(covariance, abs=0.05 * covariance.max())
    whole = np.block(
        [
            [found.factor @ found.factor.T + found.cross.T @ (found.cross / found.precision[:, None]), found.cross.T],
            [found.cross, np.diag(found.precision)],
        ]
    )
    assert effects.var(axis=0) == pytest.approx(np.diag(np.linalg.inv(whole))[2:], rel=0.1)


def test_a_query_without_labels_is_drawn_from_the_other_queries():
    pairs, outcome = pairs_and_outcome()
    more = KnownPairs(pairs.design, pairs.queries, pairs.n_queries + 1)
    found = fit(more, outcome, PRIOR)
    _, effects = found.draw(np.random.default_rng(1), 20_000)
    assert found.effects[-1] == 0.0
    assert effects[:, -1].var() == pytest.approx(1 / found.precision[-1], rel=0.1) and found.precision[-1] < 5


def test_scores_are_how_far_leaving_a_query_out_moves_the_coefficients():
    pairs, outcome = pairs_and_outcome(n_queries=30, n=40)
    found = fit(pairs, outcome, PRIOR)
    scores = found.leave_out_scores(pairs, outcome)
    covariance = np.linalg.inv(found.factor @ found.factor.T)
    moved, expected = [], []
    for query in range(30):
        kept = pairs.queries != query
        left_out = fit(KnownPairs(pairs.design[kept], pairs.queries[kept], 30), outcome[kept], PRIOR)
        moved.append(found.beta - left_out.beta)
        expected.append(covariance @ scores[query])
    for column in range(2):
        assert np.corrcoef(np.array(moved)[:, column], np.array(expected)[:, column])[0, 1] > 0.95
    assert np.std(expected, axis=0) == pytest.approx(np.std(moved, axis=0), rel=0.25)


def test_rare_labels_are_not_drawn_too_often():
    """The mean over draws is the probability at the mode, although the curve bends."""
    pairs, outcome = pairs_and_outcome(rate=-5.0)
    labels = outcome.astype(np.int64)
    model = LabelModel(pairs, labels, PRIOR)
    drawn = model.draw(np.random.default_rng(2), 2000)
    (above,) = model.of_cells(pairs.design, pairs.queries).thresholds(drawn)
    assert above.mean() / 65536 == pytest.approx(outcome.mean(), rel=0.15)


def test_three_levels_are_a_chain_of_two_regressions():
    pairs, outcome = pairs_and_outcome()
    labels = (outcome * np.random.default_rng(0).integers(1, 3, len(outcome))).astype(np.int64) * 2
    model = LabelModel(pairs, labels, PRIOR)
    assert model.levels.tolist() == [0, 2, 4] and len(model.fits) == 2 and model.scores.shape == (40, 4)
    drawn = model.draw(np.random.default_rng(2), 500)
    low, high = model.of_cells(pairs.design, pairs.queries).thresholds(drawn)
    assert (high <= low).all()
    assert low.mean() / 65536 == pytest.approx((labels >= 2).mean(), abs=0.02)
    assert high.mean() / 65536 == pytest.approx((labels >= 4).mean(), abs=0.02)


def test_one_human_level_needs_no_regression():
    pairs, outcome = pairs_and_outcome()
    model = LabelModel(pairs, np.zeros(len(outcome), np.int64), PRIOR)
    assert model.fits == [] and model.scores.shape == (40, 0) and model.draw(np.random.default_rng(0), 5) == []
