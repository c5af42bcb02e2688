"""Unusual dicts are read as the slow twins below read them: the same ids, numbers and errors.

Also of: id_lists.
"""

import random
from collections import Counter, OrderedDict, UserDict, defaultdict
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction

import numpy as np
import pytest

import fastir
from fastir.engine.columns import id_lists
from fastir.engine.columns._dicts import plain_judgments, plain_scores
from fastir.engine.columns.ids import is_integer, plain_id
from fastir.errors import quote
from fastir.inputs.dicts import query_dict, read_label

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")


# ---- slow twins ------------------------------------------------------------------------------------------------------
def slow_scores(query_id, ranking, integers):
    plain, items = {}, list(ranking.items())
    for doc_id, score in items:
        doc_id = plain_id(doc_id, integers, f"run: a document id of query {quote(query_id)}")
        if isinstance(score, (str, bytes, bytearray, dict, complex)) or score is None:
            raise TypeError(f"run: the score must be a number, got {type(score).__name__} {quote(score)} "
                            f"(query {query_id}, document {doc_id})")  # fmt: skip
        try:
            plain[doc_id] = float(score)
        except OverflowError:
            raise OverflowError("run: the score is too large for a float "
                                f"(query {query_id}, document {doc_id})") from None  # fmt: skip
        except Exception as error:
            raise TypeError(f"run: the score must be a number, got {type(score).__name__}: {error} "
                            f"(query {query_id}, document {doc_id})") from error  # fmt: skip
    if len(ranking) != len(items):
        raise RuntimeError(f"run: the ranking of query {quote(query_id)} changed size while it was read")
    return plain


def slow_judgments(data):
    query_ids, offsets, doc_ids, labels, kind = [], [0], [], [], str
    for query_id, judged in query_dict(data, "qrels").items():
        for doc_id, label in id_lists.relevant(query_id, judged).items():
            if type(doc_id) is not kind:
                if not doc_ids and is_integer(doc_id):
                    kind = int
                doc_id = plain_id(doc_id, kind is int, f"qrels: a document id of query {quote(query_id)}")
            doc_ids.append(doc_id)
            labels.append(read_label(label, query_id, doc_id))
        query_ids.append(query_id)
        offsets.append(len(doc_ids))
    return query_ids, offsets, doc_ids, labels


def outcome(function, *given):
    """What a function returns, with the types, or its error."""
    try:
        result = function(*given)
    except Exception as error:
        return type(error), str(error)
    if isinstance(result, dict):
        return [(type(key), key, np.float64(value).tobytes()) for key, value in result.items()]
    query_ids, offsets, doc_ids, labels = result
    return query_ids, list(offsets), [(type(doc_id), doc_id) for doc_id in doc_ids], list(map(int, labels))


# ---- hostile values --------------------------------------------------------------------------------------------------
class Text(str):
    """A str with a text of its own, which does not matter."""

    def __str__(self):
        return "other"


class Half(float):
    """A float that float() reads as half of it, and index() as its triple."""

    def __float__(self):
        return float.__float__(self) / 2

    def __index__(self):
        return 3 * int(float.__float__(self))


class Colour(IntEnum):
    RED = 5


class Wrong:
    def __float__(self):
        raise ArithmeticError("no number")


class OtherItems(dict):
    def items(self):
        return [("d1", 7.0), ("d2", 8.0)][: len(self)]


class OtherOrder(dict):
    def __iter__(self):
        return reversed(list(super().__iter__()))

    def keys(self):
        return list(iter(self))


class OtherLength(dict):
    def __len__(self):
        return 2


class OtherValues(dict):
    def __getitem__(self, key):
        return 99.0

    def values(self):
        return [99.0] * len(self)

    def __missing__(self, key):
        return 98.0


class Plain(dict):
    pass


def with_own_items(pairs):
    """An object whose items() is not its class's."""
    made = Plain(pairs)
    made.items = lambda: [("d3", 3.0)] * len(made)
    return made


KINDS = [dict, Plain, OrderedDict, Counter, UserDict, OtherItems, OtherOrder, OtherLength, OtherValues,
         lambda pairs: defaultdict(float, pairs), with_own_items]  # fmt: skip
