"""The arithmetic of fastir.stats: worked values, full enumeration, SciPy where its conventions are the same."""

import itertools
import math
import signal
import time
from fractions import Fraction

import numpy as np
import pytest

import fastir
from fastir import stats
from fastir.stats import _resample, _subset_sums, bootstrap, exact, grid, paired_tests, randomization, resampling

# Sakai (2018), table 5.1, and ten more queries; whole tenths and hundredths.
X = np.array([7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1]) / 10
Y = np.array([5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2]) / 10
Z = np.array([0, 0, 2, 1, 3, 3, 1, 2, 4, 4, 4, 3, 3, 2, 2, 2, 1, 5, 4, 3]) / 10
XYZ = np.stack([X, Y, Z], axis=1)
A = np.array([61, 42, 33, 75, 50, 28, 91, 47, 66, 39]) / 100
B = np.array([55, 40, 36, 60, 52, 20, 85, 49, 51, 30]) / 100
TESTS = (stats.t_test, stats.wilcoxon, stats.sign_test, stats.randomization_test, stats.bootstrap_test)
PAIRS = {"xy": (X, Y), "xz": (X, Z), "yz": (Y, Z), "ab": (A, B)}


def close(value, tolerance=1e-10):
    return pytest.approx(value, rel=tolerance, abs=0)


def many_scores(n, k=2, seed=0):
    """Scores on no grid."""
    return np.random.default_rng(seed).random((k, n))


# ---- worked values -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pair", "t", "p"),
    [
        ("xy", 2.1157598612734656, 0.04779676184496439),
        ("xz", 1.613300878952031, 0.1231651045809951),
        ("yz", 0.6526936253786, 0.521773448398489),
        ("ab", 2.573049798858673, 0.0300371390978427),
    ],
)
def test_t(pair, t, p):
    found = stats.t_test(*PAIRS[pair])
    assert (found.statistic, found.p_value, found.exact, found.note) == (close(t), close(p), False, "")


def test_t_interval_and_one_sided_t():
    found = stats.t_interval(X, Y)
    assert found[:3] == (close(0.075), close(0.0008059447322440), close(0.1491940552677559))
    assert stats.t_test(X, Y, alternative="greater").p_value == close(0.023898380922482195)
    assert stats.t_test(X, Y, alternative="less").p_value == close(1 - 0.023898380922482195)
    assert stats.t_test(X - Y) == stats.t_test(X, Y)


@pytest.mark.parametrize(
    ("pair", "count", "of"), [("xy", 69120, 2**20), ("xz", 151632, 2**20), ("yz", 653824, 2**20), ("ab", 34, 2**10)]
)
def test_exact_randomization(pair, count, of):
    """Without a tolerance for what is equal on paper the first would be 68736."""
    a, b = PAIRS[pair]
    assert stats.randomization_test(a, b)[1:] == (count / of, True, "")
    assert stats.randomization_test(b, a).p_value == count / of
    assert stats.randomization_test(a, b, alternative="greater").p_value == count / of / 2
    assert stats.randomization_test(b, a, alternative="less").p_value == count / of / 2


@pytest.mark.parametrize(
    ("pair", "zeros", "w", "p", "corrected"),
    [
        ("xy", "wilcox", 24, 0.0372293031021671, 0.0399460216747035),
        ("xy", "pratt", 49, 0.0653006896869358, 0.0681230496693848),
        ("xy", "zsplit", 56.5, 0.0674896075838294, 0.0703655874977186),
        ("xz", "wilcox", 48, 0.1731437746832581, None),
        ("xz", "pratt", 66, 0.1753035558008973, None),
        ("xz", "zsplit", 69, 0.1762200983215345, None),
        ("ab", "wilcox", 8, 0.0459977900113863, 0.0518654147914673),
    ],
)
def test_wilcoxon_by_the_normal_approximation(pair, zeros, w, p, corrected):
    found = stats.wilcoxon(*PAIRS[pair], zeros=zeros, exact=False)
    assert found == (w, close(p), False, "")
    if corrected:
        assert stats.wilcoxon(*PAIRS[pair], zeros=zeros, exact=False, continuity=True).p_value == close(corrected)


@pytest.mark.parametrize(
    ("pair", "zeros", "count", "of"),
    [
        ("ab", "wilcox", 50, 2**10),
        ("xy", "wilcox", 1322, 2**15),
        ("xy", "pratt", 2338, 2**15),
        ("xz", "wilcox", 24236, 2**17),
        ("xz", "pratt", 24140, 2**17),
        ("xz", "zsplit", 24140, 2**17),
    ],
)
def test_exact_wilcoxon_with_ties(pair, zeros, count, of):
    assert stats.wilcoxon(*PAIRS[pair], zeros=zeros)[1:] == (count / of, True, "")


@pytest.mark.parametrize(
    ("pair", "wins", "p"), [("xy", 10, 0.3017578125), ("xz", 11, 0.332305908203125), ("yz", 8, 1.0), ("ab", 7, 0.34375)]
)
def test_sign(pair, wins, p):
    assert stats.sign_test(*PAIRS[pair])[:2] == (wins, close(p))


