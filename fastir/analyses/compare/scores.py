"""Values per query in any form, aligned: which queries are compared, and in what order.

Queries are sorted by the text of their ids, so that a resample does not depend on the order in which queries and runs
came.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fastir.analyses.compare.options import SEEDS
from fastir.data.results.by_run import load_results
from fastir.data.results.results import Results, quotients_of_means, restore_results, scaling_factor
from fastir.data.results.saved_files import KEY
from fastir.declared import Record
from fastir.engine.columns._objects import places_of_objects, read_floats
from fastir.errors import NoOverlapError, quote
from fastir.request.names import is_metric
from fastir.request.options import metric_tuple
from fastir.stats._checks import LARGEST_VALUE

POLICIES = ("qrels", "intersection", "strict")
EXPECTED_VALUES = "expected Results, {query_id: value} or {metric: {query_id: value}}"
QUERIES_SEEN = 20  # keys that are looked at, to tell queries from metrics

Column = tuple[list[Any], np.ndarray]  # query ids and their values


class Side(Record):
    """One metric of one column."""

    run: Hashable
    metric: str
    query_ids: list[Any]
    values: np.ndarray


class Quotient(Record):
    """The values of one metric of one column, which are divided by a mean over the queries of its Results."""

    metric: int
    column: int
    name: str
    run: Hashable
    results: list[Any]  # several are folds

    def scaling(self, query_ids: list[Any]) -> float:
        """The factor of the values where only these queries count."""
        if len(self.results) > 1:
            raise ValueError(
                f"run {quote(self.run)}: metric {quote(self.name)} is a quotient of two means over the queries, and "
                "each fold has its own; evaluate all queries at once"
            )
        (results,) = self.results
        if len(query_ids) == len(results.query_ids) and set(query_ids) == set(results.query_ids):
            return 1.0
        rows = places_among(results.query_ids, query_ids)
        if (rows < 0).any():
            raise ValueError(
                f"run {quote(self.run)}: metric {quote(self.name)} is a quotient of two means over the queries, and "
                f"query {quote(query_ids[int(rows.argmin())])} was not evaluated; compare with queries='intersection'"
            )
        return float(scaling_factor(results, self.name, rows))


class Scores(Record):
    """Aligned values of several runs."""

    runs: list[Any]
    metrics: list[str]
    query_ids: list[Any]
    # float64 of shape (n_metrics, n_columns, n_queries): a column per run, or per seed of a run; NaN if a metric is
    # undefined
    repeats: np.ndarray
    owner: np.ndarray  # int64 of shape (n_columns,): the run that each column belongs to
    unshared: int  # queries that are missing from some run
    convention: str  # "" if unknown
    quotients: Sequence[Quotient] = ()  # values that depend on which queries are compared

    def part(self, rows: list[int]) -> Scores:
        """The Scores of some of the queries."""
        query_ids = [self.query_ids[row] for row in rows]
        repeats = np.ascontiguousarray(self.repeats[:, :, rows])
        for quotient in self.quotients:
            whole, own = quotient.scaling(self.query_ids), quotient.scaling(query_ids)
            repeats[quotient.metric, quotient.column] *= own / whole if whole > 0 else 0.0
        return self._replace(query_ids=query_ids, repeats=repeats)

    def means(self) -> np.ndarray:
        """The mean over a run's columns: float64 of shape (n_metrics, n_runs, n_queries)."""
        if len(self.owner) == len(self.runs):
            return self.repeats
        return np.stack([self.repeats[:, self.owner == run].mean(axis=1) for run in range(len(self.runs))], axis=1)


