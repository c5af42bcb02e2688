"""What all pictures share: colours, dashes, axes, and sizes, which follow the rcParams and never change them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from fastir.rendering.names import ELLIPSIS, SEPARATOR, without_common

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# ---- names on pictures -----------------------------------------------------------------------------------------------
NAME_LETTERS = 36  # letters of a name, if that keeps the names distinct
NOTE_LETTERS = 44  # letters of a line of the note


def short_names(names: Iterable[object]) -> tuple[list[str], str]:
    """A text for each name, distinct where the names are, and a note that says what all names begin and end with.

    The note is "" if nothing common was left out.
    """
    rests, common = without_common(list(map(str, names)))
    note = wrap_note(common) if common else []
    return elide_all(rests), "\n".join(map(plain_text, note))


def wrap_note(text: str) -> list[str]:
    """Few lines, about as long as one another, that end with a separator where there is one."""

    def lines(longest: int) -> list[str]:
        return re.findall(f".{{1,{longest - 1}}}(?:{SEPARATOR}|$)|.{{1,{longest}}}", text)

    return next(
        folded for longest in range(2, NOTE_LETTERS + 1) if len(folded := lines(longest)) == len(lines(NOTE_LETTERS))
    )


def elide_all(texts: Sequence[str], longest: int = NAME_LETTERS) -> list[str]:
    """The texts, each without its middle if it is too long, and longer than that if two would be the same."""
    while len({elide(text, longest) for text in texts}) < len(set(texts)):
        longest += 4
    return [plain_text(elide(text, longest)) for text in texts]


def elide(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    tail = (longest - 1) // 2
    return f"{text[: longest - 1 - tail]}{ELLIPSIS}{text[len(text) - tail :]}"


def plain_text(text: str) -> str:
    """Text that matplotlib shows unchanged: no mathematics, no leading underscore to hide a label, one line.

    Half a surrogate pair (a byte that is no UTF-8) is shown by its number.
    """
    text = " ".join(text.encode("utf-8", "backslashreplace").decode().split()).replace("$", r"\$")
    return f"\N{ZERO WIDTH SPACE}{text}" if text.startswith("_") else text


def minus(text: str) -> str:
    """A number with a true minus sign."""
    return text.replace("-", "\N{MINUS SIGN}", 1)


# ---- style -----------------------------------------------------------------------------------------------------------

BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#999999"
COLOURS = (BLUE, VERMILION, "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # and the text colour
GAPS = ((1, 0), (4, 2), (1, 1.6), (5, 2, 1, 2), (3, 3), (3, 2, 1, 2, 1, 2), (1, 3))  # dashes: drawn, left out, ...
MARKERS = ("o", "s", "^", "D")


def lines(
    curves: Mapping[Any, tuple[Any, Any]],
    ax: Axes | None,
    xlabel: str,
    ylabel: str,
    *,
    dashed: bool = False,
    marked: bool = True,
    by: Callable[[Sequence[float]], float] | None = None,
) -> Axes:
    """A line for each name, through its x and y; with `dashed`, neighbours differ in dashes, too.
    `marked`: whether its points have marks.

    `by` is what the legend is sorted by, from the largest, as a function of y. Colours stay as without it.
    """
    texts, note = short_names(curves)
    ax = ax or new_axes(max(figure_size()[1], (8 + 1.6 * len(curves)) * em()), width_beside(texts))
    colours = (*COLOURS, ink(ax))
    drawn = []
    for number, (x, y) in enumerate(curves.values()):
        round, colour = divmod(number, len(colours))
        gaps = GAPS[(number if dashed else round) % len(GAPS)]
        marker = MARKERS[round % len(MARKERS)] if marked else ""
        shows_through = sum(gaps[1::2]) / sum(gaps)  # the lines below: those with wider gaps are drawn over them
        drawn += ax.plot(
            x,
            y,
            color=colours[colour],
            linestyle=(0, gaps),
            marker=marker,
            markersize=settings()["lines.markersize"] / 2,
            zorder=2 + 0.1 * shows_through,
        )
    order = list(range(len(drawn))) if by is None else highest_first([by(list(y)) for _, y in curves.values()])
    ax.legend(
        [drawn[place] for place in order],
        [texts[place] for place in order],
        frameon=False,
        loc="center left",
        bbox_to_anchor=(1.0, 0.5),
        fontsize="small",
        handlelength=3,
    )
    ax.set_xlabel(with_note(xlabel, note))
    ax.set_ylabel(ylabel)
    return tidy(ax, "both")


def highest_first(values: Sequence[float]) -> list[int]:
    """The positions of the values, from the largest; NaN comes last."""
    return sorted(range(len(values)), key=lambda place: (values[place] != values[place], -values[place]))


def legend_above(ax: Axes) -> None:
    """A legend above the data of all that has a label, each once."""
    handles, labels = ax.get_legend_handles_labels()
    once = dict(zip(labels, handles, strict=True))
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": 2}
    ax.legend(list(once.values()), list(once), frameon=False, fontsize="small", **place)


# ---- axes ----------------------------------------------------------------------------------------------------------
def new_axes(height: float, width: float) -> Axes:
    """Axes of a new figure of pyplot."""
    from matplotlib import pyplot

    from fastir.plots.figure import Figure

    return pyplot.subplots(figsize=(width, height), layout="constrained", FigureClass=Figure)[1]


def settings() -> Any:
    """The rcParams; what every picture asks first, unless it is given axes.

    Raises
    ------
    ImportError
        matplotlib is not installed.
    """
    try:
        from matplotlib import rcParams
    except ImportError as error:
        raise ImportError(f"fastir.plots needs matplotlib: pip install 'fastir[plot]' ({error})") from None
    return rcParams


def width_beside(*columns: Iterable[str]) -> float:
    """The width of the rcParams, and more for each wide column of texts next to the data."""
    return figure_size()[0] + 0.5 * em() * sum(max(0, max(map(len, texts)) - 16) for texts in columns)


def figure_size() -> tuple[float, float]:
    width, height = settings()["figure.figsize"]
    return width, height


def em() -> float:
    """The size of the font in inches, which the sizes of everything with text are multiples of."""
    return float(settings()["font.size"]) / 72


def hairline() -> float:
    """The width of a line that only guides the eye: a grid's."""
    return float(settings()["grid.linewidth"])


def ink(ax: Axes) -> Any:
    """The colour that is seen on these axes, on paper and on a dark screen."""
    return ax.xaxis.label.get_color()


def tidy(ax: Axes, grid: Literal["x", "both"] | None = None) -> Axes:
    """No frame at the top and right; a faint grid along "x" or "both"."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_axisbelow(True)
    if grid is not None:
        ax.grid(axis=grid, color=ink(ax), alpha=0.15)
    return ax


def with_note(label: str, note: str) -> str:
    """A label, and below it the note on names, if there is one."""
    return f"{label}\n{note}" if note else label
