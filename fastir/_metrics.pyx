"""The registry of metrics. Each metric is one block in a file of its family, its function beside its card.

    _binary    counts, sets, relevance at a cutoff, interpolated and incomplete judgments, coverage
    _graded    gains and discounts
    _users     models of a reader: rbp, err, C/W/L, compat
    _intents   subtopics and groups of judges

In: one query's judged documents in rank order (Query) and the running sums at the metric's cutoff (Snapshot), which
_measure.pyx fills in one walk. Out: one double. A metric is a few lines over the snapshot; one that needs every hit
(bpref, rbp, err) walks `q.ranks` and `q.labels` itself. Its parameters come as doubles, in the order of the card's
`params`; a word is its position among the choices.
"""

from fastir.cards import Param

cdef list _cards = []
cdef dict _functions = {}

EMPTY = Param("empty", "zero", "a query without relevant documents: counts as 0, or stays NaN and leaves the mean",
              ("zero", "skip"))
CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)      # trec_eval's
PERSISTENCE = Param("p", 0.8, "persistence", (), 0, 1)


cdef object declare(metric_fn function, card):
    """Enter a metric; called once for each, when its file is imported."""
    _cards.append(card)
    _functions[card.name] = <size_t>function


def cards():
    """All cards, in the order in which they were declared."""
    return tuple(_cards)


def function_address(name):
    """The address of a metric's function, for the plan's table."""
    return _functions[name]
