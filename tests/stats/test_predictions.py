"""Prediction-powered means: ppi_py's numbers, textbook twins in fractions, coverage by simulation, and bad input."""

import math
from fractions import Fraction

import numpy as np
import pytest

import fastir
from fastir import stats

scipy_special = pytest.importorskip("scipy.special")

N_TRIALS = 20_000


def case(n, others, slope, grade=None):
    """Values of n judged queries and the model's of all, without a random generator."""
    places = np.arange(1, n + others + 1)
    truth, noise = places * 0.6180339887498949 % 1, (places * 0.7548776662466927 % 1 - 0.5) * 0.6
    model = truth * slope + noise + 0.1
    if grade:
        truth, model = np.round(truth * grade) / grade, np.round(model * grade) / grade
    return truth[:n], model[:n], model[n:]


CASES = {
    "a model to trust": case(200, 2000, 1), "a model that is wrong": case(60, 500, -1),
    "few queries": case(5, 40, 1), "more judged than not": case(300, 50, 0.5), "grades": case(80, 700, 1, 4),
}  # fmt: skip
# ppi_py 0.2.3: the point estimate and the 95 % interval, by the case and the weight.
GOLDEN = {
    ("a model to trust", None): (0.5006665590173014, 0.4775366431420294, 0.5237964748925734),
    ("a model to trust", 0): (0.5024158693644377, 0.46250219368680073, 0.5423295450420748),
    ("a model to trust", 0.5): (0.5010895432152331, 0.47654329966926756, 0.5256357867611987),
    ("a model to trust", 1): (0.4997632170660286, 0.4716033052715129, 0.5279231288605444),
    ("a model that is wrong", None): (0.5000366568717945, 0.4272690605280322, 0.5728042532155568),
    ("a model that is wrong", 0): (0.5000366568717945, 0.4272690605280322, 0.5728042532155568),
    ("a model that is wrong", 0.5): (0.503602196608697, 0.3915242887446255, 0.6156801044727684),
    ("a model that is wrong", 1): (0.5071677363455995, 0.35279085337114435, 0.6615446193200547),
    ("few queries", None): (0.48724830190636914, 0.30857510540893185, 0.6659214984038064),
    ("few queries", 0): (0.4541019662496847, 0.21657106275952176, 0.6916328697398476),
    ("few queries", 0.5): (0.49240858685117816, 0.31877993126791104, 0.6660372424344453),
    ("few queries", 1): (0.5307152074526718, 0.34603070303790295, 0.7153997118674406),
    ("more judged than not", None): (0.4997013422264592, 0.4681301314032916, 0.5312725530496267),
    ("more judged than not", 0): (0.5007819735258495, 0.4682167130907981, 0.5333472339609009),
    ("more judged than not", 0.5): (0.4961797926184528, 0.4564861417575408, 0.5358734434793647),
    ("more judged than not", 1): (0.4915776117110561, 0.4271831019167633, 0.5559721215053488),
    ("grades", None): (0.5107343402371537, 0.4677782775879378, 0.5536904028863696),
    ("grades", 0): (0.5, 0.43290521961060663, 0.5670947803893934),
    ("grades", 0.5): (0.508169642857143, 0.4635046064180183, 0.5528346792962676),
    ("grades", 1): (0.5163392857142858, 0.46556714321633497, 0.5671114282122366),
}


def close(value, tolerance=1e-13):
    return pytest.approx(value, rel=tolerance, abs=1e-15)


@pytest.mark.parametrize(("name", "weight"), GOLDEN, ids=str)
def test_the_numbers_are_those_of_ppi_py(name, weight):
    found = stats.ppi_mean(*CASES[name], lam=weight)
    assert found[:3] == close(GOLDEN[name, weight])
    assert found.note == "" and (weight is None or found.lam == weight)


