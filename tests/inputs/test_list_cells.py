"""Lists of ids as text in cells: their forms, their escapes, and what is wrong in them."""

import ast
import json
import random
import warnings

import numpy as np
import pytest
from common import UNEVEN

import fastir
from fastir.engine.columns.rows import CELLS

pytestmark = UNEVEN
pandas = pytest.importorskip("pandas")
LISTS = [["b", "a", "c"], ["a"], [], ["x1", "b"]]
RELEVANT = [["a"], ["a"], ["b"], ["b", "z"]]
FORMS = {
    CELLS[0]: (json.dumps, str, lambda ids: "  " + json.dumps(ids, separators=(" , ", ":")) + " "),
    CELLS[1]: (",".join, ", ".join, " ,".join),
    CELLS[2]: (" ".join, "  ".join, "\t".join),
    CELLS[3]: (lambda ids: str(np.array(ids)), lambda ids: np.array2string(np.array(ids, object), max_line_width=8)),
}


@pytest.mark.parametrize(("form", "write"), [(form, write) for form, writers in FORMS.items() for write in writers])
@pytest.mark.parametrize("kind", ["str", "object", "string[pyarrow]"])
def test_cells_are_the_lists_that_they_spell(form, write, kind):
    cells = pandas.Series(list(map(write, LISTS)), dtype=kind)
    expected = fastir.evaluate_lists(LISTS, RELEVANT, ["mrr", "ndcg", "recall@2"])
    results = fastir.evaluate_lists(cells, RELEVANT, ["mrr", "ndcg", "recall@2"])
    assert results.values.tobytes() == expected.values.tobytes()
    assert results.report.repairs == {form: (4, "retrieved")}
    assert form in str(results.report) and "repaired" not in str(results.report)


def test_cells_without_separators_have_one_id_each():
    results = fastir.evaluate_lists(pandas.Series(["b", "a", "", "b"]), RELEVANT, "P@1")
    assert list(results.per_query("P@1").values()) == [0, 1, 0, 1]
    assert not results.report.repairs


@pytest.mark.parametrize("ids", [
    ["caf\u00e9", "\u6587 \U0001f600", 'q"uote', "back\\slash", "it's", "new\nline", "tab\t,comma", "", "]", "[a]"],
    ['"', "'", "\\", "\\'", "\\n", "\x00", "\x7f", "\xa0", "\u2028"],
    [0, -1, 12, 2**63 - 1, -(2**62)],
])  # fmt: skip
@pytest.mark.parametrize(
    "write", [json.dumps, lambda ids: json.dumps(ids, ensure_ascii=False), str, lambda ids: str(np.array(ids, object))]
)
def test_printed_lists_are_read_as_json_and_python_do(ids, write):
    cells = pandas.Series([write(ids), write(ids[::-1])])
    if "," in cells[0].replace("tab\\t,", ""):
        read = json.loads if write is not str else ast.literal_eval
        assert [read(cell) for cell in cells] == [ids, ids[::-1]]
    for place, doc_id in enumerate(ids):
        results = fastir.evaluate_lists(cells, [[doc_id]] * 2, "mrr")
        assert list(results.per_query("mrr").values()) == [1 / (place + 1), 1 / (len(ids) - place)]


WRONG = {
    '["a", "b"': "row 1: the list does not end",
    '["a", "b': "row 1: the list does not end",
    '"a", "b"]': "some cells are lists in brackets, such as '\\[\"a\"\\]' \\(row 0\\), and others are not",
    '["a",, "b"]': "row 1: the list has a gap",
    '["a", ]': "row 1: the list has a gap",
    '["a", null]': "row 1: the list holds what is neither a string .*: 'null",
    "['a', None]": "row 1: the list holds what is neither a string .*: 'None",
    '["a", ["b"]]': "row 1: the list holds another list",
    '[{"a": 1}]': "row 1: the list holds another list or an object",
    '["a", 1]': "row 1: the list holds strings and integers",
    "[1.5]": "row 1: the list holds what is neither a string",
    "[01]": "row 1: the list holds what is neither a string",
    f"[{2**63}]": "row 1: the list holds what is neither a string",
    '["a" "b"]': "row 1: a comma is missing",
    "['a', 'b' 'c']": "row 1: a comma is missing",
    "['a''b']": "row 1: a comma is missing",
    "['a' 'b', 'c']": "row 1: the list has a comma, where blanks separate",
    "['a' 'b' ... 'c']": "row 1: the list was cut when NumPy printed it; .*threshold",
    "[1. 2.]": "row 1: the list holds what is neither a string",
    '["a"] b': "row 1: text follows the list",
    "['a\\x']": "has an escape that neither JSON nor Python has",
    "[__import__('os')]": "row 1: the list holds what is neither a string",
    "a b": "others are not, such as 'a b' \\(row 1\\)",
}


