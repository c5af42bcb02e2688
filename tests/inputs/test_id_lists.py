"""Lists of ids by position: sides that do not fit together, and what is no list."""

import numpy as np
import pytest
from common import UNEVEN
from id_lists_given import EXPECTED, FEW, IDS, RELEVANT, RETRIEVED, same_bits

import fastir

pytestmark = UNEVEN

RUN, QRELS = dict(zip(IDS, RETRIEVED, strict=True)), dict(zip(IDS, RELEVANT, strict=True))


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda ids: np.array(ids, object)])
def test_any_ordered_sequence_is_a_ranking(kind):
    assert same_bits(fastir.evaluate(QRELS, {query: kind(ids) for query, ids in RUN.items()}, FEW), EXPECTED)


def test_weights_and_query_ids_by_position():
    results = fastir.evaluate_lists(RETRIEVED, RELEVANT, FEW, query_ids=IDS, weights=[1, 0, 0, 0])
    assert results.per_query("mrr") == dict(zip(IDS, [1.0, 0.5, 0.0, 1.0], strict=True))
    assert list(results.query_ids) == IDS
    assert results["mrr"] == 1.0


@pytest.mark.parametrize(
    ("ranking", "error", "message"),
    [
        ("abc", TypeError, "query 'q' must map to .* in rank order, got str 'abc'"),
        ({"a", "b"}, TypeError, "query 'q' .* got a set, which has no order"),
        ((doc for doc in "ab"), TypeError, "query 'q' .* got a generator, which can be read only once"),
        (5, TypeError, "query 'q' must map to .* in rank order, got int 5"),
        (["a", None], TypeError, "at rank 2 of query 'q' must be a str, got NoneType None"),
        ([float("nan")], TypeError, "at rank 1 of query 'q' must be a str, got float nan"),
        ([["a"]], TypeError, r"at rank 1 of query 'q' must be a str, got list \['a'\]"),
        ([("a", 0.5)], TypeError, r"of query 'q' holds \('a', 0.5\), expected ids in rank order; with scores it is"),
        ([{"id": "a"}], TypeError, r"of query 'q' holds {'id': 'a'}, expected ids in rank order"),
        (["a", 1], TypeError, "at rank 2 of query 'q' must be a str, got int 1"),
        ([1, "a"], TypeError, "never match|at rank 2 of query 'q' must be an int like those before it, got str 'a'"),
        ([True], TypeError, "at rank 1 of query 'q' must be a str, got bool True"),
        ([b"a"], TypeError, "at rank 1 of query 'q' must be a str, got bytes"),
        (np.array([1.0]), TypeError, "at rank 1 of query 'q' must be a str, got float 1.0"),
        (np.array([["a"]]), TypeError, "at rank 1 of query 'q' must be a str, got list"),
        (["b", "a", "c", "a"], fastir.DuplicateError, "duplicate document 'a' in query 'q', at ranks 2 and 4"),
        ([1, 2], TypeError, "document ids are int such as 1, but those of the qrels are str"),
    ],
)  # fmt: skip
def test_what_is_no_ranking_is_named(ranking, error, message):
    with pytest.raises(error, match=message):
        fastir.evaluate({"q": ["a"]}, {"q": ranking}, "mrr")


@pytest.mark.parametrize(
    ("judged", "message"),
    [
        (None, "query 'q' must map to a dict .* or to a list or set of the relevant ids, got NoneType None"),
        ((doc for doc in "ab"), "query 'q' must map to .* got generator"),
        (["a", None], "document id 2 of query 'q' must be a str, got NoneType None"),
        ([["a"]], "document id 1 of query 'q' must be a str, got list"),
        (["a", 1], "document id 2 of query 'q' must be a str, got int 1"),
        ({"a", 1}, "document id .* of query 'q' must be"),
        (0.5, "query 'q' must map to .* got float 0.5"),
    ],
)  # fmt: skip
def test_what_is_no_judgment_is_named(judged, message):
    with pytest.raises(TypeError, match=message):
        fastir.evaluate({"q": judged}, {"q": ["a"]}, "mrr")


@pytest.mark.parametrize(
    ("retrieved", "relevant", "options", "error", "message"),
    [
        ([["a"]], [["a"], ["b"]], {}, ValueError, "retrieved has 1 query but relevant has 2"),
        ((x for x in [["a"]]), [["a"]], {}, TypeError, "retrieved must be a sequence .* can be read only once"),
        (["a"], [["a"]], {}, TypeError, "query 0 must map to .* in rank order, got str 'a'"),
        ([["a"]], {("a",)}, {}, TypeError, "relevant must be a sequence .* got a set, which has no order"),
        ([["a"]], {"q": ["a"]}, {}, TypeError, "relevant must be a sequence .* evaluate.. takes lists by query id"),
        ([["a"], ["b"]], [["a"], ["b"]], {"query_ids": ["x", "x"]}, ValueError, "duplicate 'x', as entries 1 and 2"),
        ([["a"]], [["a"]], {"query_ids": ["x", "y"]}, ValueError, "query_ids has 2 entries, retrieved 1"),
        ([["a"]], [["a"]], {"query_ids": 3}, TypeError, "query_ids must be a sequence"),
        ([["a"], {"b": 1.0}], [["a"], ["b"]], {}, TypeError, "query 1 .* got a dict, where the first"),
        ([], [], {}, fastir.NoOverlapError, "the qrels are empty"),
    ],
)  # fmt: skip
def test_sides_that_do_not_fit_together(retrieved, relevant, options, error, message):
    with pytest.raises(error, match=message):
        fastir.evaluate_lists(retrieved, relevant, "mrr", **options)
