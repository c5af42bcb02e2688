"""Documents that stand twice in files of every format are refused or repaired."""

import pytest
from packings import exact

import fastir
from fastir import Run

HEADER = "query-id\tcorpus-id\tscore\n"


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


def test_labels_of_several_raters_become_their_mean(read, tmp_path):
    """In a file, a table in memory, and beside runs, in which a duplicate is an error as without the rule."""
    rows = [("q", "a", 1), ("q", "b", 0), ("q", "a", 2), ("p", "a", 3), ("q", "a", 2), ("q", "b", 1)]
    means = {"q": {"a": 5 / 3, "b": 0.5}, "p": {"a": 3.0}}
    text = "".join(f"{query} 0 {doc} {label}\n" for query, doc, label in rows)
    qrels = read(fastir.Qrels, text, duplicates="mean")
    assert qrels.to_dict() == fastir.Qrels.from_table(rows, duplicates="mean").to_dict() == means
    assert qrels.columns.repairs["duplicates"][0] == 3
    run = {"q": {"a": 1.0, "b": 2.0}}
    with pytest.warns(fastir.FastirWarning, match="3 duplicates were repaired"):
        results = fastir.evaluate(tmp_path / "file", run, "dcg@1", duplicates="mean", queries="intersection")
    assert results["dcg@1"] == 0.5
    for twice in ({"q": ["a", "a"]}, [("q", "a", 1.0), ("q", "a", 2.0)]):
        with pytest.raises(fastir.DuplicateError, match="'max' or 'once' would"):
            fastir.evaluate(rows[:2], twice, "dcg", duplicates="mean")
    for cls, data in ((Run.from_dict, {"q": ["a", "a"]}), (Run.from_table, rows)):
        with pytest.raises(fastir.DuplicateError, match="duplicate document 'a'"):
            cls(data, duplicates="mean")
