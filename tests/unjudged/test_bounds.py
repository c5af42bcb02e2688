"""Bounds against all labelings of up to eight holes, for every metric and option."""

import pytest
from every_labeling import case, check
from every_option import METRICS

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")

OPTIONS = [
    {},
    {"judged_only": True},
    {"max_depth": 4},
    {"rel_level": 2},
    {"empty": "one"},
    {"empty": "nan", "judged_only": True, "max_depth": 6},
    {"rel_level": 2, "empty": "one"},
]


@pytest.mark.parametrize("depth", [None, 3])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("max_label", [1, 2])
def test_bounds_are_those_of_all_labelings(options, depth, max_label):
    number = 10 * OPTIONS.index(options) + 100 * max_label
    check(*case(number, 5, max_label), METRICS, max_label, depth, **options)
