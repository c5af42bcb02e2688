"""The picture of all runs on all topics, segment by segment: where runs fail together, and where one alone does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.plots.compared import MetricComparison
from fastir.plots.names import elide, plain_text
from fastir.plots.queries import ID_LETTERS, name
from fastir.plots.style import em, figure_size, new_axes, width_beside, with_note
from fastir.rendering.text import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fastir.analyses.compare.comparison import Comparison

MAP = "cividis"  # which is the same to colour-blind readers
LETTER = 0.62  # the width of a letter, in sizes of its font


def topics(
    comparison: Comparison | Mapping[Any, Any],
    metric: str | None = None,
    ax: Axes | None = None,
    *,
    sort: bool = False,
) -> Axes:
    """Draw a heat map of the value of each run on each query; undefined values are empty.

    The queries are in order from the one on which the runs are best to the one on which they are worst. If the
    comparison has segments, this is the order within each segment, and the names of the segments are above.

    Parameters
    ----------
    comparison : Comparison, or mapping of name to Results
    metric : str or None
        None: the first.
    ax : matplotlib.axes.Axes or None
        Where to draw; None makes a new figure.
    sort : bool
        Whether the best run is at the top; otherwise the runs are in the caller's order.

    Returns
    -------
    matplotlib.axes.Axes
        `ax`, or new axes of a new figure.

    Raises
    ------
    KeyError
        The metric does not exist.
    """
    on = MetricComparison(comparison, metric)
    runs, segments = on.order_runs(sort), segment_order(on)
    order = [place for places in segments.values() for place in places]
    values = on.whole.values[on.whole.metrics.index(on.metric)][order][:, [on.places[run] for run in runs]].T
    drawn = ax or new_axes((13 + 1.8 * len(runs)) * em(), 1.3 * figure_size()[0] + width_beside(on.names.values()) / 4)
    defined = values[~np.isnan(values)]
    shares = bool(len(defined)) and defined.min() >= 0 and defined.max() <= 1
    image = drawn.imshow(
        values,
        cmap=MAP,
        vmin=0 if shares else None,
        vmax=1 if shares else None,
        aspect="auto",
        interpolation="nearest",
    )
    drawn.figure.colorbar(image, ax=drawn, label=plain_text(on.metric))
    drawn.set_yticks(range(len(runs)), [on.names[run] for run in runs])
    drawn.tick_params(length=0)
    drawn.grid(False)
    drawn.spines[:].set_visible(False)
    if on.whole.segments:
        room = name_segments(drawn, segments, len(order))
        if ax is None:
            figure: Any = drawn.figure
            figure.set_figheight(figure.get_figheight() + room)
    pad = name(drawn, [elide(str(on.whole.query_ids[place]), ID_LETTERS) for place in order])
    each = "each segment from" if on.whole.segments else "from"
    about = f"{counted(len(order), 'query', 'queries')}, {each} the easiest to the hardest"
    drawn.set_xlabel(with_note(about, on.note), labelpad=pad)
    return drawn


def segment_order(on: MetricComparison) -> dict[Any, list[int]]:
    """The positions of each segment's queries (of all without segments), from the query with the best mean."""
    table = on.whole.values[on.whole.metrics.index(on.metric)]
    counts = np.maximum((~np.isnan(table)).sum(axis=1), 1)
    means = (on.sign or 1) * np.nansum(table, axis=1) / counts
    places = {query_id: place for place, query_id in enumerate(on.whole.query_ids)}
    segments = {
        segment: [places[query_id] for query_id in part.query_ids] for segment, part in on.whole.segments.items()
    }
    return {
        segment: sorted(of_segment, key=lambda place: -means[place])
        for segment, of_segment in (segments or {"all": list(places.values())}).items()
    }


def name_segments(ax: Axes, segments: Mapping[Any, list[int]], n: int) -> float:
    """Lines between the segments, and their names above, upright where wider than the segment; returns their height."""
    figure: Any = ax.figure
    letters = ax.get_window_extent().width / figure.dpi / (em() * LETTER) / n  # that one query has room for
    first, longest = 0, 1
    for segment, queries in segments.items():
        if first:
            ax.axvline(first - 0.5, color=ax.get_facecolor(), linewidth=3)
        text = elide(str(segment), ID_LETTERS)
        upright = len(text) > letters * len(queries)
        ax.annotate(
            plain_text(text),
            (first + (len(queries) - 1) / 2, 1),
            (0, 4),
            xycoords=ax.get_xaxis_transform(),
            textcoords="offset points",
            ha="center",
            va="bottom",
            rotation=90 if upright else 0,
            fontsize="small",
        )
        first += len(queries)
        longest = max(longest, len(text) if upright else 1)
    return longest * LETTER * em()
