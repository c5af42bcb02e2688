"""evaluate_under_judge() and compare_under_judge(): estimates, intervals, options and errors."""

import math

import numpy as np
import pytest
from judged_by_both import HUMAN, JUDGE, METRICS, RUNS, TRUE, collection

import fastir
from fastir import stats


def test_if_humans_judged_everything_it_is_a_t_interval_of_their_values():
    found = fastir.evaluate_under_judge(JUDGE, TRUE, RUNS["a"], METRICS, n_draws=100)
    results = fastir.evaluate(TRUE, RUNS["a"], METRICS)
    for metric in METRICS:
        mean, plain = found.means[metric], stats.t_interval(list(results.per_query(metric).values()))
        assert found.per_query[metric] == pytest.approx(results.per_query(metric), abs=1e-12)
        assert mean[:3] == pytest.approx((results[metric], plain.low, plain.high), abs=1e-12)
        assert mean.human == pytest.approx(results[metric], abs=1e-12) and mean.df == 29


def test_the_same_holds_for_differences_and_their_t_test():
    pairs = fastir.compare_under_judge(JUDGE, TRUE, RUNS, METRICS, n_draws=100).pairs
    plain = fastir.compare(TRUE, RUNS, METRICS).pairs
    for pair, other in zip(pairs, plain, strict=True):
        assert (pair.metric, pair.a, pair.b) == (other.metric, other.a, other.b)
        assert (pair.estimate, pair.p_value) == pytest.approx((other.difference, other.p_value), rel=1e-9)


def test_the_values_beside_the_estimate_are_those_of_evaluate():
    found = fastir.evaluate_under_judge(JUDGE, HUMAN, RUNS["a"], METRICS, n_draws=100)
    for metric in METRICS:
        assert found.means[metric].naive == pytest.approx(fastir.evaluate(JUDGE, RUNS["a"], metric)[metric], abs=1e-12)
        assert found.means[metric].human == pytest.approx(fastir.evaluate(HUMAN, RUNS["a"], metric)[metric], abs=1e-12)


def test_estimates_are_nearer_to_the_truth_than_the_judge():
    off = {"estimate": [], "naive": []}
    covered = []
    for seed in range(12):
        truth, judge, human, runs = collection(100 + seed, n_queries=40)
        found = fastir.evaluate_under_judge(judge, human, runs["a"], METRICS, n_draws=100)
        results = fastir.evaluate(truth, runs["a"], METRICS)
        for metric, mean in found.means.items():
            for name, errors in off.items():
                errors.append((getattr(mean, name) - results[metric]) ** 2)
            covered.append(mean.low < results[metric] < mean.high)
    assert np.mean(off["estimate"]) < np.mean(off["naive"]) / 2
    assert np.mean(covered) > 0.9  # of the queries that were drawn, which is easier than of the population


def test_a_state_gives_the_same_numbers_on_any_number_of_threads():
    one, two, other = (
        fastir.compare_under_judge(JUDGE, HUMAN, RUNS, METRICS, n_draws=100, random_state=state, n_threads=n)
        for state, n in ((7, 1), (7, 2), (8, 1))
    )
    assert one == two != other


def test_documents_without_a_judgment_stay_unjudged():
    run = {query: {**docs, "unknown": 99.0} for query, docs in RUNS["a"].items()}
    found = fastir.evaluate_under_judge(JUDGE, HUMAN, run, ["precision@1", "judged@2"], n_draws=100)
    assert found["precision@1"] == 0.0 and found["judged@2"] == 0.5


def test_human_labels_of_documents_that_the_judge_did_not_see_count():
    judge = {query: {doc: label for doc, label in docs.items() if doc != "d0"} for query, docs in JUDGE.items()}
    human = {query: {**HUMAN.get(query, {}), "d0": 1} for query in JUDGE}
    run = {query: {"d0": 1.0} for query in JUDGE}
    assert fastir.evaluate_under_judge(judge, human, run, "precision@1", n_draws=100)["precision@1"] == 1.0


