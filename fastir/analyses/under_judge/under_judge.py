"""evaluate_under_judge() and compare_under_judge(): ranking metrics with a judge's errors in them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from fastir.analyses.under_judge.draws import LabelDraws, Measurer, ideal_labels
from fastir.analyses.under_judge.estimate import estimate_mean, mean_of_defined
from fastir.analyses.under_judge.pairs import make_design, read_pairs
from fastir.analyses.under_judge.result import (
    ComparisonUnderJudge,
    HumanAnswers,
    JudgedDifference,
    JudgedMean,
    UnderJudge,
)
from fastir.checks import proportion, refuse_options, whole_number
from fastir.data.qrels import Qrels
from fastir.data.rankings import mask_left_out, mask_not_chosen
from fastir.engine.columns.rows import sums
from fastir.engine.measure import NUM_RET
from fastir.errors import quote
from fastir.evaluation.drivers.judged import RunJudge
from fastir.evaluation.evaluator import Evaluator, make_evaluator
from fastir.evaluation.run_collections import name_the_run
from fastir.request.custom import custom_among
from fastir.request.options import OF_DOCUMENTS, metric_tuple, query_rule
from fastir.request.plan import compile_fixed, refuse_micro
from fastir.stats.corrections import adjust

if TYPE_CHECKING:
    from typing import Unpack

    from fastir.analyses.under_judge.draws import Parts
    from fastir.analyses.under_judge.estimate import Estimate
    from fastir.analyses.under_judge.pairs import Design, JudgedPairs, Strata
    from fastir.data.qrels import QrelsLike
    from fastir.data.rankings import JudgedRankings
    from fastir.data.run import RunLike
    from fastir.evaluation.keywords import JudgeOptions
    from fastir.request.options import Options

N_DRAWS = 1000
MIN_DRAWS = 100
LABEL_TIES = ("optimistic", "pessimistic")
OF_QRELS = ("columns", "qrels_columns", "label", "validate")


def evaluate_under_judge(
    judge_qrels: QrelsLike,
    human_qrels: QrelsLike,
    run: RunLike,
    metrics: str | Iterable[str],
    *,
    strata: Strata = None,
    confidence: float = 0.95,
    n_draws: SupportsIndex = N_DRAWS,
    random_state: SupportsIndex = 0,
    **options: Unpack[JudgeOptions],
) -> UnderJudge:
    """Evaluate a run by a judge's labels, corrected for the judge's errors, with intervals of the means.

    The pairs of query and document that both judge and humans judged say what humans answer, given the judge's label.
    Labels of all other judged pairs are drawn from this model, and the metrics measured under each draw.

    Parameters
    ----------
    judge_qrels, human_qrels : as for `evaluate`
        Labels are whole numbers from 0 up; a negative label is not a judgment. A human label is taken as true. The
        levels of judge and humans may differ. Documents that neither judged stay unjudged.
    run, metrics : as for `evaluate`
        Metrics whose mean is over the queries.
    strata : None, "level" or mapping of query_id to {doc_id: stratum}
        What else the judge's errors may depend on, beside its label, the query and the rank of the document in the run.
        A mapping has a stratum for every pair of the judge, such as the document's length. "level": not even on the
        rank; the intervals are then wrong wherever relevant documents are ranked higher.
    confidence : float
    n_draws : int
        From 100 up.
    random_state : int
        The same state gives the same numbers, whatever the number of threads.
    **options
        Options of `evaluate`, except `weights`, `doc_weights`, `forbidden`, `forbidden_level`, `unanswerable`,
        `doc_costs`, `doc_groups`, `target` and `ties_report`. What names columns or labels of qrels is refused: pass
        `Qrels` that were read with it.

    Returns
    -------
    UnderJudge
        The estimate of each metric with its interval, beside the values by the judge's labels and by human labels
        alone; the estimate of each query; and what humans said to each label of the judge. **Undefined**: the interval
        is NaN if fewer than two evaluated queries, or fewer than two queries, have a pair that both judged.

    Raises
    ------
    NoOverlapError
        No query, or no pair of query and document, is judged by both.
    ValueError
        Fewer than 5 pairs of a level of the judge, or of a stratum, were judged by humans, and some are not; a label is
        a fraction; a pair has no stratum; the order of documents depends on labels (``ties="optimistic"``); a metric
        has another mean; an option is out of range.
    UnknownMetricError, FormatError, DuplicateError, TypeError, OverflowError, OSError
        As by `evaluate`; or qrels have groups, or a metric is custom.

    Warns
    -----
    FastirWarning
        As `evaluate`.

    Notes
    -----
    It is assumed that humans judged a random part of the pairs with equal judge's label, query, rank and stratum, and
    that labels of a query are independent, given these and an effect of the query. The target is the mean over the
    population of queries. In simulations the mean of RR is 0.01 to 0.04 too high; its differences are not.
    docs/under_a_judge.md has the derivation, and simulations with and without the assumptions.
    **Sources**: Rubin, Multiple Imputation for Nonresponse in Surveys, 1987; Robins and Wang, Inference for imputation
    estimators, Biometrika 2000, for the variance; Meng, Multiple-imputation inferences with uncongenial sources of
    input, Statistical Science 1994, for why Rubin's rules are too wide here; Rogan and Gladen, Estimating prevalence
    from the results of a screening test, American Journal of Epidemiology 1978.

    Examples
    --------
    >>> import fastir
    >>> judge = {f"q{q}": {f"d{d}": int(d % 4 < 2) for d in range(10)} for q in range(8)}
    >>> human = {f"q{q}": {f"d{d}": int((d * q) % 4 < 2) for d in range(q % 2, 10, 2)} for q in range(8)}
    >>> run = {f"q{q}": {f"d{d}": float(-d) for d in range(10)} for q in range(8)}
    >>> found = fastir.evaluate_under_judge(judge, human, run, "precision@5")
    >>> found.means["precision@5"].naive, found.answers[0].counts
    (0.6, {0: 4, 1: 12})
    """
    sides = judge_qrels, human_qrels
    judged = RunsUnderJudge(sides, {None: run}, metrics, strata, confidence, n_draws, random_state, options)
    return UnderJudge(means=judged.means(None), per_query=judged.per_query(None), **judged.shared())


def compare_under_judge(
    judge_qrels: QrelsLike,
    human_qrels: QrelsLike,
    runs: Mapping[Any, RunLike],
    metrics: str | Iterable[str],
    *,
    strata: Strata = None,
    confidence: float = 0.95,
    n_draws: SupportsIndex = N_DRAWS,
    random_state: SupportsIndex = 0,
    **options: Unpack[JudgeOptions],
) -> ComparisonUnderJudge:
    """Compare runs by a judge's labels, corrected for the judge's errors: differences, intervals and p-values.

    Parameters
    ----------
    judge_qrels, human_qrels, metrics, confidence, n_draws, random_state, **options
        As for `evaluate_under_judge`.
    runs : mapping of name to run
        At least two. Each draw of labels is used for all of them.
    strata : None, "level" or mapping of query_id to {doc_id: stratum}
        As for `evaluate_under_judge`; the judge's errors may depend on the ranks in all runs: a judge may prefer one
        of them. With "level" they may not.

    Returns
    -------
    ComparisonUnderJudge
        For each two runs and each metric the mean difference, its interval and the p-value of a true difference of 0,
        also corrected for all pairs of runs in that metric (Holm). **Undefined** as by `evaluate_under_judge`; the
        p-value is 1 where all differences are 0.

    Raises
    ------
    ValueError, TypeError, NoOverlapError, OSError
        As by `evaluate_under_judge`; or there are fewer than two runs.

    Warns
    -----
    FastirWarning
        As `evaluate`.

    Notes
    -----
    As for `evaluate_under_judge`. If humans judged documents of one run only, the errors on those of the others are
    unknown, and the difference is as wrong as the judge.

    Examples
    --------
    >>> import fastir
    >>> judge = {f"q{q}": {f"d{d}": int(d % 4 < 2) for d in range(10)} for q in range(8)}
    >>> human = {f"q{q}": {f"d{d}": int((d * q) % 4 < 2) for d in range(q % 2, 10, 2)} for q in range(8)}
    >>> runs = {
    ...     name: {f"q{q}": {f"d{d}": sign * d for d in range(10)} for q in range(8)}
    ...     for name, sign in (("up", 1.0), ("down", -1.0))
    ... }
    >>> pair, = fastir.compare_under_judge(judge, human, runs, "precision@5").pairs
    >>> pair.a, pair.b, pair.low < pair.estimate < pair.high
    ('up', 'down', True)
    """
    if not isinstance(runs, Mapping) or len(runs) < 2:
        raise ValueError("runs: expected {name: run} with at least two runs")
    sides = judge_qrels, human_qrels
    judged = RunsUnderJudge(sides, dict(runs), metrics, strata, confidence, n_draws, random_state, options)
    means = {name: judged.means(name) for name in runs}
    per_query = {name: judged.per_query(name) for name in runs}
    return ComparisonUnderJudge(pairs=judged.differences(), means=means, per_query=per_query, **judged.shared())


class RunsUnderJudge:
    """Runs, each ranked once, and their values under every draw."""

    names: list[str]
    strict: list[bool]
    kept: dict[Any, np.ndarray]  # of each run, which queries count

    def __init__(
        self,
        sides: tuple[QrelsLike, QrelsLike],
        runs: dict[Any, RunLike],
        metrics: str | Iterable[str],
        strata: Strata,
        confidence: float,
        n_draws: SupportsIndex,
        random_state: SupportsIndex,
        options: Any,
    ) -> None:
        self.confidence: float = proportion("confidence", confidence)
        self.n_draws: int = whole_number("n_draws", n_draws, MIN_DRAWS)
        state = whole_number("random_state", random_state, 0)
        others = *OF_DOCUMENTS, "ties_report", "weights"
        refuse_options("metrics under a judge", options, others, "no draw of labels is measured with it")
        refuse_options("metrics under a judge", options, OF_QRELS, "pass Qrels that were read with them")
        listed, own = custom_among(metrics)
        if own:
            raise TypeError(f"metric {quote(own[0].name)}: a custom metric is not measured under draws of labels")
        self.pairs: JudgedPairs = read_pairs(*sides)
        ranked = RankedPairs(self.pairs, runs, metric_tuple(listed), options)
        self.names, self.strict = ranked.names, ranked.strict
        self.design: Design = make_design(self.pairs, list(ranked.runs.values()), strata)
        self.draws: LabelDraws = LabelDraws(self.pairs, self.design, self.n_draws, state)
        self.scores: np.ndarray = self.draws.model.scores
        measurers = {name: Measurer(self.pairs, run, ranked.parts) for name, run in ranked.runs.items()}
        judge, human = np.where(self.pairs.judge < 0, self.pairs.human, self.pairs.judge), self.pairs.human

        def measure_all(labels: np.ndarray) -> dict[Any, np.ndarray]:
            ideal = ideal_labels(labels, self.pairs.offsets)  # of all runs
            return {name: measurer.measure(labels, *ideal) for name, measurer in measurers.items()}

        self.naive, self.human = (
            {name: values[0] for name, values in measure_all(labels[None]).items()} for labels in (judge, human)
        )
        self.kept = {name: ranked.counted_queries(run) for name, run in ranked.runs.items()}
        blocks = [measure_all(labels) for labels in self.draws]
        self.values: dict[Any, np.ndarray] = {name: np.concatenate([each[name] for each in blocks]) for name in runs}

    def mean(self, values: np.ndarray, column: int, kept: np.ndarray) -> Estimate:
        values = values[:, :, column]
        if self.strict[column] and np.isnan(values[:, kept]).any():
            values = np.full(values.shape, np.nan)
        return estimate_mean(values, kept, self.draws.coefficients, self.scores, self.confidence)

    def plain_mean(self, values: np.ndarray, column: int, kept: np.ndarray) -> float:
        """The mean of the values by one side's labels."""
        values = values[kept, column]
        return math.nan if self.strict[column] and np.isnan(values).any() else float(mean_of_defined(values, 0))

    def means(self, name: Any) -> dict[str, JudgedMean]:
        """The mean of each metric of a run."""
        kept, in_sample = self.kept[name], self.kept[name] & self.sampled
        return {
            metric: JudgedMean(
                *self.mean(self.values[name], column, kept)._replace(p_value=math.nan),
                self.plain_mean(self.naive[name], column, kept),
                self.plain_mean(self.human[name], column, in_sample),
            )
            for column, metric in enumerate(self.names)
        }

    @property
    def sampled(self) -> np.ndarray:
        """The queries with a human label."""
        return sums(~self.pairs.open, self.pairs.offsets) > 0

    def per_query(self, name: Any) -> dict[str, dict[Any, float]]:
        """{metric: {query_id: mean over draws}} of a run."""
        rows = np.flatnonzero(self.kept[name]).tolist()
        means = mean_of_defined(self.values[name], 0)
        return {
            metric: {self.pairs.query_ids[row]: float(means[row, column]) for row in rows}
            for column, metric in enumerate(self.names)
        }

    def differences(self) -> list[JudgedDifference]:
        """All pairs of runs, metric by metric, with Holm's correction within a metric."""
        records = []
        for column, metric in enumerate(self.names):
            found = []
            for a, b in itertools.combinations(self.values, 2):
                kept = self.kept[a] & self.kept[b]
                plain = [
                    self.plain_mean(side[a] - side[b], column, rows)
                    for side, rows in ((self.naive, kept), (self.human, kept & self.sampled))
                ]
                found.append((a, b, self.mean(self.values[a] - self.values[b], column, kept), plain))
            corrected = adjust([each.p_value for _, _, each, _ in found], "holm").tolist()
            for (a, b, each, plain), p_corrected in zip(found, corrected, strict=True):
                records.append(JudgedDifference(metric, a, b, *each, p_corrected, *plain))
        return records

    def shared(self) -> dict[str, Any]:
        """The fields of a result that belong to no run."""
        pairs, levels = self.pairs, self.draws.model.levels.tolist()
        above = np.pad(self.draws.chances / self.n_draws, ((1, 0), (0, 0)), constant_values=1.0)
        shares = above - np.pad(above[1:], ((0, 1), (0, 0)))
        answers = []
        for label in np.unique(pairs.judge[pairs.judge >= 0]).tolist():
            both, alone = (np.flatnonzero((pairs.judge == label) & rows) for rows in (pairs.both, pairs.open))
            counts = {level: int((pairs.human[both] == level).sum()) for level in levels}
            mean = (
                shares[:, self.design.cells[alone]].mean(axis=1).tolist()
                if len(alone)
                else [float("nan")] * len(levels)
            )
            answers.append(HumanAnswers(label, len(both), len(alone), counts, dict(zip(levels, mean, strict=True))))
        return {
            "answers": answers,
            "confidence": self.confidence,
            "n_draws": self.n_draws,
            "n_queries": len(pairs.query_ids),
            "n_sampled": int(self.sampled.sum()),
        }


