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

from fastir.measure.cards import Param

cdef list _cards = []
cdef dict _functions = {}
cdef dict _expected = {}

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)      # trec_eval's
EMPTY = Param("empty", "zero", "a query without relevant documents: counts as the formula says, nearly always 0; as 1; "
              "is NaN and leaves the mean; is NaN, and so is the mean", ("zero", "one", "skip", "nan"))
PERSISTENCE = Param("p", 0.8, "persistence", (), 0, 1)


cdef object declare(metric_fn function, card, metric_fn expected=NULL):
    """Enter a metric; called once for each, when its file is imported.

    `expected` is the function for ties=average; the same one where the value is a sum of what the ranks hold, times
    something that the order of equal scores does not change. Without one that rule is an error for the metric.
    """
    _cards.append(card)
    _functions[card.name] = <size_t>function
    if expected != NULL:
        _expected[card.name] = <size_t>expected


def cards():
    """All cards, in the order in which they were declared."""
    return tuple(_cards)


def function_address(name, expected=False):
    """The address of a metric's function, for the plan's table; None where there is none for expected values."""
    return _expected.get(name) if expected else _functions[name]
