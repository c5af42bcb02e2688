"""Which runs have which documents near the top, and which team each run is of."""

from __future__ import annotations

import itertools
import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.data.qrels import GroupedQrels, Preferences, Qrels, as_qrels, label_column
from fastir.data.rankings import JudgedRankings
from fastir.data.run import Run
from fastir.engine.columns.rows import repeat
from fastir.engine.measure import NUM_Q
from fastir.errors import NoOverlapError, quote
from fastir.evaluation.drivers.judged import RunJudge
from fastir.evaluation.evaluator import Evaluator
from fastir.evaluation.run_collections import Rankings, id_kinds
from fastir.inputs.mappings import TEAMS, misfit_error, read_mapping

if TYPE_CHECKING:
    from fastir.request.options import Duplicates

TeamsLike = Mapping[Any, Hashable] | str | os.PathLike[str]
Names = tuple[Hashable, ...]
Masks = dict[Any, dict[Any, int]]  # {query_id: {doc_id: a bit for each who has it}}


def bit_masks(rankings: Iterable[tuple[int, Rankings]]) -> Masks:
    """For every document a bit for each ranking that has it; each ranking comes with the index of its bit."""
    held = list(rankings)
    by_query: Masks = {}
    for query_id in dict.fromkeys(itertools.chain.from_iterable(of_run for _, of_run in held)):
        masks: dict[Any, int] = {}  # of one query at a time, so that it stays in the caches
        for place, of_run in held:
            for doc_id in of_run.get(query_id, ()):
                masks[doc_id] = masks.get(doc_id, 0) | 1 << place
        by_query[query_id] = masks
    return by_query


def names_of_bits(mask: int, names: Sequence[Hashable]) -> Names:
    """Return the names of the bits that are set."""
    members = []
    while mask:
        lowest = mask & -mask
        members.append(names[lowest.bit_length() - 1])
        mask ^= lowest
    return tuple(members)


def read_teams(runs: Mapping[Hashable, Any], teams: TeamsLike | None) -> dict[Hashable, Hashable]:
    """{run: team}; without teams each run is one."""
    if teams is None:
        return {name: name for name in runs}
    team_by_run = read_mapping(TEAMS, teams)
    for name in runs:
        if name not in team_by_run:
            raise misfit_error("teams", team_by_run, f"run {quote(name)} has no team")
        if not isinstance(team_by_run[name], Hashable) or team_by_run[name] != team_by_run[name]:
            raise TypeError(
                f"teams: the team of run {quote(name)} is {quote(team_by_run[name])}, which cannot be a name"
            )
    for name in team_by_run:
        if name not in runs:
            raise misfit_error("teams", team_by_run, f"there is no run {quote(name)}")
    return {name: team_by_run[name] for name in runs}


def read_labels(qrels: Any, duplicates: Duplicates | None = None) -> dict[Any, dict[Any, float]]:
    """{query_id: {doc_id: label}} of a caller's qrels, negative labels too; of groups the largest label."""
    read = as_qrels(qrels, None, duplicates)
    if isinstance(read, Preferences):
        raise TypeError("qrels: preferences have no labels, which are counted here")
    rows: Qrels = read.columns.union if isinstance(read, GroupedQrels) else read
    return {query_id: rows[query_id] for query_id in rows}


def check_overlap(labels: dict[Any, dict[Any, float]], runs: Mapping[Hashable, Run]) -> None:
    """Runs and qrels must have ids of one kind, and a query in common."""
    judged = next((doc_id for documents in labels.values() for doc_id in documents), None)
    kind = f"({type(next(iter(labels), None)).__name__}, {type(judged).__name__})"
    for name, run in runs.items():
        if judged is not None and run.columns.n_rows and id_kinds(run) != kind:
            raise TypeError(f"the qrels have ids of type {kind}, run {quote(name)} of {id_kinds(run)}")
    if not any(query_id in run for run in runs.values() for query_id in labels):
        raise NoOverlapError("no run has a query of the qrels")


# ---- the ranks of judged documents in runs ---------------------------------------------------------------------------


Labels = dict[Any, dict[Any, float]]


class JudgmentRanks:
    """The judgments of qrels, numbered in their order, and their ranks in runs.

    Attributes
    ----------
    judgments : dict of query_id to dict of doc_id to label
    labels : int32 array of shape (n,); float64 if a label is a fraction
    rows : int64 array of shape (n,)
        The positions of their queries.
    ranked : dict of run to JudgedRankings
        With numbers of judgments instead of labels; without runs that have no query of the qrels.
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
    """For each of n judgments the position of the only team that has it; -1 for none or several."""
    times, last = np.zeros(n, np.int64), np.full(n, -1, np.int64)
    for place, held in enumerate(numbers):
        times[held] += 1
        last[held] = place
    return np.where(times == 1, last, -1)
