"""tune(): the weights or the parameter of a method of fusion, chosen on some queries and measured on others."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsFloat, SupportsIndex

import numpy as np

from fastir.analyses.compare.segments import read_segments, segment_rows
from fastir.analyses.fusion.cards import METHODS, Method, find_norm
from fastir.analyses.fusion.fuse import TIE_SIGNS, RunSet, check_ties, read_run_set
from fastir.analyses.fusion.layout import Layout, Learner
from fastir.analyses.fusion.settings import Setting, trial_settings
from fastir.checks import check_choice, whole_number
from fastir.data.qrels import Qrels, as_qrels
from fastir.data.rankings import status_by_query
from fastir.data.results.exportable import Exportable
from fastir.data.results.results import Results
from fastir.engine.columns.rows import select
from fastir.engine.measure import JUDGED
from fastir.errors import NoOverlapError, quote, warn_caller
from fastir.rendering import Cell, Table, number_cell
from fastir.rendering.text import counted
from fastir.request.directions import SIGNS as BETTER
from fastir.request.directions import higher_is_better
from fastir.request.options import DUPLICATES, MAX_DEPTH, Options, check_options, metric_tuple
from fastir.request.plan import compile_settings, refuse_small, resolved_convention

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Unpack

    from matplotlib.axes import Axes
    from numpy.typing import DTypeLike

    from fastir.analyses.compare.segments import SegmentsLike
    from fastir.analyses.fusion.fuse import TiesOfRanks
    from fastir.data.qrels import QrelsLike
    from fastir.data.results.results import Results
    from fastir.data.run import RunLike, RunsLike
    from fastir.evaluation.run_collections import RunNames
    from fastir.request.keywords import ValueOptions
    from fastir.request.options import Duplicates
    from fastir.request.plan import Settings


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
    judged : float
        The mean over all queries of `Tuning.judged_metric`: the fraction of the first documents that is judged.
    """

    weights: Weights | None
    params: dict[str, Any]
    value: float
    difference: float
    noise: float
    judged: float

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
    judged_metric : str
        ``judged@k``, to the cutoff of the metric, or 10 if it has none.
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
    judged_metric: str

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
        numbers = [setting_numbers(trial) for trial in self.trials]
        columns: dict[str, list[Any]] = {str(name): [n[name] for n in numbers] for name in list_searched(self.trials)}
        for name in ("value", "difference", "noise", "within_noise", "judged"):
            columns[name if name != "judged" else self.judged_metric] = [getattr(trial, name) for trial in self.trials]
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
        chosen_numbers = setting_numbers(self)
        names = [name for name in list_searched(self.trials) if name in chosen_numbers]  # no fixed one of what learns
        rows = []
        for text, setting, n_queries, value in (
            *((f"without fold {i}", fold, fold.n_queries, fold.value) for i, fold in enumerate(self.folds[:20], 1)),
            ("all", self, len(self.results.query_ids), self.in_sample),
        ):
            of_setting = setting_numbers(setting)
            numbers = [*(of_setting[name] for name in names), value]
            rows.append([Cell(text), Cell(str(n_queries)), *(number_cell(number, digits) for number in numbers)])
        if len(self.folds) > 20:
            rows.insert(20, [Cell(f"... {len(self.folds) - 20} more"), *[Cell("")] * (len(names) + 2)])
        notes = [f"Search: {self.search}."]
        for name, (low, high) in self.plateau.items():
            notes.append(f"Indistinguishable from the best: {name} from {low:.6g} to {high:.6g}.")
        judged = [trial.judged for trial in self.trials]
        chosen = next(trial.judged for trial in self.trials if trial.difference == 0 == trial.noise)
        notes.append(
            f"{self.judged_metric}: {chosen:.{digits}f} of the chosen one, {min(judged):.{digits}f} to "
            f"{max(judged):.{digits}f} of all settings."
        )
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


# ---- tune ------------------------------------------------------------------------------------------------------------
EQUAL_DECIMALS = 12  # decimals of means that count: what differs behind them is rounding
NOISE_SE = 1.96  # standard errors
JUDGED_DEPTH = 10  # ranks, for a metric without a cutoff
JUDGED_LESS = 0.1  # of judged@k: from this difference on a setting is judged less than others

N_FOLDS = 5  # unless asked for; with fewer queries, one for each query