def read_scores(runs: Mapping[Any, Any], metrics: Any, queries: Any, seeds: str | None) -> Scores:
    """Read and align the values given to `compare_scores`; errors name its arguments."""
    runs = {run: open_results(run, values) for run, values in runs_mapping(runs).items()}
    labels = list(runs)
    if not labels:
        raise ValueError("there are no runs to compare")
    wanted = None if metrics is None else list(metric_tuple(metrics))
    columns, owner, parts = [], [], []
    conventions: dict[str, None] = {}
    for number, (run, values) in enumerate(runs.items()):
        for part in column_parts(run, values, seeds):
            for result in part:
                if isinstance(result, Results):
                    conventions[result.convention_text() or "fastir"] = None
            columns.append(join_folds(run, [values_by_metric(run, result, wanted) for result in part]))
            owner.append(number)
            parts.append((run, part))
    names = list(columns[0]) if wanted is None else wanted
    check_metrics(labels, names, columns, owner)
    sides = [
        Side(labels[run], name, *column[name]) for name in names for column, run in zip(columns, owner, strict=True)
    ]
    missing = missing_queries(runs, seeds) if isinstance(queries, str) and queries == "intersection" else []
    query_ids, unshared = chosen_queries(sides, queries, missing)
    repeats = align_sides(sides, query_ids).reshape(len(names), len(columns), len(query_ids))
    quotients = quotients_among(parts, names)
    for quotient in quotients:
        repeats[quotient.metric, quotient.column] *= quotient.scaling(query_ids)
    return Scores(labels, names, query_ids, repeats, np.array(owner), unshared, ", ".join(conventions), quotients)


def quotients_among(columns: Sequence[tuple[Hashable, list[Any]]], metrics: list[str]) -> list[Quotient]:
    """The quotients of two means among these metrics of columns, each of a run and its values."""
    return [
        Quotient(metrics.index(name), column, name, run, part)
        for column, (run, part) in enumerate(columns)
        if isinstance(part[0], Results)
        for name in quotients_of_means(part[0])
        if name in metrics
    ]


# ---- saved results -------------------------------------------------------------------------------------------------
def runs_mapping(runs: Any) -> Mapping[Any, Any]:
    """The mapping of name to values, which may be a file that holds the results of several runs."""
    if isinstance(runs, (str, os.PathLike)):
        runs = load_results(runs)
        if isinstance(runs, Results):
            raise TypeError("runs must be a mapping of name to values, got a file with the results of a single run")
    if not hasattr(runs, "items"):
        raise TypeError(f"runs must be a mapping of name to values, got {type(runs).__name__}")
    return runs


def open_results(run: Hashable, values: Any) -> Any:
    """Values that were saved, as Results; anything else unchanged."""
    if isinstance(values, (list, tuple)):
        return [open_results(run, value) for value in values]
    if isinstance(values, (str, os.PathLike)):
        return Results.load(values)
    if isinstance(values, Mapping) and KEY in values and "per_query" in values:
        return restore_results(f"run {quote(run)}", values[KEY], values, {})
    return values


# ---- shapes of a run's values --------------------------------------------------------------------------------------
def column_parts(run: Hashable, values: Any, seeds: str | None) -> Iterator[list[Any]]:
    """Lists of values, one list per column; the values of a list are joined to one column."""
    if not isinstance(values, (list, tuple)):
        yield [values]
        return
    if seeds is None:
        raise TypeError(f"run {quote(run)} has several values; seeds= says what they are: {', '.join(SEEDS)}")
    if not values:
        raise ValueError(f"run {quote(run)} has an empty list of values")
    yield from ([list(values)] if seeds == "folds" else ([value] for value in values))


def values_by_metric(run: Hashable, values: Any, wanted: list[str] | None) -> dict[str, Column]:
    """{metric: (query ids, values)} of one object that a caller gave for a run."""
    if isinstance(values, Results):
        check_means(run, values, wanted)
        query_ids = values.query_ids
        return {name: (query_ids, values.values[:, j]) for j, name in enumerate(values.names)}
    if not hasattr(values, "items"):
        raise TypeError(f"run {quote(run)}: {EXPECTED_VALUES}, got {type(values).__name__}")
    first = next(iter(values.items()), None)
    if first is not None and hasattr(first[1], "items"):
        items = list(metrics_first(run, values, wanted).items())
        return {name: value_column(run, f", metric {quote(name)}", inner) for name, inner in items}
    return {(wanted[0] if wanted and len(wanted) == 1 else "score"): value_column(run, "", values)}


