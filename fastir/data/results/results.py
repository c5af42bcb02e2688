"""What an evaluation returns: one matrix, queries × metrics, read as means, per query, or as a file.

A Results is made at every call, and a training loop may call once per query: evaluating one query takes about two
microseconds, and making the Results may take 0.3 of them. So it only keeps the arrays that the kernels filled.
Everything that costs more is made when it is first read:

    means        a dict, at the first `results[name]`; each mean when its name is read
    report       from a function of no arguments, at the first `results.report`
    provenance   from a function of no arguments, at the first `results.provenance`
    the rest     statuses, tables, text and JSON, at each reading; the modules that they need are imported then
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex

import numpy as np

import fastir.rendering as rendering
from fastir.checks import mapping
from fastir.data.results._fields import Fields, row_dicts, status_codes
from fastir.data.results._totals import column_totals, sums_of_few
from fastir.data.results.exportable import Exportable
from fastir.data.results.means import column_mean, mean_from_sum, micro_mean, weigh_queries, weighted_column_mean
from fastir.engine.measure import BY_MEANS
from fastir.engine.measure._codes import STATUS_CODES
from fastir.errors import quote
from fastir.rendering.text import counted, printable, refuse_inputs, round_text

if TYPE_CHECKING:
    from fastir.data.results.changes import ResultsDiff
    from fastir.data.results.report import Report
    from fastir.data.results.statistics import IntervalOptions, MeanInterval, Method, Statistic
    from fastir.data.results.tables import ResultsBySegment
    from fastir.data.results.ties import TieReport
    from fastir.rendering import Cell, Table
    from fastir.request.conventions import Convention
    from fastir.request.provenance import Provenance

STATUSES = tuple(STATUS_CODES)
N_RESAMPLES = 10_000  # equals `stats._checks.N_RESAMPLES`; importing it takes long
MIN_ROWS_OF_JOINT_SUMS = 256  # values from which on the sums of all metrics are made together; of fewer, each when read
MAX_SEARCHED_NAMES = 16  # names that are searched one by one; of more, a dict is made when the first is read


class Results(Fields, Exportable):
    """The values of one run, read like a dict: {metric as the caller typed it: its mean over the queries}.

    ``results["ndcg@10"]`` is a float: the exact sum of the queries' values, rounded once, divided by their number.
    Counts (``num_ret``, ``num_q``) are not divided; ``gm_map`` and ``gm_bpref`` are geometric means, rounded once. NaN
    values are left out; the mean of no values is NaN. With weights, a mean is the sum of weight times value, divided by
    the sum of the weights; counts do not change. A metric that was not evaluated raises a KeyError, which lists those
    that were. Made by `evaluate`; immutable; can be pickled. It is deliberately not registered as a
    `collections.abc.Mapping`, because libraries would then not see its Arrow interface (``polars.DataFrame(results)``,
    ``pyarrow.table(results)``).

    Parameters
    ----------
    query_ids : sequence of str (int for rankings without ids)
        The queries, in the order of the qrels.
    names : sequence of str
        The metrics as requested, each once.
    values : float64 array of shape (n_queries, n_names)
        NaN where a metric is undefined and its ``empty`` is "nan" or "skip". The array becomes read-only.
    status_codes : uint8 array of shape (n_queries,)
        An index into `STATUSES` for each query.
    aggregates : sequence of {"mean", "geometric", "sum", "count", "mean_or_nan", "geometric_or_nan"}
        How the values of a metric become one number: "sum" and "count" add up, "mean" divides by the number of values,
        "geometric" takes the root of the product; with "_or_nan", NaN if one of the values is NaN.
    report : Report, or a function of no arguments that makes it
    weights : dict of query_id to float, or None
        How much each query counts in a mean; None: 1 for all.
    provenance : Provenance, or a function of no arguments that makes it, or None
    """

    __slots__ = ("_best", "_bounds", "_denominators", "_places", "_ties", "_totals", "_weighing")

    _bounds: Any  # absent but in the `value` of Bounds
    _denominators: dict[str, np.ndarray]  # of each query, absent unless there are micro averages
    _best: dict[str, np.ndarray]  # absent unless metrics divide by means: by the means of these values
    _ties: TieReport  # absent unless there is one
    _index = "query_id"

    # ---- the mapping: metric name -> mean ----------------------------------------------------------------------
    def _mean(self, name: str) -> float:
        """``self[name]``, when it is first read."""
        column = self._column(name)
        how, late = self._aggregates[column], self._late_values
        if late is not None and self._weights is None and (mean := late.mean(column, how)) is not None:
            return mean
        values = self._values
        if how.startswith("micro"):
            return micro_mean(values[:, column], how, self._denominators[name])
        if self._weights is not None and how not in ("sum", "count"):
            if not hasattr(self, "_weighing"):
                self._weighing = weigh_queries(self._weights, self._query_ids)
            return weighted_column_mean(values[:, column], how, *self._weighing)
        if len(values) >= MIN_ROWS_OF_JOINT_SUMS and not how.startswith("geometric"):
            if not hasattr(self, "_totals"):
                self._totals = column_totals(values)  # of all columns in one pass
            if (sum_and_count := self._totals[column]) is not None:
                total, n = sum_and_count
                return mean_from_sum(how, total, n, len(values))
        return column_mean(values[:, column].tolist(), how)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names or (not isinstance(name, str) and str(name) in self._names)

    def items(self) -> list[tuple[str, float]]:
        """(name, mean) of every metric; the means alone are ``dict(results).values()``, as `values` is an array."""
        return [(name, self[name]) for name in self._names]

    def get(self, name: str, default: Any = None) -> Any:
        """The mean of a metric, by the requested spelling; `default` for a metric that was not evaluated."""
        return self[name] if name in self._names else default

    def _column(self, name: str) -> int:
        try:
            if len(self._names) <= MAX_SEARCHED_NAMES:
                return self._names.index(name)
            if not hasattr(self, "_places"):
                self._places = {each: place for place, each in enumerate(self._names)}
            return self._places[name]
        except (ValueError, KeyError):
            if name in self:  # a measure of ir_measures, by the name that it prints
                return self._names.index(str(name))
            names = ", ".join(map(repr, self._names))
            raise KeyError(f"{quote(name)} was not evaluated; the metrics here are {names}") from None

    # ---- per query ---------------------------------------------------------------------------------------------
    @property
    def query_ids(self) -> list[str] | list[int]:
        """The queries in the order of the qrels, as a new list; 0 to n - 1 for rankings without ids."""
        return list(self._query_ids)

    @property
    def names(self) -> list[str]:
        """The metrics as requested, as a new list."""
        return list(self._names)

    @property
    def values(self) -> np.ndarray:
        """All values: float64 of shape (n_queries, n_names), read-only, NaN where a metric left a query out.

        An array and no method: the means, as ``values()`` of a dict has them, are ``dict(results).values()``.
        """
        return self._values

    @property
    def aggregates(self) -> dict[str, str]:
        """How each metric becomes one number: {name: "mean", "geometric", "sum", "count", or one with "_or_nan"}."""
        return dict(zip(self._names, self._aggregates, strict=True))

    @property
    def status(self) -> dict[str, str]:
        """The status of each query, {query_id: status}.

        "missing": the query is missing from the run and counts as an empty ranking. "no_relevant": the run has it, but
        no label in the qrels reaches ``rel_level``. "evaluated": all others.
        """
        return {query: STATUSES[code] for query, code in zip(self._query_ids, self._status_codes.tolist(), strict=True)}

    @property
    def report(self) -> Report:
        """How the queries of qrels and run overlap, and what was repaired: a `Report`."""
        from fastir.data.results.report import Report

        report = self._report  # read once, here and below: another thread may make it meanwhile
        if not isinstance(report, Report):
            report = self._report = report()
        return report

    @property
    def provenance(self) -> Provenance | None:
        """Where these numbers come from, a `Provenance`: convention, options, metrics as understood, files."""
        provenance = self._provenance
        if callable(provenance):
            provenance = self._provenance = provenance()
        return provenance

    @property
    def convention(self) -> Convention:
        """The choices behind these numbers, as a record that `evaluate` also takes."""
        provenance = self.provenance
        return None if provenance is None else provenance.convention  # type: ignore[return-value]

    def convention_text(self) -> str:
        """The convention in words; empty if all choices are fastir's defaults."""
        text = str(self.convention or "")
        return "" if text == "fastir" else text

    @property
    def bounds(self) -> Any:
        """The `Bounds` with these Results as `value` (how far unjudged documents could change them), else None."""
        return getattr(self, "_bounds", None)

    def ties(self) -> TieReport:
        """What the order of equal scores could change: a `TieReport`, with a row for each metric.

        It has the expected value, as ``ties="average"``; the lowest and the highest value, as of the labels of equal
        scores in rising and in falling order; their difference; the bias of the tie rule, which is the value less the
        expected one; the number of queries whose value depends on the order; and the most documents of one score.

        Returns
        -------
        TieReport
            **Undefined**: the expected value and the bias are NaN for a metric whose expected value has no closed form,
            and with `max_depth`, if a query has ties. Labels in order do not always give the lowest and the highest
            value, with `max_depth` and of the few metrics that `metric` names: then they are the extremes of the values
            that are known.

        Raises
        ------
        ValueError
            The evaluation was without ``ties_report=True``.

        Examples
        --------
        >>> import fastir
        >>> run = {"q": {"a": 1.0, "b": 1.0, "c": 0.5}}
        >>> fastir.evaluate({"q": {"a": 1}}, run, "mrr", ties="input", ties_report=True).ties()
        metric  expected  lowest  highest   range     bias  n_queries  largest_group
        mrr       0.7500  0.5000   1.0000  0.5000  +0.2500          1              2
        <BLANKLINE>
        1 query
        """
        if not hasattr(self, "_ties"):
            raise ValueError("ties: these results have no report of ties; evaluate with ties_report=True")
        return self._ties

    @property
    def weights(self) -> dict[Any, float] | None:
        """How much each query counts in a mean, {query_id: weight}; None: 1 for all. Do not change it."""
        return self._weights

    def per_query(self, name: str | None = None) -> dict[str, float]:
        """The values of one metric: {query_id: value}; NaN where ``empty=skip`` left a query out.

        The name may be left out where one metric was evaluated.

        Raises
        ------
        KeyError
            The metric was not evaluated, or not in this spelling.
        TypeError
            No name, and not one metric.
        """
        name = self._only_name("per_query(name)") if name is None else name
        return dict(zip(self._query_ids, self._values[:, self._column(name)].tolist(), strict=True))

    def __float__(self) -> float:
        """The mean of the only metric."""
        return self[self._only_name("results[name]")]

    def _only_name(self, call: str) -> str:
        if len(self._names) != 1:
            raise TypeError(f"there are {len(self._names)} metrics, {', '.join(self._names)}: {call} reads one")
        return self._names[0]

    def __getattr__(self, name: str) -> Any:  # of names that the class does not have
        base = f"'Results' object has no attribute {name!r}"
        if name.startswith("_"):
            raise AttributeError(base, name=name, obj=self)
        from fastir.request.habits import RESULTS, hint

        raise AttributeError(base + hint(name, RESULTS), name=name, obj=self)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """All values as new dicts of Python floats: {query_id: {name: value}}."""
        return row_dicts(self._query_ids, dict.fromkeys(self._names, 0.0), self._names, self._values)

    def by_segment(self, segments: Mapping[Any, Hashable]) -> ResultsBySegment[Results]:
        """The results of each segment of the queries, such as short and long ones.

        A metric that is a quotient of two means, as psp is, takes both means over the segment.

        Parameters
        ----------
        segments : mapping of query_id to segment
            Every query of these results must have one; other queries are ignored.

        Returns
        -------
        ResultsBySegment
            {segment: Results}, in the order of each segment's first query. Each has the `report` of all queries.

        Raises
        ------
        ValueError
            A query has no segment. Or a metric is a quotient of two means, and these results were saved, sent or put
            together: they do not have the divisors of its values.
        TypeError
            `segments` is not a mapping, or a segment is not hashable.

        Examples
        --------
        >>> import fastir
        >>> qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
        >>> run = {"q1": {"a": 1.0}, "q2": {"b": 2.0, "a": 1.0}, "q3": {"a": 1.0}}
        >>> fastir.evaluate(qrels, run, "mrr").by_segment({"q1": "short", "q2": "long", "q3": "short"})
        segment     mrr
        short    1.0000
        long     0.5000
        micro    0.8333
        macro    0.7500
        """
        from fastir.data.results.tables import ResultsBySegment
        from fastir.engine.columns.rows import occurrences

        segments = mapping("segments", segments, "map query ids to segments")
        missing = next((query_id for query_id in self._query_ids if query_id not in segments), None)
        if missing is not None:
            raise ValueError(f"segments: query {missing!r} has no segment")
        of_query = list(map(segments.__getitem__, self._query_ids))
        places = {segment: place for place, segment in enumerate(dict.fromkeys(of_query))}
        of_row = np.fromiter(map(places.__getitem__, of_query), np.int64, len(of_query))
        order = np.argsort(of_row, kind="stable")
        rows = np.split(order, np.cumsum(occurrences(of_row))[:-1])
        return ResultsBySegment(self, {segment: self._segment(rows[place]) for segment, place in places.items()})

    def _segment(self, rows: np.ndarray) -> Results:
        """Results of some of the queries, as if there were no others."""
        segment, divided = select_rows(self, rows, self._query_ids), quotients_of_means(self)
        if not divided:
            return segment
        values = segment.values.copy()
        for name in divided:
            values[:, self._column(name)] *= scaling_factor(self, name, rows)
        return remake(segment, values)

    def interval(
        self,
        metric: str,
        method: Method = "percentile",
        confidence: float = 0.95,
        *,
        n_resamples: SupportsIndex = N_RESAMPLES,
        random_state: SupportsIndex = 0,
        n_threads: SupportsIndex | None = None,
        clusters: Mapping[Any, Hashable] | None = None,
    ) -> MeanInterval:
        """The confidence interval of a mean, as an estimate for all queries of this kind.

        Parameters
        ----------
        metric : str
        method : {"percentile", "bca", "t"}
            "percentile" and "bca": the bootstrap over the queries; or Student's "t".
        confidence : float
        n_resamples, random_state, n_threads
            As for `stats.bootstrap_interval`.
        clusters : mapping of query_id to cluster, or None
            Queries of one cluster, such as repeats of one question, are not independent: whole clusters are drawn, and
            "t" has their standard error and G - 1 degrees of freedom for G clusters, as `stats.t_interval`.

        Returns
        -------
        MeanInterval
            A named pair, low and high. **Undefined** (NaN) if the mean has fewer than two values, or clusters. NaN
            values are treated as in the mean: left out, but with ``empty="nan"`` one of them makes the interval NaN. If
            all values are equal, both bounds are the mean.

        Raises
        ------
        KeyError
            The metric was not evaluated.
        ValueError
            The metric is a sum over the queries, such as num_ret; a value is infinite; a query has no cluster; an
            argument has an invalid value.
        TypeError
            An argument has the wrong type.
        ImportError
            SciPy, which "bca" needs, is not installed.

        Warns
        -----
        FastirWarning
            Each cluster has one query; or there are no clusters, and ids look like repeats of questions (q1_0, q1_1).

        Notes
        -----
        With weights, queries are drawn together with their weights, and each resample has its weighted mean; "t" uses
        the standard error of a ratio (Cochran 1977, 6.9). Queries of weight 0 are left out. The interval of a geometric
        mean is computed on the logarithms. To compare two runs on the same queries use `compare`: the interval of their
        difference is narrower than the two intervals suggest.

        Examples
        --------
        >>> import fastir
        >>> qrels = {f"q{i}": {"a": 1} for i in range(8)}
        >>> run = {f"q{i}": {"a": 1.0, "b": 2.0 * (i > 4)} for i in range(8)}
        >>> results = fastir.evaluate(qrels, run, "mrr")
        >>> results["mrr"], results.interval("mrr")
        (0.8125, MeanInterval(low=0.625, high=0.9375))
        """
        from fastir.data.results.statistics import IntervalOptions, mean_interval

        options = IntervalOptions(method, confidence, n_resamples, random_state, n_threads, clusters)
        return mean_interval(self, metric, options.check())

    def statistic(self, metric: str, statistic: Statistic | float | Callable[[np.ndarray], float]) -> float:
        """A statistic of the queries' values other than the mean.

        Parameters
        ----------
        metric : str
            Any evaluated metric, including sums over the queries.
        statistic : {"median", "share_zero", "geometric"}, float, or function
            A float from 0 to 1 is a quantile, interpolated as by `numpy.quantile`. "share_zero": the fraction of
            queries with the value 0. "geometric": the geometric mean, which is 0 if any value is 0. A function gets the
            values as a new float64 array, in the order of the queries, and returns a number.

        Returns
        -------
        float
            **Undefined** (NaN) if there is no value. NaN values are treated as in the mean: left out, but with
            ``empty="nan"`` one of them makes the statistic NaN.

        Raises
        ------
        KeyError
            The metric was not evaluated.
        ValueError
            The statistic does not exist; a value is negative, so that there is no geometric mean; or `statistic` is a
            function and the results have weights, which it would not see.
        TypeError
            `statistic` has the wrong type, or the function does not return a number.

        Notes
        -----
        With weights, a quantile is the smallest value at or below which that fraction of the weight lies, without
        interpolation; fractions and geometric means are weighted.

        Examples
        --------
        >>> import fastir
        >>> qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
        >>> run = {"q1": {"a": 1.0}, "q2": {"b": 2.0, "a": 1.0}, "q3": {"a": 1.0}}
        >>> results = fastir.evaluate(qrels, run, "mrr")
        >>> results.statistic("mrr", "median"), results.statistic("mrr", 0.25), results.statistic("mrr", min)
        (1.0, 0.75, 0.5)
        """
        from fastir.data.results.statistics import compute_statistic

        return compute_statistic(self, metric, statistic)

    def diff(self, other: Results, metric: str, top: int = 20) -> ResultsDiff:
        """The queries that gain and lose against other results, such as another run's.

        Parameters
        ----------
        other : Results
        metric : str
            A metric that both have.
        top : int
            How many gains and how many losses to list, the largest first.

        Returns
        -------
        ResultsDiff
            Prints as a table; its counts cover all queries that both have. `Evaluator.explain` and `Explanation.diff`
            show which documents make the difference on one query.

        Raises
        ------
        KeyError
            The metric is missing from one of the two.
        TypeError, ValueError
            `other` is not a Results; no query is in both; or `top` is not a positive int.

        Examples
        --------
        >>> import fastir
        >>> qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
        >>> old = fastir.evaluate(qrels, {"q1": {"a": 1.0}, "q2": {"b": 2.0, "a": 1.0}, "q3": {"a": 1.0}}, "mrr")
        >>> new = fastir.evaluate(qrels, {"q1": {"a": 1.0}, "q2": {"a": 1.0}, "q3": {"a": 1.0}}, "mrr")
        >>> new.diff(old, "mrr")
        mrr: 1.0000 against 0.8333, +0.1667; 1 gained, 2 equal, 0 lost
        query_id   value     old   change
        q2        1.0000  0.5000  +0.5000
        """
        from fastir.data.results.changes import diff_values
        from fastir.request.directions import higher_is_better

        if not isinstance(other, Results):
            raise TypeError(f"diff: the other must be Results, got {type(other).__name__}")

        def mean_over(results: Results, kept: set[Any]) -> float:
            return select_rows(results, [row for row, each in enumerate(results.query_ids) if each in kept])[metric]

        def means(kept: set[Any]) -> tuple[float, float]:
            return mean_over(self, kept), mean_over(other, kept)

        here, there = self.per_query(metric), other.per_query(metric)
        return diff_values(metric, here, there, top, means, higher_is_better(metric))

    # ---- as text and files ---------------------------------------------------------------------------------------
    def save(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write these results to a file (atomically).

        Parameters
        ----------
        path : str or path
            ``.json``, ``.tsv`` and ``.parquet`` hold everything (values, statuses, report and provenance), and `load`
            reads them back. ``.json``: the output of `to_json`. ``.tsv``: a line per query under the header
            ``query_id`` and the metric names; a first line that begins with ``# fastir`` says where the numbers come
            from. ``.parquet`` (needs pyarrow): the same table, with that line in its metadata. ``.txt``, ``.md``,
            ``.html``, ``.tex``, ``.csv``: the output of `to_table`.
        **options
            The arguments of `to_table`.

        Raises
        ------
        ValueError
            The path has another suffix, or names a file that was evaluated; or a query id is not UTF-8, which Parquet
            cannot hold.
        FastirError
            pyarrow is not installed.
        OSError
            The file cannot be written; its old content stays.
        """
        from fastir.data.results.saved import write_results
        from fastir.data.results.saved_files import save
        from fastir.request.provenance import paths_of_inputs

        refuse_inputs(path, paths_of_inputs(self.provenance))
        save(path, "results", lambda path: write_results(path, self), self.to_table, **options)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Results:
        """Read what `save` wrote, as an equal object; see `load_results`."""
        from fastir.data.results.saved_files import read

        return restore_results(*read(path, "results of one run", "results"))

    def to_table(
        self,
        format: str = "text",
        *,
        per_query: bool = False,
        interval: Method | None = None,
        confidence: float = 0.95,
        digits: int = 4,
        transpose: bool = False,
        caption: str | None = None,
        label: str | None = None,
        formulas: bool = False,
    ) -> str:
        """A table to print: a row per metric with its mean, or a row per query with the means below.

        Parameters
        ----------
        per_query : bool
        interval, confidence
            The `method` and `confidence` of `interval`. The intervals follow the means; CSV has them in the columns low
            and high, and with `per_query` they are rows below the means. None: no intervals.
        format, digits, transpose, caption, label, formulas
            As for `ResultsTable.to_table`.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            An argument has an invalid value.
        """
        view: dict[str, Any] = {"per_query": per_query}
        if interval is not None:
            from fastir.data.results.statistics import interval_options

            view |= {"interval": interval_options(interval, confidence), "columns": format == "csv"}
        return self._rendered(self._table, format, digits, transpose, caption, label, formulas, **view)

    def to_json(self, per_query: bool = True, interval: Method | None = None, confidence: float = 0.95) -> str:
        """Everything as JSON, in ASCII, with null for NaN; numbers read back exactly.

        Parameters
        ----------
        per_query : bool
            Whether to add the values of every query.
        interval, confidence
            Add intervals with this `method` and `confidence` (see `interval`); None: no intervals.

        Returns
        -------
        str
        """
        from fastir.data.results.saved_files import json_document
        from fastir.data.results.statistics import interval_options

        return json_document(self._json(per_query, interval_options(interval, confidence)))

    def _columns(self) -> dict[str, Any]:
        return {"query_id": self.query_ids, **dict(zip(self._names, self._values.T, strict=True))}

    def _table(
        self, digits: int = 4, per_query: bool = False, interval: IntervalOptions | None = None, columns: bool = False
    ) -> Table:
        def cells(row: Iterable[float]) -> list[Cell]:
            pairs = zip(row, self._aggregates, strict=True)
            return [rendering.Cell(round_text(value, how, digits), exact=repr(value)) for value, how in pairs]

        means = cells(self[name] for name in self._names)
        if per_query:
            head = ["query_id", *self._names]
            rows = [
                [rendering.Cell(str(query)), *cells(row)]
                for query, row in zip(self._query_ids, self._values.tolist(), strict=True)
            ]
            rows.append([rendering.Cell("mean"), *means])
        else:
            head = ["metric", "mean"]
            rows = [[rendering.Cell(name), mean] for name, mean in zip(self._names, means, strict=True)]
        table = rendering.Table(head, rows, 1, self._footer().splitlines())
        if interval is None:
            return table
        from fastir.data.results.statistics import add_intervals, interval_rows, mean_intervals

        intervals = list(mean_intervals(self, interval).values())
        if not per_query:
            return add_intervals(table, [[each] for each in intervals], interval, digits, columns)
        rows += ([rendering.Cell(end), *bounds] for end, bounds in interval_rows(intervals, digits).items())
        return table._replace(notes=[*table.notes, str(interval)])

    def _json(self, per_query: bool = True, interval: IntervalOptions | None = None) -> dict[str, Any]:
        from fastir.data.results.saved import body_of_results, matrix_of_results, results_json

        data = results_json(self, matrix_of_results(self)) if per_query else body_of_results(self)
        if interval is not None:
            from fastir.data.results.statistics import intervals_as_json

            data["intervals"] = intervals_as_json(self, interval)
        return data

    def _array(self) -> np.ndarray:
        return self._values

    def __repr__(self) -> str:
        means = [(printable(name), round_text(self[name], how)) for name, how in self.aggregates.items()]
        name_width = max((len(name) for name, _ in means), default=0)
        width = max((len(mean) for _, mean in means), default=0)
        footer = map(printable, self._footer().split("\n"))
        lines = [f"{name:<{name_width}}  {mean:>{width}}" for name, mean in means]
        return "\n".join([*filter(None, [self._title()]), *lines, *footer])

    def _title(self) -> str:
        """How many queries have no relevant document; nothing if all have one."""
        n, of = count_without_relevant(self), counted(len(self._query_ids), "query", "queries")
        return f"{n} of {of} {'has' if n == 1 else 'have'} no relevant document" if n else ""

    def _footer(self) -> str:
        convention = self.convention_text()
        release = self.convention.release if convention else ""
        codes = self._status_codes.tolist()
        words = ("", "missing", self._without_relevant() if 2 in codes else "")
        notes = [f"{codes.count(code)} {words[code]}" for code in (1, 2) if code in codes]
        queries = counted(len(codes), "query", "queries")
        coverage = f"{queries} ({', '.join(notes)})" if notes else queries
        if micro := denominators_of(self):
            coverage += f"\nmicro averages: {', '.join(micro)}"
        version = f" ({release})" if release and self.convention.name != "fastir" else ""
        return f"{coverage}\nconvention {convention}{version}" if convention else coverage

    def _without_relevant(self) -> str:
        """Describe what is missing from a query with the status "no_relevant", at the level of all metrics."""
        from fastir.request.names import is_metric, read

        level = self.provenance.options.get("rel_level", 1) if self.provenance else 1
        levels = {request.level for name in self._names if is_metric(name) for request in read(name)} - {None, level}
        return f"without documents of label {level:g} or more" if levels else "without relevant documents"

    # ---- equality, pickling ------------------------------------------------------------------------------------
    def __eq__(self, other: object) -> bool:
        """Same queries, metrics, values and statuses; NaN equals NaN. Any other mapping is compared with the means."""
        if isinstance(other, Mapping):
            return dict(self) == dict(other)
        return super().__eq__(other)

    __hash__: ClassVar[None] = None

    def _state(self) -> tuple[Any, ...]:
        return self.query_ids, self.aggregates, self.names, self._values, self._status_codes, self._weights

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (self._query_ids, self._names, self._values, self._status_codes, self._aggregates, self.report)
        kept = {name: getattr(self, name) for name in ("_denominators", "_ties") if hasattr(self, name)}
        return Results, (*fields, self._weights, self.provenance), (None, kept) if kept else None


def remake(results: Results, values: np.ndarray, **fields: Any) -> Results:
    """Results with other values, and other fields of these: query_ids, names, status_codes, aggregates, provenance."""
    same = {
        "query_ids": results.query_ids,
        "names": results.names,
        "status_codes": status_codes(results),
        "aggregates": list(results.aggregates.values()),
        "report": lambda: results.report,
        "weights": results.weights,
        "provenance": lambda: results.provenance,
    }
    return set_denominators(Results(values=values, **(same | fields)), denominators_of(results))


def select_rows(results: Results, rows: list[int] | np.ndarray, query_ids: Sequence[Any] | None = None) -> Results:
    """Results of some of the queries; `query_ids` are those of the results, of which each reading is a new list."""
    ids, codes = query_ids or results.query_ids, status_codes(results)[rows]
    some_ids = list(map(ids.__getitem__, np.asarray(rows).tolist()))
    some = remake(results, results.values[rows], query_ids=some_ids, status_codes=codes)
    set_denominators(some, {name: each[rows] for name, each in denominators_of(results).items()})
    if (ties := getattr(results, "_ties", None)) is not None:
        set_ties(some, ties.values[rows], ties.groups[rows])
    return some


def denominators_of(results: Results) -> dict[str, np.ndarray]:
    """{metric: its denominator of each query} of the micro averages."""
    return getattr(results, "_denominators", {})


def set_denominators(results: Results, denominators: dict[str, np.ndarray]) -> Results:
    """Say what micro averages divide by; returns the Results."""
    if denominators:
        results._denominators = denominators
    return results


def best_of(results: Results) -> dict[str, np.ndarray]:
    """What `set_best` said; empty if it was not called."""
    return getattr(results, "_best", {})


def set_best(results: Results, best: dict[str, np.ndarray]) -> Results:
    """Say by the means of what, for each query, metrics that divide by means were divided; returns the Results."""
    results._best = best
    return results


def set_ties(results: Results, values: np.ndarray, groups: np.ndarray) -> Results:
    """Give the Results their report of ties, of what a TieReport has of each query; returns the Results."""
    from fastir.data.results.ties import TieRange, TieReport

    means = [remake(results, np.ascontiguousarray(values[:, :, place])) for place in range(3)]
    no_closed_form = (np.isnan(values[:, :, 0]) & ~np.isnan(values[:, :, 1])).any(0).tolist()
    n_queries = (values[:, :, 2] > values[:, :, 1]).sum(0).tolist()
    ranges = []
    for column, name in enumerate(results.names):
        expected, lowest, highest = (each[name] for each in means)
        expected = math.nan if no_closed_form[column] else expected
        bias, apart, largest = results[name] - expected, highest - lowest, int(groups.max(initial=1))
        ranges.append(TieRange(name, expected, lowest, highest, apart, bias, n_queries[column], largest))
    results._ties = TieReport(ranges, results.query_ids, values, results.values - values[:, :, 0], groups)
    return results


def means_of(results: Results, columns: slice) -> np.ndarray:
    """``results[name]`` of neighbouring metrics; together, which is faster where there are many of them."""
    names, n = results.names[columns], len(results.values)
    hows = set(map(results.aggregates.__getitem__, names))
    sums = [math.nan] * len(names)
    if n and results.weights is None and hows == {"mean"}:
        sums = sums_of_few(results.values[:, columns])
    return np.array([total / n if total == total else results[name] for name, total in zip(names, sums, strict=True)])


def count_without_relevant(results: Results) -> int:
    """How many queries have no relevant document."""
    return status_codes(results).tolist().count(STATUS_CODES["no_relevant"])


def quotients_of_means(results: Results) -> list[str]:
    """The metrics that are quotients of two means over the queries."""
    meanings = results.provenance.metrics if results.provenance else {}
    return [name for name in results.names if re.split(r"\W", meanings.get(name, ""), maxsplit=1)[0] in BY_MEANS]


def scaling_factor(results: Results, name: str, rows: list[int] | np.ndarray) -> float:
    """The factor of a quotient's values where only the queries of these rows count."""
    whole, own = divisor(results, name), divisor(results, name, rows)
    if whole is None or own is None:
        raise ValueError(
            f"metric {quote(name)} is a quotient of two means over the queries, and saved results lack what its "
            "values were divided by; evaluate these queries alone, or take the results before saving"
        )
    return whole / own if own > 0 else 0.0


def divisor(results: Results, name: str, rows: Any = slice(None)) -> float | None:
    """What the values of a quotient of means are divided by where these queries count; None of other metrics."""
    best = best_of(results).get(name)
    if best is None:
        return None
    some = best[rows].tolist()
    return math.fsum(some) / len(some) if some else 0.0


def restore_results(
    path: str, head: Mapping[str, Any], body: Mapping[str, Any] | None, table: dict[str, list[Any]]
) -> Results:
    """The Results of a part of a saved file."""
    from fastir.data.results.saved import check_means, results_fields, saved_denominators, saved_ties
    from fastir.data.results.saved_files import convert_errors

    with convert_errors(path, "results"):
        results = Results(*results_fields(path, head, body, table))
        set_denominators(results, saved_denominators(head, results))
        if "ties" in head:
            set_ties(results, *saved_ties(head["ties"], results))
        check_means(path, results, body)
        return results
