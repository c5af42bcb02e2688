"""Similarity of runs against the definitions, spelled out slowly."""

import itertools
import math

import numpy as np
import pytest

import fastir
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
        ({"q": {"a": 1.0}}, {"q": {1: 1.0}}, TypeError, "run_a has ids that are str, run_b has ids that are int"),
        ({"q": {"a": math.nan}}, {"q": {"a": 1.0}}, ValueError, "the score is NaN, not a number .query q, document a"),
        ({"q": {"a": 2.0, "b": math.nan}}, {"q": {"a": 1.0}}, ValueError, "query q, document b"),
        ({"q": {"a": "high"}}, {"q": {"a": 1.0}}, TypeError, "score must be a number"),
    ],
)
def test_bad_input_is_named(a, b, error, message):
    with pytest.raises(error, match=message):
        fastir.similarity(a, b)
