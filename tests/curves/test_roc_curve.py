"""The ROC curve: its points are scikit-learn's, its area is auc, and its mean is over the queries that have one."""

import math
import random

import numpy as np
import pytest
from common import UNEVEN

import fastir

pytestmark = UNEVEN
RNG = random.Random(2)
QRELS = {f"q{i}": {f"d{j}": RNG.choice((-1, 0, 1, 2)) for j in range(RNG.randrange(4, 20))} for i in range(30)}
RUN = {query: {doc: float(RNG.randrange(9)) for doc in [*docs, "x", "y"]} for query, docs in QRELS.items()}


def area(points):
    """By trapezoids; tests and slow twins share no code with the package."""
    x, y = points.false_positive_rate.tolist(), points.true_positive_rate.tolist()
    return math.fsum((x[i + 1] - x[i]) * (y[i] + y[i + 1]) / 2 for i in range(len(x) - 1))


@pytest.mark.parametrize("options", [
    {}, {"rel_level": 2}, {"ties": "average"}, {"ties": "doc_id_asc", "max_depth": 5},
    {"judged_only": True}, {"one_class": "zero"},
    {"weights": {query: 1.0 + (query < "q2") for query in QRELS}},
], ids=str)  # fmt: skip
def test_its_area_is_auc(options):
    curve = fastir.roc_curve(QRELS, RUN, **options)
    results = fastir.evaluate(QRELS, RUN, "auc", **options)
    values = results.per_query("auc")
    assert curve.area() == results["auc"] and {query: curve.area(query) for query in QRELS} == pytest.approx(
        values, nan_ok=True
    )
    drawn = {query: area(curve.at_ranks(query)) for query in QRELS}
    defined = {query: value for query, value in drawn.items() if value == value}
    assert len(defined) > 15 and defined == pytest.approx({query: values[query] for query in defined}, abs=1e-12)
    assert all(values[query] in (0.0, pytest.approx(math.nan, nan_ok=True)) for query in drawn if query not in defined)


def test_points_are_scikit_learns():
    metrics = pytest.importorskip("sklearn.metrics")
    curve = fastir.roc_curve(QRELS, RUN, ties="average")
    for query, scores in RUN.items():
        y = [int(QRELS[query].get(doc, 0) > 0) for doc in scores]
        false, true, _ = metrics.roc_curve(y, list(scores.values()), drop_intermediate=False)
        found = curve.at_ranks(query)
        expected = np.interp(found.false_positive_rate, false, true)
        steep = np.isin(found.false_positive_rate, false[:-1][np.diff(false) == 0])
        assert found.true_positive_rate[~steep] == pytest.approx(expected[~steep])
        for x, y in zip(false, true, strict=True):
            near = np.abs(found.false_positive_rate - x) + np.abs(found.true_positive_rate - y)
            assert near.min() < 1e-12, "a corner of scikit-learn's is a point here"


def test_a_small_curve():
    qrels, run = {"q": {"a": 1, "c": 1}}, {"q": dict(zip("abcd", (4.0, 3.0, 2.0, 1.0), strict=True))}
    curve = fastir.roc_curve(qrels, run, points=(0.25, 0.5, 1))
    false, true, rank = curve.at_ranks("q")
    assert (false.tolist(), true.tolist()) == ([0, 0, 0.5, 0.5, 1], [0, 0.5, 0.5, 1, 1])
    assert rank.tolist() == [0, 1, 2, 3, 4]
    assert curve.interpolated("q").true_positive_rate.tolist() == [0.5, 1, 1]
    tied = fastir.roc_curve(qrels, {"q": dict.fromkeys("abcd", 1.0)}, points=(0.25, 0.75), ties="average")
    assert tied.interpolated("q").true_positive_rate.tolist() == [0.25, 0.75] and tied.area() == 0.5


def test_the_mean_is_over_the_queries_that_have_a_curve():
    qrels = {**QRELS, "all": {"a": 1}, "none": {"a": 0}, "missing": {"a": 1}}
    run = {**RUN, "all": {"a": 1.0}, "none": {"a": 1.0}}
    curve = fastir.roc_curve(qrels, run)
    for query in ("all", "none", "missing"):
        assert np.isnan(curve.at_ranks(query).true_positive_rate).all() and math.isnan(curve.area(query))
    each = [curve.interpolated(query).true_positive_rate for query in QRELS]
    each = [rates for rates in each if not np.isnan(rates).any()]
    assert curve.interpolated().true_positive_rate == pytest.approx(np.mean(each, axis=0))
    weights = {query: 1.0 + place % 3 for place, query in enumerate(qrels)}
    weighted = fastir.roc_curve(qrels, run, weights=weights)
    kept = [query for query in QRELS if not math.isnan(curve.area(query))]
    expected = np.average(each, axis=0, weights=[weights[query] for query in kept])
    assert weighted.interpolated().true_positive_rate == pytest.approx(expected)
    fine = fastir.roc_curve(qrels, run, points=np.linspace(0, 1, 2001))
    assert area(fine.interpolated()) == pytest.approx(fine.area(), abs=2e-3)
    alone = fastir.roc_curve({"none": {"a": 0}}, {"none": {"a": 1.0}})
    assert math.isnan(alone.area()) and np.isnan(alone.interpolated().true_positive_rate).all()


def test_bad_points_and_queries():
    with pytest.raises(ValueError, match=r"points: a rate is a number from 0 to 1, got 1\.5"):
        fastir.roc_curve(QRELS, RUN, points=(0.5, 1.5))
    with pytest.raises(ValueError, match="points must be"):
        fastir.roc_curve(QRELS, RUN, points=(-0.5,))
    with pytest.raises(KeyError, match="query 'q99' was not evaluated"):
        fastir.roc_curve(QRELS, RUN).area("q99")
