"""Metrics of the judged documents of one query, and the walk that feeds them.

In       a Plan, made once for each set of options from View and Slot records (request/compiler.py); and for each query
         the hits (ranks from 1, ascending, with their labels), the number of documents retrieved, and its Judgments:
         the judged labels, best first.
Out      one double for each requested value, in a row of the results.
Checks   nothing: whoever builds a Plan has checked the options (request), whoever hands over labels has checked that
         no metric reads a label above its limit (evaluation).
Memory   the row belongs to the caller. A thread's Scratch grows to the largest query; its owner (rank, join) calls
         grow() before measure() and release() at the end.
Raises   only while a Plan is made. `measure` and everything below it is noexcept nogil.

    cards.py       the description of a metric: Card and Param; its response to labels of unjudged documents, for bounds
    references.py  the papers that metrics come from
    views.py       the records that a Plan is made of
    _codes         the numbers of words: reads, statuses, tie rules, problems
    _registry      how a metric is declared, once: its function beside its card, its parameters by name
    _binary        counts, sets, ranks of the relevant documents, interpolated precision; incomplete judgments
    _graded        gains and discounts; subtopics and groups of judges
    _user_models   rank-biased precision, expected reciprocal rank, C/W/L metrics, overlap with the ideal ranking
    _tasks         preferences, technology-assisted review, learning to rank, multilabel classification, Q-measure
    judges.py      what metrics of preferences make of several judges
    _sampling      estimates from a sample of the pool; documents that count as their weights; sets of evidence
    _measure       Plan and Scratch, and the steps from the hits of one query to its row of values
    _arithmetic    logarithms and powers, the same to the bit on every processor; expected values over ties
    _sort          orders and searches

Importing the file of a family declares its metrics. CARDS holds all cards in the order of the documentation.
"""

# The order of these imports is the order of the documentation.
# isort: off
import fastir.engine.measure._binary
import fastir.engine.measure._graded
import fastir.engine.measure._user_models
import fastir.engine.measure._tasks
import fastir.engine.measure._sampling  # noqa: F401

# isort: on
from fastir.engine.measure import _registry
from fastir.engine.measure.cards import Card

CARDS: tuple[Card, ...] = _registry.cards()

# Metrics that other folders use by name: sizes of a ranking, points of a curve, how much was judged.
DEFAULT_METRICS = ("ndcg@10", "map", "mrr", "precision@10", "recall@100")  # of the command, and of calls without any
MOST_USED = (  # with which the list of all begins
    *("ndcg", "map", "mrr", "precision", "recall", "hit_rate", "f1", "r_precision", "auc", "bpref"),
    *("err", "rbp", "dcg", "judged", "recall_all", "q_measure", "gm_map", "alpha_ndcg", "iprec", "mean_rank"),
)
NUM_Q, NUM_RET, NUM_REL, NUM_REL_RET = "num_q", "num_ret", "num_rel", "num_rel_ret"
BY_MEANS = ("psp", "psndcg")  # quotients of two means over the queries
NDCG, NDCG_AWRF = "ndcg", "ndcg_awrf"
FALSE_SURFACE = "false_surface"  # which reads the option unanswerable
LESS_HARM = ("leak_recall", "compat_help_harm")  # a value on the judgments less that on the forbidden documents
FIRST_REL, LAST_REL = "first_rel", "last_rel"
COSTS_OF_RANKS = {"cost_first_rel": FIRST_REL, "cost_all_rel": LAST_REL}  # {metric: the rank whose cost it is}
TBG = "tbg"
POSITIONED = {TBG: "h", "u_measure": "L"}  # {metric whose positions are sums of costs, if there are: their scale}
PRECISION, RECALL, IPREC, JUDGED, AUC = "precision", "recall", "iprec", "judged", "auc"
