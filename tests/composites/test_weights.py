"""Weights of documents: the same values from every entry point, and what weights cannot mean."""

import contextlib
import json
import pickle
import random
import subprocess
import sys

import numpy as np
import pytest
from common import UNEVEN

import fastir

QRELS = {"q1": {"a": 1, "b": 2, "c": 0, "d": 1}, "q2": {"a": 1, "e": 1}, "q3": {"c": 0}}
RUN = {"q1": {"x": 9.0, "a": 8.0, "c": 7.0, "b": 6.0}, "q2": {"e": 5.0, "x": 4.0}, "q3": {"c": 1.0}}
LISTS = {query: list(docs) for query, docs in RUN.items()}
WEIGHTS = {"a": 2.0, "b": 1.5, "d": 4.0, "e": 1.25}
METRICS = [
    *("psp@2", "psndcg@3", "weighted_recall@3", "weighted_precision@3", "weighted_ndcg@3", "weighted_rbp"),
    *("weighted_mrr", "ndcg@3", "weighted_recall(self_normalized=false)@3", "weighted_ndcg(gain=binary)@3"),
    *("weighted_recall@10-l2", "weighted_rbp(self_normalized=false)", "weighted_mrr(self_normalized=false)"),
]


def test_every_entry_point_has_the_same_values():
    expected = fastir.evaluate(QRELS, RUN, METRICS, doc_weights=WEIGHTS).values
    evaluator = fastir.Evaluator(QRELS, METRICS, doc_weights=WEIGHTS)
    nested = {query: {doc: WEIGHTS[doc] for doc in docs if doc != "c"} for query, docs in QRELS.items()}
    rows = [(query, doc, label, WEIGHTS.get(doc, 1.0)) for query, docs in QRELS.items() for doc, label in docs.items()]
    names = "query_id", "doc_id", "label", "ips"
    table = {name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
    for results in (
        evaluator.evaluate(RUN),
        pickle.loads(pickle.dumps(evaluator)).evaluate(RUN),
        evaluator.evaluate(fastir.Run.from_dict(RUN)),
        fastir.evaluate(QRELS, RUN, METRICS, doc_weights=nested),
        fastir.evaluate(table, RUN, METRICS, doc_weights="ips"),
        fastir.evaluate_many(QRELS, {"x": RUN}, METRICS, doc_weights=WEIGHTS)["x"],
        fastir.evaluate_lists(LISTS, QRELS, METRICS, doc_weights=WEIGHTS),
        fastir.evaluate_lists(LISTS, QRELS, METRICS, doc_weights=nested),
    ):
        assert np.array_equal(results.values, expected)


def test_runs_are_compared_by_weighted_metrics():
    other = {"q1": {"b": 1.0}, "q2": {"e": 1.0}, "q3": {"c": 1.0}}
    compared = fastir.compare(QRELS, {"x": RUN, "y": other}, "psp@2", doc_weights=WEIGHTS)
    assert "psp@2" in str(compared)


def test_what_weights_cannot_mean_is_an_error():
    with pytest.raises(fastir.UnknownMetricError, match="metric 'psp@2' needs weights of documents"):
        fastir.evaluate(QRELS, RUN, "psp@2")
    with pytest.raises(fastir.UnknownMetricError, match="metric 'psp@2' needs weights of documents"):
        fastir.evaluate_topk([[0, 1]], [[1]], "psp@2")
    with pytest.raises(ValueError, match="weights: metric 'psp@2' divides by a mean"):
        fastir.evaluate(QRELS, RUN, "psp@2", doc_weights=WEIGHTS, weights=dict.fromkeys(QRELS, 1))
    with pytest.raises(TypeError, match="not with groups"):
        fastir.evaluate({"q": {"g": {"a": 1}}}, {"q": {"a": 1.0}}, "alpha_ndcg", doc_weights={"a": 1})
    with pytest.raises(ValueError, match="explain: metric 'psp' reads weights"):
        fastir.Evaluator(QRELS, "psp", doc_weights=WEIGHTS).explain(RUN, "q1")


def test_files_of_weights(tmp_path):
    expected = fastir.evaluate(QRELS, RUN, METRICS, doc_weights=WEIGHTS)
    path = tmp_path / "weights.txt"
    path.write_text("".join(f"{doc} {weight}\n" for doc, weight in WEIGHTS.items()) + "\n")
    assert fastir.evaluate(QRELS, RUN, METRICS, doc_weights=path) == expected
    path.write_text("".join(f"{q}\t{d}\t{WEIGHTS[d]}\n" for q, docs in QRELS.items() for d in docs if d in WEIGHTS))
    assert fastir.evaluate(QRELS, RUN, METRICS, doc_weights=path) == expected
    assert fastir.evaluate_lists(LISTS, QRELS, METRICS, doc_weights=path).values.tobytes() == expected.values.tobytes()
    for text, message in (
        ("a 2\nb\n", r"weights.txt:2: expected a document and its weight, got 1 field"),
        ("a\n", "expected a document and its weight or a query, a document and its weight, got 1 field"),
        ("a 2\nq a 2\n", "weights.txt:2: expected a document and its weight, got 3 fields"),
        ("a x\n", "weights.txt:1: weight 'x' is not a number"),
        ("a 2\na 3\n", "weights.txt:2: document 'a' has two weights"),
    ):
        path.write_text(text)
        with pytest.raises(fastir.FormatError, match=message):
            fastir.evaluate(QRELS, RUN, METRICS, doc_weights=path)


def test_the_command_reads_a_file_of_weights(tmp_path):
    weights, qrels, run = (tmp_path / name for name in ("weights", "qrels", "run"))
    weights.write_text("".join(f"{doc} {weight}\n" for doc, weight in WEIGHTS.items()))
    qrels.write_text("".join(f"{q} 0 {d} {n}\n" for q, docs in QRELS.items() for d, n in docs.items()))
    run.write_text("".join(f"{q} Q0 {d} 1 {s} x\n" for q, docs in RUN.items() for d, s in docs.items()))
    call = [
        sys.executable, "-m", "fastir", "eval", qrels, run, "-m", "psp@2", "--doc-weights", weights,
        "--format", "json",
    ]  # fmt: skip
    done = subprocess.run(call, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (
        json.loads(done.stdout)["mean"]["psp@2"] == fastir.evaluate(QRELS, RUN, "psp@2", doc_weights=WEIGHTS)["psp@2"]
    )


def test_the_mean_over_many_queries_is_a_quotient_of_two_means():
    """By hand: 2 / 2 and 1.25 / 1 of the rankings, (1.5 + 4) / 2 and so on of the best ones."""
    found = fastir.evaluate(QRELS, RUN, ["psp@1", "psp@2"], doc_weights=WEIGHTS)
    assert found["psp@1"] == pytest.approx(((0 + 1.25 + 0) / 3) / ((4.0 + 2.0 + 0) / 3))
    assert found["psp@2"] == pytest.approx((2.0 + 1.25) / (4.0 + 2.0 + 2.0 + 1.25))
    of_each = (2.0 / 6.0, 1.25 / 3.25)
    assert found["psp@2"] != pytest.approx(sum(of_each) / 3)


BY_MEANS = ["psp@1", "psp@3", "psndcg@2", "psndcg"]


def some_queries(rng):
    docs = "abcdefg"
    qrels = {f"q{n}": {doc: rng.choice((0, 1, 1, 2)) for doc in rng.sample(docs, rng.randint(1, 6))} for n in range(6)}
    run = {q: {doc: rng.random() for doc in rng.sample(docs, rng.randint(1, 7))} for q in qrels}
    return qrels, run, {doc: rng.choice((0.5, 1.0, 3.0, 7.25)) for doc in docs}


@UNEVEN
@pytest.mark.parametrize("seed", range(8))
def test_a_depth_cuts_rankings_and_not_the_best_of_them(seed):
    qrels, run, weights = some_queries(random.Random(seed))
    names = [*BY_MEANS, "weighted_ndcg@3", "weighted_recall@2"]
    for depth in (1, 2, 4):
        cut = {q: dict(sorted(docs.items(), key=lambda pair: -pair[1])[:depth]) for q, docs in run.items()}
        evaluator = fastir.Evaluator(qrels, names, doc_weights=weights, max_depth=depth)
        expected = fastir.evaluate(qrels, cut, names, doc_weights=weights)
        np.testing.assert_array_equal(evaluator.evaluate(run).values, expected.values)
        np.testing.assert_array_equal(evaluator.evaluate(fastir.Run.from_dict(run)).values, expected.values)
    qrels, run = {"q": dict.fromkeys("abcd", 1)}, {"q": {"d": 2.0, "c": 1.0}}
    worth = {"a": 5, "b": 3, "c": 2, "d": 1}
    assert fastir.evaluate(qrels, run, "psp@3", doc_weights=worth, max_depth=1)["psp@3"] == pytest.approx(
        0.1, rel=1e-15
    )


@UNEVEN
@pytest.mark.parametrize("seed", range(8))
def test_a_segment_has_the_quotient_of_its_own_means(seed):
    qrels, run, weights = some_queries(random.Random(seed))
    names = [*BY_MEANS, "weighted_ndcg@3", "map"]
    segments = {q: "even" if int(q[1:]) % 2 else "odd" for q in qrels}
    whole = fastir.evaluate(qrels, run, names, doc_weights=weights)
    for segment, found in whole.by_segment(segments).items():
        own = [q for q in qrels if segments[q] == segment]
        expected = fastir.evaluate(qrels, run, names, doc_weights=weights, queries=own)
        np.testing.assert_allclose(found.values, expected.values, rtol=1e-14)
        np.testing.assert_allclose([*dict(found).values()], [*dict(expected).values()], rtol=1e-14)
    with pytest.raises(ValueError, match="'psp@1' is a quotient of two means over the queries, and saved results lack"):
        pickle.loads(pickle.dumps(whole)).by_segment(segments)


@UNEVEN
@pytest.mark.parametrize("seed", range(8))
def test_a_comparison_has_the_quotients_of_the_queries_that_it_compares(seed):
    pytest.importorskip("scipy")
    rng = random.Random(seed)
    qrels, run, weights = some_queries(rng)
    other = {q: dict(zip(docs, rng.sample(list(docs.values()), len(docs)), strict=True)) for q, docs in run.items()}
    runs, names = {"one": run, "other": dict(list(other.items())[1:])}, [*BY_MEANS, "map"]
    segments = {q: "even" if int(q[1:]) % 2 else "odd" for q in qrels}
    shared = [q for q in qrels if all(q in ranked for ranked in runs.values())]
    for queries, compared in (("qrels", list(qrels)), ("intersection", shared)):
        rules = {"doc_weights": weights, "queries": queries, "segments": segments}
        parts = {None: compared}
        for query_id in compared:
            parts.setdefault(segments[query_id], []).append(query_id)
        whole = fastir.compare(qrels, runs, names, **rules)
        for segment, own in parts.items():
            found = whole if segment is None else whole.segments[segment]
            expected = fastir.compare(qrels, runs, names, doc_weights=weights, queries=own)
            np.testing.assert_allclose(found.values, expected.values, rtol=1e-14)
    results = dict(fastir.evaluate_many(qrels, runs, names, doc_weights=weights, queries="qrels"))
    saved = pickle.loads(pickle.dumps(results))
    fastir.compare_scores(saved)
    with pytest.raises(ValueError, match="and saved results lack what its values were divided by; evaluate these"):
        fastir.compare_scores(saved, segments=segments)
    alone = {
        name: fastir.evaluate(qrels, run, "psp@1", doc_weights=weights, queries="intersection")
        for name, run in runs.items()
    }
    with pytest.raises(ValueError, match=r"run 'other': metric 'psp@1' is a quotient .* was not evaluated"):
        fastir.compare_scores(alone, queries="qrels")
    with pytest.raises(ValueError, match="each fold has its own; evaluate all queries at once"):
        fastir.compare_scores(
            {"x": [alone["one"]] * 1 + [fastir.evaluate({"y": {"a": 1}}, {"y": ["a"]}, "psp@1", doc_weights={"a": 1})]},
            seeds="folds",
        )


def test_batches_and_processes_have_the_quotient_of_all():
    queries = list(QRELS)
    whole = fastir.evaluate(QRELS, RUN, METRICS, doc_weights=WEIGHTS)
    total, other = (fastir.Accumulator(METRICS, doc_weights=WEIGHTS) for _ in range(2))
    for one, batch in ((total, queries[:1]), (other, queries[1:2]), (other, queries[2:])):
        some = {query: QRELS[query] for query in batch}
        with contextlib.suppress(fastir.NoOverlapError):
            one.update(run={query: RUN[query] for query in batch}, qrels=some)
    total.merge(pickle.loads(pickle.dumps(other)))
    assert total.result() == pytest.approx(dict(whole), rel=1e-15)


def test_batches_of_items_have_the_quotient_of_all():
    rng = np.random.default_rng(4)
    scores, weights = rng.random((30, 12)), rng.random(12) + 0.1
    relevant = [rng.permutation(12)[: rng.integers(4)] for _ in range(30)]
    metrics = ["psp@3", "psndcg@3", "weighted_recall@3", "ndcg"]
    whole = fastir.evaluate_matrix(scores, relevant, metrics, doc_weights=weights)
    top = np.argsort(-scores, axis=1)
    for n in (1, 7, 30):
        total, lists = (fastir.Accumulator(metrics, doc_weights=weights) for _ in range(2))
        for start in range(0, 30, n):
            here = slice(start, start + n)
            total.update(scores=scores[here], relevant=relevant[here])
            lists.update(indices=top[here], relevant=relevant[here])
        assert total.result() == pytest.approx(dict(whole), rel=1e-15)
        assert lists.result() == pytest.approx(dict(whole), rel=1e-15)
    nothing = fastir.Accumulator(metrics, doc_weights=weights)
    nothing.update(scores=scores[:2], relevant=[[], []])
    assert nothing.result()["psp@3"] == 0.0
    with pytest.raises(TypeError, match="which labels do not name"):
        nothing.update([1, 0], [0.5, 0.2])
