"""Agreement of judgments against Krippendorff's worked examples, scikit-learn and counting by hand."""

import itertools
import math
import random

import numpy as np
import pytest

import fastir
from fastir.errors import NoOverlapError


def qrels(labels):
    return {"q": {f"d{place}": label for place, label in enumerate(labels)}}


def test_alpha_is_that_of_the_published_examples():
    """Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), sections A and B."""
    binary = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    nominal = "aabbdcccedda", "babbbccceddd"
    assert fastir.agreement(*map(qrels, binary), scale="nominal").alpha == pytest.approx(0.095, abs=5e-4)
    codes = [["abcde".index(code) for code in codes] for codes in nominal]
    assert fastir.agreement(*map(qrels, codes), scale="nominal").alpha == pytest.approx(0.692, abs=5e-4)


def alpha_by_definition(a, b, level):
    """1 - observed over expected disagreement, over all pairs of codes."""
    codes = sorted([*a, *b])

    def distance(x, y):
        if level == "nominal":
            return float(x != y)
        if level == "interval":
            return float(x - y) ** 2
        low, high = min(x, y), max(x, y)
        return (sum(low <= code <= high for code in codes) - (codes.count(x) + codes.count(y)) / 2) ** 2

    observed = sum(distance(x, y) for x, y in zip(a, b, strict=True)) / len(a)
    expected = [distance(x, y) for x, y in itertools.combinations(codes, 2)]
    return 1 - observed / (sum(expected) / len(expected))


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("seed", range(10))
def test_alpha_is_its_definition(seed, level):
    a, b = np.random.default_rng(seed).integers(0, 5, (2, 12)).tolist()
    result = fastir.agreement(qrels(a), qrels(b), scale=level)
    assert result.alpha == pytest.approx(alpha_by_definition(a, b, level), abs=1e-12)
    assert result.per_query["q"]["alpha"] == result.alpha


@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_kappa_is_that_of_scikit_learn(weights):
    metrics = pytest.importorskip("sklearn.metrics")
    a, b = np.random.default_rng(1).integers(0, 4, (2, 200)).tolist()
    result = fastir.agreement(qrels(a), qrels(b), kappa_weights=weights)
    assert result.kappa == pytest.approx(metrics.cohen_kappa_score(a, b), abs=1e-12)
    assert result.weighted_kappa == pytest.approx(metrics.cohen_kappa_score(a, b, weights=weights), abs=1e-12)
    assert result.confusion.tolist() == metrics.confusion_matrix(a, b).tolist()


def ac1_by_definition(a, b):
    """Gwet's AC1 with one loop for each sum."""
    labels, n = sorted({*a, *b}), len(a)
    shares = [(a.count(label) + b.count(label)) / (2 * n) for label in labels]
    chance = sum(share * (1 - share) for share in shares) / (len(labels) - 1)
    return (sum(x == y for x, y in zip(a, b, strict=True)) / n - chance) / (1 - chance)


@pytest.mark.parametrize("seed", range(10))
def test_ac1_is_its_definition(seed):
    a, b = np.random.default_rng(seed).integers(0, 4, (2, 15)).tolist()
    result = fastir.agreement(qrels(a), qrels(b), n_resamples=5)
    assert result.ac1 == result.per_query["q"]["ac1"] == pytest.approx(ac1_by_definition(a, b), abs=1e-12)


def test_ac1_is_that_of_the_published_example():
    """Gwet's paradox of kappa: of 125 cases 118 are positive for both, and kappa is below 0."""
    a, b = [1] * 118 + [1] * 5 + [0] * 2, [1] * 118 + [0] * 5 + [1] * 2
    result = fastir.agreement(qrels(a), qrels(b))
    assert result.kappa == pytest.approx(-0.0234, abs=5e-5) and result.ac1 == pytest.approx(0.9408, abs=5e-5)


@pytest.mark.parametrize("truth", ["a", "b"])
@pytest.mark.parametrize("seed", range(5))
def test_sensitivity_and_specificity_are_shares_of_the_labels_of_the_truth(seed, truth):
    rng = np.random.default_rng(seed)
    a, b = rng.choice([0, 0.5, 1, 3], (2, 40)).tolist()
    result = fastir.agreement(qrels(a), qrels(b), truth=truth, confidence=0.9, n_resamples=5)
    pairs = list(zip(a, b, strict=True) if truth == "a" else zip(b, a, strict=True))
    assert list(result.sensitivity) == list(result.specificity) == result.labels[1:]
    for level in result.labels[1:]:
        high = [judge >= level for true, judge in pairs if true >= level]
        low = [judge < level for true, judge in pairs if true < level]
        for found, cases in ((result.sensitivity, high), (result.specificity, low)):
            assert found[level][:3] == pytest.approx(wilson_by_roots(sum(cases), len(cases), 1.6448536269514722))
    other = "b" if truth == "a" else "a"
    assert f"Sensitivity and specificity of {other}, where {truth} is the truth" in result.method
    assert f"sensitivity>={result.labels[1]}" in repr(result) and repr(result).count("specificity>=") == 3


