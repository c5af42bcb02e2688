"""Labels that are not whole, as codes: that they compare as labels do, and give the labels back."""

import math
import random

import numpy as np
import pytest

from fastir.engine.measure._grades import Grades, coded, few_coded


def test_codes_compare_as_labels_do():
    labels = [3.5, 0.0, -1.0, 0.1, 3.5, -0.0, -7.5, 0.30000000000000004, 0.3]
    grades, (codes,) = coded(labels)
    assert grades.labels.tolist() == [0.0, 0.1, 0.3, 0.30000000000000004, 3.5]
    assert codes.tolist() == [4, 0, -1, 1, 4, 0, -2, 3, 2]
    for power, label in zip(grades.powers.tolist(), grades.labels.tolist(), strict=True):
        assert math.isclose(power, 2**label, rel_tol=5e-16)
    assert [grades.code_from(level) for level in (0.05, 0.1, 0.2, 3.5, 4)] == [1, 1, 2, 4, 5]
    more = grades.with_labels((-2, 0, 0.3, 7))
    assert isinstance(more, Grades) and more.labels.tolist() == [*grades.labels.tolist(), 7.0]
    assert [more.exact_code(label) for label in (-2, 0, 0.3, 7)] == [-2, 0, 2, 5]
    assert more.code_from(4) == 5 and grades.with_labels((0.1, -1)) is grades


def test_many_distinct_labels():
    rng = random.Random(5)
    for scale in (1.0, 1e-300, 1e9):
        labels = [rng.random() * scale for _ in range(10_000)]
        grades, (codes,) = coded(labels)
        assert grades.labels.tolist() == [0.0, *sorted(set(labels))]
        assert grades.decode(codes).tolist() == labels


def test_many_distinct_labels_in_several_columns():
    """More than are hashed, and some that are not above 0."""
    rng = random.Random(6)
    columns = [[rng.choice([rng.random(), 0.5, 0.0, -1.0, -2.0]) for _ in range(n)] for n in (15_000, 0, 1, 9000)]
    grades, codes = coded(*columns)
    assert grades.labels.tolist() == sorted({0.0, *(label for column in columns for label in column if label > 0)})
    for column, own in zip(columns, codes, strict=True):
        assert len(own) == len(column) and own.dtype == "int32"
        assert grades.decode(own).tolist() == column


SMALLEST = 5e-324


def few_labels(dtype, n_distinct, length):
    """Labels of so many distinct values above 0, in no order, of which the smallest comes last."""
    rng = random.Random(7)
    distinct = [SMALLEST if dtype == "f8" else 1e-45, *(0.1 * step for step in range(1, n_distinct))]
    labels = [rng.choice([0.0, -0.0, -1.0, -0.5, -(2.0**31), *distinct[1:]]) for _ in range(length - n_distinct)]
    return np.array([*labels, *reversed(distinct)], dtype)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("n_distinct", [1, 2, 31, 32])
@pytest.mark.parametrize("length", [32, 39, 40, 41, 4096, 4097, 9001])
def test_few_labels_have_the_codes_of_all(dtype, n_distinct, length):
    labels = few_labels(dtype, n_distinct, length)
    columns = [labels, labels[:0], labels[: length // 2]]
    expected, codes = coded(*columns)
    grades, few, fractions = few_coded(*columns)
    assert grades.labels.tolist() == expected.labels.tolist() and grades.largest == expected.largest
    for column, of_all, own, (n_fractions, first) in zip(columns, codes, few, fractions, strict=True):
        assert own.dtype == "int8" and own.tolist() == of_all.tolist()
        places = np.flatnonzero(column != np.trunc(column))
        assert n_fractions == len(places) and first == (places[0] if len(places) else 0)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_labels_that_are_not_few_are_not_coded_as_bytes(dtype):
    labels = few_labels(dtype, 33, 5000)
    assert few_coded(labels) is None and few_coded(labels[:-1]) is not None
    assert few_coded(labels[:100], labels) is None
    others = (-np.arange(40) - 0.5).astype(dtype)
    assert few_coded(others) is None and few_coded(others[:32]) is not None
    assert few_coded(labels[:-1:2]) is None and few_coded(labels[:9].astype("i4")) is None


@pytest.mark.parametrize("place", [0, 1, 7, 8, 20, 4095, 4096, 5000])
@pytest.mark.parametrize("label", [math.nan, math.inf, -math.inf, 2.0**31, -(2.0**31) - 1, -(2.0**40)])
def test_labels_out_of_range_are_not_coded_as_bytes(label, place):
    labels = np.where(np.arange(5001) % 3, 0.0, 0.5)
    labels[place] = label
    assert few_coded(labels) is None


def test_whole_labels_are_not_coded_as_bytes():
    assert few_coded(np.array([0.0, 1.0, -1.0, 2.0**31 - 1])) is None
    assert few_coded(np.zeros(0)) is None and few_coded(np.zeros(100)) is None
