"""The TypedDict of evaluate's options has its keywords."""

import inspect

import fastir
from fastir.evaluation import keywords as of_runs
from fastir.request import keywords as of_values


def keys(function):
    """The keywords that a function declares, one by one or as the TypedDict of its ``**options``."""
    return {name for name in inspect.signature(function).parameters if name not in ("qrels", "run", "metrics", "self")}


def test_the_typed_dict_of_evaluate_has_the_keywords_of_an_evaluator():
    make = fastir.Evaluator.__init__
    assert set(of_runs.EvaluateOptions.__annotations__) == keys(make) - {"choices"} | set(
        of_values.MetricOptions.__annotations__
    )
    annotations = make.__annotations__
    for name in keys(make) - {"choices"}:
        assert of_runs.EvaluateOptions.__annotations__[name].__forward_arg__ == annotations[name], name