def metrics_first(run: Hashable, values: Any, wanted: list[str] | None) -> Any:
    """{metric: {query_id: value}}, also of what `Results.to_dict` gives, where the queries come first.

    That is seen where the inner keys are metrics and the outer ones are not, or by the metrics that are wanted.
    """
    if "mean" in values and "per_query" not in values and len(values) == 1:
        raise TypeError(f"run {quote(run)}: {EXPECTED_VALUES}, got means alone; Results have the values")
    if "mean" in values and "per_query" in values:
        values = values["per_query"]
    rows = list(values.items())
    first = list(itertools.islice((key for key, _ in rows), QUERIES_SEEN))
    if not rows:
        return values
    inside = all(map(is_name, rows[0][1]))
    if not inside and any(map(is_name, first)):
        return values
    if not inside:
        if wanted is None and len(rows) <= len(rows[0][1]):
            return values
        if wanted is None:  # more of what should be metrics than of what should be queries
            raise ValueError(
                f"run {quote(run)}: neither {quote(first[0])} nor {quote(next(iter(rows[0][1]), None))} is the name of "
                "a metric; say with metrics= which ones are compared"
            )
        if set(wanted) <= set(values) or not set(wanted) <= set(rows[0][1]):
            return values
    if inside and any(map(is_name, first)):
        if wanted is None:
            raise ValueError(
                f"run {quote(run)}: both {quote(first[0])} and {quote(next(iter(rows[0][1])))} are names of metrics; "
                "say with metrics= which ones are compared"
            )
        if set(wanted) <= set(values):
            return values
    by_metric: dict[Any, dict[Any, Any]] = {}
    for query_id, row in rows:
        for metric, value in row.items():
            by_metric.setdefault(metric, {})[query_id] = math.nan if value is None else value
    return by_metric


def is_name(key: object) -> bool:
    return isinstance(key, str) and is_metric(key)


def value_column(run: Hashable, metric: str, values: Any) -> Column:
    if not hasattr(values, "items"):
        raise TypeError(f"run {quote(run)}{metric}: {EXPECTED_VALUES}, got {type(values).__name__}")
    if type(values) is dict and (numbers := read_floats(list(values.values()))) is not None:
        return list(values), numbers
    items = list(values.items())
    ids = [query_id for query_id, _ in items]
    if len(set(ids)) < len(ids):
        twice = next(query_id for query_id in ids if ids.count(query_id) > 1)
        raise ValueError(f"run {quote(run)}{metric}: duplicate query {quote(twice)}")
    odd = [
        kind
        for kind in {type(value) for _, value in items}
        if not hasattr(kind, "__float__") and not hasattr(kind, "__index__")
    ]
    if odd:
        query_id, value = next(item for item in items if type(item[1]) in odd)
        raise TypeError(
            f"run {quote(run)}{metric}: the value of query {quote(query_id)} is {quote(value)}, expected a number"
        )
    return ids, np.fromiter((value for _, value in items), np.float64, len(items))


def check_means(run: Hashable, results: Results, wanted: list[str] | None) -> None:
    """Refuse metrics that are not means over the queries, which have no paired test."""
    if results.weights is not None:
        raise ValueError(f"run {quote(run)} has weighted means, which no test here compares; evaluate without weights")
    check_aggregates(results.aggregates, wanted)


def check_aggregates(aggregates: dict[str, str], wanted: list[str] | None) -> None:
    """Refuse a metric that is no mean over the queries."""
    for name, how in aggregates.items():
        kind = {"geometric": "geometric mean", "micro": "micro average"}.get(how.partition("_")[0])
        if kind and (wanted is None or name in wanted):
            raise ValueError(
                f"metric {quote(name)} is a {kind} over the queries, which no test here compares; "
                "name the others with metrics="
            )


def join_folds(run: Hashable, folds: list[dict[str, Column]]) -> dict[str, Column]:
    """The values of folds, which share no query, joined."""
    if len(folds) == 1:
        return folds[0]
    whole = {}
    for name in folds[0]:
        parts = [fold[name] for fold in folds if name in fold]
        ids = [query_id for part, _ in parts for query_id in part]
        if len(set(ids)) < len(ids):
            twice = next(query_id for query_id in ids if ids.count(query_id) > 1)
            raise ValueError(f"run {quote(run)}: query {quote(twice)} is in two folds; repeated folds are seeds='mean'")
        whole[name] = ids, np.concatenate([values for _, values in parts])
    return whole


def check_metrics(labels: list[Any], names: list[str], columns: list[dict[Any, Any]], owner: list[int]) -> None:
    if not names or len(set(names)) < len(names):
        raise ValueError(f"metrics must be names, each once, got {quote(names)}")
    for name in names:
        for column, run in zip(columns, owner, strict=True):
            if name not in column:
                metrics = ", ".join(map(repr, list(column)[:10]))
                raise ValueError(f"run {quote(labels[run])} has no metric {quote(name)}; it has {metrics}")


