"""What people write from memory of other tools works, or the error says how it is written here."""

import importlib.util
import inspect
import re

import numpy as np
import pytest

import fastir
from fastir.request import habits

QRELS = {"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d1": 1, "d4": 1}, "q3": {"d9": 1}}
RUN = {"q1": {"d1": 3.0, "d2": 2.5, "d3": 2.0}, "q2": {"d5": 9.0, "d4": 8.0, "d1": 7.0}, "q3": {"d8": 1.0, "d9": 0.5}}
OTHER = {query: {doc_id: -score for doc_id, score in row.items()} for query, row in RUN.items()}


def test_metrics_may_be_left_out_and_are_those_of_the_command():
    five = ["ndcg@10", "map", "mrr", "precision@10", "recall@100"]
    assert list(fastir.evaluate(QRELS, RUN).keys()) == five
    assert fastir.evaluate(QRELS, RUN) == fastir.evaluate(QRELS, RUN, five)
    assert list(fastir.evaluate_many(QRELS, {"a": RUN})["a"].keys()) == five
    assert fastir.compare(QRELS, {"a": RUN, "b": OTHER}).metrics == five


def test_a_dict_makes_qrels_and_a_run():
    assert fastir.Qrels(QRELS) == fastir.Qrels.from_dict(QRELS)
    assert fastir.Run(RUN) == fastir.Run.from_dict(RUN)
    for kind in (fastir.Qrels, fastir.Run):
        with pytest.raises(TypeError, match="is made by"):
            kind([("q", "d", 1)])
        with pytest.raises(TypeError, match="is made by"):
            kind()


def test_results_of_one_metric_are_a_number_and_have_one_column():
    results = fastir.evaluate(QRELS, RUN, "map")
    assert float(results) == results["map"]
    assert results.per_query() == results.per_query("map")
    two = fastir.evaluate(QRELS, RUN, "map,mrr")
    with pytest.raises(TypeError, match=r"2 metrics, map, mrr: results\[name\] reads one"):
        float(two)
    with pytest.raises(TypeError, match=r"2 metrics, map, mrr: per_query\(name\) reads one"):
        two.per_query()


@pytest.mark.parametrize("word", habits.RESULTS)
def test_an_attribute_that_results_do_not_have_says_what_does(word):
    results = fastir.evaluate(QRELS, RUN, "map")
    if not hasattr(type(results), word):
        with pytest.raises(AttributeError, match=re.escape(habits.RESULTS[word])):
            getattr(results, word)
    assert not hasattr(results, "__nothing__")
    with pytest.raises(AttributeError, match=r"no attribute '_nothing'$"):
        results._nothing  # noqa: B018


@pytest.mark.parametrize("word", habits.NAMES)
def test_a_name_that_the_package_does_not_have_says_what_it_is_here(word):
    if word not in fastir.__all__ and importlib.util.find_spec(f"fastir.{word}") is None:
        with pytest.raises(AttributeError, match=re.escape(habits.NAMES[word])):
            getattr(fastir, word)
        with pytest.raises(ImportError, match=re.escape(habits.NAMES[word])):
            exec(f"from fastir import {word}")


HINTS = {text for table in (habits.NAMES, habits.RESULTS, habits.OPTIONS, habits.METRICS) for text in table.values()}


@pytest.mark.parametrize("text", sorted(HINTS))
def test_what_a_hint_names_is_there(text):
    for path in re.findall(r"fastir(?:\.\w+)+", text):
        found = fastir
        for name in path.split(".")[1:]:
            found = getattr(found, name)
    for name in re.findall(r"(?:results|Results)\.(\w+)", text):
        assert hasattr(fastir.Results, name)


