"""Equal requests share one plan, and what equals a default is checked as what does not.

Also of: compiler.
"""

import numpy as np
import pytest

import fastir
from fastir.request.conventions import CONVENTIONS
from fastir.request.options import check_options
from fastir.request.plan import compile_settings

QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}}
RUN = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"x": 1.0, "c": 0.5}}


@pytest.mark.parametrize(
    ("given", "same"),
    [
        ({"rel_level": np.int8(2)}, {"rel_level": 2}),
        ({"max_depth": np.uint64(3), "n_threads": np.int64(1)}, {"max_depth": 3, "n_threads": 1}),
        ({"score_dtype": np.float32}, {"score_dtype": "float32"}),
        ({"judged_only": np.True_}, {"judged_only": True}),
        ({"choices": {"gain": {1: 2, 2: 3}}}, {"choices": {"gain": "{1:2, 2:3}"}}),
        ({"choices": {"empty": "SKIP"}}, {"choices": {"empty": "skip"}}),
        ({"convention": CONVENTIONS["ranx"]}, {"convention": CONVENTIONS["ranx"]}),
    ],
    ids=str,
)
def test_equal_requests_share_one_plan(given, same):
    first, second = (
        compile_settings(("ndcg",), check_options(**{"choices": {}, **options})) for options in (given, same)
    )
    assert first is second


def test_numbers_that_equal_a_default_are_still_checked():
    for level in ("1", None):
        with pytest.raises(TypeError, match="rel_level must be a number, got"):
            fastir.evaluate(QRELS, RUN, "mrr", rel_level=level)
    for level in (0.0, -0.5, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="rel_level"):
            fastir.evaluate(QRELS, RUN, "mrr", rel_level=level)
