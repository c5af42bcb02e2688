"""Metrics of one's own over rankings without ids: their JudgedRankings give every metric's value to the last bit."""

import itertools
import operator
import pickle

import numpy as np
import pytest
from common import UNEVEN

import fastir
from fastir.data.rankings import ranking_arrays

pytestmark = UNEVEN

METRICS = ["ndcg", "map", "P@5", "recall@20", "bpref", "mrr", "num_rel", "infap", "err", "ndcg(gain=exp2)@3", "P@400"]
DEPTH = fastir.custom_metric("depth", operator.attrgetter("num_ret"), higher_is_better=False)
OPTIONS = [{}, {"max_depth": 7}, {"judged_only": True}, {"empty": "skip"}, {"rel_level": 2, "empty": "nan"}]
TIES = ["input", "optimistic", "pessimistic"]


def compared(evaluate, names=METRICS, **options):
    """Call it with a metric that keeps what it gets, from which all values must follow; returns the JudgedRankings."""
    kept = []
    keeps = fastir.custom_metric("keeps", lambda judged: (kept.append(judged), judged.num_ret)[1])
    found, plain = evaluate([names[0], keeps, *names[1:]], **options), evaluate(names, **options)
    judged = kept[0]
    assert list(found) == [names[0], "keeps", *names[1:]]
    assert np.delete(found.values, 1, axis=1).tobytes() == plain.values.tobytes()
    assert found.values[:, 1].tolist() == judged.num_ret.tolist()
    assert (found.query_ids, found.status, found.report) == (plain.query_ids, plain.status, plain.report)
    options = {name: value for name, value in options.items() if name not in ("ties", "score_dtype")}
    again = judged.evaluate(names, **options)
    assert again.values.tobytes() == plain.values.tobytes()
    assert again.status == plain.status
    arrays = {
        name: getattr(judged, name) for name in (*ranking_arrays(judged), "query_ids", "ties", "score_dtype", "report")
    }
    assert fastir.JudgedRankings.from_arrays(**arrays) == judged
    return judged


def labels_made(rng, n, kind):
    labels = rng.integers(-3, 4, n)
    if kind == "real":
        return np.where(labels > 0, labels - rng.choice([0, 0.25, 0.5], n), labels)
    return labels.astype(kind)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("kind", ["int8", "int64", "float32", "real"])
def test_labels_and_scores(kind, ties, options):
    rng = np.random.default_rng(0)
    for longest, distinct in itertools.product((5, 60, 5000), (3, 10**6)):
        sizes = rng.integers(0, longest, 6)
        labels = labels_made(rng, int(sizes.sum()), kind)
        scores = rng.integers(0, distinct, len(labels)).astype(rng.choice(["f4", "f8"]))

        def evaluate(names, labels=labels, scores=scores, sizes=sizes, **given):
            return fastir.evaluate_scores(labels, scores, names, group=sizes, max_grade=4, **given)

        names = METRICS if "empty" not in options else ["ndcg", "map", "recall@20"]
        judged = compared(evaluate, names, ties=ties, **options, **({"n_threads": 2} if longest == 60 else {}))
        assert (judged.ties, judged.score_dtype) == (ties, "float64")


def test_labels_of_queries_in_any_order_and_as_matrices():
    rng = np.random.default_rng(1)
    labels, scores, qid = rng.integers(0, 3, 60), rng.integers(0, 9, 60), rng.choice(["b", "a", "c"], 60)
    judged = compared(lambda names, **given: fastir.evaluate_scores(labels, scores, names, qid=qid, **given))
    assert judged.query_ids == list(dict.fromkeys(qid.tolist()))
    pair = labels.reshape(6, 10), scores.reshape(6, 10)
    compared(lambda names, **given: fastir.evaluate_scores(*pair, names, **given), score_dtype="float32")
    compared(lambda names, **given: fastir.evaluate_scores(*pair, names, **given), ["ndcg@5"], convention="lightgbm")


@pytest.mark.parametrize("options", OPTIONS[:3])
@pytest.mark.parametrize("kind", ["int64", "real"])
def test_labels_in_rank_order(kind, options):
    rng = np.random.default_rng(2)
    sizes = rng.integers(0, 40, 7)
    labels, offsets = labels_made(rng, int(sizes.sum()), kind), np.cumsum([0, *sizes])
    judged = compared(lambda names, **given: fastir.evaluate_ranked(labels, offsets, names, **given), **options)
    assert judged.ties is None
    more = labels_made(rng, 7 * 5, kind)
    ideals = [np.append(labels[a:b], more[5 * q : 5 * q + 5]) for q, (a, b) in enumerate(itertools.pairwise(offsets))]
    ideal = np.concatenate(ideals), np.cumsum([0, *map(len, ideals)])

    def evaluate(names, **given):
        return fastir.evaluate_ranked(labels, offsets, names, ideal_labels=ideal[0], ideal_offsets=ideal[1], **given)

    compared(evaluate, **options)


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("kind", ["int64", "real", None])
def test_matrices(kind, ties):
    rng = np.random.default_rng(3)
    for options, distinct in itertools.product(OPTIONS[:3], (4, 10**6)):
        scores = rng.integers(0, distinct, (9, 300)).astype(rng.choice(["f4", "f8"]), order=rng.choice(["C", "F"]))
        items = [rng.choice(300, size, replace=False) for size in rng.integers(0, 40, 9)]
        labels = [labels_made(rng, len(row), kind or "int64") for row in items]
        relevant = [dict(zip(*map(np.ndarray.tolist, pair), strict=True)) for pair in zip(items, labels, strict=True)]
        relevant = dict(enumerate(relevant if kind else items))
        del relevant[4]
        gone = [rng.choice(300, size) for size in rng.choice([0, 3, 150], 9)]

        def evaluate(names, scores=scores, relevant=relevant, gone=gone, **given):
            return fastir.evaluate_matrix(scores, relevant, names, exclude=gone, max_grade=4, **given)

        def in_blocks(names, scores=scores, relevant=relevant, gone=gone, **given):
            blocks = iter((scores[:2], scores[2:2], scores[2:]))
            return fastir.evaluate_matrix(blocks, relevant, names, exclude=gone, max_grade=4, **given)

        assert compared(evaluate, ties=ties, **options) == compared(in_blocks, ties=ties, n_threads=2, **options)


