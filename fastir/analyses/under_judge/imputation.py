"""What a human would have said, given the judge's label: a regression on the pairs that both judged, and draws from it.

    P(label >= l | label >= l - 1) = logistic(x·beta_l + u_lq)       for each human level l above the lowest

The columns of x are in `pairs.py`; u is an effect of the query. If a judge's errors depend on the true label alone, the
log-odds of relevance are the sum of what the judge's label, the rank and the query say (Bayes' rule), so that a model
without interactions is right. Coefficients have normal priors, and the variance of u is estimated (EM).
Draws are of beta and u together, from the normal approximation at the mode, so that they carry the uncertainty of the
human sample.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

MAX_STEPS = 30  # of Newton, between which the variance of the query effects is updated
TOLERANCE = 1e-4  # of the coefficients
PRIOR_QUERIES, PRIOR_VARIANCE = 4.0, 0.25  # the prior of the variance of query effects: as so many queries
MAX_LOGIT = 30.0


class KnownPairs(NamedTuple):
    """The pairs that both judged, ordered by query."""

    design: np.ndarray  # float64 of shape (n_pairs, n_columns)
    queries: np.ndarray  # int64 of shape (n_pairs,), never decreasing
    n_queries: int


class Fit(NamedTuple):
    """The mode of one regression, and what its normal approximation is drawn from."""

    beta: np.ndarray
    effects: np.ndarray  # float64 of shape (n_queries,)
    factor: np.ndarray  # the Cholesky factor of the precision of beta, effects integrated out
    cross: np.ndarray  # float64 of shape (n_queries, n_columns)
    precision: np.ndarray  # float64 of shape (n_queries,): of an effect, given beta

    def draw(self, random: np.random.Generator, n_draws: int) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients and query effects: of shapes (n_draws, n_columns) and (n_draws, n_queries)."""
        off = np.linalg.solve(self.factor.T, random.standard_normal((len(self.beta), n_draws))).T
        effects = random.standard_normal((n_draws, len(self.effects))) / np.sqrt(self.precision)
        return self.beta + off, self.effects + effects - (off @ self.cross.T) / self.precision

    def leave_out_scores(self, pairs: KnownPairs, outcome: np.ndarray) -> np.ndarray:
        """Each query's part of the slope of the likelihood, as large as for coefficients fitted without the query.

        The covariance of the coefficients times this is how far the query moved them (the jackknife to first order).
        """
        scores = np.zeros((pairs.n_queries, len(self.beta)))
        chance = logistic(pairs.design @ self.beta + self.effects[pairs.queries])
        bounds = np.searchsorted(pairs.queries, np.arange(pairs.n_queries + 1)).tolist()
        identity = np.eye(len(self.beta))
        covariance = np.linalg.solve(self.factor.T, np.linalg.solve(self.factor, identity))
        for query, (start, stop) in enumerate(itertools.pairwise(bounds)):
            if start < stop:
                rows, p, cross = pairs.design[start:stop], chance[start:stop], self.cross[query]
                inner = rows.T @ (rows * (p * (1 - p))[:, None]) - np.outer(cross, cross) / self.precision[query]
                scores[query] = np.linalg.solve(identity - inner @ covariance, rows.T @ (outcome[start:stop] - p))
        return scores

    def centre(self, columns: np.ndarray, queries: np.ndarray) -> np.ndarray:
        """What is taken off the log-odds of each cell, so that the mean over draws is the probability at the mode.

        The likelihood is calibrated at the mode, but the mean of a curve is not the curve of the mean: a rare label
        that was seen k times would be drawn exp(1 / 2k) times as often.
        """
        apart = columns - (self.cross / self.precision[:, None])[queries]
        variance = (np.linalg.solve(self.factor, apart.T) ** 2).sum(axis=0) + 1 / self.precision[queries]
        return variance * (0.5 - logistic(columns @ self.beta + self.effects[queries]))


