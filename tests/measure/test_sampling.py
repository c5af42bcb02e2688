"""Estimates from a sample, against textbook loops and all judgments."""

import math
import random

import numpy as np
import pytest
from sampled import drawn

import fastir

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")  # queries and rankings without judgments


def slow_strata(ranked, labels, strata, k, level, gain):
    """xinf_ap, inf_ndcg, inf_precision, inf_num_rel_ret and inf_num_rel of one query."""
    pool = {s: [doc for doc in labels if strata[doc] == s] for s in sorted(set(strata.values()))}
    judged = {s: [doc for doc in docs if labels[doc] >= 0] for s, docs in pool.items()}

    def scaled(s, n):
        return n * len(pool[s]) / len(judged[s])

    def seen(s, docs):
        inside = [doc for doc in docs if strata.get(doc) == s]
        of_these = [doc for doc in inside if labels[doc] >= 0]
        return len(inside), len(of_these), sum(labels[doc] >= level for doc in of_these)

    def share(s, docs):
        _, n_judged, n_relevant = seen(s, docs)
        return (n_relevant + 0.00001) / (n_judged + 0.00003)

    num_rel = {s: scaled(s, sum(labels[doc] >= level for doc in judged[s])) for s in pool if judged[s]}
    ap = 0.0
    for s in num_rel:
        relevant = [doc for doc in judged[s] if labels[doc] >= level]
        for doc in relevant:
            if doc in ranked[:k]:
                rank = ranked.index(doc) + 1
                above = [other for other in ranked[: rank - 1] if other in labels]
                expected = sum(seen(t, above)[0] / len(above) * share(t, above) for t in pool) if above else 0.0
                precision = 1 / rank + len(above) / rank * expected
                ap += num_rel[s] / sum(num_rel.values()) * precision / len(relevant)
    first, ideal = 1, 0.0
    for worth in sorted({gain(labels[doc]) for doc in labels if gain(labels[doc]) > 0}, reverse=True):
        having = sum(scaled(s, sum(gain(labels[doc]) == worth for doc in judged[s])) for s in num_rel)
        for rank in range(first, first + int(having + 0.5)):
            if rank <= k or rank == first:
                ideal += worth / math.log2(rank + 1)
        first += int(having + 0.5)
    dcg = 0.0
    for s in pool:
        n_docs, n_judged, _ = seen(s, ranked[:k])
        if n_judged:
            inside = [doc for doc in ranked[:k] if strata.get(doc) == s]
            dcg += n_docs / n_judged * sum(gain(labels[doc]) / math.log2(ranked.index(doc) + 2) for doc in inside)
    retrieved = sum(seen(s, ranked[:k])[0] * share(s, ranked[:k]) for s in pool)
    return [ap, dcg / ideal if ideal else 0.0, retrieved / k, retrieved, sum(num_rel.values())]


def slow_probabilities(ranked, labels, chances, k, level):
    """stat_ap, stat_ap_variance, stat_precision, stat_r_precision and stat_num_rel of one query."""
    sampled = [doc for doc in labels if doc in chances]
    relevant = [doc for doc in sampled if labels[doc] >= level]
    num_rel = sum(1 / chances[doc] for doc in relevant)

    def found(k):
        return sum(1 / chances[doc] for doc in ranked[:k] if doc in relevant)

    precision = found(k) / k
    if not relevant:
        return [0.0, 0.0, precision, 0.0, 0.0]
    ranks = {doc: rank for rank, doc in enumerate(ranked, 1)}
    precisions = {doc: (1 + found(ranks[doc] - 1)) / ranks[doc] for doc in relevant if doc in ranks}
    ap = sum(precisions[doc] / chances[doc] for doc in precisions) / num_rel
    y = {doc: (precisions.get(doc, 0.0) - ap) / chances[doc] for doc in relevant}
    each = sum((1 - chances[doc]) * y[doc] ** 2 for doc in relevant)
    pairs = sum(2 * y[a] * y[b] for place, a in enumerate(relevant) for b in relevant[:place])
    last = 0.0
    for doc in precisions:
        below = sum(1 / ranks[other] / chances[other] for other in precisions if ranks[other] > ranks[doc])
        last += below**2 * (1 - chances[doc]) / chances[doc] ** 2
    total = each - (pairs / (len(sampled) - 1) if len(sampled) > 1 else 0) + last
    retrieved = sum(doc in ranks for doc in sampled)
    variance = min(1, total / num_rel**2 / (retrieved + 0.1) * len(sampled))
    at = int(num_rel + 0.5)
    return [ap, variance, precision, found(at) / (at if len(ranked) >= at else num_rel), num_rel]


GAINS = {
    "linear": lambda label: max(label, 0),
    "exp2": lambda label: 2.0 ** max(label, 0) - 1,
    "binary": lambda label: float(label >= 1),
    "{1:2.5, 3:0.5}": lambda label: {1: 2.5, 3: 0.5}.get(label, max(label, 0)),
}


