"""Which judgments stand at which ranks of a run: found by the join that metrics are evaluated through.

`JudgedRankings` have no ids. Where each judgment's label is its own number, they say which judgments these are.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from fastir.data.qrels import label_column
from fastir.data.rankings import JudgedRankings
from fastir.data.run import Run
from fastir.engine.columns.rows import repeat
from fastir.engine.measure import NUM_Q
from fastir.evaluation.drivers.judged import RunJudge
from fastir.evaluation.evaluator import Evaluator

Labels = dict[Any, dict[Any, float]]


class JudgmentRanks:
    """The judgments of qrels, numbered in their order, and where they stand in runs.

    Attributes
    ----------
    judgments : dict of query_id to dict of doc_id to label
    labels : int32 array of shape (n,); float64 if one label is not whole
    rows : int64 array of shape (n,)
        The places of their queries.
    ranked : dict of run to JudgedRankings
        With numbers of judgments in place of labels; without runs that have no query of the qrels.
    """

    judgments: Labels
    runs: Mapping[Hashable, Run]
    labels: np.ndarray
    rows: np.ndarray

    def __init__(self, judgments: Labels, runs: Mapping[Hashable, Run], **options: Any) -> None:
        numbers = itertools.count()
        self.judgments, self.runs = judgments, runs
        self.labels = label_column(np.array([label for by_doc in judgments.values() for label in by_doc.values()]))
        self.rows = repeat(np.arange(len(judgments)), list(map(len, judgments.values())))
        qrels = {
            query_id: dict(zip(by_doc, numbers, strict=False)) for query_id, by_doc in judgments.items()
        }  # ends with by_doc
        judge = RunJudge(Evaluator(qrels, NUM_Q, **{**options, "queries": "qrels"}).rules.prepared)
        shared = {name: run for name, run in runs.items() if any(query_id in run for query_id in judgments)}
        self.ranked: dict[Hashable, JudgedRankings] = {
            name: judge.with_coverage(run, None)[0] for name, run in shared.items()
        }

    def by(self, order: dict[str, Any]) -> JudgmentRanks:
        """The judgments and their ranks in rankings of another order."""
        return JudgmentRanks(self.judgments, self.runs, **order) if order else self

    def by_team(self, teams: Mapping[Hashable, Hashable], depth: int) -> dict[Hashable, np.ndarray]:
        """{team: the numbers of the judgments that it has in a run, to a depth}, rising, each once."""
        hits: dict[Hashable, list[np.ndarray]] = {team: [] for team in teams.values()}
        for name, ranked in self.ranked.items():
            hits[teams[name]].append(ranked.labels[ranked.ranks <= depth])
        return {team: np.unique(np.concatenate([np.empty(0, np.int32), *numbers])) for team, numbers in hits.items()}


def owners(n: int, numbers: list[np.ndarray]) -> np.ndarray:
    """For each of n judgments the place of the only team that has it; -1 for none or several."""
    times, last = np.zeros(n, np.int64), np.full(n, -1, np.int64)
    for place, held in enumerate(numbers):
        times[held] += 1
        last[held] = place
    return np.where(times == 1, last, -1)
