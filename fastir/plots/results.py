"""Pictures of one result: a ranking as boxes with the running value below them, bounds, a tuning."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fastir.analyses.bounds.result import Bounds
from fastir.analyses.explain.ranked import MAX_RANKS
from fastir.analyses.explain.records import Box, Explanation, metric_boxes
from fastir.checks import positive_integer
from fastir.data.results.exportable import result_title
from fastir.plots import style
from fastir.plots.compare import board_height, name_rows

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
    texts, common = style.short_names(box.name for box in drawn)
    names = [style.elide(text, NAME_LETTERS) for text in texts]
    margin = max(0.55 * max(map(len, below)) + 1.0, 4.0)
    width = WIDTH * min(len(drawn), ROW_BOXES) + margin
    note = "; ".join(filter(None, [omission_note(explanation, len(every) - len(drawn)), common.replace("\n", "")]))
    height = row_height * rows + LINE_EMS * 2
    ax = ax or style.new_axes(height * style.em(), max(width, 30.0) * style.em())
    ax.set_axis_off()
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_xlim(-margin, max(width, 30.0) - margin)
    ax.set_ylim(-row_height * rows + HEIGHT + LINE_EMS, LINE_EMS * 1.6 + HEIGHT)
    colour = style.ink(ax)
    for row in range(rows):
        top = -row_height * row
        heads = [
            (top + HEIGHT + 0.25 * LINE_EMS, "rank"),
            *((top - LINE_EMS * (0.75 + at), of) for at, of in enumerate(below)),
        ]
        for y, text in heads:
            ax.text(-0.3, y, style.plain_text(text), ha="right", va="center", color=colour, fontsize="small", alpha=0.7)
    for place, (box, name) in enumerate(zip(drawn, names, strict=True)):
        draw_box(ax, box, WIDTH * (place % ROW_BOXES), -row_height * (place // ROW_BOXES), [name] * has_names)
    ax.set_title(style.plain_text(result_title(explanation)), fontsize="medium", loc="left", color=colour)
    if note:
        ax.text(0, -row_height * rows + HEIGHT + 1.4 * LINE_EMS, note, va="center", fontsize="small", color=colour)
    return ax


def draw_box(ax: Axes, box: Box, x: float, y: float, names: list[str]) -> None:
    """A box, its rank above and its texts below it."""
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Rectangle

    colour, middle = style.ink(ax), x + WIDTH / 2
    fill = to_rgba(style.BLUE, PALE + (FULL - PALE) * box.shade if box.shade else 0.0)
    dashes = "--" if box.label is None else "-"
    look = {"facecolor": fill, "edgecolor": colour, "linestyle": dashes, "linewidth": style.hairline()}
    ax.add_patch(Rectangle((x + 0.4, y), WIDTH - 0.8, HEIGHT - 0.5, **look))
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


# ---- bounds ----------------------------------------------------------------------------------------------------------
def bounds(bounds: Bounds | Mapping[Any, Bounds], metric: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw a bar from the smallest to the largest value that labels of the unjudged documents could give.

    The legend says what is drawn. A bar of a difference that crosses 0 could have either sign.

    Parameters
    ----------
    bounds : Bounds, or mapping of name to Bounds
        The bounds of one run, with a bar for each metric; or of several runs, with a bar for each run.
    metric : str or None
        The metric to draw for several runs; None: the first.
    ax : as for `means`

    Raises
    ------
    KeyError
        The metric does not exist.
    TypeError
        `bounds` does not hold Bounds, as `fastir.bounds` makes them.
    ValueError
        The mapping is empty.
    """
    for each in bounds.values() if isinstance(bounds, Mapping) else [bounds]:
        if not isinstance(each, Bounds):
            raise TypeError(f"bounds: expected Bounds, which fastir.bounds makes, got {type(each).__name__}")
    if not isinstance(bounds, Mapping):
        rows = [(name, bounds, name) for name in (bounds.value.names if metric is None else [metric])]
        label = ""
    else:
        if not bounds:
            raise ValueError("bounds: the mapping is empty")
        label = next(iter(bounds.values())).value.names[0] if metric is None else metric
        rows = [(str(name), each, label) for name, each in bounds.items()]
    names, note = style.short_names(name for name, _, _ in rows)
    ax = ax or style.new_axes(board_height(len(rows)), style.width_beside(names))
    for place, (_, each, of) in enumerate(rows):
        low, high = each.lower[of], each.upper[of]
        colour, kind = (style.BLUE, "bounds") if each.exact[of] else (style.GREY, "outer bounds")
        ax.barh(place, high - low, left=low, height=0.5, color=colour, alpha=0.5, label=kind)
        ends = [place - 0.25, place + 0.25]
        ax.plot([each.value[of]] * 2, ends, color=style.ink(ax), solid_capstyle="butt", label="value")
        without = "without unjudged documents"
        ax.plot(each.condensed[of], place, "o", color=style.ink(ax), markerfacecolor="none", label=without)
    if any(each.against is not None for _, each, _ in rows):
        ax.axvline(0, color=style.ink(ax), linewidth=style.hairline())
    name_rows(ax, names)
    about = f"{label}{', ' * bool(label)}whatever labels unjudged documents have"
    ax.set_xlabel(style.with_note(style.plain_text(about), note))
    style.legend_above(ax)
    return style.tidy(ax, "x")