def test_two_way_anova():
    found = stats.two_way_anova(XYZ)
    assert found.runs[:4] == (close(0.1083333333333333), 2, close(0.05416666666666667), close(2.4749498997995962))
    assert found.runs.p_value == close(0.0976354182795282)
    assert found.queries == (
        close(1.0293333333333333),
        19,
        close(0.0541754385964912),
        close(2.4753507014028053),
        close(0.0085586581532763),
    )
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


@pytest.mark.parametrize(
    ("q", "k", "freedom", "p"),
    [
        (3, 2, 10, 0.0598903244255574),
        (4, 5, 60, 0.048050543543979),
        (3.5, 20, 931, 0.603797654424677),
        (5.012, 20, 931, 0.051660549423196),
    ],
)
def test_studentized_range(q, k, freedom, p):
    assert float(stats.studentized_range_sf(q, k, freedom)) == close(p)


def test_studentized_range_against_scipy_and_t():
    from scipy import special
    from scipy.stats import studentized_range

    assert stats.studentized_range_ppf(0.95, 20, 931) == close(5.026359842457)
    assert stats.studentized_range_ppf(0.95, 3, 38) == close(3.449020901406288)
    for q, k, freedom in ((3.0, 3, 1), (10.0, 3, 2), (3.0, 10, 5), (6.0, 100, 50), (0.5, 4, 12), (4.0, 3, np.inf)):
        assert float(stats.studentized_range_sf(q, k, freedom)) == close(studentized_range.sf(q, k, freedom), 2e-9)
    for freedom in (1, 2, 3, 20, 5000):  # two variables: their difference is a t
        for q in (0.01, 1.0, 8.0, 20.0):
            expected = 2 * special.stdtr(freedom, -q / 2**0.5)
            found = float(stats.studentized_range_sf(q, 2, freedom))
            assert found == pytest.approx(expected, rel=1e-11, abs=1e-30), (q, freedom)


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


DRAWN = np.array([31, -5, 12, 22, -11]) / 100


def test_bootstrap_intervals_of_all_resamples():
    found = stats.bootstrap_interval(DRAWN)
    assert found == (close(0.098), close(-0.04), close(0.236), close(0.0708463125363628), "")
    assert stats.bootstrap_interval(DRAWN, confidence=0.9)[1:3] == (close(-0.02), close(0.216))
    assert stats.bootstrap_interval(DRAWN, method="bca")[1:3] == (close(-0.04), close(0.236))


def test_levels_of_the_bca_interval():
    """Seen through a distribution that is its own quantile function."""
    from scipy import special

    whole = grid.to_grid(DRAWN[None])
    sums = bootstrap.resampled(whole, bootstrap.draws(5, 1, 3125, 0, 1)).sums[0]
    below, equal = (sums < 49).sum(), (sums == 49).sum()
    assert special.ndtri((below + equal / 2) / 3125) == close(-0.0084223705770383)
    of = paired_tests.moments(DRAWN, 1.0)
    assert bootstrap.skewness_of_mean(DRAWN, of) / 6 == close(-0.0033224612055756)
    assert bootstrap.skewness_of_mean(X - Y, paired_tests.moments(X - Y, 1.0)) / 6 == close(0.0066296102579149)
    even = bootstrap.Resampled(grid.Grid(np.array([[5000]]), 1.0, 0), np.arange(10001)[None], None)
    low, high = even.interval(0, -1, 6 * 0.1, "bca", 0.95)  # bias 0, acceleration 0.1
    z = special.ndtri(0.975)
    assert (low, high) == tuple(close(10000 * special.ndtr(v / (1 - 0.1 * v))) for v in (-z, z))


def test_bootstrap_shift_tests_of_all_resamples():
    assert stats.bootstrap_test(DRAWN, studentized=False)[:3] == (close(0.098), 574 / 3125, True)
    found = stats.bootstrap_test(DRAWN)
    assert found == (close(1.2372396188298755), 840 / 3125, True, "5 resamples without variance")
    sides = [stats.bootstrap_test(DRAWN, alternative=side).p_value for side in ("greater", "less")]
    assert sides[0] < 840 / 3125 < sides[1]
    assert stats.bootstrap_test(-DRAWN, alternative="less").p_value == sides[0]


CORRECTED = {
    "bonferroni": [0.008, 0.064, 0.312, 0.328, 0.336, 0.48, 0.592, 1],
    "holm": [0.008, 0.056, *[0.234] * 6],
    "holm_sidak": [0.00797205593005597, 0.0546737773262951, *[0.21233721621145] * 6],
    "sidak": [
        0.00797205593005597,
        0.0622363871076847,
        0.272576878252815,
        0.284600129224387,
        0.290546276130735,
        0.390431061458918,
        0.459385246580266,
        0.840435223129321,
    ],
    "hochberg": [0.008, 0.056, *[0.148] * 5, 0.205],
    "hommel": [0.008, 0.056, 0.111, 0.111, 0.111, 0.12, 0.148, 0.205],
    "bh": [0.008, 0.032, 0.0672, 0.0672, 0.0672, 0.08, 0.0845714285714286, 0.205],
    "by": [
        0.0217428571428571,
        0.0869714285714286,
        *[0.18264] * 3,
        0.217428571428571,
        0.22985306122449,
        0.557160714285714,
    ],
    "two_stage_bh": [0.006, 0.024, *[0.0504] * 3, 0.06, 0.0634285714285714, 0.15375],
}
RAW = [0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205]


