"""Which labels unjudged documents can have where a metric is smallest or largest, by the response on its card.

Below, the unjudged documents at the ranks to the cutoff are *inside*; the others can only be in the ideal ranking or in
R. If a metric falls as such a label rises, or never depends on it, they all have one label in the extreme cases.

ENDS     The value rises, or falls, with every label inside: all are 0, or all are the largest. For the sums over ranks
         this is plain; for the cascades (err, nerr8 to nerr11) a document of gain g at rank i adds g times its
         weight and takes at most g times the weight of the next rank from those below. In inst, whose reader stops at
         s with 1 - ((s - 1) / s)^2, s growing by at most 1 at each rank and by the less the more is gained, the gain
         expected below s is at most (s - 1)^2 / (2s - 1), as if all below were relevant; with it, what a gain at a rank
         takes from those below sums up to at most half of what it adds, if s >= 1, that is, T >= 1/2. SUM and FIRST
         are ENDS of which more is known (`differences`).
CHAIN    Relevance alone matters. For a fixed number of relevant unjudged documents, R is fixed, and a relevant document
         that changes places with one above it that is not makes every relevant document's rank, counted from the first,
         smaller or equal: the value rises. So of m relevant unjudged documents the topmost m give the largest value,
         the bottommost m the smallest, and m = 0, 1, ... are tried. AVERAGE and ODDS are chains whose best m running
         sums find.
SORTED   The same with several labels: for fixed numbers of unjudged documents with each label the ideal ranking is
         fixed, and the larger of two labels belongs higher up. All such rankings are tried if they are few.
RATIO    DCG over ideal DCG: sorted in the same way. DCG is linear in the gains, and the ideal DCG is convex, being the
         largest of the DCGs of all orders; so {value >= c} is convex, and the smallest value is at a corner: only 0 and
         the largest label. For the largest value, DCG - c * ideal DCG is a sum over levels of labels: the number of
         unjudged documents that reach each level is chosen by itself, and c is raised until nothing is left to gain
         (Dinkelbach).
TOPS     Labels are divided by the query's largest, or count by it. For a given largest label the value rises with
         every label: all unjudged documents have it, or all but the last are 0; each largest label is tried.
CASCADE  nerr: expected reciprocal rank, as a function of one gain, is a straight line, and its ideal value, the
         largest over all orders, is convex; so the smallest value is at a corner, as for RATIO, and all m bottommost
         unjudged documents are tried. For the largest value the labels are sorted, and each unjudged document
         multiplies what follows in both rankings by the same factor: the best difference of the value and c * ideal
         value is found document by document (`reader_models`), and c is raised. With max_grade=query each largest label
         is tried. With ideal=full it alone counts in the ideal: TOPS.
READER   bpm: what follows an unjudged document depends on the gain found so far and on the rank; there are few such
         sums (`reader_models`).
OUTER    Nothing is known: the range of the metric. CASCADE and READER are OUTER for real-valued labels.

If these arguments do not give a query's extremes and it has few labelings (MAX_LABELINGS), all of them are tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from fastir.engine.measure._codes import GAIN_CODES
from fastir.engine.measure.cards import CASCADE, CHAIN, ENDS, FIRST, OUTER, RATIO, READER, SUM, TOPS
from fastir.errors import UnknownMetricError, quote
from fastir.request import names
from fastir.request.compiler import code_from, shared_properties
from fastir.request.options import MAX_DEPTH

if TYPE_CHECKING:
    from fastir.request.plan import Settings

MONOTONE = (ENDS, SUM, FIRST)  # responses of metrics that rise, or fall, with every label


class Candidates(NamedTuple):
    """The labels that unjudged documents can have in an extreme labeling of a metric."""

    response: str  # one of RESPONSES; ENDS for all of MONOTONE
    low: int  # the label with the smallest gain
    high: int  # the label with the largest gain
    # labels that one unjudged document alone may have in an extreme case, while all others have `low`, or `high`
    singles: tuple[int, ...]
    # what the largest label of the unjudged documents may be in an extreme case, where labels are scaled by it
    tops: tuple[int, ...]
    cutoff: int
    lists_all: bool  # whether documents beyond the cutoff are looked at one by one
    steady: bool  # as on the card
    limits: tuple[float, float]  # the smallest and the largest value of the card
    gains: tuple[float, ...]  # of the `levels` of labels, for RATIO

    def alphabet(self, max_label: int) -> Sequence[int]:
        """The labels of all labelings: what CHAIN has are only two."""
        return tuple(sorted({self.low, self.high})) if self.response == CHAIN else range(max_label + 1)


def label_levels(labels: Iterable[int], settings: Settings, max_label: int) -> tuple[int, ...]:
    """The labels at which a metric of these settings may respond in another way; any others lie between two of them."""
    marks = {*labels, 0, 1, max_label}
    for request, values in zip(settings.requests, settings.values, strict=True):
        mapped = mapped_gains(values)
        marks |= {
            lowest_relevant(request, settings),
            *(int(label) + step for label in mapped or () for step in (-1, 0, 1)),
        }
    return tuple(sorted(mark for mark in marks if 0 <= mark <= max_label))


def response(request: names.Request, values: dict[str, Any], gains: tuple[float, ...]) -> str:
    """The word of a metric's card."""
    word = request.card.response
    return word if isinstance(word, str) else word(values, request.cutoff, gains)


