"""Bad input of what goes beyond relevant or not: an error that names query and document, or a count in the report."""

import math
import pickle

import numpy as np
import pytest

import fastir
from fastir import stats

QRELS, RUN = {"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 2.0, "x": 1.0}, "q2": {"b": 2.0}}
GROUPS, TARGET = {"a": {"m": 1}, "x": {"f": 1}}, {"m": 0.5, "f": 0.5}
COSTS = {"a": 1, "b": 1, "x": 1}
ONE_EACH = {"q1": "first", "q2": "second"}


def evaluate(metric, **options):
    return lambda: fastir.evaluate(QRELS, RUN, metric, **options)


def nuggets(*rows, metric="nugget_recall", **options):
    """Rows that differ from a good one by what is given."""
    good = {"query_id": "q1", "run": "r", "nugget": "n", "importance": "vital", "assignment": "support"}
    return lambda: fastir.evaluate_nuggets([good | row for row in rows], metric, **options)


def citations(*rows, **options):
    good = {"query_id": "q1", "run": "r", "sentence": 1, "citation": "d", "support": "FS"}
    return lambda: fastir.evaluate_citations([good | row for row in rows], "citation_recall", **options)


def certainty(given, **options):
    return lambda: fastir.risk_coverage(evaluate("mrr")(), "mrr", given, **options)


def exposure(doc_groups=GROUPS, target=TARGET):
    return evaluate("awrf@2", doc_groups=doc_groups, target=target)


REFUSED = {
    # sets and hops
    "a set without members": (lambda: fastir.Qrels.from_sets({"q1": [["a"], []]}), "'q1': set 2 has no documents"),
    "a hop without members": (lambda: fastir.Qrels.from_hops({"q1": [[]]}), "query 'q1': hop 1 has no documents"),
    "a query without sets": (lambda: fastir.Qrels.from_sets({"q1": []}), "query 'q1' has no sets"),
    "a member twice": (lambda: fastir.Qrels.from_sets({"q": [["a", "a"]]}), "query 'q': set 1 has document 'a' twice"),
    # an id in two roles
    "forbidden and relevant": (
        evaluate("forbidden_hits@5", forbidden={"q1": ["x"], "q2": ["b"]}),
        "query 'q2': document 'b' is forbidden, and relevant with the label 1",
    ),
    "forbidden and in a set": (
        lambda: fastir.evaluate(fastir.Qrels.from_sets({"q1": [["b"]]}), RUN, "leak_recall", forbidden={"q1": ["b"]}),
        "query 'q1': document 'b' is forbidden, and relevant",
    ),
    "a level for both": (evaluate("leak_recall", forbidden_level=1), "forbidden_level must be below rel_level=1"),
    "unanswerable and relevant": (
        evaluate("false_surface", unanswerable=["q1"]),
        "query 'q1' is unanswerable, and document 'a' is relevant to it with the label 1",
    ),
    "a document as number and text": (
        exposure({10: {"m": 1}, "10": {"f": 1}}), "document '10' is there twice, as an integer and as text",
    ),
    # clusters and certainty
    "no cluster": (lambda: evaluate("mrr")().interval("mrr", clusters={"q1": "x"}), "query 'q2' has no cluster"),
    "a cluster that is None": (
        lambda: evaluate("mrr")().interval("mrr", clusters={"q1": "x", "q2": None}), "query 'q2' has no cluster",
    ),
    "no certainty": (certainty({"q1": 1.0}), "certainty: query 'q2' has none"),
    "a certainty that is None": (certainty({"q1": 1.0, "q2": None}), "certainty: query 'q2' has none"),
    "a certainty that is NaN": (certainty([1.0, math.nan]), "certainty: NaN for query 'q2'"),
    "too few certainties": (certainty([1.0]), "certainty has 1 entries but the results 2"),
    "no run": (certainty("max"), "certainty='max' is of the scores of a run; give run="),
    "a value out of the range": (
        lambda: stats.confidence_sequence([0.5, 1.5], low=0, high=1), r"values\[1\] is 1.5; expected values from low=0",
    ),
    "a minimum that is NaN": (evaluate("mrr", min_score=math.nan), "min_score must be a number, got nan"),
    # nuggets and citations
    "another importance": (nuggets({"importance": "big"}), "row 0 .*nugget 'n'.*: expected vital or okay, got 'big'"),
    "another assignment": (nuggets({}, {"nugget": "m", "assignment": "meh"}), "row 1 .*query_id 'q1'.*, got 'meh'"),
    "another support": (citations({"support": "very"}), "row 0 .*query_id 'q1'.*citation 'd'.*, got 'very'"),
    "the same nugget twice": (nuggets({}, {}), "row 1 .*nugget 'n'.*: the nugget has a verdict already, in row 0"),
    "two verdicts of a nugget": (nuggets({}, {"assignment": "no"}), "row 1 .*: the nugget has a verdict already"),
    "the same citation twice": (citations({}, {}), "row 1 .*citation 'd'.*: the citation stands already in row 0"),
    "no verdict of a nugget": (nuggets({"assignment": None}), "run 'r', query 'q1': nugget 'n' has no verdict"),
    "no row of a nugget": (
        nuggets({}, expected={"q1": {"n": "vital", "m": "okay"}}), "run 'r', query 'q1': nugget 'm' has no verdict",
    ),
    "no row of a run": (
        nuggets({}, {"run": "s", "nugget": "m"}), "run 'r', query 'q1': nugget 'm' has no verdict, and 1 more",
    ),
    "no verdict of a citation": (citations({"support": None}), "row 0 .*citation 'd'.*: the citation has no verdict"),
    "another importance in the expected": (
        nuggets({}, expected={"q1": {"n": "huge"}}), "expected: row 0 .*nugget 'n'.*: expected vital or okay, got",
    ),
    # costs
    **{
        f"a cost of {cost}": (
            evaluate("recall(budget=2)", doc_costs=COSTS | {"x": cost}),
            f"a cost must be a finite number from 0 up, got {cost} .query q1, document x",
        )
        for cost in (-1, math.nan, math.inf)
    },
    "no cost": (evaluate("recall(budget=2)", doc_costs={"a": 1, "b": 1}), "document 'x' of query 'q1' has no cost"),
    "no cost in a query": (
        evaluate("cost_first_rel", doc_costs={"q1": COSTS, "q2": {"a": 1}}), "document 'b' of query 'q2' has no cost",
    ),
    # exposure
    "shares that miss 1": (exposure({"a": {"m": 0.5, "f": 0.4}}), "document 'a': the sum of its shares is 0.9, not 1"),
    "a negative share": (exposure({"a": {"m": 1.5, "f": -0.5}}), "document 'a', group '.': expected a share"),
    "a share that is NaN": (exposure({"a": {"m": math.nan}}), "document 'a', group 'm': expected a share .*, got nan"),
    "an empty target": (exposure(target={}), "target is empty: it has no share for any group"),
    "a target that misses 1": (exposure(target={"m": 0.5, "f": 0.2}), "target: the sum of its shares is 0.7, not 1"),
    "no target of a query": (exposure(target={"q1": TARGET}), "target: query 'q2' has none"),
    "a group without a target": (exposure({"a": {"z": 1}}), "document 'a' has the group 'z', which the target lacks"),
    "no groups": (exposure({}), "doc_groups are empty: no document has a group"),
    "groups without a target": (evaluate("awrf@2", doc_groups=GROUPS), "doc_groups needs target"),
    "a target without groups": (evaluate("awrf@2", target=TARGET), "target needs doc_groups"),
    # ties
    "no report of ties": (lambda: evaluate("mrr")().ties(), "evaluate with ties_report=True"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused_by_query_and_document(case):
    call, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(("call", "options"), [
    (nuggets, {"rows": ({}, {"nugget": "m", "assignment": None})}),
    (nuggets, {"rows": ({},), "expected": {"q1": {"n": "vital", "m": "vital"}}}),
    (citations, {"rows": ({}, {"sentence": 2, "support": None})}),
])  # fmt: skip
def test_what_has_no_verdict_counts_as_not_supported_with_missing_zero(call, options):
    rows = options.pop("rows")
    [value] = call(*rows, missing="zero", **options)()["r"].values.ravel()
    assert value == 0.5
    with pytest.raises(ValueError, match="missing must be one of 'error', 'zero', got 'empty'"):
        call(*rows, missing="empty", **options)()


@pytest.mark.parametrize("name", ["results", "values", "comparison"])
def test_clusters_of_one_query_each_are_allowed_and_said(name):
    scores = {"x": {"q1": 0.2, "q2": 0.4, "q3": 0.9}, "y": {"q1": 0.1, "q2": 0.5, "q3": 0.3}}
    each = {"q1": 1, "q2": 2, "q3": 3}
    calls = {
        "results": lambda: evaluate("mrr")().interval("mrr", method="t", clusters=ONE_EACH),
        "values": lambda: stats.t_interval([0.1, 0.5, 0.2], clusters=[1, 2, 3]),
        "comparison": lambda: fastir.compare_scores(scores, clusters=each),
    }
    with pytest.warns(fastir.FastirWarning, match="clusters has one (query|value): nothing is clustered"):
        calls[name]()


def test_one_cluster_with_a_single_query_is_nothing_special():
    mixed = stats.t_interval([0.1, 0.5, 0.2, 0.7], clusters=[1, 1, 2, 3])
    assert mixed.low < np.mean([0.1, 0.5, 0.2, 0.7]) < mixed.high


def test_forbidden_documents_of_unknown_queries_are_counted_in_the_report():
    evaluator = fastir.Evaluator(QRELS, "forbidden_hits@5", forbidden={"q1": ["x"], "q8": ["z"], "q9": ["y", "z"]})
    for each in (evaluator, pickle.loads(pickle.dumps(evaluator))):
        for run in (RUN, fastir.Run.from_dict(RUN)):
            results = each.evaluate(run)
            assert results.report.repairs == {"forbidden documents of queries without judgments": (3, "query q8")}
            assert results["forbidden_hits@5"] == 0.5


def test_sets_that_are_listed_twice_are_counted_in_the_report():
    qrels = fastir.Qrels.from_sets({"q1": [["a"], ["a"]]})
    assert fastir.evaluate(qrels, {"q1": RUN["q1"]}, "evidence_mrr").report.repairs == {
        "sets listed twice": (1, "query q1")
    }


@pytest.mark.filterwarnings("ignore:no document at these ranks has groups")
def test_documents_without_groups_leave_the_exposure_and_are_told_of():
    assert math.isnan(exposure({"z": {"m": 1}})()["awrf@2"])
    with pytest.warns(fastir.FastirWarning, match="no document at these ranks has groups; doc_groups have 'z'"):
        exposure({"z": {"m": 1}})()
