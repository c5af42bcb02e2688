"""Mappings in files with two fields on each line: a wrong line is named."""

import math

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


# ---- weights of documents --------------------------------------------------------------------------------------------
WEIGHTED_QRELS = {"q1": {"a": 1, "b": 2, "c": 0, "d": 1}, "q2": {"a": 1, "e": 1}, "q3": {"c": 0}}
WEIGHTED_RUN = {"q1": {"x": 9.0, "a": 8.0, "c": 7.0, "b": 6.0}, "q2": {"e": 5.0, "x": 4.0}, "q3": {"c": 1.0}}
WEIGHTS = {"a": 2.0, "b": 1.5, "d": 4.0, "e": 1.25}


@pytest.mark.parametrize(("doc_weights", "error", "message"), [
    ({**WEIGHTS, "a": -1}, ValueError, r"above 0 and finite, got -1 \(query q1, document a\)"),
    ({**WEIGHTS, "a": math.nan}, ValueError, r"above 0 and finite, got nan \(query q1, document a\)"),
    ({**WEIGHTS, "a": "x"}, TypeError, r"got str 'x' \(query q1, document a\)"),
    ({"a": 1.0}, ValueError, "document 'b' of query 'q1' has no weight"),
    ({"q1": {"a": 1, "b": 1, "d": 1, "z": 1}, "q2": {"a": 1, "e": 1}}, ValueError, "'z' of query 'q1' is not judg"),
    (3, TypeError, "doc_weights must map ids to weights"),
    ("ips", TypeError, "doc_weights='ips' names a column of a table of qrels"),
])  # fmt: skip
def test_a_wrong_weight_is_named_with_its_query_and_document(doc_weights, error, message):
    with pytest.raises(error, match=message):
        fastir.evaluate(WEIGHTED_QRELS, WEIGHTED_RUN, "psp@2", doc_weights=doc_weights)
