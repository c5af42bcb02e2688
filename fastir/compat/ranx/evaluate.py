"""ranx's `evaluate`: of Qrels and Run, dicts, arrays, and ranx's own classes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from fastir.compat._id_lists import labels_of_numbers
from fastir.compat.ranx.qrels_run import Documents, Qrels, Run
from fastir.data.results.results import Results
from fastir.engine.columns.rows import offsets_from_sizes
from fastir.errors import UnknownMetricError, quote
from fastir.evaluation.evaluator import Evaluator
from fastir.evaluation.labels import evaluate_ranked
from fastir.request.names import read

UNCUT_METRICS = ("bpref", "r-precision")  # take a cutoff, and ignore it


def evaluate(
    qrels: Any,
    run: Any,
    metrics: str | list[str],
    return_mean: bool = True,
    return_std: bool = False,
    threads: int = 0,
    save_results_in_run: bool = True,
    make_comparable: bool = False,
) -> Any:
    """Evaluate a run.

    Parameters
    ----------
    qrels : Qrels, dict or arrays
        ``{query_id: {doc_id: label}}``, or per query an array of shape (n_documents, 2) of ids, as numbers, and labels:
        a list, a numba typed list or one array of three dimensions.
    run : Run, dict or arrays
        ``{query_id: {doc_id: score}}``, or arrays likewise of ids in rank order; the columns next to them are not read.
    metrics : str or list of str
        Such as ``"ndcg@10"`` or ``"map-l2"``.
    return_mean : bool
        Whether means are returned, or the values of the queries.
    return_std : bool
        Whether the standard deviation is returned with each mean.
    threads : int
        How many at most; 0 leaves it to fastir.
    save_results_in_run : bool
        Whether a Run notes means, deviations (with `return_std`) and values.
    make_comparable : bool
        Whether the run gets the queries of the qrels; missing ones become empty rankings. A Run is changed.

    Returns
    -------
    float64, array or dict
        Of each metric the mean; with `return_std` ``{"mean", "std"}``, of the population; without `return_mean` a
        float64 array of shape (n_queries,). For several metrics a dict of these by name.

    Raises
    ------
    AssertionError
        The queries are not the same, or metrics are not str.
    ValueError
        There is no such metric, or an option or number is out of its range.
    TypeError
        Ids, labels, scores or sides of the wrong type.
    """
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    for name in names:
        if not isinstance(name, str):
            raise AssertionError(f"metrics must be a str or a list of str, got {type(name).__name__} {quote(name)}")
    if make_comparable and hasattr(qrels, "to_typed_list") and hasattr(run, "make_comparable"):
        run.make_comparable(qrels)
    by_id = isinstance(qrels, (Documents, dict)) and isinstance(run, (Documents, dict))
    measure = (by_ids if by_id else by_places)(qrels, run, make_comparable)
    query_ids, values = metric_values(measure, names, threads or None)
    means = {name: mean(column) for name, column in values.items()} if return_mean or save_results_in_run else {}
    stds = {name: np.std(column) for name, column in values.items()} if return_std and return_mean else {}
    if save_results_in_run and hasattr(run, "mean_scores"):
        run.mean_scores.update(means)
        run.std_scores.update(stds)
        run.scores.update((name, dict(zip(query_ids, column, strict=True))) for name, column in values.items())
    scores: dict[str, Any] = means if return_mean else values
    if stds:
        scores = {name: {"mean": mean, "std": stds[name]} for name, mean in means.items()}
    return scores[names[0]] if len(names) == 1 else scores


def mean(column: np.ndarray) -> Any:
    """np.mean of float64 values, without what it looks at before; it warns where there are none."""
    if len(column) == 1:
        return column[0]
    return np.add.reduce(column) / len(column) if len(column) else np.mean(column)


def metric_values(
    measure: Callable[..., tuple[Any, ...]], names: list[str], threads: int | None
) -> tuple[Any, dict[str, np.ndarray]]:
    """The query ids, and the values of each metric."""
    values: dict[str, Any] = dict.fromkeys(names)
    query_ids: Any = []
    for raised, metrics, columns in calls(tuple(names)):
        query_ids, results = measure(raised, metrics=metrics, n_threads=threads, convention="ranx")
        values.update((name, results.values[:, column].copy()) for name, column in columns)
    return query_ids, values


@functools.lru_cache(128)
def calls(names: tuple[str, ...]) -> list[tuple[int, tuple[str, ...], list[tuple[str, int]]]]:
    """What to evaluate for these names: how much higher labels are, fastir's metrics, and (name, column) of each."""
    request_by_name = {name: parse_metric(name) for name in names}
    plans = []
    for raised in sorted({raised for _, raised in request_by_name.values()}):
        metrics = tuple(dict.fromkeys(ours for ours, level in request_by_name.values() if level == raised))
        columns = [(name, metrics.index(ours)) for name, (ours, level) in request_by_name.items() if level == raised]
        plans.append((raised, metrics, columns))
    return plans


