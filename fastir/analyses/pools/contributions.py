"""contributions(): which judged document came from which run or team."""

from __future__ import annotations

import itertools
import os
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsFloat, SupportsIndex

import numpy as np

from fastir.data.qrels import GroupedQrels, Preferences, Qrels, as_qrels, label_column
from fastir.data.rankings import JudgedRankings
from fastir.data.results.exportable import Exportable, columns_from_records
from fastir.data.run import Run
from fastir.engine.columns.rows import repeat
from fastir.engine.measure import NUM_Q
from fastir.errors import NoOverlapError, quote
from fastir.evaluation.drivers.judged import RunJudge
from fastir.evaluation.evaluator import Evaluator
from fastir.evaluation.run_collections import Rankings, check_depth, id_kinds, read_runs
from fastir.inputs.mappings import TEAMS, misfit_error, read_mapping
from fastir.rendering import Cell, Table
from fastir.rendering.text import json_types
from fastir.request.options import relevance_level

if TYPE_CHECKING:
    from fastir.data.qrels import QrelsLike
    from fastir.data.run import RunsLike
    from fastir.evaluation.run_collections import RunNames
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
        had = masks.setdefault
        for place, of_run in held:
            bit = 1 << place
            for doc_id in of_run.get(query_id, ()):
                if (mask := had(doc_id, bit)) is not bit:  # which most documents get here
                    masks[doc_id] = mask | bit
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
    """The judgments of qrels, numbered in their order, and their ranks in runs."""

    judgments: Labels
    runs: Mapping[Hashable, Run]
    labels: np.ndarray  # int32 of shape (n,); float64 if a label is a fraction
    rows: np.ndarray  # int64 of shape (n,): the positions of their queries

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
        # with numbers of judgments instead of labels; without runs that have no query of the qrels
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


# ---- contributions ---------------------------------------------------------------------------------------------------
class Contributed(NamedTuple):
    """A judged document, its label, and the teams that have it."""

    query_id: Any
    doc_id: Any
    label: float  # an int, if all labels are whole
    teams: Names


class Share(NamedTuple):
    """How many judged documents a team has, and how many of them no other team has.

    Attributes
    ----------
    judged, relevant : int
    only_judged, only_relevant : int
        Those that no other team has.
    """

    judged: int
    relevant: int
    only_judged: int
    only_relevant: int


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Contributions(Exportable):
    """Which runs and teams the judged documents come from; made by `contributions`. Prints as a table of the teams.

    Attributes
    ----------
    documents : list of Contributed
        All judged documents; those that no run has have no teams.
    teams : dict of team to Share
        {team: its share}; each run is a team unless teams were given.
    judged, relevant : int
        The number of judged and of relevant documents in the qrels.
    nobody_judged, nobody_relevant : int
        How many of these no run has.
    """

    documents: list[Contributed]
    teams: dict[Hashable, Share]
    judged: int
    relevant: int
    nobody_judged: int
    nobody_relevant: int

    def __iter__(self) -> Iterator[Contributed]:
        return iter(self.documents)

    def __len__(self) -> int:
        return len(self.documents)

    @property
    def query_ids(self) -> list[Any]:
        """The queries with judged documents, as a new list."""
        return list(dict.fromkeys(document.query_id for document in self.documents))

    def _columns(self) -> dict[str, list[Any]]:
        shares = [(str(team), *share) for team, share in self.teams.items()]
        return columns_from_records(("team", *Share._fields), shares)

    def _json(self, per_query: bool = True) -> dict[str, Any]:
        data: dict[str, Any] = {"teams": self.teams}
        data |= {name: getattr(self, name) for name in ("judged", "relevant", "nobody_judged", "nobody_relevant")}
        if per_query:
            data["documents"] = [{**row._asdict(), "teams": list(row.teams)} for row in self.documents]
        return json_types(data)

    def _table(self, digits: int = 4) -> Table:
        rows = [[Cell(str(team)), *(Cell(str(n)) for n in share)] for team, share in self.teams.items()]
        notes = [
            f"{self.judged} documents are judged, {self.relevant} of them relevant; "
            f"{self.nobody_judged} of these are retrieved by no run, {self.nobody_relevant} of them relevant."
        ]
        return Table(["team", "judged", "relevant", "unique", "unique relevant"], rows, 1, notes)


