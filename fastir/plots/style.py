"""What all pictures share: colours, dashes, axes, and text that is shown as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#999999"
COLOURS = (BLUE, VERMILION, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", ":", "-.")
LONGEST = 36  # letters of a name


def lines(curves: Mapping[Any, tuple[Any, Any]], ax: Axes | None, dashed: bool = False) -> Axes:
    """A line for each name, through its x and y; with `dashed`, neighbours differ in dashes, too."""
    ax = ax or new_axes(8.4 if len(curves) > 7 else 6.4, max(4.2, 0.8 + 0.2 * len(curves)))
    drawn = []
    for number, (x, y) in enumerate(curves.values()):
        round, colour = divmod(number, len(COLOURS))
        dashes = DASHES[(number if dashed else round) % len(DASHES)]
        drawn += ax.plot(x, y, color=COLOURS[colour], linestyle=dashes, marker="o", markersize=3)
    ax.legend(
        drawn,
        map(plain, curves),
        frameon=False,
        loc="center left",
        bbox_to_anchor=(1.0, 0.5),
        fontsize="small",
        handlelength=3,
    )
    ax.grid(color="0.9")
    return tidy(ax)


def new_axes(width: float, height: float) -> Axes:
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def tidy(ax: Axes) -> Axes:
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_axisbelow(True)
    return ax


def plain(text: object) -> str:
    """Text, cut if too long, that matplotlib shows as it is: no mathematics, no leading underscore to hide a label."""
    text = str(text)
    text = (text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}").replace("$", r"\$")
    return f"\N{ZERO WIDTH SPACE}{text}" if text.startswith("_") else text
