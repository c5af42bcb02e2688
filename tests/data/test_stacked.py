"""Judgments of several sides, stacked; their merging and their agreement have tests of their own."""

import numpy as np

import fastir
from fastir.data.stacked import stack_judgments


def test_sides_are_stacked_without_rows_that_have_no_label():
    sides = [
        fastir.Qrels.from_dict(side).columns
        for side in ({"p": {}, "q": {"a": 1, "b": -1}}, {"r": {"c": -1}, "q": {"b": 0, "a": 2}, "s": {"d": -2, "e": 3}})
    ]
    whole, judged = (stack_judgments(sides, keeps_open=keeps) for keeps in (True, False))
    assert (whole.query_ids, whole.doc_ids) == (["p", "q", "s"], ["a", "b", "b", "a", "e"])
    assert (whole.n_open, whole.example) == (2, ("r", "c"))
    assert whole.firsts.tolist() == [0, 1, 1, 0, 4] and np.diff(whole.offsets).tolist() == [0, 2, 1]
    assert (judged.doc_ids, judged.n_open, judged.example) == (["a", "b", "a", "e"], 3, ("q", "b"))
    assert [labels.tolist() for labels in judged.labels] == [[1], [0, 2, 3]]