class RankedPairs:
    """The judged pairs in each run, by their numbers, and how metrics are computed from them."""

    names: list[str]
    strict: list[bool]  # whether the mean of a metric is undefined if the value of a query is
    parts: Parts
    runs: dict[Any, JudgedRankings]  # a label is the number of a pair

    def __init__(self, pairs: JudgedPairs, runs: dict[Any, RunLike], metrics: tuple[str, ...], options: Any) -> None:
        rule, self.chosen = query_rule(options.pop("queries", None))
        largest = Qrels(pairs.query_ids, pairs.offsets, pairs.doc_ids, np.maximum(pairs.judge, pairs.human))
        evaluator = Evaluator(largest, metrics, queries=rule, **options)
        order = RunJudge(evaluator.rules.prepared).rules
        if order["ties"] in LABEL_TIES:
            raise ValueError(
                f"ties={order['ties']!r} orders equal scores by labels, and a draw changes these; give another rule"
            )
        self.options: Options = evaluator.rules.settings.options
        settings, self.parts = compile_fixed(metrics, self.options, order)
        refuse_micro(settings, "draws of labels give means over the queries")
        for name, how in zip(settings.names, settings.aggregates, strict=True):
            if not how.startswith("mean"):
                raise ValueError(f"metric {quote(name)} is a {how} over the queries; expected a metric with a mean")
        self.names = list(settings.names)
        self.strict = [how == "mean_or_nan" for how in settings.aggregates]
        numbers = np.arange(len(pairs.doc_ids), dtype=np.int32)
        numbered = Qrels(pairs.query_ids, pairs.offsets, pairs.doc_ids, numbers)
        plain = self.options._replace(convention="fastir", choices=(), judged_only=False, max_depth=None, **order)
        ranker = make_evaluator(evaluator.rules.request(qrels=numbered, metrics=(NUM_RET,), options=plain))
        self.runs = {}
        for name, run in runs.items():
            try:
                self.runs[name] = ranker.judged_rankings(run)
            except Exception as error:
                if name is not None:
                    name_the_run(error, name)
                raise

    def counted_queries(self, run: JudgedRankings) -> np.ndarray:
        """The queries that count in the means of a run."""
        left_out = mask_left_out(run, self.options.queries)
        return ~left_out if self.chosen is None else ~(left_out | mask_not_chosen(run, self.chosen))
