"""The quick reader of JSON reads what the json module reads, or leaves the text to it.

Also of: parsing.
"""

import json
import random
from itertools import pairwise

import numpy as np
import pytest

from fastir.engine.columns._parsing import rows_from_json, rows_from_json_lines

USUAL = '{"q1": {"a": 1, "b": -0.25e-3},\n\t"q2": {}, "q1": {"ü:": 17.386701, "a": 1e300}}'


def pairs_of(content):
    """What rows_from_json() returned, as json gives it with tuples of pairs."""
    queries, first_rows, starts, lengths, numbers = rows_from_json(content)
    ids = [content[a : a + n].decode("utf-8", "surrogateescape") for a, n in zip(starts, lengths, strict=True)]
    rows = list(zip(ids, numbers.tolist(), strict=True))
    return tuple(
        (query, tuple(rows[a:b])) for query, (a, b) in zip(queries, pairwise([*first_rows, len(rows)]), strict=True)
    )


def by_json(content):
    text = content.decode("utf-8", "surrogateescape")
    return json.loads(text, object_pairs_hook=tuple, parse_int=float)


def test_reads_pairs_as_json_does():
    assert pairs_of(USUAL.encode()) == by_json(USUAL.encode())


@pytest.mark.parametrize("number", ["0", "-0", "1", "10.5", "1E5", "0.1e+2", "123456789012345678901234567890", "5e-324",
                                    "2.2250738585072011e-308", "0." + "1" * 80, "9007199254740993"])  # fmt: skip
def test_reads_numbers_to_the_last_bit(number):
    content = b'{"q": {"a": %s}}' % number.encode()
    assert np.float64(pairs_of(content)[0][1][0][1]).tobytes() == np.float64(float(number)).tobytes()


@pytest.mark.parametrize("text", ["", "{}", "[]", "1", '{"q": 1}', '{"q": []}', '{"q": {"a": "1"}}',
                                  '{"q": {"a": NaN}}', '{"q": {"a": -}}',
                                  '{"q": {"a": true}}', '{"q": {"a": 1e400}}', '{"q": {"a": 01}}', '{"q": {"a": .5}}',
                                  '{"q": {"a": 1.}}', '{"q": {"a": +1}}', '{"q": {"a": 1,}}', '{"q": {"a": 1}',
                                  '{"q": {"a": 1}} x', '{"q\\n": {"a": 1}}', '{"q": {"a\n": 1}}', '{"q" {"a": 1}}',
                                  '{"q": {"a": 1e}}', '{"q": {"a": 1 2}}', '{"q": {}, }'])  # fmt: skip
def test_leaves_all_else_to_json(text):
    assert rows_from_json(text.encode()) is None


def test_reads_a_damaged_text_as_json_does_or_leaves_it():
    rng = random.Random(1)
    usual = USUAL.encode()
    n_read = 0
    for _ in range(20_000):
        content = bytearray(usual)
        for _ in range(rng.randint(1, 2)):
            at = rng.randrange(len(content))
            content[at : at + rng.randint(0, 2)] = rng.choice(
                [b"", b"{", b"}", b",", b'"', b"0", b".", b" ", b"e", b"-"]
            )
        if rows_from_json(bytes(content)) is not None:
            assert pairs_of(bytes(content)) == by_json(bytes(content))
            n_read += 1
    assert n_read > 1000


# ---- JSON Lines --------------------------------------------------------------------------------------------------
FIELDS = [b"q", b"d", b"s"]
LINE = '{"q": "a", "d": 1, "s": 0.5}'


def lines_read(content):
    """The rows that rows_from_json_lines() read, and the text that it left."""
    ((starts, lengths), (integers,), (numbers,)), n, used = rows_from_json_lines(content, FIELDS, [0, 1, 2])
    texts = [content[a : a + length].decode() for a, length in zip(starts, lengths, strict=True)]
    rows = list(zip(texts, integers.tolist(), numbers.tolist(), strict=True))
    assert len(rows) == n
    return rows, content[used:].decode()


def test_reads_lines_in_any_order_of_fields_and_past_others():
    more = '{"x":{},"q":"b"}'
    content = f'\n{LINE}\r\n {{"t":"x","s":-1e2 ,"q" :"ü","n":null,"d":-7,"y":true,"z":false,"w":1}}{LINE}\n\n{more}\n'
    expected = [("a", 1, 0.5), ("ü", -7, -100.0), ("a", 1, 0.5)]
    assert lines_read(content.encode()) == (expected, f"\n\n{more}\n")


@pytest.mark.parametrize("odd", ["[]", "{}", '{"q": "a", "d": 1}', '{"q": "a", "d": 1, "s": "1"}',
                                 '{"q": 1, "d": 1, "s": 1}',
                                 '{"q": "a", "d": "1", "s": 1}', '{"q": "a", "d": 1.0, "s": 1}', LINE[:-1], LINE[:-3],
                                 '{"q": "a", "d": 1, "s": 1, "q": "b"}', '{"q": "\\n", "d": 1, "s": 1}', "tru", "\0",
                                 '{"q": "a", "d": 1, "s": NaN}', '{"q": "a", "d": 1, "s": 1e999}', '{"q": null}',
                                 '{"q": "a", "d": 1, "s": 1, "x": []}', '{"q": "a", "d": 1234567890123456789, "s": 1}',
                                 '{"q": "a", "d": 01, "s": 1}', '{"q": "a", "d": 1, "s": 1,}',
                                 '{"x": nul'])  # fmt: skip
def test_ends_before_the_first_line_that_is_unusual(odd):
    assert lines_read(f"{LINE}\n{odd}\n{LINE}".encode()) == ([("a", 1, 0.5)], f"\n{odd}\n{LINE}")
    assert lines_read(odd.encode()) == ([], odd)
