"""The words that help shows are those of the tables and types where they are declared."""

from fastir.analyses.fusion.cards import METHODS
from fastir.cli.choices import CHOICES
from fastir.cli.commands import OWN
from fastir.engine.measure import DEFAULT_METRICS
from fastir.request.option_rows import every_row


def test_every_option_with_choices_knows_its_words():
    words = {row.name: tuple(row.words()) for row in (*every_row(), *OWN.values()) if row.choices}
    words |= {"tunable": tuple(name for name, card in METHODS.items() if card.tunable)}
    assert {**words, "default_metrics": DEFAULT_METRICS} == CHOICES
