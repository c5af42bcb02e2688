"""Metrics of rankings whose order is fixed: rules of another order are refused."""

import pytest
from rankings_made import QRELS, RUN

import fastir

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")


def test_another_order_is_an_error_that_says_so():
    judged = fastir.judged_rankings(QRELS, RUN)
    for ties in ("input", "average"):
        with pytest.raises(ValueError, match=rf"ties='{ties}', but these rankings were judged with ties='trec'"):
            judged.evaluate("map", ties=ties)
    with pytest.raises(ValueError, match=r"convention ranx: ties='input', but these rankings were judged with"):
        judged.evaluate("map", convention="ranx")
    with pytest.raises(ValueError, match=r"score_dtype='float32', but"):
        judged.evaluate("map", convention="trec_eval-9")
    with pytest.raises(ValueError, match="ties='average' has no single order"):
        fastir.judged_rankings(QRELS, RUN, ties="average")
    with pytest.raises(fastir.UnknownMetricError, match="'hole' needs the ids"):
        judged.evaluate(["map", "hole"])
    with pytest.raises(ValueError, match="the qrels have groups"):
        fastir.judged_rankings({"q": {"1": {"a": 1}}}, {"q": {"a": 1.0}})
