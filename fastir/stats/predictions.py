"""Means and differences of which few values are known and many predicted: values by human and by model judgments.

The model's values of all queries give a mean that is precise but may be off; the queries that have both say by how
much. A weight, lam, which the data choose unless it is given, says how far the model is trusted.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastir.checks import mapping, number, proportion
from fastir.declared import Record
from fastir.errors import quote
from fastir.stats import student
from fastir.stats._checks import SINGLE, column, is_constant, proper, special
from fastir.stats.clusters import check_labels, number_clusters
from fastir.stats.paired_tests import ONE_CLUSTER

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    Strata = Mapping[Any, Hashable] | tuple[ArrayLike, ArrayLike]
    Values = ArrayLike | Mapping[Any, float]

SHARE_TOLERANCE = 1e-9  # by which given shares may miss a sum of 1
NO_MODEL, ONE_UNJUDGED, NO_VARIANCE = "all values of the model are equal", "one unjudged query", "nothing varies"


class PredictionPowered(NamedTuple):
    """An `Interval` made narrower by model judgments.

    Attributes
    ----------
    estimate, low, high : float
    standard_error : float
    lam : float or dict
        How far the model is trusted: from 0, not at all, to 1, as in plain prediction-powered inference. With strata,
        {stratum: lam}.
    p_value : float
        For `ppi_difference`, the two-sided p-value of a true mean difference of 0, by the distribution of the bounds.
        Above 0, at most 1. **Undefined** (NaN) if the standard error is NaN, or is 0 while the difference
        is not; always NaN for `ppi_mean`.
    note : str
        Why the data are degenerate; "" if they are not.
    """

    estimate: float
    low: float
    high: float
    standard_error: float
    lam: float | dict[Any, float]
    p_value: float = math.nan
    note: str = ""


class Sample(Record):
    """Values of the judged queries, the model's for these and the unjudged, and the largest magnitude behind them."""

    y: np.ndarray
    model: np.ndarray
    unlabelled: np.ndarray
    largest: float
    clusters: np.ndarray | None = None  # int64: the cluster of each judged query, then of each unjudged one

    def part(self, judged: list[int], others: list[int]) -> Sample:
        """The Sample of some of the queries."""
        places = [*judged, *(len(self.y) + place for place in others)]
        clusters = None if self.clusters is None else self.clusters[places]
        return Sample(self.y[judged], self.model[judged], self.unlabelled[others], self.largest, clusters)


class Found(Record):
    """The mean of a Sample and its variance, NaN where that cannot be known."""

    mean: float
    variance: float
    lam: Any
    note: str
    df: int | None = None  # of Student's t, for clusters; None: the normal distribution


