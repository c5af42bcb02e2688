"""Bugs that others reported in 2025 and 2026, as cases of our own: each test's name says whose it was."""

import numpy as np
import pytest

import fastir

pytestmark = pytest.mark.filterwarnings("ignore:.*missing from the run", "ignore:.*no judged document")
QRELS = {f"q{i}": {f"d{i}": 1} for i in range(10)}
DOCS = [f"d{i}" for i in range(10)]


def test_mteb_4932_a_constant_scorer_has_the_whole_range_and_the_report_says_it():
    constant = {query: dict.fromkeys(DOCS, 0.5) for query in QRELS}
    with pytest.warns(fastir.FastirWarning, match="all scores of 10 queries are equal"):
        results = fastir.evaluate(QRELS, constant, "mrr", ties_report=True)
    ties = results.ties()["mrr"]
    assert (ties.lowest, ties.highest, ties.n_queries, ties.largest_group) == (0.1, 1.0, 10, 10)
    assert ties.expected == pytest.approx(sum(1 / rank for rank in range(1, 11)) / 10)
    assert results.report.queries_with_ties == 10


def test_mteb_4932_half_precision_makes_ties_that_a_full_precision_run_has_not():
    exact = {query: {doc: 0.9 + place / 10_000 for place, doc in enumerate(DOCS)} for query in QRELS}
    half = {query: dict(zip(DOCS, np.float16([*row.values()]).tolist(), strict=True)) for query, row in exact.items()}
    exact, half = (fastir.evaluate(QRELS, run, "mrr", ties_report=True).ties()["mrr"] for run in (exact, half))
    assert exact.range == 0 and half.range > 0.2


def test_second_brain_256_a_run_without_results_is_no_evaluation_and_failed_queries_count():
    with pytest.raises(fastir.NoOverlapError, match="the run is empty: no results, no queries"):
        fastir.evaluate(QRELS, {}, "recall@5")
    failed = fastir.evaluate(QRELS, {"q0": {"d0": 1.0}}, "recall@5")  # nine of ten queries failed
    assert failed["recall@5"] == 0.1 and failed.report.only_in_qrels == 9
    assert fastir.evaluate(QRELS, {query: {} for query in QRELS}, "recall@5")["recall@5"] == 0


