"""The data of pictures of a comparison, and the pictures of each query, for two runs or for all."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.analyses.compare.comparison import Comparison
from fastir.analyses.compare.records import Pair, System
from fastir.analyses.compare.tables import default_level, level_text, mark_labels, p_text, resamples_text
from fastir.errors import quote
from fastir.plots import style
from fastir.rendering.text import counted
from fastir.request.directions import SIGNS, higher_is_better

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fastir.data.results.changes import ResultsDiff

ComparisonLike = Comparison | Mapping[Any, Any]  # a Comparison, or Results by the names of runs
NAMED_QUERIES = 5  # queries at either end that are always named
ID_LETTERS = 20  # letters of a query's id
HEIGHT_EMS = 28  # the least height of a figure, in sizes of its font
TITLE_LETTERS = 60  # letters of a line of the title
ID_DISTANCE_EMS = 1.25  # the distance of ids side by side, in sizes of their font


class MetricComparison:
    """A comparison on one metric, the first if None."""

    def __init__(self, comparison: ComparisonLike, metric: str | None) -> None:
        if not isinstance(comparison, Comparison):
            from fastir.analyses.compare.compare_scores import compare_scores

            comparison = compare_scores(comparison, metric)
        if metric is None:
            metric = comparison.metrics[0]
        if metric not in comparison.metrics:
            raise KeyError(f"{quote(metric)} was not compared; there are {', '.join(map(repr, comparison.metrics))}")
        self.whole = comparison
        self.runs: list[Any] = comparison.runs
        self.metric = metric
        self.sign: int = SIGNS[higher_is_better(metric)]  # of a difference that is better
        self.places: dict[Any, int] = {run: place for place, run in enumerate(self.runs)}
        self.systems: dict[Any, System] = {one.run: one for one in comparison.systems if one.metric == metric}
        self.pairs: list[Pair] = [pair for pair in comparison.pairs if pair.metric == metric]
        self.level: float = default_level(comparison.method)
        self.labels: list[str] = mark_labels(len(self.runs))  # the letter of each run, as in the table
        self.significant: str = level_text(comparison.method, self.level)
        self.p_name: str = "corrected p" if comparison.method.correction else "p"
        texts, note = style.short_names(self.runs)
        self.names: dict[Any, str] = dict(zip(self.runs, texts, strict=True))
        self.note: str = note  # the parts of names that are left out

    def p_text(self, pair: Pair) -> str:
        """The p-value that counts, as in the table."""
        return p_text(pair, pair.adjusted_p, resamples_text(self.whole.method))

    def order_runs(self, sort: bool) -> list[Any]:
        """The runs in the caller's order, or the best first; the largest, where neither more nor less is better."""
        if not sort:
            return list(self.runs)
        places = style.highest_first([(self.sign or 1) * self.systems[run].mean for run in self.runs])
        return [self.runs[place] for place in places]

    def pair(self, a: Hashable, b: Hashable) -> tuple[Pair | None, int]:
        """The pair, and 1, or -1 if it was compared the other way round; None if it was not."""
        for pair in self.pairs:
            if (pair.a, pair.b) in ((a, b), (b, a)):
                return pair, 1 if pair.a == a else -1
        return None, 1


