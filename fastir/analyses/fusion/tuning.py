"""Tuning, what tune() found, and its records."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from fastir.data.results.exportable import Exportable
from fastir.rendering import Cell, Table, number_cell
from fastir.rendering.text import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fastir.data.results.results import Results

Weights = dict[Hashable, float]


class Trial(NamedTuple):
    """A setting that the search tried.

    Attributes
    ----------
    weights : dict of run to float, or None
    params : dict
    value : float
        The mean over all queries.
    difference : float
        The value minus the chosen setting's value.
    noise : float
        1.96 standard errors of the difference, over the queries.
    """

    weights: Weights | None
    params: dict[str, Any]
    value: float
    difference: float
    noise: float

    @property
    def within_noise(self) -> bool:
        """Whether the difference is at most the noise."""
        return abs(self.difference) <= self.noise


class Fold(NamedTuple):
    """The queries of one fold, evaluated with the setting chosen on all other queries.

    Attributes
    ----------
    n_queries : int
    weights : dict of run to float, or None
    params : dict
    value : float
        The mean over its queries.
    """

    n_queries: int
    weights: Weights | None
    params: dict[str, Any]
    value: float


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Tuning(Exportable):
    """The result of `tune`; prints as a table of the folds.

    Attributes
    ----------
    metric, method : str
    norm : str or None
    runs : list
        Their names.
    weights : dict of run to float, or None
        The weights chosen on all queries, for `fuse`.
    params : dict
        The parameters chosen on all queries, and those learnt from their judgments, as keyword arguments for `fuse`.
    value : float
        Cross-validated: the mean of `results`.
    in_sample : float
        The mean of the chosen setting over the queries on which it was chosen; it is too optimistic.
    results : Results
        The value of each query under the setting chosen without it, for `compare`.
    trials : list of Trial
        All settings tried, in the order of the search.
    folds : list of Fold
    fold_of_query : dict of query_id to int
        The index in `folds` of the query's fold.
    search : str
        How the settings were generated.
    """

    metric: str
    method: str
    norm: str | None
    runs: list[Any]
    weights: Weights | None
    params: dict[str, Any]
    value: float
    in_sample: float
    results: Results
    trials: list[Trial]
    folds: list[Fold]
    fold_of_query: dict[Any, int]
    search: str

    @property
    def plateau(self) -> dict[Any, tuple[float, float]]:
        """{run or parameter: (low, high)} of the settings around the chosen one that are within noise of it.

        If one number was tuned, this is the unbroken stretch around the chosen value; with more than two weights, the
        range of each weight over all settings within noise. Empty if nothing was searched.
        """
        names = list_searched(self.trials)
        near = [trial for trial in self.trials if trial.within_noise]
        if len(names) <= 2:
            first = stop = next(i for i, trial in enumerate(self.trials) if trial.difference == 0 == trial.noise)
            while first > 0 and self.trials[first - 1].within_noise:
                first -= 1
            while stop < len(self.trials) and self.trials[stop].within_noise:
                stop += 1
            near = self.trials[first:stop]
        points = [setting_numbers(trial) for trial in near]
        return {name: (min(p[name] for p in points), max(p[name] for p in points)) for name in names}

    def plot(self) -> Axes:
        """The metric against the weights or the parameter, as `fastir.plots.tuning` draws it.

        Raises
        ------
        ValueError
            Nothing was searched, or there are more than three weights.
        """
        from fastir.plots import tuning

        return tuning(self)

    def _columns(self) -> dict[str, list[Any]]:
        names = list_searched(self.trials)
        columns: dict[str, list[Any]] = {str(name): [setting_numbers(t)[name] for t in self.trials] for name in names}
        for name in ("value", "difference", "noise", "within_noise"):
            columns[name] = [getattr(trial, name) for trial in self.trials]
        return columns

    def _json(self, per_query: bool = True) -> dict[str, Any]:
        from fastir.rendering.text import json_types

        data = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "results"}
        data["plateau"] = {name: list(ends) for name, ends in self.plateau.items()}
        if per_query:
            data["per_query"] = self.results.per_query(self.metric)
        else:
            del data["fold_of_query"]
        return json_types(data)

    def _title(self) -> str:
        norm = "" if self.norm is None else f", {self.norm}"
        n_folds = counted(len(self.folds), "fold", "folds")
        return (
            f"{self.method} of {', '.join(map(str, self.runs))}{norm}: {self.metric} {self.value:.4f} cross-validated "
            f"in {n_folds}, {self.in_sample:.4f} in sample"
        )

    def _table(self, digits: int = 4) -> Table:
        names = [
            name for name in list_searched(self.trials) if name in setting_numbers(self)
        ]  # no fixed one of what learns
        rows = []
        for text, setting, n_queries, value in (
            *((f"without fold {i}", fold, fold.n_queries, fold.value) for i, fold in enumerate(self.folds[:20], 1)),
            ("all", self, len(self.results.query_ids), self.in_sample),
        ):
            numbers = [*(setting_numbers(setting)[name] for name in names), value]
            rows.append([Cell(text), Cell(str(n_queries)), *(number_cell(number, digits) for number in numbers)])
        if len(self.folds) > 20:
            rows.insert(20, [Cell(f"... {len(self.folds) - 20} more"), *[Cell("")] * (len(names) + 2)])
        notes = [f"Search: {self.search}."]
        for name, (low, high) in self.plateau.items():
            notes.append(f"Within noise of the chosen one: {name} from {low:.6g} to {high:.6g}.")
        return Table(["chosen on", "queries", *map(str, names), self.metric], rows, 1, notes, self._title())


def setting_numbers(setting: Any) -> dict[Any, Any]:
    """The numbers of a setting by run or parameter; not what was learnt."""
    numbers = {name: value for name, value in setting.params.items() if isinstance(value, (int, float))}
    if "probs" in setting.params:  # its length is the number that was searched
        numbers["n_segments"] = len(setting.params["probs"][0])
    return {**(setting.weights or {}), **numbers}


def list_searched(trials: list[Trial]) -> list[Any]:
    """The runs or parameters with numbers that were tried."""
    return list(setting_numbers(trials[0])) if trials else []
