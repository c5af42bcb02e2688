"""The guide lists every method and norm, from their cards."""

import pytest
from pages import DOCS, NEEDS_PAGES

from fastir.fusion.cards import METHODS, NORMS

pytestmark = NEEDS_PAGES


def test_the_guide_has_a_row_for_each_method():
    text = (DOCS / "hybrid_search.md").read_text("utf-8")
    for card in METHODS:
        row = f"| `{card.name}` | {card.title} | {card.formula} | {card.lacks} | {card.source} | {card.differs} |"
        assert row.replace("  |", " |") in text, row


@pytest.mark.parametrize("card", NORMS, ids=lambda card: card.name)
def test_the_guide_has_a_row_for_each_norm(card):
    text = (DOCS / "hybrid_search.md").read_text("utf-8")
    assert f"| `{card.name}` | {card.formula} | {card.differs} |".replace("  |", " |") in text
