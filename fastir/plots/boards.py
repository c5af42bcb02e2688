"""The picture of two leaderboards of the same systems, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fastir.plots.compare import board_height, name_rows
from fastir.plots.style import BLUE, GREY, VERMILION, new_axes, plain_text, short_names, tidy, width_beside, with_note
from fastir.request.directions import best_first

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        The two sides have different systems, or none.
    """
    if not a or set(a) != set(b):
        raise ValueError(f"expected the same systems on both sides, got {len(a)} and {len(b)}")
    orders = [best_first(dict(side), metric or "") for side in (a, b)]
    texts, note = short_names(orders[0])
    text_by_system = dict(zip(orders[0], texts, strict=True))
    ax = ax or new_axes(board_height(len(texts)), width_beside(texts, texts))
    places = {system: place for place, system in enumerate(orders[1])}
    for place, system in enumerate(orders[0]):
        fall = places[system] - place
        colour = VERMILION if fall > 0 else BLUE if fall < 0 else GREY
        ax.plot([0, 1], [place, places[system]], "o-", color=colour, clip_on=False)
    name_rows(ax, texts)
    ax.secondary_yaxis("right").set_yticks(range(len(texts)), [text_by_system[system] for system in orders[1]])
    ax.set_xlim(0, 1)
    ax.set_xticks([0, 1], list(map(plain_text, titles)))
    ax.set_xlabel(with_note(plain_text(metric or ""), note))
    return tidy(ax)
