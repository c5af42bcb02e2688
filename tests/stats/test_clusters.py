"""Clusters of queries, beside the formulas written out: t, intervals, resamples of whole clusters, and labels."""

import itertools
import math
import statistics
import warnings

import numpy as np
import pytest
from scores_by_hand import close

import fastir
from fastir import FastirWarning, stats
from fastir.stats import student

X = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]) / 10
Y = np.array([2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5]) / 10
EVEN = [f"c{i // 3}" for i in range(12)]
UNEVEN = ["a", "b", "a", "c", "b", "a", "d", "d", "a", "b", "c", "a"]
KINDS = pytest.mark.parametrize("labels", [EVEN, UNEVEN], ids=["even", "uneven"])


def by_label(values, labels):
    groups = {}
    for value, label in zip(values, labels, strict=True):
        groups.setdefault(label, []).append(value)
    return list(groups.values())


def clustered_error(values, labels):
    """The standard error, term by term."""
    mean, groups = statistics.fmean(values), by_label(values, labels)
    squares = sum(sum(value - mean for value in group) ** 2 for group in groups)
    return math.sqrt(squares / len(values) ** 2 * len(groups) / (len(groups) - 1))


@KINDS
def test_t_has_the_clustered_error_and_a_degree_less_than_clusters(labels):
    from scipy.stats import t as student

    d = X - Y
    error, freedom = clustered_error(d, labels), len(set(labels)) - 1
    found = stats.t_test(X, Y, clusters=labels)
    assert found.statistic == close(d.mean() / error)
    assert found.p_value == close(2 * student.sf(abs(d.mean() / error), freedom))
    interval = stats.t_interval(X, Y, clusters=labels, confidence=0.9)
    margin = student.ppf(0.95, freedom) * error
    assert interval[:4] == (close(d.mean()), close(d.mean() - margin), close(d.mean() + margin), close(error))


def test_clusters_of_one_query_each_are_the_plain_test_and_said():
    with pytest.warns(FastirWarning, match="each of the 12 clusters has one value"):
        found = stats.t_test(X, Y, clusters=range(12))
    assert found[:2] == (close(stats.t_test(X, Y).statistic), close(stats.t_test(X, Y).p_value))


@KINDS
def test_signs_belong_to_whole_clusters(labels):
    sums = [round(10 * sum(group)) for group in by_label(X - Y, labels)]
    seen = abs(sum(sums))
    reached = [
        abs(sum(map(math.prod, zip(signs, sums, strict=True)))) >= seen
        for signs in itertools.product((1, -1), repeat=len(sums))
    ]
    found = stats.randomization_test(X, Y, clusters=labels)
    assert found == (close(np.mean(X - Y)), statistics.fmean(reached), True, "")


@KINDS
@pytest.mark.parametrize("studentized", [True, False])
def test_the_bootstrap_draws_whole_clusters(labels, studentized):
    groups = by_label(np.rint(10 * (X - Y)), labels)
    n, mean = len(groups), np.concatenate(groups).mean()
    terms = np.array([sum(group) - len(group) * mean for group in groups])

    def t_of(drawn):
        part = terms[list(drawn)]
        return part.mean() / (part.std(ddof=1) / n**0.5) if part.std() > 1e-9 else 0.0

    def mean_of(drawn):
        return np.concatenate([groups[i] for i in drawn]).mean() - mean

    of_drawn = t_of if studentized else mean_of
    seen = mean if not studentized else mean * len(X) / (terms.std(ddof=1) * n**0.5)
    reached = [abs(of_drawn(drawn)) >= abs(seen) - 1e-9 for drawn in itertools.product(range(n), repeat=n)]
    found = stats.bootstrap_test(X, Y, clusters=labels, studentized=studentized, n_resamples=n**n)
    assert found.exact and found.p_value == close(statistics.fmean(reached))
    interval = stats.bootstrap_interval(X, Y, clusters=labels, n_resamples=n**n)
    means = [np.concatenate([groups[i] for i in drawn]).mean() / 10 for drawn in itertools.product(range(n), repeat=n)]
    assert interval[1:4] == (*(close(bound) for bound in np.quantile(means, [0.025, 0.975])), close(np.std(means)))


@KINDS
def test_bca_of_clusters_is_that_of_their_weighted_means(labels):
    groups = by_label(X, labels)
    weights = {f"c{i}": len(group) for i, group in enumerate(groups)}
    results = results_of([statistics.fmean(group) for group in groups], weights)
    low, high = results.interval("score", "bca")
    assert stats.bootstrap_interval(X, method="bca", clusters=labels)[1:3] == (close(low), close(high))


def results_of(values, weights=None):
    """Results with these values: those of a mean reciprocal rank."""
    ids = list(weights or {f"q{i}": 1 for i in range(len(values))})
    metric = fastir.custom_metric("score", lambda judged: [table[query_id] for query_id in judged.query_ids])
    table = dict(zip(ids, values, strict=True))
    qrels, run = ({query_id: {"d": 1} for query_id in ids} for _ in range(2))
    return fastir.evaluate(qrels, run, [metric], weights=weights)


