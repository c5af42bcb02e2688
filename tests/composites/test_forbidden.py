"""Forbidden documents: a textbook twin, the same values from every entry point, and what is refused."""

import pickle
import random

import numpy as np
import pytest

import fastir

QRELS = {"q1": {"a": 1, "b": 2, "h": -1, "i": -2, "g": 0}, "q2": {"a": 1}, "q3": {"c": 1, "d": 1}}
RUN = {"q1": {"h": 5.0, "a": 4.0, "b": 3.0, "x": 2.0}, "q2": {"x": 3.0, "y": 2.0, "a": 1.0}}
FORBIDDEN = {"q1": ["h"], "q2": ["x", "z"]}
METRICS = [
    *(
        "forbidden_hits@2",
        "forbidden_rate@2",
        "leak_recall@3",
        "compat_help_harm",
        "forbidden_hits",
        "leak_recall@3-l2",
    ),
    *("compat_help_harm(p=0.8)", "ndcg@3", "forbidden_rate@1"),
]


def twin(qrels, run, forbidden, metric, k=None):
    """{query: value}, document by document."""
    values = {}
    for query, labels in qrels.items():
        ranked = sorted(run.get(query, {}), key=lambda doc: (run[query][doc], doc), reverse=True)[:k]
        banned, relevant = set(forbidden.get(query, ())), {doc for doc, label in labels.items() if label >= 1}
        hits = len(banned.intersection(ranked))
        values[query] = {
            "forbidden_hits": hits,
            "forbidden_rate": float(hits > 0),
            "leak_recall": max(
                0.0,
                (len(relevant.intersection(ranked)) / len(relevant) if relevant else 0.0)
                - (hits / len(banned) if banned else 0.0),
            ),
        }[metric]
    return values


@pytest.mark.filterwarnings("ignore:.*hold no judged document")
@pytest.mark.parametrize("metric", ["forbidden_hits", "forbidden_rate", "leak_recall"])
@pytest.mark.parametrize("k", [None, 1, 3, 7])
def test_values_are_those_of_the_twin(metric, k):
    rng = random.Random(7)
    docs = [f"d{i}" for i in range(12)]
    qrels = {f"q{i}": {doc: rng.randrange(3) for doc in rng.sample(docs, 5)} for i in range(30)}
    run = {f"q{i}": {doc: float(rng.randrange(6)) for doc in rng.sample(docs, rng.randrange(1, 9))} for i in range(28)}
    forbidden = {
        query: rng.sample(sorted(set(docs) - {doc for doc, label in labels.items() if label}), rng.randrange(4))
        for query, labels in qrels.items()
    }
    name = metric if k is None else f"{metric}@{k}"
    found = fastir.evaluate(qrels, run, name, forbidden=forbidden, queries="qrels").per_query(name)
    assert found == twin(qrels, run, forbidden, metric, k)


def test_help_and_harm_are_two_compatibilities():
    harmful = {"q1": {"h": 1, "i": 2}, "q2": {"x": 1}, "q3": {}}
    found = fastir.evaluate(
        QRELS, RUN, "compat_help_harm", forbidden={"q2": ["x"]}, forbidden_level=-1, queries="qrels"
    )
    help_, harm = (
        fastir.evaluate(qrels, RUN, "compat", queries="qrels").per_query("compat")
        for qrels in (QRELS, {query: labels or {"none": 0} for query, labels in harmful.items()})
    )
    assert found.per_query("compat_help_harm") == {query: help_[query] - harm[query] for query in QRELS}


