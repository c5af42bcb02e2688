"""Pictures of a Comparison: means with intervals, differences to one run, wins, all in one figure; and two boards."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.analyses.compare.tables import find_beaten, marks_text
from fastir.plots import style
from fastir.plots.queries import ComparisonLike, MetricComparison, differences
from fastir.request.directions import best_first, best_mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


COLOUR_MAP = "PuOr"  # white in the middle; colour-blind readers see both ends as different
MAX_WRITTEN_RUNS = 7  # runs up to which wins, ties and losses are all written into a heat map


def means(comparison: ComparisonLike, metric: str | None = None, ax: Axes | None = None, *, sort: bool = False) -> Axes:
    """Draw the mean of each run with its interval; the best is coloured, unless neither more nor less is better.

    The letters at the right name the runs that a run is significantly better than, as in the table of the comparison.

    Parameters
    ----------
    comparison : Comparison, or mapping of name to Results
        Results, such as `evaluate_many` returns, are compared as by `compare_scores`.
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
    runs = on.order_runs(sort)
    beaten = {run: places for (run, _), places in find_beaten(on.pairs, on.places, on.level).items()}
    texts = [marks_text(beaten.get(run, []), on.labels).replace("-", "\N{EN DASH}") for run in runs]
    ax = ax or style.new_axes(board_height(len(runs)), style.width_beside(on.names.values(), texts))
    best = best_mean([system.mean for system in on.systems.values()], on.metric)
    for place, run in enumerate(runs):
        system = on.systems[run]
        colour = style.BLUE if len(runs) > 1 and math.isclose(system.mean, best, rel_tol=1e-12) else style.GREY
        interval(ax, place, system.low, system.mean, system.high, colour)
    keys = [f"  {on.labels[on.places[run]]}" if beaten else "" for run in runs]
    name_rows(ax, [on.names[run] + key for run, key in zip(runs, keys, strict=True)])
    if beaten:
        column(ax, f"better than\n({on.significant})", texts)
    ax.set_xlabel(style.with_note(style.plain_text(f"{on.metric}, mean and {percent(on)} interval"), on.note))
    return style.tidy(ax, "x")


def forest(
    comparison: ComparisonLike,
    metric: str | None = None,
    ax: Axes | None = None,
    *,
    baseline: Hashable = None,
    sort: bool = False,
) -> Axes:
    """Draw the difference of each run to one run, with its interval and p-value.

    Significant differences are filled: blue if the run is better, vermilion if it is worse.

    Parameters
    ----------
    comparison, metric, ax, sort : as for `means`
    baseline : name of a run
        The run that the others are compared with. None: the first baseline of the comparison; without baselines, the
        best run.

    Raises
    ------
    KeyError
        The metric or the run does not exist.
    ValueError
        No run was compared with `baseline`.
    """
    on = MetricComparison(comparison, metric)
    if baseline is None:
        baseline = next(iter(on.whole.method.baseline), on.order_runs(sort=True)[0])
    if baseline not in on.places:
        raise KeyError(f"{baseline!r} was not compared; there are {', '.join(map(repr, on.runs))}")
    pairs = {run: on.pair(run, baseline) for run in on.order_runs(sort)}
    rows = [run for run, (pair, _) in pairs.items() if pair is not None or run == baseline]
    if len(rows) < 2:
        raise ValueError(f"no run was compared with {baseline!r}")
    ax = ax or style.new_axes(board_height(len(rows)), style.width_beside(on.names.values()))
    ax.axvline(0, color=style.ink(ax), linewidth=style.hairline())
    texts = []
    for place, run in enumerate(rows):
        pair, sign = pairs[run]
        if pair is None:
            ax.plot(0, place, "D", color=style.ink(ax))
            texts.append("baseline")
            continue
        better = on.sign * sign * np.sign(pair.difference) if pair.adjusted_p <= on.level else 0
        low, high = sorted((sign * pair.low, sign * pair.high))
        colour = (style.GREY, style.BLUE, style.VERMILION)[int(better)]
        interval(ax, place, low, sign * pair.difference, high, colour, better != 0)
        texts.append(on.p_text(pair))
    name_rows(ax, [on.names[run] for run in rows])
    column(ax, on.p_name, texts)
    what = f"difference in {style.plain_text(on.metric)} to the baseline,\n"
    ax.set_xlabel(style.with_note(f"{what}{percent(on)} interval; filled: {on.significant}", on.note))
    return style.tidy(ax, "x")


