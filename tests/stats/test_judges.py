"""Rates corrected for a judge's errors, labels needed: by formulas, by search, by simulation, and with bad input."""

import math

import numpy as np
import pytest

from fastir import stats
from fastir.stats.judges import normal_quantile, wilson

Z = 1.959963984540054
PEOPLE, MODEL = [1] * 20 + [0] * 20, [1] * 18 + [0] * 2 + [1] * 4 + [0] * 16
OTHERS = [1] * 70 + [0] * 90


def test_normal_deviates_are_those_of_scipy():
    special = pytest.importorskip("scipy.special")
    for confidence in (0.5, 0.8, 0.9, 0.95, 0.99, 0.999):
        assert normal_quantile(confidence) == pytest.approx(special.ndtri((1 + confidence) / 2), rel=1e-13)


@pytest.mark.parametrize(("hits", "n"), [(0, 1), (1, 1), (0, 30), (7, 10), (95, 100), (100, 100)])
def test_wilson_intervals_are_those_of_scipy(hits, n):
    scipy = pytest.importorskip("scipy.stats")
    found = wilson(hits, n, 0.95)
    expected = scipy.binomtest(hits, n).proportion_ci(0.95, "wilson")
    assert found[:3] == pytest.approx((hits / n, expected.low, expected.high), abs=1e-12)


def corrected_slowly(y, model, others, z=Z):
    """Rogan and Gladen's estimate, Lang and Reiczigel's interval, from counts by loops; without clipping."""
    pairs = list(zip(y, model, strict=True))
    n, n_1, n_0 = len(others), sum(y), len(y) - sum(y)
    right_1, right_0 = sum(pair == (1, 1) for pair in pairs), sum(pair == (0, 0) for pair in pairs)
    estimate = (sum(others) / n + right_0 / n_0 - 1) / (right_1 / n_1 + right_0 / n_0 - 1)
    n, n_1, n_0 = n + z**2, n_1 + 2, n_0 + 2
    p, q_1, q_0 = (sum(others) + z**2 / 2) / n, (right_1 + 1) / n_1, (right_0 + 1) / n_0
    theta = (p + q_0 - 1) / (q_1 + q_0 - 1)
    of_p, of_1, of_0 = p * (1 - p) / n, q_1 * (1 - q_1) / n_1, q_0 * (1 - q_0) / n_0
    error = math.sqrt(of_p + (1 - theta) ** 2 * of_0 + theta**2 * of_1) / (q_1 + q_0 - 1)
    centre = theta + 2 * z**2 * (theta * of_1 - (1 - theta) * of_0)
    return estimate, centre - z * error, centre + z * error, error


@pytest.mark.parametrize("seed", range(20))
def test_a_corrected_rate_is_its_formula(seed):
    rng = np.random.default_rng(seed)
    y, others = rng.integers(0, 2, 60), rng.integers(0, 2, 300)
    model = np.where(rng.random(60) < 0.15, 1 - y, y)
    found = stats.corrected_rate(y, model, others)
    expected = corrected_slowly(y.tolist(), model.tolist(), others.tolist())
    assert found[:3] == pytest.approx([min(max(value, 0.0), 1.0) for value in expected[:3]], abs=1e-12)
    assert found.standard_error == pytest.approx(expected[3], abs=1e-12)
    assert found.rate_model == others.mean() and found.sensitivity == model[y == 1].mean()
    assert found.specificity == pytest.approx(1 - model[y == 0].mean(), abs=1e-15)


def test_values_by_id_are_those_of_arrays():
    human, model = ({f"d{n}": label for n, label in enumerate(side)} for side in (PEOPLE, MODEL))
    rest = {f"e{n}": label for n, label in enumerate(OTHERS)}
    assert stats.corrected_rate(human, dict(reversed(model.items())), rest) == stats.corrected_rate(
        PEOPLE, MODEL, np.array(OTHERS, bool)
    )


def test_a_judge_without_errors_leaves_the_rate():
    found = stats.corrected_rate(PEOPLE, PEOPLE, OTHERS)
    assert found.estimate == found.rate_model == 70 / 160 and (found.sensitivity, found.specificity) == (1.0, 1.0)


