"""How the queries of qrels and run overlap, and what was repaired: counts, with an example of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastir.data.results.exportable import Exportable
from fastir.engine.columns.rows import CELLS, CONTRADICTED, ELSEWHERE, EXCLUDED, INCOMPLETE, LOW, UNDIVIDED
from fastir.rendering import Cell, Table
from fastir.rendering.text import printable

# Each has an example.
COUNTS = ("in_both", "only_in_qrels", "only_in_run", "no_relevant", "nothing_judged", "queries_with_ties", "fractions")


class Report(Exportable):
    """How the queries of qrels and run overlap: counts, each with an example.

    Attributes
    ----------
    in_both, only_in_qrels, only_in_run : int
        The number of queries that are in both, or in only one of the two.
    no_relevant : int
        Queries in both that have no relevant document in the qrels.
    nothing_judged : int
        Queries in both, without a judged document in the ranking.
    queries_with_ties : int
        Queries in which a document that counts for the metrics has the same score as another document. The tie rule may
        have decided their values.
    fractions : int
        The number of real-valued labels; printed only if there are any. Tools with integer labels refuse them, or read
        0.92 as 0.
    *_example : str, int or None
        An example query id for each of these counts; None if the count is 0.
    unjudged_share : float or None
        The fraction of ranked documents that are not in the qrels; None if nothing was ranked. A document with a
        negative label is in the qrels; the metric ``judged`` counts it the same way, while ``unjudged`` counts it as
        unjudged. For lists without scores only the documents down to the deepest cutoff count, if all metrics have a
        cutoff.
    repairs : dict of str to (int, str)
        For each kind of repair, how often it was made and where, for example ``{"blank lines": (3, "run.txt:7")}``.
        Also the number of "queries whose ranks contradict their scores", that is, rank and score both rise or both fall
        from the first to the last row. In a TREC file all queries count, in a table at most the first 50 and 1000 rows.
        Also the number of "queries whose ranks look like scores"; of "excluded documents" that `exclude` removed; and
        of "rankings in which different integers are one float64": their documents tie.
    """

    __slots__ = tuple(sorted((*COUNTS, *(f"{name}_example" for name in COUNTS), "repairs", "unjudged_share")))

    def __init__(
        self,
        *,
        in_both: int = 0,
        in_both_example: str | int | None = None,
        only_in_qrels: int = 0,
        only_in_qrels_example: str | int | None = None,
        only_in_run: int = 0,
        only_in_run_example: str | int | None = None,
        no_relevant: int = 0,
        no_relevant_example: str | int | None = None,
        nothing_judged: int = 0,
        nothing_judged_example: str | int | None = None,
        queries_with_ties: int = 0,
        queries_with_ties_example: str | int | None = None,
        unjudged_share: float | None = None,
        fractions: int = 0,
        fractions_example: str | int | None = None,
        repairs: dict[str, tuple[int, str]] | None = None,
    ) -> None:
        self.in_both: int = in_both
        self.in_both_example: str | int | None = in_both_example
        self.only_in_qrels: int = only_in_qrels
        self.only_in_qrels_example: str | int | None = only_in_qrels_example
        self.only_in_run: int = only_in_run
        self.only_in_run_example: str | int | None = only_in_run_example
        self.no_relevant: int = no_relevant
        self.no_relevant_example: str | int | None = no_relevant_example
        self.nothing_judged: int = nothing_judged
        self.nothing_judged_example: str | int | None = nothing_judged_example
        self.queries_with_ties: int = queries_with_ties
        self.queries_with_ties_example: str | int | None = queries_with_ties_example
        self.unjudged_share: float | None = unjudged_share
        self.fractions: int = fractions
        self.fractions_example: str | int | None = fractions_example
        self.repairs: dict[str, tuple[int, str]] = {} if repairs is None else repairs

    def _rows(self) -> list[tuple[str, float, str | int | None]]:
        """Each kind of event, its count, and an example."""
        rows: list[tuple[str, float, str | int | None]] = [
            ("queries in both", self.in_both, self.in_both_example),
            ("queries only in the qrels", self.only_in_qrels, self.only_in_qrels_example),
            ("queries only in the run", self.only_in_run, self.only_in_run_example),
            ("queries without relevant documents", self.no_relevant, self.no_relevant_example),
            ("queries with nothing judged in the ranking", self.nothing_judged, self.nothing_judged_example),
            ("queries where ties could matter", self.queries_with_ties, self.queries_with_ties_example),
        ]
        if self.unjudged_share is not None:
            rows.append(("share of documents not in the qrels", self.unjudged_share, None))
        if self.fractions:
            rows.append(("real-valued labels", self.fractions, self.fractions_example))
        unrepaired = (*CELLS, CONTRADICTED, ELSEWHERE, EXCLUDED, INCOMPLETE, LOW, UNDIVIDED)
        for kind, (count, place) in self.repairs.items():
            rows.append((kind if kind in unrepaired else f"repaired: {kind}", count, place))
        return rows

    def _columns(self) -> dict[str, list[Any]]:
        from fastir.data.results.exportable import columns_from_records

        return columns_from_records(("what", "count", "example"), self._rows())

    def _table(self, digits: int = 4) -> Table:
        from fastir.data.results.exportable import cell_from_value

        rows = [
            [Cell(what), cell_from_value(count, digits), Cell("" if example is None else str(example))]
            for what, count, example in self._rows()
        ]
        return Table(["what", "count", "example"], rows, 1, [])

    def _state(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in Report.__slots__}

    def __repr__(self) -> str:
        rows = [(what, f"{n:.4f}" if isinstance(n, float) else str(n), example) for what, n, example in self._rows()]
        width = max(len(what) for what, _, _ in rows)
        examples = ("" if example is None else f"  (as in {printable(str(example))})" for _, _, example in rows)
        return "\n".join(
            f"{what:<{width}}  {count:>8}{example}" for (what, count, _), example in zip(rows, examples, strict=True)
        )


def add_reports(reports: Sequence[Report], ranked: Sequence[int]) -> Report:
    """The report of runs with different queries: counts are added up, and the first example of each stays.

    `ranked` are the numbers of ranked documents, of which each report has a share.
    """
    fields: dict[str, Any] = {}
    for name in Report.__slots__:
        values = [getattr(report, name) for report in reports]
        if name.endswith("_example"):
            fields[name] = next((value for value in values if value is not None), None)
        elif name == "repairs":
            fields[name] = {}
            for kind, (count, place) in (item for repairs in values for item in repairs.items()):
                before, first = fields[name].get(kind, (0, place))
                fields[name][kind] = before + count, first
        elif name == "unjudged_share":
            pairs = [(share, n) for share, n in zip(values, ranked, strict=True) if share is not None]
            total = sum(n for _, n in pairs)
            fields[name] = sum(round(share * n) for share, n in pairs) / total if total else None
        else:
            fields[name] = sum(values)
    return Report(**fields)