def test_every_entry_point_has_the_same_values(tmp_path):
    words = {"forbidden": FORBIDDEN, "queries": "qrels"}
    expected = fastir.evaluate(QRELS, RUN, METRICS, **words).values
    evaluator = fastir.Evaluator(QRELS, METRICS, **words)
    (tmp_path / "pairs.txt").write_text("q1 h\nq2 x\nq2 z\n")
    (tmp_path / "qrels.txt").write_text("q1 0 h 1\nq2 0 x 1\nq2 0 z 1\nq2 0 y 0\n")
    rows = [(query, doc, score) for query, docs in RUN.items() for doc, score in docs.items()]
    for results in (
        evaluator.evaluate(RUN),
        pickle.loads(pickle.dumps(evaluator)).evaluate(RUN),
        evaluator.evaluate(fastir.Run.from_dict(RUN)),
        evaluator.evaluate(rows),
        fastir.evaluate_many(QRELS, {"x": RUN}, METRICS, **words)["x"],
        *(
            fastir.evaluate(QRELS, RUN, METRICS, queries="qrels", forbidden=forbidden)
            for forbidden in (
                tmp_path / "pairs.txt",
                str(tmp_path / "qrels.txt"),
                fastir.Qrels.from_dict({"q1": {"h": 1}, "q2": {"x": 1, "z": 1, "y": 0}}),
                {"q1": {"h": 1}, "q2": {"x": 1, "z": 1, "y": -1}},
                {**FORBIDDEN, "unknown": ["x"]},
            )
        ),
    ):
        assert np.array_equal(results.values, expected)


def test_labels_up_to_a_level_forbid():
    for level, documents in ((-2, ["i"]), (-1, ["h", "i"]), (0, ["h", "i", "g"])):
        metric = "leak_recall@3"
        by_level = fastir.evaluate(QRELS, RUN, metric, forbidden_level=level, queries="qrels")
        by_ids = fastir.evaluate(QRELS, RUN, metric, forbidden={"q1": documents}, queries="qrels")
        assert by_level.per_query(metric) == by_ids.per_query(metric)


def test_integer_ids_equal_their_text():
    for forbidden in ({1: [11]}, {"1": ["11"]}):
        results = fastir.evaluate({1: {10: 1}}, {1: {10: 1.0, 11: 2.0}}, "forbidden_hits@1", forbidden=forbidden)
        assert results["forbidden_hits@1"] == 1


def test_fewer_forbidden_documents_are_better():
    other = {"q1": {"a": 1.0}, "q2": {"a": 1.0}}
    comparison = fastir.compare(QRELS, {"x": RUN, "y": other}, "forbidden_hits@2", queries="qrels", forbidden=FORBIDDEN)
    assert comparison.pairs[0].losses == 2 and comparison.pairs[0].wins == 0


@pytest.mark.parametrize(("words", "error", "message"), [
    ({}, fastir.UnknownMetricError, r"'leak_recall@2' needs forbidden documents, forbidden=\{query_id: doc_ids\}"),
    ({"forbidden": {"q1": ["a"]}}, ValueError, "query 'q1': document 'a' is forbidden, and relevant with the label 1"),
    ({"forbidden": {"zz": ["a"]}}, fastir.NoOverlapError, "the qrels have 'q1', forbidden has 'zz'"),
    ({"forbidden_level": 1}, ValueError, "forbidden_level must be below rel_level=1, got 1"),
    ({"forbidden": {"q1": "h"}}, TypeError, "the documents of query 'q1' must be a collection of ids, got str 'h'"),
    ({"forbidden": 5}, TypeError, "forbidden must map query ids to documents"),
    ({"forbidden_level": "low"}, TypeError, "forbidden_level"),
])  # fmt: skip
def test_what_forbids_nothing_is_refused(words, error, message):
    with pytest.raises(error, match=message):
        fastir.evaluate(QRELS, RUN, "leak_recall@2", **words)
    if words:
        return
    with pytest.raises(fastir.UnknownMetricError, match="which judged rankings do not have"):
        fastir.judged_rankings(QRELS, RUN, queries="qrels").evaluate("leak_recall@2")
    with pytest.raises(fastir.UnknownMetricError, match="parts are not put together for metrics of forbidden"):
        fastir.Evaluator(QRELS, "leak_recall@2", forbidden=FORBIDDEN).partial(RUN)
    with pytest.raises(ValueError, match="explain: judged_only leaves metric 'leak_recall@2' another ranking"):
        fastir.Evaluator(QRELS, "leak_recall@2", forbidden=FORBIDDEN, judged_only=True).explain(RUN, "q1")
