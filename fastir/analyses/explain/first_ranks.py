"""The first documents of all rankings of a run, as `explain` shows them one query at a time.

    ranks of judged documents  1 4 | 2 ...     rankings to measure   - | 1 | 1 4 || - | 2 || ...
                                               and to know gains     one document of each label at rank 1

`JudgedRankings` has the ranks of the judged documents of all queries, which decide all values. So the rankings that
`explain` measures for each query, cut behind each of their judged documents, are measured for many queries at once; and
only documents that can be among the first are looked at.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastir.analyses.explain.query_explanation import (
    DIVIDEND,
    increments,
    name_in_quotient,
    order_ranking,
    unfiltered_name,
)
from fastir.analyses.explain.records import Document
from fastir.data.rankings import JudgedRankings, measure_rankings
from fastir.data.run import Run, as_run
from fastir.engine.columns.rows import offsets_from_sizes, repeat, sums
from fastir.errors import FastirWarning
from fastir.evaluation.drivers.prepared import PreparedQrels
from fastir.inputs.shapes import DICTS, input_shape
from fastir.request.options import TIES
from fastir.request.plan import Settings, compile_settings

if TYPE_CHECKING:
    from fastir.evaluation.evaluator import Evaluator

BLOCK_LABELS = 1 << 20  # judgments of rankings that are measured together


class FirstDocuments(NamedTuple):
    """The first documents of a ranking."""

    shown: list[Document]  # without discounts; without gains if a document has no label
    n_below: int  # relevant documents further down
    n_missing: int  # relevant documents that the ranking has not


def can_explain_all(evaluator: Evaluator) -> bool:
    """Whether labels in one order of the documents decide all values, so that `explain_first` has them."""
    prepared = evaluator.rules.prepared
    if not isinstance(prepared, PreparedQrels) or prepared.parents is not None:
        return False
    settings, options = prepared.settings, prepared.settings.options
    cards = [request.card for request in settings.requests]
    return not (
        options.judged_only
        or options.max_depth is not None
        or options.duplicates == "once"
        or options.queries in ("intersection", "strict")
        or settings.ties == TIES.index("average")
        or any(card.sampled or card.pooled for card in cards)
    )


def explain_first(
    evaluator: Evaluator, run: Any, query_ids: list[Any], depth: int, rel_level: float
) -> Iterator[FirstDocuments]:
    """The first documents of each query, where `can_explain_all`; those with a label of `rel_level` are relevant."""
    prepared: Any = evaluator.rules.prepared  # PreparedQrels
    settings, qrels = prepared.settings, prepared.qrels
    run = evaluator.rules.retrieved(run)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FastirWarning)  # of which evaluating it has warned
        judged = evaluator.judged_rankings(run)
        top_scores = scores_by_query(prepared, run, depth)
    places = {str(query_id): place for place, query_id in enumerate(judged.query_ids)}
    chosen = np.array([places[str(query_id)] for query_id in query_ids], np.int64)
    inner = [unfiltered_name(request) for request in settings.requests]
    gainers = [
        name_in_quotient(request, values, DIVIDEND) if request.card.quotient else name
        for name, request, values in zip(inner, settings.requests, settings.values, strict=True)
    ]
    options = settings.options.replace(max_depth=None, n_threads=1)
    metrics = compile_settings(tuple(dict.fromkeys([*inner, *gainers])), options)
    columns = [[metrics.names.index(name) for name in names] for names in (inner, gainers)]
    relevant = sums(judged.ideal_labels >= settings.options.rel_level, judged.ideal_offsets)
    found = sums(judged.labels >= settings.options.rel_level, judged.offsets)
    below = sums((judged.labels >= rel_level) & (judged.ranks > depth), judged.offsets)
    n_first = sums(judged.ranks <= depth, judged.offsets)
    n_labels = np.cumsum((np.diff(judged.ideal_offsets)[chosen] + 1) * (2 * n_first[chosen] + 1))
    borders = np.searchsorted(n_labels, np.arange(BLOCK_LABELS, n_labels[-1:].sum(), BLOCK_LABELS))
    for block in filter(len, np.split(chosen, borders)):
        values = measure_steps(judged, block, n_first[block], metrics)
        for place, steps in zip(block.tolist(), values, strict=True):
            query_id = judged.query_ids[place]
            labels = qrels[query_id]
            codes = {str(doc_id): label for doc_id, label in labels.items()}
            rows = order_ranking(top_scores(str(query_id)), codes, set(), prepared)[:depth]
            n = int(n_first[place])
            parts = [increments(column) for column in steps[: n + 1, columns[0]].T.tolist()]
            bases = np.where(np.isfinite(steps[0, columns[1]]), steps[0, columns[1]], 0.0)
            gains = (steps[n + 1 :, columns[1]] - bases).tolist()
            ranks = judged.ranks[judged.offsets[place] :][:n].tolist()
            step_of_rank = {rank: number for number, rank in enumerate(ranks, 1)}
            shown = []
            for rank, row in enumerate(rows, 1):
                doc_id: Any = row.doc_id
                step = step_of_rank.get(rank)
                added = [0.0] * len(inner) if step is None else [column[step] for column in parts]
                gain = {} if step is None else dict(zip(settings.names, gains[step - 1], strict=True))
                contribution = dict(zip(settings.names, added, strict=True))
                label = codes.get(str(doc_id))
                shown.append(Document(doc_id, rank, row.score, row.tied, label, gain, {}, contribution))
            yield FirstDocuments(shown, int(below[place]), int(relevant[place] - found[place]))


def measure_steps(
    judged: JudgedRankings, places: np.ndarray, n_first: np.ndarray, metrics: Settings
) -> list[np.ndarray]:
    """For each query the values of its ranking cut behind none and each of the first judged documents, and then those
    of rankings with one of these at rank 1.
    """
    sizes = [np.concatenate((np.arange(n + 1), np.ones(n, np.int64))) for n in n_first.tolist()]
    rows = [
        start + np.concatenate([np.arange(0), *(np.arange(n) for n in range(1, count + 1)), np.arange(count)])
        for start, count in zip(judged.offsets[places].tolist(), n_first.tolist(), strict=True)
    ]
    all_rows = np.concatenate(rows).astype(np.int64)
    alone = np.concatenate([repeat([False, True], [count * (count + 1) // 2, count]) for count in n_first.tolist()])
    n_rankings = 2 * n_first + 1
    n_ideal = np.diff(judged.ideal_offsets)[places]
    of_ranking = repeat(np.arange(len(places)), n_rankings)
    ideal_offsets = offsets_from_sizes(n_ideal[of_ranking])
    ideal_rows = np.arange(ideal_offsets[-1]) + repeat(
        judged.ideal_offsets[places][of_ranking] - ideal_offsets[:-1], n_ideal[of_ranking]
    )
    arrays = {
        "offsets": offsets_from_sizes(np.concatenate(sizes)),
        "ranks": np.where(alone, 1, judged.ranks[all_rows]),
        "labels": judged.labels[all_rows],
        "num_ret": judged.num_ret[places][of_ranking],
        "ideal_offsets": ideal_offsets,
        "ideal_labels": judged.ideal_labels[ideal_rows],
    }
    cut = JudgedRankings.__new__(JudgedRankings)
    for name, array in arrays.items():
        setattr(cut, name, array)
    cut.query_ids = list(range(len(of_ranking)))
    return np.split(measure_rankings(cut, metrics), np.cumsum(n_rankings)[:-1])


def scores_by_query(prepared: PreparedQrels, run: Any, depth: int) -> Callable[[str], dict[Any, float]]:
    """A function from a query to {document: score} of the documents that can be among the first, in the run's order."""
    if not (input_shape(run, Run) == DICTS and all(type(documents) is dict for documents in run.values())):
        settings = prepared.settings
        run = as_run(run, prepared.columns, settings.options.duplicates, None, settings.lines)
    keys = {str(query_id): query_id for query_id in run}
    single = prepared.settings.single

    def top_scores(query_id: str) -> dict[Any, float]:
        if query_id not in keys:
            return {}
        if isinstance(run, Mapping):
            documents = run[keys[query_id]]
            scores = np.fromiter(documents.values(), float, len(documents))
        else:
            place = run.columns.places()[keys[query_id]]
            start, stop = run.columns.offsets[place : place + 2].tolist()
            scores = run.columns.numbers[start:stop].astype(float)
        with np.errstate(over="ignore"):
            compared = scores.astype(np.float32) if single else scores
        least = np.partition(compared, len(scores) - depth)[len(scores) - depth] if len(scores) > depth else -np.inf
        rows = np.flatnonzero(compared >= least)
        if isinstance(run, Mapping):
            doc_ids = list(documents)
            some = [doc_ids[row] for row in rows.tolist()]
        else:
            some = run.columns.ids_at(start + rows)[:]
        return dict(zip(some, scores[rows].tolist(), strict=True))

    return top_scores
