"""bounds(): between which values a run's metrics lie, whatever the labels of the unjudged documents."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, SupportsFloat, SupportsIndex

import numpy as np

from fastir.analyses.bounds.candidates import label_levels
from fastir.analyses.bounds.differences import TwoRuns, difference_extremes
from fastir.analyses.bounds.extremes import Extremes, block_extremes
from fastir.analyses.bounds.outer import outer_requests, uncertain_queries, with_outer_bounds
from fastir.analyses.bounds.result import Bounds
from fastir.analyses.bounds.unjudged_ranks import blocks, find_shared, run_pairs, unjudged_places, unjudged_ranks
from fastir.checks import positive_integer, refuse_options, whole_number
from fastir.data.rankings import JudgedRankings, evaluate_rankings, make_rankings, ranking_arrays
from fastir.data.results.results import Results, remake, select_rows
from fastir.data.run import as_run
from fastir.engine.columns.rows import occurrences
from fastir.engine.measure import JUDGED, NUM_Q
from fastir.engine.measure._grades import coded
from fastir.errors import quote
from fastir.evaluation.drivers.judged import RunJudge
from fastir.evaluation.evaluator import Evaluator, make_evaluator
from fastir.evaluation.run_collections import name_the_run
from fastir.inputs.label_arrays import LABEL_COLUMNS
from fastir.inputs.source import as_source
from fastir.request.custom import custom_among
from fastir.request.options import MAX_DEPTH, TIES, label_above_0, metric_tuple
from fastir.request.plan import ORDER_RULES, compile_fixed, refuse_micro

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from fastir.analyses.bounds.result import Bounds
    from fastir.analyses.bounds.unjudged_ranks import SharedDocuments
    from fastir.data.qrels import QrelsLike
    from fastir.data.rankings import JudgedRankings
    from fastir.data.results.results import Results
    from fastir.data.run import RunLike
    from fastir.engine.measure._grades import Grades
    from fastir.evaluation.evaluator import Evaluator
    from fastir.evaluation.keywords import BoundsOptions
    from fastir.request.names import Request
    from fastir.request.options import Options
    from fastir.request.plan import Settings


NEVER_READ = ("doc_weights", "unanswerable", "ties_report")  # options of `evaluate`
LABEL_TIES = ("optimistic", "pessimistic")
MAX_UNSEEN = 10**6


def bounds(
    qrels: QrelsLike,
    run: RunLike,
    metrics: str | Iterable[str],
    *,
    against: RunLike | None = None,
    max_label: SupportsIndex | SupportsFloat | None = None,
    pool_depth: SupportsIndex | None = None,
    unseen: SupportsIndex = 0,
    **options: Unpack[BoundsOptions],
) -> Bounds:
    """How far the unjudged documents of a run could change its metrics: the smallest and largest values.

    These are the documents that the run retrieved. A relevant document that is unjudged and not retrieved would be a
    further document in R and in the ideal ranking: `unseen` allows some. A document that `max_depth` cuts counts as not
    retrieved.

    Parameters
    ----------
    qrels, run, metrics
        As for `evaluate`. A retrieved document is unjudged if it is missing from the qrels or has a negative label.
    against : run or None
        A second run. The result then bounds the difference, `run` less `against`; a document has one label in both
        runs.
    max_label : number or None
        The largest label that an unjudged document can have; None is the largest label of the qrels. If this or a label
        of the qrels is a fraction, an unjudged document can have 0, this, or a label of the qrels.
    pool_depth : int or None
        Unjudged documents below this rank stay unjudged; None is the whole ranking, which `max_depth` may cut.
    unseen : int
        How many documents outside each ranking can have such labels, too: up to a million, not with `against`.
    **options
        Options of `evaluate`, except `doc_weights`, `unanswerable` and `ties_report`.

    Returns
    -------
    Bounds
        `.lower` and `.upper` are Results with the extreme values of each query and the extreme means. `.exact` says of
        each metric whether some labels give them, and `.outer` for which queries this is unknown. It prints as a table
        with the value, the value without unjudged documents (`.condensed`) and judged@k (`.coverage`).

    Raises
    ------
    ValueError
        A label of the qrels is above `max_label`; the order of documents depends on labels (``ties="optimistic"``,
        ``"pessimistic"``) or is none (``"average"``); the convention has several orders; the qrels have groups; unseen
        documents and a second run.
    UnknownMetricError
        As by `evaluate`; or a metric needs the ids of documents, as hole@k does, or has gains without known bounds.
    OverflowError
        `max_label` is too large for a metric's formula.
    FormatError, DuplicateError, NoOverlapError, TypeError, ValueError, OverflowError, RuntimeError, OSError
        As by `evaluate`.

    Warns
    -----
    FastirWarning
        As `evaluate`.

    Notes
    -----
    The label of an unjudged document also counts in R and in the ideal ranking; so nDCG, AP and recall can fall as it
    rises, and an unjudged document below the cutoff matters to them. With every labeling all unjudged documents are
    judged. Some metrics skip unjudged documents, such as bpref: their values may lie outside. If no bounds of a metric
    are known, all labelings are tried if they are few; else the bounds are the metric's range. They are this, too, for
    metrics of forbidden documents, evidence, costs and exposure where a retrieved document is unjudged: its set, cost
    or group is no matter of its label. With real-valued labels
    this holds for normalised err (nerr8 to nerr11 are not normalised) and for bpm. Values are undefined as in
    `evaluate`.

    Examples
    --------
    >>> import fastir
    >>> qrels = {"q": {"a": 1, "b": 0, "c": 1}}
    >>> bounds = fastir.bounds(qrels, {"q": {"x": 3.0, "a": 2.0, "y": 1.0}}, ["P@2", "recall@2"])
    >>> bounds
    metric     lower   value   upper  condensed  judged
    P@2       0.5000  0.5000  1.0000     0.5000  0.5000
    recall@2  0.3333  0.5000  0.6667     0.5000  0.5000
    <BLANKLINE>
    1 query; labels of retrieved unjudged documents from 0 to 1
    >>> bounds.lower["recall@2"], bounds.upper.per_query("P@2"), bounds.exact["P@2"]
    (0.3333333333333333, {'q': 1.0}, True)
    >>> fastir.bounds(qrels, {"q": {"x": 3.0, "a": 2.0, "y": 1.0}}, "recall@2", unseen=2).lower["recall@2"]
    0.2
    """
    refuse_options("bounds", options, NEVER_READ, "no metric that has bounds reads it")
    metrics, own = custom_among(metrics)
    if own:
        raise TypeError(
            f"metric {quote(own[0].name)}: a custom metric has no bounds, because its extremes over all "
            "labels of unjudged documents are unknown"
        )
    metrics = metric_tuple(metrics)
    evaluator = Evaluator(qrels, metrics, **options)
    settings = evaluator.rules.settings
    check_order(settings)
    deepest = MAX_DEPTH if pool_depth is None else positive_integer("pool_depth", "the depth", pool_depth, MAX_DEPTH)
    n_unseen = whole_number("unseen", unseen, 0)
    if n_unseen:
        positive_integer("unseen", "the number of documents", n_unseen, MAX_UNSEEN)
    outer = outer_requests(settings)
    if outer and against is None:
        return bounds_with_outer(evaluator, run, outer, max_label, deepest, n_unseen, options)
    if outer:
        raise ValueError(f"against: metric {quote(next(iter(outer)))} has bounds of one run alone")
    if against is None:
        judged = evaluator.judged_rankings(run)
        largest = largest_label(judged, max_label)
        return run_bounds(BoundsRequest(evaluator, judged, metric_tuple(metrics), largest, deepest, n_unseen))
    if n_unseen:
        raise ValueError("unseen: differences of two runs have bounds over the documents that these retrieved alone")
    check_differences(settings)
    rules = settings.options.duplicates, evaluator.rules.parents, settings.lines
    first_run = as_run(evaluator.rules.retrieved(run), evaluator.rules.columns, *rules)
    first = held_evaluator(evaluator).judged_rankings(first_run)
    try:
        second_run = as_run(evaluator.rules.retrieved(against), evaluator.rules.columns, *rules)
        second = held_evaluator(evaluator).judged_rankings(second_run)
    except Exception as error:
        name_the_run(error, "against")
        raise
    request = BoundsRequest(evaluator, first, metric_tuple(metrics), largest_label(first, max_label), deepest)
    return difference_bounds(request, second, find_shared(first_run, second_run, first))


def bounds_with_outer(
    evaluator: Evaluator,
    run: RunLike,
    outer: dict[str, Request],
    max_label: SupportsIndex | SupportsFloat | None,
    depth: int,
    unseen: int,
    options: Mapping[str, Any],
) -> Bounds:
    """The bounds of a run for metrics some of which have outer ones."""
    rules = evaluator.rules
    names = tuple(name for name in rules.settings.names if name not in outer) or (NUM_Q,)
    if type(run) is not dict:
        run = rules.hold_run(as_source(run))
    value = evaluator.evaluate(run)
    plain = make_evaluator(rules.request(metrics=names, forbidden=None, doc_groups=None, doc_costs=None))
    judged = plain.rules.judged_rankings(run)
    found = run_bounds(BoundsRequest(plain, judged, names, largest_label(judged, max_label), depth, unseen))
    level = options.get("forbidden_level")
    by_labels = rules.settings.options.judged_only or (level is not None and float(level) >= 0)
    fields = with_outer_bounds(value, found, outer, uncertain_queries(judged, depth, unseen), by_labels)
    coverage = {
        **(found.coverage or {}),
        **judged_shares(judged, outer.values(), rules.settings.options, rules.weights),
    }
    fields["coverage"] = {name: coverage[name] for name in value.names}
    return dataclasses.replace(found, value=value, **fields)


def difference_bounds_by_pair(
    qrels: QrelsLike,
    runs: Mapping[Any, RunLike],
    pairs: Iterable[tuple[Any, Any]],
    metrics: Iterable[str],
    **options: Any,
) -> dict[tuple[Any, Any], Bounds]:
    """The bounds of the differences of pairs of runs, by their names; each run is judged once, without warnings."""
    metrics = metric_tuple(metrics)
    evaluator = Evaluator(qrels, metrics, **options)
    settings = evaluator.rules.settings
    check_order(settings)
    check_differences(settings)
    rules = settings.options.duplicates, evaluator.rules.parents, settings.lines
    of = evaluator.rules
    held = {name: as_run(of.retrieved(run), of.columns, *rules) for name, run in runs.items()}
    judge = RunJudge(held_evaluator(evaluator).rules.prepared)
    judged = {name: judge.with_coverage(run, None)[0] for name, run in held.items()}
    bounds_by_pair = {}
    for first, second in pairs:
        request = BoundsRequest(
            evaluator, judged[first], settings.metrics, largest_label(judged[first], None), MAX_DEPTH
        )
        shared = find_shared(held[first], held[second], judged[first])
        bounds_by_pair[first, second] = difference_bounds(request, judged[second], shared)
    return bounds_by_pair


def held_evaluator(evaluator: Evaluator) -> Evaluator:
    """An Evaluator like this one, for runs with ids of documents, not of chunks."""
    rules = evaluator.rules
    if rules.parents is None:
        return evaluator
    return make_evaluator(rules.request(metrics=rules.settings.metrics, columns=(None, None), parents=None))


def check_differences(settings: Settings) -> None:
    """Refuse what differences of two runs have no bounds for."""
    if settings.options.duplicates == "once":
        raise ValueError("against: with duplicates='once' a document has several ranks; give another rule")
    for name, how in zip(settings.names, settings.aggregates, strict=True):
        if how.startswith("geometric"):
            raise ValueError(
                f"metric {quote(name)}: its mean is geometric, so the difference is not a mean of differences"
            )


def check_order(settings: Settings) -> None:
    """Refuse rules by which the labels decide the order of documents."""
    rules = [rules["ties"] for _, rules, _ in settings.parts] or [TIES[settings.ties]]
    for ties in rules:
        if ties in LABEL_TIES:
            raise ValueError(
                f"ties={ties!r} orders equal scores by their labels, which bounds do not know; give another rule"
            )


def largest_label(judged: JudgedRankings, max_label: SupportsIndex | SupportsFloat | None) -> float:
    """The largest label that unjudged documents may have."""
    largest = max(judged.ideal_labels.max(initial=0).item(), 0)
    if max_label is None:
        return int(largest) if largest == int(largest) else largest
    top = label_above_0("max_label", max_label)
    if largest > top:
        row = int(np.argmax(judged.ideal_labels > top))
        query = judged.query_ids[int(np.searchsorted(judged.ideal_offsets, row, "right")) - 1]
        raise ValueError(
            f"max_label={top}, but the qrels have the label {judged.ideal_labels[row]} (query {quote(query)})"
        )
    return top


# ---- a request, block by block of queries ----------------------------------------------------------------------------
MAX_COUNTED_LABELS = 1000  # labels that are counted


class BoundsRequest:
    """A request for the bounds of a judged run: its metrics by their rules, the largest label, depth and unseen."""

    judged: JudgedRankings
    names: tuple[str, ...]
    max_label: float
    depth: int
    unseen: int
    options: Options
    weights: dict[Any, float] | None
    settings: Settings
    parts: list[tuple[list[int], Settings]]

    def __init__(
        self,
        evaluator: Evaluator,
        judged: JudgedRankings,
        names: tuple[str, ...],
        max_label: float,
        depth: int,
        unseen: int = 0,
    ) -> None:
        self.judged, self.names, self.max_label, self.depth, self.unseen = judged, names, max_label, depth, unseen
        self.options, self.weights = evaluator.rules.settings.options, evaluator.rules.weights
        rules = {name: getattr(judged, name) for name in ORDER_RULES}
        self.settings, self.parts = compile_fixed(names, self.options, rules)
        refuse_micro(self.settings, "its bounds are not known")
        for limit, text, why in itertools.chain.from_iterable(part.label_limits for _, part in self.parts):
            if max_label > limit:
                raise OverflowError(f"metric {quote(text)}: max_label={max_label} is too large for {why}")
        self.grades: Grades | None = None
        if judged.ideal_labels.dtype != np.int32 or max_label != int(max_label):
            self.grades, _ = coded(judged.labels, judged.ideal_labels, np.array([max_label]))
            self.parts = [(columns, part.for_grades(self.grades)) for columns, part in self.parts]

    def code_labels(self, judged: JudgedRankings) -> JudgedRankings:
        """Judged rankings with codes of their labels, if a label is a fraction."""
        if self.grades is None:
            return judged
        label_by_code, arrays = self.grades.labels, ranking_arrays(judged)
        for name in LABEL_COLUMNS:
            labels = arrays[name]
            arrays[name] = np.where(labels < 0, -1, np.searchsorted(label_by_code, labels)).astype(np.int32)
        rules = judged.ties, judged.score_dtype, judged.duplicates
        return make_rankings(JudgedRankings, judged.query_ids, arrays, *rules, judged.report)

    def extremes(self, measure_block: Callable[..., Extremes]) -> Extremes:
        """The extremes of all queries.

        ``measure_block(settings, block, max_depth, levels)`` returns a block's values, by one set of rules.
        """
        judged = self.judged
        shape = len(judged), len(self.settings.names)
        extremes = Extremes(*(np.empty(shape, dtype) for dtype in (float, float, bool, bool)))
        labels = distinct_labels(judged.ideal_labels).tolist()
        for columns, part in self.parts:
            levels = self.levels(labels, part)
            max_depth = MAX_DEPTH if part.options.max_depth is None else part.options.max_depth
            for start, stop in blocks(judged.num_ret):
                block = measure_block(part, (start, stop), max_depth, levels)
                for array, values in zip(extremes, block, strict=True):
                    array[start:stop, columns] = values
        return extremes

    def levels(self, labels: list[int], part: Settings) -> tuple[int, ...]:
        """The labels of unjudged documents to look at; all codes if the labels of the qrels are real-valued."""
        if self.grades is None:
            return label_levels(labels, part, int(self.max_label))
        return tuple(range(len(self.grades.labels)))

    def values(self, judged: JudgedRankings, **changed: Any) -> Results:
        """The metrics of judged rankings, under these options or others."""
        return evaluate_rankings(judged, self.names, self.options._replace(**changed), self.weights)

    def bounds(self, value: Results, extremes: Extremes, **rest: Any) -> Bounds:
        """The Bounds of a value."""
        depth = None if self.depth == MAX_DEPTH else self.depth
        lower, upper, outer = both_sides(value, extremes, self.judged)
        return Bounds(value, lower, upper, outer, self.judged, self.max_label, depth, unseen=self.unseen, **rest)


def run_bounds(request: BoundsRequest) -> Bounds:
    """The bounds of one run."""
    judged, codes = request.judged, request.code_labels(request.judged)

    def measure_block(part: Settings, block: tuple[int, int], max_depth: int, levels: tuple[int, ...]) -> Extremes:
        unjudged = unjudged_places(codes, block, request.depth, max_depth, request.unseen)
        return block_extremes(part, unjudged_ranks(codes, block, unjudged, max_depth, part.options.judged_only), levels)

    shares = judged_shares(judged, request.settings.requests, request.options, request.weights)
    return request.bounds(
        request.values(judged),
        request.extremes(measure_block),
        condensed=request.values(judged, judged_only=True),
        coverage=shares,
    )


def judged_shares(
    judged: JudgedRankings, requests: Iterable[Request], options: Options, weights: dict[Any, float] | None
) -> dict[str, float]:
    """The mean of judged@k for each metric, at its cutoff."""
    names = {each.text: f"{JUDGED}@{each.cutoff}" if each.cutoff else JUDGED for each in requests}
    plain = options._replace(judged_only=False, convention="fastir", choices=(), ties=None)
    shares = evaluate_rankings(judged, tuple(names.values()), plain, weights)
    return {text: shares[name] for text, name in names.items()}


def difference_bounds(request: BoundsRequest, second: JudgedRankings, shared: SharedDocuments) -> Bounds:
    """The bounds of the difference of two runs."""
    both = request.judged, second
    codes = request.code_labels(both[0]), request.code_labels(second)

    def measure_block(part: Settings, block: tuple[int, int], max_depth: int, levels: tuple[int, ...]) -> Extremes:
        pairs = run_pairs(codes, shared, block, request.depth, max_depth)
        return difference_extremes(part, TwoRuns(codes, block, pairs, max_depth, part.options.judged_only), levels)

    value, condensed = (
        difference(request.values(both[0], **changed), request.values(both[1], **changed))
        for changed in ({}, {"judged_only": True})
    )
    return request.bounds(value, request.extremes(measure_block), condensed=condensed, against=second)


def difference(first: Results, second: Results) -> Results:
    """The differences of their values, for the queries that both have."""
    places = {query_id: row for row, query_id in enumerate(second.query_ids)}
    rows = [row for row, query_id in enumerate(first.query_ids) if query_id in places]
    kept = first if len(rows) == len(first.query_ids) else select_rows(first, rows)
    return remake(kept, kept.values - second.values[[places[query_id] for query_id in kept.query_ids]])


def both_sides(
    value: Results, extremes: Extremes, judged: JudgedRankings
) -> tuple[Results, Results, dict[str, list[Any]]]:
    """The smallest and the largest values as Results, and for each metric the queries with outer bounds only."""
    kept = shared_rows(value, judged)
    aggregates = list(value.aggregates.values())
    lower, upper = (
        remake(value, without_undefined(side[kept], extremes.undefined[kept], sign, aggregates, value))
        for side, sign in ((extremes.lower, 1.0), (extremes.upper, -1.0))
    )
    ids = value.query_ids
    outer = {
        name: [ids[row] for row in np.flatnonzero(extremes.outer[kept, column]).tolist()]
        for column, name in enumerate(value.names)
    }
    return lower, upper, outer


def shared_rows(value: Results, judged: JudgedRankings) -> np.ndarray:
    """The queries of judged rankings that results have."""
    if len(value.query_ids) == len(judged):
        return np.arange(len(judged))
    kept = set(value.query_ids)
    return np.array([row for row, query_id in enumerate(judged.query_ids) if query_id in kept], np.int64)


def distinct_labels(labels: np.ndarray) -> np.ndarray:
    """The different ones among labels, rising; counted where they are whole and few apart, which is sooner done."""
    low, high = labels.min(initial=0), labels.max(initial=0)
    if labels.dtype != np.int32 or int(high) - int(low) > MAX_COUNTED_LABELS:
        return np.unique(labels)
    return np.flatnonzero(occurrences(labels - low)) + low


# ---- extreme means when queries can be undefined ---------------------------------------------------------------------
def without_undefined(
    values: np.ndarray, undefined: np.ndarray, sign: float, aggregates: Sequence[str], results: Results
) -> np.ndarray:
    """The extreme values of queries, NaN where leaving a query out makes the mean more extreme."""
    weights = results.weights
    if weights is None:
        weight = np.ones(len(values))
    else:
        weight = np.array([weights[query] for query in results.query_ids], float)
    values = values.copy()
    for column, how in enumerate(aggregates):
        optional = undefined[:, column] & ~np.isnan(values[:, column])
        if optional.any() and how in ("mean", "geometric"):
            added = np.log(values[:, column]) if how == "geometric" else values[:, column]
            values[rows_left_out(sign * added, weight, optional), column] = np.nan
    return values


def rows_left_out(values: np.ndarray, weights: np.ndarray, optional: np.ndarray) -> np.ndarray:
    """The optional rows without which the weighted mean of all others is smallest: those above a threshold."""
    fixed = ~optional & ~np.isnan(values)
    rows = np.flatnonzero(optional)
    rows = rows[np.argsort(values[rows], kind="stable")]
    sums = np.concatenate([[0.0], np.cumsum((values * weights)[rows])]) + (values * weights)[fixed].sum()
    sizes = np.concatenate([[0.0], np.cumsum(weights[rows])]) + weights[fixed].sum()
    means = np.divide(sums, sizes, out=np.full(len(sums), np.inf), where=sizes > 0.0)
    return rows[int(means.argmin()) :]
