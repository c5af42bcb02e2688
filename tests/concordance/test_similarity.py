"""Similarity of runs against the definitions, spelled out slowly."""

import collections
import fractions
import itertools
import math
import time

import numpy as np
import pytest

import fastir
from fastir.concordance import taus
from fastir.concordance.measures import CARDS
from fastir.errors import FastirWarning, NoOverlapError, UnknownMetricError

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


def extended(ranking, more):
    """A ranking with documents below its last."""
    low = min(ranking.values())
    return {**ranking, **{doc_id: low - 1 - place for place, doc_id in enumerate(more)}}


def biased(a, b, p, ties):
    """rbo of long rankings, depth by depth."""
    return (1 - p) * math.fsum(p ** (d - 1) * agreement(a, b, d, ties) for d in range(1, min(len(a), len(b)) + 1))


def smallest(a, b, p, ties):
    new = [[(side, i) for i in range(DEEP - len(ranking))] for side, ranking in enumerate((a, b))]
    return biased(extended(a, new[0]), extended(b, new[1]), p, ties)


def largest(a, b, p, ties):
    """Each continues with what the other has and it lacks, in the other's order; then both with the same."""
    if len(a) > len(b):
        a, b = b, a
    lacking = [doc_id for doc_id in sorted(b, key=b.get, reverse=True) if doc_id not in a]
    a_more = lacking + [("new", i) for i in range(DEEP)]
    b_more = [doc_id for doc_id in a if doc_id not in b] + [("new", i) for i in range(DEEP)]
    return biased(extended(a, a_more[: DEEP - len(a)]), extended(b, b_more[: DEEP - len(b)]), p, ties)


def pairs(seed, n=1):
    random = np.random.default_rng(seed)
    for _ in range(n):
        sizes = random.integers(1, 12, 2)
        yield [
            {f"d{doc}": float(random.integers(0, 6)) for doc in random.permutation(15)[:size].tolist()}
            for size in sizes.tolist()
        ]


@pytest.mark.parametrize("ties", ["w", "a", "b"])
@pytest.mark.parametrize("seed", range(8))
def test_rbo_is_bounded_by_what_could_follow(seed, ties):
    [(a, b)] = pairs(seed)
    names = [f"{name}(p=0.5, ties={ties})" for name in ("rbo", "rbo_min", "rbo_res")]
    ext, low, res = (fastir.similarity({"q": a}, {"q": b}, names)[name] for name in names)
    assert low == pytest.approx(smallest(a, b, 0.5, ties), abs=1e-12)
    assert low + res == pytest.approx(largest(a, b, 0.5, ties), abs=1e-12)
    assert 0 <= low <= ext <= low + res + 1e-15 <= 1 + 2e-15
    assert fastir.similarity({"q": b}, {"q": a}, names).values[0] == pytest.approx([ext, low, res])


def extrapolated(a, b, p, ties):
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
        assert value == pytest.approx(extrapolated(a, b, p, ties), abs=1e-12)


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
    assert value == pytest.approx(extrapolated(a, b, 0.9, "a"), abs=1e-12)
    assert value < sum(each) / len(each) - 0.009


@pytest.mark.parametrize(("size", "other"), [(1, 1), (2, 1), (3, 2)])
@pytest.mark.parametrize("ties", ["a", "b"])
def test_long_groups_of_ties_are_numbered_to_the_same_value(ties, size, other):
    a = {f"d{number}": float(number % size) for number in range(90)}
    b = {f"d{number}": float(number % other) for number in range(20, 130)}
    name = f"rbo(p=0.95, ties={ties})"
    value = fastir.similarity({"q": a}, {"q": b}, name)[name]
    assert value == pytest.approx(extrapolated(a, b, 0.95, ties), abs=1e-12)


def test_a_long_group_of_ties_takes_time_in_proportion():
    run = {"q": dict.fromkeys(map(str, range(64_000)), 1.0)}
    begun = time.process_time()
    fastir.similarity(run, run, ["rbo(ties=a)", "rbo(ties=b)"])
    assert time.process_time() - begun < 2  # quadratic: 9 s for each


