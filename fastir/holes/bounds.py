"""bounds(): between which values a run's metrics lie, whatever the labels of the documents that nobody judged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from fastir.checks import positive
from fastir.errors import quote
from fastir.evaluation.evaluator import Evaluator
from fastir.holes.bounded import Bounds
from fastir.holes.extremes import Ends, ends_of
from fastir.holes.holed import blocks, holed
from fastir.holes.means import without_undefined
from fastir.holes.responses import levels_of
from fastir.request.options import MAX_LABEL, TIES, WHOLE, metric_tuple
from fastir.request.settled import RULES, settled
from fastir.results.results import Results

if TYPE_CHECKING:
    from fastir.judged_rankings import JudgedRankings
    from fastir.qrels import QrelsLike
    from fastir.request.plan import Settings
    from fastir.run import RunLike

BY_LABEL = ("optimistic", "pessimistic")


def bounds(
    qrels: QrelsLike,
    run: RunLike,
    metrics: str | Iterable[str],
    *,
    max_label: SupportsIndex | None = None,
    depth: SupportsIndex | None = None,
    **options: Any,
) -> Bounds:
    """How far the unjudged documents of a run could change its metrics: the smallest and largest values.

    Parameters
    ----------
    qrels, run, metrics, **options
        As for `evaluate`. A document that the run retrieved is a hole if the qrels lack it, or give it a negative
        label.
    max_label : int or None
        The label of a hole can be 0 to this; None is the largest label of the qrels.
    depth : int or None
        Holes below this rank stay unjudged; None is the whole ranking, which `max_depth` may cut.

    Returns
    -------
    Bounds
        `.lower` and `.upper` are Results, with the extreme values of each query and the extreme means; `.exact` says of
        each metric whether some labels give them. It prints as a table, beside the value, that without holes
        (`.condensed`), and judged@k (`.coverage`).

    Raises
    ------
    ValueError
        A label of the qrels is above `max_label`; the order of documents depends on labels (``ties="optimistic"``,
        ``"pessimistic"``) or is none (``"average"``); the convention has several orders; the qrels have groups.
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
    The label of a hole also counts in R and in the ideal ranking; so nDCG, AP and recall can fall as it rises, and a
    hole below the cutoff matters to them. Undefined values are those of `evaluate`.

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
    1 query; labels of unjudged documents from 0 to 1
    >>> bounds.lower["recall@2"], bounds.upper.per_query("P@2"), bounds.exact["P@2"]
    (0.3333333333333333, {'q': 1.0}, True)
    """
    evaluator = Evaluator(qrels, metrics, **options)
    check_order(evaluator.prepared.settings)
    judged = evaluator.judge(run)
    top = largest_label(judged, max_label)
    deepest = WHOLE if depth is None else positive("depth", "the depth", depth, WHOLE)
    names, given = metric_tuple(metrics), evaluator.prepared.settings.options
    asked, parts = settled(names, given, {name: getattr(judged, name) for name in RULES})
    ends = Ends(*(np.empty((len(judged), len(asked.names)), dtype) for dtype in (float, float, bool, bool)))
    for columns, part in parts:
        check_limits(part, top)
        levels = levels_of(np.unique(judged.ideal_labels).tolist(), part, top)
        longest = WHOLE if part.options.max_depth is None else part.options.max_depth
        for start, stop in blocks(judged.num_ret):
            block = holed(judged, (start, stop), deepest, longest, part.options.judged_only)
            for whole, own in zip(ends, ends_of(part, block, levels), strict=True):
                whole[start:stop, columns] = own
    value, condensed, shares = (
        judged._results(asked_names, own, evaluator._weights)
        for asked_names, own in (
            (names, given),
            (names, given._replace(judged_only=True)),
            (shares_of(asked), given._replace(judged_only=False, convention="fastir", choices=(), ties=None)),
        )
    )
    coverage = {text: shares[share] for text, share in zip(asked.names, shares_of(asked), strict=True)}
    lower, upper, exact = sides(value, ends, judged)
    return Bounds(value, lower, upper, exact, condensed, coverage, judged, top, None if depth is None else deepest)


def shares_of(settings: Settings) -> tuple[str, ...]:
    """For each metric, the name of judged@k with its cutoff."""
    return tuple(f"judged@{request.cutoff}" if request.cutoff else "judged" for request in settings.requests)


def sides(value: Results, ends: Ends, judged: JudgedRankings) -> tuple[Results, Results, dict[str, bool]]:
    """The smallest and the largest values as Results, and which metrics have exact ones."""
    kept = kept_rows(value, judged)
    hows = list(value.aggregates.values())
    lower, upper = (
        with_values(value, without_undefined(side[kept], ends.undefined[kept], sign, hows, value))
        for side, sign in ((ends.lower, 1.0), (ends.upper, -1.0))
    )
    exact = {name: not bool(ends.outer[kept, column].any()) for column, name in enumerate(value.names)}
    return lower, upper, exact


def kept_rows(value: Results, judged: JudgedRankings) -> np.ndarray:
    """The queries of judged rankings that results have."""
    if len(value.query_ids) == len(judged):
        return np.arange(len(judged))
    kept = set(value.query_ids)
    return np.array([row for row, query_id in enumerate(judged.query_ids) if query_id in kept], np.int64)


def with_values(results: Results, values: np.ndarray) -> Results:
    """Results with other values."""
    return Results(
        results._query_ids,
        results._names,
        values,
        results._status_codes,
        results._aggregates,
        lambda: results.report,
        results.weights,
        results._provenance,
    )


def check_order(settings: Settings) -> None:
    """Refuse rules by which the labels decide where documents stand."""
    rules = [rules["ties"] for _, rules, _ in settings.parts] or [TIES[settings.ties]]
    for ties in rules:
        if ties in BY_LABEL:
            raise ValueError(
                f"ties={ties!r} orders equal scores by their labels, which bounds do not know; give another rule"
            )


def largest_label(judged: JudgedRankings, max_label: SupportsIndex | None) -> int:
    """The largest label that holes may have."""
    largest = max(int(judged.ideal_labels.max(initial=0)), 0)
    if max_label is None:
        return largest
    top = positive("max_label", "the largest label", max_label, MAX_LABEL)
    if largest > top:
        row = int(np.argmax(judged.ideal_labels > top))
        query = judged.query_ids[int(np.searchsorted(judged.ideal_offsets, row, "right")) - 1]
        raise ValueError(
            f"max_label={top}, but the qrels have the label {judged.ideal_labels[row]} (query {quote(query)})"
        )
    return top


def check_limits(settings: Settings, max_label: int) -> None:
    """Refuse metrics that no document with the largest label can have."""
    for limit, text, why in settings.label_limits:
        if max_label > limit:
            raise OverflowError(f"metric {quote(text)}: max_label={max_label} is too large for {why}")
