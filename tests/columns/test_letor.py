"""Where the fields of lines for learning to rank lie in their text."""

import pytest

from fastir.engine.columns._parsing import label_lines


def fields(content):
    """(number of the line, first field, query or the code of its lack, document) of each line."""
    rows = label_lines(content).T.tolist()
    return [
        (line, content[a : a + n], content[b : b + m] if m >= 0 else m, content[c : c + k])
        for line, a, n, b, m, c, k in rows
    ]


@pytest.mark.parametrize(("text", "expected"), [
    (b"", []),
    (b"# x\n\n \t\n", []),
    (b"1 qid:7 1:0.5 # d1\n", [(1, b"1", b"7", b"d1")]),
    (b"1 qid:7#d1 words", [(1, b"1", b"7", b"d1")]),
    (b"\n 2\tqid:a  # docid = d inc = 1\r\n", [(2, b"2", b"a", b"d")]),
    (b"1 qid:7 #docid=d", [(1, b"1", b"7", b"d")]),
    (b"1 qid:7 #docid", [(1, b"1", b"7", b"docid")]),
    (b"1 qid:7 #docid7 = x", [(1, b"1", b"7", b"docid7")]),
    (b"1 qid:7 #docid =\n2 qid:8 #", [(1, b"1", b"7", b""), (2, b"2", b"8", b"")]),
    (b'1 qid:7 # d1; "words"', [(1, b"1", b"7", b"d1")]),
    (b"1\n2 1:0.5\n3 qid:\n", [(1, b"1", -1, b""), (2, b"2", -2, b""), (3, b"3", -2, b"")]),
])  # fmt: skip
def test_the_fields_of_lines(text, expected):
    assert fields(text) == expected
