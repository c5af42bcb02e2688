"""Records that explain a value: one ranking with its contributions, and the differences of two rankings."""

from __future__ import annotations

import html
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import InitVar, dataclass, field
from typing import Any, NamedTuple

from fastir.data.results.exportable import Exportable, columns_from_records
from fastir.errors import quote
from fastir.rendering import Cell, Table, number_cell
from fastir.rendering.text import decimals, printable, signed_text

# ---- one ranking as a row of boxes -----------------------------------------------------------------------------------
PLACE = "width: 3.2em; font-variant-numeric: tabular-nums"


class Box(NamedTuple):
    """A document at its rank."""

    rank: int
    name: str  # its id; "" for a bare label
    label: Any  # None: the document is unjudged
    shade: float  # its label as a fraction of the ranking's largest label; 0 if it is not relevant
    precision: float  # the fraction of documents down to this rank that are relevant
    running: float  # the value of the metric down to this rank, as far as its documents have made it


def boxes(rows: Sequence[tuple[str, Any, float]], rel_level: float) -> list[Box]:
    """A box for each (id, label, running value), from rank 1; an unjudged document has a negative label."""
    row, hits = [], 0
    most = max((label for _, label, _ in rows if label is not None), default=0)
    for rank, (name, label, running) in enumerate(rows, 1):
        judged = None if label is None or label < 0 else label
        relevant = judged is not None and judged >= rel_level
        hits += relevant
        shade = judged / most if judged and relevant and most > 0 else float(relevant)
        row.append(Box(rank, name, judged, shade, hits / rank, running))
    return row


def as_html(boxes: Sequence[Box], metric: str) -> str:
    """A row of boxes in the colours of the page: the frame is the thicker, the higher a relevant label."""
    places = "".join(
        f'<div title="{html.escape(printable(box.name))}" style="{PLACE}"><small>{box.rank}</small>'
        f'<div style="border: {1 + round(3 * box.shade)}px '
        f'{"dashed" if box.label is None else "solid"}; padding: 0.2em 0">'
        f"{'–' if box.label is None else f'{box.label:g}'}</div><small>{box.running:.3f}</small></div>"
        for box in boxes
    )
    about = f"<small>label at each rank; below: {html.escape(printable(metric))} down to it</small>"
    return f'<div style="display: flex; flex-wrap: wrap; gap: 0.3em; text-align: center">{places}</div>\n{about}\n'


# ---- records ---------------------------------------------------------------------------------------------------------
TOP_RANKS = 10  # ranks that are always printed; below, only documents with a label
TOP_MISSING = 10  # documents that are missing
PRINTED_ROWS = 40  # of a printed table


# ---- one ranking -----------------------------------------------------------------------------------------------
class Document(NamedTuple):
    """A document of a ranking, or a relevant document missing from it.

    Attributes
    ----------
    doc_id : str or int
    rank : int or None
        From 1; None if the document is missing.
    score : float or None
        In the precision in which scores were compared.
    tied : int
        How many documents of the run have this score, this one included; 0 if the document is missing.
    label : int or None
        None: not in the qrels; negative: in the pool but not judged. With groups, the largest of its labels.
    gain : dict of str to float
        {metric: what it would add at rank 1}. For nDCG metrics this is the gain of its label, not divided by the ideal.
    discount : dict of str to float or None
        {metric: the fraction of its gain that it adds at its rank}; None if it has no gain or no rank.
    contribution : dict of str to float
        {metric: what it adds to the value}.
    forbidden : bool or None
        None: no metric here reads forbidden documents.
    sets : list of int, or None
        The numbers of its sets of evidence, or of its hops, from 1 in the order of the qrels; None: these have none.
    """

    doc_id: str | int
    rank: int | None
    score: float | None
    tied: int
    label: int | None
    gain: dict[str, float]
    discount: dict[str, float | None]
    contribution: dict[str, float]
    forbidden: bool | None = None
    sets: list[int] | None = None


