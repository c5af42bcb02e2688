"""tune(): the weights or the parameter of a method of fusion, chosen on some queries and measured on others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from fastir.checks import check_choice, integer, whole_number
from fastir.comparison.segments import read_segments, segment_rows
from fastir.errors import quote
from fastir.fusion.cards import find_method, find_norm
from fastir.fusion.layout import Layout
from fastir.fusion.learning import Learner
from fastir.fusion.search import trial_settings
from fastir.fusion.settings import Setting
from fastir.fusion.tuning import Fold, Trial, Tuning
from fastir.fusion.united import SIGNS, United, united
from fastir.qrels import as_qrels
from fastir.request.directions import SIGNS as BETTER
from fastir.request.directions import metric_direction
from fastir.request.options import DUPLICATES, checked_options, metric_tuple
from fastir.request.sizes import refuse_small
from fastir.results.results import Results

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Unpack

    from fastir.comparison.segments import SegmentsLike
    from fastir.evaluation.run_names import RunNames
    from fastir.fusion.fuse import TiesOfRanks
    from fastir.qrels import QrelsLike
    from fastir.request.keywords import ValueOptions
    from fastir.request.options import Duplicates
    from fastir.request.plan import Settings
    from fastir.run import RunLike, RunsLike

ALIKE = 12  # decimals of means that count: what differs behind them is rounding
NOISE = 1.96  # standard errors


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
    seed: SupportsIndex = 0,
    segments: SegmentsLike | None = None,
    params: Mapping[str, Any] | None = None,
    ties: TiesOfRanks | None = None,
    names: RunNames = "stem",
    duplicates: Duplicates | None = None,
    **options: Unpack[ValueOptions],
) -> Tuning:
    """Choose the weights or the parameter of a fusion, and say honestly what they are worth.

    Each query is scored with what was chosen without it: the queries are divided into folds, and those of a fold are
    fused with what is best on all others. The mean of these scores is the value to report; that of the best setting
    on the queries on which it is best is larger than what new queries would give.

    Parameters
    ----------
    qrels : as for `evaluate`
    runs, method, norm, ties, names, duplicates : as for `fuse`
    metric : str
        A metric whose value is a mean over queries.
    grid : float, sequence, or None
        A step, of weights between 0 and 1 or of the parameter; or the settings themselves, a list of weights or a value
        each. None: all weights in steps of .01 for two runs, of .05 for three and four, and for the parameter the range
        that ranx tries. Every setting is tried.
    n_trials : int or None
        How many settings are tried instead: weights of low discrepancy, or values spaced evenly. With more than four
        runs and no grid, 2000.
    folds : int
        From 2 to the number of queries, which leaves out one at a time.
    seed : int
        Of the division into folds, and of weights of low discrepancy.
    segments : mapping of query_id to segment, path, or None
        Each fold gets its share of every segment.
    params : mapping or None
        Parameters of the method that stay as they are.
    **options
        rel_level, judged_only, max_depth, n_threads, convention and parameters of the metric, as for `evaluate`.

    Returns
    -------
    Tuning
        All queries of the qrels count, one without documents as an empty ranking.

    Raises
    ------
    ValueError
        There is no such method or norm, or nothing to tune in it; the metric is no mean, or neither large nor small
        values are better; grid, trials or folds are out of range.
    UnknownMetricError, NoOverlapError, FormatError, DuplicateError, TypeError, ValueError, OverflowError, OSError
        As by `evaluate` and `fuse`.

    Notes
    -----
    Of settings with one mean the middle one in the order of the search is chosen. Undefined values of a query are left
    out of means.

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
    card, norm = find_method(method), find_norm(norm)
    ties = check_choice("ties", "trec" if ties is None else ties, SIGNS)
    check_choice("duplicates", duplicates, [word for word in DUPLICATES if word != "once"])
    n_folds, seed = whole_number("folds", folds, 2), integer("seed", seed)
    strata = None if segments is None else read_segments(segments)
    judgments = as_qrels(qrels, None, duplicates if duplicates != "max" else None)
    together = united(runs, names, None, duplicates, judgments=qrels)
    settings, search = trial_settings(card, together.names, params or {}, grid, n_trials, seed)
    check_scores(card, norm, together)
    layout = Layout(judgments, together, card, norm, ties, options.get("n_threads"))
    if n_folds > len(layout.judged):
        raise ValueError(f"folds must be at most the number of queries, {len(layout.judged)}, got {n_folds}")
    compiled = compiled_metric(layout, metric, options)
    learner = Learner(layout, card, compiled.options.rel_level) if card.learnt else None
    fold_of = folded(layout.judged.query_ids, n_folds, seed, strata)
    sign = BETTER[metric_direction(metric)]
    table, learnt = in_sample(layout, compiled, settings, learner)
    best = chosen_of(means(table) * sign)
    chosen, values = cross_validated(layout, compiled, settings, learner, table, fold_of, n_folds, sign)
    level, ids = compiled.options.rel_level, layout.judged.query_ids
    results = Results(
        *(ids, compiled.names, values[:, None], layout.judged._status(level), compiled.aggregates),
        *(layout.judged.report, None, compiled.provenance),
    )
    refuse_small(compiled.sizes, values[:, None], ids)
    run_names = together.names
    scored = [fold_of == fold for fold in range(n_folds)]
    return Tuning(
        *(metric, card.name, norm, run_names, *said(learnt[best], run_names)),
        *(results[compiled.names[0]], float(means(table)[best]), results),
        trials_of(settings, table, best, run_names),
        [
            Fold(int(here.sum()), *said(setting, run_names), float(means(values[here, None])[0]))
            for here, setting in zip(scored, chosen, strict=True)
        ],
        dict(zip(ids, fold_of.tolist(), strict=True)),
        search,
    )