def test_misspelt_names_and_metrics_have_a_hint():
    with pytest.raises(AttributeError, match="did you mean 'evaluate'"):
        fastir.evalaute  # noqa: B018
    with pytest.raises(AttributeError, match=r"a metric is a name: fastir.evaluate\(qrels, run, 'ndcg'\)"):
        fastir.ndcg  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute '__wrapped__'$"):
        fastir.__wrapped__  # noqa: B018
    with pytest.raises(AttributeError, match="did you mean 'pytrec_eval'"):
        fastir.compat.pytrec  # noqa: B018
    with pytest.raises(ImportError, match="did you mean 'pytrec_eval'"):
        from fastir.compat import pytrec  # noqa: F401
    assert fastir.compat.sklearn.__name__ == "fastir.compat.sklearn"


@pytest.mark.parametrize("word", habits.OPTIONS)
def test_an_option_of_other_tools_says_what_it_is_here(word):
    with pytest.raises(TypeError, match=f"unknown option '{word}'"):
        fastir.evaluate(QRELS, RUN, "map", **{word: 1})


@pytest.mark.parametrize(("options", "hint"), [
    ({"k": 10}, "'ndcg@10'"), ({"per_query": True}, "per_query(metric)"), ({"ci": True}, "results.interval(metric)"),
    ({"relevance_level": 2}, "did you mean 'rel_level'"), ({"stat_test": "t"}, "it is 'test'"),
])  # fmt: skip
def test_the_options_that_people_try_first(options, hint):
    with pytest.raises(TypeError, match=re.escape(hint)):
        fastir.evaluate(QRELS, RUN, "ndcg", **options)


def test_options_of_rows_without_ids():
    labels, scores = np.array([1, 0, 2]), np.array([0.1, 0.5, 0.3])
    for name, hint in (("groups", "group="), ("query_id", "qid=")):
        with pytest.raises(TypeError, match=hint):
            fastir.evaluate_scores(labels, scores, "ndcg@2", **{name: [3]})


def test_runs_in_a_list_are_numbered():
    assert list(fastir.evaluate_many(QRELS, [RUN, OTHER], "map")) == ["1", "2"]
    assert fastir.compare(QRELS, [RUN, OTHER], "map").runs == ["1", "2"]


def test_tests_and_corrections_by_their_usual_words():
    for word in ("ttest", "student", "t-test"):
        assert fastir.compare(QRELS, [RUN, OTHER], "map", test=word).method.test == "t"
    with pytest.raises(ValueError, match="did you mean 'bonferroni'"):
        fastir.compare(QRELS, [RUN, OTHER], "map", correction="bonf")


def test_tuning_of_few_queries_has_a_fold_for_each():
    assert len(fastir.tune(QRELS, [RUN, OTHER], "map").folds) == 3
    with pytest.raises(ValueError, match="folds must be at most the number of queries, 3, got 4"):
        fastir.tune(QRELS, [RUN, OTHER], "map", folds=4)


def test_the_package_lists_what_people_call_and_types_stand_apart():
    from fastir import types

    assert {*types.__all__} < {*fastir.__all__}
    assert not {*types.__all__} & {*dir(fastir)}
    assert {"evaluate", "Evaluator", "Qrels", "Run", "types"} <= {*dir(fastir)}
    for name in types.__all__:
        assert getattr(types, name) is getattr(fastir, name)
    assert dir(types) == [*types.__all__, "__doc__"]
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        types.nothing  # noqa: B018


def test_several_runs_and_arguments_in_another_order_are_named():
    with pytest.raises(ValueError, match="run: it is a list of runs; evaluate_many and compare take several"):
        fastir.evaluate(QRELS, [RUN, OTHER], "map")
    with pytest.raises(ValueError, match="are qrels and runs swapped"):
        fastir.compare({"a": RUN, "b": OTHER}, QRELS, "map")


@pytest.mark.parametrize("name", ["beir", "lightgbm", "pytrec_eval", "sklearn", "trec_eval", "xgboost"])
def test_a_drop_in_lists_what_the_tool_has(name):
    module = getattr(fastir.compat, name)
    assert all(hasattr(module, member) for member in module.__all__)


