"""metric(): the meaning of a metric's name, from its card. metrics(): the cards of all metrics, as a table."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from fastir.engine.measure import CARDS, MOST_USED
from fastir.engine.measure.cards import BETTER, NEEDS, Card, find_relatives
from fastir.engine.measure.references import Reference
from fastir.errors import UnknownMetricError
from fastir.rendering import Cell, Table, render
from fastir.rendering.text import align_columns
from fastir.request.names import DIALECTS, Gains, Request, metric_text, read

if TYPE_CHECKING:
    from typing import Self

NOT_EXTREME_TEXT = "optimistic and pessimistic go by label, which need not give the best and the worst value here"
UNNAMED_TEXT = "without a convention the name is an error"
LABEL_WIDTH = 15  # characters of a line's label in the text

# {attribute: its empty value} of what a name for several metrics has if all of them have it.
SHARED_ATTRIBUTES: dict[str, Any] = {
    "summary": "",
    "formula": "",
    "cutoff": None,
    "rel_level": None,
    "parameters": {},
    "range": "",
    "higher_is_better": None,
    "aggregate": "",
    "undefined": "",
    "sources": (),
    "references": (),
    "aliases": (),
    "see_also": (),
    "differs": "",
}

Line = tuple[str, str]  # a label and a text; the label is empty above a metric


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Metric(str):
    """A metric name, as a str that knows its meaning; made by `metric`.

    Use it like its name: among metrics, as the key of results, in an f-string. ``print`` shows its meaning. A name may
    mean several metrics, its `members`. An attribute then has the value that all members share, or is empty if they
    differ.

    Attributes
    ----------
    name : str
        As given; the text of the str.
    canonical : str
        fastir's own spelling, with every parameter that the name sets; several metrics are separated by ", ".
    summary : str
        What it is, in a phrase.
    formula : str
        How it is computed; `Card` explains the symbols.
    cutoff : int or None
        How many documents of a ranking count; None: all, or the metric has no cutoff.
    rel_level : int, float or None
        The lowest relevant label, if the name sets it.
    parameters : dict of str to object
        {name: value}, defaults included; None: the value must be given.
    range : str
        The values that it can have.
    higher_is_better : bool or None
        Which values are better.
    aggregate : {"mean", "geometric", "sum", "count", ""}
        How the values of the queries become one number.
    undefined : str
        The value where the formula is undefined.
    sources : tuple of str
        Papers, and the programs with the same numbers.
    references : tuple of Reference
        The papers alone.
    aliases : tuple of str
        Other names of the same metric; with the tool in brackets if only that tool has the name.
    see_also : tuple of str
        The names of related metrics: those that it is made of, becomes with a parameter, or differs from.
    meanings : dict of str to str
        {tool: what the name means to it, in fastir's spelling}, for tools to which it means something else; "" if the
        tool has no such metric.
    differs : str
        Programs that give another number under this name, and the parameter that gives their number; may be empty.
    members : tuple of Metric
        The metrics that the name means; empty if it means one metric.
    """

    name: str
    canonical: str
    summary: str
    formula: str
    cutoff: int | None
    rel_level: float | None
    parameters: dict[str, Any]
    range: str
    higher_is_better: bool | None
    aggregate: Literal["mean", "geometric", "sum", "count", ""]
    undefined: str
    sources: tuple[str, ...]
    references: tuple[Reference, ...]
    aliases: tuple[str, ...]
    see_also: tuple[str, ...]
    meanings: dict[str, str]
    differs: str
    members: tuple[Metric, ...]
    _lines: tuple[Line, ...]

    def __new__(cls, name: str, **attributes: Any) -> Self:
        return str.__new__(cls, name)

    def __repr__(self) -> str:
        return "\n".join(f"  {label:<{LABEL_WIDTH}} {text}" if label else text for label, text in self._lines)

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(self.name, spec)

    def _repr_html_(self) -> str:
        (_, title), *lines = self._lines
        return render(Table(["", title], [[Cell(label), Cell(text)] for label, text in lines], 2, []), "html")

    def bibtex(self) -> str:
        """The papers as BibTeX entries, each once."""
        papers = dict.fromkeys(self.references or [paper for each in self.members for paper in each.references])
        return "\n".join(paper.bibtex() for paper in papers)


def metric(name: str) -> Metric:
    """Say what a metric name means.

    Parameters
    ----------
    name : str
        A metric name such as ``"ndcg@10"``.

    Returns
    -------
    Metric
        Formula, range, undefined cases, sources and more as attributes. It prints a line for each of these: summary,
        names, formula, depth, each parameter with its value and possible values, what it sees, range, which values are
        better, aggregation, undefined cases, source, papers, where other programs differ, related metrics, and what the
        name means to other programs if it means something else. For a name that stands for several metrics, it also
        says what each kind of them is. For a name that is an error without a convention, because only some tools have
        it, it gives each of its meanings.

    Raises
    ------
    UnknownMetricError
        No metric has this name, or the metric does not have this cutoff or parameter.
    TypeError
        The name is not a str.

    Examples
    --------
    >>> import fastir
    >>> ndcg = fastir.metric("ndcg_cut_10")
    >>> ndcg.canonical, ndcg.range, ndcg.parameters["gain"]
    ('ndcg@10', '0 to 1; or any number with gain={...}', 'linear')
    >>> ndcg.undefined
    '0 if the ideal is 0: no judged document has a gain'
    """
    name = metric_text(name)
    spellings = {dialect: spelling(name, dialect) for dialect in DIALECTS[1:]}
    try:
        requests = read(name)
    except UnknownMetricError:
        requests = []
        texts = list(dict.fromkeys(text for text in spellings.values() if text))
        if not texts:
            raise
        members = tuple(from_request(text, read(text)[0]) for text in texts)
        head = f"{name}: {len(members)} metrics, by the tool; {UNNAMED_TEXT}"
        lines = [("", head), *(line for member in members for line in member._lines)]
    else:
        members = tuple(from_request(request.text, request) for request in requests)
        lines = family_lines(name, requests) if len(requests) > 1 else list(members[0]._lines)
    here = ", ".join(map(str, requests))  # empty if the name is an error
    meanings = {dialect: text for dialect, text in spellings.items() if text != here}
    return Metric(
        name=name,
        canonical=", ".join(member.canonical for member in members),
        meanings=meanings,
        members=members if len(requests) != 1 else (),
        _lines=(*lines, *((f"in {dialect}", text or "no metric") for dialect, text in meanings.items())),
        **{attribute: shared_value(members, attribute) for attribute in SHARED_ATTRIBUTES},
    )


def shared_value(members: Sequence[Metric], attribute: str) -> Any:
    """The value of an attribute that all members have, else its empty value."""
    first, *others = (getattr(member, attribute) for member in members)
    return first if all(other == first for other in others) else type(SHARED_ATTRIBUTES[attribute])()


def spelling(name: str, dialect: str) -> str:
    """The meaning of a name in a dialect, in fastir's own spelling; empty if the dialect does not have the name."""
    try:
        return ", ".join(map(str, read(name, dialect)))
    except UnknownMetricError:
        return ""


def from_request(name: str, request: Request) -> Metric:
    """The Metric of one request, without what the name means to other tools."""
    card = request.card
    return Metric(
        name=name,
        canonical=str(request),
        summary=card.summary,
        formula=card.formula,
        cutoff=request.cutoff,
        rel_level=request.level,
        parameters=request.all_params(),
        range=card.range,
        higher_is_better=card.higher_is_better,
        aggregate=cast(Any, card.aggregate),
        undefined=card.undefined,
        sources=tuple(map(str, card.sources)),
        references=card.references,
        aliases=tuple(card.other_names()),
        see_also=relatives()[card.name],
        meanings={},
        differs=card.differs,
        members=(),
        _lines=tuple(request_lines(name, request)),
    )


def family_lines(name: str, requests: list[Request]) -> list[Line]:
    cards = dict.fromkeys(request.card for request in requests)
    names = ", ".join(request.text for request in requests)
    return [("", f"{name}: {names}"), *((card.name + card.place(), card.summary) for card in cards)]


def request_lines(name: str, request: Request) -> list[Line]:
    card = request.card
    lines = [("", f"{name}: {card.summary}"), ("canonical name", str(request))]
    if card.other_names():
        lines.append(("also written", ", ".join(card.other_names())))
    lines.append(("formula", card.formula))
    if card.cutoff:
        first = f"the first {request.cutoff} documents; ranks after the end of a shorter ranking count as not relevant"
        lines.append(("depth", "the whole ranking" if request.cutoff is None else first))
    if card.groups:
        how = "counted over the pairs" if card.groups == "pairs" else "averaged over the subtopics or groups"
        lines.append(("groups", f"{how} of judges of the qrels"))
    if card.sampled:
        lines.append(("qrels", NEEDS[card.sampled]))
    if request.level is not None:
        lines.append(("relevant", f"label >= {request.level}; lower labels have no gain"))
    for param in card.params:
        value = request.params.get(param.name, "must be given" if param.required else param.default)
        lines.append((param.name, f"{value}  ({param.accepted_text()}; {param.meaning})"))
    lines += [
        ("sees", f"{card.relevance} relevance, the ranking {card.order}"),
        ("range", card.range),
        ("better", BETTER[card.higher_is_better]),
    ]
    if not extreme_by_label(request):
        lines.append(("ties", NOT_EXTREME_TEXT))
    lines += [("over queries", card.aggregate), ("undefined", card.undefined), ("source", card.source)]
    lines += [("paper", f"{reference}: {reference.url}") for reference in card.references]
    if card.differs:
        lines.append(("differs", card.differs))
    if relatives()[card.name]:
        lines.append(("see also", ", ".join(relatives()[card.name])))
    return lines


@functools.cache
def relatives() -> dict[str, tuple[str, ...]]:
    """The related metrics of each metric."""
    return find_relatives(CARDS)


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


# ---- all metrics -----------------------------------------------------------------------------------------------------
class Metrics(tuple[Card, ...]):
    """The cards of metrics; it prints as a table of their names and what they are."""

    __slots__ = ()

    def _rows(self) -> list[list[str]]:
        return [[card.name, card.relevance, card.order, card.summary] for card in self]

    def __repr__(self) -> str:
        return align_columns([["metric", "relevance", "first k", "what it is"], *self._rows()], 4).rstrip("\n")

    def _repr_html_(self) -> str:
        rows = [[Cell(cell) for cell in row] for row in self._rows()]
        note = f"{len(self)} metrics; fastir.metric(name) tells more of one."
        table = render(Table(["metric", "relevance", "first k", "what it is"], rows, 4, [note]), "html")
        return f'<div style="max-height: 30em; overflow: auto">\n{table}</div>\n'


def metrics() -> Metrics:
    """The cards of all metrics, with the names, meaning and parameters of each.

    Returns
    -------
    tuple of Card
        The twenty of most use first, the others in the order of the documentation; prints as a table.
    """
    places = {name: place for place, name in enumerate(MOST_USED)}
    return Metrics(sorted(CARDS, key=lambda card: places.get(card.name, len(MOST_USED))))