@pytest.mark.parametrize("seed", range(5))
def test_they_are_equal_beside_ppi_py(seed):
    ppi_py = pytest.importorskip("ppi_py")
    rng = np.random.default_rng(seed)
    y, noise, others = rng.random(50), rng.random(50), rng.random(400) * 1.5
    for weight in (None, 0.3):
        found = stats.ppi_mean(y, y + noise, others, lam=weight, confidence=0.9)
        low, high = ppi_py.ppi_mean_ci(y, y + noise, others, alpha=0.1, lam=weight)
        assert (found.low, found.high) == (close(float(low[0])), close(float(high[0])))


def in_fractions(y, model, others, weight):
    """Mean, variance and weight by their definitions, as fractions."""
    y, model, others = ([Fraction(float(value)) for value in values] for values in (y, model, others))

    def mean(values):
        return sum(values) / len(values)

    def spread(values, lost=0):
        middle = mean(values)
        return sum((value - middle) ** 2 for value in values) / (len(values) - lost)

    if weight is None:
        together = mean([a * b for a, b in zip(y, model, strict=True)]) - mean(y) * mean(model)
        best = together / ((1 + Fraction(len(y), len(others))) * spread(model + others, 1))
        weight = min(max(best, Fraction(0)), Fraction(1))
    weight = Fraction(weight)
    off = [a - weight * b for a, b in zip(y, model, strict=True)]
    variance = spread(off) / len(y) + weight**2 * spread(others) / len(others)
    return mean(off) + weight * mean(others), variance, weight


@pytest.mark.parametrize("weight", [None, 0, 0.25, 1])
@pytest.mark.parametrize("name", ["few queries", "a model that is wrong", "grades"])
def test_they_are_those_of_the_definition(name, weight):
    mean, variance, chosen = in_fractions(*CASES[name], weight)
    found = stats.ppi_mean(*CASES[name], lam=weight, confidence=0.8)
    z = float(scipy_special.ndtri(0.9))
    assert found.estimate == close(float(mean))
    assert found.standard_error == close(math.sqrt(variance))
    assert found.lam == close(float(chosen))
    assert (found.low, found.high) == (
        close(found.estimate - z * found.standard_error),
        close(found.estimate + z * found.standard_error),
    )


def test_a_difference_is_the_mean_of_differences_of_every_query():
    (y, model, others), (b, b_model, b_others) = CASES["a model to trust"], case(200, 2000, 0.8)
    found = stats.ppi_difference(y, b[::-1], model, b_model[::-1], others, b_others[::-1])
    mean = stats.ppi_mean(y - b[::-1], model - b_model[::-1], others - b_others[::-1])
    assert found == mean._replace(p_value=found.p_value) and math.isnan(mean.p_value)
    turned = stats.ppi_difference(b[::-1], y, b_model[::-1], model, b_others[::-1], others)
    assert (turned.estimate, turned.low, turned.high) == (close(-found.estimate), close(-found.high), close(-found.low))


@pytest.mark.parametrize("seed", range(20))
def test_the_p_value_of_a_difference_goes_with_its_bounds(seed):
    rng = np.random.default_rng(seed)
    values = [rng.normal(shift, 1, n) for n in (60, 300) for shift in (0.2, 0.0)]
    found = stats.ppi_difference(*values[:2], *values[:2], *values[2:], lam=0.5)
    assert found.p_value == close(2 * scipy_special.ndtr(-abs(found.estimate / found.standard_error)))
    bounds = stats.ppi_difference(*values[:2], *values[:2], *values[2:], lam=0.5, confidence=1 - found.p_value)
    assert min(abs(bounds.low), abs(bounds.high)) == pytest.approx(0, abs=1e-12)
    ppi_py = pytest.importorskip("ppi_py")
    assert found.p_value == close(
        float(np.ravel(ppi_py.ppi_mean_pval(*[values[0] - values[1]] * 2, values[2] - values[3], lam=0.5))[0]), 1e-9
    )


def test_p_values_of_what_does_not_vary():
    y, others = np.arange(5.0), np.arange(9.0)
    assert stats.ppi_difference(y, y, y, y, others, others).p_value == 1.0
    assert math.isnan(stats.ppi_difference(y + 1, y, y + 1, y, others + 1, others).p_value)
    assert math.isnan(stats.ppi_difference([1.0], [0.5], [1.0], [0.5], others, others[::-1]).p_value)