@pytest.mark.parametrize("name", ["evaluate_many", "compare", "tune", "contributions", "to_judge"])
def test_qrels_in_the_place_of_runs_are_named_by_all_that_take_several(name):
    call = getattr(fastir, name)
    given = {"evaluate_many": ["map"], "compare": ["map"], "tune": ["map"], "contributions": [], "to_judge": ["map", 1]}
    with pytest.raises(ValueError, match=r"runs is \{query: \{document: number\}\}.* are qrels and runs swapped"):
        call({"a": RUN, "b": OTHER}, QRELS, *given[name])


def test_a_module_of_the_package_is_found_without_a_message():
    from fastir import errors, rendering

    assert (errors.__name__, rendering.__name__) == ("fastir.errors", "fastir.rendering")
    with pytest.raises(AttributeError, match=r"has no attribute '_nothing'$"):
        fastir.compat._nothing  # noqa: B018


@pytest.mark.parametrize("word", habits.METRICS)
def test_a_metric_that_fastir_does_not_have_says_what_comes_near(word):
    with pytest.raises(fastir.UnknownMetricError, match=re.escape(habits.METRICS[word])):
        fastir.evaluate(QRELS, RUN, f"{word}@5")


def test_names_of_metrics_in_hints_are_metrics():
    for name in ("alpha_ndcg", "st_recall", "map(ap_norm=hits)@5", "recall(recall_norm=min_kR)@5", "f_beta(beta=0.5)"):
        assert fastir.metric(name)


# ---- every option that people try, in every call that takes options --------------------------------------------------
WORDS = {  # and what the message says
    "k": "'ndcg@10'", "per_query": "results.per_query(metric)", "ci": "results.interval(metric)",
    "relevance_level": "'rel_level'", "query_id": "qid=", "stat_test": "'test'", "groups": "group=",
    "return_mean": "results[metric]", "verbose": "progress=", "random_seed": "'random_state'", "seed": "'random_state'",
    "n_jobs": "'n_threads'",
}  # fmt: skip
WITHOUT = {
    ("fuse", "k"),
    ("write_report", "k"),
    ("explain", "query_id"),
    ("explain_conventions", "query_id"),
    ("identify", "*"),
}  # they have it, or say more


def calls_with_options():
    """The names of public functions with ``**options``, each with a call that takes keywords."""
    given = {
        "evaluate_many": [QRELS, {"a": RUN}, "map"], "compare": [QRELS, {"a": RUN, "b": OTHER}, "map"],
        "evaluate_scores": [np.array([1, 0]), np.array([0.1, 0.5]), "map"], "bounds": [QRELS, RUN, "map"],
        "evaluate_ranked": [np.array([1, 0]), np.array([0, 2]), "map"], "tune": [QRELS, [RUN, OTHER], "map"],
        "evaluate_lists": [[["a"]], [["a"]], "map"], "evaluate_topk": [np.array([[0, 1]]), [[1]], "map"],
        "evaluate_matrix": [np.array([[0.1, 0.2]]), np.array([[1, 0]]), "map"], "fuse": [[RUN, OTHER]],
        "to_judge": [QRELS, {"a": RUN}, "map", 1], "leave_one_out": [QRELS, {"a": RUN, "b": OTHER}, "map"],
        "explain": [QRELS, RUN, "q1", "map"], "explain_ranked": [np.array([1, 0]), "map"],
        "write_report": [QRELS, {"a": RUN, "b": OTHER}, "map", "never.html"], "Accumulator": ["map"],
        "Evaluator": [QRELS, "map"], "precision_recall_curve": [QRELS, RUN], "roc_curve": [QRELS, RUN],
        "judged_rankings": [QRELS, RUN], "evaluate_under_judge": [QRELS, QRELS, RUN, "map"],
        "compare_under_judge": [QRELS, QRELS, {"a": RUN, "b": OTHER}, "map"],
        "identify": [QRELS, RUN, {"map": 0.5}], "explain_conventions": [QRELS, RUN, "q1", "map", ("ranx", "beir")],
    }  # fmt: skip
    for name in fastir.__all__:
        call = getattr(fastir, name)
        if inspect.isfunction(call) or name in ("Accumulator", "Evaluator"):
            kinds = [param.kind for param in inspect.signature(call).parameters.values()]
            if inspect.Parameter.VAR_KEYWORD in kinds:
                yield name, call, given.get(name, [QRELS, RUN, "map"])


