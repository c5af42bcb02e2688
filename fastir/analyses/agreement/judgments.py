"""agreement(): do two sets of judgments give the same documents the same labels?

Everything follows from one table of counts per query, over the documents that both sides have judged. Resampling
queries adds such tables up, with the draws of `fastir.stats.bootstrap`, so that intervals do not depend on the machine.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, SupportsIndex, get_args

import numpy as np

from fastir.checks import check_choice, proportion
from fastir.data.qrels import GroupedQrels, Preferences, as_qrels
from fastir.data.results.exportable import Exportable
from fastir.data.stacked import Stacked, stack_judgments
from fastir.engine.columns.rows import occurrences
from fastir.errors import NoOverlapError, quote
from fastir.rendering import Cell, Table, number_cell
from fastir.rendering.look_alikes import quote_first
from fastir.rendering.text import counted, decimals, json_types
from fastir.request.options import relevance_level
from fastir.stats._checks import N_RESAMPLES, SINGLE, Interval
from fastir.stats._resample import Draws
from fastir.stats.bootstrap import draws
from fastir.stats.judges import wilson

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastir.data.qrels import QrelsColumns, QrelsLike


KappaWeights = Literal["linear", "quadratic"]
Scale = Literal["nominal", "ordinal", "interval"]
Truth = Literal["a", "b"]

KAPPA_WEIGHTS = get_args(KappaWeights)
SCALES = get_args(Scale)
TRUTHS = get_args(Truth)


def quotient(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """The quotient, NaN where it is 0 / 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(below > 0, above / below, np.nan)


def overlap(counts: np.ndarray, relevant: np.ndarray) -> np.ndarray:
    """Documents that both sides call relevant, of those that either does."""
    both = counts[..., relevant, :][..., :, relevant].sum(axis=(-2, -1))
    neither = counts[..., ~relevant, :][..., :, ~relevant].sum(axis=(-2, -1))
    return quotient(both, counts.sum(axis=(-2, -1)) - neither)


