"""The first documents of each run for each query, with labels, gains and contributions, as compact lists."""

from __future__ import annotations

from typing import Any

from fastir.analyses.explain.records import Document, Explanation
from fastir.evaluation.evaluator import Evaluator

CONTRIBUTION_UNIT = 10_000  # contributions are shown with four decimals


class RankingsByQuery:
    """The documents of each query that are in a run's first ranks, each once, and the rankings as their indices.

    Attributes
    ----------
    why_not : str
        Why there are no rankings; "" if there are.
    queries : list of dict
        For each query, in order: "docs" and "labels" of its documents; "gains", {metric: {label: text of its gain}};
        and for each run "runs", indices of docs; "parts", {metric: contributions in units of 0.0001, without zeros at
        the end}; "below", the relevant documents that it has further down, and those that it has not.
    unjudged : list of int
        For each run the documents without a judgment in the first ranks of all queries.
    """

    def __init__(self, query_ids: list[Any], depth: int, rel_level: Any) -> None:
        self.query_ids = query_ids
        self.depth = depth
        self.rel_level = rel_level
        self.why_not = ""
        self.unjudged: list[int] = []
        self.queries: list[dict[str, Any]] = [
            {"docs": [], "labels": [], "gains": {}, "runs": [], "parts": [], "below": []} for _ in query_ids
        ]
        self._places: list[dict[str, int]] = [{} for _ in query_ids]

    def add(self, evaluator: Evaluator, run: Any) -> None:
        """Add the rankings of a run; nothing, if they cannot be explained."""
        if self.why_not:
            return
        self.unjudged.append(0)
        for place, query_id in enumerate(self.query_ids):
            try:
                self._add(place, evaluator.explain(run, query_id))
            except ValueError as error:
                self.why_not = str(error)
                return

    def _add(self, place: int, explanation: Explanation) -> None:
        query, places = self.queries[place], self._places[place]
        shown = explanation.documents[: self.depth]
        for document in shown:
            text = str(document.doc_id)
            if text not in places:
                places[text] = len(places)
                query["docs"].append(text)
                query["labels"].append(document.label)
                note_gains(query["gains"], document)
        self.unjudged[-1] += sum(document.label is None or document.label < 0 for document in shown)
        query["runs"].append([places[str(document.doc_id)] for document in shown])
        parts = {metric: contributions(shown, metric) for metric in explanation.values}
        query["parts"].append({metric: units for metric, units in parts.items() if units})
        below = sum(
            document.label is not None and document.label >= self.rel_level
            for document in explanation.documents[self.depth :]
        )
        query["below"].append([below, len(explanation.missing)])


def note_gains(gains: dict[str, dict[float, str | None]], document: Document) -> None:
    """Enter what a label gains; None where it is not the same for all documents, as in groups of judgments."""
    if document.label is None:
        return
    for metric, gain in document.gain.items():
        of_label = gains.setdefault(metric, {})
        text = f"{gain:.4f}"
        if of_label.setdefault(document.label, text) != text:
            of_label[document.label] = None


def contributions(documents: list[Document], metric: str) -> list[int]:
    """What each document adds, to the digit that `Explanation` prints."""
    units = [round(float(f"{document.contribution[metric]:.4f}") * CONTRIBUTION_UNIT) for document in documents]
    while units and not units[-1]:
        units.pop()
    return units
