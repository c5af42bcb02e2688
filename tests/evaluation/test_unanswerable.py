"""Queries whose right answer is nothing: a twin of the metrics, which queries count, and what is refused."""

import pickle
import random

import numpy as np
import pytest

import fastir

METRICS = ["surfaced", "false_surface", "false_abstention"]
QRELS = {"a1": {"x": 1}, "a2": {"y": 2}, "u1": {"x": 0}, "u2": {}}
RUN = {"a1": {"x": 0.9, "y": 0.4}, "a2": {"y": 0.3}, "u1": {"x": 0.2}, "u2": {"z": 0.8}}
QUIET = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")


def twin(qrels, run, least, unanswerable=None):
    """The three means, query by query."""
    shown = {query: float(any(score >= least for score in run.get(query, {}).values())) for query in qrels}
    answerable = [query for query, labels in qrels.items() if any(label >= 1 for label in labels.values())]
    others = [query for query in qrels if query not in answerable] if unanswerable is None else unanswerable
    means = [list(shown.values()), [shown[query] for query in others], [1 - shown[query] for query in answerable]]
    return [sum(values) / len(values) if values else np.nan for values in means]


@QUIET
@pytest.mark.parametrize("least", [0.0, 0.3, 0.35, 0.85, 2.0])
def test_means_are_those_of_the_twin_over_one_kind_of_queries(least):
    rng = random.Random(1)
    qrels = {f"q{i}": {f"d{j}": rng.randrange(-1, 2) for j in range(rng.randrange(3))} for i in range(40)}
    run = {query: {f"d{j}": rng.random() for j in range(rng.randrange(4))} for query in list(qrels)[:36]}
    for judged, ranked in ((QRELS, RUN), (qrels, run)):
        for container in (ranked, fastir.Run.from_dict(ranked)):
            results = fastir.evaluate(judged, container, METRICS, min_score=least, queries="qrels")
            assert [results[name] for name in METRICS] == pytest.approx(twin(judged, ranked, least), nan_ok=True)


@QUIET
def test_both_rates_are_defined_for_the_queries_of_their_kind_alone():
    results = fastir.evaluate(QRELS, RUN, METRICS, min_score=0.35)
    nan = np.nan
    assert np.array_equal(results.values, [[1, nan, 0], [0, nan, 1], [0, 0, nan], [1, 1, nan]], equal_nan=True)


@QUIET
def test_an_always_silent_system_and_one_that_always_answers_are_told_apart_by_the_pair():
    silent, eager = (fastir.evaluate(QRELS, RUN, METRICS, min_score=least) for least in (2.0, 0.0))
    assert (silent["false_surface"], silent["false_abstention"]) == (0.0, 1.0)
    assert (eager["false_surface"], eager["false_abstention"]) == (1.0, 0.0)


@QUIET
def test_named_queries_alone_count_and_missing_ones_are_added(tmp_path):
    path = tmp_path / "unanswerable.txt"
    path.write_text("u1\nu3\n")
    run = RUN | {"u3": {"z": 0.9}}
    for named in (["u1", "u3"], {"u1", "u3"}, np.array(["u1", "u3"]), path):
        results = fastir.evaluate(QRELS, run, [*METRICS, "num_q"], min_score=0.35, unanswerable=named)
        assert results.query_ids == [*QRELS, "u3"] and results["num_q"] == 5
        assert results.per_query("false_surface")["u3"] == 1.0
        assert np.isnan(results.per_query("false_surface")["u2"])
        assert results["false_surface"] == 0.5 and results["false_abstention"] == 0.5
    evaluator = fastir.Evaluator(QRELS, METRICS, unanswerable=["u1", "u3"], min_score=0.35)
    assert dict(pickle.loads(pickle.dumps(evaluator)).evaluate(run)) == dict(evaluator.evaluate(run))
    many = fastir.evaluate_many(QRELS, {"a": run}, METRICS, unanswerable=["u1", "u3"], min_score=0.35)
    assert many["a"]["false_surface"] == 0.5
    by_number = fastir.evaluate({1: {"x": 1}}, {1: {"x": 1.0}, 2: {"x": 1.0}}, METRICS, unanswerable=["2"])
    assert by_number.query_ids == [1, 2] and by_number["false_surface"] == 1.0


@QUIET
def test_metrics_of_the_callers_own_stand_beside_them():
    metric = fastir.custom_metric("n", lambda judged: judged.num_ret / 1.0)
    results = fastir.evaluate(QRELS, RUN, ["false_surface", metric], unanswerable=["u1"])
    assert results["false_surface"] == 1.0 and np.isnan(results.per_query("false_surface")["u2"])


def test_what_contradicts_itself_or_cannot_be_is_refused():
    with pytest.raises(ValueError, match="query 'a1' is unanswerable, and document 'x' is relevant"):
        fastir.evaluate(QRELS, RUN, METRICS, unanswerable=["a1"])
    for odd in ("", 3):
        with pytest.raises((TypeError, OSError), match=r"unanswerable|directory|file"):
            fastir.evaluate(QRELS, RUN, METRICS, unanswerable=odd)
    for odd in (None, 3.5):
        with pytest.raises(TypeError, match="unanswerable: a query id must be a str or an int, got"):
            fastir.evaluate(QRELS, RUN, METRICS, unanswerable=[odd])
    with pytest.raises(ValueError, match="unanswerable: parts are not put together"):
        fastir.Evaluator(QRELS, METRICS, unanswerable=["u1"]).partial(RUN)
    for call in (fastir.bounds, fastir.precision_recall_curve):
        with pytest.raises(TypeError, match="unanswerable"):
            call(QRELS, RUN, unanswerable=["u1"], **({"metrics": "map"} if call is fastir.bounds else {}))
    groups = {"q": {"s1": {"a": 1}}}
    with pytest.raises(TypeError, match="unanswerable queries go with labels"):
        fastir.evaluate(groups, {"q": {"a": 1.0}}, "alpha_ndcg@5", unanswerable=["u"])


@QUIET
def test_a_score_drop_of_scorers_with_other_scales_shows_in_the_pair():
    """nexus-rag 845 and others: a threshold that was set for one scorer silences another one."""
    rescaled = {query: {doc: score / 10 for doc, score in docs.items()} for query, docs in RUN.items()}
    before, after = (fastir.evaluate(QRELS, run, METRICS, min_score=0.25) for run in (RUN, rescaled))
    assert before["false_abstention"] == 0.0 and after["false_abstention"] == 1.0
    assert after["false_surface"] < before["false_surface"]
