"""Documents that stand twice in files of every format are refused or repaired."""

import pytest
from packings import exact

import fastir
from fastir import Run

HEADER = "query-id\tcorpus-id\tscore\n"


@pytest.fixture
def read(tmp_path):
    """Writes a text and reads it as judgments or rankings."""

    def read(cls, text, name="file", **options):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape"))
        return cls.from_file(tmp_path / name, **options)

    return read


@pytest.mark.parametrize("format", ["trec", "beir", "json"])
def test_queries_may_be_interleaved(format, read):
    text = {"trec": "b Q0 x 1 1 t\na Q0 x 1 2 t\nb Q0 y 1 3 t\n",
            "beir": HEADER + "b\tx\t1\na\tx\t2\nb\ty\t3\n",
            "json": '{"b": {"x": 1}, "a": {"x": 2}, "b": {"y": 3}}'}[format]  # fmt: skip
    assert exact(read(Run, text, format=format)) == exact({"b": {"x": 1.0, "y": 3.0}, "a": {"x": 2.0}})


TWICE = {
    "trec": ("q Q0 a 0 1 t\nq Q0 b 0 2 t\n\np Q0 a 0 1 t\nq Q0 a 0 9 t\nq Q0 a 0 5 t\n", 5, 1),
    "beir": (HEADER + "q\ta\t1\nq\tb\t2\np\ta\t1\nq\ta\t9\nq\ta\t5\n", 5, 2),
    "json": ('{"q": {"a": 1, "b": 2}, "p": {"a": 1}, "q": {"a": 9, "a": 5}}', None, None),
}


@pytest.mark.parametrize("format", TWICE)
def test_a_document_twice(format, read):
    text, line, first = TWICE[format]
    with pytest.raises(fastir.DuplicateError, match="duplicate document 'a' in query 'q'") as caught:
        read(Run, text, format=format)
    assert (caught.value.line, f"on line {first}" in str(caught.value)) == (line, first is not None)
    for keep, score in (("first", 1.0), ("last", 5.0), ("max", 9.0)):
        run = read(Run, text, format=format, duplicates=keep)
        assert exact(run) == exact({"q": {"a": score, "b": 2.0}, "p": {"a": 1.0}})
        count, place = run.columns.repairs["duplicates"]
        assert count == 2 and place.endswith(f"file:{line}" if line else "file")


def test_a_choice_of_duplicates_that_does_not_exist(read):
    with pytest.raises(ValueError, match=r"duplicates must be one of .*'once', got 'best'"):
        read(Run, "q Q0 a 0 1 t\n", duplicates="best")
