"""The TypedDicts of calls that take options have the keywords of what they are handed to."""

import inspect

import fastir
from fastir.evaluation import evaluate
from fastir.evaluation import keywords as of_runs
from fastir.request import keywords as of_values
from fastir.request.options import check_options

DEFAULTS = {n: param.default for n, param in inspect.signature(check_options).parameters.items() if n != "choices"}


def keys(function):
    """The keywords that a function declares, one by one or as the TypedDict of its ``**options``."""
    return {name for name in inspect.signature(function).parameters if name not in ("qrels", "run", "metrics", "self")}


def test_the_typed_dict_of_arrays_has_options_of_evaluate_scores():
    declared = set(of_values.ArrayOptions.__annotations__) - set(of_values.MetricOptions.__annotations__)
    assert declared == keys(fastir.evaluate_scores) & set(DEFAULTS)


def test_the_typed_dict_of_rankings_is_what_judged_rankings_takes():
    assert set(of_runs.RankingOptions.__annotations__) == set(evaluate.ranking_options())


def test_compare_takes_the_options_of_evaluate_but_weights():
    named = set(inspect.signature(fastir.compare).parameters) & set(of_runs.EvaluateOptions.__annotations__)
    rest = set(of_runs.EvaluateOptions.__annotations__) - set(of_runs.CompareOptions.__annotations__)
    assert rest == named | {"weights", "ties_report"} == {"queries", "n_threads", "weights", "ties_report"}
