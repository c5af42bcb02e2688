"""One ranking as a row of boxes, as introductions draw it: what stands in each box and below it.

A picture (`plots.ranking`) and a notebook read the same boxes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from fastir.explanation.records import Explanation, named

if TYPE_CHECKING:
    from fastir.explanation.ranked import RankedExplanation


class Box(NamedTuple):
    """A document in its place.

    Attributes
    ----------
    rank : int
    name : str
        Its id; "" for a bare label.
    label : int, float or None
        None: nobody judged it.
    shade : float
        Its label as a share of the largest of the ranking; 0 if it is not relevant.
    precision : float
        The share of relevant documents down to this rank.
    running : float
        The value of the metric down to this rank, as far as its documents have made it.
    """

    rank: int
    name: str
    label: Any
    shade: float
    precision: float
    running: float


def boxes(explanation: Explanation | RankedExplanation, metric: str | None, rel_level: float) -> tuple[str, list[Box]]:
    """The name of the metric, and a box for each document from rank 1.

    Raises
    ------
    KeyError
        The metric was not asked for.
    """
    if isinstance(explanation, Explanation):
        metric = named(metric, explanation.values)
        base = explanation.base[metric]
        added = [document.contribution[metric] for document in explanation.documents]
        runnings = [math.fsum([base, *added[: place + 1]]) for place in range(len(added))]
        rows: list[tuple[str, Any]] = [(str(document.doc_id), document.label) for document in explanation.documents]
    else:
        named(metric, {explanation.metric: explanation.value})
        metric, ideal = explanation.metric, explanation.ideal
        runnings = [row.running_sum / ideal if ideal else row.running_sum for row in explanation.documents]
        rows = [("", row.label) for row in explanation.documents]
    made, found = [], 0
    judged = [None if label is None or label < 0 else label for _, label in rows]
    most = max((label for label in judged if label is not None), default=0)
    for rank, ((name, _), label, running) in enumerate(zip(rows, judged, runnings, strict=True), 1):
        relevant = label is not None and label >= rel_level
        found += relevant
        shade = label / most if relevant and most > 0 else float(relevant)
        made.append(Box(rank, name, label, shade, found / rank, running))
    return metric, made
