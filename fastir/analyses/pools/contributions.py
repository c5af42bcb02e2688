"""contributions(): which judged document came from which run or team."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsFloat, SupportsIndex

import numpy as np

from fastir.analyses.pools.members import (
    JudgmentRanks,
    Names,
    TeamsLike,
    check_overlap,
    owners,
    read_labels,
    read_teams,
)
from fastir.data.results.exportable import Exportable, columns_from_records
from fastir.engine.columns.rows import repeat
from fastir.evaluation.run_collections import check_depth, read_runs
from fastir.rendering import Cell, Table
from fastir.rendering.text import json_types
from fastir.request.options import relevance_level

if TYPE_CHECKING:
    from fastir.data.qrels import QrelsLike
    from fastir.data.run import RunsLike
    from fastir.evaluation.run_collections import RunNames
    from fastir.request.options import Duplicates


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
    duplicates : str or None
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
    by_name = read_runs(runs, None, duplicates, None, names, judgments=qrels)
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
