"""What is wrong between run and qrels: queries that one side lacks, and ids that never match."""

import pytest

import fastir
from fastir.evaluation.drivers.unmatched_ids import MAX_QUERIES

QRELS = {"q1": {"D1": 1, "D2": 0}, "q2": {"D1": 1}, "q3": {"D3": 1}}


def kinds(qrels, run, **options):
    return [(fault.kind, fault.query_id) for fault in fastir.check(qrels, run, **options).of("fault")]


def test_queries_that_one_side_lacks():
    run = {"q1": {"D1": 1.0}, "q9": {"D1": 1.0}, "q8": {"D1": 1.0}}
    assert kinds(QRELS, run) == [
        ("missing query", "q2"),
        ("missing query", "q3"),
        ("unknown query", "q9"),
        ("unknown query", "q8"),
    ]


def test_no_query_in_common_is_one_fault_with_a_guess():
    [fault] = fastir.check(QRELS, {"Q1": {"D1": 1.0}, "Q2": {"D1": 1.0}}).of("fault")
    assert fault.kind == "no common query"
    assert fault.text == (
        "no query in common: the qrels have 'q1', the run has 'Q1'; do the ids differ only in upper and lower case?"
    )
    [fault] = fastir.check(QRELS, {"x": {"D1": 1.0}}).of("fault")
    assert fault.text == "no query in common: the qrels have 'q1', the run has 'x'"


def test_documents_that_would_match_are_told_as_evaluate_tells_them():
    run = {query_id: {doc_id.lower(): 1.0 for doc_id in docs} for query_id, docs in QRELS.items()}
    [fault] = fastir.check(QRELS, run).of("fault")
    assert fault.kind == "no common document"
    with pytest.raises(fastir.NoOverlapError) as error:
        fastir.evaluate(QRELS, run, "map")
    assert fault.text == str(error.value)


def test_documents_that_match_nowhere_or_in_some_queries():
    nowhere = {query_id: {"x": 1.0} for query_id in QRELS}
    assert kinds(QRELS, nowhere) == [("document ids", None)]
    some = {"q1": {"D1": 1.0}, "q2": {"d1": 1.0}, "q3": {"x": 1.0}}
    result = fastir.check(QRELS, some)
    [fault] = result.of("fault")
    assert (fault.kind, fault.query_id) == ("document ids", "q2")
    assert fault.text.endswith("do the ids differ only in upper and lower case?")
    [remark] = result.of(kind="nothing judged")
    assert remark.query_id == "q3"


def test_unjudged_documents_are_counted():
    [remark] = fastir.check(QRELS, {query: {"D1": 3.0, "x": 2.0, "y": 1.0} for query in ("q1", "q2", "q3")}).of(
        kind="unjudged documents"
    )
    assert remark.number == 7
    assert remark.text == "7 of 9 ranked documents (77.8%) are not in the qrels"


def test_every_ranking_without_a_judged_document_is_named():
    """Some are compared more closely than the others."""
    names = [f"q{i:03}" for i in range(2 * MAX_QUERIES + 2)]
    qrels = {name: {f"D{name}": 1} for name in names}
    for n in (1, MAX_QUERIES, MAX_QUERIES + 1, MAX_QUERIES + 2, 2 * MAX_QUERIES + 1):
        run = {name: {"x" if place < n else f"D{name}": 1.0} for place, name in enumerate(names)}
        assert [fault.query_id for fault in fastir.check(qrels, run).of(kind="nothing judged")] == names[:n]


def test_two_files_of_judgments_are_not_compared(tmp_path):
    for name in "qp":
        (tmp_path / name).write_text(f"{name} 0 a 1\n{name} 0 b 0\n")
    assert kinds(tmp_path / "q", [tmp_path / "p"]) == [("swapped files", None)]
