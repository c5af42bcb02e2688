"""Rank-biased overlap, against its definition at every depth."""

import itertools
import math

import numpy as np
import pytest
from processes import python
from rankings_made import pairs

import fastir

DEEP = 60  # of 0.5^60 nothing is left


def contribution(ranking, doc_id, depth, ties):
    """What a document counts at a depth, by the definition of each variant."""
    if doc_id not in ranking:
        return 0.0
    above = sum(score > ranking[doc_id] for score in ranking.values())
    tied = sum(score == ranking[doc_id] for score in ranking.values())
    if ties == "w":
        return float(depth > above)
    return min(1.0, max(0.0, (depth - above) / tied))


def agreement(a, b, depth, ties):
    ids = {*a, *b}
    one, two = ([contribution(ranking, doc_id, depth, ties) for doc_id in ids] for ranking in (a, b))
    common = math.fsum(x * y for x, y in zip(one, two, strict=True))
    if ties == "w":
        return 2 * common / (sum(one) + sum(two))
    if ties == "a":
        return common / depth
    return common / math.sqrt(math.fsum(x * x for x in one) * math.fsum(y * y for y in two))


def extend(ranking, more):
    """A ranking with documents below its last."""
    low = min(ranking.values())
    return {**ranking, **{doc_id: low - 1 - place for place, doc_id in enumerate(more)}}


def bias(a, b, p, ties):
    """rbo of long rankings, depth by depth."""
    return (1 - p) * math.fsum(p ** (d - 1) * agreement(a, b, d, ties) for d in range(1, min(len(a), len(b)) + 1))


def smallest(a, b, p, ties):
    new = [[(side, i) for i in range(DEEP - len(ranking))] for side, ranking in enumerate((a, b))]
    return bias(extend(a, new[0]), extend(b, new[1]), p, ties)


def largest(a, b, p, ties):
    """Each continues with what the other has and it lacks, in the other's order; then both with the same."""
    if len(a) > len(b):
        a, b = b, a
    lacking = [doc_id for doc_id in sorted(b, key=b.get, reverse=True) if doc_id not in a]
    a_more = lacking + [("new", i) for i in range(DEEP)]
    b_more = [doc_id for doc_id in a if doc_id not in b] + [("new", i) for i in range(DEEP)]
    return bias(extend(a, a_more[: DEEP - len(a)]), extend(b, b_more[: DEEP - len(b)]), p, ties)


@pytest.mark.parametrize("ties", ["w", "a", "b"])
@pytest.mark.parametrize("seed", range(4))
def test_rbo_is_bounded_by_what_could_follow(seed, ties):
    [(a, b)] = pairs(seed)
    names = [f"{name}(p=0.5, ties={ties})" for name in ("rbo", "rbo_min", "rbo_res")]
    ext, low, res = (fastir.similarity({"q": a}, {"q": b}, names)[name] for name in names)
    assert low == pytest.approx(smallest(a, b, 0.5, ties), abs=1e-12)
    assert low + res == pytest.approx(largest(a, b, 0.5, ties), abs=1e-12)
    assert 0 <= low <= ext <= low + res + 1e-15 <= 1 + 2e-15
    assert fastir.similarity({"q": b}, {"q": a}, names).values[0] == pytest.approx([ext, low, res])


def extrapolate(a, b, p, ties):
    """Corsi and Urbano: the agreement at the end of the shorter one holds for what it lacks."""
    if len(a) > len(b):
        a, b = b, a
    s, n = len(a), len(b)
    at_s = agreement(a, b, s, ties)
    total = math.fsum(p**d * agreement(a, b, d, ties) for d in range(1, s + 1))
    alone = [doc_id for doc_id in b if doc_id not in a]
    for d in range(s + 1, n + 1):
        counts = [c for doc_id in alone if (c := contribution(b, doc_id, d, ties))]
        common = math.fsum(contribution(b, doc_id, d, ties) for doc_id in a)
        common += (d - s) * at_s * math.fsum(counts) / len(counts)
        of_b = [contribution(b, doc_id, d, ties) for doc_id in b]
        norm = {"w": (d + sum(of_b)) / 2, "a": d, "b": math.sqrt(d * math.fsum(c * c for c in of_b))}[ties]
        total += p**d * common / norm
    last = (sum(doc_id in b for doc_id in a) + (n - s) * at_s) / n
    return (1 - p) / p * (total + p ** (n + 1) / (1 - p) * last)


@pytest.mark.parametrize("ties", ["w", "a", "b"])
@pytest.mark.parametrize("p", [0.3, 0.9, 0.99])
def test_rbo_is_the_extrapolated_one(ties, p):
    for a, b in pairs(7, 40):
        name = f"rbo(p={p}, ties={ties})"
        value = fastir.similarity({"q": a}, {"q": b}, name)[name]
        assert value == pytest.approx(extrapolate(a, b, p, ties), abs=1e-12)


