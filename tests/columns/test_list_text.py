"""The kernel that finds ids in text: positions, integers, and where it stops."""

import json
import tracemalloc

import numpy as np
import pytest

from fastir.engine.columns._parsing import lists_from_json, read_cells, survey
from fastir.engine.columns.ids import Arena


def cells(*texts):
    arena = Arena.of(list(texts))
    return arena.text, arena.starts, arena.lengths


def ids_in(text, starts, lengths):
    return [text[a : a + n].tobytes().decode() for a, n in zip(starts, lengths, strict=True)]


@pytest.mark.parametrize(
    ("form", "texts"),
    [(0, ('["a", "bc"]', "[]", " ['d' , \"e\"] ")), (1, ("a,bc", " ", "d , e")), (2, ("a bc", "", " d \t\n e "))],
)
def test_positions_of_ids(form, texts):
    given = cells(*texts)
    offsets, starts, lengths, integers, escapes, spaced, problem = read_cells(*given, form, survey(*given)[-1])
    assert offsets.tolist() == [0, 2, 2, 4] and not integers and not escapes and not spaced and problem is None
    assert ids_in(given[0], starts, lengths) == ["a", "bc", "d", "e"]


def test_integers_are_read_up_to_64_bits():
    given = cells(f"[0, -7, {2**63 - 1}]")
    _, numbers, _, integers, _, _, problem = read_cells(*given, 0, survey(*given)[-1])
    assert numbers.tolist() == [0, -7, 2**63 - 1] and integers and problem is None
    for wrong in (2**63, -(2**63) - 1, "00", "1.0", "-", "1a"):
        given = cells(f"[{wrong}]")
        assert read_cells(*given, 0, survey(*given)[-1])[-1] == (4, 0, 1)


def test_survey_names_the_first_row_of_each_kind():
    assert survey(*cells("", "a", "a, b", "a b", "[1]", "c,d"))[:4] == (4, 1, 2, 3)
    assert survey(*cells("a , b ,c"))[:4] == (-1, 0, 0, -1)
    assert survey(*cells())[:4] == (-1, -1, -1, -1)


@pytest.mark.parametrize(
    "data", [{"a": []}, {"a": ["x", "y"], "b": ["z"]}, {"a": [1, 2]}, {'q"\u00e9': ["\n", "\u6587"]}]
)
@pytest.mark.parametrize("indent", [None, 2])
def test_json_lists_are_found(data, indent):
    content = json.dumps(data, indent=indent).encode()
    keys, offsets, *_ = lists_from_json(content)
    assert [json.loads(key) for key in keys] == list(data)
    assert np.diff(offsets).tolist() == list(map(len, data.values()))


@pytest.mark.parametrize(
    "data", ['{"a": ["x"]', '{"a": {"x": 1}}', "[]", "", '{"a": ["x"]} b', '{"a" ["x"]}', '{"a": ["x",]}']
)
def test_other_json_is_left_to_json(data):
    assert lists_from_json(data.encode()) is None


def test_cut_json_is_left_to_json():
    data = b'{"a": ["x", 1], "b": []}'
    assert all(lists_from_json(data[:end]) is None for end in range(len(data) + 1))
    data = b'{"a": ["x", "1"], "b": []}'
    assert all((lists_from_json(data[:end]) is None) == (end < len(data)) for end in range(len(data) + 1))


def test_brackets_cost_no_memory():
    given = cells("[" * 10**6)
    tracemalloc.start()
    assert read_cells(*given, 0, survey(*given)[-1])[-1][0] == 3
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()