def in_sample_means(
    qrels: Any, runs: Any, metric: str, card: Any, norm: str | None, settings: list[Setting], convention: str
) -> tuple[np.ndarray, list[Setting]]:
    """The mean of each setting over all queries, with equal scores as they came, and what all queries teach."""
    together = United(runs)
    check_scores(card, norm, together)
    layout = Layout(qrels, together, card, norm, "input", None)
    compiled = compiled_metric(layout, metric, {"convention": convention})
    learner = Learner(layout, card, compiled.options.rel_level) if card.learnt else None
    table, learnt = in_sample(layout, compiled, settings, learner)
    return means(table), learnt


def check_scores(card: Any, norm: str | None, together: United) -> None:
    """Refuse infinite scores where the method computes with scores."""
    if card.reads_scores and norm not in ("rank", "borda"):
        together.check_finite()


def compiled_metric(layout: Layout, metric: str, options: Mapping[str, Any]) -> Settings:
    """The Settings of a metric that can be tuned for."""
    own = {
        name: options[name]
        for name in ("rel_level", "judged_only", "max_depth", "n_threads", "convention")
        if name in options
    }
    choices = {name: value for name, value in options.items() if name not in own}
    listed = metric_tuple(metric)
    if len(listed) != 1:
        raise ValueError(f"metric: expected one, got {len(listed)}")
    compiled = layout.compiled(listed[0], checked_options(**own, choices=choices))
    if not compiled.aggregates[0].startswith("mean"):
        raise ValueError(f"metric {quote(metric)} is no mean over queries ({compiled.aggregates[0]})")
    if metric_direction(metric) == "neither":
        raise ValueError(f"metric {quote(metric)}: neither large nor small values are better")
    return compiled


def in_sample(
    layout: Layout, compiled: Settings, settings: list[Setting], learner: Learner | None
) -> tuple[np.ndarray, list[Setting]]:
    """The value of each query in each setting, and the settings with what all queries teach."""
    learnt = settings
    if learner is not None:
        everything = np.ones(len(layout.judged), bool)
        taught: dict[Any, dict[str, Any]] = {}
        learnt = []
        for setting in settings:  # what is learnt depends on the number of parts alone
            key = setting.params.get("n_segments")
            if key not in taught:
                taught[key] = learner.learn(everything, setting.params)
            learnt.append(Setting(None, {**taught[key], **without_parts(setting.params)}))
    return layout.table(compiled, learnt), learnt


def without_parts(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if name != "n_segments"}


