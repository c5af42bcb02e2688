"""What a metric makes of the judged documents of one query: the metrics themselves, and the walk that feeds them.

In: the labels of one query's judged documents in rank order with their ranks, its judged labels sorted best first, and
a Plan. Out: one double for each requested value, written into a row that the caller allocated. Nothing here knows ids,
validates or raises while it runs; scratch is allocated once for each thread by `_measure.Scratch`.

    cards.py       what a metric says of itself: Card and Param
    _registry      how a metric is declared, once: its function beside its card
    _binary        counts, sets, relevance at a cutoff, interpolated and incomplete judgments, coverage
    _graded        gains and discounts
    _user_models   models of a reader: rbp, err, C/W/L, compat
    _diversity     subtopics and groups of judges
    _measure       the Plan, and the walk over one query that fills the running sums at every cutoff
    _ties          expected values over the orders of equal scores
    _arithmetic    exact sums

Importing the file of a family declares its metrics. CARDS holds all cards in the order of the documentation.
"""

# The order of these imports is the order of the documentation.
# isort: off
import fastir.measure._sets
import fastir.measure._binary
import fastir.measure._incomplete
import fastir.measure._graded
import fastir.measure._diversity
import fastir.measure._user_models
import fastir.measure._cwl
import fastir.measure._overlap  # noqa: F401

# isort: on
from fastir.measure._registry import cards

CARDS = cards()