def test_series_must_be_of_the_same_queries_in_one_order():
    pandas = pytest.importorskip("pandas")
    y, model, others = CASES["few queries"]
    one = pandas.Series(y, index=[f"q{row}" for row in range(len(y))])
    two = pandas.Series(model, index=one.index)
    assert stats.ppi_mean(one, two, others) == stats.ppi_mean(y, model, others)
    with pytest.raises(ValueError, match="y and y_model have different indexes; expected the same queries"):
        stats.ppi_mean(one, two[::-1], others)
    strata = pandas.Series({**dict.fromkeys(one.index, "a"), **{f"u{row}": "a" for row in range(len(others))}})
    by_query = {f"u{row}": value for row, value in enumerate(others)}
    found = stats.ppi_mean(dict(one), dict(two), by_query, strata=strata)
    assert found.estimate == stats.ppi_mean(y, model, others).estimate


def test_strata_are_weighted_by_their_shares():
    y, model, others = CASES["grades"]
    of_judged, of_others = np.arange(80) % 3, np.arange(700) % 5 % 3
    found = stats.ppi_mean(y, model, others, strata=(of_judged, of_others))
    parts = [in_fractions(y[of_judged == k], model[of_judged == k], others[of_others == k], None) for k in range(3)]
    shares = [Fraction(int((of_judged == k).sum() + (of_others == k).sum()), 780) for k in range(3)]
    mean = sum(share * part[0] for share, part in zip(shares, parts, strict=True))
    variance = sum(share**2 * part[1] for share, part in zip(shares, parts, strict=True))
    between = sum(share * (part[0] - mean) ** 2 for share, part in zip(shares, parts, strict=True)) / 780
    assert found.estimate == close(float(mean))
    assert found.standard_error == close(math.sqrt(variance + between))
    assert found.lam == {k: close(float(part[2])) for k, part in enumerate(parts)}
    given = {k: float(share) for k, share in enumerate(shares)}
    known = stats.ppi_mean(y, model, others, strata=(of_judged, of_others), shares=given)
    assert (known.estimate, known.standard_error) == (close(float(mean)), close(math.sqrt(variance)))


def test_one_stratum_is_no_stratum():
    y, model, others = CASES["few queries"]
    found = stats.ppi_mean(y, model, others, strata=(["x"] * 5, ["x"] * 40))
    assert found == stats.ppi_mean(y, model, others)._replace(lam=found.lam)


# ---- values by query -----------------------------------------------------------------------------------------------
def test_per_query_columns_of_results_are_aligned_by_query():
    qrels = {f"q{number}": {"a": 1, "b": number % 2} for number in range(40)}
    by_model = {query: {"a": label["b"], "b": 1} for query, label in qrels.items()}
    run = {f"q{number}": {"a": 1.0, "b": float(number % 3), "c": 1.5} for number in range(40)}
    judged = {query: qrels[query] for query in list(qrels)[:15]}
    human = fastir.evaluate(judged, {query: run[query] for query in judged}, "ndcg").per_query("ndcg")
    model = fastir.evaluate(by_model, run, "ndcg").per_query("ndcg")
    rest = {query: value for query, value in model.items() if query not in human}
    found = stats.ppi_mean(human, model, rest)
    assert found == stats.ppi_mean(list(human.values()), [model[query] for query in human], list(rest.values()))
    turned = dict(reversed(model.items()))
    assert stats.ppi_mean(human, turned, rest) == found
    strata = {query: int(query[1:]) % 2 for query in qrels}
    arrays = [strata[query] for query in human], [strata[query] for query in rest]
    assert stats.ppi_mean(human, model, rest, strata=strata) == stats.ppi_mean(
        list(human.values()), [model[query] for query in human], list(rest.values()), strata=arrays
    )


# ---- coverage ------------------------------------------------------------------------------------------------------
def squares(rng, shape, noise):
    """Skewed values from 0 to 1, whose mean is 1/3, and what a model that is too kind makes of them."""
    truth = rng.random(shape) ** 2
    return truth, 0.8 * truth + 0.3 + noise * rng.random(shape)


