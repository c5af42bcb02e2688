"""Abstention: how sure a run is of each query, by its scores, and what its means gain without the others.

A curve is the mean of a metric over the remaining queries if those with the least confidence are left out, at each of
RATES. The area below it is normalised: 0 for leaving out queries at random, 1 for leaving out the worst ones.
"""

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

ABSTENTION_RATES = np.linspace(0, 1, 11)[:-1]  # the shares of the queries that are left out
BLOCK_RANKINGS = 256  # rankings that one array of scores holds


def evaluate_abstention(
    results: Mapping[str, Mapping[str, float]], metric_scores: Mapping[str, Sequence[float]]
) -> dict[str, float]:
    """The normalised areas of some metrics, ``{"nAUC_NDCG@10_max": area, ...}``, for each of the confidences.

    Parameters
    ----------
    results : dict of query_id to dict of doc_id to float
    metric_scores : dict of str to sequence of float
        Of each metric a value for each query, in the order of `results`.

    Returns
    -------
    dict of str to float
        By the largest score (max), the scores' deviation (std) and the lead over the second (diff1). NaN if leaving out
        the worst queries changes nothing.

    Raises
    ------
    IndexError
        There are no results.

    Notes
    -----
    Source: Gisserot-Boukhlef et al. 2024, MTEB.
    """
    if not results:
        raise IndexError("the results are empty")
    columns = {name: np.array(values) for name, values in metric_scores.items()}
    return areas(confidences(results), columns) if columns else {}


def confidences(results: Mapping[str, Mapping[str, float]]) -> dict[str, np.ndarray]:
    """Confidences of a run in each query: the largest score, the scores' deviation, and the lead over the second."""
    sure = {name: np.zeros(len(results)) for name in ("max", "std", "diff1")}
    by_size: dict[int, list[tuple[int, Mapping[str, float]]]] = {}
    for row, docs in enumerate(results.values()):
        by_size.setdefault(len(docs), []).append((row, docs))
    by_size.pop(0, None)
    for size, alike in by_size.items():
        for start in range(0, len(alike), BLOCK_RANKINGS):
            rows, rankings = zip(*alike[start : start + BLOCK_RANKINGS], strict=True)
            flat = np.fromiter(itertools.chain.from_iterable(docs.values() for docs in rankings), float)
            scores = flat.reshape(len(rows), size)
            at = list(rows)
            sure["max"][at] = scores.max(axis=1)
            sure["std"][at] = scores.std(axis=1)
            if size > 1:
                scores[np.arange(len(rows)), scores.argmax(axis=1)] = -np.inf
                sure["diff1"][at] = sure["max"][at] - scores.max(axis=1)
    return sure


def areas(sure: dict[str, np.ndarray], table: dict[str, np.ndarray]) -> dict[str, float]:
    """The normalised area of every metric by every confidence; NaN if leaving out the worst queries changes nothing."""
    values = np.stack(list(table.values()))
    best = np.sort(values, axis=1)
    best_curves = curves(average_ties(best.reshape(1, -1), best.reshape(-1), values.shape[1]).reshape(best.shape))
    highest, lowest = areas_below(best_curves), best_curves[:, 0] * (ABSTENTION_RATES[-1] - ABSTENTION_RATES[0])
    areas_by_kind = {}
    for kind, by in sure.items():
        order = np.argsort(by, kind="stable")
        reached = areas_below(curves(average_ties(values[:, order], by[order], len(order))))
        with np.errstate(invalid="ignore", divide="ignore"):
            areas_by_kind[kind] = (reached - lowest) / (highest - lowest)
    return {
        f"nAUC_{name}_{kind}": areas_by_kind[kind][row] if highest[row] != lowest[row] else np.nan
        for row, name in enumerate(table)
        for kind in areas_by_kind
    }


def average_ties(values: np.ndarray, by: np.ndarray, n: int) -> np.ndarray:
    """The values of each row, with their mean where `by` is equal; every n of these are compared with each other."""
    changes = np.concatenate([[True], by[1:] != by[:-1]])
    changes[::n] = True
    starts = np.flatnonzero(changes)
    sizes = np.diff(starts, append=len(by))
    return np.repeat(np.add.reduceat(values, starts, axis=1) / sizes, sizes, axis=1)


def curves(values: np.ndarray) -> np.ndarray:
    """The mean of each row without its first values, at each of RATES."""
    n = values.shape[1]
    return np.stack([values[:, min(round(rate * n), n - 1) :].mean(axis=1) for rate in ABSTENTION_RATES], axis=1)


def areas_below(curves: np.ndarray) -> np.ndarray:
    return (np.diff(ABSTENTION_RATES) * (curves[:, 1:] + curves[:, :-1]) / 2).sum(axis=1)