@functools.lru_cache(1024)
def parse_metric(name: str) -> tuple[str, int]:
    """A metric of ranx as fastir's convention reads it, and how much higher it wants all labels."""
    base, suffix, level = name.partition("-l")
    base, at, k = base.partition("@")
    if base == "rbp" and not at:
        raise ValueError(f"metric {quote(name)}: rbp needs a persistence, such as 'rbp.95'")
    whole = base in UNCUT_METRICS or (k != "" and not k.strip("0") and base != "rbp")
    plain = base if whole else base + at + k
    requests = read(plain, "ranx")
    if len(requests) > 1:
        raise UnknownMetricError(f"metric {quote(name)} means several metrics; name them one by one")
    if level and not level.strip("0"):  # labels of 0 are relevant, but add no gain
        card = requests[0].card
        return (f"{plain}-l1", 0) if card.graded or card.name == "rbp" else (plain, 1)
    return plain + suffix + level, 0


def by_ids(qrels: Any, run: Any, make_comparable: bool) -> Callable[..., tuple[Any, ...]]:
    """A function that evaluates Qrels or a dict with a Run or a dict."""
    judged, ranked = (side.query_ids() if isinstance(side, Documents) else side.keys() for side in (qrels, run))
    if not make_comparable:
        check_queries(judged, ranked)

    def measure(raised: int, **options: Any) -> tuple[Any, Results]:
        if isinstance(qrels, Qrels) and not raised:
            evaluator = qrels.evaluator(**options)
        else:
            evaluator = Evaluator(higher(qrels, raised), queries="qrels", **options)
        rankings = run.as_fastir() if isinstance(run, Run) else run
        results, _ = evaluator.rules.evaluate_one(rankings, options["n_threads"])
        return results.query_ids, results

    return measure


def higher(qrels: Any, raised: int) -> Any:
    """The qrels, with labels that are so much higher."""
    labels = qrels.as_fastir() if isinstance(qrels, Qrels) else qrels
    if not raised:
        return labels
    return {query_id: {doc_id: label + raised for doc_id, label in labels[query_id].items()} for query_id in labels}


def by_places(qrels: Any, run: Any, make_comparable: bool) -> Callable[..., tuple[Any, ...]]:
    """A function that evaluates arrays, and ranx's own Qrels and Run: first with first."""
    judged, ranked = arrays(qrels, "qrels"), arrays(run, "run")
    if hasattr(qrels, "keys") and hasattr(run, "keys"):
        check_queries(set(qrels.keys()), set(run.keys()))
    if len(judged) != len(ranked):
        raise AssertionError(f"the qrels have {len(judged)} queries, but the run has {len(ranked)}")
    query_ids = list(run.keys()) if hasattr(run, "keys") else range(len(ranked))
    labels, there = labels_of_numbers(judged, ranked)
    offsets, ideal_offsets = (offsets_from_sizes([*map(len, side)]) for side in (ranked, judged))
    ideal = np.concatenate([np.empty(0), *(array[:, 1] for array in judged)])

    def measure(raised: int, **options: Any) -> tuple[Any, Results]:
        return query_ids, evaluate_ranked(
            np.where(there, encode_labels(labels, raised), -1),
            offsets,
            ideal_labels=encode_labels(ideal, raised),
            ideal_offsets=ideal_offsets,
            **options,
        )

    return measure


def encode_labels(labels: np.ndarray, raised: int) -> np.ndarray:
    """Encode raised labels for evaluate_ranked: there -1 means that a document is not in the qrels."""
    labels = labels + raised if raised else labels
    return np.where(labels < 0, labels - 1, labels) if labels.min(initial=0) < 0 else labels


def arrays(side: Any, what: str) -> list[np.ndarray]:
    """Per query a float64 array of shape (n_documents, 2)."""
    if isinstance(side, dict):
        raise TypeError(f"{what} is a dict, but the other side is not: give a dict or a {what.capitalize()} for both")
    lists = side.to_typed_list() if hasattr(side, "to_typed_list") else side
    try:
        columns = [np.asarray(array, float) for array in lists]
    except (TypeError, ValueError):
        raise TypeError(f"{what} must be a {what.capitalize()}, a dict or arrays, got {type(side).__name__}") from None
    for place, array in enumerate(columns):
        if array.ndim != 2 or array.shape[1] != 2:
            raise TypeError(
                f"{what}: the array of query {place} must have the shape (n_documents, 2), got {array.shape}"
            )
    return columns


def check_queries(judged: Any, ranked: Any) -> None:
    """AssertionError unless qrels and run have the same queries."""
    if judged != ranked:
        missing, extra = sorted(map(str, judged - ranked)), sorted(map(str, ranked - judged))
        where = f"{quote(missing[0])} is missing from the run" if missing else f"{quote(extra[0])} is not in the qrels"
        raise AssertionError(
            f"qrels and run must have the same queries, but {where} ({len(missing)} missing from the "
            f"run, {len(extra)} not in the qrels); make_comparable=True gives the run the queries of the "
            "qrels"
        )
