"""Which queries of qrels and run met: counted in the report, warned of, or refused."""

import pytest

import fastir

QRELS = {"q2": {"a": 1, "b": 0}, "q1": {"c": 2}, "q0": {"d": 0}}
HALF = {"q0": {"d": 1.0}, "q9": {"a": 1.0}, "q2": {"b": 2.0, "a": 1.0}}  # lacks q1, has q9 besides


def test_by_default_every_query_of_the_qrels_counts_and_one_warning_says_what_is_missing():
    with pytest.warns(fastir.FastirWarning) as caught:
        results = fastir.evaluate(QRELS, HALF, ["mrr", "num_q", "num_rel", "num_ret"])
    assert dict(results) == {"mrr": 0.5 / 3, "num_q": 3, "num_rel": 2, "num_ret": 3}
    assert results.status == {"q2": "evaluated", "q1": "missing", "q0": "no_relevant"}
    assert len(caught) == 1 and "q1" in str(caught[0].message) and "q9" in str(caught[0].message)
    assert caught[0].filename == __file__


def test_the_warning_comes_once_per_call():
    evaluator = fastir.Evaluator(QRELS, ["mrr", "map"])
    for _ in range(2):
        with pytest.warns(fastir.FastirWarning) as caught:
            evaluator.evaluate(HALF)
        assert len(caught) == 1


def test_asked_for_all_queries_it_does_not_warn():
    results = fastir.evaluate(QRELS, HALF, "mrr", queries="qrels")
    assert results.query_ids == list(QRELS)
    assert results["mrr"] == 0.5 / 3


def test_the_intersection_keeps_the_order_of_the_qrels():
    results = fastir.evaluate(QRELS, HALF, ["mrr", "num_q", "num_rel"], queries="intersection")
    assert results.query_ids == ["q2", "q0"]
    assert dict(results) == {"mrr": 0.25, "num_q": 2, "num_rel": 1}
    assert results.values.shape == (2, 3)
    assert results.status == {"q2": "evaluated", "q0": "no_relevant"}


def test_strict_names_a_query_of_either_side():
    with pytest.raises(fastir.NoOverlapError, match="'q1' is missing from the run"):
        fastir.evaluate(QRELS, HALF, "mrr", queries="strict")
    extra = {**HALF, "q1": {"c": 1.0}}
    with pytest.raises(fastir.NoOverlapError, match="'q9' is missing from the qrels"):
        fastir.evaluate(QRELS, extra, "mrr", queries="strict")
    del extra["q9"]
    assert fastir.evaluate(QRELS, extra, "mrr", queries="strict")["mrr"] == 0.5


def test_no_query_in_common_shows_one_id_of_each_side():
    with pytest.raises(fastir.NoOverlapError, match=r"'q2'.*'301'"):
        fastir.evaluate(QRELS, {"301": {"a": 1.0}}, "mrr")


@pytest.mark.parametrize(("qrels", "run"), [({}, HALF), (QRELS, {})])
def test_an_empty_side_is_an_error(qrels, run):
    with pytest.raises(fastir.NoOverlapError, match="empty"):
        fastir.evaluate(qrels, run, "mrr")


def test_the_report_counts_what_met_and_what_did_not():
    with pytest.warns(fastir.FastirWarning, match="no judged document.*'q0'"):
        report = fastir.evaluate(QRELS, {**HALF, "q0": {"x": 1.0, "y": 0.5}}, "mrr", queries="qrels").report
    assert (report.in_both, report.in_both_example) == (2, "q2")
    assert (report.only_in_qrels, report.only_in_qrels_example) == (1, "q1")
    assert (report.only_in_run, report.only_in_run_example) == (1, "q9")
    assert (report.no_relevant, report.no_relevant_example) == (1, "q0")
    assert (report.nothing_judged, report.nothing_judged_example) == (1, "q0")
    assert report.unjudged_share == 2 / 4
    assert report.repairs == {}


def test_an_empty_ranking_is_not_a_missing_query():
    results = fastir.evaluate({"q": {"a": 1}, "r": {"a": 1}}, {"q": {}, "r": {"a": 1.0}}, ["P", "map", "num_ret"])
    assert results.status["q"] == "evaluated"
    assert results.to_dict()["q"] == {"P": 0.0, "map": 0.0, "num_ret": 0.0}
