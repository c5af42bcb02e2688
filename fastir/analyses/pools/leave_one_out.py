"""leave_one_out(): the leaderboard as it would be if a team had not taken part in the pool.

The judgments of documents that only this team has are taken away, and all runs are evaluated again. A new system is
treated like the run that lost its own contributions: if that run hardly falls, the pool can be used for new systems.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

import numpy as np

from fastir.analyses.pools.contributions import JudgmentRanks, TeamsLike, check_overlap, owners, read_labels, read_teams
from fastir.data.qrels import GroupedQrels, Qrels, as_qrels
from fastir.data.rankings import JudgedRankings, make_rankings, ranking_arrays
from fastir.data.results.by_run import ResultsByRun
from fastir.data.results.exportable import Exportable, columns_from_records
from fastir.engine.columns.rows import occurrences, offsets_from_sizes
from fastir.errors import FastirWarning, quote
from fastir.evaluation.evaluator import Evaluator
from fastir.evaluation.rules import SIDE_OPTIONS, columns_by_side, columns_of_runs, select_queries
from fastir.evaluation.run_collections import check_depth, read_runs
from fastir.inputs.parents import read_parents
from fastir.rendering import Cell, Table, number_cell
from fastir.rendering.text import counted, json_types
from fastir.request.directions import SIGNS, higher_is_better
from fastir.request.names import refuse_mapping
from fastir.request.options import TIES, query_rule
from fastir.request.plan import Settings
from fastir.stats import taus

if TYPE_CHECKING:
    from typing import Unpack

    from fastir.data.qrels import QrelsLike
    from fastir.data.run import RunsLike
    from fastir.evaluation.keywords import EvaluateOptions
    from fastir.evaluation.run_collections import RunNames


class Fall(NamedTuple):
    """A run with and without what only its team contributed.

    Attributes
    ----------
    run, team : names
    metric : str
    value, value_without : float
    place, place_without : int
        The ranks on the leaderboard of all judgments and on the one without its team's own; equal values share the best
        rank. 0 if the value is NaN.
    """

    run: Hashable
    team: Hashable
    metric: str
    value: float
    value_without: float
    place: int
    place_without: int

    @property
    def places(self) -> int:
        """By how many ranks the run falls."""
        return self.place_without - self.place


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class LeftOut(Exportable):
    """Leaderboards without the judgments that only one team contributed; made by `leave_one_out`. Prints as a table.

    Attributes
    ----------
    results : ResultsByRun
        The results by all judgments.
    without : dict of team to ResultsByRun
        The results of all runs by the judgments without those that only this team has.
    removed : dict of team to int
        The number of judgments that only this team has.
    falls : list of Fall
        One for each metric and run: metric by metric, the best run first.
    tau : dict of metric to dict of team to float
        Kendall's tau_b between the leaderboard by all judgments and the one without the team's. **Undefined** (NaN) if
        all runs have the same value, or a value is NaN.
    largest_fall : dict of metric to Fall
        The run that falls by the most ranks; among equals, the one with the largest drop of its value.
    """

    results: ResultsByRun
    without: dict[Hashable, ResultsByRun]
    removed: dict[Hashable, int]
    falls: list[Fall]
    tau: dict[str, dict[Hashable, float]]
    largest_fall: dict[str, Fall]

    def leaderboard(self, team: Hashable) -> list[Fall]:
        """All runs with and without the judgments that only this team has, by metric, the best without them first.

        Raises
        ------
        ValueError
            There is no such team.
        """
        if team not in self.without:
            raise ValueError(f"there is no team {quote(team)}; the teams are {', '.join(map(str, self.without))}")
        team_of = {fall.run: fall.team for fall in self.falls}
        teams = {run: team_of[run] for run in self.results}
        without = dict.fromkeys(teams.values(), self.without[team])
        falls = [fall for name in self.tau for fall in list_falls(name, self.results, without, teams)]
        last = len(teams) + 1
        return sorted(falls, key=lambda fall: (list(self.tau).index(fall.metric), fall.place_without or last))

    @property
    def query_ids(self) -> list[Any]:
        """The evaluated queries, as a new list."""
        return self.results.query_ids

    def to_table(
        self,
        format: str = "text",
        *,
        team: Hashable | None = None,
        digits: int = 4,
        transpose: bool = False,
        caption: str | None = None,
        label: str | None = None,
        formulas: bool = False,
    ) -> str:
        """A table to print: a row for each run and metric; the rest is as for every table.

        With a `team`, all runs are without the judgments that only this team has. None: each run is without the
        judgments that only its own team has.
        """
        return self._rendered(self._table, format, digits, transpose, caption, label, formulas, team=team)

    def _columns(self) -> dict[str, list[Any]]:
        return columns_from_records(Fall._fields, self.falls)

    def _json(self, per_query: bool = True) -> dict[str, Any]:
        metrics = {}
        for metric, taus_by_team in self.tau.items():
            falls = [fall for fall in self.falls if fall.metric == metric]
            names = [name for name in Fall._fields if name not in ("run", "team", "metric")]
            rows = [{name: getattr(fall, name) for name in names} for fall in falls]
            runs = [
                {"run": str(fall.run), "team": str(fall.team), **row} for fall, row in zip(falls, rows, strict=True)
            ]
            metrics[metric] = {"runs": runs, "tau": taus_by_team}
        return json_types({"metrics": metrics, "removed": self.removed})

    def _table(self, digits: int = 4, team: Hashable | None = None) -> Table:
        falls = self.falls if team is None else self.leaderboard(team)
        rows = []
        for fall in falls:
            removed = fall.team if team is None else team
            rows.append([
                Cell(fall.metric),
                Cell(str(fall.run)),
                Cell(str(fall.team)),
                Cell(str(self.removed[removed])),
                number_cell(fall.value, digits),
                number_cell(fall.value_without, digits),
                Cell(str(fall.place)),
                Cell(str(fall.place_without)),
                number_cell(self.tau[fall.metric][removed], digits),
            ])  # fmt: skip
        head = ["metric", "run", "team", "unique", "mean", "mean without", "rank", "rank without", "tau"]
        if team is None:
            return Table(
                head, rows, 3, [describe_falls([f for f in falls if f.metric == metric]) for metric in self.tau]
            )
        notes = [f"Without {counted(self.removed[team], 'judgment', 'judgments')} of documents that only {team} has."]
        shown = [place for place, name in enumerate(head) if name not in ("unique", "tau")]
        return Table([head[place] for place in shown], [[row[place] for place in shown] for row in rows], 3, notes)


def leave_one_out(
    qrels: QrelsLike,
    runs: RunsLike,
    metrics: str | Iterable[str],
    *,
    names: RunNames = "stem",
    teams: TeamsLike | None = None,
    pool_depth: SupportsIndex | None = None,
    **options: Unpack[EvaluateOptions],
) -> LeftOut:
    """Evaluate all runs with and without the judgments that only one team contributed, for each team.

    Parameters
    ----------
    qrels, runs, metrics, names : as for `evaluate_many`
    teams, pool_depth
        As for `contributions`. With `pool_depth`, a document counts as a team's own if no other team has it down to
        that depth.
    **options
        All options of `evaluate`. `queries` is "qrels" by default, so that all runs have the same queries.

    Returns
    -------
    LeftOut

    Raises
    ------
    NoOverlapError, UnknownMetricError, FormatError, DuplicateError, TypeError, ValueError, OverflowError, OSError
        As by `evaluate_many` and `contributions`.

    Examples
    --------
    >>> import fastir
    >>> qrels = {"q1": {"a": 1, "c": 1}}
    >>> runs = {"bm25": {"q1": {"a": 3.0, "b": 2.0}}, "dense": {"q1": {"c": 0.8, "d": 0.7}}}
    >>> left_out = fastir.leave_one_out(qrels, runs, "mrr")
    >>> left_out.largest_fall["mrr"]
    Fall(run='bm25', team='bm25', metric='mrr', value=1.0, value_without=0.0, place=1, place_without=2)
    """
    depth = check_depth(pool_depth)
    refuse_mapping(metrics)
    metrics = metrics if isinstance(metrics, str) else list(metrics)
    rest: dict[str, Any] = {"queries": "qrels", **options}
    rest["queries"], query_ids = query_rule(rest["queries"])
    sides = columns_by_side(*(rest.pop(name, None) for name in SIDE_OPTIONS))
    duplicates = rest.pop("duplicates", None)
    parents = read_parents(rest.pop("parents", None), rest.pop("aggregate", "max"), duplicates)
    judgments = as_qrels(qrels, sides[0], duplicates)
    if query_ids is not None:
        judgments = select_queries(judgments, query_ids)
    lines = "trec" if rest.get("convention", "fastir") == "fastir" else "trec_eval"
    by_name = read_runs(runs, columns_of_runs(qrels, sides), duplicates, parents, names, lines, qrels)
    team_of = read_teams(by_name, teams)
    labels = read_labels(judgments)
    check_overlap(labels, by_name)
    evaluator = Evaluator(judgments, metrics, **rest)
    results = evaluator.evaluate_many(by_name)
    judgment_ranks = JudgmentRanks(labels, by_name, min_score=rest.get("min_score"))
    numbers = judgment_ranks.by_team(team_of, depth)
    owner = np.where(judgment_ranks.labels >= 0, owners(len(judgment_ranks.labels), list(numbers.values())), -1)
    removed = dict(zip(numbers, occurrences(owner[owner >= 0], minlength=len(numbers)).tolist(), strict=True))
    without = dict.fromkeys(removed, results)
    reduced = ReducedQrels(judgments, judgment_ranks, metrics, rest, evaluator.rules.settings)
    for place, (team, n) in enumerate(removed.items()):
        if n:
            without[team] = reduced.without(owner == place)
    metric_names = next(iter(results.values())).names
    falls = [fall for name in metric_names for fall in list_falls(name, results, without, team_of)]
    return LeftOut(
        *(results, without, removed, falls),
        {name: {team: tau_between(name, results, other) for team, other in without.items()} for name in metric_names},
        {name: largest_fall([fall for fall in falls if fall.metric == name]) for name in metric_names},
    )


def largest_fall(falls: list[Fall]) -> Fall:
    return max(falls, key=lambda fall: (fall.places, fall.value - fall.value_without))


def describe_falls(falls: list[Fall]) -> str:
    """Say how far the runs fall on one metric, and by which fraction their values change."""
    most = largest_fall(falls)
    text = f"{most.metric}: no run falls"
    if most.places > 0:
        text = f"{most.metric}: {most.run} falls most, from rank {most.place} to {most.place_without}"
    changes = {fall.run: abs(1 - fall.value_without / fall.value) for fall in falls if fall.value}
    changes = {run: change for run, change in changes.items() if change == change}
    if not any(changes.values()):
        return f"{text}."
    run = max(changes, key=changes.__getitem__)
    mean = sum(changes.values()) / len(changes)
    return f"{text}; values change by {mean:.2%} on average; {run} changes most, by {changes[run]:.2%}."


def column(metric: str, results: ResultsByRun) -> np.ndarray:
    """The means of the runs, larger for the better."""
    sign = SIGNS[higher_is_better(metric)] or 1
    return sign * np.array([of_run[metric] for of_run in results.values()])


def tau_between(metric: str, results: ResultsByRun, other: ResultsByRun) -> float:
    one, two = column(metric, results), column(metric, other)
    return np.nan if np.isnan(one + two).any() else taus.tau_b(one, two)


def list_falls(
    metric: str, results: ResultsByRun, without: dict[Hashable, ResultsByRun], teams: dict[Hashable, Hashable]
) -> list[Fall]:
    """The values of each run with and without its team's own documents, the best first."""
    means = column(metric, results)
    places = {None: taus.places(means)} | {team: taus.places(column(metric, other)) for team, other in without.items()}
    falls = []
    for row, (run, team) in enumerate(teams.items()):
        values = results[run][metric], without[team][run][metric]
        at = (
            int(p) if value == value else 0
            for p, value in zip((places[None][row], places[team][row]), values, strict=True)
        )
        falls.append(Fall(run, team, metric, *values, *at))
    return sorted(falls, key=lambda fall: fall.place or len(falls) + 1)