@pytest.mark.parametrize("seed", range(40))
def test_textbook_loops(seed):
    rng = random.Random(seed)
    docs = [f"d{i}" for i in range(25)]
    labels = {doc: rng.choice((-2, -1, 0, 0, 1, 2, 3, 12)) for doc in rng.sample(docs, rng.randint(1, 20))}
    strata = {doc: rng.choice((-3, 1, 2, 7, 10)) for doc in labels}
    chances = {doc: rng.choice((1, rng.uniform(0.05, 1))) for doc in labels if labels[doc] >= 0 and rng.random() < 0.9}
    ranked = rng.sample(docs, rng.randint(1, 25))
    run = {"q": {doc: -float(place) for place, doc in enumerate(ranked)}}
    k, level, gain = rng.choice((1, 3, 10, 1000)), rng.choice((1, 1, 2)), rng.choice(list(GAINS))
    qrels = fastir.Qrels.from_dict({"q": labels}, strata={"q": strata}, probabilities={"q": chances})
    names = [f"xinf_ap@{k}", f"inf_ndcg(gain={gain})@{k}", f"inf_precision@{k}", f"inf_num_rel_ret@{k}", "inf_num_rel"]
    names += ["stat_ap", "stat_ap_variance", f"stat_precision@{k}", "stat_r_precision", "stat_num_rel"]
    level = 1 if gain == "binary" else level
    found = fastir.evaluate(qrels, run, names, rel_level=level)
    expected = slow_strata(ranked, labels, strata, k, level, GAINS[gain])
    expected += slow_probabilities(ranked, labels, chances, k, level)
    for name, want in zip(names, expected, strict=True):
        assert math.isclose(found[name], want, rel_tol=1e-12, abs_tol=1e-15), (name, found[name], want)


N_DRAWS = 600
POOL = [f"d{i}" for i in range(300)]


def collection():
    """Labels of 300 documents, of which 52 are relevant, and a ranking of them: the better ones tend to be first."""
    rng = np.random.default_rng(7)
    places = np.arange(300)
    relevant = rng.random(300) < 0.6 * np.exp(-places / 80) + 0.02
    return relevant * rng.integers(1, 4, 300), dict(zip(POOL, (-1.0 * places).tolist(), strict=True))


def assert_near(values, truth, bias=0.0):
    """The mean lies within four standard errors of the truth, or no farther off than a share of it besides."""
    error = values.std() / math.sqrt(len(values))
    assert abs(values.mean() - truth) < 4 * error + bias * truth, (values.mean(), truth, error)


def test_strata_estimate_what_all_judgments_would_give():
    """All but inf_ndcg nearly without bias; its ideal ranking is a sum of logarithms of estimates."""
    labels, ranking = collection()
    rng, rates = np.random.default_rng(1), {1: 1.0, 2: 0.4, 3: 0.2}
    stratum = np.repeat([1, 2, 3], [50, 100, 150])
    draws = {}
    for draw in range(N_DRAWS):
        rows = [rng.choice(np.flatnonzero(stratum == s), int((stratum == s).sum() * rates[s]), False) for s in rates]
        taken = np.concatenate(rows)
        draws[f"q{draw}"] = [POOL[i] for i in taken], labels[taken].tolist(), (POOL, stratum.tolist())
    names = ["xinf_ap", "inf_precision@100", "inf_num_rel", "inf_ndcg"]
    found = drawn(draws, ranking, names, kind="strata")
    whole = {"q": dict(zip(POOL, labels.tolist(), strict=True))}
    truth = fastir.evaluate(whole, {"q": ranking}, ["map", "precision@100", "num_rel", "ndcg"])
    for (name, values), true in zip(found.items(), truth.values[0], strict=True):
        assert_near(values, true, 0.01 if name == "inf_ndcg" else 0.002)


def test_probabilities_estimate_without_bias_and_their_interval_holds():
    """Sums are unbiased, and so is stat_ap where R is known; the quotient of two estimates nearly is."""
    labels, ranking = collection()
    rng, chances = np.random.default_rng(2), np.clip(0.9 * np.exp(-np.arange(300) / 60), 0.1, 1)
    draws = {}
    for draw in range(N_DRAWS):
        taken = np.flatnonzero(rng.random(300) < chances)
        docs = [POOL[i] for i in taken]
        draws[f"q{draw}"] = docs, labels[taken].tolist(), (docs, chances[taken].tolist())
    names = ["stat_num_rel", "stat_precision@10", "stat_precision@100", "stat_ap", "stat_ap_variance"]
    found = drawn(draws, ranking, names, kind="probabilities")
    whole = {"q": dict(zip(POOL, labels.tolist(), strict=True))}
    truth = fastir.evaluate(whole, {"q": ranking}, ["num_rel", "precision@10", "precision@100", "map"])
    for (name, values), true in zip(list(found.items())[:4], truth.values[0], strict=True):
        assert_near(values, true, 0.01 if name == "stat_ap" else 0.0)
    assert_near(found["stat_ap"] * found["stat_num_rel"] / truth["num_rel"], truth["map"])
    spread = np.sqrt(found["stat_ap_variance"])
    inside = np.mean(abs(found["stat_ap"] - truth["map"]) < 1.96 * spread)
    assert 0.88 < inside < 0.99, inside
    assert 0.7 < (spread**2).mean() / found["stat_ap"].var() < 1.3


@pytest.mark.parametrize("ranking", [["a"], ["x", "a"], ["x"]])
def test_one_sampled_document_has_no_pairs(ranking):
    """Its estimate is its own mean, so that nothing varies; pairs divided by 0 would be NaN."""
    qrels = fastir.Qrels.from_dict({"q": {"a": 1}}, probabilities={"q": {"a": 0.5}})
    assert fastir.evaluate(qrels, {"q": ranking}, "stat_ap_variance")["stat_ap_variance"] == 0.0