def ppi_mean(
    y: Values,
    y_model: Values,
    y_model_unlabelled: Values,
    *,
    confidence: float = 0.95,
    lam: float | None = None,
    strata: Strata | None = None,
    shares: Mapping[Any, float] | None = None,
    clusters: Strata | None = None,
) -> PredictionPowered:
    """Estimate a mean, with its interval, over queries that all have model judgments and of which few have human ones.

    Parameters
    ----------
    y : float array of shape (n_judged,), or mapping of query_id to value
        A metric computed from human judgments, such as from ``Results.per_query``.
    y_model : float array of shape (n_judged,), or mapping
        The metric computed from the model's judgments, aligned with `y`; from a mapping, the queries of `y` are taken.
    y_model_unlabelled : float array of shape (n_unjudged,), or mapping
        The same for other queries of the same population, without human judgments.
    confidence : float
    lam : float from 0 to 1, or None
        How far to trust the model. None: the weight with the smallest variance (PPI++), estimated from the data, from 0
        to 1, for each stratum separately. 0 ignores the model; 1 is prediction-powered inference without a weight.
    strata : mapping of query_id to stratum, pair of arrays, or None
        The stratum of each query: means are estimated within each stratum and weighted by the shares of the strata. Use
        it if the judged queries were drawn stratum by stratum, or to make the interval narrower. A mapping if values
        are mappings; for arrays, the strata of the judged queries, then of the unjudged ones.
    shares : mapping of stratum to share, or None
        The shares of the strata in the population. None: their shares among all queries, judged and unjudged.
    clusters : mapping of query_id to cluster, pair of arrays, or None
        The cluster of each query, given as `strata` are. Queries of one cluster, such as repeats of one question, are
        not independent: the variance is G / (G - 1) times the sum of squares over the clusters, each of what its
        judged and unjudged queries add to the mean less its expectation. G is the number of clusters with judged
        queries, or with unjudged ones if these are fewer. The bounds are by Student's t with G - 1 degrees of freedom.
        With strata, all this within each of them, and the degrees of freedom add up.

    Returns
    -------
    PredictionPowered
        **Undefined**: the bounds are NaN for a single judged query, or a single unjudged query that counts, or if
        either are of a single cluster; the same holds within each stratum. If all model values are equal, `lam` is 0
        unless it is given. The `note` says so.

    Raises
    ------
    ValueError
        Values are not aligned, or are NaN; a query is both judged and unjudged; a stratum has no judged or no unjudged
        queries; shares do not sum to 1; an option is out of range.
    TypeError
        Some values are mappings and others are not; an option has the wrong type.

    Notes
    -----
    Angelopoulos, Bates, Fannjiang, Jordan and Zrnic (2023), and Angelopoulos, Duchi and Zrnic (2023) for `lam`;
    without strata the numbers equal ``ppi_py.ppi_mean_ci``. Strata as in Fisch et al. (2024), plus the
    variance of the shares if these are counted. Without clusters the bounds assume the normal distribution: with fewer
    than about 100 judged queries they are too narrow.

    Examples
    --------
    >>> from fastir import stats
    >>> found = stats.ppi_mean([0.9, 0.5, 0.4, 0.2], [0.8, 0.5, 0.3, 0.3], [0.7, 0.2, 0.6, 0.5, 0.4, 0.3, 0.2, 0.9])
    >>> round(found.estimate, 4), round(found.low, 4), round(found.high, 4), round(found.lam, 4)
    (0.5, 0.3311, 0.6689, 0.6086)
    """
    labelled, unlabelled, ids = align_samples(
        {"y": y, "y_model": y_model}, {"y_model_unlabelled": y_model_unlabelled}, 1
    )
    whole = make_sample(labelled, unlabelled)
    return infer(whole, ids, confidence, lam, strata, shares, clusters)._replace(p_value=math.nan)


def ppi_difference(
    a: Values,
    b: Values,
    a_model: Values,
    b_model: Values,
    a_model_unlabelled: Values,
    b_model_unlabelled: Values,
    *,
    confidence: float = 0.95,
    lam: float | None = None,
    strata: Strata | None = None,
    shares: Mapping[Any, float] | None = None,
    clusters: Strata | None = None,
) -> PredictionPowered:
    """Estimate the mean difference of two runs, a minus b: `ppi_mean` on the differences per query.

    Parameters
    ----------
    a, b : float arrays of shape (n_judged,), or mappings of query_id to value
        A metric of the two runs, computed from human judgments.
    a_model, b_model : float arrays of shape (n_judged,), or mappings
        The same, computed from the model's judgments.
    a_model_unlabelled, b_model_unlabelled : float arrays of shape (n_unjudged,), or mappings
        The same for other queries, without human judgments.
    confidence, lam, strata, shares, clusters
        As for `ppi_mean`.

    Returns
    -------
    PredictionPowered
        **Undefined** as for `ppi_mean`. If 0 is outside of the bounds, the `p_value` is at most 1 - confidence.

    Raises
    ------
    ValueError, TypeError
        As by `ppi_mean`.
    """
    labelled, unlabelled, ids = align_samples(
        {"a": a, "b": b, "a_model": a_model, "b_model": b_model},
        {"a_model_unlabelled": a_model_unlabelled, "b_model_unlabelled": b_model_unlabelled},
        2,
    )
    whole = make_sample([labelled[0] - labelled[1], labelled[2] - labelled[3]], [unlabelled[0] - unlabelled[1]])
    largest = max(float(np.abs(values).max()) for values in (*labelled, *unlabelled))
    return infer(whole._replace(largest=largest), ids, confidence, lam, strata, shares, clusters)


