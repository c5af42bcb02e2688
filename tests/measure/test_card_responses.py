"""How metrics respond to labels of unjudged documents: every card says so, but for those that cannot."""

import pytest
from every_option import CATALOGUE, METRICS

import fastir
from fastir.engine.measure.cards import OUTER

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")


def test_a_card_says_nothing_only_of_preferences_and_of_samples():
    silent = {card.name for card in fastir.metrics() if card.response == OUTER}
    assert silent == {card.name for card in fastir.metrics() if card.groups == "pairs" or card.sampled}
    assert set(CATALOGUE) - set(METRICS) <= {"hole"}
