"""How each metric responds to the labels of holes: which labelings can give its smallest and its largest value.

Below, the holes at the ranks to the cutoff are *inside*; the others can only be in the ideal ranking or in R. Where a
metric falls as such a label rises, or never depends on it, they all have one label in the extreme cases.

ENDS     The value rises, or falls, with every label inside: all are 0, or all are the largest. For the sums over ranks
         this is plain; for the cascades (err, nerr8 to nerr11) a document of gain g at rank i adds g times its
         weight and takes at most g times the weight of the next rank from those below. In inst, whose reader stops at
         s with 1 - ((s - 1) / s)^2, s growing by at most 1 at each rank and by the less the more is gained, the gain
         expected below s is at most (s - 1)^2 / (2s - 1), as if all below were relevant; with it, what a gain at a rank
         takes from those below sums up to at most half of what it adds, if s >= 1, that is, T >= 1/2.
CHAIN    Relevance alone matters. For a fixed number of relevant holes, R is fixed, and a relevant document that changes
         places with one above it that is not makes every relevant document's rank, counted from the first, smaller or
         equal: the value rises. So of m relevant holes the topmost m give the largest value, the bottommost m the
         smallest, and m = 0, 1, ... are tried.
SORTED   The same with several labels: for fixed numbers of holes with each label the ideal ranking is fixed, and the
         larger of two labels belongs higher up. All such rankings are tried if they are few.
RATIO    DCG over ideal DCG: sorted in the same way. DCG is linear in the gains, and the ideal DCG is convex, being the
         largest of the DCGs of all orders; so {value >= c} is convex, and the smallest value is at a corner: only 0 and
         the largest label. For the largest value, DCG - c * ideal DCG is a sum over levels of labels: the number of
         holes that reach each level is chosen by itself, and c is raised until nothing is left to gain (Dinkelbach).
TOPS     Labels are divided by the query's largest, or count by it. For a given largest label the value rises with
         every label: all holes have it, or all but the last are 0; each largest label is tried.
CASCADE  nerr: expected reciprocal rank, as a function of one gain, is a straight line, and its ideal value, the
         largest over all orders, is convex; so the smallest value is at a corner, as for RATIO, and all m bottommost
         holes are tried. For the largest value the labels are sorted, and each hole multiplies what follows in both
         rankings by the same factor: the best difference of the value and c * ideal value is found hole by hole
         (`steps`), and c is raised. With max_grade=query each largest label is tried. With ideal=full it alone counts
         in the ideal: TOPS.
READER   bpm: what follows a hole depends on the gain found so far and on the rank; there are few such sums (`steps`).
OUTER    Nothing is shown: the range of the metric.

Of a query with few labelings (FEW) all are tried, if its ends are not known by these arguments.

Metrics of preferences (prefs_*), which every judged document takes part in, have no class and are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from fastir.errors import quote
from fastir.measure._codes import GAIN_CODES
from fastir.request import names
from fastir.request.compiler import walk_of
from fastir.request.options import WHOLE

if TYPE_CHECKING:
    from fastir.request.plan import Settings

KINDS = ("ends", "chain", "sorted", "ratio", "tops", "cascade", "reader", "outer")
ENDS, CHAIN, SORTED, RATIO, TOPS, CASCADE, READER, OUTER = KINDS

RESPONSES = {
    metric: kind
    for kind, metrics in {
        ENDS: "num_q num_ret num_rel num_rel_ret num_nonrel_judged_ret hits hit_rate precision precision_avgjg recall "
        "relative_precision f1 set_f f_beta set_map utility mrr unjudged hole judged cg dcg dcg_burges ideal_dcg p_ia "
        "st_recall rbp rbp_resid err insq sdcg nerr8 nerr9 nerr10 nerr11 tbg u_measure",
        CHAIN: "r_precision r_precision_mult r_precision_mult_avgjg map map_avgjg map_ia gm_map yaap bin_g "
        "pair_accuracy auc mean_rank iprec iprec_avg bpref gm_bpref inf_ap alpha_dcg alpha_ndcg err_ia nerr_ia nrbp "
        "nnrbp",
        SORTED: "r_ndcg compat",
        RATIO: "ndcg ndcg_burges",
        CASCADE: "nerr",
        OUTER: "ndcg_rel g inst bpm",
    }.items()
    for metric in metrics.split()
}

# Metrics that can rise and fall as documents that the ranking lacks become relevant, while those above them stay.
UNSTEADY = {
    *("r_precision", "r_precision_mult", "r_precision_mult_avgjg", "bpref", "gm_bpref"),
    *("compat", "r_ndcg", "ndcg_rel", "g"),
}


MOST_SUMS = 100  # of gains that a reader can have found


class Response(NamedTuple):
    """How a metric of a request responds.

    Attributes
    ----------
    kind : str
        One of KINDS.
    low, high : int
        The labels with the smallest and the largest gain.
    singles : tuple of int
        Labels that one hole alone may have in an extreme case, while all others have `low`, or `high`.
    tops : tuple of int
        For TOPS, what the largest label of the holes may be in an extreme case.
    cutoff : int
    lists_all : bool
        Whether documents beyond the cutoff are looked at one by one.
    steady : bool
        Whether the value only falls, or only rises, with the label of a hole that is not inside.
    gains : tuple of float
        Of the `levels` of labels, for RATIO.
    """

    kind: str
    low: int
    high: int
    singles: tuple[int, ...]
    tops: tuple[int, ...]
    cutoff: int
    lists_all: bool
    steady: bool
    gains: tuple[float, ...]

    def alphabet(self, max_label: int) -> Sequence[int]:
        """The labels of all labelings: what CHAIN has are only two."""
        return tuple(sorted({self.low, self.high})) if self.kind == CHAIN else range(max_label + 1)


def levels_of(labels: Iterable[int], settings: Settings, max_label: int) -> tuple[int, ...]:
    """The labels at which a metric of these settings may respond in another way; any others lie between two of them."""
    marks = {*labels, 0, 1, max_label}
    for request, values in zip(settings.requests, settings.values, strict=True):
        own = own_gains(values)
        marks |= {request.level or settings.level, *(label + step for label in own or () for step in (-1, 0, 1))}
    return tuple(sorted(mark for mark in marks if 0 <= mark <= max_label))


def response_of(request: names.Request, values: dict[str, Any], level: int, levels: tuple[int, ...]) -> Response:
    """The response of a metric to labels, of which `levels` are those to look at.

    Raises
    ------
    UnknownMetricError
        It counts preferences, or its gains are such that no bound is known.
    """
    name, max_label = request.card.name, levels[-1]
    if name not in RESPONSES:
        raise refused(request, "pairs of documents, which a label of one of them makes or takes away,")
    gains = gains_of(request, values, level, levels)
    order = sorted(range(len(levels)), key=lambda place: gains[place])
    own = own_gains(values)
    if own is not None:
        if RESPONSES[name] != ENDS and (list(gains) != sorted(gains) or gains[0] < 0 or min(own) < 0):
            raise refused(request, "gains that fall somewhere, or belong to documents without a judgment,")
        if "gains" in values and own_scale(own, 0) != own_scale(own, max_label):
            raise refused(request, "gains that are scaled by the largest label")
    by_top = values.get("max_grade") == "query"
    tops: tuple[int, ...] = ()
    full = name == "nerr" and values["ideal"] == "full"
    if values.get("gains") == "scaled" or (name in ("err", "nerr") and by_top) or full:
        tops = tuple(range(1, max_label + 1)) if name in ("err", "nerr") else levels[1:]
    return Response(
        TOPS if tops and (name != "nerr" or full) else kind_of(request, values, level, levels, gains),
        levels[order[0]],
        levels[order[-1]],
        singles_of(request, values, level, levels, gains),
        tops,
        request.cutoff or WHOLE,
        values.get("ideal") == "retrieved" or name == "ideal_dcg",
        name not in UNSTEADY,
        gains if RESPONSES[name] == RATIO else (),
    )


def kind_of(
    request: names.Request, values: dict[str, Any], level: int, levels: tuple[int, ...], gains: tuple[float, ...]
) -> str:
    """The class of a metric whose labels come down to two gains, or its own."""
    name, kind = request.card.name, RESPONSES[request.card.name]
    two = len(set(gains)) <= 2
    if (
        (name in ("r_ndcg", "ndcg_rel") and two)
        or (name == "g" and two and max(gains) <= 1.0)
        or (name == "compat" and levels[-1] <= 1)
    ):
        return CHAIN
    if name == "bpm":
        few = values["T"] * (values["max_rel"] - values["min_rel"]) <= MOST_SUMS
        return ENDS if values["max_rel"] == 1 else READER if few else OUTER
    return ENDS if name == "inst" and values["T"] >= 0.5 else kind


def singles_of(
    request: names.Request, values: dict[str, Any], level: int, levels: tuple[int, ...], gains: tuple[float, ...]
) -> tuple[int, ...]:
    """The labels of a query's only relevant hole, where a query without relevant documents is a case of its own."""
    if values.get("empty", "zero") == "zero":
        return ()
    least = 0 if request.card.graded else request.level or level
    found = sorted(
        (gain, label)
        for gain, label in zip(gains, levels, strict=True)
        if label >= least and (gain > 0.0 or not request.card.graded)
    )
    return tuple({label for _, label in (*found[:1], *found[-1:])})


