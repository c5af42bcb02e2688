"""What few human labels say about a judge, such as a model: its error rates, and a rate corrected for them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastir.checks import number, proportion, whole_number
from fastir.errors import quote
from fastir.stats import student
from fastir.stats._checks import Interval, column
from fastir.stats.predictions import Ids, Sample, align_samples, cluster_codes, clustered_variance, make_sample

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fastir.stats.predictions import Strata, Values

NO_CASE, ONE_CLUSTER = "no case", "one cluster"
MAX_LABELS = 10**15  # the largest answer of labels_needed
LARGE_DF = 1e15  # Student's t with so many degrees of freedom is normal to the last digit


def normal_quantile(confidence: float) -> float:
    """The standard normal deviate of a two-sided interval, without SciPy."""
    return student.quantile(LARGE_DF, (1 + confidence) / 2)


def wilson(hits: int, n: int, confidence: float) -> Interval:
    """The share of hits among n cases, with Wilson's interval."""
    if not n:
        return Interval(math.nan, math.nan, math.nan, math.nan, NO_CASE)
    share, z = hits / n, normal_quantile(confidence)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low = 0.0 if hits == 0 else centre - half
    return Interval(share, low, 1.0 if hits == n else centre + half, math.sqrt(share * (1 - share) / n))


class CorrectedRate(NamedTuple):
    """A rate corrected for a judge's errors; made by `corrected_rate`.

    Attributes
    ----------
    estimate, low, high : float
        The corrected rate and its interval, from 0 to 1.
    standard_error : float
    rate_model : float
        The model's own rate.
    sensitivity, specificity : float
        The share of the model's 1 among the human 1, and of the model's 0 among the human 0.
    note : str
        Why the data are degenerate; "" if they are not.
    """

    estimate: float
    low: float
    high: float
    standard_error: float
    rate_model: float
    sensitivity: float
    specificity: float
    note: str = ""