def test_a_rate_beyond_0_is_clipped_and_said():
    found = stats.corrected_rate(PEOPLE, MODEL, [1] * 10 + [0] * 90)
    assert (found.estimate, found.low) == (0.0, 0.0) and 0 < found.high < 0.3
    assert found.note == "the estimate -0.1429 was clipped"


def test_a_judge_that_may_be_chance_has_bounds_of_0_and_1():
    found = stats.corrected_rate([1] * 3 + [0] * 40, [1, 1, 0] + [1] * 26 + [0] * 14, OTHERS)
    assert found[1:3] == (0.0, 1.0) and found.note == "sensitivity + specificity may be 1"


# ---- clusters --------------------------------------------------------------------------------------------------------
def test_items_that_are_repeated_are_no_news():
    """Four copies of each item, as one cluster, have nearly the standard error of single items."""
    alone = stats.corrected_rate(PEOPLE * 5, MODEL * 5, OTHERS * 5)
    copied = [np.repeat(side * 5, 4) for side in (PEOPLE, MODEL, OTHERS)]
    clusters = np.repeat(np.arange(200), 4), np.repeat(np.arange(200, 1000), 4)
    found = stats.corrected_rate(*copied, clusters=clusters)
    assert found.estimate == pytest.approx(alone.estimate) and found.sensitivity == alone.sensitivity
    assert found.standard_error == pytest.approx(alone.standard_error, rel=0.02)
    assert stats.corrected_rate(*copied).standard_error < 0.52 * alone.standard_error


def test_the_clustered_variance_is_that_of_the_slopes():
    """Moving one label moves the estimate by its derivative, which is summed over the cluster."""
    rng = np.random.default_rng(1)
    y, others = np.array(PEOPLE), np.array(OTHERS)
    sides = y, np.array(MODEL), others
    clusters = rng.integers(0, 12, 40), rng.integers(0, 12, 160)
    sums, plain = np.zeros(12), 0.0
    step = 1e-6
    base = moments_estimate(*sides)
    for side, codes in ((1, clusters[0]), (2, clusters[1])):
        for place, code in enumerate(codes):
            moved = [values.astype(float) for values in sides]
            same = (y == y[place]) if side == 1 else np.full(160, True)
            moved[side][place] += step
            slope = (moments_estimate(*moved) - base) / step
            sums[code] += slope * (sides[side][place] - sides[side][same].mean())
            plain += (slope * (sides[side][place] - sides[side][same].mean())) ** 2
    n = len(set(clusters[0].tolist()))  # fewer than the clusters of the others
    effect = (sums**2).sum() * n / (n - 1) / plain
    independent = stats.corrected_rate(*sides).standard_error
    found = stats.corrected_rate(*sides, clusters=clusters)
    assert found.standard_error == pytest.approx(independent * effect**0.5, rel=1e-4)


def moments_estimate(y, model, others):
    q_1, q_0 = model[y == 1].mean(), 1 - model[y == 0].mean()
    return (others.mean() + q_0 - 1) / (q_1 + q_0 - 1)


def test_a_single_cluster_has_no_interval():
    found = stats.corrected_rate(PEOPLE, MODEL, OTHERS, clusters=([0] * 40, [0] * 160))
    assert math.isnan(found.low) and found.note == "one cluster"


# ---- coverage ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("n_judged", "rate", "right_1", "right_0"), [
    (100, 0.1, 0.9, 0.9), (100, 0.3, 0.7, 0.9), (100, 0.5, 0.95, 0.8), (200, 0.3, 0.9, 0.9), (40, 0.3, 0.9, 0.9),
    (40, 0.5, 0.7, 0.9),
])  # fmt: skip
def test_the_interval_covers_what_it_says(n_judged, rate, right_1, right_0):
    """93 to 97 % of 2 000 samples: 100 and 200 human labels, or 40; 1 000 of the model."""
    rng, covered, n_trials = np.random.default_rng(8), 0, 2000
    for _ in range(n_trials):
        y = rng.random(n_judged + 1000) < rate
        model = np.where(y, rng.random(len(y)) < right_1, rng.random(len(y)) >= right_0)
        found = stats.corrected_rate(y[:n_judged], model[:n_judged], model[n_judged:])
        covered += found.low <= rate <= found.high
    assert 0.93 <= covered / n_trials <= 0.97


