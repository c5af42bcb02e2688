"""The table behind a value of a bare list of labels, and what a rank is worth to a metric.

As in `query_explanation`, every number is a value of the metric itself: for the list down to a rank, with the documents
below it taken for unjudged ones, or for a list with a single document. No formula is written a second time here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsFloat, SupportsIndex

import numpy as np

from fastir.analyses.explain.query_explanation import DIVIDEND, DIVISOR, name_in_quotient
from fastir.analyses.explain.records import PRINTED_ROWS, Box, boxes, metric_name
from fastir.checks import positive_integer
from fastir.data.results.exportable import Exportable, columns_from_records
from fastir.engine.columns.rows import equal_offsets
from fastir.errors import quote
from fastir.evaluation.labels import evaluate_ranked
from fastir.inputs import label_arrays
from fastir.rendering import Cell, Table, number_cell
from fastir.rendering.text import decimals
from fastir.request.options import RANKED, check_options, metric_tuple
from fastir.request.plan import compile_settings

if TYPE_CHECKING:
    from typing import Unpack

    from numpy.typing import ArrayLike

    from fastir.request.conventions import Convention
    from fastir.request.keywords import ConventionName, MetricOptions

UNJUDGED = -1
MAX_RANKS = 10_000


class RankedLabel(NamedTuple):
    """A row of a `RankedExplanation`.

    Attributes
    ----------
    rank : int
        From 1.
    label : int or float
        Negative: not judged.
    gain : float
        What a document with this label would add at rank 1.
    discount : float or None
        The divisor of a gain at this rank: log2(rank + 1) for DCG, the rank for the reciprocal rank; infinite if the
        document adds nothing. If this label has no gain, it is the divisor for the label with the largest gain; None if
        no label has a gain.
    quotient : float
        What the document adds at its rank: gain over discount.
    running_sum : float
        The value down to this rank.
    """

    rank: int
    label: int | float
    gain: float
    discount: float | None
    quotient: float
    running_sum: float


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class RankedExplanation(Exportable):
    """The table behind the value of one list; made by `explain_ranked`. Prints as that table.

    Attributes
    ----------
    metric : str
    value : float
        The value that `evaluate_ranked` gives.
    ideal : float or None
        For nDCG metrics the DCG of the ideal ranking, by which the last running sum is divided; None for other metrics.
    base : float
        The value if none of the labels were known, where the running sum starts; 0 for most metrics.
    documents : list of RankedLabel
        The evaluated list, from rank 1.
    """

    _index = "rank"
    _printed_rows = PRINTED_ROWS

    metric: str
    value: float
    ideal: float | None
    base: float
    documents: list[RankedLabel]

    def _columns(self) -> dict[str, Any]:
        columns = columns_from_records(RankedLabel._fields, self.documents)
        return {**columns, "discount": np.array(columns["discount"], float)}

    def _boxes(self, metric: str | None, rel_level: float = 1) -> tuple[str, list[Box]]:
        """The name of the metric, and the list as boxes."""
        metric_name(metric, {self.metric: self.value})
        rows = [("", row.label, row.running_sum / (self.ideal or 1.0)) for row in self.documents]
        return self.metric, boxes(rows, rel_level)

    def _title(self) -> str:
        total = self.documents[-1].running_sum if self.documents else self.base
        division = "" if self.ideal is None else f" = {decimals(total)} / {decimals(self.ideal)}"
        return f"{self.metric} {decimals(self.value)}{division}"

    def _table(self, digits: int = 4) -> Table:
        rows = [
            [
                Cell(str(rank)),
                Cell("-" if label < 0 else f"{label:g}"),
                Cell(f"{gain:g}", exact=repr(gain)),
                *(number_cell(number, digits) for number in numbers),
            ]
            for rank, label, gain, *numbers in self.documents
        ]
        return Table(["rank", "label", "gain", "discount", "quotient", "running sum"], rows, 0, [], self._title())


def explain_ranked(
    labels: ArrayLike,
    metric: str,
    *,
    ideal_labels: ArrayLike | None = None,
    rel_level: SupportsIndex | SupportsFloat = 1,
    judged_only: bool = False,
    max_depth: SupportsIndex | None = None,
    convention: ConventionName | str | Convention = "fastir",
    **choices: Unpack[MetricOptions],
) -> RankedExplanation:
    """Show how the value of a list of labels is computed, rank by rank.

    Parameters
    ----------
    labels : array of shape (n_documents,)
        The label at each rank, as for `evaluate_ranked`.
    metric : str
        The name of one metric.
    ideal_labels : array or None
        All judged labels, in any order; None: the labels of the list.
    rel_level, judged_only, max_depth, convention, **choices
        As in `evaluate_ranked`.

    Returns
    -------
    RankedExplanation
        Its rows have rank, label, gain, discount, quotient and running sum. For nDCG metrics these belong to the DCG,
        before it is divided by the ideal DCG. If the metric is a sum over ranks, the quotients add up to the value. In
        other metrics the worth of a document depends on those above it; its quotient is then what it adds to them.

    Raises
    ------
    UnknownMetricError, TypeError, ValueError, OverflowError
        As by `evaluate_ranked`; or the name means several metrics.

    Examples
    --------
    >>> import fastir
    >>> fastir.explain_ranked([5, 2, 4, 0, 1], "dcg")
    dcg 8.6487
    rank  label  gain  discount  quotient  running sum
       1      5     5    1.0000    5.0000       5.0000
       2      2     2    1.5850    1.2619       6.2619
       3      4     4    2.0000    2.0000       8.2619
       4      0     0    2.3219    0.0000       8.2619
       5      1     1    2.5850    0.3869       8.6487
    """
    kept: dict[str, Any] = {"rel_level": rel_level, "convention": convention}
    rules: dict[str, Any] = {**kept, "judged_only": judged_only, "max_depth": max_depth}
    settings = compile_settings(metric_tuple(metric), check_options(ties=RANKED, **rules, choices=choices))
    if len(settings.names) != 1:
        raise ValueError(f"{quote(metric)} means {len(settings.names)} metrics; explain_ranked takes one")
    request, params = settings.requests[0], settings.values[0]
    listed = label_arrays.column(labels, "labels")
    judged = listed if ideal_labels is None else label_arrays.column(ideal_labels, "ideal_labels")

    def values(lists: np.ndarray, name: str, **rules: Any) -> np.ndarray:
        many, length = lists.shape
        places, ideal_places = equal_offsets(many, length), equal_offsets(many, len(judged))
        every = np.tile(judged, many)
        results = evaluate_ranked(
            lists.ravel(), places, name, ideal_labels=every, ideal_offsets=ideal_places, **rules, **choices
        )
        return results.values[:, 0]

    value = float(values(listed[None], metric, **rules)[0])
    ranked = listed[: settings.options.max_depth]
    ranked = ranked[ranked >= 0] if settings.options.judged_only else ranked
    divides = request.card.quotient is not None
    summed = name_in_quotient(request, params, DIVIDEND) if divides else request.text
    base, documents = table(ranked, lambda lists: values(lists, summed, **kept))
    ideal = float(values(ranked[None], name_in_quotient(request, params, DIVISOR), **kept)[0]) if divides else None
    return RankedExplanation(settings.names[0], value, ideal, base, documents)


def table(ranked: np.ndarray, values: Callable[[np.ndarray], np.ndarray]) -> tuple[float, list[RankedLabel]]:
    """The base and the rows, by a function that gives the value of each of many lists."""
    n = len(ranked)
    ranked = ranked.astype(np.int64) if ranked.dtype.kind == "u" else ranked
    diagonal = np.arange(n)
    beginnings = np.where(np.tri(n + 1, n, -1, dtype=bool), ranked, UNJUDGED)
    sums = values(beginnings)
    base = float(finite_values(sums[0]))
    kinds = np.unique(ranked)
    first = np.full((len(kinds), n), UNJUDGED, ranked.dtype)
    first[:, :1] = kinds[:, None]
    gains = dict(zip(kinds.tolist(), (finite_values(values(first)) - base).tolist(), strict=True))
    most = max(gains, key=lambda label: abs(gains[label]), default=UNJUDGED)

    shown = [label if gains[label] else most for label in ranked.tolist()]
    after, alone = beginnings[:-1].copy(), np.full((n, n), UNJUDGED, ranked.dtype)
    after[diagonal, diagonal] = alone[diagonal, diagonal] = shown
    added, single = finite_values(values(after)) - finite_values(sums[:-1]), finite_values(values(alone)) - base
    # of a sum over ranks, the term itself: a difference of sums would be that term with a rounding error
    worth = np.where(np.isclose(added, single, rtol=1e-9, atol=0), single, added).tolist()
    changes = (finite_values(sums[1:]) - finite_values(sums[:-1])).tolist()
    rows = []
    for place, label in enumerate(ranked.tolist()):
        gain, top = gains[label], gains[shown[place]]
        discount = (top / worth[place] if worth[place] else math.inf) if top else None
        quotient = worth[place] if gain else changes[place]
        rows.append(RankedLabel(place + 1, label, gain, discount, quotient, float(sums[place + 1])))
    return base, rows


def finite_values(values: Any) -> Any:
    """Values, 0 where they are undefined."""
    return np.where(np.isfinite(values), values, 0.0)


# ---- the worth of ranks --------------------------------------------------------------------------------------------
def rank_weights(metrics: str | Iterable[str], k: int) -> dict[str, np.ndarray]:
    """What each of the first k ranks is worth to each metric, the first one being worth 1.

    That is the value of a list of k with its only relevant document at this rank, over its value with the document at
    rank 1.
    """
    names, k = metric_tuple(metrics), positive_integer("k", "the last rank", k, MAX_RANKS)
    results = evaluate_ranked(np.eye(k, dtype=np.int8).ravel(), equal_offsets(k, k), names)
    weights = {}
    for name, column in zip(results.names, results.values.T, strict=True):
        if not column[0] or not np.isfinite(column[0]):
            raise ValueError(
                f"metric {quote(name)}: a list with one relevant document, at rank 1, has the value {column[0]:g}; "
                "there is nothing that the other ranks could be compared with"
            )
        weights[name] = column / column[0]
    return weights