def test_second_brain_256_the_ideal_does_not_shrink_to_what_came_back():
    found = fastir.evaluate({"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"a": 1.0}}, ["ndcg@10", "recall@10"])
    assert found["recall@10"] == 1 / 3 and found["ndcg@10"] == pytest.approx(1 / (1 + 1 / np.log2(3) + 1 / 2))


def test_ragas_2992_items_without_a_verdict_stay_in_the_denominator():
    rows = [{"query_id": "q", "nugget": "n1", "importance": "vital", "assignment": "support"}]
    expected = {"q": dict.fromkeys(["n1", "n2", "n3"], "vital")}
    with pytest.raises(ValueError, match="query 'q': nugget 'n2' has no verdict, and 1 more have none"):
        fastir.evaluate_nuggets(rows, "nugget_recall", expected=expected)
    found = fastir.evaluate_nuggets(rows, "nugget_recall", expected=expected, missing="zero")
    assert found["run"]["nugget_recall"] == 1 / 3
    judged = [{"query_id": "q", "sentence": 1, "citation": cited, "support": given} for cited, given in
              (("d", "FS"), ("e", None))]  # fmt: skip
    with pytest.raises(ValueError, match=r"citation 'e'.*has no verdict"):
        fastir.evaluate_citations(judged, "citation_precision")
    assert fastir.evaluate_citations(judged, "citation_precision", missing="zero")["run"]["citation_precision"] == 0.5


def test_rai_toolkit_58_one_passage_under_two_source_ids_counts_once():
    run, copies = {"q": {"p@x": 3.0, "p@y": 2.0, "r": 1.0}}, {"p@x": "p", "p@y": "p"}
    found = fastir.evaluate({"q": {"p": 1, "r": 1}}, run, ["recall@2", "precision@2", "num_ret"], parents=copies)
    assert found["recall@2"] == 1.0 and found["precision@2"] == 1.0 and found["num_ret"] == 2


@pytest.mark.parametrize("test", ["t", "randomization", "bootstrap", "wilcoxon", "sign"])
def test_truescore_identical_runs_do_not_differ(test):
    run = {query: {"x": 2.0, doc: 1.0} for query, doc in zip(QRELS, DOCS, strict=True)}
    pair = fastir.compare(QRELS, {"a": run, "b": run}, "mrr", test=test).pairs[0]
    assert (pair.p_value, pair.difference, pair.low, pair.high) == (1.0, 0, 0, 0)
    assert pair.note == "all differences are 0"


def test_search_relevance_109_a_grid_of_weights_has_both_ends_and_every_step():
    right = {query: {doc: 2.0, "x": 1.0} for query, doc in zip(QRELS, DOCS, strict=True)}
    wrong = {query: {doc: 1.0, "x": 2.0} for query, doc in zip(QRELS, DOCS, strict=True)}
    tuned = fastir.tune(QRELS, {"a": wrong, "b": right}, "mrr", method="wsum")
    weights = sorted(trial.weights["a"] for trial in tuned.trials)
    assert weights[0] == 0.0 and weights[-1] == 1.0
    assert np.allclose(np.diff(weights), weights[1], atol=1e-12)  # no step is left out


def test_search_relevance_407_a_relevant_document_that_nobody_retrieved_can_lower_ndcg():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 2.0, "b": 1.0}}
    retrieved = fastir.bounds(qrels, run, "ndcg@2", max_label=3)
    unseen = fastir.bounds(qrels, run, "ndcg@2", max_label=3, unseen=1)
    worst = fastir.evaluate({"q": {"a": 1, "elsewhere": 3, "b": 0}}, run, "ndcg@2")["ndcg@2"]
    assert unseen.lower["ndcg@2"] <= worst < 0.3 < retrieved.lower["ndcg@2"]
    assert fastir.evaluate(qrels, run, "ndcg@2")["ndcg@2"] == 1


def test_qmd_223_a_metric_without_a_cutoff_is_named_apart_from_one_with_it():
    run = {"q": {f"x{place}": 20.0 - place for place in range(11)} | {"a": 1.0}}
    found = fastir.evaluate({"q": {"a": 1}}, run, ["mrr", "mrr@10", "recall@10"])
    assert dict(found) == {"mrr": 1 / 12, "mrr@10": 0.0, "recall@10": 0.0}


def test_gbrain_4607_duplicates_in_the_gold_list_count_once_and_are_counted():
    found = fastir.evaluate_lists([["a", "b"]], [["a", "a", "c"]], ["recall@2", "num_rel"])
    assert found["recall@2"] == 0.5 and found["num_rel"] == 2
    assert found.report.repairs == {"relevant ids listed twice": (1, "query 0")}


def test_an_empty_run_is_an_error_and_an_empty_ranking_is_0():
    with pytest.raises(fastir.NoOverlapError, match="the run is empty"):
        fastir.evaluate({"q": {"a": 1}}, {}, "ndcg@10")
    assert fastir.evaluate({"q": {"a": 1}}, {"q": {}}, "ndcg@10")["ndcg@10"] == 0


def test_inspect_ai_1251_a_question_that_is_asked_ten_times_is_one_question():
    once = [0.2, 0.9, 0.4, 0.7]
    values = {f"q{question}_{turn}": value for question, value in enumerate(once) for turn in range(10)}
    questions = {query: query.partition("_")[0] for query in values}
    ids = [*values]
    qrels = {query: {"a": 1} for query in ids}
    run = {query: {"a": 1.0} for query in ids}
    metric = fastir.custom_metric("worth", lambda judged: np.array([values[query] for query in judged.query_ids]))
    results = fastir.evaluate(qrels, run, [metric])
    clustered = results.interval("worth", method="t", clusters=questions)
    one_each = fastir.stats.t_interval(once)
    assert clustered == pytest.approx((one_each.low, one_each.high))
    with pytest.warns(fastir.FastirWarning, match="look like 10 repeats of each of 4 questions"):
        naive = results.interval("worth", method="t")
    assert naive[1] - naive[0] < (clustered[1] - clustered[0]) / 3