def fit(pairs: KnownPairs, outcome: np.ndarray, prior: np.ndarray) -> Fit:
    """The regression of a 0/1 outcome; `prior` is the precision of each coefficient."""
    x, queries, n_queries = pairs
    starts = np.flatnonzero(np.diff(queries, prepend=-1))
    present = queries[starts]
    beta, effects, variance = np.zeros(x.shape[1]), np.zeros(n_queries), PRIOR_VARIANCE
    for _ in range(MAX_STEPS):
        chance = logistic(x @ beta + effects[queries])
        weight = chance * (1 - chance)
        weighted = x * weight[:, None]
        cross, precision = np.zeros((n_queries, x.shape[1])), np.full(n_queries, 1 / variance)
        slope = -effects / variance
        if len(x):
            cross[present] = np.add.reduceat(weighted, starts)
            precision[present] += np.add.reduceat(weight, starts)
            slope[present] += np.add.reduceat(outcome - chance, starts)
        inner = x.T @ weighted + np.diag(prior) - cross.T @ (cross / precision[:, None])
        factor = np.linalg.cholesky(inner)
        gradient = x.T @ (outcome - chance) - prior * beta - cross.T @ (slope / precision)
        step = np.linalg.solve(factor.T, np.linalg.solve(factor, gradient))
        step *= min(1.0, 3.0 / max(np.abs(step).max(), 1e-300))
        beta = beta + step
        effects = effects + (slope - cross @ step) / precision
        spread = np.linalg.solve(factor, cross.T)
        uncertainty = 1 / precision + (spread**2).sum(axis=0) / precision**2
        old, variance = (
            variance,
            ((effects**2 + uncertainty)[present].sum() + PRIOR_QUERIES * PRIOR_VARIANCE)
            / (len(present) + PRIOR_QUERIES),
        )
        if np.abs(step).max() < TOLERANCE and abs(variance - old) < 1e-2 * old:
            break
    return Fit(beta, effects, factor, cross, precision)


def logistic(logits: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-np.clip(logits, -MAX_LOGIT, MAX_LOGIT)))


class LabelModel:
    """The regressions of all human levels above the lowest; what the estimator's variance needs of them."""

    levels: np.ndarray  # int32: the human levels, ascending
    fits: list[Fit]
    scores: np.ndarray  # float64 of shape (n_queries, n_coefficients): the `leave_out_scores`

    def __init__(self, pairs: KnownPairs, labels: np.ndarray, prior: np.ndarray) -> None:
        self.levels = np.unique(labels)
        self.fits, scores = [], []
        for below, level in zip(self.levels[:-1], self.levels[1:], strict=True):
            kept = labels >= below
            part = KnownPairs(pairs.design[kept], pairs.queries[kept], pairs.n_queries)
            outcome = (labels[kept] >= level).astype(float)
            fitted = fit(part, outcome, prior)
            self.fits.append(fitted)
            scores.append(fitted.leave_out_scores(part, outcome))
        self.scores = np.concatenate(scores, axis=1) if scores else np.zeros((pairs.n_queries, 0))

    def draw(self, random: np.random.Generator, n_draws: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Coefficients and query effects of each regression."""
        return [each.draw(random, n_draws) for each in self.fits]

    def of_cells(self, columns: np.ndarray, queries: np.ndarray) -> CellModel:
        """The regressions of cells, each with a row of columns and a query."""
        centres = [fitted.centre(columns, queries).astype(np.float32) for fitted in self.fits]
        return CellModel(columns.astype(np.float32), queries, centres)


class CellModel(NamedTuple):
    """What all draws share of the probabilities of cells."""

    columns: np.ndarray  # float32 of shape (n_cells, n_columns)
    queries: np.ndarray
    centres: list[np.ndarray]  # for each regression the `centre` of all cells, as float32

    def thresholds(self, drawn: list[tuple[np.ndarray, np.ndarray]]) -> list[np.ndarray]:
        """P(label >= level) of each cell, in units of 2^-16: for each level an array of shape (n_draws, n_cells)."""
        above: list[np.ndarray] = []
        for centre, (beta, effects) in zip(self.centres, drawn, strict=True):
            log_odds = beta.astype(np.float32) @ self.columns.T + effects.astype(np.float32)[:, self.queries]
            chance = logistic(log_odds - centre)
            above.append(chance * above[-1] if above else chance)
        return [np.minimum(chance * 65536 + 0.5, 65535).astype(np.uint16) for chance in above]