# ---- the queries ---------------------------------------------------------------------------------------------------
def missing_queries(runs: Mapping[Any, Any], seeds: str | None) -> list[set[Any]]:
    """For each column the queries that are missing from its run, by the status of its Results."""
    return [
        {
            query_id
            for result in part
            if isinstance(result, Results)
            for query_id, status in result.status.items()
            if status == "missing"
        }
        for run, values in runs.items()
        for part in column_parts(run, values, seeds)
    ]


def chosen_queries(sides: list[Side], queries: Any, missing: list[set[Any]]) -> tuple[list[Any], int]:
    """The queries that are compared, sorted by their text, and the number of queries that are missing from some run.

    `missing` has for each column the queries that its Results report as missing.
    """
    if isinstance(queries, str) and queries == "strict":
        queries = None
    if queries is None and all(side.query_ids == sides[0].query_ids for side in sides) and sides[0].query_ids:
        return sort_ids(sides[0].query_ids), 0
    by_side = {id(side.query_ids): set(side.query_ids) for side in sides}
    union, shared = set().union(*by_side.values()), set.intersection(*by_side.values()).difference(*missing)
    if queries is None or (isinstance(queries, str) and queries == "qrels"):
        chosen = union
    elif isinstance(queries, str) and queries == "intersection":
        chosen = shared
    elif isinstance(queries, Iterable) and not isinstance(queries, (str, bytes)):
        chosen = set(queries)
    else:
        policies = ", ".join(map(repr, POLICIES))
        raise ValueError(f"queries must be None, {policies} or query ids, got {quote(queries)}")
    if not chosen:
        raise NoOverlapError("no query is left to compare: the runs have no query in common, or none was given")
    ordered = sort_ids(chosen)
    if not isinstance(queries, str):
        for side in sides:
            if not chosen <= by_side[id(side.query_ids)]:
                query_id = next(query_id for query_id in ordered if query_id not in by_side[id(side.query_ids)])
                why = "which another run has" if queries is None else "which was requested"
                raise NoOverlapError(
                    f"run {quote(side.run)} has no {side.metric} for query {quote(query_id)}, {why}; "
                    f"queries='intersection' leaves such queries out, queries='qrels' counts them as 0"
                )
    return ordered, len(union) - len(shared)


def sort_ids(query_ids: Collection[Any]) -> list[Any]:
    """Query ids sorted by their text."""
    try:
        "".join(query_ids)  # sooner than to ask each for its type
    except TypeError:
        return sorted(query_ids, key=str)
    return sorted(query_ids)


def places_among(ordered: list[Any], query_ids: list[Any]) -> np.ndarray:
    """The position of each query id among those that are compared; -1 for one that is not. int64 of shape (n,)."""
    at = places_of_objects(ordered, query_ids)
    if at is None:
        place = dict(zip(ordered, range(len(ordered)), strict=True))
        found = map(place.get, query_ids, itertools.repeat(-1))
        at = np.fromiter(found, np.int64, len(query_ids))
    return at


def align_sides(sides: list[Side], query_ids: list[Any]) -> np.ndarray:
    """A row for each side, with its values at the positions of their queries, and 0 for its missing queries."""
    places: dict[int, np.ndarray] = {}
    rows = np.zeros((len(sides), len(query_ids)))
    for row, side in zip(rows, sides, strict=True):
        at = places.get(id(side.query_ids))
        if at is None and side.query_ids == sides[0].query_ids and places:
            at = places[id(sides[0].query_ids)]
        elif at is None:
            at = places[id(side.query_ids)] = places_among(query_ids, side.query_ids)
        kept = at >= 0
        if kept.all():
            row[at] = side.values
        else:
            row[at[kept]] = side.values[kept]
        large = np.abs(row) > LARGEST_VALUE
        if large.any():
            query_id, value = query_ids[int(large.argmax())], row[large][0]
            what = "infinite" if np.isinf(value) else f"{value}; expected values of magnitude up to {LARGEST_VALUE:g}"
            raise ValueError(f"run {quote(side.run)}: {side.metric} of query {quote(query_id)} is {what}")
    return rows