def wins(comparison: ComparisonLike, metric: str | None = None, ax: Axes | None = None, *, sort: bool = False) -> Axes:
    """Draw a heat map of the number of queries on which each run wins and loses against each other run.

    Significant differences are bold and framed. If the comparison has a baseline, only the baseline's row and column
    are filled. Parameters, errors and the returned Axes are as for `means`.
    """
    from matplotlib.patches import Rectangle

    on = MetricComparison(comparison, metric)
    runs = on.order_runs(sort)
    places = {run: place for place, run in enumerate(runs)}
    few = len(runs) <= MAX_WRITTEN_RUNS
    shares = np.full((len(runs), len(runs)), np.nan)
    ax = ax or style.new_axes(*size_of_wins(on)[::-1])
    for pair in on.pairs:
        row, column = places[pair.a], places[pair.b]
        significant = pair.adjusted_p <= on.level and pair.difference != 0
        for y, x, won, lost in ((row, column, pair.wins, pair.losses), (column, row, pair.losses, pair.wins)):
            share = shares[y, x] = (won - lost) / max(1, pair.n_queries)
            colour = text_colour(share)
            text = f"{won}/{pair.ties}/{lost}" if few else style.minus(f"{won - lost:+d}")
            weight = "bold" if significant else "normal"
            ax.text(
                x, y, text, ha="center", va="center", size="small" if few else "x-small", color=colour, weight=weight
            )
            if significant:
                ax.add_patch(
                    Rectangle((x - 0.45, y - 0.45), 0.9, 0.9, fill=False, edgecolor=colour, linewidth=style.hairline())
                )
    image = ax.imshow(shares, cmap=COLOUR_MAP, vmin=-1, vmax=1, aspect="auto")
    ax.figure.colorbar(image, ax=ax, label="(wins \N{MINUS SIGN} losses)\n/ queries")
    keys = [on.labels[on.places[run]] for run in runs]
    ax.set_xticks(range(len(runs)), keys)
    ax.set_yticks(range(len(runs)), [f"{on.names[run]}  {key}" for run, key in zip(runs, keys, strict=True)])
    what = "wins/ties/losses" if few else "wins less losses"
    ax.set_title(f"{style.plain_text(on.metric)}: {what}\nof the row against the column", fontsize="medium")
    ax.set_xlabel(style.with_note(f"framed: {on.significant}", on.note))
    ax.tick_params(length=0)
    ax.grid(False)
    ax.spines[:].set_visible(False)
    return ax


def overview(comparison: ComparisonLike, *, sort: bool = False) -> Figure:
    """Draw a row for each metric: the means, and at the right the differences of two runs or the wins of more.

    Parameters
    ----------
    comparison, sort : as for `means`

    Returns
    -------
    matplotlib.figure.Figure
        A new figure, not registered with pyplot; save it with `savefig`.

    Raises
    ------
    ImportError
        matplotlib is not installed.
    """
    from fastir.plots.figure import Figure

    on = MetricComparison(comparison, None)
    whole, n = on.whole, len(on.runs)
    width, height = style.figure_size()
    wide, high = size_of_wins(on) if n > 2 else (width, height)
    width = style.width_beside(on.names.values())
    figure = Figure(figsize=(width + wide, max(high, board_height(n)) * len(whole.metrics)), layout="constrained")
    grid = figure.subplots(len(whole.metrics), 2, squeeze=False, width_ratios=(width, wide))
    for metric, (left, right) in zip(whole.metrics, grid, strict=True):
        means(whole, metric, left, sort=sort)
        if n == 2:
            a, b = on.runs
            differences(whole, a, b, metric, right)
        else:
            wins(whole, metric, right, sort=sort)
    return figure