def tune(
    qrels: QrelsLike,
    runs: RunsLike | Iterable[RunLike],
    metric: str,
    method: str = "wsum",
    norm: str | None = "min-max",
    *,
    grid: float | Sequence[Any] | None = None,
    n_trials: SupportsIndex | None = None,
    folds: SupportsIndex = N_FOLDS,
    random_state: SupportsIndex = 0,
    segments: SegmentsLike | None = None,
    params: Mapping[str, Any] | None = None,
    ties: TiesOfRanks | None = None,
    names: RunNames = "stem",
    duplicates: Duplicates | None = None,
    min_score: SupportsFloat | None = None,
    score_dtype: DTypeLike | None = None,
    **options: Unpack[ValueOptions],
) -> Tuning:
    """Choose the weights or the parameter of a fusion, and estimate by cross-validation what they are worth.

    Each query is scored with a setting that was chosen without it: the queries are divided into folds, and each fold is
    fused with the setting that is best on all other folds. Report the mean of these scores. The mean of the best
    setting over the queries on which it was chosen is larger than new queries would give.

    Parameters
    ----------
    qrels : as for `evaluate`
    runs, method, norm, ties, names, duplicates, min_score : as for `fuse`
    metric : str
        A metric that is a mean over queries.
    grid : float, sequence, or None
        A step for weights between 0 and 1 or for the parameter; or the settings themselves, each a list of weights or a
        value. None: weights in steps of .01 for two runs and .05 for three or four; for a parameter, the range that
        ranx tries. Every setting is tried.
    n_trials : int or None
        How many settings to try instead of a grid: low-discrepancy weights, or evenly spaced values. The default for
        more than four runs without a grid is 2000.
    folds : int
        From 2 up to the number of queries, which is leave-one-out. 5, or the number of queries if it is less, unless
        it is given.
    random_state : int
        The seed of the division into folds, and of low-discrepancy weights.
    segments : mapping of query_id to segment, path, or None
        The segment of each query; the folds divide each segment evenly.
    params : mapping or None
        Fixed parameters of the method.
    score_dtype : as for `evaluate`
        In which precision fused scores are compared.
    **options
        rel_level, judged_only, max_depth, n_threads, convention and parameters of the metric, as for `evaluate`.

    Returns
    -------
    Tuning
        The queries that `evaluate` counts for the fused runs are counted; the values equal `evaluate`'s, to the
        last bit.

    Warns
    -----
    FastirWarning
        Settings within noise of the chosen one have more judged documents among their first k, by 0.1 or more on
        average: unjudged documents count as not relevant, and may hide which setting is better.

    Raises
    ------
    ValueError
        The method or norm does not exist, or has nothing to tune; the metric is not a mean, or neither large nor small
        values of it are better; grid, trials or folds are out of range.
    UnknownMetricError, NoOverlapError, FormatError, DuplicateError, TypeError, ValueError, OverflowError, OSError
        As by `evaluate` and `fuse`.

    Notes
    -----
    Among settings with equal means, the middle one in the order of the search is chosen. Undefined values are left out
    of means.

    Examples
    --------
    >>> import fastir
    >>> qrels = {f"q{i}": {"a": 1} for i in range(6)}
    >>> lexical = {f"q{i}": {"a": 2.0, "b": 1.0 + i % 2} for i in range(6)}
    >>> dense = {f"q{i}": {"b": 0.4, "a": 0.3, "c": 0.1} for i in range(6)}
    >>> tuning = fastir.tune(qrels, {"lexical": lexical, "dense": dense}, "mrr", folds=3)
    >>> tuning.weights, tuning.value, tuning.in_sample
    ({'lexical': 0.62, 'dense': 0.38}, 0.75, 0.75)
    """
    card, norm = METHODS.find(method), find_norm(norm)
    ties = check_ties(ties)  # type: ignore[assignment]
    check_choice("duplicates", duplicates, [word for word in DUPLICATES if word != "once"])
    n_folds, seed = whole_number("folds", folds, 2), whole_number("random_state", random_state, 0)
    strata = None if segments is None else read_segments(segments)
    judgments = as_qrels(qrels, None, duplicates if duplicates != "max" else None)
    run_set = read_run_set(runs, names, None, duplicates, min_score, judgments=qrels)
    settings, search = trial_settings(card, run_set.names, params or {}, grid, n_trials, seed)
    trials = Trials(judgments, run_set, card, norm, ties, metric, {**options, "score_dtype": score_dtype})
    ids = trials.layout.judged.query_ids
    if n_folds == N_FOLDS:
        n_folds = min(n_folds, max(len(ids), 2))
    if n_folds > len(ids):
        raise ValueError(f"folds must be at most the number of queries, {len(ids)}, got {n_folds}")
    fold_of = fold_numbers(ids, n_folds, seed, strata)
    sign = BETTER[higher_is_better(metric)]
    table, learnt = trials.in_sample(settings)
    best = best_place(sign * column_means(table))
    chosen, values = trials.cross_validated(settings, table, fold_of, sign)
    compiled, judged = trials.compiled, trials.layout.judged
    status = status_by_query(judged, compiled.options.rel_level)
    results = Results(
        *(ids, compiled.names, values[:, None], status, compiled.aggregates),
        *(judged.report, None, compiled.provenance),
    )
    numbers = list(map(str, range(table.shape[1])))
    in_sample = Results(ids, numbers, table, status, compiled.aggregates * len(numbers), judged.report)
    means = [in_sample[number] for number in numbers]
    judged_metric, judged_means = trials.judged_fractions(learnt)
    tried = [
        Trial(*(None, {}), *numbers, share)
        for numbers, share in zip(trial_numbers(table, means, best), judged_means, strict=True)
    ]
    warn_of_unjudged(judged_metric, tried, best)
    refuse_small(compiled.sizes, values[:, None], ids)

    def named_fields(setting: Setting) -> tuple[dict[Any, float] | None, dict[str, Any]]:
        weights = setting.weights
        return None if weights is None else dict(zip(run_set.names, weights, strict=True)), dict(setting.params)

    fold_values = [values[fold_of == fold] for fold in range(n_folds)]
    return Tuning(
        *(metric, card.name, norm, run_set.names, *named_fields(learnt[best])),
        *(results[compiled.names[0]], means[best], results),
        [Trial(*named_fields(setting), *trial[2:]) for setting, trial in zip(settings, tried, strict=True)],
        [
            Fold(len(here), *named_fields(setting), float(column_means(here[:, None])[0]))
            for here, setting in zip(fold_values, chosen, strict=True)
        ],
        dict(zip(ids, fold_of.tolist(), strict=True)),
        search,
        judged_metric,
    )