def margins(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sums of the rows and of the columns: exact, as counts are whole, and faster than `sum` of short axes."""
    ones = np.ones(counts.shape[-1])
    return counts @ ones, ones @ counts


def kappa(counts: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """1 less the observed distance over that which independent sides with these shares of labels would have."""
    rows, columns = margins(counts)
    seen = (counts * distances).sum(axis=(-2, -1)) * counts.sum(axis=(-2, -1))
    chance = ((rows @ distances) * columns).sum(axis=-1)
    return 1 - quotient(seen, chance)


def alpha(counts: np.ndarray, labels: np.ndarray, scale: Scale) -> np.ndarray:
    """Krippendorff's alpha of two coders: the sides are interchangeable, and chance draws without replacement."""
    coincidences = counts + np.swapaxes(counts, -1, -2)
    shares, _ = margins(coincidences)
    n = shares.sum(axis=-1)
    if scale == "ordinal":
        between = ordinal(shares)
    else:
        between = distances(labels, "quadratic" if scale == "interval" else scale)
    seen = (coincidences * between).sum(axis=(-2, -1)) * (n - 1)
    chance = (shares[..., :, None] * shares[..., None, :] * between).sum(axis=(-2, -1))
    return 1 - quotient(seen, chance)


def ac1(counts: np.ndarray) -> np.ndarray:
    """Gwet's AC1: as kappa, but chance agrees on a label the more, the less sure its share is."""
    rows, columns = margins(counts)
    both, ones = rows + columns, np.ones(counts.shape[-1])
    n = rows @ ones
    chance = quotient(1 - quotient((both * both) @ ones, 4 * n * n), np.asarray(len(ones) - 1.0))
    return quotient(quotient(np.einsum("...ii->...", counts), n) - chance, 1 - chance)


def rates_by_level(
    counts: np.ndarray, labels: list[Any], confidence: float
) -> tuple[dict[Any, Interval], dict[Any, Interval]]:
    """Sensitivity and specificity of the columns for labels from each level on, where rows are the truth."""
    sensitivity, specificity = {}, {}
    for place, level in enumerate(labels[1:], 1):
        relevant, others = counts[place:], counts[:place]
        sensitivity[level] = wilson(int(relevant[:, place:].sum()), int(relevant.sum()), confidence)
        specificity[level] = wilson(int(others[:, :place].sum()), int(others.sum()), confidence)
    return sensitivity, specificity


def distances(labels: np.ndarray, kind: str) -> np.ndarray:
    """How far each two labels are apart: 0 or 1, their difference, or its square."""
    apart = np.abs(np.subtract.outer(labels.astype(float), labels.astype(float)))
    return (apart > 0).astype(float) if kind == "nominal" else apart if kind == "linear" else apart**2


def ordinal(shares: np.ndarray) -> np.ndarray:
    """The squares of how many codes lie between two labels, half of those at either end counted."""
    middle = np.cumsum(shares, axis=-1) - shares / 2
    return (middle[..., :, None] - middle[..., None, :]) ** 2


# ---- agreement -------------------------------------------------------------------------------------------------------
MEASURES = ("overlap", "kappa", "weighted_kappa", "alpha", "ac1")
MAX_LABELS = 100
BLOCK_RESAMPLES = 1024  # resamples with tables in memory at once


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Agreement(Exportable):
    """How two sets of judgments agree; made by `agreement`, prints as a table.

    Attributes
    ----------
    overlap : float
        The share, among the documents that either side calls relevant, of those that both call relevant; 0 to 1.
        **Undefined** (NaN) if neither side calls any document relevant. **Source** Voorhees 1998.
    kappa : float
        Cohen's kappa, which treats labels as names; at most 1. **Undefined** (NaN) if both sides use one and the same
        label. **Source** Cohen 1960.
    weighted_kappa : float
        Cohen's kappa weighted by the distance between two labels, or by its square. **Undefined** as `kappa`.
        **Source** Cohen 1968.
    alpha : float
        Krippendorff's alpha, at most 1. **Undefined** (NaN) if there is only one label in all. **Source** Krippendorff
        2011.
    ac1 : float
        Gwet's AC1, at most 1: like `kappa`, but not low just because nearly all labels are equal. **Undefined** as
        `alpha`. **Source** Gwet 2008.
    intervals : dict of str to Interval
        The interval of each of the five: percentiles over resamples of the queries. Resamples in which a value is
        undefined are left out. NaN for a single query.
    sensitivity, specificity : dict of label to Interval
        For each label except the lowest: the share, among the documents that the truth labels so high, of those that
        the other side labels so high, too; and the share, among the documents that the truth labels lower, of those
        that the other side labels lower, too. The intervals are Wilson's, of documents as if these were independent.
        **Undefined** (NaN) if the truth has no such document.
    labels : list of int, or of float if a label is a fraction
        All labels of the documents that both sides judged, in ascending order.
    confusion : int64 array of shape (n_labels, n_labels)
        The number of documents with the row's label in `a` and the column's in `b`.
    confusions : int64 array of shape (n_queries, n_labels, n_labels)
        The same per query.
    query_ids : list
        The queries with a document that both sides judged, in the order of `a`.
    per_query : dict of query_id to dict of str to float
        The five values of each query, and ``n``, the number of its documents that both sides judged.
    only_a, only_b : int
        The number of documents that only one side judged, in queries that both sides have; they do not count.
    left_out : int
        The number of queries, of either side, without a document that both sides judged.
    confidence : float
    method : str
        How the five values and their intervals were computed: the relevance level, the weights, the scale of the
        labels, and the number of resamples; and which side is the truth.
    """

    overlap: float
    kappa: float
    weighted_kappa: float
    alpha: float
    ac1: float
    intervals: dict[str, Interval]
    sensitivity: dict[Any, Interval]
    specificity: dict[Any, Interval]
    labels: list[int] | list[float]
    confusion: np.ndarray
    confusions: np.ndarray
    query_ids: list[Any]
    per_query: dict[Any, dict[str, float]]
    only_a: int
    only_b: int
    left_out: int
    confidence: float
    method: str

    def _columns(self) -> dict[str, Any]:
        names = ("value", "low", "high")
        bounds = self._bounds()
        return {"measure": list(bounds), **{name: [row[name] for row in bounds.values()] for name in names}}

    def _bounds(self) -> dict[str, dict[str, float]]:
        """{measure: {"value", "low", "high"}}"""
        rows = dict(self.intervals)
        for name in ("sensitivity", "specificity"):
            rows |= {f"{name}>={level}": found for level, found in getattr(self, name).items()}
        return {name: {"value": row.estimate, "low": row.low, "high": row.high} for name, row in rows.items()}

    def _json(self, per_query: bool = True) -> dict[str, Any]:
        data: dict[str, Any] = {
            "measures": self._bounds(),
            "confidence": self.confidence,
            "labels": self.labels,
            "confusion": self.confusion,
            "n_queries": len(self.query_ids),
            **{name: getattr(self, name) for name in ("only_a", "only_b", "left_out")},
        }
        return json_types({**data, "per_query": self.per_query} if per_query else data)

    def _table(self, digits: int = 4) -> Table:
        rows = []
        for name, found in self._bounds().items():
            interval = f"[{decimals(found['low'], digits)}, {decimals(found['high'], digits)}]"
            rows.append([Cell(name), number_cell(found["value"], digits), Cell(interval)])
        n = counted(int(self.confusion.sum()), "document", "documents")
        notes = [
            f"{n} of {counted(len(self.query_ids), 'query', 'queries')} judged by both; {self.only_a} by a alone, "
            f"{self.only_b} by b alone."
        ]
        for label, row in zip(self.labels, self.confusion.tolist(), strict=True):
            cases = [(other, n) for other, n in zip(self.labels, row, strict=True) if n]
            texts = [f"{other} in {n if i else counted(n, 'case', 'cases')}" for i, (other, n) in enumerate(cases)]
            notes.append(f"a = {label}: b = {', '.join(texts)}." if cases else f"a = {label}: no case.")
        notes.append(self.method)
        return Table(["", "value", f"{self.confidence:.0%} interval"], rows, 1, notes)


def agreement(
    a: QrelsLike,
    b: QrelsLike,
    *,
    rel_level: SupportsIndex | SupportsFloat = 1,
    kappa_weights: KappaWeights = "quadratic",
    scale: Scale = "ordinal",
    truth: Truth = "a",
    confidence: float = 0.95,
    n_resamples: SupportsIndex = N_RESAMPLES,
    random_state: SupportsIndex = 0,
    n_threads: SupportsIndex | None = None,
) -> Agreement:
    """Measure how two sets of judgments agree on the documents that both judged.

    Parameters
    ----------
    a, b : as for `evaluate`
        A negative label is not a judgment. With groups, the largest label of each document counts.
    rel_level : number
        The smallest label of a relevant document, for `overlap`.
    kappa_weights : {"quadratic", "linear"}
        How `weighted_kappa` weighs a difference between two labels.
    scale : {"ordinal", "nominal", "interval"}
        What labels mean to `alpha`: ranks, names or numbers.
    truth : {"a", "b"}
        Which side `sensitivity` and `specificity` take for the truth; the other side is the judge. Other values are
        the same either way.
    confidence : float
        The confidence level of all intervals.
    n_resamples, random_state, n_threads
        Of the bootstrap over queries, as for `fastir.stats.bootstrap_interval`.

    Returns
    -------
    Agreement

    Raises
    ------
    NoOverlapError
        The two sides have no judged query, or no judged document of a query, in common.
    FormatError, DuplicateError, TypeError, ValueError, OverflowError, OSError
        As by `evaluate` for qrels; or an option is invalid.

    Examples
    --------
    >>> import fastir
    >>> human = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"a": 0, "b": 1}}
    >>> model = {"q1": {"a": 2, "b": 2, "c": 0}, "q2": {"a": 1, "b": 1}}
    >>> result = fastir.agreement(human, model)
    >>> result.overlap, round(result.kappa, 4), result.confusion.tolist()
    (0.75, 0.4118, [[1, 1, 0], [0, 1, 1], [0, 0, 1]])
    >>> {level: round(found.estimate, 4) for level, found in result.specificity.items()}
    {1: 0.5, 2: 0.75}
    """
    relevant_from = relevance_level(rel_level)
    check_choice("kappa_weights", kappa_weights, KAPPA_WEIGHTS)
    check_choice("scale", scale, SCALES)
    check_choice("truth", truth, TRUTHS)
    confidence = proportion("confidence", confidence)
    sides = judgment_columns(a), judgment_columns(b)
    in_both = np.array([query_id in sides[1].places() for query_id in sides[0].query_ids], bool)
    stacked, later = shared_rows(sides, in_both)
    each_label, of_query = np.concatenate(stacked.labels), stacked.of_query
    pairs = each_label[stacked.firsts[later]], each_label[later]
    labels = np.unique(np.concatenate(pairs))
    if len(labels) > MAX_LABELS:
        raise ValueError(f"the judgments have {len(labels)} different labels, expected grades, {MAX_LABELS} at most")
    shared = occurrences(of_query[later], minlength=len(in_both))
    compared = np.flatnonzero(shared)
    tables = count_tables(np.searchsorted(compared, of_query[later]), pairs, labels)
    query_ids = [stacked.query_ids[place] for place in compared.tolist()]
    only_a, only_b = (
        int(occurrences(part, minlength=len(in_both))[: len(in_both)][in_both].sum()) - len(later)
        for part in np.split(of_query, [len(stacked.labels[0])])
    )

    def measures(of: np.ndarray) -> dict[str, np.ndarray]:
        return {
            "overlap": overlap(of, labels >= relevant_from),
            "kappa": kappa(of, distances(labels, "nominal")),
            "weighted_kappa": kappa(of, distances(labels, kappa_weights)),
            "alpha": alpha(of, labels, scale),
            "ac1": ac1(of),
        }

    total, each = measures(tables.sum(axis=0).astype(float)), measures(tables.astype(float))
    resamples = [measures(part) for part in resample_tables(tables, n_resamples, random_state, n_threads)]
    n_drawn = sum(len(part["kappa"]) for part in resamples)
    method = (
        f"Overlap of labels from {relevant_from} on; {kappa_weights} weights; alpha of {scale} labels; percentiles of "
        f"{n_drawn} bootstrap resamples of the queries (random_state {random_state}). Sensitivity and specificity of "
        f"{'b' if truth == 'a' else 'a'}, where {truth} is the truth, with Wilson intervals."
    )
    confusion = tables.sum(axis=0)
    sensitivity, specificity = rates_by_level(confusion if truth == "a" else confusion.T, labels.tolist(), confidence)
    return Agreement(
        **{name: float(value) for name, value in total.items()},
        intervals={
            name: interval(float(value), np.concatenate([part[name] for part in resamples]), confidence, len(tables))
            for name, value in total.items()
        },
        sensitivity=sensitivity,
        specificity=specificity,
        labels=labels.tolist(),
        confusion=confusion,
        confusions=tables,
        query_ids=query_ids,
        per_query={
            query_id: {name: float(values[place]) for name, values in each.items()} | {"n": n}
            for place, (query_id, n) in enumerate(zip(query_ids, shared[compared].tolist(), strict=True))
        },
        only_a=only_a,
        only_b=only_b,
        left_out=len(in_both) + len(sides[1].query_ids) - int(in_both.sum()) - len(query_ids),
        confidence=confidence,
        method=method,
    )


def judgment_columns(judgments: Any) -> QrelsColumns:
    """The columns of a caller's judgments, of groups with the largest label of each document."""
    qrels = as_qrels(judgments, None, None)
    if isinstance(qrels, Preferences):
        raise TypeError("qrels: preferences have no labels to compare")
    return (qrels.columns.union if isinstance(qrels, GroupedQrels) else qrels).columns


def shared_rows(sides: tuple[QrelsColumns, QrelsColumns], in_both: np.ndarray) -> tuple[Stacked, np.ndarray]:
    """Both sides, and the rows of the second whose documents the first has judged, too."""
    if not in_both.any():
        one, other = quote_first(sides[0].query_ids, sides[1].query_ids)
        raise NoOverlapError(f"the two sets of judgments have no query in common: {one} and {other}")
    if sides[0].integers == sides[1].integers:
        stacked = stack_judgments(sides, keeps_open=False)
        later = np.flatnonzero(stacked.firsts != np.arange(len(stacked.firsts)))
        if len(later):
            return stacked, later
    query_id = sides[0].query_ids[int(np.argmax(in_both))]
    one, other = quote_first(*(judged_ids(side, query_id) for side in sides))
    raise NoOverlapError(
        f"no document is judged by both for any query: of query {quote(query_id)} one side has {one}, the other {other}"
    )


def judged_ids(side: QrelsColumns, query_id: Any) -> list[Any]:
    rows = side.slice_of(query_id)
    return list(itertools.compress(side.ids[rows], (side.numbers[rows] >= 0).tolist()))


def count_tables(queries: np.ndarray, pairs: tuple[np.ndarray, np.ndarray], labels: np.ndarray) -> np.ndarray:
    """How often each pair of labels occurs in each query: int64 of shape (n_queries, n_labels, n_labels)."""
    size = len(labels)
    rows, columns = (np.searchsorted(labels, side) for side in pairs)
    n_cells = (int(queries.max()) + 1) * size * size
    return occurrences((queries * size + rows) * size + columns, minlength=n_cells).reshape(-1, size, size)


def resample_tables(
    tables: np.ndarray, n_resamples: SupportsIndex, random_state: SupportsIndex, n_threads: SupportsIndex | None
) -> Iterator[np.ndarray]:
    """The sum of the tables of as many queries, drawn with replacement: float64, a table per resample, in blocks."""
    n_queries, size, _ = tables.shape
    cells = tables.reshape(n_queries, -1).T
    seen = np.flatnonzero(cells.any(axis=1))
    columns = np.ascontiguousarray(cells[seen].T)
    resamples = draws(n_queries, len(seen), n_resamples, random_state, n_threads)
    for start in range(0, resamples.total, BLOCK_RESAMPLES):
        part = np.empty((len(seen), min(BLOCK_RESAMPLES, resamples.total - start)), np.int64)
        resamples.counts(Draws(resamples, columns, part, start))
        sums = np.zeros((part.shape[1], size * size))
        sums[:, seen] = part.T
        yield sums.reshape(-1, size, size)


def interval(estimate: float, values: np.ndarray, confidence: float, n_queries: int) -> Interval:
    """The percentiles of resampled values; those that are undefined are left out."""
    defined = values[~np.isnan(values)]
    if n_queries < 2 or not len(defined):
        return Interval(estimate, np.nan, np.nan, np.nan, SINGLE if n_queries < 2 else "undefined")
    low, high = np.quantile(defined, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(estimate, float(low), float(high), float(defined.std()))