def leaderboards(
    a: Mapping[Any, float],
    b: Mapping[Any, float],
    metric: str | None = None,
    ax: Axes | None = None,
    *,
    titles: tuple[str, str] = ("a", "b"),
) -> Axes:
    """Draw a line for each system from its rank on one leaderboard to its rank on the other.

    Systems that fall are orange, systems that rise are blue, and the others are grey.

    Parameters
    ----------
    a, b : mapping of system to value
        The values of the same systems, such as `.a` and `.b` of the result of `rank_correlation`.
    metric : str or None
        The metric; its name says whether less is better. None: more is better.
    titles : tuple of two str
        The titles of the two sides.
    ax : as for `means`

    Raises
    ------
    ValueError
        The two sides have different systems, or none.
    """
    if not a or set(a) != set(b):
        raise ValueError(f"expected the same systems on both sides, got {len(a)} and {len(b)}")
    orders = [best_first(dict(side), metric or "") for side in (a, b)]
    texts, note = style.short_names(orders[0])
    text_by_system = dict(zip(orders[0], texts, strict=True))
    ax = ax or style.new_axes(board_height(len(texts)), style.width_beside(texts, texts))
    places = {system: place for place, system in enumerate(orders[1])}
    for place, system in enumerate(orders[0]):
        fall = places[system] - place
        colour = style.VERMILION if fall > 0 else style.BLUE if fall < 0 else style.GREY
        ax.plot([0, 1], [place, places[system]], "o-", color=colour, clip_on=False)
    name_rows(ax, texts)
    ax.secondary_yaxis("right").set_yticks(range(len(texts)), [text_by_system[system] for system in orders[1]])
    ax.set_xlim(0, 1)
    ax.set_xticks([0, 1], list(map(style.plain_text, titles)))
    ax.set_xlabel(style.with_note(style.plain_text(metric or ""), note))
    return style.tidy(ax)


# ---- parts and sizes -----------------------------------------------------------------------------------------------
def interval(ax: Axes, place: int, low: float, middle: float, high: float, colour: str, filled: bool = True) -> None:
    """A point and its interval in a row; a point that is not filled is open."""
    ax.plot([low, high], [place, place], color=colour, solid_capstyle="butt")
    ax.plot(middle, place, "o", color=colour, markerfacecolor=colour if filled else ax.get_facecolor())


def name_rows(ax: Axes, names: list[str]) -> None:
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.locator_params("x", nbins=4)


def column(ax: Axes, head: str, texts: list[str]) -> None:
    """Texts at the right of their rows, with a head."""
    for place, text in enumerate(texts):
        ax.text(1.02, place, text, transform=ax.get_yaxis_transform(), va="center", size="small")
    ax.text(1.02, 1.0, head, transform=ax.transAxes, va="bottom", size="small")


def text_colour(share: float) -> str:
    """The colour of text on a field of the heat map."""
    from matplotlib import colormaps

    red, green, blue, _ = colormaps[COLOUR_MAP]((share + 1) / 2)
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.45 else "white"


def percent(on: MetricComparison) -> str:
    return f"{on.whole.method.confidence:.0%}"


def board_height(rows: int) -> float:
    return (11 + 1.8 * rows) * style.em()


def size_of_wins(on: MetricComparison) -> tuple[float, float]:
    """Width and height, with room for the names and the scale at the sides."""
    n, names = len(on.runs), 0.62 * max(map(len, on.names.values()))
    return (12 + names + (6.2 if n <= MAX_WRITTEN_RUNS else 2.6) * n) * style.em(), (13 + 2.4 * n) * style.em()
