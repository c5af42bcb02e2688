"""Cards: the descriptions of metrics. Parser, documentation, suggestions, tests and benches all read them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from fastir.declared import Param, Record
from fastir.engine.measure._codes import READ_CODES
from fastir.engine.measure.references import PROGRAMS, Reference

INF = float("inf")
READS = tuple(READ_CODES)
BETTER: dict[bool | None, str] = {
    True: "larger values",
    False: "smaller values",
    None: "neither: it does not judge a ranking",
}

# ---- responses ----------------------------------------------------------------------------------------------------

# How a metric responds to the labels of unjudged documents: the words for it on cards.
#
# `bounds()` tries the labelings of these documents that can give the smallest or the largest value; a word says which
# they are, and `fastir/analyses/bounds/candidates.py` why. Inside are the unjudged documents
# at ranks to the cutoff.
#
#     ENDS      the value rises, or falls, with every label inside
#     SUM       so it does, being a sum over ranks whose weights fall, divided by a number that no ranking changes
#     FIRST     so it does, and the first relevant document decides
#     CHAIN     relevance alone matters: of m relevant unjudged documents the topmost m are best, or the bottommost
#     AVERAGE   so they are, and the value rises with the sum of the precisions at the relevant ranks, over their number
#     ODDS      likewise, with the odds of that average
#     SORTED    as CHAIN, with several gains: the larger one belongs higher up
#     RATIO     a discounted sum of gains over the ideal ranking's sum
#     TOPS      labels are scaled by the query's largest, or count by it; below that the value rises with every label
#     CASCADE   expected reciprocal rank over the ideal ranking's
#     READER    a reader stops after enough gain
#     OUTER     nothing is known, as for silent cards: all labelings if they are few, else the card's range
#
# Where the word depends on parameters, the cutoff or the gains of the labels, a card has a function of the three.
ENDS, SUM, FIRST, CHAIN, AVERAGE, ODDS, SORTED, RATIO, TOPS, CASCADE, READER, OUTER = RESPONSES = (
    *("ends", "sum", "first", "chain", "average", "odds", "sorted", "ratio", "tops", "cascade", "reader", "outer"),
)

Response = str | Callable[[dict[str, Any], int | None, tuple[float, ...]], str]

# What a quotient of two counts divides by, of each query: a function of the parameters, the cutoff, and arrays of the
# numbers of documents retrieved, n, and relevant, R. Micro averages sum it over the queries.
Denominator = Callable[[dict[str, Any], int | None, Any, Any], Any]
MICRO = Param(
    "average",
    "macro",
    "the mean over the queries: of their quotients, or the sum of the numerators over the sum of the denominators",
    ("macro", "micro"),
)


OPTIONS = {  # of `evaluate`, which metrics of this `Card.sampled` need
    "weights": "doc_weights",
    "forbidden": "forbidden",
    "groups": "doc_groups",
    "costs": "doc_costs",
}
NEEDS = {  # `Card.sampled`, in words
    "strata": "samples with strata",
    "probabilities": "samples with probabilities",
    **{kind: f"any, with {option}" for kind, option in OPTIONS.items()},
    "sets": "sets of evidence, Qrels.from_sets",
    "hops": "hops, Qrels.from_hops",
}


def retrieved_to(cutoff: int | None, n: Any) -> Any:
    """The number of documents that precision divides by: the cutoff, or all that were retrieved."""
    return n if cutoff is None else n * 0 + cutoff


def sum_at_cutoff(values: dict[str, Any], cutoff: int | None, gains: tuple[float, ...]) -> str:
    """The response of a set metric that divides by the cutoff; without one it divides by the length of the ranking."""
    return ENDS if cutoff is None else SUM


def chain_of_two_gains(values: dict[str, Any], cutoff: int | None, gains: tuple[float, ...]) -> str:
    """The response of a metric that needs larger gains higher up: relevance alone matters if labels have two gains."""
    return CHAIN if len(set(gains)) <= 2 else SORTED


def several_sums(values: dict[str, Any], cutoff: int | None, gains: tuple[float, ...]) -> str:
    """The response of a metric in which a label moves several sums, for better or worse: nothing is known."""
    return OUTER


# ---- cards ---------------------------------------------------------------------------------------------------------
class Numbers(tuple[Any, ...]):
    """Several numbers, printed as in a metric's name."""

    def __str__(self) -> str:
        return "{" + ", ".join(map(str, self)) + "}"