def test_strata_take_up_errors_that_ranks_and_levels_do_not_show():
    """A judge that is right on short documents and reverses labels of long ones."""
    truth, _, _, runs = collection(3, n_queries=60, n_docs=20)
    judge = {
        query: {doc: label if int(doc[1:]) % 2 else 2 - label for doc, label in docs.items()}
        for query, docs in truth.items()
    }
    random = np.random.default_rng(0)
    human = {query: {doc: x for doc, x in docs.items() if random.random() < 0.3} for query, docs in truth.items()}
    strata = {query: {doc: int(doc[1:]) % 2 for doc in docs} for query, docs in truth.items()}
    true = fastir.evaluate(truth, runs["a"], "ndcg@5").per_query("ndcg@5")
    off = {}
    for name, given in (("none", None), ("strata", strata)):
        found = fastir.evaluate_under_judge(judge, human, runs["a"], "ndcg@5", strata=given, n_draws=200)
        off[name] = np.mean([abs(found.per_query["ndcg@5"][query] - value) for query, value in true.items()])
    assert off["strata"] < 0.7 * off["none"]


def test_queries_can_be_chosen_and_missing_ones_left_out():
    part = {query: docs for query, docs in RUNS["a"].items() if query != "q3"}
    zero = fastir.evaluate_under_judge(JUDGE, HUMAN, part, "mrr", n_draws=100, queries="qrels")
    left_out = fastir.evaluate_under_judge(JUDGE, HUMAN, part, "mrr", n_draws=100, queries="intersection")
    chosen = fastir.evaluate_under_judge(JUDGE, HUMAN, RUNS["a"], "mrr", n_draws=100, queries=["q1", "q2", "q5"])
    assert zero.per_query["mrr"]["q3"] == 0.0 and "q3" not in left_out.per_query["mrr"]
    assert list(chosen.per_query["mrr"]) == ["q1", "q2", "q5"] and chosen.means["mrr"].df == 2


def test_conventions_chunks_and_excluded_documents_are_read_as_evaluate_reads_them():
    run = {
        query: {f"{doc}#{n}": score - n for doc, score in docs.items() for n in (0, 1)}
        for query, docs in RUNS["a"].items()
    }
    parents = {chunk: chunk.partition("#")[0] for docs in run.values() for chunk in docs}
    options = {"convention": "trec_eval-10", "parents": parents, "exclude": {"q1": ["d1"]}}
    found = fastir.evaluate_under_judge(JUDGE, TRUE, run, ["map", "ndcg_cut_5"], n_draws=100, **options)
    results = fastir.evaluate(TRUE, run, ["map", "ndcg_cut_5"], **options)
    for metric in results:
        assert found.per_query[metric] == pytest.approx(results.per_query(metric), abs=1e-12)


def test_p_values_are_corrected_within_a_metric():
    runs = {**RUNS, "c": RUNS["a"]}
    pairs = fastir.compare_under_judge(JUDGE, HUMAN, runs, ["map", "mrr"], n_draws=100).pairs
    for metric in ("map", "mrr"):
        family = [pair for pair in pairs if pair.metric == metric]
        p = [pair.p_value for pair in family]
        assert [pair.corrected for pair in family] == stats.adjust(p, "holm").tolist()
    same = next(pair for pair in pairs if (pair.a, pair.b) == ("a", "c"))
    assert (same.estimate, same.standard_error, same.p_value) == (0.0, 0.0, 1.0)


def test_a_single_query_has_an_estimate_without_an_interval():
    judge, human = {"q": JUDGE["q1"]}, {"q": {doc: JUDGE["q1"][doc] for doc in list(JUDGE["q1"])[:19]}}
    mean = fastir.evaluate_under_judge(judge, human, {"q": RUNS["a"]["q1"]}, "mrr", n_draws=100).means["mrr"]
    assert 0 < mean.estimate <= 1 and math.isnan(mean.low) and math.isnan(mean.high) and mean.df == 0


