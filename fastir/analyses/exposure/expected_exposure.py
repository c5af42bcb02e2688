"""expected_exposure: the exposure that groups of relevant documents have over several rankings of each query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, SupportsFloat, SupportsIndex

import numpy as np

from fastir.checks import positive_integer
from fastir.data.qrels import GroupedQrels, as_qrels
from fastir.data.results.report import Report
from fastir.data.results.results import Results
from fastir.data.run import Run, as_run
from fastir.engine.columns.rows import occurrences
from fastir.engine.measure._codes import STATUS_CODES
from fastir.errors import NoOverlapError, quote, warn_caller
from fastir.evaluation.composites.exposure import UNKNOWN, rank_documents, rank_weights, read_doc_groups
from fastir.inputs.places import is_path
from fastir.rendering.look_alikes import quote_first
from fastir.request.options import MAX_DEPTH, label_above_0

if TYPE_CHECKING:
    from fastir.data.qrels import QrelsLike
    from fastir.data.run import RunLike
    from fastir.inputs.mappings import DocGroupsLike, TargetLike

    Sequences = Mapping[Any, Iterable[Any]] | Iterable[RunLike] | RunLike

EE = ("ee_d", "ee_r", "ee_l")


def expected_exposure(
    qrels: QrelsLike,
    runs: Sequences,
    doc_groups: DocGroupsLike,
    target: TargetLike,
    *,
    depth: SupportsIndex = 20,
    rel_level: SupportsIndex | SupportsFloat = 1,
) -> Results:
    """Evaluate the expected exposure of groups of documents over several rankings of each query.

    The exposure of a group is ``eps``, the mean over the rankings of a query of the sum of v_i a_i over relevant
    documents: v_i = 1 / log2(max(i, 2)) at rank i, a_i the document's share of the group. It is compared with ``tau``,
    the target times the sum of v_i over the ranks to `depth`.

    Parameters
    ----------
    qrels : as for `evaluate`
    runs : {query_id: rankings}, or list of runs
        The rankings of a query are lists of document ids in rank order, or ``{doc_id: score}``. Each run of a
        list has one ranking of a query; equal scores are ordered as by ``ties="trec"``. Also one run.
    doc_groups, target : as for `evaluate`
        Relevant documents without groups have no exposure.
    depth : int
        How many ranks the target has; rankings are read as far as they go.
    rel_level : float
        Documents with at least this label are relevant.

    Returns
    -------
    Results
        By query, float64: ``ee_d`` is eps·eps (disparity, lower is more equal), ``ee_r`` eps·tau (relevance, higher is
        better) and ``ee_l`` |eps - tau|^2 (loss, lower is better). None is normalised. **Undefined**: eps is 0 of a
        query without rankings or without relevant documents in them.

    Raises
    ------
    ValueError
        A share is negative or no number, or those of a document or target do not have the sum 1; a target is empty, or
        lacks a group; and as by `evaluate`. NoOverlapError, which is one: no query is in both.
    TypeError, OSError
        As by `evaluate`.

    Warns
    -----
    FastirWarning
        Relevant documents in the rankings have no groups.

    Notes
    -----
    As in the TREC 2022 Fair Ranking track, which has weights in single precision, and an error for relevant documents
    without groups. **Source**: Diaz et al., Evaluating Stochastic Rankings with Expected Exposure, CIKM 2020.

    Examples
    --------
    >>> import fastir
    >>> qrels = {"q": {"a": 1, "b": 1}}
    >>> groups, target = {"a": {"old": 1}, "b": {"new": 1}}, {"old": 0.5, "new": 0.5}
    >>> fastir.expected_exposure(qrels, {"q": [["a", "b"], ["b", "a"]]}, groups, target, depth=2)
    ee_d  2.0000
    ee_r  2.0000
    ee_l  0.0000
    1 query
    """
    longest = positive_integer("depth", "the number of ranks", depth, MAX_DEPTH)
    level = label_above_0("rel_level", rel_level)
    judged = as_qrels(qrels, None, None)
    if isinstance(judged, GroupedQrels):
        raise TypeError("expected_exposure needs labels {query_id: {doc_id: label}}, not groups or preferences")
    query_ids = list(judged)
    places = {str(query_id): place for place, query_id in enumerate(query_ids)}
    relevant = [{str(doc) for doc, label in docs.items() if label >= level} for docs in judged.to_dict().values()]
    groups = read_doc_groups(doc_groups, target, query_ids)
    exposure, n_rankings = np.zeros((len(query_ids), len(groups.groups))), np.zeros(len(query_ids), np.int64)
    unknown: list[Any] = []
    others: dict[Any, None] = {}
    for run in rankings_in_turn(runs):
        of_run = np.array([places.get(str(query_id), -1) for query_id in run.columns.query_ids], np.int64)
        others |= dict.fromkeys(q for q, place in zip(run.columns.query_ids, of_run.tolist(), strict=True) if place < 0)
        n_rankings += occurrences(of_run[of_run >= 0], minlength=len(query_ids))
        queries, ranks, doc_ids = rank_documents(run, "trec")
        queries = of_run[queries]
        found = [
            row
            for row, (query, doc_id) in enumerate(zip(queries.tolist(), doc_ids, strict=True))
            if query >= 0 and str(doc_id) in relevant[query]
        ]
        chosen = np.array(found, np.int64)
        rows = groups.rows_of(doc_ids[row] for row in found)
        unknown += [doc_ids[row] for row, place in zip(found, rows.tolist(), strict=True) if place == UNKNOWN]
        weights = rank_weights(int(ranks.max(initial=0)))[ranks[chosen]]
        exposure += groups.exposure(rows, weights, queries[chosen], len(query_ids))
    if not n_rankings.any():
        if not others:
            raise NoOverlapError("the runs are empty: no rankings")
        here, there = quote_first(query_ids, others)
        raise NoOverlapError(f"no query in common: the qrels have {here}, the runs have {there}")
    if unknown:
        warn_caller(f"{len(unknown)} times a relevant document without groups is ranked, such as {quote(unknown[0])}")
    exposure /= np.maximum(n_rankings, 1)[:, None]
    wanted = groups.target(query_ids) * rank_weights(longest)[1:].sum()
    sides = (exposure, exposure), (exposure, wanted), (exposure - wanted, exposure - wanted)
    values = np.stack([(a * b).sum(axis=1) for a, b in sides], axis=1)
    missing = n_rankings == 0
    codes = np.where(missing, STATUS_CODES["missing"], STATUS_CODES["evaluated"]).astype(np.uint8)
    report = Report(
        in_both=int((~missing).sum()),
        only_in_qrels=int(missing.sum()),
        only_in_qrels_example=next((q for q, absent in zip(query_ids, missing, strict=True) if absent), None),
        only_in_run=len(others),
        only_in_run_example=next(iter(others), None),
    )
    return Results(query_ids, list(EE), values, codes, ["mean"] * len(EE), report)


def rankings_in_turn(runs: Any) -> Iterator[Run]:
    """Runs with one ranking of a query each, of what callers bring."""
    if isinstance(runs, (list, tuple)) and runs and not isinstance(runs[0], tuple):
        yield from (as_run(run, None, None) for run in runs)
    elif isinstance(runs, Mapping) and not is_path(runs) and runs and all(map(is_sequence, runs.values())):
        for turn in range(max(map(len, runs.values()))):
            having = {query_id: rankings[turn] for query_id, rankings in runs.items() if turn < len(rankings)}
            for kind in (True, False):  # lists of ids, and scores
                some = {query_id: docs for query_id, docs in having.items() if isinstance(docs, Mapping) is kind}
                if some:
                    yield as_run(some, None, None)
    else:
        yield as_run(runs, None, None)


def is_sequence(rankings: Any) -> bool:
    """Whether these are rankings, and not one ranking."""
    if not isinstance(rankings, (list, tuple)) or not rankings:
        return False
    pairs = all(isinstance(each, tuple) and len(each) == 2 and isinstance(each[1], (int, float)) for each in rankings)
    return not pairs and all(isinstance(ranking, (list, tuple, np.ndarray, Mapping)) for ranking in rankings)