class LazyDocuments:
    """An Explanation's documents, which take longer than its values: made when they are first read."""

    __slots__ = ("_make",)
    _make: Callable[[], tuple[list[Document], list[Document]]]  # documents, and those that are missing

    def __post_init__(self, make: Callable[[], tuple[list[Document], list[Document]]]) -> None:
        object.__setattr__(self, "_make", make)

    def __getattr__(self, name: str) -> Any:  # Python calls it only for what is not set
        if name not in ("documents", "missing"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        documents, missing = self._make()
        object.__setattr__(self, "documents", documents)
        object.__setattr__(self, "missing", missing)
        return documents if name == "documents" else missing


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Explanation(LazyDocuments, Exportable):
    """One ranking and where its values come from; made by `explain`. Prints as a table.

    Frames and Arrow tables have a row for each document, the missing ones last, and a column of contributions for each
    metric; also, as text, columns of what Document calls forbidden and sets, where these are known. `records` also has
    the gains and discounts of one metric.

    Attributes
    ----------
    query_id : str or int
    status : str
        As in `Results.status`.
    values : dict of str to float
        {metric: its value}, as `Evaluator.evaluate` computes it.
    base : dict of str to float
        {metric: its value if none of these documents were judged}; 0 for most metrics, and if that value is undefined.
    documents : list of Document
        The evaluated ranking, from rank 1.
    missing : list of Document
        The relevant documents that are not in the ranking, the highest labels first.

    Notes
    -----
    Suppose the judgments of a ranking become known from the top down. The contribution of a document is how much the
    value grows when its judgment becomes known. ``math.fsum`` of the base and all contributions is the value. For a sum
    over ranks (DCG, nDCG, RBP, ERR, AP, precision, recall) the contribution is the term of the rank. For other metrics
    it depends on more than the rank: the first relevant document contributes all of the reciprocal rank, and F grows
    less with each. The document that completes a set contributes what the set is worth to evidence_recall and
    evidence_mrr. A forbidden document takes its share from leak_recall, unless that is 0 already. With a norm over the
    retrieved documents (``ideal="retrieved"``, ``ap_norm="hits"``) it can be negative, because a document found late
    lowers such a value. With ``ties="average"`` the judgments of a tie become known in the order of ids.
    """

    _printed_rows = PRINTED_ROWS

    query_id: str | int
    status: str
    values: dict[str, float]
    base: dict[str, float]
    documents: list[Document] = field(init=False)
    missing: list[Document] = field(init=False)
    make: InitVar[Callable[[], tuple[list[Document], list[Document]]]]

    def records(self, metric: str | None = None) -> list[dict[str, Any]]:
        """A dict for each document, ready for a data frame, with the numbers of one metric (None: the first).

        Raises
        ------
        KeyError
            The metric is not in this explanation.
        """
        metric = metric_name(metric, self.values)
        return [
            {
                **dict(zip(Document._fields[:5], document, strict=False)),
                "gain": document.gain[metric],
                "discount": document.discount[metric],
                "contribution": document.contribution[metric],
                **{name: getattr(document, name) for name in self._roles()},
            }
            for document in [*self.documents, *self.missing]
        ]

    def diff(self, other: Explanation, metric: str | None = None) -> RankingDiff:
        """The difference between this value and another run's on the same query, document by document.

        `metric` is the name of a metric of both explanations; None: the first.

        Raises
        ------
        KeyError
            The metric is not in this explanation.
        ValueError
            `other` explains another query.
        """
        if str(self.query_id) != str(other.query_id):
            raise ValueError(
                f"the explanations are of two queries, {quote(self.query_id)} and {quote(other.query_id)}; expected one"
            )
        metric = metric_name(metric, self.values)
        metric_name(metric, other.values)
        here = {str(document.doc_id): document for document in self.documents}
        there = {str(document.doc_id): document for document in other.documents}
        moves = [move(here.get(doc_id), there.get(doc_id), metric) for doc_id in {**here, **there}]
        moves.sort(key=lambda move: -abs(move.change))
        return RankingDiff(self.query_id, metric, self.values[metric], other.values[metric], moves)

    def _columns(self) -> dict[str, list[Any]]:
        columns = columns_from_records(Document._fields, [*self.documents, *self.missing])
        contributions = columns["contribution"]
        return {
            **{name: columns[name] for name in Document._fields[:5]},
            **{name: [role_text(each) for each in columns[name]] for name in self._roles()},
            **{metric: [each[metric] for each in contributions] for metric in self.values},
        }

    def _roles(self) -> list[str]:
        """Those of forbidden and sets that the documents have."""
        shown = [*self.documents, *self.missing][:1]
        return [name for name in ("forbidden", "sets") if any(getattr(each, name) is not None for each in shown)]

    def _boxes(self, metric: str | None, rel_level: float = 1) -> tuple[str, list[Box]]:
        """The name of a metric, and the ranking as boxes."""
        metric = metric_name(metric, self.values)
        added = [self.base[metric], *(document.contribution[metric] for document in self.documents)]
        rows = [
            (str(document.doc_id), document.label, math.fsum(added[: place + 2]))
            for place, document in enumerate(self.documents)
        ]
        return metric, boxes(rows, rel_level)

    def _repr_html_(self) -> str:
        """The first ranks as boxes, and the table."""
        table = Exportable._repr_html_(self)
        if not self.documents or not self.values:
            return table
        metric, drawn = self._boxes(None)
        return f'<figure style="margin: 0">\n{as_html(drawn[:TOP_RANKS], metric)}{table}</figure>\n'

    def _title(self) -> str:
        values = ", ".join(f"{metric} {decimals(value)}" for metric, value in self.values.items())
        status = "" if self.status == "evaluated" else f" ({self.status})"
        return f"query {self.query_id}{status}: {values}"

    def _table(self, digits: int = 4) -> Table:
        roles = self._roles()
        gap = [Cell("")] * (len(roles) + len(self.values))
        rows: list[list[Cell]] = []
        for shown, documents in itertools.groupby(
            self.documents,
            lambda document: (document.rank or 0) <= TOP_RANKS or document.label is not None or document.forbidden,
        ):
            if shown:
                rows += (cells(document, digits, roles) for document in documents)
            else:
                ranks = [str(document.rank) for document in documents]
                texts = ("-".join(ranks[:: max(1, len(ranks) - 1)]), "...", "", "", "-")
                rows.append([*map(Cell, texts), *gap])
        rows += (cells(document, digits, roles) for document in self.missing[:TOP_MISSING])
        if len(self.missing) > TOP_MISSING:
            rows.append([*map(Cell, ("missing", f"... {len(self.missing) - TOP_MISSING} more", "", "", "")), *gap])
        return Table(["rank", "doc_id", "score", "tied", "label", *roles, *self.values], rows, 2, [], self._title())


def cells(document: Document, digits: int, roles: Iterable[str] = ()) -> list[Cell]:
    """A row of the table of an Explanation."""
    score = document.score
    return [
        Cell("missing" if document.rank is None else str(document.rank)),
        Cell(str(document.doc_id)),
        Cell("" if score is None else f"{score:g}", exact=None if score is None else repr(score)),
        Cell(str(document.tied) if document.tied > 1 else ""),
        Cell("-" if document.label is None else str(document.label)),
        *(Cell(role_text(getattr(document, name))) for name in roles),
        *(
            Cell("") if document.rank is None else Cell(signed_text(value, digits), exact=repr(value))
            for value in document.contribution.values()
        ),
    ]


def role_text(role: bool | list[int]) -> str:
    """Whether a document is forbidden, or the numbers of its sets."""
    return ("yes" if role else "") if isinstance(role, bool) else " ".join(map(str, role))


# ---- two rankings ----------------------------------------------------------------------------------------------
class Move(NamedTuple):
    """How a document changes from the other ranking to this one.

    Attributes
    ----------
    doc_id : str or int
    what : {"entered", "left", "moved", "stayed"}
    rank, other_rank : int or None
    label : int or None
    gain : float
        What it would add to the value at rank 1.
    discount, other_discount : float or None
        The fraction of its gain that it adds at its rank; None if it has no gain or is not in the ranking.
    contribution, other_contribution : float
    change : float
        ``contribution - other_contribution``.
    """

    doc_id: str | int
    what: str
    rank: int | None
    other_rank: int | None
    label: int | None
    gain: float
    discount: float | None
    other_discount: float | None
    contribution: float
    other_contribution: float
    change: float


def move(here: Document | None, there: Document | None, metric: str) -> Move:
    """The Move of a document, which is in at least one of the rankings."""
    document = next(side for side in (here, there) if side is not None)
    rank, discount, contribution = move_fields(here, metric)
    other_rank, other_discount, other_contribution = move_fields(there, metric)
    what = "entered" if there is None else "left" if here is None else "stayed" if rank == other_rank else "moved"
    return Move(
        *(document.doc_id, what, rank, other_rank, document.label, document.gain[metric], discount, other_discount),
        *(contribution, other_contribution, contribution - other_contribution),
    )


def move_fields(document: Document | None, metric: str) -> tuple[int | None, float | None, float]:
    """Rank, discount and contribution of a document; None, None and 0 if it is not in the ranking."""
    if document is None:
        return None, None, 0.0
    return document.rank, document.discount[metric], document.contribution[metric]


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class RankingDiff(Exportable):
    """Why two rankings of a query have different values; made by `Explanation.diff`. Prints as a table.

    Attributes
    ----------
    query_id : str or int
    metric : str
    value, other_value : float
    moves : list of Move
        All documents of both rankings, the largest changes first. The changes add up to the difference, up to rounding.
    """

    _printed_rows = PRINTED_ROWS

    query_id: str | int
    metric: str
    value: float
    other_value: float
    moves: list[Move]

    def _columns(self) -> dict[str, list[Any]]:
        return columns_from_records(Move._fields, self.moves)

    def _title(self) -> str:
        return (
            f"query {self.query_id}, {self.metric}: {decimals(self.value)} against {decimals(self.other_value)}, "
            f"{signed_text(self.value - self.other_value)}"
        )

    def _table(self, digits: int = 4) -> Table:
        head = ["doc_id", "what", "rank", "was", "label", "gain", "discount", "was", "change"]
        rows = [
            [
                Cell(str(move.doc_id)),
                Cell(move.what),
                *(Cell("-" if value is None else str(value)) for value in move[2:5]),
                Cell(f"{move.gain:g}", exact=repr(move.gain)),
                number_cell(move.discount, digits),
                number_cell(move.other_discount, digits),
                Cell(signed_text(move.change, digits), exact=repr(move.change)),
            ]
            for move in self.moves
            if move.change or (move.label is not None and move.what != "stayed")
        ]
        count = [move.what for move in self.moves if move.label is None].count
        rest = ", ".join(f"{count(what)} {what}" for what in ("entered", "left", "moved") if count(what))
        return Table(head, rows, 2, [f"documents without a label: {rest}"] * bool(rest), self._title())


def metric_name(metric: str | None, values: dict[str, float]) -> str:
    """The name of a metric; None means the first one."""
    if metric is None:
        return next(iter(values))
    if metric not in values:
        raise KeyError(f"{quote(metric)} was not evaluated; the metrics here are {', '.join(map(repr, values))}")
    return metric


def metric_boxes(explanation: Any, metric: str | None, rel_level: float = 1) -> tuple[str, list[Box]]:
    """The name of a metric, and the ranking of an explanation as boxes."""
    return explanation._boxes(metric, rel_level)
