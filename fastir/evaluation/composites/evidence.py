"""Sets of evidence and hops: what metrics make of the ranks at which their documents stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fastir.engine.columns.rows import list_of_each, sums
from fastir.inputs.evidence import Evidence

NEVER = np.iinfo(np.int64).max  # the rank of what is not in the first k


class Standing(NamedTuple):
    """The ranks of the members, set by set, and where the sets of each query begin; arrays are int64."""

    ranks: np.ndarray
    offsets: np.ndarray
    firsts: np.ndarray

    def complete(self) -> np.ndarray:
        """The rank of the last member of each set."""
        return np.maximum.reduceat(self.ranks, self.offsets[:-1])

    def begun(self) -> np.ndarray:
        """The rank of the first member of each set."""
        return np.minimum.reduceat(self.ranks, self.offsets[:-1])


def best_of(values: np.ndarray, firsts: np.ndarray) -> np.ndarray:
    """The largest value of each query, 0 of one without sets."""
    best, having = np.zeros(len(firsts) - 1), np.diff(firsts) > 0
    best[having] = np.maximum.reduceat(values, firsts[:-1][having])
    return best


def share(met: np.ndarray, firsts: np.ndarray) -> np.ndarray:
    return sums(met, firsts) / np.maximum(np.diff(firsts), 1)


def chain(standing: Standing) -> np.ndarray:
    found = sums(standing.ranks < NEVER, standing.offsets) / np.diff(standing.offsets)
    return best_of(found, standing.firsts)


def reciprocal(ranks: np.ndarray) -> np.ndarray:
    return np.where(ranks < NEVER, 1.0 / ranks, 0.0)


METRICS: dict[str, Callable[[Standing], np.ndarray]] = {
    "evidence_recall": lambda standing: share(standing.complete() < NEVER, standing.firsts),
    "evidence_found": lambda standing: best_of(1.0 * (standing.complete() < NEVER), standing.firsts),
    "evidence_chain": chain,
    "evidence_mrr": lambda standing: best_of(reciprocal(standing.complete()), standing.firsts),
    "hop_recall": lambda standing: share(standing.begun() < NEVER, standing.firsts),
    "all_hops": lambda standing: 1.0 * (share(standing.begun() < NEVER, standing.firsts) == 1),
}


def evidence_values(
    name: str,
    cutoff: int,
    evidence: Evidence,
    first_rows: np.ndarray,
    hits: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> np.ndarray:
    """The values of a metric for all queries, float64; `hits` are offsets, ranks, and rows from the query's first."""
    if len(evidence.rows) == 0:
        return np.zeros(len(evidence.firsts) - 1)
    offsets, ranks, rows = hits
    n_hits = int(offsets[-1])
    standing = np.full(first_rows[-1], NEVER)
    standing[first_rows[list_of_each(offsets)] + rows[:n_hits]] = ranks[:n_hits]
    standing[standing > cutoff] = NEVER
    return METRICS[name](Standing(standing[evidence.rows], evidence.offsets, evidence.firsts))
