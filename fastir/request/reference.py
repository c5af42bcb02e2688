"""What metrics mean, for people: explain(), metrics() and the papers to cite, from the cards."""

from fastir.errors import UnknownMetricError
from fastir.measure.cards import DIRECTIONS, Card
from fastir.request.names import CARDS, DIALECTS, Gains, Request, read
from fastir.text import aligned

NOT_EXTREME = "optimistic and pessimistic go by label, which need not give the best and the worst value here"
UNNAMED = "without a convention the name is an error"


def explain(metric: str) -> str:
    """Say what a metric name means.

    Parameters
    ----------
    metric : str
        A metric name such as ``"ndcg@10"``.

    Returns
    -------
    str
        A line each: summary, names, formula, depth, the value of each parameter with the values that it takes, what
        it sees, range, which values are better, aggregation, undefined cases, source, papers, where other programs
        differ, and what the name means to them if that is something else. For a name that stands for several metrics,
        these and what each kind of them is. For one that only some tools have, and that is an error without a
        convention, each of its meanings.

    Raises
    ------
    UnknownMetricError
        No metric has this name, or the metric does not have the cutoff or parameter.
    TypeError
        The name is not a str.
    """
    others = {dialect: spelled(metric, dialect) for dialect in DIALECTS[1:]}
    try:
        found = read(metric)
        lines = several(metric, found) if len(found) > 1 else one(metric, found[0])
    except UnknownMetricError:
        meanings = dict.fromkeys(text for text in others.values() if text)
        if not meanings:
            raise
        found, lines = [], [f"{metric}: {len(meanings)} metrics, by the tool; {UNNAMED}"]
        for text in meanings:
            lines += one(text, read(text)[0])
    for dialect, other in others.items():
        if other != ", ".join(map(str, found)):
            lines.append(f"  {'in ' + dialect:<15} {other or 'no metric'}")
    return "\n".join(lines)


def spelled(metric: str, dialect: str) -> str:
    """The meaning of a name in a dialect, in fastir's own spelling; empty if the dialect does not have the name."""
    try:
        return ", ".join(map(str, read(metric, dialect)))
    except UnknownMetricError:
        return ""


def several(metric: str, found: list[Request]) -> list[str]:
    cards = dict.fromkeys(request.card for request in found)
    return [
        f"{metric}: {', '.join(request.text for request in found)}",
        *(f"  {card.name + card.place():<15} {card.summary}" for card in cards),
    ]


def one(metric: str, request: Request) -> list[str]:
    card = request.card
    lines = [f"{metric}: {card.summary}", f"  canonical name  {request}"]
    if card.other_names():
        lines.append(f"  also written    {', '.join(card.other_names())}")
    lines.append(f"  formula         {card.formula}")
    if card.fractional:
        lines.append("  labels          may be fractions in arrays, each its own gain")
    if card.cutoff:
        first = f"the first {request.cutoff} documents; places that a shorter ranking lacks hold nothing"
        lines.append(f"  depth           {'the whole ranking' if request.cutoff is None else first}")
    if card.groups:
        how = "counted over the pairs" if card.groups == "pairs" else "averaged over the subtopics or groups"
        lines.append(f"  groups          {how} of judges of the qrels")
    if card.sampled:
        lines.append(f"  qrels           samples with {card.sampled}")
    if request.level is not None:
        lines.append(f"  relevant        label >= {request.level}; lower labels have no gain")
    for param in card.params:
        value = request.params.get(param.name, param.default)
        lines.append(f"  {param.name:<15} {value}  ({param.accepted()}; {param.meaning})")
    lines.append(f"  sees            {card.relevance} relevance, the ranking {card.order}")
    lines.append(f"  range           {card.range}")
    lines.append(f"  better          {DIRECTIONS[card.direction]}")
    if not extreme_by_label(request):
        lines.append(f"  ties            {NOT_EXTREME}")
    lines.append(f"  over queries    {card.aggregate}")
    lines.append(f"  undefined       {card.undefined}")
    lines.append(f"  source          {card.source}")
    lines += [f"  {'paper':<15} {reference}: {reference.url}" for reference in card.references]
    if card.differs:
        lines.append(f"  differs         {card.differs}")
    return lines


def bibtex(metric: str) -> str:
    """The papers of a metric, or of all that a name stands for, as BibTeX entries.

    Raises
    ------
    UnknownMetricError
        As by `explain`.
    """
    papers = dict.fromkeys(paper for request in read(metric) for paper in request.card.references)
    return "\n".join(paper.bibtex() for paper in papers)


def extreme_by_label(request: Request) -> bool:
    """Whether the best labels first give the best value, the worst labels first the worst; see `Card.by_label`."""
    if request.params.get("ap_norm") == "hits" and request.cutoff is not None:
        return False
    for gains in request.params.values():
        if isinstance(gains, Gains):
            rising = [gain for _, gain in sorted({0: 0.0, **gains}.items())]
            if rising != sorted(rising):
                return False
    return request.card.by_label


class Metrics(tuple[Card, ...]):
    """The cards of metrics; it prints as a table of their names and what they are."""

    __slots__ = ()

    def _rows(self) -> list[list[str]]:
        return [[card.name, card.relevance, card.order, card.summary] for card in self]

    def __repr__(self) -> str:
        return aligned([["metric", "relevance", "first k", "what it is"], *self._rows()], 4).rstrip("\n")

    def _repr_html_(self) -> str:
        from fastir.rendering import Cell, Table, rendered

        rows = [[Cell(cell) for cell in row] for row in self._rows()]
        note = f"{len(self)} metrics; fastir.explain(name) tells more of one."
        table = rendered(Table(["metric", "relevance", "first k", "what it is"], rows, 4, [note]), "html")
        return f'<div style="max-height: 30em; overflow: auto">\n{table}</div>\n'


def metrics() -> Metrics:
    """The cards of all metrics: the names, meaning and parameters of each.

    Returns
    -------
    tuple of Card
        In the order of the documentation; it prints as a table.
    """
    return Metrics(CARDS)