def candidates(
    request: names.Request, values: dict[str, Any], settings: Settings, levels: tuple[int, ...]
) -> Candidates:
    """The Candidates of a metric, of which `levels` are the labels to look at."""
    card, max_label = request.card, levels[-1]
    if lowest_relevant(request, settings) <= 0:
        raise UnknownMetricError(
            f"metric {quote(request.text)}: in this convention every judged document is relevant, whatever its label"
        )
    if settings.grades is not None and mapped_gains(values) is not None:
        raise UnknownMetricError(
            f"metric {quote(request.text)}: gains of single labels have no known bounds for real-valued labels"
        )
    gains = level_gains(request, values, settings, levels)
    word = response(request, values, gains)
    if settings.grades is not None and word in (CASCADE, READER):
        word = OUTER
    check_gains(request, values, word, gains, max_label)
    scaled_by_top = word == TOPS or (word == CASCADE and values.get("max_grade") == "query")
    # of gains that grow exponentially, max_grade keeps labels so small that each can be tried
    tops = tuple(range(1, max_label + 1)) if "max_grade" in values else levels[1:]
    order = sorted(range(len(levels)), key=lambda place: gains[place])
    return Candidates(
        ENDS if word in MONOTONE else word,
        levels[order[0]],
        levels[order[-1]],
        single_labels(request, values, lowest_relevant(request, settings), levels, gains),
        tops if scaled_by_top else (),
        request.cutoff or MAX_DEPTH,
        values.get("ideal") == "retrieved",
        card.steady,
        (card.low, card.high),
        gains if word == RATIO else (),
    )


def check_gains(
    request: names.Request, values: dict[str, Any], word: str, gains: tuple[float, ...], max_label: int
) -> None:
    """Refuse gains of single labels with which a response does not hold."""
    mapped = mapped_gains(values)
    if mapped is None:
        return
    reason = ""
    if word not in MONOTONE and (list(gains) != sorted(gains) or gains[0] < 0 or min(mapped) < 0):
        reason = "gains that fall somewhere, or belong to documents without a judgment,"
    elif "gains" in values and gain_range(mapped, 0) != gain_range(mapped, max_label):
        reason = "gains that are scaled by the largest label"
    if reason:
        raise UnknownMetricError(f"metric {quote(request.text)}: {reason} have no known bounds")


def single_labels(
    request: names.Request, values: dict[str, Any], level: int, levels: tuple[int, ...], gains: tuple[float, ...]
) -> tuple[int, ...]:
    """The labels of the only relevant unjudged document, where a query without relevant ones is a case of its own."""
    if values.get("empty", "zero") == "zero":
        return ()
    lowest = 0 if request.card.graded else level
    relevant = sorted(
        (gain, label)
        for gain, label in zip(gains, levels, strict=True)
        if label >= lowest and (gain > 0.0 or not request.card.graded)
    )
    return tuple({label for _, label in (*relevant[:1], *relevant[-1:])})


def mapped_gains(values: dict[str, Any]) -> names.Gains | None:
    """The gains of single labels among a metric's parameters."""
    return next((value for value in values.values() if isinstance(value, names.Gains)), None)


def gain_range(mapped: names.Gains, top: int) -> tuple[float, float]:
    """The least and largest gain that the parameter `gains` scales by, where `top` is the query's largest label."""
    unlisted = next((label for label in range(top, -1, -1) if label not in mapped), 0)
    return min(0.0, *mapped.values()), max(0.0, float(unlisted), *mapped.values())


def lowest_relevant(request: names.Request, settings: Settings) -> int:
    """The label, or the code of one, from which on documents are relevant."""
    return code_from(request.relevant_from(settings.options.rel_level), settings.grades)


def level_gains(
    request: names.Request, values: dict[str, Any], settings: Settings, levels: tuple[int, ...]
) -> tuple[float, ...]:
    """The gains of labels, or of codes of labels, as the scan of a ranking has them."""
    grades = settings.grades
    _, floor, curve, mapped, _, _ = shared_properties(request, values, settings.options.rel_level, grades)
    listed = dict(mapped)

    def gain(label: int) -> float:
        if label < floor:
            return 0.0
        if label in listed or label <= 0:
            return listed.get(label, 0.0)
        if curve == GAIN_CODES["binary"]:
            return 1.0
        if grades is not None:
            return float(grades.gains[label] if curve == GAIN_CODES["exp2"] else grades.labels[label])
        return 2.0 ** min(label, 1000) - 1.0 if curve == GAIN_CODES["exp2"] else float(label)

    return tuple(map(gain, levels))