def corrected_rate(
    y: Values,
    y_model: Values,
    y_model_unlabelled: Values,
    *,
    confidence: float = 0.95,
    clusters: Strata | None = None,
) -> CorrectedRate:
    """Estimate the rate that people would find, from a model's labels and the errors it makes where people judged, too.

    Parameters
    ----------
    y : array of 0 and 1 of shape (n_judged,), or mapping of id to 0 or 1
        Human labels, such as whether a document is relevant.
    y_model : array of 0 and 1 of shape (n_judged,), or mapping
        The model's labels of the same items; from a mapping, the items of `y` are taken.
    y_model_unlabelled : array of 0 and 1 of shape (n_unjudged,), or mapping
        The model's labels of a random sample of other items: those whose rate is asked for.
    confidence : float
    clusters : mapping of id to cluster, pair of arrays, or None
        As for `ppi_mean`, such as the query of each document: the variance is multiplied by the quotient of the
        clustered variance and the variance of independent items.

    Returns
    -------
    CorrectedRate
        The bounds are 0 and 1 if sensitivity and specificity cannot be told from chance. **Undefined**: the bounds are
        NaN if the judged items, or the others, are of a single cluster.

    Raises
    ------
    ValueError
        A label is neither 0 nor 1; people gave all items the same label; sensitivity + specificity is at most 1, so
        that the model's labels tell nothing; values are not aligned; an option is out of range.
    TypeError
        As by `ppi_mean`.

    Notes
    -----
    The estimate is (p + specificity - 1) / (sensitivity + specificity - 1), of the model's rate p: Rogan and Gladen
    (1978). The interval is that of Lang and Reiczigel (2014), Preventive Veterinary Medicine 113, which arXiv
    2511.21140 uses for models as judges: the variance of both samples, with z² / 2 added to the numbers of the model's
    1 and 0, and one right and one wrong label to each class. The plain delta method is too narrow for a judge that
    hardly errs: with 40 human labels its 95 % intervals hold in 86 % of the samples.

    It assumes that the model errs as often among the unjudged items as among the judged ones of the same human label.
    So people may judge as many relevant items as others, whatever the rate is. If the judged items are a random sample,
    `ppi_mean` needs no such assumption.

    See Also
    --------
    ppi_mean : for values that are not 0 or 1.
    fastir.agreement : sensitivity and specificity of labels in qrels, by level.

    Examples
    --------
    >>> from fastir import stats
    >>> people, model = [1] * 20 + [0] * 20, [1] * 18 + [0] * 2 + [1] * 4 + [0] * 16
    >>> found = stats.corrected_rate(people, model, [1] * 70 + [0] * 90)
    >>> round(found.rate_model, 4), round(found.estimate, 4), round(found.low, 4), round(found.high, 4)
    (0.4375, 0.3393, 0.0739, 0.5369)
    """
    z = normal_quantile(proportion("confidence", confidence))
    labelled, unlabelled, ids = align_samples(
        {"y": y, "y_model": y_model}, {"y_model_unlabelled": y_model_unlabelled}, 1
    )
    whole = make_sample(labelled, unlabelled)
    for name, values, side in (
        ("y", whole.y, 0),
        ("y_model", whole.model, 0),
        ("y_model_unlabelled", whole.unlabelled, 1),
    ):
        check_binary(name, values, None if ids is None else ids[side])
    relevant = whole.y == 1
    n_1, n_0, n = int(relevant.sum()), int((~relevant).sum()), len(whole.unlabelled)
    for label, size in ((1, n_1), (0, n_0)):
        if not size:
            raise ValueError(
                f"y has no {label} among {len(relevant)} labels; expected at least 1 of each class, and 10 to know "
                f"sensitivity and specificity to about ±0.25"
            )
    hits_1, hits_0, positive = (
        float(values.sum()) for values in (whole.model[relevant], 1 - whole.model[~relevant], whole.unlabelled)
    )
    if hits_1 / n_1 + hits_0 / n_0 <= 1:
        raise ValueError(
            f"sensitivity {hits_1 / n_1:.4g} and specificity {hits_0 / n_0:.4g} sum to at most 1: the model's labels "
            "are no better than chance, and its rate tells nothing; use the human labels alone, as t_interval(y)"
        )
    rate = positive / n
    estimate, variance = rogan_gladen((rate, n), (hits_1 / n_1, n_1), (hits_0 / n_0, n_0))
    clipped, note = min(max(estimate, 0.0), 1.0), ""
    low, high, error = 0.0, 1.0, math.nan
    rates = (positive + z * z / 2) / (n + z * z), (hits_1 + 1) / (n_1 + 2), (hits_0 + 1) / (n_0 + 2)
    if rates[1] + rates[2] <= 1:
        note = "sensitivity + specificity may be 1"
    else:
        sizes = n + z * z, n_1 + 2, n_0 + 2
        centre, adjusted = rogan_gladen(*zip(rates, sizes, strict=True))
        more, less = (share * (1 - share) / size for share, size in zip(rates[1:], sizes[1:], strict=True))
        centre += 2 * z * z * (centre * more - (1 - centre) * less)
        if clusters is not None:
            adjusted *= design_effect(whole, ids, clusters, estimate, variance)
            note = ONE_CLUSTER if math.isnan(adjusted) else ""
        error = math.sqrt(adjusted)
        low, high = (min(max(centre + side * error, 0.0), 1.0) for side in (-z, z))
        low, high = min(low, clipped), max(high, clipped)
    if not note and estimate != clipped:
        note = f"the estimate {estimate:.4g} was clipped"
    return CorrectedRate(clipped, low, high, error, rate, hits_1 / n_1, hits_0 / n_0, note)


def check_binary(name: str, values: np.ndarray, ids: list[object] | None) -> None:
    wrong = np.flatnonzero((values != 0) & (values != 1))
    if len(wrong):
        place = int(wrong[0])
        where = f"{name}[{place}]" if ids is None else f"{name}: {quote(ids[place])}"
        raise ValueError(f"{where} is {values[place]:g}; expected 0 or 1, such as labels >= 1")


def rogan_gladen(
    positive: tuple[float, float], sensitivity: tuple[float, float], specificity: tuple[float, float]
) -> tuple[float, float]:
    """The corrected rate and its variance by the delta method, from three independent rates and their numbers."""
    (p, n), (q_1, n_1), (q_0, n_0) = positive, sensitivity, specificity
    above_chance = q_1 + q_0 - 1
    theta = (p + q_0 - 1) / above_chance
    spread = p * (1 - p) / n + theta**2 * q_1 * (1 - q_1) / n_1 + (1 - theta) ** 2 * q_0 * (1 - q_0) / n_0
    return theta, spread / above_chance**2


def design_effect(whole: Sample, ids: Ids, clusters: Strata, theta: float, variance: float) -> float:
    """How much larger the variance is because items of one cluster are alike; NaN for a side of one cluster."""
    codes = cluster_codes(clusters, ids, whole)
    relevant = whole.y == 1
    added = np.empty(len(whole.y) + len(whole.unlabelled))
    judged, others = added[: len(relevant)], added[len(relevant) :]
    others[:] = (whole.unlabelled - whole.unlabelled.mean()) / len(others)
    slope = -theta
    for chosen in (relevant, ~relevant):  # of the model's 1: more of them is more sensitivity, or less specificity
        of_class = whole.model[chosen]
        judged[chosen] = slope * (of_class - of_class.mean()) / len(of_class)
        slope = theta - 1
    above_chance = float(whole.model[relevant].mean() - whole.model[~relevant].mean())
    clustered, df = clustered_variance(codes, added, [codes[: len(relevant)], codes[len(relevant) :]])
    if not df:
        return math.nan
    return clustered / above_chance**2 / variance if variance else 1.0


