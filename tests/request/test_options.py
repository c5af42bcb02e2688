"""Options are one record: every public signature has them, and equal requests are equal records."""

import functools
import inspect
import pickle
import re
import types

import numpy as np
import pytest

import fastir
from fastir.evaluation import evaluator, labels, matrix
from fastir.request.options import check_options

QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}}
RUN = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"x": 1.0, "c": 0.5}}
NUGGETS = [{"query_id": "q", "nugget": "n", "importance": "vital", "assignment": "support"}]
CITATIONS = [{"query_id": "q", "sentence": 1, "citation": "d", "support": "FS"}]
DEFAULTS = {n: param.default for n, param in inspect.signature(check_options).parameters.items() if n != "choices"}


def test_the_signature_of_an_evaluator_has_the_fields_of_the_record():
    parameters = inspect.signature(fastir.Evaluator).parameters
    assert {name: param.default for name, param in parameters.items() if name in DEFAULTS} == DEFAULTS


GIVEN = {
    "convention": "ranx", "rel_level": 2, "queries": "intersection", "ties": "optimistic",
    "judged_only": True, "max_depth": 3, "min_score": 0.5, "score_dtype": "float32", "n_threads": 1,
    "duplicates": "first", "validate": "judged",
}  # fmt: skip


@pytest.mark.parametrize(("module", "function", "data"), [
    (evaluator, fastir.evaluate, (QRELS, RUN, "mrr")),
    (evaluator, fastir.Evaluator, (QRELS, "mrr")),
    (labels, fastir.evaluate_ranked, ([2, 1], [0, 2], "mrr")),
    (labels, fastir.evaluate_scores, ([2, 1], [1.0, 2.0], "mrr")),
    (matrix, fastir.evaluate_matrix, ([[1.0, 2.0]], [[0]], "mrr")),
    (matrix, functools.partial(fastir.evaluate_topk, scores=[[2.0, 1.0]]), ([[1, 0]], [[0]], "mrr")),
], ids=["evaluate", "Evaluator", "ranked", "scores", "matrix", "topk"])  # fmt: skip
def test_every_option_of_a_signature_reaches_the_record(monkeypatch, module, function, data):
    records = []

    def kept(**given):
        records.append(check_options(**given))
        return records[-1]

    monkeypatch.setattr(module, "check_options", kept)
    declared = fastir.Evaluator if function is fastir.evaluate else function
    own = {name: GIVEN[name] for name in inspect.signature(declared).parameters if name in DEFAULTS}
    assert all(own[name] != DEFAULTS[name] for name in own)
    function(*data, **own, empty="skip")
    assert {name: getattr(records[0], name) for name in own} == own
    assert records[0].choices == (("empty", "skip"),)


@pytest.mark.parametrize("options", [{"n_threads": 1, "rel_level": 2}, {"convention": "ir_measures", "empty": "skip"}])
def test_an_evaluator_is_pickled_with_its_options(options):
    evaluator = fastir.Evaluator(QRELS, ["mrr", "ndcg"], weights={"q1": 2.0, "q2": 1.0}, **options)
    again = pickle.loads(pickle.dumps(evaluator))
    assert again.rules.settings is evaluator.rules.settings
    assert dict(again.evaluate(RUN)) == dict(evaluator.evaluate(RUN))


def test_an_evaluator_of_several_rules_can_be_read_in_the_order_of_the_run():
    """ir_measures asks for reciprocal rank and judged@k under rules of their own."""
    from fastir.compat.pytrec_eval import RunOrder

    names = ["ndcg", "mrr@10", "judged@2"]
    run = {"q2": RUN["q2"], "unknown": {"a": 1.0}, "q1": RUN["q1"]}
    query_ids, values = RunOrder(fastir.Qrels.from_dict(QRELS), names, convention="ir_measures").values(run)
    expected = fastir.evaluate(QRELS, RUN, names, convention="ir_measures").to_dict()
    assert query_ids == ["q2", "q1"]
    assert [dict(zip(names, row, strict=True)) for row in values.tolist()] == [expected["q2"], expected["q1"]]
    assert RunOrder(fastir.Qrels.from_dict(QRELS), names, convention="ir_measures").values({"z": {}})[0] == []


@pytest.mark.parametrize("level", [0, -1, 0.0, -0.5, 1e300, 2**31, np.int64(0), np.float32(-1)])
def test_a_level_that_is_no_label_is_refused_with_the_range_of_labels(level):
    """A level may be a fraction, so no message says that it must be an integer or at least 1."""
    calls = {
        "rel_level": lambda: fastir.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "map", rel_level=level),
        "max_label": lambda: fastir.bounds({"q": {"a": 1}}, {"q": {"a": 1.0}}, "ndcg", max_label=level),
    }
    for name, call in calls.items():
        with pytest.raises(ValueError, match=f"{name} must be a number above 0 and at most 2147483647, got "):
            call()


@pytest.mark.parametrize("level", ["0.5", b"1", None, [1]])
def test_a_level_that_is_no_number_is_refused(level):
    with pytest.raises(TypeError, match="rel_level must be a number, got"):
        fastir.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "map", rel_level=level)


HUGE = {  # options that are floats, with a number that is too large for one
    "rbp": lambda: fastir.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "mrr", weights={"q": 10**400}),
    "doc_weights": lambda: fastir.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "psp", doc_weights={"a": 10**400}),
    "weights": lambda: fastir.fuse([{"q": {"a": 1.0}}] * 2, "wsum", run_weights=[1, 10**400]),
    "phi": lambda: fastir.fuse([{"q": {"a": 1.0}}] * 2, "rbc", phi=10**400),
    "high": lambda: fastir.custom_metric("own", len, high=10**400),
}


