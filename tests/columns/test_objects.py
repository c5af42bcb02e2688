"""Columns of Python objects give what arrays of their values give, or are left to be read in Python."""

import random

import numpy as np
import pytest

import fastir
from fastir.engine.columns._objects import (
    fields_from_rows,
    objects_from_list,
    places_of_objects,
    read_floats,
    read_integers,
)

NAMES = ["query_id", "doc_id", "score"]
QRELS = {f"q{q}": {f"d{d}": d % 3 for d in range(9)} for q in range(40)}


class Whole(int):
    """An int that could say anything of itself."""


class Real(float):
    """A float that could."""


def rows_of(n, seed=0):
    rng = random.Random(seed)
    return [(f"q{q}", f"d{d}", rng.randrange(9) / 4) for q in range(40) for d in rng.sample(range(20), n // 40)]


@pytest.mark.parametrize("values", [[1, 2**62, -(2**63)], [np.int8(-3), np.uint64(7), 5], []])
def test_integers_are_read_from_lists_and_arrays(values):
    expected = np.array([int(value) for value in values], np.int64)
    array = np.array([*values, None], object)[:-1]
    assert np.array_equal(read_integers(values), expected) and np.array_equal(read_integers(array), expected)


@pytest.mark.parametrize("odd", [2**63, True, np.True_, 1.0, "1", None, Whole(1), np.uint64(2**63)])
def test_what_may_be_no_integer_is_left_to_python(odd):
    assert read_integers([1, odd]) is None


@pytest.mark.parametrize("values", [[1.5, 2, True, 2**70, float("inf")], [np.float32(0.1), np.int64(3), np.True_], []])
def test_numbers_are_read_from_lists_and_arrays(values):
    expected = np.array([float(value) for value in values])
    array = np.array([*values, None], object)[:-1]
    assert read_floats(values).tobytes() == read_floats(array).tobytes() == expected.tobytes()


@pytest.mark.parametrize("odd", ["1", None, 10**400, Real(1), 1j])
def test_what_only_its_own_code_makes_a_number_is_left_to_python(odd):
    assert read_floats([1.0, odd]) is None


def test_an_array_of_a_list_holds_its_objects():
    values = [f"text {i}" for i in range(100)]
    array = objects_from_list(values, 20, 70)
    del values[:]
    assert array.dtype == object and array.tolist() == [f"text {i}" for i in range(20, 70)]
    with pytest.raises(RuntimeError, match="a column changed while it was read"):
        objects_from_list(values, 0, 1)


def test_rows_become_columns_and_others_than_tuples_are_left_to_python():
    rows = tuple((str(i), i, float(i), None) for i in range(50))
    columns = fields_from_rows(rows, (2, 0), 4)
    assert [column.tolist() for column in columns] == [[row[2] for row in rows], [row[0] for row in rows]]
    assert fields_from_rows(rows, (0, 1), 3) is None and fields_from_rows((*rows, list(rows[0])), (0, 1), 4) is None


@pytest.mark.parametrize("n", [200, 400, 800])
def test_every_form_of_rows_gives_the_same_values(n):
    rows = rows_of(n)
    columns = dict(zip(NAMES, map(list, zip(*rows, strict=True)), strict=True))
    run = {}
    for query, doc, score in rows:
        run.setdefault(query, {})[doc] = score
    expected = fastir.evaluate(QRELS, run, ["ndcg", "map"]).values.tobytes()
    forms = [
        rows, list(map(list, rows)), [row if i % 3 else list(row) for i, row in enumerate(rows)], iter(rows), columns,
        {**columns, "doc_id": list(map(np.str_, columns["doc_id"]))},
        {**columns, "score": list(map(np.float32, columns["score"]))},
        {**columns, "score": list(map(Real, columns["score"]))},
        {name: np.array(values, object) for name, values in columns.items()},
    ]  # fmt: skip
    for form in forms:
        assert fastir.evaluate(QRELS, form, ["ndcg", "map"]).values.tobytes() == expected


@pytest.mark.parametrize("ids", [["a", 1], [1, "a"], [1, True], ["a", None]])
def test_a_list_of_mixed_ids_is_refused(ids):
    with pytest.raises((TypeError, ValueError), match="row 1: 'doc_id'"):
        fastir.Run.from_table({"query_id": ["q", "q"], "doc_id": ids, "score": [2.0, 1.0]})


@pytest.mark.parametrize("n", [0, 1, 2, 1000])
def test_the_same_objects_are_found_and_no_others(n):
    ordered = [f"id {i}" for i in range(n)]
    objects = ordered[::-1]
    assert places_of_objects(ordered, objects).tolist() == [*range(n)][::-1]
    assert places_of_objects(ordered, []).tolist() == []
    assert places_of_objects(ordered, [*objects, "".join(["id", " 0"])]) is None