def test_the_clustered_interval_covers_what_it_says_where_queries_differ():
    """People judge 4 of the 10 documents of 50 queries with rates of their own; without clusters 93 % hold."""
    rng, covered, n_trials = np.random.default_rng(9), 0, 1000
    queries = np.repeat(np.arange(50), 10)
    judged = np.arange(500) % 10 < 4  # documents are alike
    for _ in range(n_trials):
        y = rng.random(500) < rng.beta(2, 3, 50)[queries]
        model = np.where(y, rng.random(500) < 0.9, rng.random(500) >= 0.8)
        found = stats.corrected_rate(
            y[judged], model[judged], model[~judged], clusters=(queries[judged], queries[~judged])
        )
        covered += found.low <= 0.4 <= found.high
    assert 0.93 <= covered / n_trials <= 0.97


# ---- labels needed -------------------------------------------------------------------------------------------------
def needed_by_trying(half_width, sd, correlation, n_model, confidence):
    """Try every number of labels, and every weight of the model on a fine grid."""
    t = pytest.importorskip("scipy.stats").t
    for n in range(2, n_model + 1):
        rest = n_model - n
        lams = np.linspace(0, 1, 20001) if rest else np.zeros(1)
        shared = 1 / n + (1 / rest if rest else 0)
        variances = sd**2 / n - 2 * lams * correlation * sd**2 / n + lams**2 * sd**2 * shared
        if t.ppf((1 + confidence) / 2, n - 1) * variances.min() ** 0.5 <= half_width:
            return n
    return None


@pytest.mark.parametrize("correlation", [-0.5, 0.0, 0.3, 0.8, 0.95, 1.0])
@pytest.mark.parametrize(("half_width", "sd", "n_model"), [(0.05, 0.3, 400), (0.1, 0.3, 100), (0.02, 0.1, 150)])
def test_labels_needed_with_a_model_are_those_of_a_search(half_width, sd, n_model, correlation):
    expected = needed_by_trying(half_width, sd, correlation, n_model, 0.95)
    assert stats.labels_needed(half_width, sd, correlation, n_model=n_model) == expected


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("half_width", [0.01, 0.05, 0.3, 5.0])
def test_labels_needed_are_those_of_a_search(half_width, confidence):
    expected = needed_by_trying(half_width, 0.25, 0.0, 20_000, confidence)
    assert stats.labels_needed(half_width, 0.25, confidence=confidence) == expected


