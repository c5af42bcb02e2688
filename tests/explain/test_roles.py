"""explain() of forbidden documents and of evidence: prefixes measured alone are a slow twin of the contributions."""

import itertools
import json
import math
import random

import pytest

import fastir

POOLED = [card.name for card in fastir.metrics() if card.pooled]
FORBIDDEN_METRICS = ["forbidden_hits@3", "forbidden_rate", "leak_recall@4", "compat_help_harm", "ndcg"]
SET_METRICS = [
    "evidence_recall@4",
    "evidence_found",
    "evidence_chain",
    "evidence_mrr",
    "evidence_mrr(set_ranks=sets)",
    "ndcg@3",
]
HOP_METRICS = ["hop_recall@4", "all_hops", "hop_recall", "map"]
RULES = [{}, {"ties": "input"}, {"max_depth": 3}, {"queries": "qrels"}, {"convention": "ir_measures"}]
pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")


def twin(qrels, explanation, metric, **options):
    """What each document adds: the value with unknown ids below it, less the value one document earlier."""
    ranked = [document.doc_id for document in explanation.documents]
    scores = [float(-place) for place in range(len(ranked))]
    unknown = [type(doc_id)(f"90{place}") for place, doc_id in enumerate(ranked)]
    values = []
    for stop in range(len(ranked) + 1):
        beginning = {explanation.query_id: dict(zip(ranked[:stop] + unknown[stop:], scores, strict=True))}
        values.append(fastir.evaluate(qrels, beginning, metric, **options).per_query(metric)[explanation.query_id])
    return [after - before for before, after in itertools.pairwise(values)]


def check(qrels, run, metrics, query_id, **options):
    explanation = fastir.explain(qrels, run, query_id, metrics, **options)
    results = fastir.evaluate(qrels, run, metrics, **options)
    for metric in explanation.values:
        assert explanation.values[metric] == results.per_query(metric)[query_id]
        added = [document.contribution[metric] for document in explanation.documents]
        assert math.fsum([explanation.base[metric], *added]) == pytest.approx(explanation.values[metric], abs=1e-15)
        if not {"convention", "duplicates"} & options.keys():  # the twin ranks a document once, by the rules of fastir
            kept = {name: value for name, value in options.items() if name != "max_depth"}
            assert added == pytest.approx(twin(qrels, explanation, metric, **kept), abs=1e-12)
    return explanation


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("kind", [str, int])
def test_contributions_of_forbidden_documents_are_those_of_the_twin(rules, kind):
    rng = random.Random(3)
    docs = [kind(number) for number in range(10, 22)]
    qrels = {kind(q): {doc: rng.randrange(3) for doc in rng.sample(docs, 6)} for q in range(6)}
    run = {q: {doc: float(rng.randrange(7)) for doc in rng.sample(docs, rng.randrange(2, 10))} for q in qrels}
    forbidden = {
        q: rng.sample(sorted(set(docs) - {doc for doc in labels if labels[doc]}), rng.randrange(4))
        for q, labels in qrels.items()
    }
    for query_id in qrels:
        found = check(qrels, run, FORBIDDEN_METRICS, query_id, forbidden=forbidden, **rules)
        banned = set(forbidden[query_id])
        assert all(document.forbidden == (document.doc_id in banned) for document in found.documents)
        assert all(document.sets is None for document in found.documents)


@pytest.mark.parametrize("rules", [*RULES, {"judged_only": True}])
@pytest.mark.parametrize("kind", [str, int])
@pytest.mark.parametrize("evidence", ["sets", "hops"])
def test_contributions_of_members_are_those_of_the_twin(rules, kind, evidence):
    rng = random.Random(5)
    docs = [kind(number) for number in range(10, 20)]
    given = {kind(q): [rng.sample(docs, rng.randrange(1, 4)) for _ in range(rng.randrange(1, 4))] for q in range(6)}
    run = {q: {doc: float(rng.randrange(7)) for doc in rng.sample(docs, rng.randrange(2, 10))} for q in given}
    qrels = getattr(fastir.Qrels, f"from_{evidence}")(given)
    listed = getattr(qrels, evidence)
    for query_id in given:
        found = check(qrels, run, SET_METRICS if evidence == "sets" else HOP_METRICS, query_id, **rules)
        for document in [*found.documents, *found.missing]:
            assert document.sets == [n for n, docs in enumerate(listed[query_id], 1) if document.doc_id in docs]
            assert document.forbidden is None


