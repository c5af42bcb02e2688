"""The registry of metrics. Each metric is one block in a file of its family, its function beside its card.

In: one query's judged documents in rank order (Query) and the running sums at the metric's cutoff (Snapshot), which
_measure.pyx fills in one walk. Out: one double. A metric is a few lines over the snapshot; one that needs every hit
(bpref, rbp, err) walks `q.ranks` and `q.labels` itself.

A metric's parameters come as doubles in the order of the card's `params`: a word is its position among the choices, a
set of numbers is their count, and the numbers themselves follow all parameters. The function reads them through a
struct of doubles whose fields are called like the parameters; declare() compares the two, and words() compares the
choices with the enum that the function uses.
"""

from fastir.engine.measure.cards import INF, Param


cdef class Metric:
    """The functions of a metric: for its value, and for its expected value under ties=average (NULL without one)."""

    cdef metric_fn function
    cdef metric_fn expected
    cdef bint room              # whether it uses q.room


cdef list _cards = []
cdef dict _metrics = {}

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)      # trec_eval's
EMPTY = Param("empty", "zero", "a query without relevant documents: counts as the formula says, nearly always 0; as 1; "
              "is NaN and leaves the mean; is NaN, and so is the mean", ("zero", "one", "skip", "nan"))
EMPTY_RANKING = Param("empty_ranking", "zero", "an empty ranking: counts as 0, or is NaN and leaves the mean",
                   ("zero", "skip"))
BUDGET = (
    Param("budget", INF, "the most that the documents at the first ranks may cost in all; a number needs doc_costs", (),
          0, INF, False, True),
    Param("over_budget", "stop", "at the first document that does not fit the budget: end, or skip it and go on",
          ("stop", "skip")),
    Param("at_least_one", "false", "whether the first document counts where no document fits the budget",
          ("false", "true")),
)
PERSISTENCE = Param("p", 0.8, "persistence", (), 0, 1)


cdef object declare(metric_fn function, card, metric_fn expected=NULL, fields=None, bint room=False):
    """Enter a metric; called once for each, when its file is imported.

    `expected` is the function for ties=average: the same one if the value is a sum over the ranks, times a factor that
    the order of equal scores does not change. Without it, that tie rule is an error for the metric. `fields` is an
    instance of the struct through which the function reads its parameters, converted to a dict: its fields must have
    the names of the card's first parameters. `room` says whether the metric uses q.room, which expected values have in
    any case.
    """
    cdef Metric metric = Metric.__new__(Metric)
    names = [param.name for param in card.params]
    if fields is not None and list(fields) != names[:len(fields)]:
        raise TypeError(f"{card.name}: the struct has the fields {list(fields)}, the card the parameters {names}")
    metric.function = function
    metric.expected = expected
    metric.room = room
    _cards.append(card)
    _metrics[card.name] = metric


def words(**codes):
    """The choices of a parameter from the enum that the kernel compares it with: word=code, by rising codes."""
    if list(codes.values()) != list(range(len(codes))):
        raise TypeError(f"choices must be numbered from 0 in their order, got {codes}")
    return tuple(codes)


def cards():
    """All cards, in the order in which they were declared."""
    return tuple(_cards)


def has_expected(name):
    """Whether a metric has a function for expected values."""
    return (<Metric>_metrics[name]).expected != NULL


cdef bint takes_room(name) except -1:
    """Whether a metric uses q.room."""
    return (<Metric>_metrics[name]).room


cdef metric_fn metric_function(name, bint expected) except? NULL:
    """A metric's function, for the plan's table."""
    cdef Metric metric = _metrics[name]
    return metric.expected if expected else metric.function
