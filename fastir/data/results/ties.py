"""TieReport: how far the order of equal scores could change the values of a run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from fastir.data.results.exportable import Exportable, columns_from_records
from fastir.errors import quote
from fastir.rendering import Cell, Table, number_cell
from fastir.rendering.text import counted, signed_text


class TieRange(NamedTuple):
    """The values of a metric over the orders of equal scores.

    Attributes
    ----------
    metric : str
    expected : float
        The mean over all orders; NaN if it has no closed form for the metric and a query has ties, or with `max_depth`.
    lowest, highest : float
        The least and the largest value that an order of equal scores has.
    range : float
        ``highest - lowest``.
    bias : float
        The value under the tie rule of the evaluation, less `expected`.
    n_queries : int
        The queries whose value depends on the order.
    largest_group : int
        The most documents of one score, among those that the metrics read; 1 if no scores are equal.
    """

    metric: str
    expected: float
    lowest: float
    highest: float
    range: float
    bias: float
    n_queries: int
    largest_group: int


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class TieReport(Exportable):
    """What the order of equal scores could change; made by `Results.ties`. Prints as a table, a row for each metric.

    ``report["ndcg@10"]`` is the `TieRange` of a metric.

    Attributes
    ----------
    metrics : list of TieRange
    query_ids : list of str or int
    values : float64 array of shape (n_queries, n_metrics, 3)
        The expected, lowest and highest value of each query.
    biases : float64 array of shape (n_queries, n_metrics)
    groups : int64 array of shape (n_queries,)
        The most documents of one score.
    """

    metrics: list[TieRange]
    query_ids: list[Any]
    values: np.ndarray
    biases: np.ndarray
    groups: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))

    def __getitem__(self, metric: str) -> TieRange:
        return self.metrics[self._column(metric)]

    def __iter__(self) -> Iterator[TieRange]:
        return iter(self.metrics)

    def __len__(self) -> int:
        return len(self.metrics)

    def _column(self, metric: str) -> int:
        names = [each.metric for each in self.metrics]
        if metric not in names:
            raise KeyError(f"{quote(metric)} was not evaluated; the metrics here are {', '.join(map(repr, names))}")
        return names.index(metric)

    def per_query(self, metric: str) -> dict[Any, dict[str, float]]:
        """{query_id: {"expected", "lowest", "highest", "range", "bias", "largest_group"}} of a metric.

        Raises
        ------
        KeyError
            The metric was not evaluated.
        """
        column = self._column(metric)
        found = {}
        for row, query_id in enumerate(self.query_ids):
            expected, lowest, highest = self.values[row, column].tolist()
            found[query_id] = {
                "expected": expected,
                "lowest": lowest,
                "highest": highest,
                "range": highest - lowest,
                "bias": self.biases[row, column].item(),
                "largest_group": self.groups[row].item(),
            }
        return found

    def _columns(self) -> dict[str, list[Any]]:
        return columns_from_records(TieRange._fields, self.metrics)

    def _json(self, per_query: bool = True) -> dict[str, Any]:
        from fastir.rendering.text import json_types

        return {"ties": json_types([each._asdict() for each in self.metrics])}

    def _table(self, digits: int = 4) -> Table:
        rows = []
        for each in self.metrics:
            numbers = (number_cell(number, digits) for number in each[1:5])
            text = signed_text(each.bias, digits) if each.bias else number_cell(each.bias, digits).text
            bias = Cell(text, exact=repr(each.bias))
            rows.append([Cell(each.metric), *numbers, bias, Cell(str(each.n_queries)), Cell(str(each.largest_group))])
        return Table(list(TieRange._fields), rows, 1, [counted(len(self.query_ids), "query", "queries")])
