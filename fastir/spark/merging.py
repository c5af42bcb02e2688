"""The values of all partitions side by side: the Results that one machine would have made, to the last bit."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from typing import Any

import numpy as np

from fastir.errors import quote
from fastir.evaluation.coverage import MISSING, Counts, Coverage, Repairs
from fastir.evaluation.evaluator import Evaluator, evaluator_of
from fastir.results.results import Results
from fastir.run import Run
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


def results_of(evaluator: Evaluator, parts: list[Part]) -> tuple[Results, Coverage]:
    """The Results of one run, and the Coverage, which has not warned.

    Raises
    ------
    ValueError
        The rows of a query lie in two partitions.
    NoOverlapError
        Qrels and run do not overlap as they must.
    """
    settings = evaluator.prepared.settings
    query_ids = list(evaluator.prepared.qrels)
    some = next((query_ids[part.places[0]] for part in parts if len(part.places)), query_ids[0])
    base, missing = all_missing(evaluator, some)
    values = np.full((len(query_ids), len(base.names)), np.nan)
    if len(base.query_ids) == len(query_ids):
        values[:] = base.values
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
    if len(base.query_ids) < len(query_ids):
        kept = status != MISSING
        query_ids = [query_id for query_id, keep in zip(query_ids, kept.tolist(), strict=True) if keep]
        values, status = values[kept], status[kept]
    hows = list(base.aggregates.values())
    made = Results(query_ids, base.names, values, status, hows, coverage, evaluator._weights, evaluator._provenance)
    return made, coverage


def all_missing(evaluator: Evaluator, but: Any) -> tuple[Results, Coverage]:
    """The values of queries that a run lacks; `but` is a query that it has, as there is no run without one."""
    prepared, settings = evaluator.prepared, evaluator.prepared.settings
    options = settings.options.but(queries="qrels") if settings.queries == "strict" else settings.options
    plain = evaluator_of(prepared.qrels, settings.metrics, options, (None, None), None, None)
    return plain.results_of(Run.from_dict({but: {"": 0.0}}), 1)


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
