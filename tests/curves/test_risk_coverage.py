"""risk_coverage: a slow twin, MTEB's areas, certainties of every form, and what is refused."""

import math
import random
import re
import statistics

import numpy as np
import pytest
from functions_of_packages import functions_of

import fastir
from fastir.compat import mteb

QUIET = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
QRELS = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}, "q4": {"a": 1}}
RUN = {"q1": {"a": 9.0}, "q2": {"b": 2.0, "a": 1.0}, "q3": {"a": 5.0}, "q4": {"b": 4.0}}


def collection(n=37):
    rng = random.Random(n)
    qrels = {f"q{i}": {f"d{j}": 1 + j % 2 for j in rng.sample(range(6), 2)} for i in range(n)}
    run = {query: {f"d{j}": rng.randrange(8) / 4 for j in rng.sample(range(6), rng.randrange(1, 6))} for query in qrels}
    return qrels, run


def twin(values, sure):
    """The risk of each number of answered queries: equally sure ones share their mean."""
    shared = [statistics.fmean(v for v, s in zip(values, sure, strict=True) if s == mine) for mine in sure]
    ranked = [value for _, value in sorted(zip(sure, shared, strict=True), key=lambda pair: -pair[0])]
    return [1 - statistics.fmean(ranked[: n + 1]) for n in range(len(ranked))]


def certainties(run):
    """{name: a number for each query}, by hand."""
    scores = {query: sorted(docs.values(), reverse=True) for query, docs in run.items()}
    return {
        "max": [ranked[0] for ranked in scores.values()],
        "std": [float(np.std(list(docs.values()))) for docs in run.values()],
        "margin": [ranked[0] - ranked[1] if len(ranked) > 1 else 0.0 for ranked in scores.values()],
    }


@QUIET
@pytest.mark.parametrize("kind", ["max", "std", "margin"])
def test_risks_and_areas_are_those_of_the_twin_and_of_mteb(kind):
    qrels, run = collection()
    results = fastir.evaluate(qrels, run, ["ndcg@3", "mrr"], queries="qrels")
    values = list(results.per_query("ndcg@3").values())
    by_hand = certainties(run)[kind]
    curve = fastir.risk_coverage(results, "ndcg@3", kind, run=run)
    assert curve.risk.tolist() == pytest.approx(twin(values, by_hand), abs=1e-15)
    assert curve.coverage.tolist() == [(i + 1) / len(values) for i in range(len(values))]
    assert curve.aurc == pytest.approx(statistics.fmean(curve.risk))
    assert curve.e_aurc == pytest.approx(curve.aurc - statistics.fmean(twin(values, values)))
    theirs = mteb.evaluate_abstention(run, {"m": values})[f"nAUC_m_{'diff1' if kind == 'margin' else kind}"]
    assert curve.nauc == theirs
    for given in (by_hand, np.array(by_hand), dict(zip(reversed(results.query_ids), by_hand[::-1], strict=True))):
        assert fastir.risk_coverage(results, "ndcg@3", given) == curve
    assert fastir.risk_coverage(results, "ndcg@3", kind, run=fastir.Run.from_dict(run)) == curve


def numbers_of(version):
    """Stands in for the Version of the package packaging."""
    return [int(number) for number in re.findall(r"\d+", version)]


@QUIET
@pytest.mark.parametrize("kind", ["max", "std", "margin"])
def test_the_code_of_mteb_says_the_same(kind):
    """Its nauc and confidence_scores, of the package's file alone."""
    needed = ["_DEFAULT_ABSTENTION_RATES", "nauc", "confidence_scores"]
    _, nauc, confidence_scores = functions_of(
        "mteb", "_evaluators/retrieval_metrics.py", needed, np=np, Version=numbers_of,
        auc=lambda x, y: float(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2)),
    )  # fmt: skip
    for n in (1, 7, 37, 100):
        qrels, run = collection(n)
        results = fastir.evaluate(qrels, run, "ndcg@3", queries="qrels")
        word = "diff1" if kind == "margin" else kind
        sure = np.array([confidence_scores([*docs.values()])[word] for docs in run.values()])
        theirs = nauc(sure, np.array([*results.per_query("ndcg@3").values()]))
        ours = fastir.risk_coverage(results, "ndcg@3", kind, run=run).nauc
        assert ours == pytest.approx(theirs, rel=1e-12, nan_ok=True)


@QUIET
def test_the_best_order_has_no_excess_and_the_area_one():
    results = fastir.evaluate(*collection(), "mrr", queries="qrels")
    best = fastir.risk_coverage(results, "mrr", results.per_query("mrr"))
    assert best.e_aurc == 0.0 and best.nauc == pytest.approx(1.0)
    level = fastir.risk_coverage(results, "mrr", np.zeros(len(results.query_ids)))
    assert level.nauc == pytest.approx(0.0, abs=1e-12) and level.risk == pytest.approx(np.full(37, 1 - results["mrr"]))


@QUIET
def test_a_hand_example_and_its_table():
    curve = fastir.risk_coverage(fastir.evaluate(QRELS, RUN, "mrr"), "mrr", "max", run=RUN)
    assert curve.risk.tolist() == [0.0, 0.0, pytest.approx(1 / 3), pytest.approx(0.375)]
    assert repr(curve).startswith("mrr: nauc 0.8655, aurc 0.1771") and "coverage" in curve.to_table("csv")


@QUIET
def test_a_metric_whose_smaller_values_are_better_is_a_risk_itself():
    results = fastir.evaluate(QRELS, {**RUN, "q4": {}}, "false_abstention")
    curve = fastir.risk_coverage(results, "false_abstention", [4, 3, 2, 1])
    assert curve.risk.tolist() == [0.0, 0.0, 0.0, 0.25]


@QUIET
def test_queries_without_a_value_are_left_out_and_counted():
    results = fastir.evaluate(QRELS | {"u": {"z": 0}}, RUN | {"u": {"z": 1.0}}, "false_surface")
    curve = fastir.risk_coverage(results, "false_surface", "max", run=RUN | {"u": {"z": 1.0}})
    assert (curve.n_undefined, curve.risk.tolist()) == (4, [1.0]) and math.isnan(curve.nauc)


@QUIET
def test_an_empty_ranking_is_the_least_sure():
    run = {"q1": {"a": -9.0}, "q2": {"a": -8.0}, "q3": {}}
    results = fastir.evaluate(QRELS, run, "mrr", queries="qrels")
    assert fastir.risk_coverage(results, "mrr", "max", run=run).risk.tolist() == [0.0, 0.0, pytest.approx(1 / 3), 0.5]


@QUIET
def test_what_is_missing_or_wrong_is_named():
    results = fastir.evaluate(QRELS, RUN, "mrr")
    for certainty, run, message in (
        ("max", None, "give run="),
        ("largest", RUN, "certainty must be one of"),
        ([1, 2], None, "certainty has 2 entries but the results 4"),
        ({"q1": 1, "q2": 2, "q4": 1}, None, "certainty: query 'q3' has none"),
        ([1, 2, float("nan"), 4], None, "NaN for query 'q3'"),
        ([1, 2, 3, 4], RUN, "run has no effect"),
        ("max", {"q1": ["a", "b"], "q2": ["a"]}, "certainty='max' needs scores, and the run has ranks"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            fastir.risk_coverage(results, "mrr", certainty, run=run)
    with pytest.raises(KeyError):
        fastir.risk_coverage(results, "map", [1, 2, 3, 4])
    with pytest.raises(TypeError, match="results must be Results"):
        fastir.risk_coverage({"q1": 1.0}, "mrr", [1])