@pytest.mark.parametrize(("cell", "message"), WRONG.items())
def test_what_is_wrong_in_a_cell_is_named_with_its_row(cell, message):
    with pytest.raises(ValueError, match=f"retrieved: .*{message}|{message}"):
        fastir.evaluate_lists(pandas.Series(['["a"]', cell]), [["a"], ["a"]], "mrr")


@pytest.mark.parametrize(("cells", "message"), [
    (["a,b", "a b"], "commas or blanks could separate the ids: 'a,b' .row 0. has a comma, 'a b' .row 1. a blank"),
    (["a b,c"], "commas or blanks could separate"), (["a,,b"], "row 0: the list has a gap"),
    (["a,b,"], "row 0: the list has a gap"), (["a", 'b", "c"]'], "commas or blanks|at its end and no"),
    (['a","b"]'], "row 0: the list has ']' at its end and no"),
])  # fmt: skip
def test_one_separator_is_that_of_the_whole_column(cells, message):
    with pytest.raises(ValueError, match=message):
        fastir.evaluate_lists(pandas.Series(cells), [["a"]] * len(cells), "mrr")


def test_ids_with_the_separator_beside_text_are_refused():
    relevant = pandas.Series(["New York.pdf", "b"])
    with pytest.raises(ValueError, match=r"relevant: its text has ' ' between ids, and retrieved has the id 'New York"):
        fastir.evaluate_lists([["New York.pdf"], ["b"]], relevant, "mrr")
    assert fastir.evaluate_lists([["York.pdf"], ["b"]], relevant, "mrr")["mrr"] == 1


def test_random_cells_are_read_as_python_splits_them():
    rng = random.Random(3)
    for _ in range(200):
        lists = [["".join(rng.choices("ab]['\"\\\u00e9", k=rng.randint(1, 4))) for _ in range(rng.randint(1, 4))]]
        lists = [list(dict.fromkeys(ids)) for ids in lists]
        for write in (json.dumps, str):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for place, doc_id in enumerate(lists[0]):
                    results = fastir.evaluate_lists(pandas.Series(list(map(write, lists))), [[doc_id]], "mrr")
                    assert results["mrr"] == 1 / (place + 1), (lists, doc_id)


@pytest.mark.parametrize("seed", range(20))
def test_escapes_are_read_as_json_reads_them(seed, tmp_path):
    rng = random.Random(seed)
    pieces = [
        '\\"', "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t", "\\u0041", "\\u00e9", "\\u20AC",
        "\\ud83d\\uDE00",
    ]  # fmt: skip
    pieces += ["a", "\u00e9", "\U0001f600", " ", "'", "", "\\u0000", "\\u007f", "\\u07ff", "\\u0800", "\\uffff"]
    texts = ['"' + "".join(rng.choices(pieces, k=rng.randrange(6))) + f'{number}"' for number in range(12)]
    content = '{"q": [' + ", ".join(texts[:7]) + '], "\\u00e9": [' + ", ".join(texts[7:]) + "]}"
    path = tmp_path / "lists.json"
    path.write_text(content, "utf-8")
    assert {query: list(docs) for query, docs in fastir.Run.from_file(path).to_dict().items()} == json.loads(content)
    for odd in ("\\ud83d", "\\ude00", "\\ud83d\\u0041"):  # halves of a pair
        path.write_text('{"q": ["' + odd + '"]}')
        expected = fastir.Run.from_dict({"q": [json.loads(f'"{odd}"')]})
        assert fastir.evaluate({"q": {"d": 1}}, path, "num_ret")["num_ret"] == 1
        assert fastir.Run.from_file(path) == expected
    for odd in ("\\x41", "\\u12g4", "\\U00000041", "\\N{DEGREE SIGN}"):
        path.write_text('{"q": ["' + odd + '"]}')
        with pytest.raises(fastir.FormatError, match="malformed JSON"):
            fastir.Run.from_file(path)
