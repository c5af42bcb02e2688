"""What the guide says of engines holds for their formulas."""

import pytest
from pages import NEEDS_PAGES

import fastir

pytestmark = NEEDS_PAGES


LISTS = [{"a": 9.0, "b": 7.0, "c": 2.0}, {"c": 0.9, "a": 0.5, "d": 0.4}]
ALPHA = 0.75  # of the vectors, the second list


def summed(value):
    """The sum over both lists of value(list number, rank from 1, share of the range of scores)."""
    total = {}
    for number, scores in enumerate(LISTS):
        low, high = min(scores.values()), max(scores.values())
        for rank, (doc, score) in enumerate(scores.items(), 1):
            total[doc] = total.get(doc, 0) + value(number, rank, (score - low) / (high - low))
    return total


@pytest.mark.parametrize("value, method, norm, weights, params", [
    (lambda n, rank, share: 1 / (60 + rank), "rrf", None, None, {}),  # Elasticsearch, OpenSearch, Vespa
    (lambda n, rank, share: 1 / (2 + rank - 1), "rrf", None, None, {"k": 1}),  # Qdrant
    (lambda n, rank, share: (1 - ALPHA, ALPHA)[n] / (59 + rank), "rrf", None, (1 - ALPHA, ALPHA), {"k": 59}),
    (lambda n, rank, share: (1 - ALPHA, ALPHA)[n] * share, "wsum", "min-max", (1 - ALPHA, ALPHA), {}),
], ids=["rrf", "qdrant", "weaviate ranked", "weaviate relative, and linear ones"])  # fmt: skip
def test_an_engine_s_hybrid_query_is_the_method_that_the_guide_names(value, method, norm, weights, params):
    fused = fastir.fuse([{"q": scores} for scores in LISTS], method, norm, weights, **params)
    assert fused["q"] == pytest.approx(summed(value), rel=1e-12)
