"""Unjudged documents of two runs: a document of both is one unjudged document."""

import numpy as np
import pytest
from every_labeling import case_of_two

import fastir

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")


def test_a_run_against_itself_differs_by_nothing():
    labels, ranking, _ = case_of_two(3, 1)
    found = fastir.bounds({"q": labels}, {"q": ranking}, ["ndcg@3", "P@2", "mrr", "rbp"], against={"q": ranking})
    assert (found.lower.values == 0).all() and (found.upper.values == 0).all()


def test_ids_that_are_integers_and_parts_of_documents_are_one():
    qrels, first, second = {1: {7: 1}}, {1: {7: 1.0, 8: 2.0}}, {1: {8: 2.0, 7: 1.0, 9: 3.0}}
    as_text = [{"1": {str(doc): value for doc, value in each[1].items()}} for each in (qrels, first, second)]
    names = ["ndcg", "map", "mrr"]
    assert fastir.bounds(qrels, first, names, against=second).lower.values.tolist() == (
        fastir.bounds(as_text[0], as_text[1], names, against=as_text[2]).lower.values.tolist()
    )
    parts = [
        {"1": {f"{doc}#{i}": score - i for doc, score in each["1"].items() for i in (0, 1)}} for each in as_text[1:]
    ]
    found = fastir.bounds(
        as_text[0], parts[0], names, against=parts[1], parents=lambda ids: [i.split("#")[0] for i in ids]
    )
    assert np.isclose(found.value["mrr"], 0.5 - 1 / 3)
