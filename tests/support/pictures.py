"""What is on a picture, for the tests of plots: its texts, and whether they can be read. Needs matplotlib."""

import itertools

from matplotlib.text import Text


def drawn(ax):
    """The Axes, once everything on it has its place."""
    ax.figure.draw_without_rendering()
    return ax


def texts(labels):
    return [label.get_text() for label in labels if label.get_text()]


def apart(ax, labels):
    """Whether no label covers another, and none leaves the figure; an annotation counts without its arrow."""
    labels = [label for label in labels if label.get_text()]
    found = [Text.get_window_extent(label) for label in labels]
    within = all(ax.figure.bbox.padded(1).contains(*corner) for box in found for corner in (box.min, box.max))
    empty = [-0.2 * label.get_size() * ax.figure.dpi / 72 for label in labels]  # around the letters of a font
    inner = [box.padded(margin) for box, margin in zip(found, empty, strict=True)]
    return within and not any(one.overlaps(other) for one, other in itertools.combinations(inner, 2))


def all_texts(figure):
    """Every text of a figure that is seen."""
    seen = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
    ticks = [tick for ax in figure.axes for axis in (ax.xaxis, ax.yaxis) for tick in outside(axis)]
    return [text for text in seen if text not in ticks]


def outside(axis):
    """The labels of the ticks beyond the limits, which are not drawn."""
    low, high = sorted(axis.get_view_interval())
    for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
        if not low - 1e-9 * (high - low) <= tick.get_loc() <= high + 1e-9 * (high - low):
            yield from (tick.label1, tick.label2)