# ---- a tuning --------------------------------------------------------------------------------------------------------
CHOSEN, BY_FOLDS = "chosen on all queries", "chosen by the folds"
LARGE, SMALL = 30, 8  # points of the triangle
CORNERS = ((0.0, 0.0), (1.0, 0.0), (0.5, 3**0.5 / 2))  # of the triangle, one for each run


def tuning(tuning: Any, ax: Axes | None = None) -> Axes:
    """Plot the metric against the weight of the first run or the parameter; for three runs, over a triangle of weights.

    The legend says what is drawn. If the settings that the folds chose are far apart, the choice depends on the
    queries.

    Parameters
    ----------
    tuning : Tuning
        The result of `fastir.tune`.
    ax : as for `means`

    Raises
    ------
    TypeError
        `tuning` is not a Tuning.
    ValueError
        Nothing was searched, or there are more than three weights.
    """
    if not hasattr(tuning, "trials") or not hasattr(tuning, "plateau"):
        raise TypeError(f"tuning: expected a Tuning, which fastir.tune makes, got {type(tuning).__name__}")
    names = list(tuning.plateau)
    if not names or len(tuning.trials) < 2:
        raise ValueError("tuning: nothing was searched, so there is nothing to draw")
    if len(names) > 3:
        raise ValueError(f"tuning: weights of {len(names)} runs; the plot can show three")
    width, height = style.figure_size() if ax is None else (0, 0)
    ax = ax or style.new_axes(height, width)
    return triangle(tuning, names, ax) if len(names) == 3 else curve(tuning, names[0], ax)


def number(setting: Any, name: Any) -> float:
    return float((setting.weights or setting.params)[name])


def curve(tuning: Any, name: Any, ax: Axes) -> Axes:
    trials = sorted(tuning.trials, key=lambda trial: number(trial, name))
    low, high = tuning.plateau[name]
    ax.axvspan(low, high, color=style.GREY, alpha=0.25, linewidth=0, label="within noise of the chosen")
    xs = [number(trial, name) for trial in trials]
    ax.plot(xs, [trial.value for trial in trials], color=style.BLUE, marker="" if len(xs) > 30 else "o")
    ax.axvline(number(tuning, name), color=style.VERMILION, label=CHOSEN)
    dashed: dict[str, Any] = {"linewidth": style.hairline(), "linestyle": (0, (4, 2))}
    ax.axhline(tuning.value, color=style.ink(ax), label="cross-validated", **dashed)
    marks = [number(fold, name) for fold in tuning.folds]
    ax.plot(marks, [0.02] * len(marks), "|", color=style.VERMILION, transform=ax.get_xaxis_transform(), label=BY_FOLDS)
    ax.set_xlabel(style.plain_text(f"weight of {name}" if tuning.weights else str(name)))
    ax.set_ylabel(style.plain_text(str(tuning.metric)))
    style.legend_above(ax)
    return style.tidy(ax, "both")


def at(setting: Any, names: list[Any]) -> tuple[float, float]:
    """Where the weights of three runs are in the triangle."""
    weights = [number(setting, name) for name in names]
    total = sum(weights) or 1.0
    x, y = (sum(w * corner[axis] for w, corner in zip(weights, CORNERS, strict=True)) / total for axis in (0, 1))
    return x, y


def triangle(tuning: Any, names: list[Any], ax: Axes) -> Axes:
    points = [at(trial, names) for trial in tuning.trials]
    sizes = [LARGE if trial.within_noise else SMALL for trial in tuning.trials]
    across, up = zip(*points, strict=True)
    drawn = ax.scatter(across, up, c=[trial.value for trial in tuning.trials], s=sizes, cmap="cividis")
    for size, text in ((LARGE, "tried: within noise of the chosen"), (SMALL, "tried: worse")):
        ax.scatter([], [], c=style.GREY, s=size, label=text)
    ax.plot(*zip(*(at(fold, names) for fold in tuning.folds), strict=True), "x", color=style.VERMILION, label=BY_FOLDS)
    ax.plot(*at(tuning, names), "o", color=style.VERMILION, markerfacecolor="none", markersize=10, label=CHOSEN)
    style.legend_above(ax)
    for name, (x, y), below in zip(names, CORNERS, (True, True, False), strict=True):
        ax.annotate(
            style.plain_text(str(name)),
            (x, y),
            xytext=(0, -8 if below else 8),
            textcoords="offset points",
            ha="center",
            va="top" if below else "bottom",
        )
    ax.figure.colorbar(drawn, ax=ax, label=style.plain_text(str(tuning.metric)))
    ax.set_aspect("equal")
    ax.margins(0.15)
    ax.set_axis_off()
    return ax