def test_it_prints_what_judge_and_humans_said():
    found = fastir.evaluate_under_judge(JUDGE, HUMAN, RUNS["a"], METRICS, n_draws=100)
    text = str(found)
    assert "95% interval" in text and "Judge 2: humans said" in text and "100 draws" in text
    assert found.to_json(per_query=False).count("estimate") == len(METRICS)
    row = found.answers[0]
    assert row.both == sum(row.counts.values()) and sum(row.shares.values()) == pytest.approx(1.0)
    compared = fastir.compare_under_judge(JUDGE, HUMAN, RUNS, METRICS, n_draws=100)
    assert "p (Holm)" in str(compared) and '"pairs"' in compared.to_json()


FAULTS = {
    "no query in common": ({"x": {"d": 1}}, {}, "judge and humans have no query in common: the judge has"),
    "no pair in common": (
        {query: {f"other{doc}": label for doc, label in docs.items()} for query, docs in HUMAN.items()}, {},
        "no pair of query and document is judged by both; expected 5 or more for each level of the judge",
    ),
    "a level without pairs": (
        {q: {d: x for d, x in docs.items() if JUDGE[q][d] != 2} for q, docs in HUMAN.items()}, {},
        "level 2 of the judge: humans judged no pair of it, .* such as query 'q.*', document 'd.*'; .* so 5 more are",
    ),
    "a fraction": ({"q1": {"d1": 0.5}}, {}, "human_qrels: label 0.5 of query q1, document d1 is no whole number"),
    "a stratum without a pair": (HUMAN, {"strata": {"q0": {}}}, "strata: query 'q0', document 'd0' has no stratum"),
    "a small stratum": (
        HUMAN, {"strata": {q: {d: "tail" if q + d == "q0d0" else "head" for d in docs} for q, docs in JUDGE.items()}},
        "stratum 'tail': humans judged (no|only 1) pair",
    ),
    "an unknown word": (HUMAN, {"strata": "ranks"}, "strata must be None, 'level' or"),
    "labels order": (HUMAN, {"ties": "optimistic"}, "orders equal scores by labels"),
    "few draws": (HUMAN, {"n_draws": 10}, "n_draws"),
    "another mean": (HUMAN, {"metrics": "gm_map"}, "is a geometric"),
    "no confidence": (HUMAN, {"confidence": 2}, "confidence"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_wrong_is_an_error_that_says_what_is_needed(fault):
    human, options, message = FAULTS[fault]
    if fault == "a small stratum" and "d0" in HUMAN["q0"]:
        human = {**HUMAN, "q0": {doc: label for doc, label in HUMAN["q0"].items() if doc != "d0"}}
    metrics = options.get("metrics", "map")
    options = {name: value for name, value in options.items() if name != "metrics"}
    with pytest.raises((ValueError, TypeError), match=message):
        fastir.evaluate_under_judge(JUDGE, human, RUNS["a"], metrics, **options)


def test_groups_custom_metrics_and_single_runs_are_refused():
    with pytest.raises(TypeError, match="judge_qrels has groups or preferences"):
        fastir.evaluate_under_judge({"q1": {"s1": {"d1": 1}}}, HUMAN, RUNS["a"], "map")
    custom = fastir.custom_metric("mine", lambda judged: np.zeros(len(judged)))
    with pytest.raises(TypeError, match="custom metric"):
        fastir.evaluate_under_judge(JUDGE, HUMAN, RUNS["a"], custom)
    with pytest.raises(ValueError, match="at least two runs"):
        fastir.compare_under_judge(JUDGE, HUMAN, {"a": RUNS["a"]}, "map")
    with pytest.raises(Exception, match="run 'b'"):
        fastir.compare_under_judge(JUDGE, HUMAN, {"a": RUNS["a"], "b": {"q1": {"d1": math.nan}}}, "map")