# ---- arguments -----------------------------------------------------------------------------------------------------

Ids = tuple[list[Any], list[Any]] | None  # of the judged and of the unjudged queries; None for arrays


def align_samples(
    labelled: dict[str, Values], unlabelled: dict[str, Values], n_human: int
) -> tuple[list[np.ndarray], list[np.ndarray], Ids]:
    """All values as arrays, in the order of the first of their side; the first `n_human` are by human judgments."""
    samples = {**labelled, **unlabelled}
    mappings = [isinstance(values, Mapping) for values in samples.values()]
    if any(mappings):
        if not all(mappings):
            name = list(samples)[mappings.index(False)]
            raise TypeError(
                f"{name} is {type(samples[name]).__name__}, but other values are mappings of query_id to value"
            )
        judged, others = (list(next(iter(side.values()))) for side in (labelled, unlabelled))  # type: ignore[arg-type]
        both = next((query_id for query_id in others if query_id in set(judged)), None)
        if both is not None:
            raise ValueError(f"query {quote(both)} is judged, and in {next(iter(unlabelled))}")
        whole = [*list(labelled)[:n_human], *unlabelled]
        first, second = (
            [by_query(name, values, ids, name in whole) for name, values in side.items()]  # type: ignore[arg-type]
            for side, ids in ((labelled, judged), (unlabelled, others))
        )
        return first, second, (judged, others)
    check_indexes(labelled)
    check_indexes(unlabelled)
    first, second = (
        [column(values, name) for name, values in side.items()]  # type: ignore[arg-type]
        for side in (labelled, unlabelled)
    )
    for names, side in ((list(labelled), first), (list(unlabelled), second)):
        for name, values in zip(names, side, strict=True):
            if len(values) != len(side[0]):
                raise ValueError(f"{names[0]} has {len(side[0])} values but {name} has {len(values)}")
    return first, second, None


def check_indexes(side: dict[str, Values]) -> None:
    """Check that all pandas Series of a side have the same index: they are paired by order."""
    series: dict[str, Any] = {name: values for name, values in side.items() if hasattr(values, "iloc")}
    indexes = {name: values.index for name, values in series.items()}
    for (one, first), (other, index) in itertools.pairwise(indexes.items()):
        if not index.equals(first):
            raise ValueError(f"{one} and {other} have different indexes; expected the same queries in one order")


def by_query(name: str, values: Mapping[Any, float], ids: list[Any], whole: bool) -> np.ndarray:
    """The values of some queries, which must be all that there are if `whole`."""
    missing = next((query_id for query_id in ids if query_id not in values), None)
    if missing is not None:
        raise ValueError(f"{name} has no value for query {quote(missing)}")
    if whole and len(values) > len(ids):
        more = next(query_id for query_id in values if query_id not in set(ids))
        raise ValueError(f"{name} has a value for query {quote(more)}, which is missing from the other run")
    chosen = [values[query_id] for query_id in ids]
    for query_id, value in zip(ids, chosen, strict=True):
        if not hasattr(value, "__float__") or not math.isfinite(value):
            raise ValueError(f"{name}: query {quote(query_id)} is {value}; expected finite values")
    return column(chosen, name)


def make_sample(labelled: Sequence[np.ndarray], unlabelled: Sequence[np.ndarray]) -> Sample:
    (y, model), (others,) = labelled, unlabelled
    return Sample(y, model, others, max(float(np.abs(values).max()) for values in (y, model, others)))


