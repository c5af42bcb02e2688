"""What people write from memory of other tools works, or the error says how it is written here."""

import importlib.util
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


@pytest.mark.parametrize("text", [*habits.NAMES.values(), *habits.RESULTS.values(), *habits.OPTIONS.values()])
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