def contributions(
    qrels: QrelsLike,
    runs: RunsLike,
    *,
    names: RunNames = "stem",
    teams: TeamsLike | None = None,
    pool_depth: SupportsIndex | None = None,
    rel_level: SupportsIndex | SupportsFloat = 1,
    duplicates: Duplicates | None = None,
    min_score: SupportsFloat | None = None,
) -> Contributions:
    """Find which judged documents came from which run or team.

    Parameters
    ----------
    qrels, runs, names : as for `evaluate_many`
        A negative label is not a judgment.
    teams : mapping of run to team, path, or None
        The team of each run; every run must have one. A file has a run and its team on each line, separated by a tab or
        blanks. None: each run is its own team.
    pool_depth : int or None
        How many documents of each ranking count, usually the depth of the pool; None: all.
    rel_level : number
        The smallest label of a relevant document.
    duplicates, min_score
        As for `evaluate`.

    Returns
    -------
    Contributions

    Raises
    ------
    NoOverlapError
        None of the runs has a query of the qrels.
    FormatError, DuplicateError, TypeError, ValueError, OverflowError, OSError
        As by `evaluate_many`; a run has no team, or a team no run; an option is invalid. The message names the run.

    Examples
    --------
    >>> import fastir
    >>> qrels = {"q1": {"a": 1, "b": 0, "e": 1}}
    >>> runs = {"bm25": {"q1": {"a": 3.0, "b": 2.0}}, "dense": {"q1": {"b": 0.8, "c": 0.7}}}
    >>> fastir.contributions(qrels, runs).teams["bm25"]
    Share(judged=2, relevant=1, only_judged=1, only_relevant=1)
    """
    relevant_from, depth = relevance_level(rel_level), check_depth(pool_depth)
    by_name = read_runs(runs, None, duplicates, None, names, judgments=qrels, min_score=min_score)
    team_of = read_teams(by_name, teams)
    labels = read_labels(qrels, duplicates)
    check_overlap(labels, by_name)
    judgments = JudgmentRanks(labels, by_name)
    numbers = judgments.by_team(team_of, depth)
    team_names, real = list(numbers), judgments.labels >= 0
    relevant, only = real & (judgments.labels >= relevant_from), owners(len(real), list(numbers.values()))
    shares = {}
    for place, (team, rows_of_team) in enumerate(numbers.items()):
        alone = rows_of_team[only[rows_of_team] == place]
        shares[team] = Share(*(int(kind[held].sum()) for held in (rows_of_team, alone) for kind in (real, relevant)))
    having = holders(len(real), team_names, list(numbers.values()))
    rows = ((query_id, doc_id, label) for query_id, by_doc in labels.items() for doc_id, label in by_doc.items())
    documents = [Contributed(*row, of) for row, of in zip(rows, having, strict=True) if row[2] >= 0]
    nobody = np.array([not of for of in having], bool)
    counts = (int(kind.sum()) for kind in (real, relevant, real & nobody, relevant & nobody))
    return Contributions(documents, shares, *counts)


def holders(n: int, names: list[Hashable], numbers: list[np.ndarray]) -> list[Names]:
    """For each of n judgments the names of those who have it."""
    flat = np.concatenate([np.empty(0, np.int32), *numbers])
    order = np.argsort(flat, kind="stable")
    places = repeat(np.arange(len(names)), list(map(len, numbers)))[order]
    having = list(map(names.__getitem__, places.tolist()))
    ends = np.searchsorted(flat[order], np.arange(n + 1)).tolist()
    return [tuple(having[start:end]) for start, end in itertools.pairwise(ends)]
