"""bounds(): between which values a run's metrics lie, whatever the labels of the unjudged documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, SupportsFloat, SupportsIndex

import numpy as np

from fastir.analyses.bounds.requests import BoundsRequest, difference_bounds, run_bounds
from fastir.analyses.bounds.unjudged_ranks import find_shared
from fastir.checks import positive_integer, refuse_options, whole_number
from fastir.data.run import as_run
from fastir.errors import quote
from fastir.evaluation.drivers.judged import RunJudge
from fastir.evaluation.evaluator import Evaluator, make_evaluator
from fastir.evaluation.run_collections import name_the_run
from fastir.request.custom import custom_among
from fastir.request.options import MAX_DEPTH, TIES, label_above_0, metric_tuple

if TYPE_CHECKING:
    from typing import Unpack

    from fastir.analyses.bounds.result import Bounds
    from fastir.data.qrels import QrelsLike
    from fastir.data.rankings import JudgedRankings
    from fastir.data.run import RunLike
    from fastir.evaluation.keywords import BoundsOptions
    from fastir.request.plan import Settings

LABEL_TIES = ("optimistic", "pessimistic")
MAX_UNSEEN = 10**6


def bounds(
    qrels: QrelsLike,
    run: RunLike,
    metrics: str | Iterable[str],
    *,
    against: RunLike | None = None,
    max_label: SupportsIndex | SupportsFloat | None = None,
    pool_depth: SupportsIndex | None = None,
    unseen: SupportsIndex = 0,
    **options: Unpack[BoundsOptions],
) -> Bounds:
    """How far the unjudged documents of a run could change its metrics: the smallest and largest values.

    These are the documents that the run retrieved. A relevant document that is unjudged and not retrieved would be a
    further document in R and in the ideal ranking: `unseen` allows some. A document that `max_depth` cuts counts as not
    retrieved.

    Parameters
    ----------
    qrels, run, metrics
        As for `evaluate`. A retrieved document is unjudged if it is missing from the qrels or has a negative label.
    against : run or None
        A second run. The result then bounds the difference, `run` less `against`; a document has one label in both
        runs.
    max_label : number or None
        The largest label that an unjudged document can have; None is the largest label of the qrels. If this or a label
        of the qrels is a fraction, an unjudged document can have 0, this, or a label of the qrels.
    pool_depth : int or None
        Unjudged documents below this rank stay unjudged; None is the whole ranking, which `max_depth` may cut.
    unseen : int
        How many documents outside each ranking can have such labels, too: up to a million, not with `against`.
    **options
        Options of `evaluate`, except `doc_weights`.

    Returns
    -------
    Bounds
        `.lower` and `.upper` are Results with the extreme values of each query and the extreme means. `.exact` says of
        each metric whether some labels give them, and `.outer` for which queries this is unknown. It prints as a table
        with the value, the value without unjudged documents (`.condensed`) and judged@k (`.coverage`).

    Raises
    ------
    ValueError
        A label of the qrels is above `max_label`; the order of documents depends on labels (``ties="optimistic"``,
        ``"pessimistic"``) or is none (``"average"``); the convention has several orders; the qrels have groups; unseen
        documents and a second run.
    UnknownMetricError
        As by `evaluate`; or a metric needs the ids of documents, as hole@k does, or has gains without known bounds.
    OverflowError
        `max_label` is too large for a metric's formula.
    FormatError, DuplicateError, NoOverlapError, TypeError, ValueError, OverflowError, RuntimeError, OSError
        As by `evaluate`.

    Warns
    -----
    FastirWarning
        As `evaluate`.

    Notes
    -----
    The label of an unjudged document also counts in R and in the ideal ranking; so nDCG, AP and recall can fall as it
    rises, and an unjudged document below the cutoff matters to them. With every labeling all unjudged documents are
    judged. Some metrics skip unjudged documents, such as bpref: their values may lie outside. If no bounds of a metric
    are known, all labelings are tried if they are few; else the bounds are the metric's range. With real-valued labels
    this holds for normalised err (nerr8 to nerr11 are not normalised) and for bpm. Values are undefined as in
    `evaluate`.

    Examples
    --------
    >>> import fastir
    >>> qrels = {"q": {"a": 1, "b": 0, "c": 1}}
    >>> bounds = fastir.bounds(qrels, {"q": {"x": 3.0, "a": 2.0, "y": 1.0}}, ["P@2", "recall@2"])
    >>> bounds
    metric     lower   value   upper  condensed  judged
    P@2       0.5000  0.5000  1.0000     0.5000  0.5000
    recall@2  0.3333  0.5000  0.6667     0.5000  0.5000
    <BLANKLINE>
    1 query; labels of retrieved unjudged documents from 0 to 1
    >>> bounds.lower["recall@2"], bounds.upper.per_query("P@2"), bounds.exact["P@2"]
    (0.3333333333333333, {'q': 1.0}, True)
    >>> fastir.bounds(qrels, {"q": {"x": 3.0, "a": 2.0, "y": 1.0}}, "recall@2", unseen=2).lower["recall@2"]
    0.2
    """
    refuse_options("bounds", options, ("doc_weights",), "no metric that has bounds reads weights of documents")
    metrics, own = custom_among(metrics)
    if own:
        raise TypeError(
            f"metric {quote(own[0].name)}: a custom metric has no bounds, because its extremes over all "
            "labels of unjudged documents are unknown"
        )
    metrics = metric_tuple(metrics)
    evaluator = Evaluator(qrels, metrics, **options)
    settings = evaluator.rules.settings
    check_order(settings)
    deepest = MAX_DEPTH if pool_depth is None else positive_integer("pool_depth", "the depth", pool_depth, MAX_DEPTH)
    n_unseen = whole_number("unseen", unseen, 0)
    if n_unseen:
        positive_integer("unseen", "the number of documents", n_unseen, MAX_UNSEEN)
    if against is None:
        judged = evaluator.judged_rankings(run)
        largest = largest_label(judged, max_label)
        return run_bounds(BoundsRequest(evaluator, judged, metric_tuple(metrics), largest, deepest, n_unseen))
    if n_unseen:
        raise ValueError("unseen: differences of two runs have bounds over the documents that these retrieved alone")
    check_differences(settings)
    rules = settings.options.duplicates, evaluator.rules.parents, settings.lines
    first_run = as_run(run, evaluator.rules.columns, *rules)
    first = held_evaluator(evaluator).judged_rankings(first_run)
    try:
        second_run = as_run(against, evaluator.rules.columns, *rules)
        second = held_evaluator(evaluator).judged_rankings(second_run)
    except Exception as error:
        name_the_run(error, "against")
        raise
    request = BoundsRequest(evaluator, first, metric_tuple(metrics), largest_label(first, max_label), deepest)
    return difference_bounds(request, second, find_shared(first_run, second_run, first))


def difference_bounds_by_pair(
    qrels: QrelsLike,
    runs: Mapping[Any, RunLike],
    pairs: Iterable[tuple[Any, Any]],
    metrics: Iterable[str],
    **options: Any,
) -> dict[tuple[Any, Any], Bounds]:
    """The bounds of the differences of pairs of runs, by their names; each run is judged once, without warnings."""
    metrics = metric_tuple(metrics)
    evaluator = Evaluator(qrels, metrics, **options)
    settings = evaluator.rules.settings
    check_order(settings)
    check_differences(settings)
    rules = settings.options.duplicates, evaluator.rules.parents, settings.lines
    held = {name: as_run(run, evaluator.rules.columns, *rules) for name, run in runs.items()}
    judge = RunJudge(held_evaluator(evaluator).rules.prepared)
    judged = {name: judge.with_coverage(run, None)[0] for name, run in held.items()}
    bounds_by_pair = {}
    for first, second in pairs:
        request = BoundsRequest(
            evaluator, judged[first], settings.metrics, largest_label(judged[first], None), MAX_DEPTH
        )
        shared = find_shared(held[first], held[second], judged[first])
        bounds_by_pair[first, second] = difference_bounds(request, judged[second], shared)
    return bounds_by_pair


def held_evaluator(evaluator: Evaluator) -> Evaluator:
    """An Evaluator like this one, for runs with ids of documents, not of chunks."""
    rules = evaluator.rules
    if rules.parents is None:
        return evaluator
    return make_evaluator(rules.request(metrics=rules.settings.metrics, columns=(None, None), parents=None))


def check_differences(settings: Settings) -> None:
    """Refuse what differences of two runs have no bounds for."""
    if settings.options.duplicates == "once":
        raise ValueError("against: with duplicates='once' a document has several ranks; give another rule")
    for name, how in zip(settings.names, settings.aggregates, strict=True):
        if how.startswith("geometric"):
            raise ValueError(
                f"metric {quote(name)}: its mean is geometric, so the difference is not a mean of differences"
            )


def check_order(settings: Settings) -> None:
    """Refuse rules by which the labels decide the order of documents."""
    rules = [rules["ties"] for _, rules, _ in settings.parts] or [TIES[settings.ties]]
    for ties in rules:
        if ties in LABEL_TIES:
            raise ValueError(
                f"ties={ties!r} orders equal scores by their labels, which bounds do not know; give another rule"
            )


def largest_label(judged: JudgedRankings, max_label: SupportsIndex | SupportsFloat | None) -> float:
    """The largest label that unjudged documents may have."""
    largest = max(judged.ideal_labels.max(initial=0).item(), 0)
    if max_label is None:
        return int(largest) if largest == int(largest) else largest
    top = label_above_0("max_label", max_label)
    if largest > top:
        row = int(np.argmax(judged.ideal_labels > top))
        query = judged.query_ids[int(np.searchsorted(judged.ideal_offsets, row, "right")) - 1]
        raise ValueError(
            f"max_label={top}, but the qrels have the label {judged.ideal_labels[row]} (query {quote(query)})"
        )
    return top