class Card(Record):
    """One metric: its names, the meaning of its number, and what it reads.

    Attributes
    ----------
    name : str
        The canonical name.
    summary, formula : str
        A description in a phrase, and how the metric is computed. In formulas i is a rank from 1, k the cutoff, n the
        number of documents retrieved, r how many of them are relevant, r_k how many of the first k, R how many in the
        qrels, N how many documents were judged not relevant, and g_i the gain at rank i.
    undefined : str
        The value where the formula has none.
    sources : tuple of Reference or str
        The papers, and the programs with the same numbers, each with its name for the metric.
    aliases : tuple of str
        Other tools' spellings, read without regard to case like the name itself.
    family : str
        trec_eval's name for this metric at several cutoffs or recall points, which it writes as in P_5 or P.5,10.
    members : tuple of numbers
        The cutoffs or recall points of the family if none are given.
    positional : int
        How many of the first parameters trec_eval takes without their names, as in set_F.2.
    only_in : tuple of (str, str)
        Names that mean this metric in one dialect only, as pairs of the dialect and the name.
    differs : str
        Programs that give this name another number, and the parameter that gives theirs; may be empty.
    low, high : float
        The smallest and the largest value it can have; `range` says them in words.
    beyond : str
        Parameters with which it can be larger, or have any value.
    params : tuple of Param
    cutoff : bool
        Whether ``@k`` is accepted.
    depth : int or None
        The cutoff if none is given; None is the whole ranking.
    at : str or None
        The parameter that ``@`` sets instead of a cutoff.
    higher_is_better : bool or None
        Which values are better: larger ones, smaller ones, or neither.
    by_label : bool
        Whether ties="optimistic" and "pessimistic", which put the best or the worst labels first, give its best and
        worst value among all orders of equal scores.
    aggregate : {"mean", "geometric", "sum", "count"}
        How the values of the queries become one number.
    reads : str
        Which documents matter, one of `READS`: judged documents with a label above 0; all judged documents; documents
        in the pool without a judgment, too; or every retrieved document. Looking documents up costs time. Empty for a
        measure that reads no judgments.
    graded : bool
        Whether gains matter rather than relevance alone: a binary metric stays the same if relevant labels change
        among those that are relevant. Parameters such as ``gains`` of rbp can make a binary metric graded.
    rank_sensitive : bool
        Whether the order of the documents within the cutoff matters.
    gain : str
        The gain of a metric that has no parameter for it.
    dot : str or None
        The parameter that the short form ``name.95`` sets.
    groups : str
        Whether it is defined on qrels with groups (subtopics, or groups of judges), as the mean over "all" groups or
        over groups with "relevant" documents, or over "pairs" of documents, whose order several groups may know; empty
        if not. Qrels without groups are one group.
    normalises : str or None
        On qrels with groups: the metric that it divides by its value for the ideal ranking of all groups together.
    sums : bool
        For a graded metric: whether all that it reads of labels are the sums of gains that the walk leaves at a cutoff.
    quotient : (str, str) or None
        The metrics of which it is the quotient: a sum over ranks, and the ideal ranking's sum.
    response : str or function
        How it responds to labels of unjudged documents, for `bounds`: a word of `fastir.engine.measure.cards`,
        or a function of (parameters, cutoff, gains of the labels that matter) that returns one.
    steady : bool
        Whether the value only falls, or only rises, as documents below the cutoff or outside the ranking become
        relevant one by one, while those above stay unchanged.
    equals : tuple of (str, str, str)
        Metrics that it is with one of its parameters: the parameter, its value, and the metric's name.
    becomes : (str, str) or None
        A parameter of ir_measures, and the metric that this one becomes there if it is given.
    pooled : str or None
        The metric that computes it on qrels in which a document judged for any query counts as judged for each.
    at_r : str
        The metric that it is where R is its cutoff, as in ``map@R``; empty if there is none.
    denominator : function or None
        What a quotient of two counts divides by, a `Denominator`; None for other metrics, which have no micro average.
    sampled : {"", "strata", "probabilities", "weights", "forbidden", "groups", "costs", "sets", "hops"}
        What must be known beside labels: each document's chance of being sampled, from the pool (by the qrels) or from
        what users saw (by the weights of documents), which documents are forbidden, to what groups they belong, what
        they cost, or which sets of evidence or hops they belong to. Empty if nothing.
    """

    name: str
    summary: str
    formula: str
    undefined: str
    sources: tuple[Reference | str, ...]
    aliases: tuple[str, ...] = ()
    family: str = ""
    members: tuple[float, ...] = ()
    positional: int = 0
    only_in: tuple[tuple[str, str], ...] = ()
    differs: str = ""
    low: float = 0.0
    high: float = 1.0
    beyond: str = ""
    params: tuple[Param, ...] = ()
    cutoff: bool = False
    depth: int | None = None
    at: str | None = None
    higher_is_better: bool | None = True
    by_label: bool = True
    aggregate: str = "mean"
    reads: str = "relevant"
    graded: bool = False
    rank_sensitive: bool = True
    gain: str = "linear"
    dot: str | None = None
    groups: str = ""
    normalises: str | None = None
    sums: bool = False
    quotient: tuple[str, str] | None = None
    response: Response = OUTER
    steady: bool = True
    equals: tuple[tuple[str, str, str], ...] = ()
    becomes: tuple[str, str] | None = None
    pooled: str | None = None
    sampled: str = ""
    at_r: str = ""
    denominator: Denominator | None = None

    def __repr__(self) -> str:
        return f"<Card of {self.name}: {self.summary}>"

    @property
    def range(self) -> str:
        """The values it can have, in words."""
        low, high = (f"{limit:.5f}".rstrip("0").rstrip(".") for limit in (self.low, self.high))
        words = "any number" if self.low == -INF else f"{low} up" if self.high == INF else f"{low} to {high}"
        words = low if self.low == self.high else words
        return f"{words}; {self.beyond}" if self.beyond else words

    @property
    def source(self) -> str:
        """The sources in words."""
        return "; ".join(map(str, self.sources))

    @property
    def references(self) -> tuple[Reference, ...]:
        """Its papers; for a metric that only programs have, the papers that describe these."""
        papers = tuple(source for source in self.sources if isinstance(source, Reference))
        programs = (source.split()[0] for source in self.sources if isinstance(source, str))
        return papers or tuple(PROGRAMS[program] for program in programs if program in PROGRAMS)

    @property
    def relevance(self) -> str:
        return "graded" if self.graded else "binary"

    @property
    def order(self) -> str:
        """Whether it sees the order of the first k documents, in a word."""
        return "by rank" if self.rank_sensitive else "as a set"

    def other_names(self) -> list[str]:
        """Its other spellings: the aliases, trec_eval's form, and names that only some tools have."""
        family = [f"{self.family}_{'x' if self.at else 'k'}"] if self.family else []
        return [*self.aliases, *family, *(f"{name} ({dialect})" for dialect, name in self.only_in)]

    def spelled(self, place: str = "") -> str:
        """A name that evaluate() takes: with an example of each required parameter, and a place behind it."""
        required = ", ".join(f"{param.name}={param.example}" for param in self.params if param.required)
        return self.name + f"({required})" * bool(required) + place

    def place(self) -> str:
        """The suffix that the name may have: ``@k``, ``@`` and the parameter that it sets, or nothing."""
        return "@k" if self.cutoff else f"@{self.at}" if self.at else ""

    def mentions(self) -> set[str]:
        """The words of its fields and the ends of its name that may be names of other metrics."""
        fields = [self.normalises, self.pooled, self.at_r, *(self.quotient or ()), *(self.becomes or ())[1:]]
        names = {name for name in fields if name} | {name for _, _, name in self.equals}
        for text in (self.summary, self.formula, self.differs):  # "map" and "judged" are words of sentences, too
            names.update(word for word in re.findall(r"\w+", text) if re.search(r"[a-z](_|\d)", word))
        return names | {self.name[start:] for start in range(1, len(self.name) - 2)} | {self.name.rpartition("_")[0]}


def find_relatives(cards: Iterable[Card]) -> dict[str, tuple[str, ...]]:
    """The metrics that each metric mentions, or that mention it, in the order of the cards."""
    mentions = {card.name: card.mentions() for card in cards}
    return {
        name: tuple(other for other in mentions if other != name and (other in named or name in mentions[other]))
        for name, named in mentions.items()
    }