def cross_validated(
    layout: Layout,
    compiled: Settings,
    settings: list[Setting],
    learner: Learner | None,
    table: np.ndarray,
    fold_of: np.ndarray,
    n_folds: int,
    sign: int,
) -> tuple[list[Setting], np.ndarray]:
    """For each fold the setting that its absence chose, and the value of each query in that of its fold."""
    values = np.empty(len(fold_of))
    chosen = []
    present = table == table
    counts, totals = present.sum(0), np.where(present, table, 0.0).sum(0)
    for fold in range(n_folds):
        here = np.flatnonzero(fold_of == fold)
        if learner is None:
            left = counts - present[here].sum(0)
            rest = np.where(present[here], table[here], 0.0).sum(0)
            best = chosen_of(sign * divided(totals - rest, left))
            chosen.append(settings[best])
            values[here] = table[here, best]
            continue
        taught, others = [], fold_of != fold
        learnt_by_key: dict[Any, dict[str, Any]] = {}
        for setting in settings:
            key = setting.params.get("n_segments")
            if key not in learnt_by_key:
                learnt_by_key[key] = learner.learn(others, setting.params)
            taught.append(Setting(None, {**learnt_by_key[key], **without_parts(setting.params)}))
        best = 0
        if len(taught) > 1:
            best = chosen_of(sign * means(on_queries(layout, compiled, taught, np.flatnonzero(others))))
        chosen.append(taught[best])
        values[here] = on_queries(layout, compiled, [taught[best]], here)[:, 0]
    return chosen, values


def on_queries(layout: Layout, compiled: Settings, settings: list[Setting], queries: np.ndarray) -> np.ndarray:
    """The value of some queries in each setting."""
    n = len(settings)
    rows, columns = np.repeat(queries, n), np.tile(np.arange(n), len(queries))
    return layout.measured(compiled, settings, rows, columns).reshape(len(queries), n)


def divided(totals: np.ndarray, counts: np.ndarray) -> np.ndarray:
    return np.divide(totals, counts, out=np.full(len(totals), np.nan), where=counts > 0)


def means(table: np.ndarray) -> np.ndarray:
    """The mean of each column over the values that are not NaN."""
    present = table == table
    return divided(np.where(present, table, 0.0).sum(0), present.sum(0))


def chosen_of(scores: np.ndarray) -> int:
    """The place of the largest mean; of several the middle one."""
    rounded = np.round(np.where(scores == scores, scores, -np.inf), ALIKE)
    best = np.flatnonzero(rounded == rounded.max())
    return int(best[(len(best) - 1) // 2])


def folded(query_ids: list[Any], n_folds: int, seed: int, strata: Mapping[Any, Any] | None) -> np.ndarray:
    """The fold of each query, from 0: at random, of sizes that differ by one at most, with a share of each stratum."""
    order = np.random.default_rng(seed).permutation(len(query_ids))
    if strata is not None:
        stratum = np.zeros(len(query_ids), np.int64)
        for number, rows in enumerate(segment_rows(strata, query_ids).values()):
            stratum[rows] = number
        order = order[np.argsort(stratum[order], kind="stable")]
    fold_of = np.empty(len(query_ids), np.int64)
    fold_of[order] = np.arange(len(query_ids)) % n_folds
    return fold_of


def said(setting: Setting, names: list[Any]) -> tuple[dict[Any, float] | None, dict[str, Any]]:
    """The weights by run, and the parameters."""
    weights = None if setting.weights is None else dict(zip(names, setting.weights, strict=True))
    return weights, dict(setting.params)


def trials_of(settings: list[Setting], table: np.ndarray, best: int, names: list[Any]) -> list[Trial]:
    """A record of each setting, with how far it is from the chosen one, and how much of that may be noise."""
    trials = []
    values = means(table)
    for place, setting in enumerate(settings):
        apart = table[:, place] - table[:, best]
        apart = apart[apart == apart]
        error = apart.std(ddof=1) / len(apart) ** 0.5 if len(apart) > 1 else 0.0
        difference = float(apart.mean()) if len(apart) else 0.0
        trials.append(Trial(*said(setting, names), float(values[place]), difference, NOISE * float(error)))
    return trials
