"""identify(): the settings that give reported values, the simplest first."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from fastir.analyses.identify.answers import Answer, Identified, NearestSettings, OptionChange
from fastir.analyses.identify.columns import Judge, read_qrels
from fastir.analyses.identify.settings import (
    DEFAULT_OPTIONS,
    DataProperties,
    Options,
    Setting,
    State,
    States,
    conventions,
    departures,
    list_settings,
    paper_settings,
)
from fastir.analyses.identify.tables import FileValues, read_values
from fastir.analyses.identify.trials import explanations
from fastir.analyses.identify.values import SLACK, Target, read_targets
from fastir.data.run import Run
from fastir.evaluation.rules import SIDE_OPTIONS, columns_by_side, columns_of_runs, without_qrels_options
from fastir.evaluation.run_collections import refusing_names
from fastir.request.conventions import CONVENTIONS
from fastir.request.names import read

if TYPE_CHECKING:
    from fastir.data.qrels import QrelsLike
    from fastir.data.run import RunLike, RunsLike

READING_OPTIONS = ("columns", "qrels_columns", "run_columns", "label", "parents", "aggregate", "min_score", "n_threads")
USUAL_DEPTH = 1000  # documents of a query in a run of TREC
N_NEAREST = 3  # settings that are printed if none fits
MAX_COMPARED = 2000  # settings among which these are
EQUAL_DECIMALS = 12  # decimals to which means are equal: sums differ in the last bits


def identify(
    qrels: QrelsLike,
    run: RunLike | RunsLike,
    values: Mapping[str, Any] | str | os.PathLike[str],
    *,
    digits: SupportsIndex | None = None,
    row: str | None = None,
    ignore: Iterable[str] = (),
    progress: Callable[[int, int], object] | None = None,
    **options: Any,
) -> Identified:
    """Find which tools, with which options, give the values that were reported for a run.

    Parameters
    ----------
    qrels, run : as for `evaluate`
        For the values of several runs, a dict ``{name: run}``.
    values : dict or path
        ``{metric: value}``, or ``{run: {metric: value}}`` for several runs; all their values must fit. A value is a
        number, or text such as ``"0.2340"``, which shows its precision. Names are `evaluate`'s; a name as papers write
        it ("NDCG", "MRR", "Recall@10") is tried as every metric that it may mean. A path: a file with a table in
        Markdown, LaTeX or CSV, a list, the output of trec_eval, or JSON such as MTEB's. Numbers of a file with names
        that mean no metric are left out; `not_understood` lists these names.
    digits : int or None
        The decimals of values given as numbers; None: as many as Python prints.
    row : str or None
        Which row of the file belongs to a single run; None: its only row.
    ignore : iterable of str
        Names of values to leave out.
    progress : function of (done, all), or None
        Called as the search proceeds.
    **options
        How runs are read: columns, qrels_columns, run_columns, parents, aggregate, min_score and n_threads, as for
        `evaluate`.

    Returns
    -------
    Identified
        A sequence of `Answer`, the simplest first, of equally simple ones with options that which more settings give;
        settings that give equal values on these data are one answer. If nothing fits it is empty, and prints the
        nearest settings.

    Raises
    ------
    UnknownMetricError
        A name has no meaning; the message makes a suggestion.
    ValueError, TypeError
        Digits contradict the value; a value is outside of its metric's range; an option does not exist; a run has no
        values, or values have no run.
    FormatError
        A file of values does not contain any, or one that cannot be read; the message names the line.
    NoOverlapError, FormatError, TypeError, ValueError, OverflowError, OSError
        As by `evaluate`.

    Notes
    -----
    It searches every convention, with at most two changed options among queries, ties, gain, ideal, empty, rel_level,
    max_depth, duplicates, exclude, score_dtype and average; and definitions from papers that many results inherited. A
    number fits if it rounds to the reported value: it lies in the half-open interval of half a unit of the last digit
    around it. If no convention fits by itself, it tries means over another number of queries, and other metrics that
    may have been reported under the name: `explanations`.

    Examples
    --------
    >>> import fastir
    >>> qrels = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}
    >>> found = fastir.identify(qrels, {"q1": {"a": 2.0, "x": 1.0}}, {"map": "0.50"})
    >>> found[0].convention, found[0].options
    ('trec_eval-10', {})
    """
    for name in options:
        if name not in READING_OPTIONS:
            raise TypeError(f"identify has no option {name!r}; it searches all options that change values itself")
    if isinstance(values, (str, os.PathLike)):
        values = read_values(values)
        values = values.select_rows(run) if isinstance(run, Mapping) else values
    if not isinstance(values, Mapping):
        raise TypeError(
            f"values must be a dict such as {{'ndcg@10': '0.2341'}}, or a path, got {type(values).__name__}"
        )
    sides = columns_by_side(*(options.get(name) for name in SIDE_OPTIONS))
    of_runs, judgments = columns_of_runs(qrels, sides), read_qrels(qrels, sides[0])
    of_read = {name: value for name, value in options.items() if name not in SIDE_OPTIONS}
    options = without_qrels_options(options, of_runs)
    ignored = {ignore} if isinstance(ignore, str) else set(ignore)
    not_understood: dict[str, str] = {}
    pairs = []
    for of_run, given in refusing_names(pair_runs(run, values, row), of_runs):
        each = read_run(given, of_runs)
        kept = {name: value for name, value in of_run.items() if name not in ignored}
        if isinstance(values, FileValues):
            not_understood |= {name: value for name, value in kept.items() if not values.knows(name)}
            kept = {name: value for name, value in kept.items() if values.knows(name)}
        judge = Judge(judgments, each, of_read if isinstance(each, Run) else options)
        pairs.append((judge, read_targets(kept, digits)))
    wanted: list[tuple[Judge, Target]] = [(judge, target) for judge, targets in pairs for target in targets]
    facts = combine_facts([judge.facts for judge, _ in pairs])
    meanings = list(dict.fromkeys(meaning for _, target in wanted for meaning in target.meanings))
    settings, states = list_states(facts, meanings, [target for _, target in wanted])
    means = compute_means(wanted, states, progress)
    found = make_answers(settings, means, wanted, Neighbours(facts, meanings, wanted))
    found.not_understood = not_understood
    if all(answer.options for answer in found):  # none, or none as simple as an explanation
        found.explanations = explanations(wanted, facts)
    found.notes += remarks(wanted, len(found) > 0)
    return found


def remarks(wanted: list[tuple[Judge, Target]], is_found: bool) -> list[str]:
    """What cannot be in the run at all: values deeper than it is, or, if nothing fits, than it perhaps is."""
    found = {}
    for judge, target in wanted:
        least = min(read(meaning)[0].cutoff or 0 for meaning in target.meanings)
        depth = f"{target.name}: the run has at most {judge.facts.longest} documents for a query"
        if least > judge.facts.longest:
            found[target.name] = f"{depth}, so a value at {least} is from a deeper run"
        elif not is_found and not least and judge.facts.longest < USUAL_DEPTH:
            found[target.name] = f"{depth}; a value of rankings of {USUAL_DEPTH} documents cannot come out"
    return list(found.values())


def pair_runs(run: Any, values: Mapping[str, Any], row: str | None) -> list[tuple[Any, Any]]:
    """The values of each run, and the run."""
    several = bool(values) and all(isinstance(each, Mapping) for each in values.values())
    if not several:
        return [(values, run)]
    if row is not None or (len(values) == 1 and not has_runs(run, values)):
        name = next(iter(values)) if row is None else row
        if name not in values:
            raise ValueError(f"row {name!r} is not among the rows {', '.join(map(repr, values))}")
        return [(values[name], run)]
    if not has_runs(run, values):
        raise ValueError(f"values have the rows {', '.join(map(repr, values))}; give the runs as a dict, or one row=")
    return [(values[name], run[name]) for name in values]


def has_runs(run: Any, values: Mapping[str, Any]) -> bool:
    """Whether these are runs of these names."""
    return isinstance(run, Mapping) and values.keys() <= run.keys()


def read_run(run: Any, columns: Mapping[str, str] | None) -> Any:
    """A Run of a file, or of dicts of scores, which is judged again and again."""
    if isinstance(run, dict) and all(type(ranking) is dict for ranking in run.values()):
        return Run.from_dict(run)
    return Run.from_file(run, columns=columns) if isinstance(run, (str, os.PathLike)) else run


def list_states(
    facts: DataProperties, meanings: list[str], targets: list[Target]
) -> tuple[list[Setting], list[list[tuple[State | None, ...]]]]:
    """The settings, and for each target the states of its meanings under each of them."""
    places = [[meanings.index(meaning) for meaning in target.meanings] for target in targets]
    settings: list[Setting] = []
    states: list[tuple[State | None, ...]] = []
    for name in conventions(facts):
        for setting, found in list_settings(name, meanings, facts):
            settings.append(setting)
            states.append(found)
    plain = States("fastir", meanings, facts)
    deepest = max((request.cutoff or 0 for meaning in meanings for request in read(meaning)), default=0)
    for setting in paper_settings(deepest):
        settings.append(setting)
        states.append(plain.of(setting.options))
    return settings, [[tuple(found[place] for place in some) for found in states] for some in places]


def combine_facts(facts: list[DataProperties]) -> DataProperties:
    """What holds of all runs, as far as it allows to leave departures out."""
    return DataProperties(
        all(each.shared for each in facts),
        any(each.duplicates for each in facts),
        any(each.own_ids for each in facts),
        any(each.fractions for each in facts),
        max(each.top for each in facts),
        max(each.longest for each in facts),
        frozenset().union(*(each.ties for each in facts)),
        max(each.n_qrels for each in facts),
        max(each.n_run for each in facts),
    )


def compute_means(
    wanted: list[tuple[Judge, Target]],
    states: list[list[tuple[State | None, ...]]],
    progress: Callable[[int, int], object] | None,
) -> list[np.ndarray]:
    """For each target the means under each setting, an array of shape (n_settings, n_meanings)."""
    found = []
    for judge in dict.fromkeys(judge for judge, _ in wanted):
        own = [of_target for (each, _), of_target in zip(wanted, states, strict=True) if each is judge]
        some = dict.fromkeys(state for of_target in own for row in of_target for state in row if state is not None)
        means = judge.means(some, progress)
        found += [
            np.array([[np.nan if state is None else means[state].value for state in row] for row in of_target])
            for of_target in own
        ]
    return found


def make_answers(
    settings: list[Setting], means: list[np.ndarray], wanted: list[tuple[Judge, Target]], neighbours: Neighbours
) -> Identified:
    """The answers, or the nearest settings."""
    targets = [target for _, target in wanted]
    fits, nearest, off, metrics = [], [], [], []
    for target, of_target in zip(targets, means, strict=True):
        inside = (of_target >= target.low - SLACK) & (of_target < target.high + SLACK)
        value, distance, best = nearest_values(target, of_target, inside)
        fits.append(inside.any(axis=1))
        nearest.append(value)
        metrics.append([target.meanings[place] for place in best])
        off.append(np.where(fits[-1], 0.0, distance / (target.high - target.low)))
    notes = [
        f"no setting gives {target.name} {target.shown}"
        for target, fit in zip(targets, fits, strict=True)
        if not fit.any()
    ]
    by_chance = len(settings) * float(np.prod([chance(*each) for each in zip(targets, means, strict=True)]))
    spelled = list(zip(*metrics, strict=True))
    values, distances = np.array(nearest).T, np.array(off).T
    ranked = np.flatnonzero(np.logical_and.reduce(fits)).tolist()
    order = sorted(range(len(settings)), key=lambda place: (settings[place].cost, place))
    if ranked:
        kept = set(ranked)
        places = [place for place in order if place in kept]
        answers = group_settings(places, settings, values, spelled, Answer, neighbours)
        return Identified(targets, answers, [], len(settings), by_chance, notes)
    by_distance = sorted(order, key=lambda place: (int((distances[place] > 0).sum()), float(distances[place].sum())))
    near = group_settings(by_distance[:MAX_COMPARED], settings, values, spelled, NearestSettings, neighbours)
    del near[N_NEAREST:]
    if near:
        near[0].moves = moves(near[0], wanted, neighbours)
    return Identified(targets, [], near, len(settings), by_chance, notes)


def chance(target: Target, means: np.ndarray) -> float:
    """The fraction of settings that fit a value of so many digits, if it lies anywhere among the settings' means."""
    known = means[~np.isnan(means)]
    if not len(known):
        return 0.0
    width = target.high - target.low
    spread = float(known.max() - known.min()) or 1.0
    return min(1.0, len(known) / len(means) * width / (spread + width))