@pytest.mark.parametrize(("name", "call", "arguments"), list(calls_with_options()))
@pytest.mark.parametrize("word", WORDS)
def test_every_call_with_options_says_what_a_habit_is_here(name, call, arguments, word):
    if {(name, word), (name, "*")} & WITHOUT:
        return
    with pytest.raises(TypeError, match=re.escape(WORDS[word])):
        call(*arguments, **{word: 1})


def test_options_of_other_calls_are_named_as_such():
    with pytest.raises(TypeError, match="'confidence'; it is an option of other calls, not of this one"):
        fastir.evaluate(QRELS, RUN, "map", confidence=0.9)
    with pytest.raises(TypeError, match="'random_state'; it is an option of other calls"):
        fastir.evaluate(QRELS, RUN, "map", random_state=1)


# ---- the whole table of habits: what is written, and what comes out --------------------------------------------------
FRAME = pytest.importorskip("pandas").DataFrame
ROWS = [(query, doc_id, score) for query, row in RUN.items() for doc_id, score in row.items()]
JUDGED = [(query, doc_id, label) for query, row in QRELS.items() for doc_id, label in row.items()]
MAP = 0.6388888888888888
CALLS = {
    "q": QRELS, "r": RUN, "r2": OTHER, "fastir": fastir, "np": np, "FRAME": FRAME, "ROWS": ROWS, "JUDGED": JUDGED,
    "labels": np.array([1, 0, 2]), "scores": np.array([0.1, 0.5, 0.3]),
}  # fmt: skip


@pytest.mark.parametrize(("call", "value"), [
    ("list(fastir.evaluate(q, r).keys())", ["ndcg@10", "map", "mrr", "precision@10", "recall@100"]),
    ("type(fastir.Qrels(q)).__name__ + type(fastir.Run(r)).__name__", "QrelsRun"),
    ("list(fastir.evaluate_many(q, [r, r2], 'map'))", ["1", "2"]),
    ("fastir.compare(q, [r, r2], 'map').runs", ["1", "2"]),
    ("fastir.fuse([r, r2], 'wsum', 'min-max', params={'weights': [.5, .5]}) "
     "== fastir.fuse([r, r2], 'wsum', 'min-max', [.5, .5])", True),
    ("fastir.fuse([r, r2], params={'k': 10}) == fastir.fuse([r, r2], k=10)", True),
    ("fastir.fuse(runs=[r, r2], norm='min-max', method='wsum', params=dict(weights=(.5, .5))).name", "wsum"),
    ("fastir.fuse([r, r2], 'RRF').name", "rrf"),
    ("fastir.tune(qrels=q, runs=[r, r2], norm='min-max', method='wsum', metric='map').method", "wsum"),
    ("len(fastir.tune(q, [r, r2], 'map').folds)", 3),
    ("fastir.evaluate(q, r, 'map').per_query()['q3']", 0.5),
    ("float(fastir.evaluate(q, r, 'map'))", MAP),
    ("list(dict(fastir.evaluate(q, r, 'map')).values())", [MAP]),
    ("fastir.compare(q, [r, r2], 'map', test='ttest').method.test", "t"),
    ("fastir.compare(q, [r, r2], 'map', test='student').method.test", "t"),
    *((f"fastir.evaluate(FRAME(JUDGED, columns={[query, doc, label]}), FRAME(ROWS, columns={[query, doc, score]}), "
       "'map')['map']", MAP)
      for query, doc, label, score in (
          ("query", "doc", "rel", "score"), ("query", "document", "grade", "score"),
          ("topic", "document_id", "relevance", "similarity"), ("topic_id", "chunk_id", "judgment", "score"),
          ("question", "passage_id", "label", "prediction"), ("query_id", "doc_id", "rating", "score"))),
    ("float(fastir.evaluate([{'query_id': 'q3', 'doc_id': 'd9', 'label': 1}], {'q3': r['q3']}, 'map'))", 0.5),
    ("list(fastir.similarity([r, r2], 'rbo'))", ["1, 2"]),
    ("list(fastir.similarity({'a': r, 'b': r2, 'c': r}, 'jaccard@2'))", ["a, b", "a, c", "b, c"]),
])  # fmt: skip
def test_what_people_write_works(call, value):
    assert eval(call, CALLS) == value