def test_the_interval_of_a_mean_covers_what_it_says():
    rng, covered, narrower = np.random.default_rng(5), 0, 0
    for _ in range(N_TRIALS):
        truth, model = squares(rng, 2200, 0.5)
        found = stats.ppi_mean(truth[:200], model[:200], model[200:])
        covered += found.low <= 1 / 3 <= found.high
        narrower += found.standard_error < truth[:200].std() / 200**0.5
    assert 0.94 <= covered / N_TRIALS <= 0.96
    assert narrower == N_TRIALS


def test_the_interval_of_a_difference_covers_what_it_says():
    rng, covered = np.random.default_rng(6), 0
    for _ in range(N_TRIALS):
        hard = rng.random(2200)
        a, b = hard**2, (hard > 0.5) * 0.5  # the means differ by 1/3 - 1/4
        a_model, b_model = a + 0.4 * rng.random(2200), b + 0.2 * hard
        sides = (a[:200], b[:200], a_model[:200], b_model[:200], a_model[200:], b_model[200:])
        found = stats.ppi_difference(*sides)
        covered += found.low <= 1 / 12 <= found.high
    assert 0.94 <= covered / N_TRIALS <= 0.96


def test_the_interval_over_strata_covers_where_judged_queries_were_drawn_by_stratum():
    rng, covered, n_trials = np.random.default_rng(7), 0, 2000
    shares, means = {0: 0.8, 1: 0.2}, {0: 1 / 3, 1: 1 / 2}
    goal = sum(shares[k] * means[k] for k in shares)
    for _ in range(n_trials):
        of_judged, of_others = np.repeat([0, 1], 100), np.repeat([0, 1], [1600, 400])
        places = np.concatenate([of_judged, of_others])
        truth, model = squares(rng, 2200, 0.5)
        truth, model = truth + places / 6, model + places / 4
        strata = (of_judged, of_others)
        found = stats.ppi_mean(truth[:200], model[:200], model[200:], strata=strata, shares=shares)
        covered += found.low <= goal <= found.high
    assert 0.935 <= covered / n_trials <= 0.965


# ---- what cannot be computed, and bad input ------------------------------------------------------------------------
def test_degenerate_samples_say_so():
    one = stats.ppi_mean([0.5], [0.4], [0.3, 0.5])
    assert one.note == "one query" and math.isnan(one.low) and one.estimate == 0.5
    single = stats.ppi_mean([0.5, 0.2], [0.4, 0.3], [0.3])
    assert single.note == "one unjudged query" and math.isnan(single.high)
    flat = stats.ppi_mean([0.5, 0.2, 0.1], [0.7, 0.7, 0.7], [0.7, 0.7])
    assert (flat.lam, flat.note) == (0.0, "all values of the model are equal")
    assert flat.estimate == close(0.8 / 3) and flat.standard_error == close(np.std([0.5, 0.2, 0.1]) / 3**0.5)
    constant = stats.ppi_mean([0.1, 0.1, 0.1], [0.3, 0.5, 0.2], [0.7, 0.6])
    assert constant[:4] == (close(0.1), close(0.1), close(0.1), 0.0) and constant.note == "nothing varies"
    strata = (["x", "x", "y"], ["x", "x", "y", "y"])
    apart = stats.ppi_mean([0.1, 0.2, 0.3], [0.2, 0.2, 0.1], [0.3, 0.4, 0.5, 0.1], strata=strata)
    assert apart.note == "stratum 'y': one query" and math.isnan(apart.low)


Y, M, U = [0.1, 0.5, 0.3], [0.2, 0.4, 0.3], [0.5, 0.1, 0.7, 0.2]
BY = {"q1": 0.1, "q2": 0.5}
REST = {"q3": 0.2, "q4": 0.3}