def rows_by_stratum(strata: Strata, ids: Ids, whole: Sample) -> dict[Any, tuple[list[int], list[int]]]:
    """Return {stratum: positions of its judged and of its unjudged queries}, in order of first appearance."""
    sides = labels_by_side("strata", "stratum", strata, ids, whole)
    rows: dict[Any, tuple[list[int], list[int]]] = {}
    for place, side in enumerate(sides):
        for row, stratum in enumerate(side):
            rows.setdefault(stratum, ([], []))[place].append(row)
    for stratum, rows_by_side in rows.items():
        for part, what in zip(rows_by_side, ("judged", "unjudged"), strict=True):
            if not part:
                raise ValueError(f"stratum {quote(stratum)} has no {what} query")
    return rows


def labels_by_side(option: str, one: str, labels: Strata, ids: Ids, whole: Sample) -> list[list[Any]]:
    """The labels of the judged and of the unjudged queries, such as their strata."""
    if ids is not None and not isinstance(labels, tuple):
        labels = mapping(option, labels, f"map query ids to {option} for values by query")
    if isinstance(labels, Mapping) != (ids is not None):
        raise TypeError(f"{option} must be a mapping of query_id to {one} for values by query, else a pair of arrays")
    if ids is not None:
        missing = next((query_id for side in ids for query_id in side if query_id not in labels), None)
        if missing is not None:
            raise ValueError(f"{option}: query {quote(missing)} has no {one}")
        return [[labels[query_id] for query_id in side] for side in ids]
    if not isinstance(labels, (tuple, list)) or len(labels) != 2:
        raise ValueError(f"{option} must be two arrays, of the judged and of the unjudged queries")
    sides = [np.asarray(side).tolist() for side in labels]
    for side, size, what in zip(sides, (len(whole.y), len(whole.unlabelled)), ("judged", "unjudged"), strict=True):
        if not isinstance(side, list) or len(side) != size:
            raise ValueError(f"{option} must have one value for each of the {size} {what} queries")
    return sides


def cluster_codes(clusters: Strata, ids: Ids, whole: Sample) -> np.ndarray:
    """The number of the cluster of each judged query, then of each unjudged one."""
    judged, others = labels_by_side("clusters", "cluster", clusters, ids, whole)
    keys = (*ids[0], *ids[1]) if ids is not None else range(len(judged) + len(others))
    return check_labels("clusters", clusters, keys, [*judged, *others], "query").codes


def check_shares(shares: Mapping[Any, float], strata: Mapping[Any, Any]) -> dict[Any, float]:
    """Return the given shares as {stratum: share}."""
    shares = mapping("shares", shares, "map strata to shares")
    for stratum in (*strata, *shares):
        if (stratum in strata) != (stratum in shares):
            raise ValueError(f"stratum {quote(stratum)} has {'no share' if stratum in strata else 'no query'}")
    checked = {stratum: number(f"shares[{quote(stratum)}]", shares[stratum], 0) for stratum in strata}
    if abs(math.fsum(checked.values()) - 1) > SHARE_TOLERANCE:
        raise ValueError(f"shares must sum to 1, got {math.fsum(checked.values())!r}")
    return checked


