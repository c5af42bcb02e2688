"""Metrics of weighted documents: values by hand, pyxclib's numbers, a textbook twin."""

import math

import numpy as np
import pytest

import fastir

QRELS = {"q1": {"a": 1, "b": 2, "c": 0, "d": 1}, "q2": {"a": 1, "e": 1}, "q3": {"c": 0}}
RUN = {"q1": {"x": 9.0, "a": 8.0, "c": 7.0, "b": 6.0}, "q2": {"e": 5.0, "x": 4.0}, "q3": {"c": 1.0}}
WEIGHTS = {"a": 2.0, "b": 1.5, "d": 4.0, "e": 1.25}

# by hand: q1 ranks a (weight 2) second and b (1.5) fourth of a, b, d (4); q2 has e (1.25) first of a (2), e
BEST_PRECISION = ((4 + 2) / 2 + (2 + 1.25) / 2 + 0) / 3
WORKED = {
    "psp@2": (2 / 2 / BEST_PRECISION, 1.25 / 2 / BEST_PRECISION), "weighted_recall@3": (2 / 7.5, 1.25 / 3.25),
    "weighted_recall(self_normalized=false)@3": (2, 1.25), "weighted_recall@10-l2": (1, 0),
    "weighted_precision@3": (2 / 2.5 / 3, 1.25 / 1.625 / 3), "weighted_mrr": (2 / 2.5 / 2, 1.25 / 1.625),
    "weighted_mrr(self_normalized=false)": (1, 1.25),
    "weighted_rbp": (0.2 * (2 * 0.8 + 1.5 * 0.8**3) / 7.5, 0.2 * 1.25 / 3.25),
    "weighted_rbp(self_normalized=false)": (0.2 * (2 * 0.8 + 1.5 * 0.8**3), 0.2 * 1.25),
    "weighted_ndcg(gain=binary)@3": (2 / math.log2(3) / (4 + 2 / math.log2(3) + 1.5 / 2),
                                     1.25 / (2 + 1.25 / math.log2(3))),
    "weighted_ndcg@3": (2 / math.log2(3) / (4 + 3 / math.log2(3) + 2 / 2), 1.25 / (2 + 1.25 / math.log2(3))),
}  # fmt: skip

# xclib.evaluation.xc_metrics of pyxclib (5d13086): psprecision and psndcg to 5 of the scores and labels below; psndcg
# with its array of means in float64, which is float32 there. The weights are from compute_inv_propesity.
RANKED = [
    [5, 1, 8, 11, 13], [5, 9, 4, 13, 8], [5, 14, 12, 1, 6], [5, 11, 8, 13, 2], [12, 11, 1, 13, 6], [2, 0, 7, 12, 9],
    [9, 14, 8, 3, 5], [3, 13, 12, 0, 10], [3, 12, 14, 6, 1], [8, 2, 11, 5, 7], [3, 0, 11, 1, 2], [13, 6, 9, 5, 8],
]  # fmt: skip
RELEVANT = [
    [3, 4, 13], [1, 4, 5, 7, 9], [2, 4, 10, 14], [], [6, 7, 11, 12], [5, 7, 8, 9], [5, 9], [4, 5, 14], [0, 2, 5, 7],
    [1, 6, 9, 10, 11], [4, 8], [8, 10, 13],
]  # fmt: skip
INVERSE_PROPENSITIES = [
    *(2.4296213741579624, 2.575734519866239, 2.085926850637793, 2.1983077939443048, 2.2533667202933896),
    *(2.1732221470298976, 2.3511415816614214, 2.4296213741579624, 2.5224719991118167, 2.106021003806463),
    *(2.3511415816614214, 2.2837046025463934, 2.3888215509491646, 2.2533667202933896, 2.5224719991118167),
]
PYXCLIB = {
    "psp": [0.3298167595227089, 0.3007514471539994, 0.3130740456253081, 0.26559637688154203, 0.37982879872712244],
    "psndcg": [0.3298167595227089, 0.3074682865206567, 0.3133110711323645, 0.2784427479257067, 0.34768728676570826],
}