@pytest.mark.parametrize(("call", "message"), [
    ("fastir.evaluate(q, r, ['ndcg'], k=10)", "write the cutoff in the metric's name, as 'ndcg@10'"),
    ("fastir.evaluate(q, r, 'map', average='weighted')", "average must be macro or micro"),
    ("fastir.evaluate_scores(labels, scores, 'ndcg', groups=[3])", "group= has the sizes"),
    ("fastir.read_qrels", "fastir.Qrels.from_file"), ("fastir.ndcg_score", "fastir.compat.sklearn.ndcg_score"),
    ("fastir.optimize_fusion", "fastir.tune"), ("fastir.RelevanceEvaluator", "fastir.Evaluator"),
    ("fastir.plot", "fastir.plots"), ("fastir.bootstrap", "Results.interval"),
    ("fastir.evaluate(q, [r, r2], 'map')", "evaluate_many and compare take several"),
    ("fastir.compare({'a': r, 'b': r2}, q, 'map')", "are qrels and runs swapped"),
    ("fastir.compare(q, r, 'map')", "runs is one run, .*several are expected, as {'name': run}"),
    ("fastir.evaluate_many(q, r, 'map')", "runs is one run"),
    ("fastir.evaluate(q, r, 'map').values()", "'numpy.ndarray' object is not callable"),
    ("fastir.evaluate(q, r, 'map').mean", r"dict\(results\)"), ("fastir.evaluate(q, r, 'map').ci", "results.interval"),
    ("fastir.evaluate(q, r, 'map').plot()", "fastir.plots"), ("fastir.evaluate(q, r, 'map').to_df()", "to_pandas"),
    ("fastir.compare(q, [r, r2], 'map', correction='bonf')", "did you mean 'bonferroni'"),
    ("fastir.evaluate(q, r, 'ndcg10')", "did you mean 'ndcg@10'"),
    ("fastir.evaluate(q, r, 'ndcg 10')", "did you mean 'ndcg@10'"),
    ("fastir.evaluate(q, r, 'p5')", "did you mean 'P@5'"), ("fastir.evaluate(q, r, 'f-score')", "did you mean 'f1'"),
    ("fastir.evaluate(q, r, 'f2')", r"did you mean 'f_beta\(beta=2\)'"),
    ("fastir.evaluate(q, r, {'ndcg': 10})", "write 'ndcg@10'"),
    ("fastir.evaluate(q, r, 'map', rel_level='0.5')", "rel_level must be a number, got str"),
    ("fastir.evaluate(q, r, 'map', rel_level=0)", "rel_level must be a number above 0"),
    ("fastir.tune(q, [r, r2], 'map', seed=0)", "'random_state'"),
    ("fastir.fuse([r, r2], weights=[1, 1])", "did you mean 'run_weights'"),
    ("fastir.fuse([r, r2], top=3)", "did you mean 'max_depth'"),
    ("fastir.fuse([r, r2], seed=3)", "it is 'random_state' in calls that have it"),
    ("fastir.write_report('r.html', q, {'a': r})", "the order is write_report"),
    ("fastir.write_report(q, r, 'map', 'r.html')", "runs is one run"),
    ("fastir.similarity(r)", "runs is one run"),
])  # fmt: skip
def test_what_people_write_has_our_spelling_in_its_message(call, message):
    with pytest.raises((TypeError, ValueError, AttributeError), match=message):
        eval(call, CALLS)


def test_a_document_in_the_place_of_its_id_is_told_by_its_attribute():
    class Document:
        id = "a"

    with pytest.raises(TypeError, match=r"must be a str, got Document .*; pass its attribute id$"):
        fastir.evaluate_lists([["b", Document()]], [["a"]], "mrr")