def refused(request: names.Request, what: str) -> names.UnknownMetricError:
    return names.UnknownMetricError(f"metric {quote(request.text)}: {what} have no known bounds")


def own_gains(values: dict[str, Any]) -> names.Gains | None:
    """The gains of single labels among a metric's parameters."""
    return next((value for value in values.values() if isinstance(value, names.Gains)), None)


def own_scale(own: names.Gains, top: int) -> tuple[float, float]:
    """The least and largest gain that rbp scales by, where `top` is the query's largest label."""
    unlisted = next((label for label in range(top, -1, -1) if label not in own), 0)
    return min(0.0, *own.values()), max(0.0, float(unlisted), *own.values())


def gains_of(request: names.Request, values: dict[str, Any], level: int, levels: tuple[int, ...]) -> tuple[float, ...]:
    """The gains of labels, as the walk over a ranking has them."""
    _, floor, curve, own, _, _ = walk_of(request, values, level)
    listed = dict(own)

    def gain(label: int) -> float:
        if label < floor:
            return 0.0
        if label in listed or label <= 0:
            return listed.get(label, 0.0)
        if curve == GAIN_CODES["binary"]:
            return 1.0
        return 2.0 ** min(label, 1000) - 1.0 if curve == GAIN_CODES["exp2"] else float(label)

    return tuple(map(gain, levels))