@pytest.mark.parametrize("metric", WORKED)
def test_values_are_those_worked_out_by_hand(metric):
    values = fastir.evaluate(QRELS, RUN, metric, doc_weights=WEIGHTS).values[:, 0]
    assert values == pytest.approx([*WORKED[metric], 0], rel=1e-14)


@pytest.mark.parametrize("name", PYXCLIB)
def test_means_are_those_of_pyxclib(name):
    metrics = [f"{name}@{k}" for k in range(1, 6)]
    results = fastir.evaluate_topk(np.array(RANKED), RELEVANT, metrics, doc_weights=np.array(INVERSE_PROPENSITIES))
    assert [results[metric] for metric in metrics] == pytest.approx(PYXCLIB[name], rel=1e-12)


def test_equal_weights_are_no_weights():
    pairs = {"weighted_recall@3": "recall@3", "weighted_precision@3": "p@3", "weighted_ndcg@3": "ndcg@3"}
    pairs["weighted_mrr"] = "mrr"
    results = fastir.evaluate(QRELS, RUN, [*pairs, *pairs.values()], doc_weights=dict.fromkeys("abcde", 3.0))
    for weighted, plain in pairs.items():
        assert results.per_query(weighted) == pytest.approx(results.per_query(plain), rel=1e-14)


def textbook(labels, ranking, weights, k):
    """The metrics of one query with loops over its ranking."""
    relevant = {doc: weights[doc] for doc, label in labels.items() if label > 0}
    best = sorted(relevant.values(), reverse=True)
    found = [(rank, relevant[doc]) for rank, doc in enumerate(ranking, 1) if doc in relevant]
    top = [(rank, weight) for rank, weight in found if rank <= k]
    places = sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(best)) + 1))
    every = sum(best)
    gains = sorted((labels[doc] * weight for doc, weight in relevant.items()), reverse=True)[:k]
    ideal = sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))
    dcg = sum(
        labels[doc] * relevant[doc] / math.log2(rank + 1) for rank, doc in enumerate(ranking[:k], 1) if doc in relevant
    )
    return {
        "psp": sum(weight for _, weight in top) / k,
        "best psp": sum(best[:k]) / k,
        "psndcg": sum(weight / math.log2(rank + 1) for rank, weight in top) / places if best else 0.0,
        "best psndcg": sum(w / math.log2(rank + 1) for rank, w in enumerate(best[:k], 1)) / places if best else 0.0,
        "weighted_recall": sum(weight for _, weight in top) / every if best else 0.0,
        "weighted_precision": sum(weight for _, weight in top) / k / (every / len(best)) if best else 0.0,
        "weighted_ndcg": dcg / ideal if best else 0.0,
        "weighted_rbp": sum(0.2 * 0.8 ** (rank - 1) * weight for rank, weight in top) / every if best else 0.0,
        "weighted_mrr": top[0][1] / top[0][0] / (every / len(best)) if top else 0.0,
    }


@pytest.mark.parametrize("k", [1, 3, 20])
def test_values_are_those_of_a_textbook(k):
    rng = np.random.default_rng(k)
    docs = [f"d{i}" for i in range(12)]
    weights = dict(zip(docs, rng.uniform(0.1, 9, 12).tolist(), strict=True))
    qrels = {str(q): {doc: int(rng.integers(-1, 3)) for doc in rng.permutation(docs)[:7].tolist()} for q in range(40)}
    rankings = {str(q): rng.permutation(docs)[:8].tolist() for q in range(40)}
    run = {query: {doc: float(-place) for place, doc in enumerate(ranked)} for query, ranked in rankings.items()}
    by_hand = [textbook(qrels[query], rankings[query], weights, k) for query in qrels]
    for name in [name for name in by_hand[0] if not name.startswith("best")]:
        expected = np.array([values[name] for values in by_hand])
        if f"best {name}" in by_hand[0]:
            expected /= np.mean([values[f"best {name}"] for values in by_hand])
        found = fastir.evaluate(qrels, run, f"{name}@{k}", doc_weights=weights).values[:, 0]
        assert found == pytest.approx(expected, rel=1e-12), name
