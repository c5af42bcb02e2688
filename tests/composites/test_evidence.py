"""Metrics of sets of evidence and of hops: a textbook twin, the same values from every run, and what is refused."""

import pickle
import random

import numpy as np
import pytest

import fastir

pytestmark = pytest.mark.filterwarnings("ignore:.*hold(s)? no judged document", "ignore:.* missing from the run")
SETS = {"q1": [["a", "b"], ["c"]], "q2": [["a", "c", "d"]], "q3": [["e"], ["e", "f"]]}
RUN = {"q1": {"a": 4.0, "x": 3.0, "b": 2.0, "c": 1.0}, "q2": {"d": 3.0, "y": 2.0, "a": 1.0}, "q3": {"x": 1.0}}
OF_SETS = ["evidence_recall", "evidence_found", "evidence_chain", "evidence_mrr"]
OF_HOPS = ["hop_recall", "all_hops"]
MAKE = {"sets": fastir.Qrels.from_sets, "hops": fastir.Qrels.from_hops}
RANDOM = random.Random(48)
DOCS = [f"d{i}" for i in range(14)]


def drawn(kind, n_queries=40):
    """Random alternatives and a run with ties, documents in several sets, and a query without results."""
    alternatives = {
        f"q{i}": [RANDOM.sample(DOCS, RANDOM.randrange(1, 4)) for _ in range(RANDOM.randrange(1, 4))]
        for i in range(n_queries)
    }
    run = {
        f"q{i}": {doc: float(RANDOM.randrange(8)) for doc in RANDOM.sample(DOCS, RANDOM.randrange(1, 12))}
        for i in range(n_queries - 1)
    }
    return MAKE[kind](alternatives), alternatives, run


def twin(sets, ranking, metric):
    """The value of one query, set by set; `ranking` is cut at k."""
    at = {doc: rank for rank, doc in enumerate(ranking, 1)}
    complete = [max(at[doc] for doc in docs) for docs in sets if at.keys() >= set(docs)]
    met = [not at.keys().isdisjoint(docs) for docs in sets]
    return {
        "evidence_recall": len(complete) / len(sets),
        "evidence_found": float(bool(complete)),
        "evidence_chain": max(len(at.keys() & set(docs)) / len(docs) for docs in sets),
        "evidence_mrr": 1 / min(complete) if complete else 0.0,
        "hop_recall": sum(met) / len(sets),
        "all_hops": float(all(met)),
    }[metric]


@pytest.mark.parametrize("k", [None, 1, 2, 3, 7, 100])
@pytest.mark.parametrize("metric", [*OF_SETS, *OF_HOPS])
def test_values_are_those_of_the_twin(metric, k):
    qrels, alternatives, run = drawn("sets" if metric in OF_SETS else "hops")
    name = metric if k is None else f"{metric}@{k}"
    found = fastir.evaluate(qrels, run, name, queries="qrels").per_query(name)
    for query, sets in alternatives.items():
        docs = run.get(query, {})
        ranking = sorted(docs, key=lambda doc: (docs[doc], doc), reverse=True)[:k]
        assert found[query] == twin(sets, ranking, metric)


def ranked_by_set(sets, ranking):
    """What takes a rank, set by set: a document of no set, or a set at its last retrieved member; True if complete."""
    points = []
    for doc in ranking:
        points += [(doc, False)] * all(doc not in docs for docs in sets)
        for docs in {frozenset(docs): None for docs in sets}:
            retrieved = [other for other in ranking if other in docs]
            points += [(docs, len(retrieved) == len(docs))] * (retrieved[-1:] == [doc])
    return [whole for _, whole in points]


@pytest.mark.parametrize("k", [1, 2, 3, 7, 100])
def test_members_of_a_set_take_one_rank_together_with_set_ranks(k):
    qrels, alternatives, run = drawn("sets")
    names = [f"{metric}(set_ranks=sets)@{k}" for metric in ("evidence_recall", "evidence_found", "evidence_mrr")]
    found = fastir.evaluate(qrels, run, names, queries="qrels")
    for query, sets, values in zip(alternatives, alternatives.values(), found.values.tolist(), strict=True):
        docs = run.get(query, {})
        points = ranked_by_set(sets, sorted(docs, key=lambda doc: (docs[doc], doc), reverse=True))
        whole = [rank for rank, complete in enumerate(points[:k], 1) if complete]
        n_sets = len(set(map(frozenset, sets)))
        assert values == [len(whole) / n_sets, float(bool(whole)), 1 / whole[0] if whole else 0.0]
    assert (
        fastir.evaluate(qrels, run, names[0], queries="qrels").values.tolist()
        == fastir.evaluate(qrels, run, f"evidence_recall@{k}", set_ranks="sets", queries="qrels").values.tolist()
    )


