"""The picture of a tuning: what each setting is worth, and which of them are within noise of the chosen one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastir.plots.style import BLUE, GREY, VERMILION, figure_size, hairline, ink, new_axes, plain_text, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CORNERS = ((0.0, 0.0), (1.0, 0.0), (0.5, 3**0.5 / 2))  # of the triangle, one for each run


def tuning(tuning: Any, ax: Axes | None = None) -> Axes:
    """Plot the metric against the weight of the first run or the parameter; for three runs, over a triangle of weights.

    The vertical line, or the open circle, is the setting chosen on all queries. Short lines at the bottom, or crosses,
    are the settings chosen by the folds: if they are far apart, the choice depends on the queries. The band, or the
    larger points, are settings within noise of the chosen one. The horizontal line is the cross-validated value.

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
    width, height = figure_size() if ax is None else (0, 0)
    ax = ax or new_axes(height, width)
    return triangle(tuning, names, ax) if len(names) == 3 else curve(tuning, names[0], ax)


def number(setting: Any, name: Any) -> float:
    return float((setting.weights or setting.params)[name])


def curve(tuning: Any, name: Any, ax: Axes) -> Axes:
    trials = sorted(tuning.trials, key=lambda trial: number(trial, name))
    low, high = tuning.plateau[name]
    ax.axvspan(low, high, color=GREY, alpha=0.25, linewidth=0)
    xs = [number(trial, name) for trial in trials]
    ax.plot(xs, [trial.value for trial in trials], color=BLUE, marker="" if len(xs) > 30 else "o")
    ax.axvline(number(tuning, name), color=VERMILION)
    ax.axhline(tuning.value, color=ink(ax), linewidth=hairline(), linestyle=(0, (4, 2)))
    marks = [number(fold, name) for fold in tuning.folds]
    ax.plot(marks, [0.02] * len(marks), "|", color=VERMILION, transform=ax.get_xaxis_transform())
    ax.set_xlabel(plain_text(f"weight of {name}" if tuning.weights else str(name)))
    ax.set_ylabel(plain_text(str(tuning.metric)))
    return tidy(ax, "both")


def at(setting: Any, names: list[Any]) -> tuple[float, float]:
    """Where the weights of three runs are in the triangle."""
    weights = [number(setting, name) for name in names]
    total = sum(weights) or 1.0
    x, y = (sum(w * corner[axis] for w, corner in zip(weights, CORNERS, strict=True)) / total for axis in (0, 1))
    return x, y


def triangle(tuning: Any, names: list[Any], ax: Axes) -> Axes:
    points = [at(trial, names) for trial in tuning.trials]
    sizes = [30 if trial.within_noise else 8 for trial in tuning.trials]
    across, up = zip(*points, strict=True)
    drawn = ax.scatter(across, up, c=[trial.value for trial in tuning.trials], s=sizes, cmap="cividis")
    ax.plot(*zip(*(at(fold, names) for fold in tuning.folds), strict=True), "x", color=VERMILION)
    ax.plot(*at(tuning, names), "o", color=VERMILION, markerfacecolor="none", markersize=10)
    for name, (x, y), below in zip(names, CORNERS, (True, True, False), strict=True):
        ax.annotate(
            plain_text(str(name)),
            (x, y),
            xytext=(0, -8 if below else 8),
            textcoords="offset points",
            ha="center",
            va="top" if below else "bottom",
        )
    ax.figure.colorbar(drawn, ax=ax, label=plain_text(str(tuning.metric)))
    ax.set_aspect("equal")
    ax.margins(0.15)
    ax.set_axis_off()
    return ax