# ---- arithmetic ----------------------------------------------------------------------------------------------------
def infer(
    whole: Sample,
    ids: Ids,
    confidence: float,
    lam: float | None,
    strata: Strata | None,
    shares: Mapping[Any, float] | None,
    clusters: Strata | None = None,
) -> PredictionPowered:
    """The record of a sample, of one stratum or of several."""
    if clusters is not None:
        whole = whole._replace(clusters=cluster_codes(clusters, ids, whole))
    level = (1 + proportion("confidence", confidence)) / 2
    if lam is not None:
        lam = number("lam", lam, 0)
        if lam > 1:
            raise ValueError(f"lam must be at most 1, got {lam!r}")
    if strata is None:
        if shares is not None:
            raise ValueError("shares needs strata")
        return record(estimate(whole, lam), level)
    rows = rows_by_stratum(strata, ids, whole)
    parts = {stratum: estimate(whole.part(judged, others), lam) for stratum, (judged, others) in rows.items()}
    total = len(whole.y) + len(whole.unlabelled)
    counted = {stratum: (len(judged) + len(others)) / total for stratum, (judged, others) in rows.items()}
    share = counted if shares is None else check_shares(shares, rows)
    mean = math.fsum(share[stratum] * part.mean for stratum, part in parts.items())
    variance = math.fsum(share[stratum] ** 2 * part.variance for stratum, part in parts.items())
    if shares is None:
        variance += math.fsum(share[stratum] * (part.mean - mean) ** 2 for stratum, part in parts.items()) / total
    notes = [f"stratum {quote(stratum)}: {part.note}" for stratum, part in parts.items() if part.note]
    lams = {stratum: part.lam for stratum, part in parts.items()}
    df = None if clusters is None else sum(part.df or 0 for part in parts.values()) or None
    return record(Found(mean, variance, lams, "; ".join(notes), df), level)


def record(found: Found, level: float) -> PredictionPowered:
    """The record of a mean, with the bounds and the p-value of a mean of 0."""
    mean, variance, lam, note, df = found
    error = variance**0.5
    margin = error * (float(special().ndtri(level)) if df is None else student.quantile(df, level))
    p = math.nan
    if error == 0:
        p = 1.0 if mean == 0 else math.nan
    elif error > 0:
        t = abs(mean) / error
        p = float(proper(np.asarray(2 * (special().ndtr(-t) if df is None else student.tail(t, df)))))
    return PredictionPowered(mean, mean - margin, mean + margin, error, lam, p, note)


def estimate(sample: Sample, lam: float | None) -> Found:
    """The mean by a weight of the model, or by the one that makes the variance smallest."""
    y, model, unlabelled, largest, clusters = sample
    n, others = len(y), len(unlabelled)
    note = ""
    if lam is None:
        everywhere = np.concatenate([model, unlabelled])
        spread = float(np.var(everywhere, ddof=1))
        if is_constant(spread, largest):
            lam, note = 0.0, NO_MODEL
        else:
            together = float(((y - y.mean()) * (model - model.mean())).mean())
            lam = min(max(together / ((1 + n / others) * spread), 0.0), 1.0)
    corrected = y - lam * model
    mean = float(lam * unlabelled.mean() + corrected.mean())
    if n == 1 or (others == 1 and lam > 0):
        return Found(mean, math.nan, lam, SINGLE if n == 1 else ONE_UNJUDGED)
    spreads = [float(values.var()) for values in (corrected, lam * unlabelled)]
    of_labelled, of_others = (0.0 if is_constant(spread, largest) else spread for spread in spreads)
    variance = of_labelled / n + of_others / others
    if clusters is None or not variance:
        return Found(mean, variance, lam, note if variance else NO_VARIANCE)
    added = np.concatenate(((corrected - corrected.mean()) / n, lam * (unlabelled - unlabelled.mean()) / others))
    variance, df = clustered_variance(clusters, added, [clusters[:n], clusters[n:]][: 2 if lam > 0 else 1])
    return Found(mean, variance, lam, note, df) if df else Found(mean, variance, lam, ONE_CLUSTER)


def clustered_variance(codes: np.ndarray, added: np.ndarray, sides: Sequence[np.ndarray]) -> tuple[float, int]:
    """The variance of a sum of what each query adds to it less its expectation, and its degrees of freedom.

    These are one less than the clusters of the side with the fewest; NaN and 0 if that has one.
    """
    df = min(len(np.unique(side)) for side in sides) - 1
    if not df:
        return math.nan, 0
    sums = number_clusters(codes.tolist()).sums(added)
    return float((sums**2).sum()) * (df + 1) / df, df