def test_variant_a_is_the_mean_over_all_orders_of_ties():
    a, b = {"x": 3.0, "y": 2.0, "z": 2.0, "u": 1.0}, {"y": 3.0, "x": 3.0, "u": 3.0, "z": 1.0}

    def orders(ranking):
        for order in itertools.permutations(ranking):
            if all(ranking[one] >= ranking[two] for one, two in itertools.pairwise(order)):
                yield {doc_id: -float(place) for place, doc_id in enumerate(order)}

    each = [fastir.similarity({"q": c}, {"q": d})["rbo"] for c in orders(a) for d in orders(b)]
    assert fastir.similarity({"q": a}, {"q": b}, "rbo(ties=a)")["rbo(ties=a)"] == pytest.approx(sum(each) / len(each))


def test_variant_a_of_uneven_lists_is_the_authors_formula_and_not_that_mean():
    a, b = {"y": 2.0, "x": 1.0, "v": 1.0}, {"y": 2.0, "v": 2.0, "x": 2.0, "w": 1.0, "u": 1.0}
    firsts = ({"y": 3.0, "x": 2.0, "v": 1.0}, {"y": 3.0, "x": 1.0, "v": 2.0})
    orders = itertools.product(itertools.permutations("yvx"), itertools.permutations("wu"))
    seconds = [{doc_id: -float(place) for place, doc_id in enumerate(x + y)} for x, y in orders]
    each = [fastir.similarity({"q": c}, {"q": d})["rbo"] for c, d in itertools.product(firsts, seconds)]
    value = fastir.similarity({"q": a}, {"q": b}, "rbo(ties=a)")["rbo(ties=a)"]
    assert value == pytest.approx(extrapolate(a, b, 0.9, "a"), abs=1e-12)
    assert value < sum(each) / len(each) - 0.009


@pytest.mark.parametrize(("size", "other"), [(1, 1), (2, 1), (3, 2)])
@pytest.mark.parametrize("ties", ["a", "b"])
def test_long_groups_of_ties_are_numbered_to_the_same_value(ties, size, other):
    a = {f"d{number}": float(number % size) for number in range(90)}
    b = {f"d{number}": float(number % other) for number in range(20, 130)}
    name = f"rbo(p=0.95, ties={ties})"
    value = fastir.similarity({"q": a}, {"q": b}, name)[name]
    assert value == pytest.approx(extrapolate(a, b, 0.95, ties), abs=1e-12)


def test_a_long_group_of_ties_takes_time_in_proportion():
    """Two seconds; in quadratic time, an hour."""
    python("""
        run = {"q": dict.fromkeys(map(str, range(1_000_000)), 1.0)}
        fastir.similarity(run, run, ["rbo(ties=a)", "rbo(ties=b)"])
    """)


@pytest.mark.parametrize("ties", ["w", "a", "b"])
@pytest.mark.parametrize("p", ["5e-324", "1e-310", "1e-200", "1e-9", "0.9999", "0.99990001", "0.9999999999999999"])
def test_values_stay_in_their_range_however_small_or_large_p_is(p, ties):
    names = [f"{name}(p={p}, ties={ties})" for name in ("rbo", "rbo_min", "rbo_res")]
    for a, b in [*pairs(11, 6), ({"a": 1.0}, {"b": 1.0})]:
        ext, low, res = fastir.similarity({"q": a}, {"q": b}, names).values[0]
        assert 0 <= low <= ext <= low + res + 1e-12 and low + res <= 1 + 1e-12
        if not {*a} & {*b}:
            assert low == 0
        if float(p) < 1e-9:
            assert ext == pytest.approx(agreement(a, b, 1, ties), abs=1e-12)


def test_long_rankings():
    n = 100_000
    random = np.random.default_rng(5)
    ids = [f"d{i}" for i in random.permutation(2 * n).tolist()]
    a = dict(zip(ids[:n], np.sort(random.random(n))[::-1].tolist(), strict=True))
    b = dict(zip(ids[n // 2 :], np.sort(random.integers(0, 999, 3 * n // 2))[::-1].tolist(), strict=True))
    names = ["rbo(p=0.9999)", "rbo_min(p=0.9999)", "rbo_res(p=0.9999)", "jaccard", "overlap@1000", "tau"]
    result = fastir.similarity({"q": a}, {"q": b}, names)
    assert ((result.values >= [0, 0, 0, 0, 0, -1]) & (result.values <= 1)).all()
    assert result["jaccard"] == pytest.approx((n / 2) / (2 * n))
    straight = {doc_id: -float(place) for place, doc_id in enumerate(ids[n // 2 : 3 * n // 2])}
    seen = np.sort([max(i, j) for i, j in zip(range(n // 2, n), range(n // 2), strict=True)])
    common = np.searchsorted(seen, np.arange(n), "right")
    depths = np.arange(1, n + 1)
    want = (0.0001 * 0.9999 ** (depths - 1) * common / depths).sum() + 0.9999**n * common[-1] / n
    assert fastir.similarity({"q": a}, {"q": straight}, "rbo(p=0.9999)").values == pytest.approx(want, abs=1e-12)
