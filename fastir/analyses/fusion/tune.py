"""tune(): the weights or the parameter of a method of fusion, chosen on some queries and measured on others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from fastir.analyses.compare.segments import read_segments, segment_rows
from fastir.analyses.fusion.cards import METHODS, Method, find_norm
from fastir.analyses.fusion.fuse import TIE_SIGNS, RunSet, read_run_set
from fastir.analyses.fusion.layout import Layout, Learner
from fastir.analyses.fusion.settings import Setting, trial_settings
from fastir.analyses.fusion.tuning import Fold, Trial, Tuning
from fastir.checks import check_choice, whole_number
from fastir.data.qrels import Qrels, as_qrels
from fastir.data.rankings import status_by_query
from fastir.data.results.results import Results
from fastir.engine.columns.rows import select
from fastir.errors import NoOverlapError, quote
from fastir.request.directions import SIGNS as BETTER
from fastir.request.directions import higher_is_better
from fastir.request.options import DUPLICATES, Options, check_options, metric_tuple
from fastir.request.plan import compile_settings, refuse_small, resolved_convention

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Unpack

    from numpy.typing import DTypeLike

    from fastir.analyses.compare.segments import SegmentsLike
    from fastir.analyses.fusion.fuse import TiesOfRanks
    from fastir.data.qrels import QrelsLike
    from fastir.data.run import RunLike, RunsLike
    from fastir.evaluation.run_names import RunNames
    from fastir.request.keywords import ValueOptions
    from fastir.request.options import Duplicates
    from fastir.request.plan import Settings

EQUAL_DECIMALS = 12  # decimals of means that count: what differs behind them is rounding
NOISE_SE = 1.96  # standard errors


def tune(
    qrels: QrelsLike,
    runs: RunsLike | Iterable[RunLike],
    metric: str,
    method: str = "wsum",
    norm: str | None = "min-max",
    *,
    grid: float | Sequence[Any] | None = None,
    n_trials: SupportsIndex | None = None,
    folds: SupportsIndex = 5,
    random_state: SupportsIndex = 0,
    segments: SegmentsLike | None = None,
    params: Mapping[str, Any] | None = None,
    ties: TiesOfRanks | None = None,
    names: RunNames = "stem",
    duplicates: Duplicates | None = None,
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
    runs, method, norm, ties, names, duplicates : as for `fuse`
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
        From 2 up to the number of queries, which is leave-one-out.
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
    ties = check_choice("ties", "trec" if ties is None else ties, TIE_SIGNS)
    check_choice("duplicates", duplicates, [word for word in DUPLICATES if word != "once"])
    n_folds, seed = whole_number("folds", folds, 2), whole_number("random_state", random_state, 0)
    strata = None if segments is None else read_segments(segments)
    judgments = as_qrels(qrels, None, duplicates if duplicates != "max" else None)
    run_set = read_run_set(runs, names, None, duplicates, judgments=qrels)
    settings, search = trial_settings(card, run_set.names, params or {}, grid, n_trials, seed)
    trials = Trials(judgments, run_set, card, norm, ties, metric, {**options, "score_dtype": score_dtype})
    ids = trials.layout.judged.query_ids
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
    refuse_small(compiled.sizes, values[:, None], ids)

    def named(setting: Setting) -> tuple[dict[Any, float] | None, dict[str, Any]]:
        weights = setting.weights
        return None if weights is None else dict(zip(run_set.names, weights, strict=True)), dict(setting.params)

    fold_values = [values[fold_of == fold] for fold in range(n_folds)]
    return Tuning(
        *(metric, card.name, norm, run_set.names, *named(learnt[best])),
        *(results[compiled.names[0]], means[best], results),
        [
            Trial(*named(setting), *numbers)
            for setting, numbers in zip(settings, trial_numbers(table, means, best), strict=True)
        ],
        [
            Fold(len(here), *named(setting), float(column_means(here[:, None])[0]))
            for here, setting in zip(fold_values, chosen, strict=True)
        ],
        dict(zip(ids, fold_of.tolist(), strict=True)),
        search,
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
        self.layout = Layout(
            *(qrels, run_set, card, norm, ties, options.get("n_threads")), rules["score_dtype"], rules["exclude"]
        )
        self.compiled = compile_metric(self.layout, metric, checked)
        self.learner = Learner(self.layout, card, self.compiled.options.rel_level)

    def in_sample(self, settings: list[Setting]) -> tuple[np.ndarray, list[Setting]]:
        """The value of each query in each setting, and the settings with what all queries teach."""
        learnt = self.learner.teach(settings, np.ones(len(self.layout.judged), bool))
        return self.layout.table(self.compiled, learnt), learnt

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
        raise ValueError(f"metric {quote(metric)} is not a mean over queries ({compiled.aggregates[0]})")
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
