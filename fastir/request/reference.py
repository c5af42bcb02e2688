"""metrics(): the cards of all metrics, as a table for people."""

from fastir.engine.measure.cards import Card
from fastir.rendering.text import align_columns
from fastir.request.names import CARDS


class Metrics(tuple[Card, ...]):
    """The cards of metrics; it prints as a table of their names and what they are."""

    __slots__ = ()

    def _rows(self) -> list[list[str]]:
        return [[card.name, card.relevance, card.order, card.summary] for card in self]

    def __repr__(self) -> str:
        return align_columns([["metric", "relevance", "first k", "what it is"], *self._rows()], 4).rstrip("\n")

    def _repr_html_(self) -> str:
        from fastir.rendering import Cell, Table, render

        rows = [[Cell(cell) for cell in row] for row in self._rows()]
        note = f"{len(self)} metrics; fastir.metric(name) tells more of one."
        table = render(Table(["metric", "relevance", "first k", "what it is"], rows, 4, [note]), "html")
        return f'<div style="max-height: 30em; overflow: auto">\n{table}</div>\n'


def metrics() -> Metrics:
    """The cards of all metrics, with the names, meaning and parameters of each.

    Returns
    -------
    tuple of Card
        In the order of the documentation; prints as a table.
    """
    return Metrics(CARDS)