def nearest_values(target: Target, means: np.ndarray, inside: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The mean in each row (a mean for each meaning) that fits or is nearest, its distance, and its position."""
    distance = np.where(np.isnan(means), np.inf, np.abs(means - target.value))
    best = np.where(inside.any(axis=1), inside.argmax(axis=1), distance.argmin(axis=1))
    rows = np.arange(len(means))
    return means[rows, best], distance[rows, best], best


def moves(near: NearestSettings, wanted: list[tuple[Judge, Target]], neighbours: Neighbours) -> list[OptionChange]:
    """What changes of one option move the values of a setting to, the nearest to the reported values first."""
    changes = neighbours.of(near.convention, tuple(near.options.items()))
    states = [
        [tuple(found[neighbours.meanings.index(meaning)] for meaning in target.meanings) for _, _, found in changes]
        for _, target in wanted
    ]
    columns, distances = [], []
    for (_, target), means in zip(wanted, compute_means(wanted, states, None), strict=True):
        value, distance, _ = nearest_values(target, means, (means >= target.low) & (means < target.high))
        columns.append(value)
        distances.append(distance / (target.high - target.low))
    found = []
    for place, (name, value, _) in enumerate(changes):
        values = [float(column[place]) for column in columns]
        if not np.isnan(values).any() and not np.allclose(values, near.values, rtol=0, atol=10.0**-EQUAL_DECIMALS):
            found.append(
                (sum(float(distance[place]) for distance in distances), place, OptionChange(name, value, values))
            )
    return [move for *_, move in sorted(found, key=lambda each: each[:2])]


def group_settings(
    places: list[int],
    settings: list[Setting],
    values: np.ndarray,
    metrics: list[tuple[str, ...]],
    kind: Any,
    neighbours: Neighbours,
) -> list[Any]:
    """A record for each distinct row of values, with the settings that give it, each convention in its simplest.

    Of equally simple answers with an option that comes first which more settings give; conventions by themselves stay
    in their order, and the nearest settings in that of `places`.
    """
    groups: dict[tuple[float, ...], list[int]] = {}
    for place in places:
        groups.setdefault(tuple(np.round(values[place], EQUAL_DECIMALS).tolist()), []).append(place)
    alike_by_group = [(simplest([settings[place] for place in group]), group[0]) for group in groups.values()]
    if kind is Answer:
        alike_by_group.sort(key=lambda pair: (pair[0][0].cost, -len(pair[0]) * (pair[0][0].cost > 0)))
    found = []
    for alike, first in alike_by_group:
        found.append(kind(alike, values[first].tolist(), list(metrics[first]), neighbours.differences(alike[0])))
    return found


def simplest(settings: list[Setting]) -> list[Setting]:
    """The settings of each convention with the fewest departures; settings are the simplest first."""
    least: dict[tuple[str, str], float] = {}
    for setting in settings:
        least.setdefault((setting.convention, setting.label), setting.cost)
    return [each for each in settings if each.cost == least[each.convention, each.label]]


# ---- single changes of options ---------------------------------------------------------------------------------------
class Neighbours:
    """The neighbours of settings, for runs and the values that are wanted of them."""

    def __init__(self, facts: DataProperties, meanings: list[str], wanted: list[tuple[Judge, Target]]) -> None:
        self.facts = facts
        self.meanings = meanings
        self._wanted = wanted
        self._usual = States("fastir", meanings, facts)
        self._chosen: dict[str, dict[str, Any]] = {}
        self._counts: dict[tuple[str, Any], bool] = {}

    def differences(self, setting: Setting) -> list[str]:
        """The options in which fastir's default differs from a setting, and that change one of its values by itself."""
        chosen = self._choices(setting.convention) | dict(setting.options)
        return [name for name, value in chosen.items() if self._changes_a_value(name, value)]

    def _choices(self, convention: str) -> dict[str, Any]:
        """What a convention chooses for one of the metrics, or for all, and the default does not."""
        if convention not in self._chosen:
            record, default = CONVENTIONS[convention], CONVENTIONS["fastir"]
            self._chosen[convention] = {
                name: chosen
                for request in States(convention, self.meanings, self.facts).requests
                if request is not None
                for name in (*record.choices(), "rel_level")
                if (chosen := record.choice(request.card.name, request.cutoff is not None, name))
                != getattr(default, name, None)
            }
        return self._chosen[convention]

    def _changes_a_value(self, name: str, value: Any) -> bool:
        if (name, value) not in self._counts:
            usual, changed = self._usual.of(()), self._usual.of(((name, value),))
            self._counts[name, value] = any(
                self._differ(judge, usual[place], changed[place])
                for judge, target in self._wanted
                for place in map(self.meanings.index, target.meanings)
            )
        return self._counts[name, value]

    @staticmethod
    def _differ(judge: Judge, one: State | None, other: State | None) -> bool:
        if one is None or other is None or one == other:
            return False
        means = judge.means((one, other), None)
        first, second = means[one].value, means[other].value
        if math.isnan(first) or math.isnan(second):
            return math.isnan(first) != math.isnan(second)
        return abs(first - second) > SLACK

    def of(self, convention: str, options: Options) -> list[tuple[str, Any, tuple[State | None, ...]]]:
        """(option, value, the state of each metric) of each change of one option; also back to what the tool has."""
        states, record, given = States(convention, self.meanings, self.facts), CONVENTIONS[convention], dict(options)
        changes = [pair for pair in departures(self.facts) if given.get(pair[0]) != pair[1]]
        found = []
        for name, value in changes:
            found.append((name, value, states.of(tuple({**given, name: value}.items()))))
        for name in given:
            without = tuple(pair for pair in options if pair[0] != name)
            value = DEFAULT_OPTIONS[name] if name in DEFAULT_OPTIONS else getattr(record, name)
            if (name, value) not in changes:
                found.append((name, value, states.of(without)))
        return found