@pytest.mark.parametrize(("sets", "ranking", "recall"), [
    ("bef b c", "xzedafcb", (0, 0, 1 / 3)), ("ef ad ac", "eadfcxy", (2 / 3, 1, 1)),
    ("af ab acd", "byazfce", (1 / 3, 1 / 3, 2 / 3)), ("bf adf", "xzfbcad", (0, 1 / 2, 1)),
    ("ac def abc", "dyeabc", (0, 1 / 3, 2 / 3)), ("ace de", "ydexfca", (1 / 2, 1 / 2, 1)),
    ("d abf cd", "cbdzef", (2 / 3, 2 / 3, 2 / 3)), ("b abc b", "ebzcadxy", (1 / 2, 1 / 2, 1)),
])  # fmt: skip
def test_recall_is_what_the_code_of_kilt_answered(sets, ranking, recall):
    """The answers of get_rank and _recall_at_k, kilt/eval_retrieval.py at 2664322b, at 2, 3 and 5."""
    qrels = fastir.Qrels.from_sets({"q": [list(docs) for docs in sets.split()]})
    names = [f"evidence_recall(set_ranks=sets)@{k}" for k in (2, 3, 5)]
    assert fastir.evaluate(qrels, {"q": list(ranking)}, names).values.tolist() == [list(recall)]


def test_a_set_that_is_listed_twice_counts_once_and_is_counted():
    qrels = fastir.Qrels.from_sets({"q": [["a", "b"], ["c"], ["b", "a"]]})
    assert qrels.sets == {"q": [["a", "b"], ["c"]]}
    results = fastir.evaluate(qrels, {"q": ["a", "b"]}, "evidence_recall@2")
    assert results["evidence_recall@2"] == 0.5 and results.report.repairs["sets listed twice"] == (1, "query q")
    hops = fastir.Qrels.from_hops({"q": [["a", "b"], ["c"], ["b", "a"]]})
    assert fastir.evaluate(hops, {"q": ["c"]}, "hop_recall@2")["hop_recall@2"] == 1 / 3  # a hop may be asked twice