@pytest.mark.parametrize("seed", range(5))
def test_a_pilot_asks_for_as_many_labels_as_its_own_interval_had(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.random((2, 30))
    found = stats.t_interval(a, b)
    assert stats.labels_needed((found.high - found.low) / 2 * (1 + 1e-12), a - b) == 30
    assert stats.labels_needed((found.high - found.low) / 2 * (1 - 1e-9), a - b) == 31


def test_a_pilot_with_a_model_has_its_standard_deviation_and_correlation():
    rng = np.random.default_rng(3)
    y = rng.random(50)
    model = y + rng.normal(0, 0.1, 50)
    model *= y.std() / model.std()  # values that vary equally
    correlation = float(np.corrcoef(y, model)[0, 1])
    for half_width in (0.02, 0.05, 0.1):
        assert stats.labels_needed(half_width, y, model, n_model=3000) == stats.labels_needed(
            half_width, float(y.std(ddof=1)), correlation, n_model=3000
        )


def test_as_many_labels_give_intervals_of_that_width():
    rng = np.random.default_rng(4)
    n = stats.labels_needed(0.04, 0.25, 0.8, n_model=800)
    widths = []
    for _ in range(300):
        y = rng.normal(0.5, 0.25, 800)
        model = 0.8 * y + rng.normal(0, 0.25 * 0.6, 800)
        found = stats.ppi_mean(y[:n], model[:n], model[n:])
        widths.append((found.high - found.low) / 2)
    assert np.mean(widths) == pytest.approx(0.04, rel=0.03)


def test_a_constant_pilot_needs_two_labels():
    assert stats.labels_needed(0.01, [0.5, 0.5, 0.5]) == stats.labels_needed(0.01, 0.0) == 2


# ---- bad input -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("call", "message"), [
    (lambda: stats.corrected_rate([1] * 9, [1] * 9, [1, 0]), "y has no 0 among 9 labels; expected at least 1 of each"),
    (lambda: stats.corrected_rate([0] * 9, [1] * 9, [1, 0]), r"y has no 1 among 9 labels; .* to about ±0\.25"),
    (lambda: stats.corrected_rate([1, 0], [0, 1], [1, 0]), "sensitivity 0 and specificity 0 sum to at most 1: the "),
    (lambda: stats.corrected_rate([1, 0], [1, 1], [1, 0]), "sensitivity 1 and specificity 0 sum to at most 1"),
    (lambda: stats.corrected_rate([1, 2], [1, 0], [1, 0]), r"y\[1\] is 2; expected 0 or 1, such as labels >= 1"),
    (lambda: stats.corrected_rate([1, 0], [1, 0], [1, 0.5]), r"y_model_unlabelled\[1\] is 0\.5; expected 0 or 1"),
    (lambda: stats.corrected_rate({"a": 1, "b": 0}, {"b": 3, "a": 1}, {"c": 1}), "y_model: 'b' is 3; expected 0 or 1"),
    (lambda: stats.corrected_rate([1, 0], [1], [1, 0]), "y has 2 values but y_model has 1"),
    (lambda: stats.corrected_rate([1, 0], [1, 0], []), r"y_model_unlabelled has shape \(0,\)"),
    (lambda: stats.corrected_rate([1, 0], [1, 0], [1], confidence=95), "confidence must be between 0 and 1"),
    (lambda: stats.corrected_rate([1, 0], [1, 0], [1], clusters=([1], [2])), "clusters must have one value for each"),
    (lambda: stats.labels_needed(0, 0.3), r"half_width must be above 0, got 0\.0"),
    (lambda: stats.labels_needed(0.1, -0.3), "y must be at least 0"),
    (lambda: stats.labels_needed(0.1, [0.3]), "y has one value; expected the values of a pilot, two at least"),
    (lambda: stats.labels_needed(0.1, 0.3, 0.5), "y_model and n_model go together"),
    (lambda: stats.labels_needed(0.1, 0.3, n_model=50), "y_model and n_model go together"),
    (lambda: stats.labels_needed(0.1, 0.3, 1.5, n_model=50), "y_model must be a correlation, at most 1, got 1.5"),
    (lambda: stats.labels_needed(0.1, [0.3, 0.2], 0.5, n_model=50), "y and y_model must both be the values of a pilot"),
    (lambda: stats.labels_needed(0.1, [0.3, 0.2], [0.5], n_model=50), "y has 2 values but y_model has 1"),
    (lambda: stats.labels_needed(0.01, 0.3, 0.9, n_model=50), r"all 50 values give an interval of ±0\.08526"),
    (lambda: stats.labels_needed(1e-300, 0.3), "an interval of ±1e-300 needs more than 1000000000000000 labels"),
    (lambda: stats.labels_needed(0.1, math.inf), "the variance of y or y_model is not finite"),
    (lambda: stats.labels_needed(0.1, 1e200, 0.5, n_model=10**20), "the variance of y or y_model is not finite"),
    (lambda: stats.labels_needed(0.1, 0.3, confidence=1 - 1e-16), "an interval of ±0.1 needs more than"),
    (lambda: stats.labels_needed(0.1, 0.3, confidence=1), "confidence must be between 0 and 1"),
])  # fmt: skip
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