def wilson_by_roots(hits, n, z):
    """The two rates whose z-test against the share gives z: the roots of a quadratic."""
    low, high = sorted(np.roots([n + z * z, -(2 * hits + z * z), hits * hits / n]).real)
    return hits / n, low, high


def test_a_truth_without_a_case_has_no_sensitivity():
    result = fastir.agreement(qrels([0, 0]), qrels([0, 1]))
    assert math.isnan(result.sensitivity[1].estimate) and result.sensitivity[1].note == "no case"
    assert result.specificity[1].estimate == 0.5


def test_what_only_one_side_judged_counts_for_nothing():
    a = {"q1": {"x": 1, "y": 0, "z": -1}, "q2": {"x": 1}, "q3": {"u": 1}}
    b = {"q1": {"x": 1, "y": 1, "z": 1, "w": 2}, "q2": {"y": 1}, "q4": {"x": 1}}
    result = fastir.agreement(a, b)
    assert result.labels == [0, 1] and result.confusion.tolist() == [[0, 1], [0, 1]]
    assert (result.only_a, result.only_b, result.left_out, result.query_ids) == (1, 3, 3, ["q1"])
    assert result.overlap == 0.5 and result.per_query["q1"]["n"] == 2
    assert math.isnan(result.intervals["kappa"].low)  # one query
    assert "2 documents of 1 query judged by both; 1 by a alone, 3 by b alone." in repr(result)


@pytest.mark.parametrize(
    "spelled", [str, int, "\u00e9{}".format, "{}\udcff".format], ids=["text", "int", "accents", "bytes"]
)
def test_counts_are_those_of_a_loop(spelled):
    rng = random.Random(3)
    for _ in range(30):
        a, b = (
            {
                f"q{q}": {spelled(rng.randrange(40)): rng.choice([-1, 0, 1, 2, 0.5]) for _ in range(rng.randrange(30))}
                for q in rng.sample(range(6), rng.randrange(1, 6))
            }
            for _ in range(2)
        )
        judged_a, judged_b = ({q: {d: n for d, n in x.items() if n >= 0} for q, x in side.items()} for side in (a, b))
        shared = {q: [d for d in judged_a[q] if d in judged_b[q]] for q in judged_a if q in judged_b}
        pairs = {q: [(judged_a[q][d], judged_b[q][d]) for d in docs] for q, docs in shared.items() if docs}
        if not pairs:
            with pytest.raises(NoOverlapError):
                fastir.agreement(a, b)
            continue
        found = fastir.agreement(a, b, n_resamples=5)
        assert found.labels == sorted({label for each in pairs.values() for pair in each for label in pair})
        assert found.query_ids == list(pairs)
        assert {query_id: row["n"] for query_id, row in found.per_query.items()} == {
            q: len(x) for q, x in pairs.items()
        }
        for query_id, table in zip(pairs, found.confusions.tolist(), strict=True):
            counts = [[pairs[query_id].count((x, y)) for y in found.labels] for x in found.labels]
            assert table == counts
        assert found.only_a == sum(len(judged_a[q]) - len(docs) for q, docs in shared.items())
        assert found.only_b == sum(len(judged_b[q]) - len(docs) for q, docs in shared.items())
        assert found.left_out == len({*a, *b}) - len(pairs)


@pytest.mark.parametrize(("n", "confidence"), [(2, 0.5), (3, 0.5), (3, 0.8), (3, 0.95)])
def test_intervals_are_those_of_resampled_queries(n, confidence):
    """With few queries all resamples are listed, so that the interval can be had by hand."""
    a = {f"q{i}": {f"d{j}": (i + j) % 3 for j in range(6)} for i in range(n)}
    b = {f"q{i}": {f"d{j}": (i * j) % 3 for j in range(6)} for i in range(n)}
    result = fastir.agreement(a, b, confidence=confidence)
    each = []
    for drawn in itertools.product(range(n), repeat=n):
        left, right = ({f"{n}{i}": docs[f"q{i}"] for n, i in enumerate(drawn)} for docs in (a, b))
        each.append(fastir.agreement(left, right, n_resamples=1).kappa)
    low, high = np.quantile(each, [(1 - confidence) / 2, 1 - (1 - confidence) / 2])
    assert result.intervals["kappa"][:3] == pytest.approx((result.kappa, low, high), abs=1e-12)