@KINDS
@pytest.mark.parametrize("method", ["t", "percentile"])
def test_the_interval_of_results_is_that_of_their_values(labels, method):
    results = results_of(X.tolist())
    clusters = dict(zip(results.query_ids, labels, strict=True))
    by_array = stats.t_interval if method == "t" else stats.bootstrap_interval
    found = results.interval("score", method, clusters=clusters)
    assert found == tuple(close(bound) for bound in by_array(X, clusters=labels)[1:3])


@KINDS
@pytest.mark.parametrize("test", ["t", "randomization", "bootstrap"])
def test_a_comparison_is_that_of_the_arrays(labels, test):
    ids = [f"q{i:02}" for i in range(12)]
    clusters = dict(zip(ids, labels, strict=True))
    runs = {"x": dict(zip(ids, X, strict=True)), "y": dict(zip(ids, Y, strict=True))}
    comparison = fastir.compare_scores(runs, test=test, clusters=clusters)
    function = {"t": stats.t_test, "randomization": stats.randomization_test, "bootstrap": stats.bootstrap_test}[test]
    (pair,) = comparison.pairs
    assert pair.p_value == close(function(X, Y, clusters=labels).p_value)
    assert (pair.low, pair.high) == tuple(close(x) for x in stats.t_interval(X, Y, clusters=labels)[1:3])
    plain = fastir.compare_scores(runs, test=test).pairs[0]
    assert (pair.effect, pair.wins, pair.n_queries) == (plain.effect, plain.wins, plain.n_queries)
    assert comparison.method.n_clusters == len(set(labels))
    assert f"12 queries in {len(set(labels))} clusters" in str(comparison.method)
    system = comparison.systems[0]
    assert (system.low, system.high) == tuple(close(x) for x in stats.bootstrap_interval(X, clusters=labels)[1:3])


def test_clusters_of_a_comparison_may_stand_in_a_file(tmp_path):
    ids = [f"q{i:02}" for i in range(12)]
    runs = {"x": dict(zip(ids, X, strict=True)), "y": dict(zip(ids, Y, strict=True))}
    path = tmp_path / "clusters.txt"
    path.write_text("".join(f"{query_id} {label}\n" for query_id, label in zip(ids, EVEN, strict=True)))
    by_dict = fastir.compare_scores(runs, clusters=dict(zip(ids, EVEN, strict=True)))
    assert fastir.compare_scores(runs, clusters=path).pairs == by_dict.pairs
    path.write_text("q00 a\n")
    with pytest.raises(fastir.FormatError, match=r"clusters.txt.*query 'q01' has no cluster"):
        fastir.compare_scores(runs, clusters=path)


@pytest.mark.parametrize("test", ["wilcoxon", "sign", "tukey", "randomized_tukey"])
def test_other_tests_refuse_clusters(test):
    runs = {name: {"q1": 1.0, "q2": 0.5} for name in "ab"}
    with pytest.raises(ValueError, match="clusters are for test='t' or 'randomization' or 'bootstrap'"):
        fastir.compare_scores(runs, test=test, clusters={"q1": 1, "q2": 1})


def test_one_cluster_says_nothing_of_the_mean():
    found = stats.t_test(X, Y, clusters=["a"] * 12)
    assert math.isnan(found.p_value) and found.note == "one cluster"
    assert math.isnan(stats.bootstrap_interval(X, clusters=["a"] * 12).low)


@pytest.mark.parametrize(("clusters", "error", "message"), [
    (["a"] * 11, ValueError, "clusters has 11 entries for 12 values"),
    ({"q": 1}, TypeError, "a cluster for each value"),
    ("abcdefghijkl", TypeError, "a cluster for each value"),
    ([None] * 12, ValueError, "value 0 has no cluster"),
    ([[]] * 12, TypeError, "not hashable"),
])  # fmt: skip
def test_clusters_that_are_none(clusters, error, message):
    with pytest.raises(error, match=message):
        stats.t_test(X, clusters=clusters)


def test_a_query_without_a_cluster_is_named():
    with pytest.raises(ValueError, match="query 'q1' has no cluster"):
        results_of([0.1, 0.2]).interval("score", clusters={"q0": "a"})


@pytest.mark.parametrize(("ids", "warned"), [
    (["q1_0", "q1_1", "q2_0", "q2_1"], True), (["a-1", "a-2", "b-1", "b-2", "c-1", "c-2"], True),
    (["q1", "q2", "q3", "q4"], False), (["q_1", "q_2", "q_3", "q_4"], False), (["31_1", "31_2", "32_1", "32_3"], False),
    (["q1_0", "q2_0", "q3_0", "q4_0"], False), (["q1_0", "q1_1", "q2_0", "x"], False), (["q1_0", "q1_1"], False),
])  # fmt: skip
def test_ids_that_look_like_repeats_are_warned_of(ids, warned):
    values = {query_id: 0.1 * place for place, query_id in enumerate(ids)}
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        fastir.compare_scores({"a": values, "b": dict.fromkeys(ids, 0.2)})
        results_of(list(values.values()), dict.fromkeys(ids, 1)).interval("score")
    assert [("repeats of each of" in str(each.message)) for each in found] == [True, True] * warned