@pytest.mark.parametrize("k", [1, 3, 8, 20])
def test_overlap_jaccard_and_tau_of_the_first_documents(k):
    stats = pytest.importorskip("scipy.stats")
    for a, b in pairs(k, 10):
        result = fastir.similarity({"q": a}, {"q": b}, [f"overlap@{k}", f"jaccard@{k}", f"tau@{k}"])
        one, two = (sorted(r, key=lambda d, r=r: (r[d], d), reverse=True)[:k] for r in (a, b))
        both = {*one} & {*two}
        assert result[f"overlap@{k}"] == len(both) / max(len(one), len(two))
        assert result[f"jaccard@{k}"] == len(both) / len({*one, *two})
        if len(both) > 1:
            want = stats.kendalltau([a[doc_id] for doc_id in both], [b[doc_id] for doc_id in both]).statistic
            assert result[f"tau@{k}"] == pytest.approx(want, nan_ok=True)
        else:
            assert math.isnan(result[f"tau@{k}"])


@pytest.mark.parametrize("levels", [1, 3, 40, 10**6])
def test_tau_is_that_of_all_pairs(levels):
    random = np.random.default_rng(levels)
    for n in range(2, 60):
        a, b = ({f"d{i}": x for i, x in enumerate((random.integers(0, levels, n) / 4).tolist())} for _ in range(2))
        want = taus.tau_b(np.array(list(a.values())), np.array(list(b.values())))
        assert fastir.similarity({"q": a}, {"q": b}, "tau").values == pytest.approx(want, abs=0, nan_ok=True)


def test_infinite_scores_are_equal_to_each_other():
    a = {"x": math.inf, "y": math.inf, "z": 1.0, "u": -math.inf}
    b = {"x": 3.0, "y": 3.0, "z": 2.0, "u": 1.0}
    assert fastir.similarity({"q": a}, {"q": b}, ["tau", "rbo", "overlap"]).values[0] == pytest.approx([1, 1, 1])


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


@pytest.mark.parametrize(
    "name",
    [lambda i: f"d{i}", lambda i: f"é{i}", lambda i: f"\udc80{i}", lambda i: i - 7, lambda i: 10**20 + i],
    ids=["ascii", "utf8", "surrogates", "int", "large"],
)
@pytest.mark.parametrize("number", [float, np.float32, int, fractions.Fraction], ids=lambda kind: kind.__name__)
def test_ids_and_scores_of_any_kind_give_the_same(name, number):
    names = ["rbo(ties=a)", "rbo_min", "overlap@4", "tau@5"]
    a, b = ({f"q{i}": pair[side] for i, pair in enumerate(pairs(9, 8))} for side in (0, 1))
    want = fastir.similarity(a, b, names).values
    if name(0) != "d0":  # ties are ordered by the id, so cutoffs must not fall among them
        names, want = names[:2], want[:, :2]

    def other(run):
        return {q: {name(int(doc[1:])): number(score) for doc, score in r.items()} for q, r in run.items()}

    forms = [other(a), other(b)], [fastir.Run.from_dict(other(a)), other(b)], [other(a), fastir.Run.from_dict(other(b))]
    for form in forms:
        np.testing.assert_allclose(fastir.similarity(*form, names).values, want, rtol=0, atol=1e-12)


def test_mappings_and_runs_with_duplicates():
    a, b = {"x": 3.0, "y": 2.0, "z": 1.0}, {"z": 3.0, "x": 2.0}
    want = fastir.similarity({"q": a}, {"q": b}).values
    odd = {"q": collections.UserDict(a), "p": {}}
    assert fastir.similarity(odd, {"q": collections.OrderedDict(b), "p": {}}).values[0] == want[0]
    rows = [("q", doc_id, score) for doc_id, score in [*a.items(), ("x", 0.5), ("z", 2.5)]]
    once = fastir.Run.from_table(rows, duplicates="once")
    assert fastir.similarity(once, {"q": b}).values == fastir.similarity({"q": {**a, "z": 2.5}}, {"q": b}).values


def test_a_score_that_changes_the_other_run_does_no_harm():
    a = {"q": {f"document number {i}": float(-i) for i in range(300)}}

    class Score:
        def __float__(self):
            a["q"].clear()
            a["q"].update({f"another document {i}": float(i) for i in range(1000)})
            return 1.0

    result = fastir.similarity(a, {"q": {"another document 999": Score()}}, ["overlap@1", "jaccard"])
    assert result.values[0].tolist() == [1.0, 1 / 1000]