def test_agreement_with_oneself_is_one_and_a_single_label_is_undefined():
    own = {f"q{i}": {"a": 0, "b": 1, "c": 2} for i in range(4)}
    result = fastir.agreement(own, own)
    assert (result.overlap, result.kappa, result.weighted_kappa, result.alpha, result.ac1) == (1.0,) * 5
    assert result.sensitivity[2][:3] == pytest.approx((1.0, 0.5101, 1.0), abs=5e-5)
    none = fastir.agreement({"q": {"a": 0}}, {"q": {"a": 0}})
    assert all(map(math.isnan, (none.overlap, none.kappa, none.weighted_kappa, none.alpha, none.ac1)))
    assert none.sensitivity == none.specificity == {}


def test_the_report_says_how_it_was_made():
    own = {f"q{i}": {"a": 0, "b": 1, "c": 2} for i in range(4)}
    result = fastir.agreement(
        own, own, kappa_weights="linear", scale="nominal", rel_level=2, n_resamples=50, random_state=3
    )
    assert result.method == (
        "Overlap of labels from 2 on; linear weights; alpha of nominal labels; percentiles of 50 bootstrap "
        "resamples of the queries (random_state 3). Sensitivity and specificity of b, where a is the truth, with "
        "Wilson intervals."
    )
    assert "linear weights" in repr(result)


def test_groups_count_with_their_largest_label():
    grouped = {"q": {"one": {"a": 1}, "two": {"a": 2, "b": 0}}}
    assert fastir.agreement(grouped, {"q": {"a": 2, "b": 0}}).kappa == 1.0


@pytest.mark.parametrize(("a", "b", "options", "error", "message"), [
    ({"q": {"a": 1}}, {"p": {"a": 1}}, {}, NoOverlapError, "no query in common: 'q' and 'p'"),
    ({"q": {"a": 1}}, {"q": {"b": 1}}, {}, NoOverlapError, "of query 'q' one side has 'a', the other 'b'"),
    ({"q": {"a": 1}}, {"q": {"a": -1}}, {}, NoOverlapError, "the other nothing"),
    ({"q": {"1": 1}}, {"q": {1: 1}}, {}, NoOverlapError, "of query 'q' one side has '1', the other 1"),
    ({1: {"a": 1}}, {"1": {"a": 1}}, {}, NoOverlapError, "no query in common"),
    ({"q": {"a": 1}}, {"q": {"a": 1}}, {"kappa_weights": "cubic"}, ValueError, "kappa_weights must be one of"),
    ({"q": {"a": 1}}, {"q": {"a": 1}}, {"scale": "ratio"}, ValueError, "scale must be one of"),
    ({"q": {"a": 1}}, {"q": {"a": 1}}, {"truth": "human"}, ValueError, "truth must be one of"),
    ({"q": {"a": 1}}, {"q": {"a": 1}}, {"confidence": 95}, ValueError, "confidence must be between 0 and 1"),
    (qrels(range(101)), qrels(range(101)), {}, ValueError, "101 different labels, expected grades"),
])  # fmt: skip
def test_bad_input_is_named(a, b, options, error, message):
    with pytest.raises(error, match=message):
        fastir.agreement(a, b, **options)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("seed", range(5))
def test_alpha_of_real_labels_is_its_definition(seed, level):
    rng = np.random.default_rng(seed)
    a, b = rng.choice([0.0, 0.1, 0.25, 0.92, 1.5, 2.0], (2, 15)).tolist()
    result = fastir.agreement(qrels(a), qrels(b), scale=level, rel_level=0.25, n_resamples=20)
    assert result.alpha == pytest.approx(alpha_by_definition(a, b, level), abs=1e-12)
    either = [x >= 0.25 or y >= 0.25 for x, y in zip(a, b, strict=True)]
    both = [x >= 0.25 and y >= 0.25 for x, y in zip(a, b, strict=True)]
    assert result.overlap == pytest.approx(sum(both) / sum(either), abs=1e-15)
    assert result.labels == sorted({*a, *b})


def test_a_level_of_relevance_is_above_0():
    with pytest.raises(ValueError, match=r"^rel_level must be a number above 0 and at most 2147483647, got 0\.0$"):
        fastir.agreement(qrels([0.5]), qrels([0.5]), rel_level=0.0)