def warn_of_unjudged(metric: str, trials: list[Trial], best: int) -> None:
    """Warn where settings that may be as good as the chosen one have clearly more judged documents."""
    near = [trial.judged for trial in trials if trial.within_noise]
    mean = math.fsum(near) / len(near)
    if mean >= trials[best].judged + JUDGED_LESS:
        warn_caller(
            f"{metric} of the chosen setting is {trials[best].judged:.2f}, of those within its noise {mean:.2f} on "
            "average: unjudged documents count as not relevant, and may hide which setting is better"
        )


class Trials:
    """The settings of a method, measured on every query."""

    def __init__(
        self, qrels: Qrels, run_set: RunSet, card: Method, norm: str | None, ties: Any, metric: str, options: Any
    ) -> None:
        run_set.check_scores(card, norm)
        checked = check_metric(metric, options)
        rules = read_rules(metric, checked, ties)
        qrels = select_queries(qrels, run_set, rules["queries"])
        self.layout: Layout = Layout(
            *(qrels, run_set, card, norm, ties, options.get("n_threads")), rules["score_dtype"], rules["exclude"]
        )
        self.compiled: Any = compile_metric(self.layout, metric, checked)
        self.learner: Learner = Learner(self.layout, card, self.compiled.options.rel_level)

    def in_sample(self, settings: list[Setting]) -> tuple[np.ndarray, list[Setting]]:
        """The value of each query in each setting, and the settings with what all queries teach."""
        learnt = self.learner.teach(settings, np.ones(len(self.layout.judged), bool))
        return self.layout.table(self.compiled, learnt), learnt

    def judged_fractions(self, learnt: list[Setting]) -> tuple[str, list[float]]:
        """judged@k, to the cutoff of the metric, and its mean over the queries in each setting."""
        depth = self.compiled.plan.deepest
        metric = f"{JUDGED}@{depth if depth < MAX_DEPTH else JUDGED_DEPTH}"
        table = self.layout.table(self.layout.compile(metric, check_options(choices={})), learnt)
        return metric, column_means(table).tolist()

    def cross_validated(
        self, settings: list[Setting], table: np.ndarray, fold_of: np.ndarray, sign: int
    ) -> tuple[list[Setting], np.ndarray]:
        """For each fold the setting chosen without it, and the value of each query with its fold's setting."""
        values, chosen, totals = np.empty(len(fold_of)), [], column_totals(table)
        for fold in range(int(fold_of.max()) + 1):
            here = np.flatnonzero(fold_of == fold)
            taught = self.learner.teach(settings, fold_of != fold)
            if taught is not settings:
                table = self.layout.table(self.compiled, taught)
                totals = column_totals(table)
            best = best_place(sign * mean_of_totals(totals - column_totals(table[here])))
            chosen.append(taught[best])
            values[here] = table[here, best]
        return chosen, values