@pytest.mark.parametrize("method", CORRECTED)
def test_corrections(method):
    assert stats.adjust(RAW, method).tolist() == close(CORRECTED[method])
    shuffled = [3, 7, 0, 5, 1, 6, 2, 4]
    with_nan = [*(RAW[i] for i in shuffled), math.nan]
    found = stats.adjust(with_nan, method).tolist()
    assert found[:8] == close([CORRECTED[method][i] for i in shuffled])
    assert math.isnan(found[8])


def test_corrections_like_statsmodels():
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    names = {
        "holm_sidak": "holm-sidak",
        "hochberg": "simes-hochberg",
        "bh": "fdr_bh",
        "by": "fdr_by",
        "two_stage_bh": "fdr_tsbh",
    }
    random = np.random.default_rng(1)
    for size in (1, 2, 3, 7, 30):
        p = np.round(random.random(size) ** 2, 2)  # with ties
        for method in CORRECTED:
            expected = multitest.multipletests(p, 0.05, names.get(method, method))[1]
            assert stats.adjust(p, method).tolist() == pytest.approx(expected.tolist(), rel=1e-10, abs=1e-15), method


def test_effect_sizes():
    expected = {
        "glass": 0.4360837524443069,
        "d_av": 0.3785658488438016,
        "d_z": 0.4730982873872994,
        "dominance": 0.25,
        "hedges_g": 0.3710363263433419,
        "hedges_gz": 0.4541319440138031,
        "rank_biserial": 0.6,
    }
    for kind, value in expected.items():
        assert stats.effect_size(X, Y, kind) == close(value), kind
    assert stats.effect_size(Y, X, "glass") == close(-0.3390887386414955)
    assert stats.effect_size(X, Y, "anova") == close(2**0.5 * expected["d_z"])
    assert stats.hedges_factor(19) == close(0.9599103529242548)
    assert stats.hedges_factor(38) == close(0.9801104021309475)
    assert set(stats.EFFECTS) == {*expected, "anova"}


def test_power():
    assert stats.power(0.4730982873873, 20) == close(0.5193231666173277)
    assert stats.power(0.3, 50) == close(0.547657038970515)
    assert stats.sample_size(0.3) == close(89.14936472, 1e-8)
    assert stats.detectable(20) == close(0.6604416544, 1e-7)
    assert stats.detectable(50) == close(0.4041829997, 1e-7)
    assert stats.detectable(1000) == close(0.0886810183, 1e-4)  # which has a power of .800017
    for n in (3, 20, 1000, 100_000):
        assert stats.power(stats.detectable(n), n) == close(0.8)
    assert stats.power(1.0, 1000) == 1.0  # where SciPy's noncentral t has NaN for the far tail


def test_equivalence():
    found = stats.equivalence_test(X, Y, low=-0.1, high=0.1)
    assert found[:2] == (close(-0.7052532870911561), close(0.2446046536638028))
    assert stats.equivalence_test(X, Y, low=-0.1, high=1.0).statistic == close(4.936773009638088)
    assert stats.equivalence_test(X, Y, low=-0.1, high=1.0).p_value == close(4.578526614659e-05)


def test_max_t():
    second = np.array([9, 8, 5, 7, 6, 3, 10, 4, 7, 5]) - [8, 8, 6, 5, 6, 2, 9, 5, 5, 4]
    p, adjusted = stats.max_t(np.stack([A - B, second / 10], axis=1))
    assert (p * 1024).tolist() == [34, 192]
    assert (adjusted * 1024).tolist() == [62, 196]


# ---- against full enumeration --------------------------------------------------------------------------------------

SIGNS = {n: np.array(list(itertools.product((1, -1), repeat=n))) for n in range(1, 9)}


def test_ten_thousand_small_inputs_against_full_enumeration():
    random = np.random.default_rng(5)
    for case in range(10_000):
        n = int(random.integers(1, 9))
        scale = (1, 3, 10, 100, 7, 2520)[case % 6]
        a, b = random.integers(0, min(scale, 12) + 1, (2, n))
        alternative = paired_tests.ALTERNATIVES[case % 3]
        sums, seen = SIGNS[n] @ (a - b), (a - b).sum()
        reach = {"two-sided": abs(sums) >= abs(seen), "greater": sums >= seen, "less": sums <= seen}[alternative]
        found = stats.randomization_test(a / scale, b / scale, alternative=alternative)
        assert found[1:3] == (reach.mean(), True), (a, b, scale, alternative)


def test_small_inputs_without_a_grid_against_full_enumeration():
    random = np.random.default_rng(6)
    for _ in range(300):
        n = int(random.integers(1, 9))
        a, b = random.choice(random.random(4), (2, n))  # few values: sums tie, up to rounding
        sums = SIGNS[n] @ (a - b)
        reach = abs(sums) >= abs((a - b).sum()) - 1e-9
        assert stats.randomization_test(a, b).p_value == reach.mean()


