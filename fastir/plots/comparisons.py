"""Pictures of a Comparison: differences by query, means with intervals, wins; and all of them in one figure."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.plots.style import BLUE, GREY, VERMILION, new_axes, plain, tidy
from fastir.request.directions import best_of
from fastir.text import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fastir.comparison.comparison import Comparison

LABELLED = 40  # queries up to which each has its id below
WRITTEN = 7  # runs up to which wins, ties and losses are all written into a heat map


def differences(
    comparison: Comparison, a: Hashable, b: Hashable, metric: str | None = None, ax: Axes | None = None
) -> Axes:
    """The differences of two runs, query by query, from the largest gain of `a` to its largest loss.

    Gains are blue: differences above 0, or below it for a metric of which less is better.

    Parameters
    ----------
    comparison : Comparison
    a, b : names of runs
    metric : str or None
        None: the first.
    ax : matplotlib.axes.Axes or None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib.axes.Axes
        `ax`, or new axes of a new figure.

    Raises
    ------
    KeyError
        The run or the metric was not compared.
    ImportError
        matplotlib is not installed. All functions of this module raise it.
    """
    metric = comparison.metrics[0] if metric is None else metric
    changes = comparison.diff(a, b, metric)
    x = comparison.values[comparison.metrics.index(metric)]
    values = x[:, comparison.runs.index(a)] - x[:, comparison.runs.index(b)]
    sign = -1 if comparison.directions[metric] == "less" else 1
    order = [place for place in np.argsort(-sign * values, kind="stable") if values[place] == values[place]]
    values, queries = values[order], [comparison.query_ids[place] for place in order]
    labelled = len(queries) <= LABELLED
    ax = ax or new_axes(max(6.4, 0.22 * len(queries) if labelled else 0), 4)
    edges = np.arange(len(values) + 1) - 0.5
    above, below = (BLUE, VERMILION)[::sign]
    for colour, part in ((above, np.maximum(values, 0.0)), (below, np.minimum(values, 0.0))):
        ax.stairs(part, edges, fill=True, color=colour)
    ax.axhline(0, color="black", linewidth=0.8)
    mean = changes.mean - changes.other_mean
    ax.axhline(mean, color="black", linewidth=0.8, linestyle="--")
    ax.margins(x=0.01)
    ax.set_xticks(range(len(queries)) if labelled else [])
    if labelled:
        ax.set_xticklabels(map(plain, queries), rotation=90, fontsize="small")
    ax.set_xlabel(counted(len(queries), "query", "queries"))
    ax.set_ylabel(plain(f"difference in {metric}"))
    counts = f"{changes.n_gains} gain, {changes.n_equal} equal, {changes.n_losses} lose; mean {mean:+.4f} (dashed)"
    ax.set_title(f"{plain(a)} \N{MINUS SIGN} {plain(b)}\n{counts}", fontsize="medium")
    return tidy(ax)


def means(comparison: Comparison, metric: str | None = None, ax: Axes | None = None) -> Axes:
    """The mean of each run with its interval; the best in colour, unless neither more nor less is better.

    Parameters
    ----------
    comparison : Comparison
    metric : str or None
        None: the first.
    ax : matplotlib.axes.Axes or None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib.axes.Axes
        `ax`, or new axes of a new figure.

    Raises
    ------
    KeyError
        There is no such metric.
    """
    metric = known_metric(comparison, metric)
    systems = [system for system in comparison.systems if system.metric == metric]
    ax = ax or new_axes(6.4, height_of(len(systems)))
    best = best_of([system.mean for system in systems], metric)
    for place, system in enumerate(systems):
        colour = BLUE if math.isclose(system.mean, best, rel_tol=1e-12) else GREY
        ax.plot([system.low, system.high], [place, place], color=colour, linewidth=2, solid_capstyle="butt")
        ax.plot(system.mean, place, "o", color=colour, markersize=6)
    ax.set_yticks(range(len(systems)), [plain(system.run) for system in systems])
    ax.set_ylim(len(systems) - 0.5, -0.5)
    ax.set_xlabel(plain(f"{metric}, mean and {comparison.method.confidence:.0%} interval"))
    ax.grid(axis="x", color="0.9")
    return tidy(ax)


def wins(comparison: Comparison, metric: str | None = None, ax: Axes | None = None) -> Axes:
    """The number of queries on which each run wins and loses against each other run, as a heat map.

    Parameters
    ----------
    comparison : Comparison
        With a baseline, only the baseline's column is filled.
    metric : str or None
        None: the first.
    ax : matplotlib.axes.Axes or None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib.axes.Axes
        `ax`, or new axes of a new figure.

    Raises
    ------
    KeyError
        There is no such metric.
    """
    metric = known_metric(comparison, metric)
    runs = comparison.runs
    places = {run: place for place, run in enumerate(runs)}
    shares = np.full((len(runs), len(runs)), np.nan)
    ax = ax or new_axes(*size_of_wins(runs))
    for pair in comparison.pairs:
        if pair.metric == metric:
            row, column = places[pair.a], places[pair.b]
            for y, x, won, lost in ((row, column, pair.wins, pair.losses), (column, row, pair.losses, pair.wins)):
                shares[y, x] = (won - lost) / max(1, pair.n_queries)
                text = f"{won}/{pair.ties}/{lost}" if len(runs) <= WRITTEN else f"{won - lost:+d}"
                ax.text(
                    x,
                    y,
                    text,
                    ha="center",
                    va="center",
                    fontsize=8 if len(runs) <= WRITTEN else 6,
                    color="white" if abs(shares[y, x]) > 0.6 else "black",
                )
    image = ax.imshow(shares, cmap="PuOr", vmin=-1, vmax=1, aspect="auto")
    ax.figure.colorbar(image, ax=ax, label="(wins - losses) / queries")
    ax.set_xticks(range(len(runs)), map(plain, runs), rotation=90)
    ax.set_yticks(range(len(runs)), map(plain, runs))
    what = "wins/ties/losses" if len(runs) <= WRITTEN else "wins less losses"
    ax.set_title(f"{plain(metric)}: {what}\nof the row against the column", fontsize="medium")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return ax


def overview(comparison: Comparison) -> Figure:
    """A row for each metric: the means, and beside them the differences of two runs or the wins of more.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    matplotlib.figure.Figure
        A new figure, which is not registered with pyplot; save it by its `savefig`.

    Raises
    ------
    ImportError
        matplotlib is not installed.
    """
    from matplotlib.figure import Figure

    n, metrics = len(comparison.runs), comparison.metrics
    wide, high = size_of_wins(comparison.runs) if n > 2 else (7.0, 4.2)
    figure = Figure(figsize=(6.4 + wide, max(high, height_of(n)) * len(metrics)), layout="constrained")
    grid = figure.subplots(len(metrics), 2, squeeze=False, width_ratios=(6.4, wide))
    for metric, (left, right) in zip(metrics, grid, strict=True):
        means(comparison, metric, left)
        if n == 2:
            a, b = comparison.runs
            differences(comparison, a, b, metric, right)
        else:
            wins(comparison, metric, right)
    return figure


# ---- sizes and names -----------------------------------------------------------------------------------------------


def height_of(runs: int) -> float:
    return max(2.2, 1.0 + 0.3 * runs)


def size_of_wins(runs: list[Any]) -> tuple[float, float]:
    """Width and height, with room for the names on two sides."""
    names = 0.085 * max(len(plain(run)) for run in runs)
    return 2.0 + names + (0.95 if len(runs) <= WRITTEN else 0.42) * len(runs), 1.2 + names + 0.42 * len(runs)


def known_metric(comparison: Comparison, metric: str | None) -> str:
    if metric is None:
        return comparison.metrics[0]
    if metric not in comparison.metrics:
        raise KeyError(f"{metric!r} was not compared; there are {', '.join(map(repr, comparison.metrics))}")
    return metric
