"""metrics(): the cards of all metrics as a table."""

import re
import subprocess
import sys

import fastir

CARDS = fastir.metrics()


def test_both_are_columns_of_the_list_of_metrics():
    listed = subprocess.run([sys.executable, "-m", "fastir", "metrics"], capture_output=True, text=True, check=True)
    head, *lines = listed.stdout.splitlines()
    assert re.split(r"\s{2,}", head)[1:3] == ["relevance", "first k"]
    metrics = lines[: lines.index("")]  # measures of two runs stand below
    rows = [line for line in metrics if not line.startswith(" ")]  # what is long goes on in the next line
    for card, row in zip(CARDS, rows, strict=True):
        assert re.match(
            rf"{re.escape(card.name)}\S*\s+{card.relevance}\s+{card.order}\s+{card.summary.split()[0]}", row
        )
    assert {card.name for card in CARDS if card.graded and not card.rank_sensitive} == {
        "cg",
        "ncg",
        "ideal_dcg",
        "prefs_num_prefs_poss",
    }
