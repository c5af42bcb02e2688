"""Which labels a metric can have at its extremes: what its card says, or nothing."""

import json

import numpy as np
import pytest
from every_labeling import check

import fastir

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")


def test_estimates_from_samples_have_no_bounds_and_say_why():
    both = fastir.Qrels.from_dict({"q": {"a": 1}}, strata={"q": {"a": 1}}, probabilities={"q": {"a": 1}})
    for card in (card for card in fastir.metrics() if card.sampled in ("strata", "probabilities")):
        with pytest.raises(fastir.UnknownMetricError, match=f"'{card.name}' needs qrels that say how"):
            fastir.bounds(both, {"q": {"a": 1.0, "b": 2.0}}, card.name)


def test_a_metric_of_which_nothing_is_known_has_the_bounds_of_its_range_or_of_all_labelings_where_they_are_few():
    few, many = ({f"d{i}": -float(i) for i in range(n)} for n in (4, 40))
    names = ["prefs_simp", "prefs_num_prefs_ful", "ndcg_rel", "inst(T=0.3)"]
    check({"d1": 2, "d3": 0}, few, names, 2)
    outer = fastir.bounds({"q": {"d1": 2, "d3": 0}}, {"q": many}, names)
    assert not any(outer.exact.values())
    assert outer.lower.values.tolist() == [[0.0] * 4] and outer.upper.values.tolist() == [[1.0, np.inf, 1.0, 1.0]]
    assert json.loads(outer.to_json())["metrics"]["prefs_num_prefs_ful"]["upper"] is None
