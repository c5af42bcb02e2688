"""The picture of one ranking: a box for each document with its label, and below it how the value grows."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from fastir.analyses.explain.ranked import MAX_RANKS
from fastir.analyses.explain.records import Box, Explanation, metric_boxes
from fastir.checks import positive_integer
from fastir.data.results.exportable import result_title
from fastir.plots.style import BLUE, elide, em, hairline, ink, new_axes, plain_text, short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fastir.analyses.explain.ranked import RankedExplanation

ROW_BOXES = 10  # boxes side by side
WIDTH, HEIGHT = 4.4, 2.2  # of the space for a box, and of the box, in em
LINE_EMS = 1.35  # of text, in em
NAME_LETTERS = 9
PALE, FULL = 0.2, 0.6  # the blue of the smallest and of the largest label: text is seen on both


def ranking(
    explanation: Explanation | RankedExplanation,
    metric: str | None = None,
    ax: Axes | None = None,
    *,
    k: int = 20,
    rel_level: float = 1,
) -> Axes:
    """Draw one ranking as boxes with labels, with the running precision and the running value of a metric.

    Relevant documents are blue, darker for higher labels; an unjudged document has a dashed frame. Below each document
    are its id, the precision down to its rank (bold where average precision counts it), and the value of the metric
    down to its rank.

    Parameters
    ----------
    explanation : Explanation or RankedExplanation
        The result of `explain`, `Evaluator.explain` or `explain_ranked`.
    metric : str or None
        One of its metrics; None: the first.
    k : int
        How many ranks to draw, from 1 up, ten in a row.
    ax : matplotlib.axes.Axes or None
        Where to draw; None makes a new figure of the size of the boxes.
    rel_level : float
        The smallest label of a relevant document, as for the explanation.

    Raises
    ------
    KeyError
        The metric is not in the explanation.
    ValueError
        k is below 1, or the ranking is empty.
    TypeError
        k is not an int.
    """
    metric, every = metric_boxes(explanation, metric, rel_level)
    if not every:
        raise ValueError("explanation: its ranking is empty")
    drawn = every[: positive_integer("k", "the last rank", k, MAX_RANKS)]
    has_names = any(box.name for box in drawn)
    below = ["doc_id"] * has_names + ["precision", metric]
    row_height = HEIGHT + LINE_EMS * (len(below) + 2.2)
    rows = -(-len(drawn) // ROW_BOXES)
    texts, common = short_names(box.name for box in drawn)
    names = [elide(text, NAME_LETTERS) for text in texts]
    margin = max(0.55 * max(map(len, below)) + 1.0, 4.0)
    width = WIDTH * min(len(drawn), ROW_BOXES) + margin
    note = "; ".join(filter(None, [omission_note(explanation, len(every) - len(drawn)), common.replace("\n", "")]))
    height = row_height * rows + LINE_EMS * 2
    ax = ax or new_axes(height * em(), max(width, 30.0) * em())
    ax.set_axis_off()
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_xlim(-margin, max(width, 30.0) - margin)
    ax.set_ylim(-row_height * rows + HEIGHT + LINE_EMS, LINE_EMS * 1.6 + HEIGHT)
    colour = ink(ax)
    for row in range(rows):
        top = -row_height * row
        heads = [
            (top + HEIGHT + 0.25 * LINE_EMS, "rank"),
            *((top - LINE_EMS * (0.75 + at), of) for at, of in enumerate(below)),
        ]
        for y, text in heads:
            ax.text(-0.3, y, plain_text(text), ha="right", va="center", color=colour, fontsize="small", alpha=0.7)
    for place, (box, name) in enumerate(zip(drawn, names, strict=True)):
        draw_box(ax, box, WIDTH * (place % ROW_BOXES), -row_height * (place // ROW_BOXES), [name] * has_names)
    ax.set_title(plain_text(result_title(explanation)), fontsize="medium", loc="left", color=colour)
    if note:
        ax.text(0, -row_height * rows + HEIGHT + 1.4 * LINE_EMS, note, va="center", fontsize="small", color=colour)
    return ax


def draw_box(ax: Axes, box: Box, x: float, y: float, names: list[str]) -> None:
    """A box, its rank above and its texts below it."""
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Rectangle

    colour, middle = ink(ax), x + WIDTH / 2
    fill = to_rgba(BLUE, PALE + (FULL - PALE) * box.shade if box.shade else 0.0)
    dashes = "--" if box.label is None else "-"
    style = {"facecolor": fill, "edgecolor": colour, "linestyle": dashes, "linewidth": hairline()}
    ax.add_patch(Rectangle((x + 0.4, y), WIDTH - 0.8, HEIGHT - 0.5, **style))
    write = functools.partial(ax.text, middle, ha="center", va="center", color=colour)
    write(y + HEIGHT / 2 - 0.25, "–" if box.label is None else f"{box.label:g}")
    write(y + HEIGHT + 0.25 * LINE_EMS, str(box.rank), fontsize="small")
    for line, text in enumerate([*names, f"{box.precision:.2f}", f"{box.running:.3f}"]):
        size = "x-small" if line < len(names) else "small"
        weight = "bold" if line == len(names) and box.shade else "normal"
        write(y - LINE_EMS * (0.75 + line), text, fontsize=size, weight=weight)


def omission_note(explanation: Explanation | RankedExplanation, more: int) -> str:
    """A note on documents that are not drawn."""
    parts = [f"{more} more below"] if more else []
    if isinstance(explanation, Explanation) and explanation.missing:
        count = len(explanation.missing)
        parts.append(f"{count} relevant {'document is' if count == 1 else 'documents are'} missing")
    return "; ".join(parts)
