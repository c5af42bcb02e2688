"""Labels that are not whole, as codes: that they compare as labels do, and give the labels back."""

import math
import random

from fastir.engine.measure._grades import Grades, coded


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
