"""Dicts as qrels and runs: labels of 32 bits, and no query at all."""

import numpy as np
import pytest

import fastir

RUN = {"q2": {"b": 2.5, "a": -1e300}, "q1": {"é": float("inf"), "文": -0.0, "c": 5e-324}, "q0": {"#1": 0.1}}
KINDS = [(fastir.Qrels, {"q2": {"a": 1, "b": 0}, "q1": {"é": -2, "c": 2**31 - 1}}), (fastir.Run, RUN)]


@pytest.fixture(params=KINDS, ids=["Qrels", "Run"])
def kind(request):
    return request.param


def test_no_queries_at_all():
    assert fastir.evaluate_ranked([], [0], "map").query_ids == []


@pytest.mark.parametrize("label", [2**31, -(2**31) - 1, 2**63, -(2**63) - 1, 2**63 - 1, -(2**63), 2**200])
def test_a_label_that_no_32_bits_hold_is_refused(label):
    """Alone and behind a label that fits, in every kind of int that can be that large."""
    kinds = [int] if abs(label) > 2**63 - 1 else [int, np.int64]
    for kind in kinds:
        for judged in ({"a": kind(label)}, {"b": 1, "a": kind(label)}):
            with pytest.raises(OverflowError, match=r"the label is too large.*query q, document a"):
                fastir.Qrels.from_dict({"q": judged})
            with pytest.raises(OverflowError, match=r"the label is too large.*query q, document a"):
                fastir.evaluate({"q": judged}, {"q": {"a": 1.0}}, "ndcg")


@pytest.mark.parametrize("label", [2**31 - 1, -(2**31)])
def test_the_outermost_labels_of_32_bits_are_taken(label):
    assert fastir.Qrels.from_dict({"q": {"a": label, "b": 1}}).to_dict() == {"q": {"a": label, "b": 1}}
    assert fastir.evaluate({"q": {"a": label, "b": 1}}, {"q": {"b": 1.0}}, "recall")["recall"] == (
        1.0 if label < 0 else 0.5
    )


class Number:
    """A number of another library, whose attributes raise what they like."""

    def __init__(self, value):
        self.value = value

    def __float__(self):
        return float(self.value)

    def values(self):
        raise RuntimeError("no sparse tensor")


def test_labels_and_scores_of_other_libraries_are_read_as_floats():
    exact = {"q": {"a": 1.0, "b": 2.5, "c": -1.0}, "r": {"a": 0.0}}
    odd = {query: {doc: Number(value) for doc, value in docs.items()} for query, docs in exact.items()}
    assert fastir.Qrels.from_dict(odd) == fastir.Qrels.from_dict(exact)
    assert fastir.Run.from_dict(odd) == fastir.Run.from_dict(exact)
    for wrong in ("1", b"1", None, float("nan"), 2.0**31):
        odd["r"]["a"] = wrong if isinstance(wrong, (str, bytes)) or wrong is None else Number(wrong)
        with pytest.raises((TypeError, ValueError, OverflowError), match="document a"):
            fastir.Qrels.from_dict(odd)