@pytest.mark.parametrize(("call", "message"), [
    (lambda: stats.ppi_mean([], [], U), r"y has shape \(0,\); expected one value per query"),
    (lambda: stats.ppi_mean(Y, M, []), r"y_model_unlabelled has shape \(0,\)"),
    (lambda: stats.ppi_mean(Y, M[:2], U), "y has 3 values but y_model has 2"),
    (lambda: stats.ppi_mean([0.1, math.nan, 0.2], M, U), r"y\[1\] is nan"),
    (lambda: stats.ppi_mean(Y, M, U, lam=1.5), "lam must be at most 1, got 1.5"),
    (lambda: stats.ppi_mean(Y, M, U, lam=-1), "lam must be at least"),
    (lambda: stats.ppi_mean(Y, M, U, confidence=1), "confidence must be between 0 and 1"),
    (lambda: stats.ppi_mean(Y, M, U, shares={"x": 1}), "shares needs strata"),
    (lambda: stats.ppi_mean(Y, M, U, strata=["x"]), "strata must be two arrays"),
    (lambda: stats.ppi_mean(Y, M, U, strata=(["x"], ["x"] * 4)), "strata must have one value for each of the 3"),
    (lambda: stats.ppi_mean(Y, M, U, strata=(["x"] * 3, ["x", "x", "x", "z"])), "stratum 'z' has no judged query"),
    (lambda: stats.ppi_mean(Y, M, U, strata=(["x", "x", "z"], ["x"] * 4)), "stratum 'z' has no unjudged query"),
    (lambda: stats.ppi_mean(Y, M, U, strata=([1] * 3, [1] * 4), shares={1: 0.5}), "shares must sum to 1, got 0.5"),
    (lambda: stats.ppi_mean(Y, M, U, strata=([1] * 3, [1] * 4), shares={2: 1}), "stratum 1 has no share"),
    (lambda: stats.ppi_mean(BY, {"q1": 0.5}, REST), "y_model has no value for query 'q2'"),
    (lambda: stats.ppi_mean(BY, BY, BY), "query 'q1' is judged, and in y_model_unlabelled"),
    (lambda: stats.ppi_mean({**BY, "q2": math.nan}, BY, REST), "y: query 'q2' is nan; expected finite values"),
    (lambda: stats.ppi_mean({**BY, "q2": "x"}, BY, REST), "y: query 'q2' is x; expected finite values"),
    (lambda: stats.ppi_mean(["x", "y"], M, U), "y: could not convert string to float: 'x'; expected one value per"),
    (lambda: stats.ppi_mean(Y, M, U, confidence=math.nan), "confidence must be a number, got nan"),
    (lambda: stats.ppi_mean(BY, BY, REST, strata={"q1": "x"}), "strata: query 'q2' has no stratum"),
    (lambda: stats.ppi_difference(BY, {**BY, "q9": 1.0}, BY, BY, REST, REST), "b has a value for query 'q9', which"),
    (lambda: stats.ppi_difference(Y, Y, M, M, U, U[:2]), "a_model_unlabelled has 4 values but b_model_"),
])  # fmt: skip
def test_bad_values_are_named(call, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        call()


@pytest.mark.parametrize(("call", "message"), [
    (lambda: stats.ppi_mean(BY, [0.1, 0.2], REST), "y_model is list, but other values are mappings of query_id to"),
    (lambda: stats.ppi_mean(BY, BY, REST, strata=([1, 1], [1, 1])), "strata must be a mapping of query_id to stratum"),
    (lambda: stats.ppi_mean(Y, M, U, strata={"q1": 1}), "strata must be a mapping of query_id to stratum"),
    (lambda: stats.ppi_mean(Y, M, U, lam="x"), "lam must be a number"),
    (lambda: stats.ppi_mean(Y, M, U, strata=([1] * 3, [1] * 4), shares=[1]), "shares must map strata to shares"),
])  # fmt: skip
def test_other_types_are_named(call, message):
    with pytest.raises(TypeError, match=f"^{message}"):
        call()


def test_the_values_given_are_not_changed():
    arrays = [np.array(values) for values in (Y, M, U)]
    stats.ppi_mean(*arrays, strata=([1] * 3, [1] * 4))
    assert [array.tolist() for array in arrays] == [Y, M, U]