def test_halves_and_table_count_the_same_subsets():
    random = np.random.default_rng(7)
    for n in range(1, 17):
        d = np.sort(random.integers(1, 30, n))
        sums = np.array([0])
        for value in d:
            sums = np.concatenate([sums, sums + value])
        for limit in (-1, 0, int(d[0]), int(d.sum() // 3), int(d.sum() // 2), int(d.sum()), int(d.sum()) + 5):
            count = int((sums <= limit).sum())
            assert _subset_sums.subsets_below(d, limit) == count
            assert _subset_sums.share_below(d, limit) == count / 2**n


def test_an_exact_p_value_of_many_whole_differences_is_right():
    """A thousand differences that are -1, 0 or 1: the binomial distribution of wins."""
    d = np.array([1] * 330 + [-1] * 270 + [0] * 400)
    expected = 2 * sum(math.comb(600, k) for k in range(271)) / Fraction(2) ** 600
    found = stats.randomization_test(d / 10)
    assert (found.p_value, found.exact) == (close(float(expected), 1e-12), True)


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_listed_resamples_give_the_exact_p_values(n):
    """The kernel of random signs, fed with all of them."""
    rows = np.random.default_rng(n).integers(0, 4, (4, n))
    a, b = np.triu_indices(4, 1)
    nothing = np.zeros(6, np.int64)
    pairs = randomization.Pairs(rows, a, b, nothing, nothing)
    listed = pairs.resamples(1 << n, 0, 1)
    assert listed.listed and listed.total == 1 << (n - 1)
    assert randomization.resampled_pairs(pairs, listed)[0].tolist() == randomization.exact_pairs(pairs).tolist()


def test_exact_wilcoxon_against_full_enumeration():
    random = np.random.default_rng(8)
    for _ in range(300):
        n = int(random.integers(1, 9))
        d = random.integers(-4, 5, n)
        ranks = paired_tests.doubled_ranks(d, 0)[d != 0]
        if len(ranks):
            sums = SIGNS[len(ranks)] @ ranks
            expected = (abs(sums) >= abs((ranks * np.sign(d[d != 0])).sum())).mean()
            assert stats.wilcoxon(d / 7).p_value == expected


# ---- random numbers ------------------------------------------------------------------------------------------------

WORD = 2**64
STEP = 0x9E3779B97F4A7C15


def mix(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB % WORD
    return z ^ z >> 31


def word(seed, purpose, number, position):
    """The textbook twin of the hash in the kernels."""
    stream = mix((mix((seed + STEP) % WORD) + purpose * STEP) % WORD)
    key = mix((stream + (number + 1) * STEP) % WORD)
    return mix((key + (position + 1) * STEP) % WORD)


def indices(seed, purpose, number, n, draws):
    words = (word(seed, purpose, number, position) for position in range(0, draws, 2))
    halves = [half for value in words for half in (value % 2**32, value >> 32)]
    return [half * n >> 32 for half in halves[:draws]]


def resamples(n, seed, purpose, n_threads=1):
    return resampling.Resamples(n, seed, n_threads, purpose, 1 << 64, 1)


@pytest.mark.parametrize("total", [1, 20, 4110])
def test_signs_are_the_bits_of_a_hash(total):
    n = 150
    x = np.vstack([np.eye(n), np.zeros(n)])
    none = np.empty(0, np.int64)
    kernel = _resample.Signs(
        resamples(total, 9, _resample.SIGNS),
        x,
        np.arange(n),
        np.full(n, n),
        np.full(n, 0.5),
        False,
        none,
        none,
        np.ones(n),
        np.empty((0, total)),
    )
    kernel.alone(0, 60.0)
    words = np.array([[word(9, _resample.SIGNS, i, q) for q in range(0, n, 64)] for i in range(total)], np.uint64)
    bits = words[:, np.arange(n) // 64] >> (np.arange(n) % 64).astype(np.uint64) & np.uint64(1)
    assert kernel.counts().tolist() == bits.sum(axis=0).tolist()


@pytest.mark.parametrize("rows", [1, 3])
def test_draws_are_halves_of_a_hash(rows):
    n = 33
    x = np.random.default_rng(0).integers(-9, 9, (n, rows))
    sums = np.empty((rows, 90), np.int64)
    _resample.Draws(resamples(90, 2, _resample.DRAWS), x, sums).alone(0, 60.0)
    for i in range(90):
        assert sums[:, i].tolist() == x[indices(2, _resample.DRAWS, i, n, n)].sum(axis=0).tolist()


def test_orders_are_shuffled_by_a_hash():
    x = np.random.default_rng(0).integers(0, 50, (7, 4))
    ranges = np.empty(31, np.int64)
    _resample.Orders(resamples(31, 3, _resample.ORDERS), x, ranges).alone(0, 60.0)
    for i in range(31):
        halves = (
            half
            for position in itertools.count()
            for value in [word(3, _resample.ORDERS, i, position)]
            for half in (value % 2**32, value >> 32)
        )
        sums = np.zeros(4, np.int64)
        for row in x.tolist():
            for j in (3, 2, 1):
                k = next(halves) * (j + 1) >> 32
                row[j], row[k] = row[k], row[j]
            sums += row
        assert ranges[i] == sums.max() - sums.min()


PINNED = {"randomization": 0.1825, "randomization, seed 1": 0.181, "bootstrap": 0.1741, "tukey": [0.4369, 0.7585]}


def test_random_numbers_stay_what_they_are():
    """On every machine, and from version to version: published p-values depend on them."""
    a, b = many_scores(60)
    assert stats.randomization_test(a, b, n_resamples=9999).p_value == PINNED["randomization"]
    assert stats.randomization_test(a, b, n_resamples=9999, random_state=1).p_value == PINNED["randomization, seed 1"]
    assert stats.bootstrap_test(a, b, n_resamples=9999).p_value == PINNED["bootstrap"]
    found = stats.randomized_tukey_test(many_scores(60, 3).T, n_resamples=9999)
    assert found.p_values[0, 1:].tolist() == PINNED["tukey"]


@pytest.mark.parametrize("threads", [2, 8])
def test_threads_change_no_bit(threads, monkeypatch):
    monkeypatch.setattr(
        resampling, "BLOCK_COST_BY_PURPOSE", dict.fromkeys(resampling.BLOCK_COST_BY_PURPOSE, 1 << 18)
    )  # blocks of a few resamples
    a, b, c = many_scores(70, 3)
    calls = [
        lambda n: stats.randomization_test(a, b, n_resamples=5000, n_threads=n),
        lambda n: stats.bootstrap_test(a, b, n_resamples=5000, n_threads=n),
        lambda n: stats.bootstrap_test(a, b, n_resamples=5000, n_threads=n, studentized=False),
        lambda n: stats.bootstrap_interval(a, b, n_resamples=5000, n_threads=n, method="bca"),
        lambda n: [v.tolist() for v in stats.max_t(np.stack([a - b, a - c], 1), n_resamples=5000, n_threads=n)],
        lambda n: [
            np.array(v).tolist()
            for v in stats.randomized_tukey_test(np.stack([a, b, c], 1), n_resamples=5000, n_threads=n)
        ],
    ]
    for call in calls:
        assert call(threads) == call(1)


def test_the_order_of_runs_has_no_say_in_randomized_tukey():
    x = many_scores(30, 4).T
    p = stats.randomized_tukey_test(x, n_resamples=999).p_values
    order = [2, 0, 3, 1]
    assert (stats.randomized_tukey_test(x[:, order], n_resamples=999).p_values == p[np.ix_(order, order)]).all()


def test_monte_carlo_counts_the_data_as_one_resample():
    d = many_scores(60)[0] - 0.1  # no resample comes near
    found = stats.randomization_test(d, n_resamples=99)
    assert (found.p_value, found.exact) == (0.01, False)


def test_random_signs_come_near_the_exact_p_value(monkeypatch):
    monkeypatch.setattr(exact, "HALVES", 0)
    monkeypatch.setattr(exact, "STEPS", 0)
    monkeypatch.setattr(exact.exact_p, "__defaults__", (0,))
    for pair, p in {"xy": 69120 / 2**20, "yz": 653824 / 2**20}.items():
        found = stats.randomization_test(*PAIRS[pair], n_resamples=400_000)
        assert not found.exact
        assert abs(found.p_value - p) < 4 * (p * (1 - p) / 400_000) ** 0.5


# ---- grids ---------------------------------------------------------------------------------------------------------


def test_scores_with_a_common_denominator_become_exact():
    found = grid.to_grid(np.array([[0.1 + 0.2, 1 / 3, 0.5, 0.0, -2.0]]))
    assert (found.whole.tolist(), found.unit, found.loose) == ([[9, 10, 15, 0, -60]], 1 / 30, 0)
    assert found.slack() == 0


def test_other_scores_are_rounded_and_sums_have_slack():
    scores = many_scores(100)
    found = grid.to_grid(scores)
    assert found.loose == 1
    assert np.abs(found.whole * found.unit - scores).max() <= 2.0**-41
    assert found.slack() == 200
    assert grid.to_grid(np.array([[1e-6, 3e5]])).whole.tolist() == [[1, 3 * 10**11]]
    wide = grid.to_grid(np.array([[math.pi * 1e300, math.e]]))
    assert abs(wide.whole).sum() < 2**52


def test_differences_that_are_equal_on_paper_tie():
    a, b = np.array([0.3, 0.8, math.pi]), np.array([0.1 + 0.2, 0.7 + 0.1, math.pi * (1 + 1e-15)])
    assert stats.sign_test(a, b) == (0.0, 1.0, True, "all differences are 0")
    assert stats.randomization_test(a, b)[1:] == (1.0, True, "all differences are 0")


def test_differences_that_are_equal_on_paper_share_a_rank():
    random = np.random.default_rng(2)
    b, sizes = random.random(500), random.integers(-3, 4, 500)
    found = stats.wilcoxon(b + sizes * math.pi / 20, b)
    assert found == stats.wilcoxon(sizes)
    assert stats.wilcoxon(b[:40] + sizes[:40] * math.pi / 20, b[:40]) == stats.wilcoxon(sizes[:40])


@pytest.mark.parametrize("scale", [1e-100, 1e-12, 1e-6, 1e6, 1e100])
def test_the_unit_of_scores_does_not_matter(scale):
    a, b = many_scores(16)
    for test in TESTS:
        assert test(scale * a, scale * b).p_value == close(test(a, b).p_value, 1e-9)
    assert stats.sign_test(scale * X, scale * Y) == stats.sign_test(X, Y)


# ---- SciPy ---------------------------------------------------------------------------------------------------------


def test_t_like_scipy():
    from scipy.stats import ttest_rel

    for seed, n in enumerate((2, 3, 10, 500)):
        a, b = many_scores(n, seed=seed)
        for alternative in paired_tests.ALTERNATIVES:
            expected = ttest_rel(a, b, alternative=alternative)
            assert stats.t_test(a, b, alternative=alternative)[:2] == (
                close(float(expected.statistic)),
                close(float(expected.pvalue)),
            )
        interval = ttest_rel(a, b).confidence_interval(0.9)
        assert stats.t_interval(a, b, confidence=0.9)[1:3] == (close(interval.low, 1e-9), close(interval.high, 1e-9))


def test_wilcoxon_like_scipy():
    from scipy.stats import wilcoxon

    random = np.random.default_rng(3)
    for n, method in itertools.product((5, 12, 40, 200), ("exact", "asymptotic")):
        d = random.permutation(np.arange(1, n + 1)) * random.choice((-1, 1), n)  # no ties, no zeros
        for alternative in paired_tests.ALTERNATIVES:
            expected = wilcoxon(d, method=method, alternative=alternative)
            found = stats.wilcoxon(d, exact=method == "exact", alternative=alternative)
            assert found[:2] == (expected.statistic, close(float(expected.pvalue), 1e-9))
    d = random.integers(-5, 6, 80)
    for zeros, continuity in itertools.product(paired_tests.ZEROS, (False, True)):
        expected = wilcoxon(d, zero_method=zeros, correction=continuity, method="asymptotic")
        found = stats.wilcoxon(d / 10, zeros=zeros, exact=False, continuity=continuity)
        assert found[:2] == (expected.statistic, close(float(expected.pvalue)))


def test_randomization_like_scipy():
    from scipy.stats import permutation_test

    a, b = many_scores(10)
    for alternative in paired_tests.ALTERNATIVES:
        expected = permutation_test(
            (a - b,), np.sum, permutation_type="samples", alternative=alternative, n_resamples=np.inf
        )
        assert stats.randomization_test(a, b, alternative=alternative).p_value == close(float(expected.pvalue))


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_bootstrap_like_scipy(method):
    from scipy.stats import bootstrap as by_scipy

    d = many_scores(40)[0] ** 3
    interval = by_scipy((d,), np.mean, n_resamples=40_000, method=method, random_state=1, batch=1000)
    found = stats.bootstrap_interval(d, n_resamples=40_000, method=method)
    assert found.standard_error == pytest.approx(interval.standard_error, rel=0.02)
    low, high = interval.confidence_interval
    assert found[1:3] == (
        pytest.approx(low, abs=0.05 * found.standard_error),
        pytest.approx(high, abs=0.05 * found.standard_error),
    )


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


# ---- degenerate data -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("test", TESTS)
def test_identical_runs(test):
    found = test(X, X)
    assert (found.statistic, found.p_value, found.note) == (0.0, 1.0, "all differences are 0")


@pytest.mark.parametrize("difference", [0.1, -1e-3, 1 / 3])
def test_constant_differences(difference):
    """In binary they are not constant: SciPy's t-test finds p = 8e-64."""
    a, b = X + difference, X
    for test in (stats.t_test, stats.bootstrap_test):
        found = test(a, b)
        assert (math.isnan(found.p_value), found.note) == (True, "all differences are equal")
    assert stats.sign_test(a, b).p_value == stats.randomization_test(a, b).p_value == close(2 / 2**20)
    assert stats.wilcoxon(a, b).p_value == 2 / 2**20
    for interval in (stats.t_interval(a, b), stats.bootstrap_interval(a, b)):
        assert interval.low == interval.high == pytest.approx(difference)
    assert math.isnan(stats.effect_size(a, b))
    assert math.isnan(stats.tukey_test(np.stack([a, b], 1)).p_values[0, 1])
    assert stats.tukey_test(np.stack([X, X], 1)).p_values.tolist() == [[1, 1], [1, 1]]


def test_one_query():
    for test, p in zip(TESTS, (None, 1.0, 1.0, 1.0, None), strict=True):
        found = test([0.5], [0.25])
        assert found.p_value == p if p else math.isnan(found.p_value)
    assert stats.t_test([0.5], [0.25]).note == "one query"
    for interval in (stats.t_interval([0.5], [0.25]), stats.bootstrap_interval([0.5], [0.25])):
        assert interval.estimate == 0.25 and math.isnan(interval.low) and math.isnan(interval.high)
    assert math.isnan(stats.detectable(1))


def test_no_p_value_is_0():
    many = np.ones(3000) + 1e-3 * many_scores(3000)[0]
    for found in (
        stats.t_test(many),
        stats.sign_test(many),
        stats.wilcoxon(many),
        stats.randomization_test(np.round(many)),
    ):
        assert 0 < found.p_value < 1e-200


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stats.t_test([1, 2], [1]), "a has 2 values but b has 1"),
        (lambda: stats.t_test([1, math.nan], [1, 2]), r"a\[1\] is nan"),
        (lambda: stats.randomization_test([1, 2], [1, math.inf]), r"b\[1\] is inf"),
        (lambda: stats.sign_test([]), "a has shape"),
        (lambda: stats.t_test([[1, 2]]), "expected one value per query"),
        (lambda: stats.t_test([1, 2], alternative="both"), "alternative must be one of 'two-sided'.*, got 'both'"),
        (lambda: stats.wilcoxon([1, 2], zeros="drop"), "zeros must be one of .*, got 'drop'"),
        (lambda: stats.wilcoxon(np.arange(1.0, 1200.0), exact=True), "takes up to 1000 differences"),
        (lambda: stats.bootstrap_interval([1, 2], method="basic"), "method must be one of .*, got 'basic'"),
        (lambda: stats.bootstrap_interval([1, 2], confidence=95), "confidence must be between 0 and 1, got 95"),
        (lambda: stats.randomization_test([1, 2], n_resamples=0), "n_resamples must be at least 1, got 0"),
        (lambda: stats.randomization_test([1, 2], random_state=-1), "random_state must be at least 0, got -1"),
        (lambda: stats.two_way_anova([[1, 2]]), r"scores has shape \(1, 2\)"),
        (lambda: stats.tukey_test([[1], [2]]), r"scores has shape \(2, 1\)"),
        (lambda: stats.randomized_tukey_test([[1], [2]]), "expected two runs or more"),
        (lambda: stats.adjust([0.5, 1.5], "holm"), "numbers from 0 to 1"),
        (lambda: stats.adjust([0.5], "fdr"), "method must be one of 'bonferroni'.*, got 'fdr'"),
        (lambda: stats.effect_size([1, 2], [1, 2], "cohen"), "kind must be one of .*, got 'cohen'"),
        (lambda: stats.equivalence_test([1, 2], low=1, high=0), "low must be below high"),
        (lambda: stats.sample_size(0), "effect must not be 0"),
    ],
)
def test_errors_name_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that sends a signal")
def test_a_test_can_be_interrupted():
    """A handler runs in the caller's thread, between two blocks."""

    def interrupt(signum, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    begin = time.monotonic()
    try:
        for threads in (1, 2):
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            with pytest.raises(KeyboardInterrupt):
                stats.randomization_test(*many_scores(1000), n_resamples=10**9, n_threads=threads)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - begin < 5


def test_a_seed_is_a_number():
    with pytest.raises(TypeError, match="random_state must be an int, got float"):
        stats.randomization_test([1, 2], random_state=0.5)


def test_the_callers_arrays_stay_as_they_are():
    a, b = many_scores(12)
    x = np.stack([a, b], axis=1)
    copies = a.copy(), x.copy()
    for test in TESTS:
        test(a, b)
    stats.tukey_test(x), stats.randomized_tukey_test(x, n_resamples=9), stats.adjust(a, "holm")
    assert (a == copies[0]).all() and (x == copies[1]).all()


def test_two_stage_bh_where_the_first_stage_rejects_every_hypothesis():
    """statsmodels stops after the first stage then; none is left of which the second could be."""
    assert stats.adjust([0.01], "two_stage_bh").tolist() == [0.01]
    assert stats.adjust([0.025, 0.008], "two_stage_bh").tolist() == close([0.025, 0.016])
    assert stats.adjust([0.2, math.nan], "two_stage_bh", alpha=0.2)[0] == 0.2


def test_the_studentized_bootstrap_takes_no_rounding_for_a_difference():
    found = stats.bootstrap_test([0.2, 0.4], [0.5, 0.1])
    assert found.p_value == 0.5 and found.exact
    assert stats.bootstrap_test([2, 4], [5, 1]).p_value == 0.5
    assert stats.bootstrap_test([0.3, 0.1, 0.2, 0.1], [0.2, 0, 0, 0.1]).p_value == 0.0625


SCALED = {
    "wilcoxon": stats.wilcoxon,
    "sign": stats.sign_test,
    "randomization": stats.randomization_test,
    "bootstrap": lambda a, b: stats.bootstrap_test(a, b, n_resamples=3125),
    "bootstrap, greater": lambda a, b: stats.bootstrap_test(a, b, n_resamples=3125, alternative="greater"),
    "bootstrap, less": lambda a, b: stats.bootstrap_test(a, b, n_resamples=3125, alternative="less"),
    "bootstrap of the mean": lambda a, b: stats.bootstrap_test(a, b, n_resamples=3125, studentized=False),
}


@pytest.mark.parametrize("test", SCALED)
@pytest.mark.parametrize("digits", [1, 2, 17])
def test_p_does_not_change_with_the_scale_of_the_scores(test, digits):
    """Nor with the noise of the last digits; scores with one digit have many resamples that tie with the data."""
    random = np.random.default_rng(digits)
    for n in (2, 3, 4, 5, 12):
        for _ in range(20):
            a, b = np.round(random.random((2, n)), digits)
            expected = SCALED[test](a, b).p_value
            for factor in (10, 100, 0.1, 3, 1 / 3):
                np.testing.assert_equal(SCALED[test](a * factor, b * factor).p_value, expected, f"{a}, {b}, {factor}")
            noise = 1 + 2e-16 * random.integers(-1, 2, (2, n))
            np.testing.assert_equal(SCALED[test](a * noise[0], b * noise[1]).p_value, expected, f"{a}, {b}")


def test_the_studentized_bootstrap_by_its_definition():
    """In fractions, over all resamples: t is at least as far from 0 where its square is at least as large."""

    def squared_t(values):
        m = Fraction(sum(values), len(values))
        variance = sum((value - m) ** 2 for value in values)
        return m**2 / variance if variance else Fraction(-1)

    random = np.random.default_rng(3)
    for n in (2, 3, 4):
        for _ in range(20):
            d = random.integers(-4, 5, n).tolist()
            mean = Fraction(sum(d), n)
            if len(set(d)) == 1:
                continue

            seen = squared_t(d)
            reached = sum(
                squared_t([value - mean for value in drawn]) >= seen for drawn in itertools.product(d, repeat=n)
            )
            expected = max(reached / n**n, np.finfo(float).tiny)
            assert stats.bootstrap_test(np.array(d) / 10).p_value == expected, d


@pytest.mark.parametrize(("n", "exactly"), [(49, True), (50, True), (51, False)])
def test_wilcoxon_is_exact_up_to_fifty_differences(n, exactly):
    """Differences of 0 do not count; whoever asks for the other p-value gets it."""
    d = [*range(1, n), -n, 0, 0, 0]
    found = stats.wilcoxon(d)
    assert found.exact is exactly
    assert found == stats.wilcoxon(d, exact=exactly) != stats.wilcoxon(d, exact=not exactly)


def test_the_first_stage_rejects_a_p_value_that_is_its_limit():
    from fastir.stats.corrections import two_stage_bh

    assert two_stage_bh(np.array([0.03, 0.5]), 0.06).tolist() == [0.03, 0.25]
    assert two_stage_bh(np.array([0.031, 0.5]), 0.06).tolist() == [0.062, 0.5]


# ---- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda a, b: stats.t_test(a, b),
        lambda a, b: stats.t_interval(a, b),
        lambda a, b: stats.wilcoxon(a, b),
        lambda a, b: stats.sign_test(a, b),
        lambda a, b: stats.welch_test(a, b),
        lambda a, b: stats.randomization_test(a, b),
        lambda a, b: stats.bootstrap_test(a, b),
        lambda a, b: stats.bootstrap_interval(a, b),
        lambda a, b: stats.effect_size(a, b),
        lambda a, b: stats.two_way_anova(np.stack([a, b], 1)),
        lambda a, b: stats.tukey_test(np.stack([a, b], 1)),
        lambda a, b: stats.max_t(np.stack([a, b], 1)),
    ],
)
def test_values_whose_powers_would_overflow_are_refused_and_the_largest_are_not(call):
    rng = np.random.default_rng(5)
    a, b = rng.uniform(-1, 1, (2, 9))
    for large in (1e308, 1.01e100):
        with pytest.raises(
            ValueError, match=r"\[.*\] is -?1\.?[0-9]*e\+[0-9]+; expected finite values of magnitude up to 1e\+100"
        ):
            call(np.append(a, large), np.append(b, 0.0))
    with np.errstate(over="raise"):
        found, scaled = call(a, b), call(a * 2.0**332, b * 2.0**332)
    for name in {"p_value", "exact"} & set(getattr(found, "_fields", ())):
        assert getattr(scaled, name) == getattr(found, name)


def test_a_comparison_refuses_them_by_run_and_query():
    scores = {"A": {"q1": 0.5, "q2": 1e200}, "B": {"q1": 0.25, "q2": 1.0}}
    with pytest.raises(
        ValueError, match=r"run 'A': .* of query 'q2' is 1e\+200; expected values of magnitude up to 1e\+100"
    ):
        fastir.compare_scores(scores)


@pytest.mark.parametrize("value", ["no", 1, 0, None, []])
def test_an_option_that_is_true_or_false_is_nothing_else(value):
    a, b = [0.1, 0.4, 0.3], [0.2, 0.1, 0.0]
    calls = {
        "exact": lambda: stats.wilcoxon(a, b, exact=value),
        "continuity": lambda: stats.wilcoxon(a, b, continuity=value),
        "studentized": lambda: stats.bootstrap_test(a, b, studentized=value),
        "judged_only": lambda: fastir.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "map", judged_only=value),
    }
    for name, call in calls.items():
        if (name, value) != ("exact", None):
            with pytest.raises(TypeError, match=f"{name} must be True or False, got {type(value).__name__}"):
                call()
    assert stats.wilcoxon(a, b, exact=np.True_) == stats.wilcoxon(a, b, exact=True)
