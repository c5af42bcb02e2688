"""Weights that a caller gives wrongly are named with their query and document."""

import math

import pytest

import fastir

QRELS = {"q1": {"a": 1, "b": 2, "c": 0, "d": 1}, "q2": {"a": 1, "e": 1}, "q3": {"c": 0}}
RUN = {"q1": {"x": 9.0, "a": 8.0, "c": 7.0, "b": 6.0}, "q2": {"e": 5.0, "x": 4.0}, "q3": {"c": 1.0}}
WEIGHTS = {"a": 2.0, "b": 1.5, "d": 4.0, "e": 1.25}


@pytest.mark.parametrize(
    ("doc_weights", "error", "message"),
    [
        ({**WEIGHTS, "a": -1}, ValueError, r"above 0 and finite, got -1 \(query q1, document a\)"),
        ({**WEIGHTS, "a": math.nan}, ValueError, r"above 0 and finite, got nan \(query q1, document a\)"),
        ({**WEIGHTS, "a": "x"}, TypeError, r"got str 'x' \(query q1, document a\)"),
        ({"a": 1.0}, ValueError, "document 'b' of query 'q1' has no weight"),
        ({"q1": {"a": 1, "b": 1, "d": 1, "z": 1}, "q2": {"a": 1, "e": 1}}, ValueError, "'z' of query 'q1' is not judg"),
        (3, TypeError, "doc_weights must map ids to weights"),
        ("ips", TypeError, "doc_weights='ips' names a column of a table of qrels"),
    ],
)
def test_a_wrong_weight_is_named_with_its_query_and_document(doc_weights, error, message):
    with pytest.raises(error, match=message):
        fastir.evaluate(QRELS, RUN, "psp@2", doc_weights=doc_weights)
