"""UnderJudge and ComparisonUnderJudge: what evaluate_under_judge and compare_under_judge return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from fastir.data.results.exportable import Exportable
from fastir.rendering import Cell, Table, number_cell
from fastir.rendering.text import counted, decimals, json_types


class JudgedMean(NamedTuple):
    """The mean of a metric of a run, with its interval.

    Attributes
    ----------
    estimate, low, high : float
    standard_error : float
    p_value : float
        Always NaN: the mean of one run is not tested.
    df : int
        Degrees of freedom of Student's t.
    naive : float
        The mean with the judge's labels as if they were true.
    human : float
        The mean with human labels alone, over the queries that have one; all other documents are unjudged.
    """

    estimate: float
    low: float
    high: float
    standard_error: float
    p_value: float
    df: int
    naive: float
    human: float


class JudgedDifference(NamedTuple):
    """The mean difference of two runs, `a` less `b`, in one metric.

    Attributes
    ----------
    metric : str
    a, b : name of a run
    estimate, low, high : float
    standard_error : float
    p_value : float
        Of a true mean difference of 0, two-sided. NaN where all differences are equal but not 0.
    df : int
        Degrees of freedom of Student's t.
    corrected : float
        The p-value corrected for all pairs of runs in this metric (Holm).
    naive, human : float
        The difference by the judge's labels, and by human labels alone.
    """

    metric: str
    a: Any
    b: Any
    estimate: float
    low: float
    high: float
    standard_error: float
    p_value: float
    df: int
    corrected: float
    naive: float
    human: float


class HumanAnswers(NamedTuple):
    """What humans said of the pairs that the judge gave one label.

    Attributes
    ----------
    label : int
        The judge's.
    both, alone : int
        Pairs that humans judged, too, and pairs that the judge alone judged.
    counts : dict of int to int
        How often humans gave each label.
    shares : dict of int to float
        The estimated share of each human label among the pairs that the judge alone judged; NaN if there is none. It
        differs from the share in `counts` where these pairs are in other queries, at other ranks or in other strata.
    """

    label: int
    both: int
    alone: int
    counts: dict[int, int]
    shares: dict[int, float]


@dataclass(repr=False, eq=False)
class Corrected:
    """What both results have."""

    answers: list[HumanAnswers]
    confidence: float
    n_draws: int
    n_queries: int
    n_sampled: int

    def _notes(self) -> list[str]:
        n_both, n_alone = sum(row.both for row in self.answers), sum(row.alone for row in self.answers)
        notes = [
            f"{counted(self.n_queries, 'query', 'queries')}, {self.n_sampled} with human labels; "
            f"{counted(n_both, 'pair', 'pairs')} judged by both, {n_alone} by the judge alone; {self.n_draws} draws."
        ]
        for row in self.answers:
            said = ", ".join(f"{n} times {label}" for label, n in row.counts.items() if n) or "nothing"
            rest = ", ".join(f"{label}: {share:.0%}" for label, share in row.shares.items())
            others = f"; estimate for the other {row.alone}: {rest}" if row.alone else ""
            notes.append(f"Judge {row.label}: humans said {said}{others}.")
        return notes

    def _interval(self, row: Any, digits: int) -> Cell:
        return Cell(f"[{decimals(row.low, digits)}, {decimals(row.high, digits)}]")

    def _json(self, per_query: bool = True) -> dict[str, Any]:
        fields = {**vars(self), "answers": [row._asdict() for row in self.answers]}
        if not per_query:
            del fields["per_query"]
        return json_types({**fields, **self._records()})

    def _records(self) -> dict[str, Any]:
        """The records as dicts."""
        raise NotImplementedError


@dataclass(repr=False, eq=False)
class UnderJudge(Corrected, Exportable):
    """The metrics of a run with a judge's errors in them; made by `evaluate_under_judge`, prints as a table.

    Attributes
    ----------
    means : dict of str to JudgedMean
        The estimate of each metric with its interval, beside the values by the judge's and by the human labels.
    per_query : dict of str to dict of query_id to float
        The estimate of each query, by metric: the mean over draws.
    answers : list of HumanAnswers
        For each label of the judge, what humans said.
    confidence : float
    n_draws : int
    n_queries, n_sampled : int
        The queries with a judged pair, and those of them with a human label.
    """

    means: dict[str, JudgedMean]
    per_query: dict[str, dict[Any, float]]

    def __getitem__(self, metric: str) -> float:
        """The estimated mean of a metric."""
        return self.means[metric].estimate

    def _columns(self) -> dict[str, Any]:
        rows = list(self.means.values())
        names = [name for name in JudgedMean._fields if name != "p_value"]
        return {"metric": list(self.means), **{name: [getattr(row, name) for row in rows] for name in names}}

    def _records(self) -> dict[str, Any]:
        return {"means": {name: row._asdict() for name, row in self.means.items()}}

    def _table(self, digits: int = 4) -> Table:
        rows = [
            [Cell(name), number_cell(row.estimate, digits), self._interval(row, digits)]
            + [number_cell(value, digits) for value in (row.naive, row.human)]
            for name, row in self.means.items()
        ]
        head = ["metric", "estimate", f"{self.confidence:.0%} interval", "judge's labels", "human labels"]
        return Table(head, rows, 1, self._notes())


@dataclass(repr=False, eq=False)
class ComparisonUnderJudge(Corrected, Exportable):
    """Differences of runs with a judge's errors in them; made by `compare_under_judge`, prints as a table.

    Attributes
    ----------
    pairs : list of JudgedDifference
        One for each two runs and each metric, metric by metric.
    means : dict of run to dict of str to JudgedMean
    per_query : dict of run to dict of str to dict of query_id to float
    answers, confidence, n_draws, n_queries, n_sampled
        As in `UnderJudge`.
    """

    pairs: list[JudgedDifference]
    means: dict[Any, dict[str, JudgedMean]]
    per_query: dict[Any, dict[str, dict[Any, float]]]

    def _columns(self) -> dict[str, Any]:
        return {name: [getattr(row, name) for row in self.pairs] for name in JudgedDifference._fields}

    def _records(self) -> dict[str, Any]:
        return {
            "pairs": [row._asdict() for row in self.pairs],
            "means": {
                str(run): {name: row._asdict() for name, row in means.items()} for run, means in self.means.items()
            },
        }

    def _table(self, digits: int = 4) -> Table:
        rows = [
            [Cell(row.metric), Cell(f"{row.a} - {row.b}"), number_cell(row.estimate, digits)]
            + [self._interval(row, digits), Cell(decimals(row.corrected, digits))]
            + [number_cell(value, digits) for value in (row.naive, row.human)]
            for row in self.pairs
        ]
        head = ["metric", "runs", "difference", f"{self.confidence:.0%} interval", "p (Holm)"]
        return Table([*head, "judge's labels", "human labels"], rows, 2, self._notes())