# ---- differences of two runs -----------------------------------------------------------------------------------------
def differences(
    comparison: ComparisonLike, a: Hashable, b: Hashable, metric: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the differences of two runs query by query, from the largest gain of `a` to its largest loss.

    Gains are blue: differences above 0, or below 0 for a metric of which less is better. All queries are named if there
    is room, otherwise the five at either end.

    Parameters
    ----------
    comparison, metric, ax : as for `means`
    a, b : names of runs

    Raises
    ------
    KeyError
        A run or the metric was not compared.
    ImportError
        matplotlib is not installed. All functions of this package raise it.
    """
    on = MetricComparison(comparison, metric)
    changes = on.whole.diff(a, b, on.metric)
    x = on.whole.values[on.whole.metrics.index(on.metric)]
    values = x[:, on.places[a]] - x[:, on.places[b]]
    sign = on.sign or 1
    order = [place for place in np.argsort(-sign * values, kind="stable") if values[place] == values[place]]
    values, queries = values[order], [style.elide(str(on.whole.query_ids[place]), ID_LETTERS) for place in order]
    ax = ax or style.new_axes(max(style.figure_size()[1], HEIGHT_EMS * style.em()), style.figure_size()[0])
    edges = np.arange(len(values) + 1) - 0.5
    above, below = (style.BLUE, style.VERMILION)[::sign]
    for colour, part in ((above, np.maximum(values, 0.0)), (below, np.minimum(values, 0.0))):
        ax.stairs(part, edges, fill=True, color=colour)
    ax.axhline(0, color=style.ink(ax), linewidth=style.hairline())
    ax.axhline(changes.mean - changes.other_mean, color=style.ink(ax), linewidth=style.hairline(), linestyle="--")
    ax.margins(x=0.01)
    pad = name(ax, queries)
    label = style.with_note(counted(len(queries), "query", "queries"), on.note)
    ax.set_xlabel(label, labelpad=pad if on.note else None)
    ax.set_ylabel(style.plain_text(f"difference in {on.metric}"))
    break_or_blank = " " if len(on.names[a]) + len(on.names[b]) < TITLE_LETTERS else "\n"
    title = f"{on.names[a]}{break_or_blank}\N{MINUS SIGN} {on.names[b]}"
    ax.set_title(f"{title}\n{summary(on, a, b, changes)}", fontsize="medium")
    return style.tidy(ax)


def summary(on: MetricComparison, a: Hashable, b: Hashable, changes: ResultsDiff) -> str:
    """How many queries gain and lose, the mean, and how sure it is."""
    counts = f"{changes.n_gains} gained, {changes.n_equal} equal, {changes.n_losses} lost"
    text = f"{counts}\nmean {style.minus(f'{changes.mean - changes.other_mean:+.4f}')} (dashed)"
    pair, _ = on.pair(a, b)
    if pair is None or pair.adjusted_p != pair.adjusted_p:
        return text
    p = on.p_text(pair)
    return f"{text}, {on.p_name} {p}" if p.startswith("≤") else f"{text}, {on.p_name} = {p}"


def name(ax: Axes, queries: Sequence[str]) -> float | None:
    """Write all queries at their ticks where they fit, else those at the ends, spread out and led to their bars.

    Returns how far a label of the axis must stay away from the latter, in points; None: that happens by itself.
    """
    from matplotlib.font_manager import FontProperties
    from matplotlib.transforms import offset_copy

    step = ID_DISTANCE_EMS * FontProperties(size="small").get_size_in_points()
    n = len(queries)
    figure: Any = ax.figure
    if n <= max(2 * NAMED_QUERIES, 72 * ax.get_window_extent().width / figure.dpi / step):
        ax.set_xticks(range(n), map(style.plain_text, queries), rotation=90, fontsize="small")
        return None
    ax.set_xticks([])
    line = {"color": style.ink(ax), "alpha": 0.5, "linewidth": style.hairline()}
    arrow = {"arrowstyle": "-", "relpos": (0.5, 1), **line}
    for end, corner, places in ((1, 0, range(NAMED_QUERIES)), (-1, 1, range(n - 1, n - 1 - NAMED_QUERIES, -1))):
        for number, place in enumerate(places):
            ax.annotate(
                style.plain_text(queries[place]),
                (place, 0),
                (corner, 0),
                xycoords=ax.get_xaxis_transform(),
                textcoords=offset_copy(ax.transAxes, figure, end * (number + 0.5) * step, -step, units="points"),
                rotation=90,
                ha="center",
                va="top",
                fontsize="small",
                arrowprops=arrow,
            )
    return step + 0.5 * step * max(map(len, [*queries[:NAMED_QUERIES], *queries[-NAMED_QUERIES:]]))


# ---- heat maps of queries and runs -----------------------------------------------------------------------------------
COLOUR_MAP = "cividis"  # which is the same to colour-blind readers
LETTER_EMS = 0.62  # the width of a letter, in sizes of its font


def topics(
    comparison: ComparisonLike, metric: str | None = None, ax: Axes | None = None, *, sort: bool = False
) -> Axes:
    """Draw a heat map of the value of each run on each query; undefined values are empty.

    The queries are in order from the one on which the runs are best to the one on which they are worst. If the
    comparison has segments, this is the order within each segment, and the names of the segments are above.
    Parameters, errors and the returned Axes are as for `means`.
    """
    on = MetricComparison(comparison, metric)
    runs, segments = on.order_runs(sort), segment_order(on)
    order = [place for places in segments.values() for place in places]
    values = on.whole.values[on.whole.metrics.index(on.metric)][order][:, [on.places[run] for run in runs]].T
    width = 1.3 * style.figure_size()[0] + style.width_beside(on.names.values()) / 4
    drawn = ax or style.new_axes((13 + 1.8 * len(runs)) * style.em(), width)
    defined = values[~np.isnan(values)]
    are_fractions = len(defined) and defined.min() >= 0 and defined.max() <= 1
    limits: dict[str, Any] = {"vmin": 0, "vmax": 1} if are_fractions else {}
    image = drawn.imshow(values, cmap=COLOUR_MAP, aspect="auto", interpolation="nearest", **limits)
    drawn.figure.colorbar(image, ax=drawn, label=style.plain_text(on.metric))
    drawn.set_yticks(range(len(runs)), [on.names[run] for run in runs])
    drawn.tick_params(length=0)
    drawn.grid(False)
    drawn.spines[:].set_visible(False)
    if on.whole.segments:
        room = name_segments(drawn, segments, len(order))
        if ax is None:
            figure: Any = drawn.figure
            figure.set_figheight(figure.get_figheight() + room)
    pad = name(drawn, [style.elide(str(on.whole.query_ids[place]), ID_LETTERS) for place in order])
    each = "each segment from" if on.whole.segments else "from"
    about = f"{counted(len(order), 'query', 'queries')}, {each} the easiest to the hardest"
    drawn.set_xlabel(style.with_note(about, on.note), labelpad=pad)
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
    letters = ax.get_window_extent().width / figure.dpi / (style.em() * LETTER_EMS) / n  # that one query has room for
    first, longest = 0, 1
    for segment, queries in segments.items():
        if first:
            ax.axvline(first - 0.5, color=ax.get_facecolor(), linewidth=3)
        text = style.elide(str(segment), ID_LETTERS)
        upright = len(text) > letters * len(queries)
        ax.annotate(
            style.plain_text(text),
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
    return longest * LETTER_EMS * style.em()