def test_a_forbidden_document_takes_from_leak_recall_until_it_is_0():
    """By hand: recall grows by 1/2 at b and at a; each of two forbidden documents takes 1/2, but from 0 nothing."""
    run = {"q": {"h": 5.0, "b": 4.0, "x": 3.0, "f": 2.0, "a": 1.0}}
    found = fastir.explain({"q": {"a": 1, "b": 1}}, run, "q", ["forbidden_hits@4", "leak_recall"],
                           forbidden={"q": ["h", "f", "away"]})  # fmt: skip
    assert [row.contribution["forbidden_hits@4"] for row in found.documents] == [1, 0, 0, 1, 0]
    assert [row.contribution["leak_recall"] for row in found.documents] == pytest.approx([0, 1 / 6, 0, -1 / 6, 1 / 3])


def test_the_last_member_adds_what_a_complete_set_is_worth():
    """By hand: b at rank 3 completes the first of two sets; hops need one document each."""
    run = {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}
    sets = fastir.Qrels.from_sets({"q": [["a", "b"], ["b", "c"]]})
    found = fastir.explain(sets, run, "q", ["evidence_recall", "evidence_mrr", "evidence_chain"])
    assert [list(row.contribution.values()) for row in found.documents] == [[0, 0, 0.5], [0, 0, 0], [0.5, 1 / 3, 0.5]]
    assert str(found).splitlines()[1:] == [
        "rank     doc_id  score  tied  label  sets  evidence_recall  evidence_mrr  evidence_chain",
        "1        a           3            1     1                                        +0.5000",
        "2        x           2            -",
        "3        b           1            1   1 2          +0.5000       +0.3333         +0.5000",
        "missing  c                        1     2",
    ]
    assert [row["sets"] for row in json.loads(found.to_json())["documents"]] == [[1], [], [1, 2]]
    assert found._columns()["sets"] == ["1", "", "1 2", "2"]
    assert [row["sets"] for row in found.records()] == [[1], [], [1, 2], [2]]
    hops = fastir.Qrels.from_hops({"q": [["a", "c"], ["b"]]})
    found = fastir.explain(hops, run, "q", ["hop_recall", "all_hops"])
    assert [list(row.contribution.values()) for row in found.documents] == [[0.5, 0], [0, 0], [0.5, 1]]


def test_where_ties_go_by_relevance_a_tie_has_no_single_ranking():
    """Forbidden documents are the relevant ones of their metrics."""
    tied = {"q": {"a": 1.0, "h": 1.0}}
    with pytest.raises(ValueError, match="not the same for all of these metrics"):
        fastir.explain({"q": {"a": 1}}, tied, "q", "forbidden_hits@1", forbidden={"q": ["h"]}, ties="optimistic")
    with pytest.raises(ValueError, match="not the same for all of these metrics"):
        fastir.explain(fastir.Qrels.from_sets({"q": [["a"]]}), tied, "q", "evidence_mrr", ties="pessimistic")
    found = fastir.explain(fastir.Qrels.from_sets({"q": [["a"]]}), tied, "q", "mrr", ties="pessimistic")
    assert [document.doc_id for document in found.documents] == ["h", "a"]


def test_later_copies_are_neither_forbidden_nor_members():
    rows = {"query_id": ["q"] * 4, "doc_id": ["h", "a", "h", "b"], "score": [4.0, 3.0, 2.0, 1.0]}
    sets = fastir.Qrels.from_sets({"q": [["a", "b"], ["b"]]})
    for rule in ("once", "first", "max"):
        options = {"forbidden": {"q": ["h"]}, "duplicates": rule}
        found = check(sets, rows, ["evidence_mrr", "forbidden_hits", "leak_recall", "ndcg"], "q", **options)
        assert [document.forbidden for document in found.documents].count(True) == 1


def test_metrics_that_read_documents_judged_elsewhere_are_explained_beside():
    sets = fastir.Qrels.from_sets({"q": [["a", "b"]], "p": [["x"]]})
    run = {"q": {"x": 3.0, "a": 2.0, "b": 1.0}}
    check(sets, run, [*POOLED, "evidence_mrr", "forbidden_hits"], "q", forbidden={"q": ["y", "x"]})


def test_labels_up_to_a_level_forbid():
    found = fastir.explain({"q": {"a": 1, "h": -2}}, {"q": {"h": 2.0, "a": 1.0}}, "q", "forbidden_hits",
                           forbidden_level=-1)  # fmt: skip
    assert [document.forbidden for document in found.documents] == [True, False]
