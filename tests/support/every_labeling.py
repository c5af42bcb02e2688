"""Small rankings with unjudged documents, of one run or two, and checks of their bounds against all labelings."""

import itertools
import random

import numpy as np

import fastir


def case(seed, most_unjudged=5, most_label=2):
    """A query's labels and ranking, with few unjudged documents, some of them with negative labels."""
    random_ = random.Random(seed)
    docs = [f"d{i}" for i in range(random_.randint(1, 9))]
    unjudged = random_.sample(docs, min(len(docs), random_.randint(0, most_unjudged)))
    labels = {doc: random_.choice([0, 0, 1, random_.randint(0, most_label)]) for doc in docs if doc not in unjudged}
    labels |= {doc: -random_.randint(1, 3) for doc in unjudged if random_.random() < 0.3}
    labels |= {f"u{i}": random_.choice([-1, 0, 1, most_label]) for i in range(random_.randint(0, 3))}
    ranking = {doc: random_.random() for doc in docs}
    return labels or {"u": 0}, ranking


def enumerated(labels, ranking, metrics, max_label, pool_depth=None, unseen=0, **options):
    """The values of all labelings of unjudged documents to a depth, and of unseen ones: (n_labelings, n_metrics)."""
    ordered = sorted(ranking, key=ranking.get, reverse=True)[: min(pool_depth or 99, options.get("max_depth", 99))]
    unjudged = [doc for doc in ordered if labels.get(doc, -1) < 0] + [f"unseen{i}" for i in range(unseen)]
    qrels = {
        str(i): {**labels, **dict(zip(unjudged, given, strict=True))}
        for i, given in enumerate(itertools.product(range(max_label + 1), repeat=len(unjudged)))
    }
    run = dict.fromkeys(qrels, ranking)
    return fastir.evaluate(qrels, run, metrics, queries="qrels", **options).values


def check(labels, ranking, metrics, max_label, pool_depth=None, unseen=0, **options):
    """Assert that bounds are those of all labelings."""
    values = enumerated(labels, ranking, metrics, max_label, pool_depth, unseen, **options)
    limits = {"max_label": max_label, "pool_depth": pool_depth, "unseen": unseen}
    found = fastir.bounds({"q": labels}, {"q": ranking}, metrics, queries="qrels", **limits, **options)
    for column, name in enumerate(found.lower.names):
        own = values[:, column]
        own = own[~np.isnan(own)]
        lower, upper = found.lower.values[0, column], found.upper.values[0, column]
        where = (name, labels, ranking, max_label, pool_depth, options, lower, upper)
        if not len(own):
            assert np.isnan(lower) and np.isnan(upper), where
        else:
            assert found.exact[name] and lower in own and upper in own, where
            slack = 1e-12 * np.abs(own).max()
            assert lower <= own.min() + slack and upper >= own.max() - slack, where


def case_of_two(seed, most_label):
    random_ = random.Random(seed)
    docs = [f"d{i}" for i in range(7)]
    runs = [{doc: random_.random() for doc in random_.sample(docs, random_.randint(1, 6))} for _ in range(2)]
    labels = {doc: random_.randint(0, most_label) for doc in random_.sample(docs, random_.randint(2, 5))}
    labels |= {doc: -1 for doc in docs if doc not in labels and random_.random() < 0.2}
    return labels | {f"u{i}": random_.randint(0, most_label) for i in range(random_.randint(0, 2))}, *runs


def unjudged_of(labels, runs, depth):
    found = []
    for ranking in runs:
        found += sorted(ranking, key=ranking.get, reverse=True)[: depth or 99]
    return [doc for doc in dict.fromkeys(found) if labels.get(doc, -1) < 0]


def enumerated_two(labels, runs, metrics, max_label, pool_depth, **options):
    depth_of_both = min(pool_depth or 99, options.get("max_depth", 99))
    unjudged = unjudged_of(labels, runs, depth_of_both)
    qrels = {
        str(i): {**labels, **dict(zip(unjudged, given, strict=True))}
        for i, given in enumerate(itertools.product(range(max_label + 1), repeat=len(unjudged)))
    }
    first, second = (
        fastir.evaluate(qrels, dict.fromkeys(qrels, ranking), metrics, queries="qrels", **options).values
        for ranking in runs
    )
    return first - second


def check_two(labels, runs, metrics, max_label, pool_depth=None, **options):
    """Assert that bounds are those of all labelings, and all exact."""
    values = enumerated_two(labels, runs, metrics, max_label, pool_depth, **options)
    found = fastir.bounds(
        *({"q": each} for each in (labels, runs[0])), metrics, against={"q": runs[1]}, max_label=max_label,
        pool_depth=pool_depth, queries="qrels", **options,
    )  # fmt: skip
    for column, name in enumerate(found.lower.names):
        own = values[:, column]
        own = own[~np.isnan(own)]
        lower, upper = found.lower.values[0, column], found.upper.values[0, column]
        where = (name, labels, runs, max_label, pool_depth, options, lower, upper)
        if not len(own):
            assert np.isnan(lower) and np.isnan(upper), where
            continue
        slack = 1e-12 * max(1.0, np.abs(own).max())
        assert found.exact[name] and lower in own and upper in own, where
        assert lower <= own.min() + slack and upper >= own.max() - slack, where
