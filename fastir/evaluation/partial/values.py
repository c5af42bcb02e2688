"""Values: the state of a part that is completed where its rows are, so that values move, and never ranks.

    rows of whole queries ─ RunEvaluator ─▶ Values ─┐
    rows of whole queries ─ RunEvaluator ─▶ Values ─┴ merge ─▶ Values of all queries ─▶ Results

Where all rows of a query are in one part, no other part can change its values. They are measured as `evaluate` measures
them, not by way of ranks: so they have its bits, and take what ranks in one order cannot hold (ties="average",
conventions with several tie rules, subtopics). A part has the positions of its queries, not their ids, and the id of
one query without judgments: 8 bytes move for each value, and 9 for each query.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from fastir.engine.columns._ids import encode
from fastir.engine.join._counts import WITH_EXAMPLE, WITHOUT_EXAMPLE, Counts
from fastir.errors import NoOverlapError, quote
from fastir.evaluation.drivers.coverage import MISSING, Coverage
from fastir.evaluation.partial.states import NO_COUNT, Count, Mergeable, Repairs

if TYPE_CHECKING:
    from fastir.evaluation.drivers.evaluate_one import RunEvaluator
    from fastir.evaluation.drivers.prepared import PreparedQrels

QUERY_COUNT = "queries"  # the count of those that the run has


class Values(Mergeable):
    """The values of some queries; only the first query, by its bytes, that the qrels do not have is kept.

    `counts` has the fields of Counts, and QUERY_COUNT.
    """

    values: np.ndarray  # float64 of shape (n, n_metrics)
    status: np.ndarray  # uint8 of shape (n,)
    part: int  # the number of the part that has all rows of these queries; -1 if none has

    def __init__(
        self,
        places: np.ndarray,
        values: np.ndarray,
        status: np.ndarray,
        part: int,
        unknown_queries: set[Any],
        repairs: Repairs,
        counts: dict[str, Count],
    ) -> None:
        super().__init__(places, unknown_queries, repairs, counts)
        self.values, self.status, self.part = values, status, part

    @classmethod
    def from_run(cls, prepared: RunEvaluator, run: Any, part: int, query_ids: Callable[[], list[Any]]) -> Self:
        """Measure a run, with an evaluator of ``queries="intersection"``; query_ids() returns the run's ids."""
        try:
            _, values, _, coverage = prepared.measure(run, 1)
        except NoOverlapError:
            return cls.from_unknown_queries(query_ids(), len(prepared.settings.names), part)
        of_run = coverage.counts
        counts = {name: (getattr(of_run, f"n_{name}"), getattr(of_run, f"{name}_example")) for name in WITH_EXAMPLE}
        counts |= {name: (getattr(of_run, f"n_{name}"), -1) for name in WITHOUT_EXAMPLE}
        counts |= {"unjudged_docs": (coverage.unjudged(), -1), QUERY_COUNT: (coverage.n_run, -1)}
        counts |= dict.fromkeys(("repeated_rows", "excluded_rows", "low_rows"), NO_COUNT)  # repairs say which
        places = np.flatnonzero(coverage.status != MISSING)
        unknown_queries = first_by_bytes(coverage.only_in_run())
        return cls(places, values, coverage.status[places], part, unknown_queries, dict(coverage.run_repairs), counts)

    @classmethod
    def from_unknown_queries(cls, query_ids: list[Any], n_metrics: int, part: int) -> Self:
        """Return the Values of a run without a query of the qrels."""
        places, values, status = np.empty(0, np.int64), np.empty((0, n_metrics)), np.empty(0, np.uint8)
        counts = dict.fromkeys(WITH_EXAMPLE + WITHOUT_EXAMPLE, NO_COUNT) | {QUERY_COUNT: (len(query_ids), -1)}
        return cls(places, values, status, part, first_by_bytes(query_ids), {}, counts)

    def __reduce__(self) -> tuple[Any, ...]:
        fields = self.places, self.values, self.status, self.part, self.unknown_queries, self.repairs, self.counts
        return type(self), fields

    def at_positions(self, at: np.ndarray) -> Values:
        """Return the same values for other qrels, with the queries at positions `at`."""
        places = at[self.places]
        order = np.argsort(places)
        counts = {name: (n, int(at[first]) if first >= 0 else -1) for name, (n, first) in self.counts.items()}
        values, status = self.values[order], self.status[order]
        return Values(places[order], values, status, self.part, self.unknown_queries, self.repairs, counts)


class AllValues(Values):
    """The values of all queries, at first of empty rankings; the parts' values are merged into them."""

    query_ids: list[Any]
    parts: np.ndarray

    def __init__(self, query_ids: list[Any], values: np.ndarray) -> None:
        n = len(query_ids)
        counts = dict.fromkeys((*WITH_EXAMPLE, *WITHOUT_EXAMPLE, QUERY_COUNT), NO_COUNT)
        super().__init__(np.arange(n), values, np.full(n, MISSING, np.uint8), -1, set(), {}, counts)
        self.query_ids, self.parts = query_ids, np.full(n, -1)

    def combine(self, other: Any, at: np.ndarray) -> None:
        twice = at[self.parts[at] >= 0]
        if len(twice):
            raise ValueError(
                f"run: the rows of query {quote(self.query_ids[twice[0]])} lie in two partitions, "
                f"{self.parts[twice[0]]} and {other.part}; strategy='shuffle' brings the rows of each query together"
            )
        self.parts[at], self.values[at], self.status[at] = other.part, other.values, other.status

    def coverage(self, prepared: PreparedQrels) -> Coverage:
        """The Coverage of all parts together."""
        numbers = {f"n_{name}": self.counts[name][0] for name in WITH_EXAMPLE + WITHOUT_EXAMPLE}
        numbers |= {f"{name}_example": self.counts[name][1] for name in WITH_EXAMPLE}
        unknown_queries = first_by_bytes(self.unknown_queries)
        n_run = self.counts[QUERY_COUNT][0]
        return Coverage(prepared, self.status, Counts(**numbers), n_run, unknown_queries, self.repairs)


def first_by_bytes(query_ids: Iterable[Any]) -> set[Any]:
    """The first of some ids, which does not depend on how they were divided; nothing if there are none."""
    first = min(query_ids, key=lambda query_id: encode(str(query_id)), default=None)
    return set() if first is None else {first}