def test_prediction_powered_means_add_up_clusters_over_both_samples():
    rng = np.random.default_rng(5)
    y, unlabelled = rng.random(12), rng.random(30)
    model = y + rng.normal(0, 0.1, 12)
    judged, others = [i // 3 for i in range(12)], [i // 4 for i in range(30)]
    plain = stats.ppi_mean(y, model, unlabelled)
    found = stats.ppi_mean(y, model, unlabelled, clusters=(judged, others))
    corrected = y - found.lam * model
    sums = {}
    for values, size, labels in ((corrected, 12, judged), (found.lam * unlabelled, 30, others)):
        for value, label in zip(values - values.mean(), labels, strict=True):
            sums[label] = sums.get(label, 0.0) + value / size
    n = len(set(judged))  # fewer than the clusters of the unjudged queries
    assert found.standard_error == close(math.sqrt(n / (n - 1) * sum(total**2 for total in sums.values())))
    assert (found.estimate, found.lam) == (plain.estimate, plain.lam)
    t = student.quantile(n - 1, 0.975)
    assert found.high - found.estimate == close(t * found.standard_error)
    as_mapping = stats.ppi_mean(
        {f"h{i}": value for i, value in enumerate(y)},
        {f"h{i}": value for i, value in enumerate(model)},
        {f"u{i}": value for i, value in enumerate(unlabelled)},
        clusters={f"h{i}": label for i, label in enumerate(judged)}
        | {f"u{i}": label for i, label in enumerate(others)},
    )
    assert as_mapping == found


def clustered_samples(rng, n_clusters, n_judged, n_trials, mean=0.5):
    """Judged and unjudged values in the same clusters, whose means differ; the model is off by 0.1."""
    clusters = np.repeat(np.arange(n_clusters), 10)
    judged = np.tile(np.arange(10) < n_judged, n_clusters)
    for _ in range(n_trials):
        y = mean + rng.normal(0, 0.2, n_clusters)[clusters] + rng.normal(0, 0.2, len(clusters))
        model = y + 0.1 + rng.normal(0, 0.1, n_clusters)[clusters] + rng.normal(0, 0.1, len(clusters))
        yield y, model, judged, clusters


@pytest.mark.parametrize("n_clusters", [5, 20])
def test_intervals_of_prediction_powered_means_hold_with_few_clusters(n_clusters):
    covered, n_trials = 0, 1500
    for y, model, judged, clusters in clustered_samples(np.random.default_rng(9), n_clusters, 2, n_trials):
        found = stats.ppi_mean(y[judged], model[judged], model[~judged], clusters=(clusters[judged], clusters[~judged]))
        covered += found.low <= 0.5 <= found.high
    assert 0.935 <= covered / n_trials <= 0.97


def test_the_p_value_of_a_clustered_difference_goes_with_its_bounds():
    for a, b, judged, clusters in clustered_samples(np.random.default_rng(2), 6, 4, 20, mean=0.4):
        sides = clusters[judged], clusters[~judged]
        values = [side[judged] for side in (a, b, a, b)] + [side[~judged] for side in (a, b)]
        p = stats.ppi_difference(*values, clusters=sides).p_value
        at_p = stats.ppi_difference(*values, clusters=sides, confidence=1 - p)
        assert min(abs(at_p.low), abs(at_p.high)) == pytest.approx(0, abs=1e-9)


def test_a_side_of_one_cluster_has_no_bounds():
    y, model, unlabelled = [1, 0, 1, 0], [1, 0, 1, 1], [1, 0, 0, 1, 1]
    for clusters in (([1] * 4, [1, 2, 3, 4, 5]), ([1, 2, 3, 4], [1] * 5)):
        mean, rate = (call(y, model, unlabelled, clusters=clusters) for call in (stats.ppi_mean, stats.corrected_rate))
        assert math.isnan(mean.low) and mean.note == rate.note == "one cluster" and math.isnan(rate.low)
    assert not math.isnan(stats.ppi_mean(y, model, unlabelled, clusters=clusters, lam=0).low)


def test_degrees_of_freedom_of_strata_add_up():
    rng = np.random.default_rng(4)
    y, model, unlabelled = rng.random(24), rng.random(24), rng.random(48)
    clusters = [i // 2 for i in range(24)], [i // 4 for i in range(48)]
    strata = [i // 12 for i in range(24)], [i // 24 for i in range(48)]
    found = stats.ppi_mean(y, model, unlabelled, clusters=clusters, strata=strata)
    assert found.high - found.estimate == close(student.quantile(10, 0.975) * found.standard_error)
