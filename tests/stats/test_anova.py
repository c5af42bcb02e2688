"""Many runs at once: the analysis of variance, and Tukey's differences of it and of random orders."""

import numpy as np
from scores_by_hand import X, Y, Z, close, many_scores

from fastir import stats

XYZ = np.stack([X, Y, Z], axis=1)


def test_two_way_anova():
    found = stats.two_way_anova(XYZ)
    assert found.runs[:4] == (close(0.1083333333333333), 2, close(0.05416666666666667), close(2.4749498997995962))
    assert found.runs.p_value == close(0.0976354182795282)
    assert found.queries == (
        close(1.0293333333333333), 19, close(0.0541754385964912), close(2.4753507014028053),
        close(0.0085586581532763),
    )  # fmt: skip
    assert found.error[:3] == (close(0.8316666666666666), 38, close(0.0218859649122807))
    assert found.margin() == close(0.0669673213987833)
    assert found.partial_eta_squared == close(0.1152482269503545)
    assert found.eta_squared == close(0.055010155721056)
    assert found.omega_squared == close(0.0324230503218075)
    between = found.queries.sum_of_squares + found.error.sum_of_squares
    assert found.runs.mean_square / (between / 57) == close(1.6590542718968295)  # the one-way F


def test_friedman_is_the_analysis_of_variance_of_ranks():
    ranks = np.apply_along_axis(lambda row: [(row < v).sum() + ((row == v).sum() + 1) / 2 for v in row], 1, XYZ)
    found = stats.two_way_anova(ranks)
    assert 40 * found.runs.sum_of_squares / (found.runs.sum_of_squares + found.error.sum_of_squares) == close(
        2.2388059701492535
    )


def test_anova_with_repeats_and_tests_of_seeds():
    first = np.array([[0.50, 0.52, 0.51], [0.30, 0.28, 0.33], [0.72, 0.70, 0.69], [0.10, 0.15, 0.12]])
    second = np.array([[0.55, 0.53, 0.57], [0.36, 0.33, 0.30], [0.71, 0.74, 0.73], [0.18, 0.14, 0.20]])
    found = stats.two_way_anova(np.stack([first, second], axis=1))
    assert (found.runs.f, found.runs.p_value) == (close(14.459016393442035), close(0.0015644545263954))
    assert found.queries.f == close(721.4972677595637)
    assert (found.interaction.f, found.interaction.p_value) == (close(0.4480874316940068), close(0.7220654217319672))
    t, p, *_ = stats.t_test(second.mean(axis=1), first.mean(axis=1))
    assert (t, p) == (close(5.680518698404814), close(0.0108108222716688))
    t, p, *_ = stats.welch_test(second.mean(axis=0), first.mean(axis=0))
    assert (t, p) == (close(6.26099033699945), close(0.0087176638598085))


def test_paired_tukey():
    found = stats.tukey_test(XYZ)
    above = np.triu_indices(3, 1)
    p = [0.2566977463767284, 0.0956868471176827, 0.8549631811145455]
    assert found.p_values[above].tolist() == close(p, 1e-11)
    assert found.p_values.T[above].tolist() == close(p, 1e-11)
    assert np.diag(found.p_values).tolist() == [1, 1, 1]
    assert found.effects[above].tolist() == close([0.5069655097303092, 0.6759540129737450, 0.1689885032434358])
    assert found.margin == close(0.1140942289466311, 1e-11)
    assert not found.exact  # a distribution is assumed
    q = np.abs(found.differences[above]) / (0.0218859649122807 / 20) ** 0.5
    assert q.tolist() == close([2.2672186840096047, 3.0229582453461368, 0.7557395613365321])


def test_exact_randomized_tukey():
    found = stats.randomized_tukey_test(XYZ[:5])
    assert (found.p_values * 6**5).tolist() == [[7776, 3384, 264], [3384, 7776, 5640], [264, 5640, 7776]]
    assert found.exact
    thirds = np.array([[2, 2, 2, 2, 1, 2, 1, 2], [0, 1, 2, 0, 1, 1, 1, 1], [1, 1, 1, 2, 1, 2, 0, 2]]).T / 3
    found = stats.randomized_tukey_test(thirds, n_resamples=6**7)
    assert (found.p_values[np.triu_indices(3, 1)] * 6**8).tolist() == [73728, 776448, 1152000]
    assert stats.randomization_test(thirds[:, 0], thirds[:, 1]).p_value == 16 / 256
    assert stats.t_test(thirds[:, 0], thirds[:, 1])[:2] == (close(2.965614910077132), close(0.0209375702069246))


def test_randomized_tukey_with_random_orders():
    found = stats.randomized_tukey_test(XYZ, n_resamples=200_000).p_values[np.triu_indices(3, 1)]
    for p, expected in zip(found, (1110609904674816, 389700040587264, 3259830372673536), strict=True):
        expected /= 6**20
        assert abs(p - expected) < 4 * (expected * (1 - expected) / 200_000) ** 0.5


def test_the_order_of_runs_has_no_say_in_randomized_tukey():
    x = many_scores(30, 4).T
    p = stats.randomized_tukey_test(x, n_resamples=999).p_values
    order = [2, 0, 3, 1]
    assert (stats.randomized_tukey_test(x[:, order], n_resamples=999).p_values == p[np.ix_(order, order)]).all()


def test_tukey_of_two_runs_is_the_t_test():
    for seed, n in enumerate((2, 3, 20, 300)):
        a, b = many_scores(n, seed=seed)
        found, expected = stats.tukey_test(np.stack([a, b], axis=1)), stats.t_test(a, b)
        assert found.p_values[0, 1] == close(expected.p_value)
        interval = stats.t_interval(a, b)
        assert found.margin == close((interval.high - interval.low) / 2)


def test_randomized_tukey_of_two_runs_is_the_randomization_test():
    found = stats.randomized_tukey_test(np.stack([X, Y], axis=1), n_resamples=2**19)
    assert (found.p_values[0, 1], found.exact) == (69120 / 2**20, True)
