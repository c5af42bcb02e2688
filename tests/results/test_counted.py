"""What is counted in words agrees with its number."""

import warnings

import pytest

import fastir
from fastir.rendering.text import counted


def test_one_is_no_plural():
    assert [counted(n, "query", "queries") for n in (0, 1, 2)] == ["0 queries", "1 query", "2 queries"]


@pytest.mark.parametrize("n", [1, 2])
def test_warnings_and_reprs_agree_with_their_numbers(n):
    judged = {f"{side}{i}": {"a": 1} for side in ("both", "qrels") for i in range(n)}
    run = {f"{side}{i}": {"b": 1.0} for side in ("both", "run") for i in range(n)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = fastir.evaluate(judged, run, "mrr")
    shown = [str(caught[0].message), repr(results)]
    part = {f"q{i}": {"a": 1} for i in range(n)}
    shown += [repr(fastir.Qrels.from_dict(part)), repr(fastir.Run.from_dict(part))]
    shown += [repr(fastir.Qrels.from_dict({query: {"s": docs} for query, docs in part.items()}))]
    values = {query: float(place) for place, query in enumerate(part)}
    shown += [str(fastir.compare_scores({"a": values, "b": values}).method)]
    expected = (
        [
            ["query of the qrels is", "query of the run is", "ranking holds"], ["query"],
            ["query", "judgment"], ["query", "document"], ["query", "group", "judgment"], ["query"],
        ]
        if n == 1
        else [
            ["queries of the qrels are", "queries of the run are", "rankings hold"], ["queries"],
            ["queries", "judgments"], ["queries", "documents"], ["queries", "groups", "judgments"],
            ["queries"],
        ]
    )  # fmt: skip
    for text, words in zip(shown[2:], expected[2:], strict=True):
        for word in words:
            assert f"{n} {word}" in text
            assert n > 1 or f"1 {word}s" not in text
    for word in expected[0]:
        assert f"{n} {word}" in shown[0]
    assert f"{2 * n} queries" in shown[1]
