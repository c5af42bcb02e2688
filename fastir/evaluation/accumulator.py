"""Accumulator: the means of metrics over batches that come one after the other, or in several processes.

Every sum is exact, a whole number of the smallest unit, so that the order of the batches and of merging changes no bit;
memory does not grow with the number of queries.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.checks import refuse_options
from fastir.data.results._totals import UNIT, exact_total
from fastir.data.results.means import digits, numerators_of, total_log
from fastir.data.results.results import best_of, denominators_of, divisor
from fastir.engine.columns._dicts import is_nested
from fastir.evaluation.evaluate import evaluate
from fastir.evaluation.labels import evaluate_ranked, evaluate_scores
from fastir.evaluation.matrix import evaluate_matrix, evaluate_topk
from fastir.inputs import tables
from fastir.rendering.text import counted
from fastir.request.custom import custom_among
from fastir.request.options import metric_tuple

if TYPE_CHECKING:
    from typing import Unpack

    from numpy.typing import ArrayLike

    from fastir.data.qrels import QrelsLike
    from fastir.data.results.results import Results
    from fastir.data.run import RunLike
    from fastir.request.keywords import BatchOptions

LOG_DECIMALS = 40  # decimals of the logarithms that are added up
FEW_VALUES = 16  # of a batch, which are sooner added up as ints than as an array
BATCH_OPTIONS = ("weights", "group", "qid", "offsets", "columns")
SCORE_OPTIONS = ("ties", "score_dtype")


class Accumulator:
    """Means over batches of queries, given as labels and scores, tables, score matrices, top-k lists or runs.

    Parameters
    ----------
    metrics : str or iterable of str
        Such as ``"ndcg@10"``; `fastir.metrics` lists them.
    **options
        Those options of `evaluate_scores` that are not arrays: ties, rel_level, judged_only, max_depth, min_score,
        score_dtype, n_threads, convention, and parameters of the metrics. `ties` and `score_dtype` have no effect on a
        batch without scores, which `min_score` refuses. Also doc_weights, as for `evaluate_matrix`, for batches of
        matrices, top-k lists and runs.

    Attributes
    ----------
    n_queries : int
        The number of queries added so far.

    Raises
    ------
    UnknownMetricError, TypeError, ValueError
        As by `evaluate_scores`.

    Notes
    -----
    The means equal those of one call over all queries to the last bit, in any order of batches and merges. An
    Accumulator can be pickled, sent to another process and merged there. Each thread needs its own Accumulator. psp and
    psndcg are quotients of two means: an Accumulator adds up both sums and divides at the end, one call divides the
    value of each query. The last bit of the quotient can therefore differ.

    Examples
    --------
    >>> import fastir
    >>> total = fastir.Accumulator(["mrr", "ndcg@10"])
    >>> total.update([1, 0, 0, 1], [0.3, 0.2, 0.9, 0.1], group=[2, 2])
    >>> other = fastir.Accumulator(["mrr", "ndcg@10"])
    >>> other.update([0, 0, 1], offsets=[0, 3])
    >>> total.merge(other)
    >>> total.result()
    {'mrr': 0.611111111111111, 'ndcg@10': 0.7103099178571526}
    >>> total.n_queries
    3
    """

    def __init__(self, metrics: str | Iterable[str], **options: Unpack[BatchOptions]) -> None:
        refuse_options("Accumulator", options, BATCH_OPTIONS, "it belongs to a batch: update takes it")
        listed, custom = custom_among(metrics)
        self._metrics = tuple(listed) if custom else metric_tuple(listed)
        self._options = options
        plain: Any = {name: value for name, value in options.items() if name != "doc_weights"}
        if options.get("doc_weights") is None:
            nothing = evaluate_scores([], [], self._metrics, offsets=[0], **plain)
        else:
            nothing = evaluate_matrix(np.empty((0, 1)), [], self._metrics, **options)
        self._sums = {name: Sum(how) for name, how in nothing.aggregates.items()}
        self.n_queries: int = 0

    def __repr__(self) -> str:
        options = "".join(f"; {name}={value!r}" for name, value in self._options.items())
        return f"<Accumulator of {counted(self.n_queries, 'query', 'queries')}: {', '.join(self._sums)}{options}>"

    def update(
        self,
        labels: Any = None,
        scores: ArrayLike | None = None,
        *,
        columns: Mapping[str, str] | None = None,
        run: RunLike | None = None,
        qrels: QrelsLike | None = None,
        indices: ArrayLike | None = None,
        relevant: Any = None,
        **batch: Any,
    ) -> None:
        """Add a batch of queries. A batch that raises an error is not added, not even in part.

        Parameters
        ----------
        labels, scores : arrays of shape (n_documents,), or both of shape (n_queries, n_documents)
            As for `evaluate_scores`; without scores the labels are in rank order, as for `evaluate_ranked`.
        labels : table
            A table with columns for the query (query_id, qid, ...), the label (label, relevance or rating) and the
            score or rank (score, rank); rows in any order.
        columns : dict or None
            ``{"query_id": name, "label": name, "score": name, "rank": name}``, for columns with other names; with `run`
            as for `evaluate`.
        run, qrels : as for `evaluate`
            Rankings with ids, and the judgments. Only queries that are in both are added. If both are dicts of dicts,
            only the judgments of these queries are read.
        scores : matrix of shape (n_queries, n_items), with `relevant`
            As for `evaluate_matrix`.
        indices : matrix of shape (n_queries, k), with `relevant`
            As for `evaluate_topk`; scores are optional.
        relevant : sparse matrix, tuple, dict or list
            The judged items, as for `evaluate_matrix` and `evaluate_topk`.
        **batch
            Other arguments of the function that evaluates such a batch: group, qid, offsets, weights, ideal_labels,
            exclude, threshold.

        Notes
        -----
        A batch must hold whole queries: a query split between two batches counts as two. Spark's mapInPandas and
        iterators over record batches can split a query; group by query first (applyInPandas, groupBy).

        Raises
        ------
        UnknownMetricError, TypeError, ValueError, OverflowError, RuntimeError
            As by the function that evaluates such a batch.
        """
        options = {**self._options, **batch}
        if run is not None or qrels is not None:
            if run is None or qrels is None or labels is not None or scores is not None or relevant is not None:
                raise TypeError("run and qrels belong together, without labels, scores or relevant")
            few = batch_judgments(qrels, run)
            self._add(evaluate(few, run, self._metrics, queries="intersection", columns=columns, **options))
            return
        if relevant is None and options.pop("doc_weights", None) is not None:
            raise TypeError("doc_weights needs documents or items, which labels do not name")
        if tables.is_label_table(labels):
            if scores is not None or relevant is not None or {"qid", "group", "offsets"} & set(batch):
                raise TypeError("a table of labels has queries and scores in its columns; give no others")
            self._add(evaluate_scores(**tables.read_label_table(labels, columns), metrics=self._metrics, **options))
            return
        if columns is not None:
            raise TypeError("columns is for a table, but none was given")
        if scores is None:
            options = {name: value for name, value in options.items() if name not in SCORE_OPTIONS}
        if relevant is not None:
            if labels is not None:
                raise TypeError("labels and relevant must not be given together: both say what was judged")
            if indices is not None:
                self._add(evaluate_topk(indices, relevant, self._metrics, scores=scores, **options))
            elif scores is None:
                raise TypeError("relevant needs scores or indices, got neither")
            else:
                self._add(evaluate_matrix(scores, relevant, self._metrics, **options))
        elif labels is None:
            raise TypeError("a batch needs labels, or relevant with scores or indices")
        elif scores is None:
            self._add(evaluate_ranked(labels, metrics=self._metrics, **options))
        else:
            self._add(evaluate_scores(labels, scores, self._metrics, **options))

    def merge(self, other: Accumulator) -> None:
        """Add all queries of another accumulator, as if they had been added to this one.

        Parameters
        ----------
        other : Accumulator
            It must have the same metrics and options; it does not change.

        Raises
        ------
        TypeError
            `other` is not an Accumulator.
        ValueError
            Its metrics or options differ.
        """
        if not isinstance(other, Accumulator):
            raise TypeError(f"an Accumulator can be merged only with an Accumulator, got {type(other).__name__}")
        mine, theirs = ((which._metrics, which._options) for which in (self, other))
        if mine != theirs:
            raise ValueError(f"accumulators of different metrics or options cannot be merged: {mine} and {theirs}")
        for name, total in self._sums.items():
            total.add(other._sums[name])
        self.n_queries += other.n_queries

    def result(self) -> dict[str, float]:
        """Return the means of all queries so far, as exact as the means of `Results`.

        Returns
        -------
        dict of str to float
            {metric as requested: mean}; NaN for a metric without values.
        """
        return {name: total.mean() for name, total in self._sums.items()}

    def _add(self, results: Results) -> None:
        ids = results.query_ids
        weights = None if results.weights is None else np.array([results.weights[query] for query in ids], float)
        denominators, quotients, values = denominators_of(results), best_of(results), results.values
        batch = []
        for column, (name, total) in enumerate(self._sums.items()):
            batch.append(Sum(total.how))
            of = divisor(results, name) if quotients else None
            batch[-1].take(values[:, column], weights, of, denominators.get(name))
        for total, added in zip(self._sums.values(), batch, strict=True):
            total.add(added)
        self.n_queries += len(ids)


def batch_judgments(qrels: Any, run: Any) -> Any:
    """Return the judgments of the run's queries if both are dicts of dicts: a batch then does not read all qrels."""
    if type(qrels) is not dict or type(run) is not dict or len(run) >= len(qrels) or not is_nested(run):
        return qrels
    few = {query: qrels[query] for query in run if query in qrels}
    return few if few and is_nested(few) else qrels


