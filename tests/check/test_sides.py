"""What is wrong in one side alone: labels, ties, ranks against scores, the lengths of rankings.

Also of: held.
"""

import random

import pytest

import fastir
from fastir.analyses.check.checked import Findings
from fastir.analyses.check.sides import Ranking, note_ranks
from fastir.evaluation.drivers.unmatched_ids import MAX_QUERIES


def test_labels(checked):
    qrels = "q1 0 d1 1\nq1 0 d2 -3\nq1 0 d3 0.5\nq1 0 d4 -2\nq2 0 d1 0\nq2 0 d2 0.25\nq3 0 d1 0\n"
    result = checked("q1 Q0 d1 1 2 t\nq2 Q0 d1 1 1 t\nq3 Q0 d1 1 1 t\n", qrels=qrels)
    assert [
        (fault.kind, fault.line, fault.query_id, fault.number) for fault in result if fault.file[-4:] == ".txt"
    ] == [("negative label", 2, "q1", 1), ("real-valued labels", 3, None, 2), ("no relevant document", None, "q3", 1)]


def test_ties_are_told_by_query(checked):
    result = checked("q1 Q0 d1 1 2 t\nq1 Q0 d2 2 2.0 t\nq1 Q0 d3 3 2e0 t\nq1 Q0 d4 4 1 t\nq2 Q0 d1 1 1 t\n")
    [fault] = result.of(kind="ties")
    assert fault.query_id == "q1" and fault.severity == "remark"
    assert fault.text == "3 documents share their score with another one, such as 'd1' and 'd2' (2.0)"


@pytest.mark.parametrize("seed", range(200))
def test_ranks_against_scores_as_all_pairs_say(seed):
    rng = random.Random(seed)
    n = rng.randrange(1, 7)
    ranks = [float(rng.choice((rng.randrange(4), place))) for place in range(n)]
    numbers = [float(rng.choice((n - place, n - place, rng.randrange(n + 1)))) for place in range(n)]
    if seed % 4 == 0:
        ranks[0], numbers[-1] = float("nan"), float("nan")
    pairs = [(a, b) for a in range(n) for b in range(n) if ranks[a] < ranks[b] and numbers[a] < numbers[b]]
    found = Findings("x")
    note_ranks(found, "q", Ranking([f"d{place}" for place in range(n)], numbers, ranks, None))
    assert bool(found.faults) == bool(pairs)
    if pairs:
        text = found.faults[0].text
        assert any(f"'d{a}' has rank" in text and f"'d{b}' has rank" in text for a, b in pairs)


def test_distances_are_told_by_their_line(found):
    assert found("q1 Q0 d1 1 0.1 t\nq1 Q0 d2 2 0.2 t\nq2 Q0 d1 0 1 t\nq2 Q0 d2 0 2 t\n") == [
        ("ranks against scores", 2, "q1", "d2")
    ]


def test_lengths(checked):
    run = "q1 Q0 d1 1 3 t\nq1 Q0 d2 2 2 t\nq2 Q0 d1 1 1 t\n"
    [fault] = checked(run).of(kind="run length")
    assert fault.text == "the rankings have from 1 document (query 'q2') to 2 documents (query 'q1')"
    [fault] = checked(run, max_depth=1).of("fault")
    assert (fault.kind, fault.query_id) == ("too many documents", "q1")
    assert fault.text == "2 documents, more than 1"
    assert not checked(run, max_depth=2).of("fault")


# ---- what is no file of lines ----------------------------------------------------------------------------------------
def test_a_reader_says_what_it_refuses(write):
    qrels = {"q1": {"a": 1}}
    for run, kind, text in (
        ({"q1": {"a": float("nan")}}, "refused input", "NaN"),
        ({"q1": {"a": "x"}}, "refused input", "str"),
        ({"q1": ["a", "a"]}, "duplicate", "duplicate document"),
        (write("bm25.json", '{"q1": {"a": "x"}}'), "refused input", "number"),
        (write("odd.json", "{"), "refused input", "JSON"),
        ({}, "empty file", "no results"),
    ):
        [fault] = fastir.check(qrels, {"bm25": run}).of("fault")
        assert fault.kind == kind and text in fault.text, fault
    [fault] = fastir.check({"q1": {"a": float("nan")}}, {"bm25": {"q1": {"a": 1.0}}}).of("fault")
    assert (fault.file, fault.kind) == ("qrels", "refused input")


def test_duplicates_of_a_table_leave_the_rest_to_be_checked():
    columns = {"query_id": ["q1", "q1", "q3"], "doc_id": ["d1", "d1", "d1"], "score": [2.0, 2.0, 1.0]}
    result = fastir.check({"q1": {"d1": 1}, "q2": {"d1": 1}}, {"x": columns})
    assert [fault.kind for fault in result.of("fault")] == ["duplicate", "missing query", "unknown query"]


def test_judgments_in_parts(write):
    qrels = write("qrels.txt", "q1 s1 a 1\nq1 s2 a 0\nq2 s1 b 1\n")
    run = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"b": 1.0}}
    assert fastir.check(qrels, run, qrels_format="subtopic").ok
    prefs = write("prefs.txt", "q1 j p a 2\nq1 j p b 1\n")
    assert [fault.kind for fault in fastir.check(prefs, run, qrels_format="prefs").of("fault")] == ["unknown query"]


def test_a_label_that_is_no_number_is_no_fraction(tmp_path):
    for label, kinds in (("x", {"number"}), ("0.5", {"real-valued labels"}), ("nan", {"number"})):
        (tmp_path / "qrels").write_text(f"q 0 a 1\nq 0 b {label}\n")
        (tmp_path / "run").write_text("q Q0 a 1 2.0 t\nq Q0 b 2 1.0 t\n")
        assert {fault.kind for fault in fastir.check(tmp_path / "qrels", tmp_path / "run")} == kinds


# ---- what is wrong between run and qrels: queries that one side lacks, and ids that never match ----------------------
QRELS = {"q1": {"D1": 1, "D2": 0}, "q2": {"D1": 1}, "q3": {"D3": 1}}


def kinds(qrels, run, **options):
    return [(fault.kind, fault.query_id) for fault in fastir.check(qrels, run, **options).of("fault")]


def test_queries_that_one_side_lacks():
    run = {"q1": {"D1": 1.0}, "q9": {"D1": 1.0}, "q8": {"D1": 1.0}}
    assert kinds(QRELS, run) == [
        ("missing query", "q2"), ("missing query", "q3"), ("unknown query", "q9"), ("unknown query", "q8"),
    ]  # fmt: skip


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