def check_metric(metric: str, options: Mapping[str, Any]) -> Options:
    """The options of a call, for one metric."""
    own = ("rel_level", "judged_only", "max_depth", "score_dtype", "n_threads", "convention")
    choices = {name: value for name, value in options.items() if name not in own}
    listed = metric_tuple(metric)
    if len(listed) != 1:
        raise ValueError(f"metric: expected one, got {len(listed)}")
    common = {name: value for name, value in options.items() if name in own}
    return check_options(**common, choices=choices)


def read_rules(metric: str, options: Options, ties: str) -> dict[str, Any]:
    """The rules by which `evaluate` would choose queries, compare scores and leave documents out."""
    settings = compile_settings(metric_tuple(metric), options)
    if len(settings.names) != 1:
        raise ValueError(f"metric: expected one, and {quote(metric)} means {len(settings.names)}")
    record = resolved_convention(options.convention, settings.overrides)
    rules = settings.parts[0][1] if settings.parts else {}
    wanted = rules.get("ties", record.ties)
    if options.convention != "fastir" and wanted != ties:
        fix = (
            f"; tune with ties={wanted!r}" if wanted in TIE_SIGNS else ", and tune has no such rule; name no convention"
        )
        raise ValueError(
            f"convention {record.name}: {quote(metric)} has ties={wanted!r} there, and tune has ties={ties!r}{fix}"
        )
    return {name: rules.get(name, getattr(record, name)) for name in ("queries", "score_dtype", "exclude")}


def select_queries(qrels: Qrels, run_set: RunSet, rule: str) -> Qrels:
    """The qrels of the queries that count, where `rule` says what becomes of those that no run has."""
    ranked = set(run_set.query_ids)
    places = [place for place, query_id in enumerate(qrels) if query_id in ranked]
    if rule == "strict" and not len(places) == len(ranked) == len(qrels):
        side, ids, others = ("runs", qrels, ranked) if len(places) < len(qrels) else ("qrels", ranked, set(qrels))
        first = next(query_id for query_id in ids if query_id not in others)
        raise NoOverlapError(f"queries='strict', but query {quote(first)} is missing from the {side}")
    return select(qrels, places) if rule == "intersection" and 0 < len(places) < len(qrels) else qrels


def compile_metric(layout: Layout, metric: str, options: Options) -> Settings:
    """The Settings of a metric that can be tuned for."""
    [listed] = metric_tuple(metric)
    compiled = layout.compile(listed, options)
    if not compiled.aggregates[0].startswith("mean"):
        how = "average='micro'" if compiled.aggregates[0] == "micro" else compiled.aggregates[0]
        raise ValueError(f"metric {quote(metric)} is not a mean over queries ({how})")
    if higher_is_better(metric) is None:
        raise ValueError(f"metric {quote(metric)}: neither large nor small values are better")
    return compiled


def column_totals(table: np.ndarray) -> np.ndarray:
    """The sum of each column and the number of its values, without NaN: float64 array of shape (2, n_columns)."""
    present = table == table
    return np.stack([np.where(present, table, 0.0).sum(0), present.sum(0)])


def mean_of_totals(totals: np.ndarray) -> np.ndarray:
    sums, counts = totals
    return np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)


def column_means(table: np.ndarray) -> np.ndarray:
    """The mean of each column over the values that are not NaN."""
    return mean_of_totals(column_totals(table))


def best_place(scores: np.ndarray) -> int:
    """The position of the largest mean; the middle one if several are equal."""
    rounded = np.round(np.where(scores == scores, scores, -np.inf), EQUAL_DECIMALS)
    best = np.flatnonzero(rounded == rounded.max())
    return int(best[(len(best) - 1) // 2])


def fold_numbers(query_ids: list[Any], n_folds: int, seed: int, strata: Mapping[Any, Any] | None) -> np.ndarray:
    """The fold of each query, from 0: at random, in sizes that differ by one at most, each stratum divided evenly."""
    order = np.random.default_rng(seed).permutation(len(query_ids))
    if strata is not None:
        stratum = np.zeros(len(query_ids), np.int64)
        for number, rows in enumerate(segment_rows(strata, query_ids).values()):
            stratum[rows] = number
        order = order[np.argsort(stratum[order], kind="stable")]
    fold_of = np.empty(len(query_ids), np.int64)
    fold_of[order] = np.arange(len(query_ids)) % n_folds
    return fold_of


def trial_numbers(table: np.ndarray, means: list[float], best: int) -> Iterator[tuple[float, float, float]]:
    """The mean of each setting, its difference to the best one, and how much of that may be noise."""
    for mean, values in zip(means, table.T, strict=True):
        differences = values - table[:, best]
        differences = differences[differences == differences]
        n = len(differences)
        error = float(differences.std(ddof=1)) / n**0.5 if n > 1 else 0.0
        yield mean, float(differences.mean()) if n else 0.0, NOISE_SE * error
