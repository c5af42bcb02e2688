"""Mappings in files with two fields on each line: a wrong line is named."""

import pytest
from common import UNEVEN

import fastir

pytestmark = UNEVEN

QRELS = {"q": {"a": 2, "b": 1}, "r": {"b": 1}}
RUN = {"q": {"a1": 3.0, "x": 2.5, "a2": 2.0, "b1": 1.0}, "r": {"x": 1.0, "b1": 0.5}}

METRICS = ["ndcg", "map", "num_ret"]


def test_a_wrong_line_of_a_file_is_named(tmp_path):
    path = tmp_path / "parents"
    path.write_text("a1\ta\na2\n")
    with pytest.raises(fastir.FormatError, match=r"parents:2: expected a chunk and a document, got 1 field: 'a2'"):
        fastir.evaluate(QRELS, RUN, METRICS, parents=path)
    with pytest.raises(FileNotFoundError):
        fastir.evaluate(QRELS, RUN, METRICS, parents=tmp_path / "absent.tsv")


def test_a_file_that_does_not_fit_is_named(tmp_path):
    pytest.importorskip("scipy")
    path = tmp_path / "pairs"
    path.write_text("q s\na1 a\na1 b\n")
    with pytest.raises(fastir.FormatError, match=r"pairs: parents: chunk 'a1' has two documents, 'a' and 'b'"):
        fastir.evaluate(QRELS, RUN, METRICS, parents=path)
    path.write_text("q s\n")
    with pytest.raises(fastir.FormatError, match="pairs: segments: query 'r' has no segment"):
        fastir.compare(QRELS, {"one": RUN, "two": RUN}, METRICS, segments=path)
    for call in (fastir.contributions, lambda *given, **teams: fastir.leave_one_out(*given, METRICS, **teams)):
        path.write_text("one s\n")
        with pytest.raises(fastir.FormatError, match="pairs: teams: run 'two' has no team"):
            call(QRELS, {"one": RUN, "two": RUN}, teams=path)
        path.write_text("one s\ntwo s\nthree s\n")
        with pytest.raises(fastir.FormatError, match="pairs: teams: there is no run 'three'"):
            call(QRELS, {"one": RUN, "two": RUN}, teams=path)
    with pytest.raises(ValueError, match=r"^segments: query 'r' has no segment"):
        fastir.compare(QRELS, {"one": RUN, "two": RUN}, METRICS, segments={"q": "s"})
