"""Bounds with labels that are not whole, against all labelings: by 0, the labels of the qrels, max_label.

Also of: candidates, extremes, differences.
"""

import contextlib
import itertools
import math
import random
import warnings

import numpy as np
import pytest

import fastir
from fastir.errors import UnknownMetricError

BELOW = "no label reaches rel_level=1, so no document is relevant to"
GRADES = (0, 0.25, 0.92, 1.5, 2)
METRICS = [
    *("ndcg@3", "ndcg", "ndcg(gain=exp2)@4", "dcg@3", "cg@4", "P@3", "recall@3", "map", "map@3", "mrr", "hit_rate@2"),
    *("err@3", "err(max_grade=query)@3", "rbp", "rbp(gains=scaled)", "rbp(gains=raw)", "bpref", "R-precision"),
    *("nerr@3", "bpm", "bpm(max_rel=3)", "auc", "ndcg(empty=skip)@3", "infap", "set_F", "num_rel_ret"),
]


def small(seed):
    """One query whose two rankings have few unjudged documents, one of them shared."""
    rng = random.Random(seed)
    judged = {f"d{place}": rng.choice(GRADES) for place in range(4)}
    judged["d0"] = 0.92
    docs = [*judged, "x", "y", "z"]
    runs = [{"q": {doc: rng.random() for doc in rng.sample(docs, 5)}} for _ in range(2)]
    runs[0]["q"]["x"] = runs[1]["q"]["x"] = 0.5
    return {"q": judged}, runs


def unjudged_of(qrels, *runs):
    return sorted({doc for run in runs for doc in run["q"]} - qrels["q"].keys())


@contextlib.contextmanager
def warned(below):
    """Expect one warning of labels that do not reach the relevance level, where all labels are below it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    assert [str(each.message)[: len(BELOW)] for each in caught] == [BELOW] * below


def values_of(qrels, runs, labels, options):
    """The metrics, or their differences, under all labelings of the unjudged documents."""
    unjudged, found = unjudged_of(qrels, *runs), []
    for labeling in itertools.product(labels, repeat=len(unjudged)):
        judged = {"q": {**qrels["q"], **dict(zip(unjudged, labeling, strict=True))}}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", BELOW, fastir.FastirWarning)
            each = [fastir.evaluate(judged, run, METRICS, **options).values[0] for run in runs]
        found.append(each[0] if len(each) == 1 else each[0] - each[1])
    return np.array(found)


@pytest.mark.parametrize("top", [None, 2.5, 3])
@pytest.mark.parametrize("two", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_bounds_of_real_labels_are_those_of_all_labelings(seed, two, top):
    qrels, runs = small(seed)
    runs = runs if two else runs[:1]
    options = {"rel_level": (0.25, 0.5, 1)[seed % 3]}
    against = {"against": runs[1]} if two else {}
    with warned(max(qrels["q"].values()) < options["rel_level"] == 1):
        bounds = fastir.bounds(qrels, runs[0], METRICS, max_label=top, **against, **options)
    labels = sorted({0, *qrels["q"].values(), top or max(qrels["q"].values())})
    values = values_of(qrels, runs, labels, options)
    for column, name in enumerate(bounds.value.names):
        of_metric = values[:, column][~np.isnan(values[:, column])]
        low, high = (side.per_query(name).get("q", math.nan) for side in (bounds.lower, bounds.upper))
        if not len(of_metric):
            assert math.isnan(low) and math.isnan(high)
        elif math.isnan(low):
            assert np.isnan(values[:, column]).any()
        elif bounds.exact[name]:
            assert math.isclose(low, of_metric.min(), abs_tol=1e-12), name
            assert math.isclose(high, of_metric.max(), abs_tol=1e-12), name
        else:
            assert low - 1e-12 <= of_metric.min() and of_metric.max() <= high + 1e-12, name


def test_bounds_of_many_unjudged_documents_are_exact_but_for_readers_who_may_stop():
    run = {"q": {"a": 99.0, **{f"x{place}": float(place) for place in range(40)}}}
    names = ["ndcg@10", "P@5", "map", "err@5", "rbp", "nerr@5", "bpm(max_rel=3)"]
    bounds = fastir.bounds({"q": {"a": 0.92, "b": 0.25, "c": 2.5}}, run, names, rel_level=0.5)
    assert bounds.exact == {name: name not in ("nerr@5", "bpm(max_rel=3)") for name in names}
    assert bounds.max_label == 2.5 and repr(bounds).splitlines()[-2].endswith("from 0 to 2.5")


def test_what_bounds_of_real_labels_refuse():
    qrels, run = {"q": {"a": 0.92}}, {"q": {"x": 1.0, "a": 0.5}}
    with pytest.raises(UnknownMetricError, match="gains of single labels have no known bounds for real-valued labels"):
        fastir.bounds(qrels, run, "ndcg(gains={1: 3})@3")
    with pytest.raises(ValueError, match=r"max_label=0\.5, but the qrels have the label 0\.92 \(query 'q'\)"):
        fastir.bounds(qrels, run, "ndcg@3", max_label=0.5)
    with pytest.raises(ValueError, match=r"^max_label must be a number above 0 and at most 2147483647, got 0\.0$"):
        fastir.bounds(qrels, run, "ndcg@3", max_label=0.0)
    with pytest.raises(ValueError, match=r"convention 'beir': label 2.5 is not an integer"):
        fastir.bounds({"q": {"a": 1}}, run, "ndcg@3", max_label=2.5, convention="beir")