# ---- runs evaluated on fewer judgments -------------------------------------------------------------------------------
ORDER_OPTIONS = ("convention", "ties", "score_dtype", "min_score")  # options that decide the order of documents
LABEL_TIES = ("optimistic", "pessimistic", "average")  # ties by label, which judgments' numbers would decide, or none
READING_OPTIONS = ("score_dtype", "validate", "min_score")  # options that judged rankings do not take


class ReducedQrels:
    """Evaluates runs on the judgments that are left."""

    judgments: Qrels
    judgment_ranks: JudgmentRanks
    metrics: str | Iterable[str]
    options: dict[str, Any]

    def __init__(
        self,
        judgments: Qrels,
        judgment_ranks: JudgmentRanks,
        metrics: str | Iterable[str],
        options: dict[str, Any],
        settings: Settings,
    ) -> None:
        self.judgments, self.judgment_ranks, self.metrics, self.options = judgments, judgment_ranks, metrics, options
        self.falling: np.ndarray = np.lexsort((-judgment_ranks.labels.astype(float), judgment_ranks.rows))
        self.labels: np.ndarray = np.maximum(judgment_ranks.labels, np.int32(-1))  # as judged rankings have them
        self.ranked: dict[Hashable, tuple[JudgedRankings, np.ndarray]] = {}
        # judged rankings serve if all metrics read the labels of one ranking, whose order no label decides
        one_order = not settings.parts and TIES[settings.ties] not in LABEL_TIES
        if one_order and not isinstance(judgments, GroupedQrels):
            ordered = judgment_ranks.by({name: options[name] for name in ORDER_OPTIONS if name in options})
            self.ranked = {run: (ranked, self.labels[ranked.labels]) for run, ranked in ordered.ranked.items()}

    def without(self, removed: np.ndarray) -> ResultsByRun:
        """The Results of all runs; `removed` says which judgments are taken away."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FastirWarning)  # missing judgments were warned of before
            if not self.ranked:
                qrels = self.reduce_qrels(removed)
                return Evaluator(qrels, self.metrics, **self.options).evaluate_many(self.judgment_ranks.runs)
            left = self.falling[~removed[self.falling]]
            sizes = occurrences(self.judgment_ranks.rows[left], minlength=len(self.judgment_ranks.judgments))
            ideal = {"ideal_offsets": offsets_from_sizes(sizes), "ideal_labels": self.labels[left]}
            options = {name: value for name, value in self.options.items() if name not in READING_OPTIONS}
            return ResultsByRun(
                (run, self.reduce_run(run, removed, ideal).evaluate(self.metrics, **options)) for run in self.ranked
            )

    def reduce_run(self, run: Hashable, removed: np.ndarray, ideal: dict[str, np.ndarray]) -> JudgedRankings:
        """The rankings of a run with labels, as if the removed judgments had never been made."""
        ranked, labels = self.ranked[run]
        arrays = {**ranking_arrays(ranked), "labels": labels, **ideal}
        is_removed = removed[ranked.labels]
        if is_removed.any():
            left = ~is_removed
            arrays["offsets"] = offsets_from_sizes(left)[ranked.offsets]
            arrays["ranks"], arrays["labels"] = ranked.ranks[left], labels[left]
        rules = ranked.ties, ranked.score_dtype, ranked.duplicates
        return make_rankings(JudgedRankings, ranked.query_ids, arrays, *rules, ranked.report)

    def reduce_qrels(self, removed: np.ndarray) -> dict[Any, Any]:
        """The judgments that are left, in the levels that they had; all queries and groups stay."""
        flags = iter(removed.tolist())
        return {
            query_id: prune(self.judgments[query_id], set(itertools.compress(judged, flags)))
            for query_id, judged in self.judgment_ranks.judgments.items()
        }


def prune(judgments: dict[Any, Any], doc_ids: set[Any]) -> dict[Any, Any]:
    """Documents with labels, or groups of them, without some."""
    return {
        key: prune(value, doc_ids) if isinstance(value, dict) else value
        for key, value in judgments.items()
        if isinstance(value, dict) or key not in doc_ids
    }
