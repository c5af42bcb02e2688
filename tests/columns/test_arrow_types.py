"""Decimals of Arrow columns are the nearest float64, or whole ids; other types are named in words."""

import decimal
import random

import pytest

import fastir
from fastir.engine.columns.arrow_types import in_words

pa = pytest.importorskip("pyarrow")
WIDTHS = [pa.decimal32, pa.decimal64, pa.decimal128, pa.decimal256]
LARGEST = {pa.decimal32: 9, pa.decimal64: 18, pa.decimal128: 38, pa.decimal256: 76}


def numbers(kind, scale, rng):
    """Decimals of every size that a type can have."""
    digits = LARGEST[kind]
    integers = [0, 1, -1, 10**digits - 1, 1 - 10**digits]
    integers += [rng.choice((1, -1)) * rng.randrange(10 ** rng.randint(1, digits)) for _ in range(60)]
    with decimal.localcontext(prec=100):
        return [decimal.Decimal(number).scaleb(-scale) for number in integers]


@pytest.mark.parametrize("kind", WIDTHS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("scale", [0, 3, 9, 18, 30])
def test_a_score_is_the_float64_that_its_digits_would_be_read_as(kind, scale):
    if scale > LARGEST[kind]:
        pytest.skip("more decimal places than digits")
    scores = numbers(kind, scale, random.Random(scale))
    column = pa.array(scores, kind(LARGEST[kind], scale))
    docs = [f"d{i}" for i in range(len(scores))]
    run = fastir.Run.from_table(pa.table({"query_id": ["q"] * len(docs), "doc_id": docs, "score": column}).slice(3))
    assert run["q"] == {doc: float(str(score)) for doc, score in list(zip(docs, scores, strict=True))[3:]}


def test_labels_and_ids_may_be_decimals():
    large = [1, 2, 2**70]
    for ids in ([1, 2, 3], large):
        judged = pa.table({
            "query_id": pa.array([decimal.Decimal(1)] * 3, pa.decimal128(20, 0)),
            "doc_id": pa.array([decimal.Decimal(each) for each in ids], pa.decimal128(38, 0)),
            "label": pa.array([decimal.Decimal("1.00"), decimal.Decimal("0.00"), decimal.Decimal("2.00")]),
        })  # fmt: skip
        expected = [str(each) if ids is large else each for each in ids]
        qrels = fastir.Qrels.from_table(judged)
        assert list(qrels) == [1] and dict(qrels[1]) == dict(zip(expected, [1, 0, 2], strict=True))


def test_a_decimal_that_is_null_is_named():
    table = pa.table({"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": pa.array([decimal.Decimal(1), None])})
    with pytest.raises(ValueError, match="row 1: 'score' is null"):
        fastir.evaluate({"q": {"a": 1}}, table, "mrr")


@pytest.mark.parametrize(("column", "values", "message"), [
    ("score", ["1"], "must be numeric, got string; cast it to double"),
    ("score", pa.array([1], pa.date32()), "must be numeric, got date; cast it to double"),
    ("score", [[1.0]], "must be numeric, got list; cast it to double"),
    ("doc_id", [1.5], "must hold strings or integers, got float64; cast it to string"),
    ("doc_id", pa.array([decimal.Decimal("1.5")]), r"got decimal\(2, 1\); cast it to string"),
    ("doc_id", pa.array([1], pa.timestamp("us", "UTC")), "got timestamp; cast it to string"),
], ids=str)  # fmt: skip
def test_types_that_cannot_be_are_named_in_words_with_a_cast(column, values, message):
    table = pa.table({"query_id": ["q"], "doc_id": ["a"], "score": [1.0], column: values})
    with pytest.raises(TypeError, match=message):
        fastir.evaluate({"q": {"a": 1}}, table, "mrr")


def test_every_type_has_a_word():
    names = {"tss:": "timestamp", "+w:3": "list of fixed size", "w:16": "binary of fixed size", "+ud:0,1": "union"}
    names |= {"d:38,-2,256": "decimal(38, -2)", "vz": "binary view", "+vl": "list view", "tiM": "interval", "?x": "?x"}
    assert {name: in_words(name) for name in names} == names
