"""What a comparison of runs returns: records of numbers, which know nothing of how they were computed."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np


class Pair(NamedTuple):
    """Two runs on one metric, query by query.

    Attributes
    ----------
    a, b : name of a run
        With a baseline, b is the baseline.
    metric : str
    difference : float
        The mean over the queries of a minus b.
    p_value : float
        Of the test, above 0 and at most 1; NaN where it cannot be had, and then `note` says why.
    adjusted_p : float
        Corrected over the family; p_value itself without a correction. NaN with p_value.
    low, high : float
        The interval of the difference.
    effect : float
        The effect size that `Method.effect` names; NaN where it is undefined.
    wins, ties, losses : int
        Queries on which a is above b, equal to it but for rounding, below it.
    n_queries : int
        Queries that took part: those whose value is NaN in some run did not.
    exact : bool
        The p-value is neither resampled nor an approximation.
    detectable : float
        The smallest true difference that a paired t-test at level 1 - confidence would find in 80 % of such samples.
    note : str
        What is degenerate, "" if nothing is.
    """

    a: Hashable
    b: Hashable
    metric: str
    difference: float
    p_value: float
    adjusted_p: float
    low: float
    high: float
    effect: float
    wins: int
    ties: int
    losses: int
    n_queries: int
    exact: bool
    detectable: float
    note: str


class System(NamedTuple):
    """A run on one metric: the mean over the queries that took part, and its interval."""

    run: Hashable
    metric: str
    mean: float
    low: float
    high: float
    n_queries: int


class Method(NamedTuple):
    """How a comparison was made; str() is a sentence.

    Attributes
    ----------
    test : str
    n_resamples : int
        Of whatever is random or enumerated; 0 if nothing is.
    exact_pairs : int
        Pairs whose p-value is exact.
    random_state : int
    correction : str or None
    family : {"metric", "all"}
        Which p-values are corrected together.
    family_size : int
        p-values in the largest family, without those that are NaN.
    confidence : float
    interval : str
        Of the differences: the one asked for, or that of the test, where it has its own.
    effect : str
        The effect size in full.
    queries : str
        Which queries were compared.
    left_out : dict of str to int
        {metric: queries left out because a value is NaN}, without zeros.
    seeds : str or None
        What several values of a run for one query are.
    baseline : tuple
    convention : str
        Of the metric values, "" if unknown.
    version : str
        Of fastir.
    """

    test: str
    n_resamples: int
    exact_pairs: int
    random_state: int
    correction: str | None
    family: str
    family_size: int
    confidence: float
    interval: str
    effect: str
    queries: str
    left_out: dict[str, int]
    seeds: str | None
    baseline: tuple
    convention: str
    version: str


class Comparison:
    """Runs compared pair by pair.

    Attributes
    ----------
    runs : list
        The names, as they came.
    metrics : list of str
    pairs : list of Pair
        Metric by metric; within one all pairs in the order of the runs, or every run against each baseline.
    systems : list of System
        Metric by metric, then run by run.
    method : Method
    query_ids : list
        Sorted by their text.
    values : float64 array of shape (n_metrics, n_queries, n_runs)
        Read-only; several seeds are averaged here.
    """

    def __init__(
        self, runs: list, metrics: list[str], query_ids: list, values: np.ndarray, pairs: list[Pair],
        systems: list[System], method: Method,
    ) -> None:
        values.flags.writeable = False
        self.runs = runs
        self.metrics = metrics
        self.query_ids = query_ids
        self.values = values
        self.pairs = pairs
        self.systems = systems
        self.method = method

    @property
    def per_query(self) -> dict[Hashable, dict[str, dict[Any, float]]]:
        """The values, {run: {metric: {query_id: value}}}, as `compare_scores` takes them."""
        columns = self.values.transpose(2, 0, 1).tolist()
        return {
            run: {metric: dict(zip(self.query_ids, values, strict=True))
                  for metric, values in zip(self.metrics, of_run, strict=True)}
            for run, of_run in zip(self.runs, columns, strict=True)
        }