NUMPY_IDS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
SCORES = [
    1, 1.5, True, 2**53 + 1, -(2**63), 2**64, 10**400, float("nan"), float("inf"), -0.0, Half(4.0),
    Fraction(1, 3), Decimal("0.1"), "1", b"1", None, 1j, {}, Wrong(), Colour.RED, np.float32(0.1),
    np.float64(0.1), np.float16(7), np.int64(-(2**62) - 1), np.uint64(2**64 - 1), np.bool_(True),
    np.longdouble(3), np.float32("nan"), np.array(3.0), np.array([3.0, 4.0]),
]  # fmt: skip
LABELS = [
    0, 1, -1, True, 1.0, 3.0, -0.0, -2.0, 1.5, float("nan"), float("inf"), 2**31 - 1, 2**31, -(2**31),
    -(2**31) - 1, 2147483647.0, 2147483648.0, -2147483648.0, -2147483649.0, 2147483646.5, 1e300, 10**400,
    np.int64(3), np.uint64(2**63), np.float32(2), np.float32(1.5), np.float16(2), np.float64(4),
    np.float64("nan"), np.bool_(1), np.longdouble(2), Half(2.0), Fraction(4, 2), Fraction(1, 2), Decimal(2),
    "1", b"1", None, Colour.RED, 1j, np.int8(-5),
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("integers", [False, True])
def test_rankings_are_read_as_by_the_slow_twin(kind, integers):
    rng = random.Random(f"{integers}")
    good = [score for score in SCORES if outcome(slow_scores, "q", {"d": score}, False)[0] is not TypeError]
    makes = [int, *NUMPY_IDS] if integers else [str, Text, np.str_]
    for turn in range(300):
        values = SCORES if turn % 3 == 0 else good
        some = rng.sample(makes, rng.choice([1, 1, 2]))
        ids = [rng.choice(some)(number) for number in rng.sample(range(100), rng.choice([1, 2, 9]))]
        if turn % 10 == 0:
            ids.append(
                rng.choice([True, np.bool_(False), 1.5, b"d", None, Colour.RED, 2**70, np.uint64(2**63), "d", 7])
            )
        ranking = kind({doc_id: rng.choice(values) for doc_id in ids})
        assert outcome(plain_scores, "q", ranking, integers) == outcome(slow_scores, "q", ranking, integers)


@pytest.mark.parametrize("outer", KINDS)
@pytest.mark.parametrize("kind", KINDS)
def test_judgments_are_read_as_by_the_slow_twin(outer, kind):
    rng = random.Random(1)
    good = [label for label in LABELS if isinstance(outcome(slow_judgments, {"q": {"d": label}})[0], list)]
    for turn in range(60):
        values = LABELS if turn % 3 == 0 else good
        integers = turn % 4 == 0
        data = outer({
            f"d{q}": kind({(n if integers else f"d{n}"): rng.choice(values) for n in rng.sample(range(9), 3)})
            for q in range(1, 3)
        })  # fmt: skip
        expected = outcome(slow_judgments, data)
        quick = plain_judgments(data)
        if quick is not None:
            assert outcome(tuple, quick) == expected
        elif isinstance(expected[0], list):
            assert outcome(fastir.inputs.dicts.judgments, data) == expected


@pytest.mark.parametrize("label", LABELS, ids=repr)
def test_a_label_is_read_or_refused_as_by_the_slow_twin(label):
    data = {"q": {"a": 1, "b": label}, "p": {"c": 2.0}}
    expected = outcome(slow_judgments, data)
    assert outcome(fastir.inputs.dicts.judgments, data) == expected
    if isinstance(expected[0], list) and type(label) in (int, float, bool, np.float32, np.float64, np.float16):
        assert plain_judgments(data) is not None


@pytest.mark.parametrize("ties", ["trec", "input", "average"])
@pytest.mark.parametrize("kind", KINDS)
def test_rankings_of_any_mapping_are_evaluated_as_exact_dicts(kind, ties):
    rng = random.Random(2)
    qrels = {f"q{q}": {f"d{n}": rng.randrange(3) for n in rng.sample(range(30), 6)} for q in range(20)}
    run = {query: kind({f"d{n}": rng.randrange(4) for n in rng.sample(range(30), 12)}) for query in qrels}
    evaluator = fastir.Evaluator(qrels, ["map", "ndcg", "num_ret", "P@3"], ties=ties)
    try:
        exact = {query: slow_scores(query, ranking, False) for query, ranking in run.items()}
    except RuntimeError:
        with pytest.raises(RuntimeError, match="changed size while it was read"):
            evaluator.evaluate(run)
        assert kind in (OtherLength, OtherItems)
        return
    for _ in range(2):
        assert evaluator.evaluate(run) == evaluator.evaluate(exact)


@pytest.mark.parametrize("make", NUMPY_IDS[:4])
def test_negative_integers_of_numpy_are_negative(make):
    assert plain_scores("q", {"a": make(-5)}, False) == {"a": -5.0}
    assert plain_judgments({"q": {"a": make(-5)}})[3].tolist() == [-5]
    assert fastir.evaluate({"q": {"a": 1}}, {"q": {"a": make(-5), "b": make(3)}}, "mrr")["mrr"] == 0.5


def test_an_ordered_dict_has_its_own_order():
    qrels = {"q": {"a": 1}}
    ranking = OrderedDict(a=1.0, b=1.0, c=1.0)
    assert fastir.evaluate(qrels, {"q": ranking}, "mrr", ties="input")["mrr"] == 1.0
    ranking.move_to_end("a")
    assert fastir.evaluate(qrels, {"q": ranking}, "mrr", ties="input")["mrr"] == 1 / 3


def test_nan_is_refused_among_labels():
    with pytest.raises(ValueError, match=r"label nan is not finite.*\(query q, document b\)"):
        fastir.evaluate({"q": {"a": 1.0, "b": float("nan")}}, {"q": {"a": 1.0}}, "map")


def test_documents_of_faiss_are_those_of_lists():
    rng = np.random.default_rng(3)
    indices = np.array([rng.permutation(1000)[:50] for _ in range(40)])
    scores = -np.sort(-rng.random((40, 50)).astype(np.float32))
    qrels = {q: {int(doc): int(rng.integers(3)) for doc in rng.permutation(1000)[:60]} for q in range(40)}
    arrays = {q: dict(zip(indices[q], scores[q], strict=True)) for q in range(40)}
    lists = {q: dict(zip(indices[q].tolist(), scores[q].tolist(), strict=True)) for q in range(40)}
    evaluator = fastir.Evaluator(qrels, ["map", "ndcg@10"])
    assert evaluator.evaluate(arrays) == evaluator.evaluate(lists) == evaluator.evaluate(fastir.Run.from_dict(arrays))


def test_a_long_ranking_of_a_subclass_is_copied():
    ranking = defaultdict(float, {f"d{n}": float(n % 1000) for n in range(300_000)})
    qrels = {"q": {f"d{n}": 1 for n in range(0, 300_000, 1000)}}
    assert fastir.evaluate(qrels, {"q": ranking}, "map") == fastir.evaluate(qrels, {"q": dict(ranking)}, "map")
