"""The values of judged rankings under checked options: what `JudgedRankings.evaluate` computes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.data.results.results import Results, best_of, remake, set_best
from fastir.engine.columns.rows import EXCLUDED
from fastir.engine.measure._codes import STATUS_CODES
from fastir.engine.measure._grades import coded
from fastir.engine.rank._judged_ranks import JudgedRanks
from fastir.engine.threads import run
from fastir.errors import NoOverlapError, quote
from fastir.request.fixed_order import ORDER_RULES, compile_fixed, refuse_exclusion
from fastir.request.sizes import refuse_small

if TYPE_CHECKING:
    from fastir.request.custom import CustomColumns
    from fastir.request.options import Options
    from fastir.request.plan import Settings
    from fastir.request.provenance import Provenance

Judged = Any  # JudgedRankings, which evaluate themselves by these functions


def evaluate_rankings(
    judged: Judged,
    metrics: tuple[str, ...],
    options: Options,
    weights: dict[Any, float] | None,
    provenance: Callable[[], Provenance] | None = None,
    chosen: list[Any] | None = None,
) -> Results:
    """Evaluate under checked options; all queries, or only those that were chosen."""
    settings, parts = compile_fixed(metrics, options, {name: getattr(judged, name) for name in ORDER_RULES})
    if options.convention != "fastir" and judged.provenance is not None:
        refuse_exclusion(options.convention, judged.provenance, EXCLUDED in judged.report.repairs)
    status = status_by_query(judged, settings.options.rel_level)
    values = np.empty((len(judged), len(settings.names)))
    skipped = np.ones(len(judged), bool)
    for columns, part in parts:
        part_result = measure_rankings(judged, part)
        absent = mask_left_out(judged, part.queries)
        part_result[absent] = np.nan
        skipped &= absent
        values[:, columns] = part_result
    if chosen is not None:
        skipped |= mask_not_chosen(judged, chosen)
    query_ids, kept = judged.query_ids, ~skipped
    if skipped.any():
        query_ids = [query_id for query_id, keep in zip(query_ids, kept.tolist(), strict=True) if keep]
        values, status = values[kept], status[kept]
    refuse_small(settings.sizes, values, query_ids)
    provenance = provenance or functools.partial(make_provenance, judged, settings)
    return Results(query_ids, settings.names, values, status, settings.aggregates, judged.report, weights, provenance)


def make_provenance(judged: Judged, settings: Settings) -> Provenance:
    """Where values under these settings come from."""
    return settings.provenance(None if judged.provenance is None else judged.provenance.inputs)


def measure_rankings(judged: Judged, settings: Settings) -> np.ndarray:
    """The values under one set of rules."""
    if settings.label_limits:
        check_rankings(judged, settings.label_limits)
    labels, ideal_labels = judged.labels, judged.ideal_labels
    if ideal_labels.dtype != np.int32:
        grades, (labels, ideal_labels) = coded(labels, ideal_labels)
        settings = settings.for_grades(grades, functools.partial(first_fraction, judged))
    values = np.empty((len(judged), len(settings.names)))
    kernel = JudgedRanks(
        settings.plan,
        judged.offsets,
        judged.ranks,
        labels,
        judged.num_ret,
        judged.ideal_offsets,
        ideal_labels,
        values,
    )
    run(kernel, settings.n_threads)
    kernel.check()
    return values


def first_fraction(judged: Judged) -> tuple[float, str]:
    """The first real-valued label and its position in words, which is a rank if the document was retrieved."""
    ranked = np.flatnonzero(judged.labels != np.trunc(judged.labels))
    of_query, labels = (judged.offsets, judged.labels) if len(ranked) else (judged.ideal_offsets, judged.ideal_labels)
    place = int(ranked[0]) if len(ranked) else int(np.argmax(labels != np.trunc(labels)))
    query_id = judged.query_ids[int(np.searchsorted(of_query, place, "right")) - 1]
    return float(labels[place]), f"query {query_id}, {f'rank {judged.ranks[place]}' if len(ranked) else 'no rank'}"


def check_rankings(judged: Judged, limits: list[tuple[int, str, str]]) -> None:
    limit, text, why = min(limits, key=lambda entry: entry[0])
    above = np.flatnonzero(judged.ideal_labels > limit)
    if len(above):
        query = int(np.searchsorted(judged.ideal_offsets, above[0], "right")) - 1
        label = judged.ideal_labels[above[0]]
        raise OverflowError(
            f"metric {quote(text)}: label {label} is too large for {why} (query {judged.query_ids[query]})"
        )


def status_by_query(judged: Judged, level: float) -> np.ndarray:
    """A status code for each query."""
    some = np.diff(judged.ideal_offsets) > 0
    top = np.zeros(len(judged), judged.ideal_labels.dtype)
    top[some] = judged.ideal_labels[judged.ideal_offsets[:-1][some]]
    status = np.where(top >= level, STATUS_CODES["evaluated"], STATUS_CODES["no_relevant"])
    status[judged.missing] = STATUS_CODES["missing"]
    return status.astype(np.uint8)


def mask_left_out(judged: Judged, queries: str | None) -> np.ndarray:
    """Which queries do not count."""
    if queries == "strict" and (judged.missing.any() or judged.report.only_in_run):
        side, example = ("run", judged.report.only_in_qrels_example)
        if not judged.missing.any():
            side, example = "qrels", judged.report.only_in_run_example
        raise NoOverlapError(
            f"queries='strict', but query {quote(example)} is missing from the {side} "
            f"({int(judged.missing.sum())} missing from the run, {judged.report.only_in_run} from the qrels)"
        )
    return judged.missing if queries == "intersection" else np.zeros(len(judged), bool)


def mask_not_chosen(judged: Judged, query_ids: list[Any]) -> np.ndarray:
    """Which queries were not chosen."""
    ids_here = set(judged.query_ids)
    unknown = next((query_id for query_id in query_ids if query_id not in ids_here), None)
    if unknown is not None:
        raise NoOverlapError(f"queries: query {quote(unknown)} is not in the qrels")
    chosen = set(query_ids)
    return np.array([query_id not in chosen for query_id in judged.query_ids], bool)


def add_custom(results: Results, custom: CustomColumns, judged: Judged) -> Results:
    """Results with the columns of the caller's own metrics beside those that they have."""
    hows = list(results.aggregates.values())
    names, hows, values = custom.joined(results.names, hows, results.values, results.query_ids, judged)
    provenance = functools.partial(getattr, results, "provenance")
    record = functools.partial(custom.record, provenance)
    made = remake(results, values, names=names, aggregates=hows, provenance=record)
    return set_best(made, best_of(results))