@pytest.mark.parametrize("name", HUGE)
def test_a_number_that_is_too_large_for_a_float_is_named(name):
    with pytest.raises(OverflowError, match=r"(weight|weights|phi|high).* too large for a float"):
        HUGE[name]()


def test_options_of_evaluate_that_a_call_does_not_take_are_not_unknown():
    runs = [{"q": {"a": 1.0}}, {"q": {"a": 2.0}}]
    for option in ("queries", "parents", "columns", "weights"):
        with pytest.raises(TypeError, match=f"this call does not take the option '{option}' of evaluate"):
            fastir.tune({"q": {"a": 1}, "p": {"a": 1}}, runs, "mrr", folds=2, **{option: None})


# ---- metrics as a mapping ------------------------------------------------------------------------------------------
CALLS = {  # of every public function with a parameter `metrics` or `metric`
    "Accumulator": fastir.Accumulator,
    "Evaluator": functools.partial(fastir.Evaluator, QRELS),
    "JudgedRankings.by_convention": lambda metrics: fastir.judged_rankings(QRELS, RUN).by_convention(metrics),
    "JudgedRankings.evaluate": lambda metrics: fastir.judged_rankings(QRELS, RUN).evaluate(metrics),
    "bounds": functools.partial(fastir.bounds, QRELS, RUN),
    "compare": functools.partial(fastir.compare, QRELS, {"a": RUN, "b": RUN}),
    "compare_under_judge": functools.partial(fastir.compare_under_judge, QRELS, QRELS, {"a": RUN, "b": RUN}),
    "compare_scores": lambda metrics: fastir.compare_scores({"a": fastir.evaluate(QRELS, RUN, "ndcg")}, metrics),
    "evaluate": functools.partial(fastir.evaluate, QRELS, RUN),
    "evaluate_lists": functools.partial(fastir.evaluate_lists, [["a"]], [["a"]]),
    "evaluate_many": functools.partial(fastir.evaluate_many, QRELS, {"a": RUN}),
    "evaluate_citations": functools.partial(fastir.evaluate_citations, CITATIONS),
    "evaluate_nuggets": functools.partial(fastir.evaluate_nuggets, NUGGETS),
    "evaluate_matrix": functools.partial(fastir.evaluate_matrix, [[1.0, 2.0]], [[0]]),
    "evaluate_ranked": functools.partial(fastir.evaluate_ranked, [1, 0], [0, 2]),
    "evaluate_under_judge": functools.partial(fastir.evaluate_under_judge, QRELS, QRELS, RUN),
    "evaluate_scores": functools.partial(fastir.evaluate_scores, [1, 0], [2.0, 1.0]),
    "evaluate_topk": functools.partial(fastir.evaluate_topk, [[0, 1]], [[0]]),
    "explain": functools.partial(fastir.explain, QRELS, RUN, "q1"),
    "explain_conventions": lambda metrics: fastir.explain_conventions(QRELS, RUN, "q1", metrics, ("beir", "ranx")),
    "explain_ranked": functools.partial(fastir.explain_ranked, [1, 0]),
    "leave_one_out": lambda metrics: fastir.leave_one_out(QRELS, {"a": RUN, "b": RUN}, metrics),
    "metric": fastir.metric,
    "rank_correlation": functools.partial(fastir.rank_correlation, {"a": 0.5, "b": 0.4}, {"a": 0.5, "b": 0.4}),
    "similarity": functools.partial(fastir.similarity, RUN, RUN),
    "to_judge": lambda metrics: fastir.to_judge(QRELS, {"a": RUN, "b": RUN}, metric=metrics, budget=1),
    "risk_coverage": lambda metric: fastir.risk_coverage(fastir.evaluate(QRELS, RUN, "ndcg"), metric, "max", run=RUN),
    "tune": functools.partial(fastir.tune, QRELS, {"a": RUN, "b": RUN}),
    "write_report": lambda metrics: fastir.write_report(QRELS, {"a": RUN}, metrics, "unused.html"),
}
MAPPINGS = [
    ({"ndcg": 10}, "write 'ndcg@10'"),
    ({"ndcg@10": 1}, "write a cutoff behind the name, as in 'ndcg@10'"),
    ({"ndcg": [5, 10], "map": 100}, "write 'ndcg@5', 'ndcg@10', 'map@100'"),
    (types.MappingProxyType({"ndcg": 10}), "write 'ndcg@10'"),
    ({"ndcg@10": 0.5}, "write a cutoff behind the name, as in 'ndcg@10'"),
]


def test_every_function_with_metrics_is_called_with_a_mapping():
    functions = {name: getattr(fastir, name) for name in fastir.__all__ if name[0].islower()}
    asked = {
        name
        for name, function in functions.items()
        if callable(function) and {"metrics", "metric"} & inspect.signature(function).parameters.keys()
    }
    assert asked <= CALLS.keys(), asked - CALLS.keys()


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(("metrics", "words"), MAPPINGS)
def test_metrics_as_a_mapping_are_refused_with_the_names_to_write(name, metrics, words):
    with pytest.raises(TypeError, match=re.escape(words)):
        CALLS[name](metrics)


def test_a_mapping_without_values_is_an_ordered_set_of_metrics():
    assert fastir.evaluate(QRELS, RUN, dict.fromkeys(["ndcg", "map"])).names == ["ndcg", "map"]
