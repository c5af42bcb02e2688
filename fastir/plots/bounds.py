"""The picture of bounds: how far unjudged documents could change the values of runs or metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fastir.analyses.bounds.result import Bounds
from fastir.plots import style
from fastir.plots.compare import board_height, name_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def bounds(bounds: Bounds | Mapping[Any, Bounds], metric: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw a bar from the smallest to the largest value that labels of the unjudged documents could give.

    The line in a bar is the value; the open circle is the value without the unjudged documents. Outer bounds are grey.
    A bar of a difference that crosses 0 could have either sign.

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
        ax.barh(place, high - low, left=low, height=0.5, color=style.BLUE if each.exact[of] else style.GREY, alpha=0.5)
        ax.plot([each.value[of]] * 2, [place - 0.25, place + 0.25], color=style.ink(ax), solid_capstyle="butt")
        ax.plot(each.condensed[of], place, "o", color=style.ink(ax), markerfacecolor="none")
    if any(each.against is not None for _, each, _ in rows):
        ax.axvline(0, color=style.ink(ax), linewidth=style.hairline())
    name_rows(ax, names)
    about = f"{label}{', ' * bool(label)}whatever labels unjudged documents have"
    ax.set_xlabel(style.with_note(style.plain_text(about), note))
    return style.tidy(ax, "x")
