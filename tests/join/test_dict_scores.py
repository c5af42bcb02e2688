"""Scores and labels in dicts that are no floats: ints and NumPy's scalars mean what float() or int() makes of them."""

import random
import warnings
from fractions import Fraction

import numpy as np
import pytest

import fastir

METRICS = ["ndcg", "map", "mrr", "num_rel_ret", "judged@10"]
NUMPY = [np.dtype(code).type for code in "efdgbhilqBHILQ?"]


class Percent(float):
    """A float whose __float__ is never asked."""

    def __float__(self):
        raise AssertionError


class Negative(np.float32):
    """A NumPy scalar with another meaning."""

    def __float__(self):
        return -super().__float__()


def collection(seed, make, docs=40):
    """Qrels, a run whose scores are `make` of small integers with ties, and the integers."""
    rng = random.Random(seed)
    scores = {f"q{q}": {f"d{doc}": rng.randrange(100) for doc in range(docs)} for q in range(3)}
    qrels = {query: {doc: rng.randrange(-1, 3) for doc in [*rng.sample(sorted(docs), 9), "gone"]}
             for query, docs in scores.items()}  # fmt: skip
    return qrels, {query: {doc: make(score) for doc, score in docs.items()} for query, docs in scores.items()}


def evaluated_twice(qrels, run, **options):
    """The values of the first call, which probes, and of the second, which may look up."""
    evaluator = fastir.Evaluator(qrels, METRICS, **options)
    first, second = evaluator.evaluate(run), evaluator.evaluate(run)
    assert first == second
    assert first.report == second.report
    return first


@pytest.mark.parametrize("make", [int, bool, *NUMPY, Fraction, Percent, Negative], ids=lambda make: make.__name__)
@pytest.mark.parametrize("score_dtype", [None, "float32"])
def test_scores_of_any_type_are_their_floats(make, score_dtype):
    qrels, run = collection(1, make)
    as_floats = {query: {doc: float.__pos__(s) if make is Percent else float(s) for doc, s in docs.items()}
                 for query, docs in run.items()}  # fmt: skip
    expected = evaluated_twice(qrels, as_floats, score_dtype=score_dtype)
    assert evaluated_twice(qrels, run, score_dtype=score_dtype) == expected


def test_types_may_be_mixed_in_one_ranking():
    makes = [int, float, *NUMPY, Fraction]
    qrels, run = collection(2, float)
    mixed = {query: {doc: makes[i % len(makes)](s) for i, (doc, s) in enumerate(docs.items())}
             for query, docs in run.items()}  # fmt: skip
    as_floats = {query: {doc: float(score) for doc, score in docs.items()} for query, docs in mixed.items()}
    assert evaluated_twice(qrels, mixed) == evaluated_twice(qrels, as_floats)


def test_every_float16_is_read_as_its_float():
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    halves = halves[~np.isnan(halves)]
    np.random.default_rng(3).shuffle(halves)
    run = {"q": {f"d{i}": half for i, half in enumerate(halves)}}
    assert all(type(half) is np.float16 for half in run["q"].values())
    qrels = {"q": {f"d{i}": 1 for i in range(0, len(halves), 5)}}
    assert evaluated_twice(qrels, run) == evaluated_twice(qrels, {"q": {d: float(s) for d, s in run["q"].items()}})


@pytest.mark.parametrize("make", [np.float16, np.float32, np.float64, np.longdouble])
def test_a_numpy_nan_is_refused_by_name(make):
    with pytest.raises(ValueError, match=r"the score is NaN, not a number \(query q, document b\)"):
        fastir.evaluate({"q": {"a": 1}}, {"q": {"a": make(1), "b": make("nan")}}, "map")


def test_an_integer_beyond_all_floats_is_refused_by_name():
    with pytest.raises(OverflowError, match=r"too large for a float \(query q, document b\)"):
        fastir.evaluate({"q": {"a": 1}}, {"q": {"a": 1, "b": -(10**400)}}, "map")


@pytest.mark.parametrize("score", [np.complex128(1), np.str_("1"), np.datetime64("2020-01-01"), "1", None])
def test_what_is_no_number_is_refused(score):
    with pytest.raises(TypeError, match="score must be a number"):
        fastir.evaluate({"q": {"a": 1}}, {"q": {"a": 1, "b": score}}, "map")


# ---- integers that float64 does not have -----------------------------------------------------------------------------
KIND = "rankings in which different integers are one float64"


def repairs(*rankings):
    run = {f"q{i}": dict(zip("abcdef", scores, strict=False)) for i, scores in enumerate(rankings)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        report = fastir.evaluate({query: {"a": 1} for query in run}, run, "map").report
    found = report.repairs.get(KIND)
    assert len(caught) == (found is not None) and all(f"tie ({found[1]})" in str(one.message) for one in caught)
    return found


@pytest.mark.parametrize("make", [int, np.int64, np.uint64])
def test_the_report_says_that_two_integers_became_equal(make):
    equal, apart = [make(2**53 + 1), make(2**53), make(1)], [make(2**53 + 2), make(2**53), make(1)]
    assert repairs(equal) == (1, "query q0, documents 'a' and 'b'")
    assert repairs(apart, equal, equal[::-1]) == (2, "query q1, documents 'a' and 'b'")
    assert repairs(apart) is None


@pytest.mark.parametrize("scores", [
    [3, 2, 1], [2**60, 2**60], [2**53 + 1, float(2**53)], [10**18 - 1000, 10**18, 10**18 + 1000],
    [2**64, 2**70, -(2**70)], [1e300, 1e300, 2**53 + 1],
])  # fmt: skip
def test_equal_scores_and_scores_that_stay_apart_are_not_reported(scores):
    assert repairs(scores) is None


def test_integers_of_any_size_and_sign_are_reported():
    assert repairs([10**30, 5, 10**30 + 1]) == (1, "query q0, documents 'a' and 'c'")
    assert repairs([-(2**60) - 1, -(2**60)]) == (1, "query q0, documents 'a' and 'b'")
    assert repairs([np.uint64(2**64 - 1), np.uint64(2**64 - 2)]) == (1, "query q0, documents 'a' and 'b'")


# ---- labels ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("make", [*NUMPY, float], ids=lambda make: make.__name__)
def test_labels_of_any_type_are_their_integers(make):
    qrels = {"q": {"a": make(1), "b": make(0), "c": make(2)}, "r": {"a": make(3)}}
    plain = {query: {doc: int(label) for doc, label in docs.items()} for query, docs in qrels.items()}
    assert fastir.Qrels.from_dict(qrels).to_dict() == plain


@pytest.mark.parametrize("label", [np.int64(2**31), np.int64(-(2**31) - 1), np.uint64(2**63), np.uint32(2**31), 2**80])
def test_labels_that_do_not_fit_are_refused_by_name(label):
    with pytest.raises(OverflowError, match=r"label is too large.*\(query q, document b\)"):
        fastir.Qrels.from_dict({"q": {"a": 1, "b": label}})