def test_values_are_those_worked_out_by_hand():
    """q1 is complete with {a, b} at rank 3 and {c} at 4; q2 has two of three; q3 nothing."""
    found = fastir.evaluate(
        fastir.Qrels.from_sets(SETS), RUN, ["evidence_recall@3", "evidence_chain@3", "evidence_mrr", "evidence_mrr@2"]
    )
    assert found.values.tolist() == [[0.5, 1.0, 1 / 3, 0.0], [0.0, 2 / 3, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
    found = fastir.evaluate(fastir.Qrels.from_hops(SETS), RUN, ["hop_recall@3", "all_hops@3", "all_hops@4"])
    assert found.values.tolist() == [[0.5, 0.0, 1.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]


@pytest.mark.parametrize("options", [
    {}, {"judged_only": True}, {"max_depth": 3}, {"max_depth": 3, "judged_only": True}, {"queries": "intersection"},
    {"queries": "qrels"}, {"score_dtype": "float32"}, {"n_threads": 2}, {"aggregate": "sum", "parents": {"x1": "d1"}},
    {"exclude": {"q1": ["d1"]}}, *({"ties": ties} for ties in (
        "trec", "doc_id_asc", "input", "input_reversed", "optimistic", "pessimistic")),
])  # fmt: skip
def test_sets_of_one_document_are_plain_judgments(options):
    """So every rule that orders, drops or counts documents and queries holds for evidence as it does elsewhere."""
    _, _, run = drawn("sets")
    judged = {query: RANDOM.sample(DOCS, RANDOM.randrange(1, 6)) for query in run} | {"none": ["d1"]}
    alike = {
        "mrr@4": "evidence_mrr@4", "mrr": "evidence_mrr", "recall@3": "evidence_recall@3",
        "hit_rate@2": "evidence_found@2",
    }  # fmt: skip
    expected = fastir.evaluate(judged, run, list(alike), **options)
    singles = {query: [[doc] for doc in docs] for query, docs in judged.items()}
    found = fastir.evaluate(fastir.Qrels.from_sets(singles), run, list(alike.values()), **options)
    assert found.query_ids == expected.query_ids
    assert np.array_equal(found.values, expected.values)
    hops = fastir.evaluate(fastir.Qrels.from_hops(singles), run, "hop_recall@3", **options)
    assert hops.per_query("hop_recall@3") == expected.per_query("recall@3")


def test_hop_recall_is_subtopic_recall_of_the_hops():
    qrels, alternatives, run = drawn("hops")
    groups = {
        query: {str(hop): dict.fromkeys(docs, 1) for hop, docs in enumerate(hops)}
        for query, hops in alternatives.items()
    }
    expected = fastir.evaluate(groups, run, "st_recall@4").per_query("st_recall@4")
    assert fastir.evaluate(qrels, run, "hop_recall@4").per_query("hop_recall@4") == expected


def test_other_metrics_have_the_union_of_the_sets_with_the_label_1():
    qrels = fastir.Qrels.from_sets(SETS)
    union = {query: dict.fromkeys([doc for docs in sets for doc in docs], 1) for query, sets in SETS.items()}
    names = ["ndcg@3", "map", "num_rel", "judged@2"]
    both = fastir.evaluate(qrels, RUN, [*names, "evidence_mrr"])
    assert np.array_equal(both.values[:, :4], fastir.evaluate(union, RUN, names).values)
    assert qrels.to_dict() == union and qrels.sets == SETS and qrels.hops is None
    forbidden = {"forbidden": {"q1": ["x"]}}
    both = fastir.evaluate(qrels, RUN, ["forbidden_hits@2", "evidence_mrr"], **forbidden)
    assert both["forbidden_hits@2"] == fastir.evaluate(union, RUN, "forbidden_hits@2", **forbidden)["forbidden_hits@2"]
    assert str(fastir.bounds(qrels, RUN, "recall")) == str(fastir.bounds(union, RUN, "recall"))


def test_every_entry_point_has_the_same_values(tmp_path):
    qrels, names = fastir.Qrels.from_sets(SETS), [*OF_SETS, "evidence_recall@2", "evidence_mrr@3", "ndcg@3"]
    expected = fastir.evaluate(qrels, RUN, names)
    evaluator = fastir.Evaluator(qrels, names)
    rows = [(query, doc, score) for query, docs in RUN.items() for doc, score in docs.items()]
    (tmp_path / "run.txt").write_text("".join(f"{query} Q0 {doc} 0 {score} t\n" for query, doc, score in rows))
    columns = dict(zip(("query_id", "doc_id", "score"), zip(*rows, strict=True), strict=True))
    ranked = {query: sorted(docs, key=docs.get, reverse=True) for query, docs in RUN.items()}
    for results in (
        evaluator.evaluate(RUN),
        pickle.loads(pickle.dumps(evaluator)).evaluate(RUN),
        evaluator.evaluate(fastir.Run.from_dict(RUN)),
        evaluator.evaluate(rows),
        evaluator.evaluate(rows[::-1]),
        evaluator.evaluate({name: list(column) for name, column in columns.items()}),
        evaluator.evaluate(tmp_path / "run.txt"),
        evaluator.evaluate(ranked),
        fastir.evaluate_many(qrels, {"x": RUN}, names)["x"],
    ):
        assert {query: results.per_query("evidence_mrr")[query] for query in RUN} == expected.per_query("evidence_mrr")
        order = [results.query_ids.index(query) for query in expected.query_ids]
        assert np.array_equal(results.values[order], expected.values)
    comparison = fastir.compare(qrels, {"x": RUN, "y": {"q1": {"c": 1.0}}}, "evidence_mrr", queries="qrels")
    assert comparison.pairs[0].wins + comparison.pairs[0].losses == 1


def test_metrics_of_the_other_kind_and_analyses_of_labels_refuse():
    sets, hops, metric = fastir.Qrels.from_sets(SETS), fastir.Qrels.from_hops(SETS), "evidence_mrr@3"
    for qrels, name, needed in ((hops, metric, "sets of evidence"), (sets, "all_hops", "hops"), (SETS["q1"], "", "")):
        if name:
            with pytest.raises(fastir.UnknownMetricError, match=rf"{name}' is defined on qrels with {needed}: Qrels"):
                fastir.evaluate(qrels, RUN, name)
    with pytest.raises(fastir.UnknownMetricError, match="defined on qrels with sets of evidence"):
        fastir.evaluate({"q1": {"a": 1}}, RUN, metric)
    with pytest.raises(ValueError, match="takes no relevance level: members of sets have labels from 1 up"):
        fastir.evaluate(sets, RUN, metric, rel_level=2)
    with pytest.raises(ValueError, match="ties='average' is not possible"):
        fastir.evaluate(sets, RUN, metric, ties="average")
    with pytest.raises(ValueError, match="qrels with sets keep all their members"):
        sets.filter(documents=["a"])
    for refusing in (
        lambda: fastir.Evaluator(sets, metric).partial(RUN),
        lambda: fastir.judged_rankings(sets, RUN).evaluate(metric),
    ):
        with pytest.raises(fastir.UnknownMetricError, match=r"'evidence_mrr@3' needs .*which set or hop"):
            refusing()