@pytest.mark.parametrize("scored", [False, True])
@pytest.mark.parametrize("kind", ["int64", "real"])
def test_lists_of_items(kind, scored):
    rng = np.random.default_rng(4)
    for options in OPTIONS[:3]:
        rows = np.array([rng.permutation(50)[:20] for _ in range(8)])
        rows[3, 11:] = rows[5] = -1
        relevant = [
            dict(zip(rng.permutation(50)[:15].tolist(), labels_made(rng, 15, kind).tolist(), strict=True))
            for _ in range(8)
        ]
        scores = rng.integers(0, 5, rows.shape).astype(float) if scored else None

        def evaluate(names, rows=rows, relevant=relevant, scores=scores, **given):
            gone = {0: [1, 2, 3], 2: rows[2].tolist()}
            return fastir.evaluate_topk(rows, relevant, names, scores=scores, exclude=gone, max_grade=4, **given)

        for ties in TIES if scored else [None]:
            compared(evaluate, ties=ties, **options)


def test_weights_of_items_and_of_queries_stand_beside_it():
    scores, relevant = np.random.default_rng(5).random((4, 30)), [[1, 2], [3], [], [29]]
    weights = np.arange(1.0, 31.0)
    total = fastir.Accumulator(["psp@5", DEPTH, "mrr"], doc_weights=weights)
    for half in (slice(0, 2), slice(2, 4)):
        total.update(scores=scores[half], relevant=relevant[half])
    found = fastir.evaluate_matrix(scores, relevant, ["psp@5", DEPTH, "mrr"], doc_weights=weights)
    plain = fastir.evaluate_matrix(scores, relevant, ["psp@5", "mrr"], doc_weights=weights)
    assert found["psp@5"] == plain["psp@5"] == pytest.approx(total.result()["psp@5"], rel=1e-15)
    assert total.result()["depth"] == found["depth"] == 30
    labels = [1, 0, 1], [0, 1, 3]
    assert fastir.evaluate_ranked(*labels, [DEPTH], weights=[3, 1])["depth"] == 1.25


def test_an_accumulator_adds_up_its_values():
    labels, scores, group = [1, 0, 0, 1, 1], [0.3, 0.2, 0.9, 0.1, 0.4], [2, 3]
    total, other = fastir.Accumulator(["mrr", DEPTH]), fastir.Accumulator(["mrr", DEPTH])
    total.update(labels[:2], scores[:2], group=[2])
    other.update(labels[2:], offsets=[0, 3])
    other.update(run={"q": {"a": 1.0}}, qrels={"q": {"a": 1}})
    total.merge(pickle.loads(pickle.dumps(other)))
    assert total.result()["depth"] == 2.0
    assert fastir.evaluate_scores(labels, scores, DEPTH, group=group)["depth"] == 2.5


def test_a_saved_result_says_that_it_was_the_callers():
    told = fastir.evaluate_ranked([1, 0], [0, 2], ["mrr", DEPTH]).provenance.metrics
    assert told == {"mrr": "mrr", "depth": "the caller's own metric, lower is better"}


def test_without_queries_the_function_is_not_called():
    never = fastir.custom_metric("never", lambda judged: 1 / 0)
    assert np.isnan(fastir.evaluate_scores([], [], never, offsets=[0])["never"])
    assert np.isnan(fastir.evaluate_matrix(np.empty((0, 3)), [], never)["never"])


def failing(judged):
    raise KeyError("nothing")


@pytest.mark.parametrize(("call", "message"), [
    (lambda own: fastir.evaluate_scores([1], [0.5], own, ties="average"), "'own': .* ties='average' has no single"),
    (lambda own: fastir.evaluate_matrix([[0.5]], [[0]], own, ties="average"), "'own': .* ties='average'"),
    (lambda own: fastir.evaluate_ranked([1], [0, 1], own), r"metric 'own': KeyError: 'nothing' \(query 0\)"),
    (lambda own: fastir.evaluate_scores([1], [1.0], own, qid=["x"]), r"metric 'own': KeyError: .* \(query x\)"),
    (lambda own: fastir.evaluate_topk([[0]], [[0]], ["mrr", own]), r"metric 'own': KeyError: .* \(query 0\)"),
    (lambda own: fastir.evaluate_topk([[0]], [[0]], [own, own, DEPTH, fastir.custom_metric("own", len)]),
     "two metrics have this name"),
])  # fmt: skip
def test_errors_name_metric_and_query(call, message):
    with pytest.raises(ValueError, match=message):
        call(fastir.custom_metric("own", failing))