def test_a_run_without_documents_has_ids_of_any_kind():
    assert fastir.similarity({"q": {}}, {"q": {1: 2.0}}).values[0, 0] == 0


def test_files_runs_and_dicts_give_the_same(tmp_path):
    a, b = ({f"q{i}": pair[side] for i, pair in enumerate(pairs(3, 6))} for side in (0, 1))
    names = ["rbo", "rbo_res(ties=b)", "overlap@3", "tau"]
    want = fastir.similarity(a, b, names).values
    fastir.Run.from_dict(a).save(tmp_path / "a.run")
    for other in (tmp_path / "a.run", fastir.Run.from_dict(a), {q: dict(sorted(r.items())) for q, r in a.items()}):
        assert np.array_equal(fastir.similarity(other, b, names).values, want, equal_nan=True)
    lists = {"q": ["x", "y", "z"]}
    assert fastir.similarity(lists, {"q": {"x": 3.0, "y": 2.0, "z": 1.0}})["rbo"] == pytest.approx(1)


def test_identical_runs_are_alike_and_disjoint_ones_are_not():
    names = [*CARDS]
    ranking = {f"d{i}": float(i) for i in range(50)}
    same = fastir.similarity({"q": ranking}, {"q": ranking}, names)
    assert same.values[0].tolist() == pytest.approx([1, 1 - same["rbo_res"], same["rbo_res"], 1, 1, 1])
    other = fastir.similarity({"q": ranking}, {"q": {f"e{i}": float(i) for i in range(50)}}, names)
    assert other.values[0, [0, 1, 3, 4]].tolist() == [0, 0, 0, 0] and math.isnan(other["tau"])


def test_a_query_of_one_run_alone_counts_as_an_empty_ranking():
    with pytest.warns(FastirWarning, match=r"1 query is in one run alone.*'q2'"):
        result = fastir.similarity({"q1": {"a": 1.0}, "q2": {"a": 1.0}}, {"q1": {"a": 1.0}}, [*CARDS])
    assert result.values[1, :5].tolist() == [0, 0, 1, 0, 0]
    assert result.status == {"q1": "evaluated", "q2": "missing"}
    nothing = fastir.similarity({"q": {}}, {"q": {}}, ["rbo", "overlap@3"])
    assert np.isnan(nothing.values).all()


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("rbx", "there is no measure 'rbx'; the measures are rbo, rbo_min"),
        ("rbo@10", "'rbo@10': it has no cutoff"),
        ("overlap@0", "@ must be positive"),
        ("rbo(p=1)", "p must be between 0 and 1, got '1'"),
        ("rbo(ties=c)", "ties must be one of w, a, b, got 'c'"),
        ("tau(p=0.5)@3", "has no parameter 'p'"),
        ("rbo(q=2)", "has no parameter 'q'"),
    ],
)
def test_unknown_measures_are_named(measure, message):
    with pytest.raises(UnknownMetricError, match=message):
        fastir.similarity({"q": {"a": 1.0}}, {"q": {"a": 1.0}}, measure)


@pytest.mark.parametrize(
    ("a", "b", "error", "message"),
    [
        ({"q": {"a": 1.0}}, {"p": {"a": 1.0}}, NoOverlapError, "no query in common: 'q' and 'p'"),
        ({"q": {"a": 1.0}}, {"q": {1: 1.0}}, TypeError, "run 'a' has ids that are str, run 'b' has ids that are int"),
        (
            {"q": {"a": math.nan}},
            {"q": {"a": 1.0}},
            ValueError,
            "run 'a': run: the score is NaN, not a number .query q, document a",
        ),
        (
            {"q": {"a": 1.0}},
            {"q": {"a": fractions.Fraction(1), "b": math.nan}},
            ValueError,
            "run 'b': .*query q, document b",
        ),
        ({"q": {"a": 2.0, "b": math.nan}}, {"q": {"a": 1.0}}, ValueError, "query q, document b"),
        ({"q": {"a": "high"}}, {"q": {"a": 1.0}}, TypeError, "score must be a number"),
    ],
)
def test_bad_input_is_named(a, b, error, message):
    with pytest.raises(error, match=message):
        fastir.similarity(a, b)