# ---- planning --------------------------------------------------------------------------------------------------------
def labels_needed(
    half_width: float,
    y: ArrayLike,
    y_model: ArrayLike | None = None,
    *,
    n_model: int | None = None,
    confidence: float = 0.95,
) -> int:
    """How many human labels a mean needs for an interval of plus or minus `half_width`.

    Parameters
    ----------
    half_width : float
        Above 0, in the units of the values.
    y : float array of shape (n_pilot,), or float
        The values of a pilot by human labels, or only their standard deviation. For the difference of two runs, a - b.
        The standard deviation of a rate p is the root of p (1 - p), at most 0.5.
    y_model : float array of shape (n_pilot,), float or None
        The values of the pilot by the model's labels, or only their correlation with `y`: for the interval of
        `ppi_mean` or `ppi_difference`. None: no model, and the interval of `t_interval`.
    n_model : int
        With `y_model`: how many values by model labels there will be, those that get human labels, too, among them.
    confidence : float

    Returns
    -------
    int
        The smallest number, at least 2, by Student's t with one degree of freedom less. With a model the variance is
        that of `ppi_mean` at its best weight; given only a correlation, the model's values vary as much as `y`. The
        bounds of `ppi_mean` without clusters are normal, and so a little narrower.

    Raises
    ------
    ValueError
        Human labels for all `n_model` values are too few; a pilot has a single value; the pilots are not aligned; an
        argument is missing or out of range.

    Examples
    --------
    >>> from fastir import stats
    >>> stats.labels_needed(0.05, 0.25), stats.labels_needed(0.05, 0.25, 0.9, n_model=1000)
    (99, 23)
    """
    half_width = number("half_width", half_width, 0.0, open=True)
    level = (1 + proportion("confidence", confidence)) / 2
    spread, together, of_model = pilot_moments(y, y_model)
    if not math.isfinite(spread + together + of_model):
        raise ValueError("the variance of y or y_model is not finite")
    if (y_model is None) != (n_model is None):
        raise ValueError("y_model and n_model go together: the model's values of a pilot, and how many there will be")
    most = None if n_model is None else whole_number("n_model", n_model, 2)

    def half(n: int) -> float:
        variance = spread / n
        if most is not None and n < most and of_model:
            lam = min(max(together / (of_model * most / (most - n)), 0.0), 1.0)
            variance += lam * (lam * of_model - 2 * together) / n + lam * lam * of_model / (most - n)
        return student.quantile(n - 1, level) * math.sqrt(max(variance, 0.0))

    low, high = 1, 2  # a single label has no interval
    while half(high) > half_width and high != most and high < MAX_LABELS:
        low, high = high, 2 * high if most is None else min(2 * high, most)
    if half(high) > half_width and high != most:
        raise ValueError(f"an interval of ±{half_width:.4g} needs more than {MAX_LABELS} labels; expected a wider one")
    if half(high) > half_width:
        raise ValueError(
            f"human labels for all {most} values give an interval of ±{half(high):.4g}; expected n_model above {most}, "
            f"or a half_width from {half(high):.4g} up"
        )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if half(middle) <= half_width else (middle, high)
    return high


def pilot_moments(y: ArrayLike, y_model: ArrayLike | None) -> tuple[float, float, float]:
    """The variance of human values, their covariance with the model's, and the variance of these; 0 without a model."""
    if np.ndim(y) != np.ndim(y if y_model is None else y_model):
        raise ValueError("y and y_model must both be the values of a pilot, or a standard deviation and a correlation")
    if np.ndim(y) == 0:
        deviation = number("y", y, 0.0)  # type: ignore[arg-type]
        variance = deviation * deviation
        correlation = 0.0 if y_model is None else number("y_model", y_model, -1.0)  # type: ignore[arg-type]
        if correlation > 1:
            raise ValueError(f"y_model must be a correlation, at most 1, got {correlation!r}")
        return variance, correlation * variance, variance
    pilot = column(y, "y")
    if len(pilot) < 2:
        raise ValueError("y has one value; expected the values of a pilot, two at least, or their standard deviation")
    model = np.zeros(len(pilot)) if y_model is None else column(y_model, "y_model")
    if len(model) != len(pilot):
        raise ValueError(f"y has {len(pilot)} values but y_model has {len(model)}")
    (variance, together), (_, of_model) = np.cov(pilot, model).tolist()
    return variance, together, of_model
