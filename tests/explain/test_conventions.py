"""Where two conventions part: in the order, in what a document adds, in whether the query counts."""

import math

import pytest

import fastir

QRELS = {"q1": {"a": 2, "b": 1}, "q2": {"c": 1}, "q3": {"d": 1}, "q4": {"e": 1}, "q5": {"f": 0}}
RUN = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"c": 1.0}, "q4": {"e": 1.0, "x": 1.0}, "q5": {"f": 1.0}}


def part_names(a, b, metric="ndcg@10", query_id=None, **options):
    return fastir.explain_conventions(QRELS, RUN, query_id, metric, (a, b), **options)


def test_the_queries_that_differ_most_come_first():
    found = part_names("trec_eval-9", "lightgbm")
    assert [each.query_id for each in found.queries] == ["q5", "q4", "q1", "q3"]
    assert math.isnan(found.queries[-1].value) and found.queries[-1].other == 0.0
    assert found.conventions == ("trec_eval-9", "lightgbm")
    for name, mean in zip(found.conventions, found.means, strict=True):
        assert mean == fastir.evaluate(QRELS, RUN, "ndcg@10", convention=name)["ndcg@10"]
    for each in found.queries:
        values = [
            fastir.evaluate(QRELS, RUN, "ndcg@10", convention=name).per_query("ndcg@10").get(each.query_id)
            for name in found.conventions
        ]
        told = [None if math.isnan(value) else value for value in (each.value, each.other)]
        assert told == values


@pytest.mark.parametrize(("a", "b", "query", "step"), [
    ("trec_eval-9", "lightgbm", "q4", "parts at rank 1: x by trec_eval-9, e by lightgbm, 2 documents have its score"),
    ("trec_eval-9", "lightgbm", "q1", "parts at rank 1: b, label 1, adds 0.3801 by trec_eval-9 and 1.0000 by lightgbm"),
    ("fastir", "trec_eval-9", "q3", "counts by fastir alone (missing)"),
    ("trec_eval-9", "lightgbm", "q5", "has the same ranking, and is 0.0000 and 1.0000 before it"),
    ("trec_eval-9", "lightgbm", "q2", "has the same value"),
])  # fmt: skip
def test_the_step_is_told(a, b, query, step):
    assert part_names(a, b, query_id=query).step.startswith(f"query {query} {step}")


def test_options_hold_for_both():
    found = part_names("fastir", "trec_eval-9", queries="intersection")
    assert found.queries == [] and found.step == "" and found.explained is None
    assert repr(found).splitlines()[0].endswith("; 0 queries differ")


def test_it_prints_as_a_table_and_leaves_as_columns():
    found = part_names("fastir", "sklearn", "mrr")
    assert "q4" in repr(found) and "parts at rank 1: x by fastir, e by sklearn" in " ".join(repr(found).split())
    assert list(found.to_pandas().columns) == ["query_id", "value", "other", "change"]
    assert "step" in found.to_json()


def test_a_ranking_that_lacks_a_document_parts_where_that_is():
    qrels, run = {"q": {"q": 1, "a": 0}}, {"q": {"a": 2.0, "q": 1.0}}
    found = fastir.explain_conventions(qrels, run, None, "map", ("trec_eval-9", "beir"))
    assert found.step == "query q parts at rank 2: the ranking has 2 and 1 documents"


def test_a_family_and_an_unknown_query_are_errors():
    with pytest.raises(ValueError, match="means several metrics"):
        part_names("trec_eval-9", "beir", "ndcg_cut")
    with pytest.raises(KeyError, match="'q9' is not in the qrels"):
        part_names("trec_eval-9", "beir", query_id="q9")
    with pytest.raises(ValueError, match="pair must be two conventions"):
        fastir.explain_conventions(QRELS, RUN, None, "map", "beir")
