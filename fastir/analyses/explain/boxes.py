"""One ranking as a row of boxes, as introductions draw it: the text in each box and below it.

A picture (`plots.ranking`) and a notebook read the same boxes.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any, NamedTuple

from fastir.rendering.text import printable

PLACE = "width: 3.2em; font-variant-numeric: tabular-nums"


class Box(NamedTuple):
    """A document at its rank.

    Attributes
    ----------
    rank : int
    name : str
        Its id; "" for a bare label.
    label : int, float or None
        None: the document is unjudged.
    shade : float
        Its label as a fraction of the ranking's largest label; 0 if it is not relevant.
    precision : float
        The fraction of documents down to this rank that are relevant.
    running : float
        The value of the metric down to this rank, as far as its documents have made it.
    """

    rank: int
    name: str
    label: Any
    shade: float
    precision: float
    running: float


def boxes(rows: Sequence[tuple[str, Any, float]], rel_level: float) -> list[Box]:
    """A box for each (id, label, running value), from rank 1; an unjudged document has a negative label."""
    row, hits = [], 0
    most = max((label for _, label, _ in rows if label is not None), default=0)
    for rank, (name, label, running) in enumerate(rows, 1):
        judged = None if label is None or label < 0 else label
        relevant = judged is not None and judged >= rel_level
        hits += relevant
        shade = judged / most if judged and relevant and most > 0 else float(relevant)
        row.append(Box(rank, name, judged, shade, hits / rank, running))
    return row


def as_html(boxes: Sequence[Box], metric: str) -> str:
    """A row of boxes in the colours of the page: the frame is the thicker, the higher a relevant label."""
    places = "".join(
        f'<div title="{html.escape(printable(box.name))}" style="{PLACE}"><small>{box.rank}</small>'
        f'<div style="border: {1 + round(3 * box.shade)}px '
        f'{"dashed" if box.label is None else "solid"}; padding: 0.2em 0">'
        f"{'–' if box.label is None else f'{box.label:g}'}</div><small>{box.running:.3f}</small></div>"
        for box in boxes
    )
    about = f"<small>label at each rank; below: {html.escape(printable(metric))} down to it</small>"
    return f'<div style="display: flex; flex-wrap: wrap; gap: 0.3em; text-align: center">{places}</div>\n{about}\n'