class Sum:
    """The sums of the values of one metric; `how` they become one number is a word of `Results.aggregates`."""

    __slots__ = ("count", "how", "quotient", "total", "undefined")

    def __init__(self, how: str) -> None:
        self.how: str = how
        self.total: int = (
            0  # of weight times value, in 2^-UNIT; for a geometric mean of logarithms, in 10^-LOG_DECIMALS
        )
        self.count: int = 0  # of the weights of values that are not NaN, in 2^-UNIT
        self.undefined: int = 0  # values that are NaN
        self.quotient: bool = False  # whether total and count are the sums of what is divided and of what divides

    def take(
        self,
        values: np.ndarray,
        weights: np.ndarray | None,
        divisor: float | None = None,
        denominators: np.ndarray | None = None,
    ) -> None:
        """Count the values of a batch, which were divided by `divisor` if the metric divides means.

        A micro average divides the sum of numerators by that of their `denominators`.
        """
        if denominators is not None:
            self.quotient, self.undefined = True, int(np.isnan(values).sum())
            self.total = exact_total(numerators_of(values, denominators))
            self.count = exact_total(denominators)
            return
        if divisor is not None:
            self.quotient = True
            self.total, self.count = exact_total(values * divisor), exact_total(np.array([divisor * len(values)]))
            return
        if len(values) <= FEW_VALUES and weights is None and not self.how.startswith("geometric"):
            numbers = [value for value in values.tolist() if value == value]
            self.count, self.undefined = len(numbers) << UNIT, len(values) - len(numbers)
            for number in numbers:
                numerator, power = number.as_integer_ratio()
                self.total += numerator << UNIT + 1 - power.bit_length()
            return
        defined = ~np.isnan(values)
        self.undefined = int(len(values) - defined.sum())
        values = values[defined]
        weights = None if weights is None or self.how in ("sum", "count") else weights[defined]
        self.count = len(values) << UNIT if weights is None else exact_total(weights)
        if not len(values):
            return
        if self.how.startswith("geometric"):
            log = total_log(values.tolist(), None if weights is None else weights.tolist())
            self.total = int(digits().scaleb(log, LOG_DECIMALS).to_integral_value())
        else:
            self.total = exact_total(values, weights)

    def add(self, other: Sum) -> None:
        self.total += other.total
        self.count += other.count
        self.undefined += other.undefined
        self.quotient |= other.quotient

    def mean(self) -> float:
        """The mean, as Results computes it."""
        if self.how.endswith("_or_nan") and self.undefined:
            return math.nan
        if self.quotient and not self.count:
            return 0.0
        if not self.how.startswith("geometric"):
            total = self.total / (1 << UNIT)
            if self.how in ("sum", "count"):
                return total
            return total / (self.count / (1 << UNIT)) if self.count else math.nan
        if not self.count:
            return math.nan
        to = digits()
        log = to.scaleb(to.create_decimal(self.total), -LOG_DECIMALS)
        return float(to.exp(to.divide(log, to.create_decimal(self.count / (1 << UNIT)))))
