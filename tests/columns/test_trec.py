"""A line means the same wherever it stands: at the end of a file it is read byte by byte, before that by masks.

Also of: line_formats.
"""

import random

import numpy as np
import pytest

from fastir.engine.columns._trec import Reader
from fastir.errors import FormatError
from fastir.inputs.formats import FORMATS

LINES = {
    ("trec", True): "q7 Q0 doc-12 3 12.5 tag", ("trec_eval", True): "q7 Q0 doc-12 3 12.5 tag",
    ("trec", False): "q7 0 doc-12 2", ("msmarco", True): "q7\tdoc-12\t3", ("beir", True): "q7\tdoc-12\t12.5",
    ("subtopic", False): "q7 1 doc-12 2",
}  # fmt: skip
HEADER = "query-id\tcorpus-id\tscore\n"
PIECES = [
    " ", "\t", "  ", "\v", "\f", "\r", "\0", "\x01", "#", '"', "\n", "\r\n", "é", "-", "+", ".", "e5",
    "1" * 20, "9" * 12,
]  # fmt: skip
PIECES += ["nan", "inf", "1e400", "x" * 30, "x" * 70, " y z", "", "0.1234567", "0.12345678", "\x85", "\x1f"]


def changed(rng, line):
    """The line with a few pieces put in or characters taken out."""
    for _ in range(rng.randint(0, 3)):
        place = rng.randint(0, len(line))
        line = line[:place] + rng.choice(PIECES) + line[place + rng.randint(0, 2) :]
    return line


def read(format, is_run, text, n_rows=None):
    """The rows and the repairs, or the message; of the first rows where the file has more."""
    reader = Reader("file", is_run, FORMATS[format].lines[is_run])
    data = text.encode()
    block = np.frombuffer(data + b"\n" * 9, np.uint8).copy()
    try:
        reader.read(block, len(data))
    except FormatError as error:
        return str(error)
    arena, starts, lengths, numbers, first_rows, queries, _ = reader.columns()
    ids = [arena[start : start + length].tobytes() for start, length in zip(starts, lengths, strict=True)]
    kept = slice(len(ids) if n_rows is None else n_rows)
    places = [(row, query) for row, query in zip(first_rows.tolist(), queries, strict=True) if row < len(ids[kept])]
    return ids[kept], numbers[kept].tolist(), places, reader.repairs


@pytest.mark.parametrize(("format", "is_run"), LINES)
@pytest.mark.parametrize("seed", range(4))
def test_a_line_is_read_alike_at_the_end_of_a_file_and_before(format, is_run, seed):
    rng = random.Random(seed)
    usual = LINES[format, is_run]
    header = HEADER if format == "beir" else ""
    seen = set()
    for _ in range(1000):
        before = header + f"{usual}\n" * rng.randint(0, 2)
        text = before + changed(rng, usual) + rng.choice(["\n", "\r\n"])
        alone = read(format, is_run, text)
        behind = "".join(f"{usual.replace('q7', 'other')}{row}\n" for row in range(8))
        n_rows = len(alone[0]) if isinstance(alone, tuple) else None
        assert read(format, is_run, text + behind, n_rows) == alone, text
        seen.add(type(alone))
    assert seen == {str, tuple}
