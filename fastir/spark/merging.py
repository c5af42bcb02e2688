"""The values of all partitions side by side: the Results that one machine would have made, to the last bit."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from fastir.errors import quote
from fastir.evaluation.evaluator import Evaluator, evaluator_of
from fastir.join._counts import Counts
from fastir.request.fixed_order import rules_of
from fastir.results.results import Results
from fastir.run import Run
from fastir.runs.coverage import MISSING, Coverage, Repairs, without_missing
from fastir.spark.tasks import Failure, Part


def parts_of(states: Any) -> list[Any]:
    """What came back of the partitions, in their order.

    Raises
    ------
    Exception
        The error of the first partition that has one.
    """
    found = [pickle.loads(state) for state in states.toArrow()["state"].to_pylist()]
    found.sort(key=lambda part: part.partition)
    for failure in found:
        if isinstance(failure, Failure):
            raise failure.error
    return found


def check_one_run(names: set[Any], columns: Sequence[str]) -> None:
    """Refuse rows of several runs, where one is to be evaluated."""
    if len(names) > 1:
        one, other = sorted(names, key=str)[:2]
        raise ValueError(
            f"run: the table has several runs in its column {columns[3]!r}, such as {quote(one)} and {quote(other)}; "
            "evaluate_many evaluates each of them"
        )


def check_ranks(evaluator: Evaluator, parts: Iterable[Part]) -> None:
    """Refuse ranks that do not settle the order, where it should be that of the rows."""
    for part in parts:
        if part.counts.tied and any(
            rules_of(ranker.settings)["ties"] == "input" for ranker in evaluator._prepared.rankers()
        ):
            query_id = list(evaluator._prepared.qrels)[part.counts.tied_example]
            raise ValueError(
                "run: two documents have one rank, and ties='input' goes by the order of rows, which Spark does not "
                f"keep (query {query_id})"
            )


def results_of(evaluator: Evaluator, parts: list[Part], lacking: np.ndarray | None = None) -> tuple[Results, Coverage]:
    """The Results of one run, and the Coverage, which has not warned.

    Parameters
    ----------
    lacking : float64 array of shape (n_queries, n_metrics), or None
        The values of queries that the run lacks; None: what the Evaluator makes of them.

    Raises
    ------
    ValueError
        The rows of a query lie in two partitions.
    NoOverlapError
        Qrels and run do not overlap as they must.
    """
    settings = evaluator._prepared.settings
    query_ids = list(evaluator._prepared.qrels)
    base, missing = all_missing(evaluator)
    values = np.array(base.values if lacking is None else lacking)
    status, partition = np.full_like(missing.status, MISSING), np.full(len(query_ids), -1)
    for part in parts:
        twice = np.flatnonzero(partition[part.places] >= 0)
        if len(twice):
            place = part.places[twice[0]]
            raise ValueError(
                f"run: the rows of query {quote(query_ids[place])} lie in two partitions, {partition[place]} and "
                f"{part.partition}; strategy='shuffle' brings the rows of each query together"
            )
        partition[part.places] = part.partition
        values[part.places], status[part.places] = part.values, part.status
    coverage = coverage_of(missing, status, parts)
    coverage.check(settings.queries)
    if settings.queries == "intersection":
        query_ids, values, status = without_missing(query_ids, values, status)
    hows = list(base.aggregates.values())
    made = Results(query_ids, base.names, values, status, hows, coverage, evaluator._weights, evaluator._provenance)
    return made, coverage


def all_missing(evaluator: Evaluator) -> tuple[Results, Coverage]:
    """The values of all queries for a run that lacks them; as no run is without a query, one has an empty ranking."""
    prepared, settings = evaluator._prepared, evaluator._prepared.settings
    options = settings.options.replace(queries="qrels")
    plain = evaluator_of(prepared.qrels, settings.metrics, options, (None, None), None, None)
    return plain._evaluate_one(Run.from_dict({next(iter(prepared.qrels)): []}), 1)


def coverage_of(missing: Coverage, status: np.ndarray, parts: Iterable[Part]) -> Coverage:
    """The Coverage of all parts together."""
    counts, n_run, foreign = Counts(), 0, []
    repairs: Repairs = {}
    for part in parts:
        counts, n_run = counts.plus(part.counts), n_run + part.n_run
        foreign += part.foreign
        for kind, (count, place) in part.repairs.items():
            before, first = repairs.get(kind, (0, place))
            repairs[kind] = before + count, first
    return Coverage(missing.prepared, status, counts, n_run, foreign, repairs)
