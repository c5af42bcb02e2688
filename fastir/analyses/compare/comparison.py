"""Comparison: the result of `compare` and `compare_scores`, as records, as a table, or saved to a file."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from fastir.analyses.compare.records import Method, Pair, System
from fastir.analyses.compare.tables import default_level, fold_pairs, pairs_table, runs_table, table_by_segment
from fastir.checks import check_choice
from fastir.data.results.changes import diff_values
from fastir.data.results.exportable import Exportable, columns_from_records, result_json, table_from_columns
from fastir.data.results.saved_files import convert_errors, read, save, write
from fastir.errors import quote
from fastir.rendering import render
from fastir.rendering.text import json_types, refuse_inputs
from fastir.request.custom import CustomMetric, restore_metric
from fastir.request.directions import higher_is_better

if TYPE_CHECKING:
    import numpy as np
    import pandas

    from fastir.analyses.compare.records import Mean, Method, System, Verdict
    from fastir.analyses.compare.segments import Macro
    from fastir.data.results.changes import ResultsDiff
    from fastir.rendering import Table
    from fastir.stats import Anova

    Conclusion: TypeAlias = tuple[Sequence[Verdict | Pair], Sequence[Mean | System], Method]


class Records(list[Any]):
    """A list of Pair or System, which a notebook shows as a table."""

    def __init__(self, records: Sequence[Any], method: Method) -> None:
        super().__init__(records)
        self.method = method

    def _repr_html_(self) -> str:
        if self and isinstance(self[0], Pair):
            return render(pairs_table(self, self.method, 4, default_level(self.method)), "html")
        return render(table_from_columns(columns_from_records(System._fields, self), 4), "html")


class Comparison(Exportable):
    """Runs compared pair by pair; the results of a t test are computed when they are first read.

    Attributes
    ----------
    runs : list
        The names, in the caller's order.
    metrics : list of str
    pairs : list of Pair
        Metric by metric; within a metric all pairs in the order of the runs, or every run against each baseline.
    systems : list of System
        Metric by metric, then run by run.
    verdicts : list of Verdict or Pair
    means : list of Mean or System
        The same pairs and systems, readable without computing their intervals.
    method : Method
    query_ids : list
        The compared queries, sorted by the text of their ids.
    values : float64 array of shape (n_metrics, n_queries, n_runs)
        The compared values, read-only; averaged over the seeds of a run.
    segments : dict of segment to Comparison
        The comparison of each segment of the queries by itself; empty without ``segments``.
    inputs : tuple of str
        The paths of the files that were read, which `save` does not write over; they are not saved.
    """

    inputs: tuple[str, ...] = ()

    def __init__(
        self,
        runs: list[Any],
        metrics: list[str],
        query_ids: list[Any],
        values: np.ndarray,
        conclude: Callable[[], Conclusion],
        make_pairs: Callable[[], list[Pair]],
        make_systems: Callable[[], list[System]],
        segments: dict[Any, Comparison] | None = None,
    ) -> None:
        """Each function runs when its output is first read: p-values and bounds may take long.

        `conclude` returns the verdicts, the means and the method.
        """
        values.flags.writeable = False
        self.runs = runs
        self.metrics = metrics
        self.query_ids = query_ids
        self.values = values
        self.segments: dict[Any, Comparison] = segments or {}
        self._conclude = conclude
        self._make_pairs = make_pairs
        self._make_systems = make_systems

    @cached_property
    def _conclusion(self) -> Conclusion:
        return self._conclude()

    @property
    def verdicts(self) -> Sequence[Verdict | Pair]:
        return self._conclusion[0]

    @property
    def means(self) -> Sequence[Mean | System]:
        return self._conclusion[1]

    @property
    def method(self) -> Method:
        return self._conclusion[2]

    @cached_property
    def pairs(self) -> list[Pair]:
        return Records(self._make_pairs(), self.method)

    @cached_property
    def systems(self) -> list[System]:
        return Records(self._make_systems(), self.method)

    @cached_property
    def macro(self) -> Macro:
        """The means over the segments, each of equal weight; empty without segments."""
        from fastir.analyses.compare.segments import macro_means

        values = [part.values for part in self.segments.values()]
        return macro_means(self.runs, self.metrics, self.pairs, values, self.method.confidence)

    def __getstate__(self) -> dict[str, Any]:
        made = {"_conclusion": self._conclusion, "pairs": self.pairs, "systems": self.systems}
        return {**self.__dict__, **made, "inputs": (), "_conclude": None, "_make_pairs": None, "_make_systems": None}

    @property
    def higher_is_better(self) -> dict[str, bool | None]:
        """Which values of each metric are better: {metric: True, False or None}.

        As the card of the metric (`fastir.metrics`) or the custom metric says; None: neither. True for other names.
        """
        return {metric: higher_is_better(metric) for metric in self.metrics}

    def anova(self) -> dict[str, Anova]:
        """The two-way analysis of variance of each metric: do the runs differ at all?

        Raises
        ------
        ValueError
            There are fewer than two runs; or, for some metric, fewer than two queries on which all runs have a value.
        """
        import numpy as np

        from fastir.stats import two_way_anova

        return {
            metric: two_way_anova(values[~np.isnan(values).any(axis=1)])
            for metric, values in zip(self.metrics, self.values, strict=True)
        }

    @property
    def per_query(self) -> dict[Hashable, dict[str, dict[Any, float]]]:
        """The values as {run: {metric: {query_id: value}}}, which `compare_scores` takes."""
        columns = self.values.transpose(2, 0, 1).tolist()
        return {
            run: {
                metric: dict(zip(self.query_ids, values, strict=True))
                for metric, values in zip(self.metrics, rows, strict=True)
            }
            for run, rows in zip(self.runs, columns, strict=True)
        }

    # ---- as text and files -----------------------------------------------------------------------------------------
    def to_table(
        self,
        format: str = "text",
        *,
        rows: str = "runs",
        transpose: bool = False,
        intervals: bool = False,
        digits: int = 4,
        alpha: float | None = None,
        caption: str | None = None,
        label: str | None = None,
        formulas: bool = False,
    ) -> str:
        """A table to print; with segments, it has each segment, all queries, and the means over the segments.

        Parameters
        ----------
        format, transpose, digits, caption, label, formulas
            As for every table of fastir (`ResultsTable`).
        rows : {"runs", "pairs"}
            "runs": a row for each run with its means. The best means are bold. Raised letters (numbers from 26 runs up)
            name the runs that a run is significantly better than. Both are left out for a metric of which neither
            larger nor smaller values are better. "pairs": a row for each pair and metric, with the difference, its
            interval, p-values, effect size, and wins, ties and losses.
        intervals : bool
            Whether to show the interval of each mean.
        alpha : float or None
            A difference is significant if its corrected p-value is at most this; None: 1 - confidence.

        Raises
        ------
        ValueError
            An argument has an invalid value.
        """
        check_choice("rows", rows, ("runs", "pairs"))
        view = {"rows": rows, "intervals": intervals, "alpha": alpha}
        table: Callable[..., Table] = self._table
        if rows == "pairs" and format == "text" and not transpose:
            table = lambda *digits, **view: fold_pairs(self._table(*digits, **view))  # noqa: E731
        return self._rendered(table, format, digits, transpose, caption, label, formulas, **view)

    def _table(self, digits: int = 4, rows: str = "runs", intervals: bool = False, alpha: float | None = None) -> Table:
        level = default_level(self.method) if alpha is None else alpha

        def part_table(part: Comparison) -> Table:
            if rows == "pairs":
                return pairs_table(part.pairs, part.method, digits, level)
            systems = part.systems if intervals else ()
            return runs_table(part.means, part.verdicts, systems, part.method, digits, level)

        table = part_table(self)
        if self.segments:
            systems, pairs = self.macro
            macro = (
                pairs_table(pairs, self.method, digits, level)
                if rows == "pairs"
                else runs_table(systems, (), systems if intervals else (), self.method, digits, level)
            )
            tables = {segment: part_table(part) for segment, part in self.segments.items()}
            table = table_by_segment(tables, table, macro, [part.method for part in (*self.segments.values(), self)])
        return table

    def _columns(self) -> dict[str, list[Any]]:
        return columns_from_records(Pair._fields, self.pairs)

    def _array(self) -> np.ndarray:
        return self.values

    def _state(self) -> dict[str, Any]:
        return self._json()

    def _json(self, per_query: bool = True) -> dict[str, Any]:
        data: dict[str, Any] = {
            "runs": self.runs,
            "metrics": self.metrics,
            "systems": [system._asdict() for system in self.systems],
            "pairs": [pair._asdict() for pair in self.pairs],
            "method": {**self.method._asdict(), "baseline": list(self.method.baseline)},
        }
        if custom := {metric: metric.meaning() for metric in self.metrics if isinstance(metric, CustomMetric)}:
            data["own_metrics"] = custom
        if per_query:
            data["query_ids"], data["per_query"] = self.query_ids, self.per_query
        if self.segments:
            data["segments"] = [
                {"segment": segment, **part._json(per_query)} for segment, part in self.segments.items()
            ]
            data["macro"] = {name: [record._asdict() for record in rows] for name, rows in self.macro._asdict().items()}
        return json_types(data)

    def to_pandas(self, rows: str = "pairs") -> pandas.DataFrame:
        """The records as a new frame: a row for each `Pair` ("pairs") or each `System` ("runs"), a column per field.

        Raises
        ------
        ImportError
            pandas is not installed.
        ValueError
            `rows` has another value.
        """
        import pandas

        check_choice("rows", rows, ("runs", "pairs"))
        return pandas.DataFrame(self.systems if rows == "runs" else self.pairs)

    def save(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write a file (atomically), in the format that the suffix of its path names.

        ``.json``, ``.tsv`` and ``.parquet`` hold everything, and `load` reads them back. ``.json``: the output of
        `to_json`, with the values of every query. ``.tsv`` and ``.parquet`` (needs pyarrow): a row for each pair with
        exact numbers; the rest is in the first line or in the metadata. ``.txt``, ``.md``, ``.html``, ``.tex``,
        ``.csv``: the output of `to_table`, which takes the `options`. For pictures use
        ``fastir.plots.overview(comparison).savefig(path)``.

        Raises
        ------
        ValueError
            The path has a suffix that is not listed above, or is a file that was compared.
        FastirError
            pyarrow is not installed.
        OSError
            The file cannot be written; its old content stays.
        """
        refuse_inputs(path, self.inputs)
        save(path, "a comparison", lambda path: write_comparison(path, self), self.to_table, **options)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Comparison:
        """Read what `save` wrote, as an equal object; names of runs are str.

        Raises
        ------
        FormatError
            The file holds something else, or was truncated or changed.
        FastirError
            The file is Parquet, and pyarrow is not installed.
        OSError
            The file cannot be read.
        """
        return Comparison._from_fields(load_fields(path))

    @staticmethod
    def _from_fields(fields: tuple[Any, ...]) -> Comparison:
        """The comparison that was saved as these records; the segments' records are the last."""
        *whole, segments = fields
        by_segment = {segment: Comparison._from_fields(part) for segment, part in segments.items()}
        arguments: tuple[Any, ...] = *whole, by_segment
        return Comparison(*arguments)

    def diff(self, a: Hashable, b: Hashable, metric: str, top: int = 20) -> ResultsDiff:
        """The queries on which one run gains and loses against another.

        Parameters
        ----------
        a, b : name of a run
            The changes are from b to a.
        metric : str
        top : int
            How many gains and how many losses to list, the largest first.

        Returns
        -------
        ResultsDiff
            Prints as a table; its counts cover all queries on which both runs have a value.

        Raises
        ------
        KeyError
            A run or the metric was not compared.
        TypeError, ValueError
            `top` is not a positive int.
        """
        for name, compared in ((a, self.runs), (b, self.runs), (metric, self.metrics)):
            if name not in compared:
                raise KeyError(f"{quote(name)} was not compared; there are {', '.join(map(repr, compared))}")
        here, there = self._per_query(a, metric), self._per_query(b, metric)

        def means(kept: set[Any]) -> tuple[float, float]:
            return mean_over(here, kept), mean_over(there, kept)

        return diff_values(metric, here, there, top, means, self.higher_is_better[metric])

    def _per_query(self, run: Hashable, metric: str) -> dict[Any, float]:
        """{query_id: value} of a run on a metric."""
        values = self.values[self.metrics.index(metric), :, self.runs.index(run)]
        return dict(zip(self.query_ids, values.tolist(), strict=True))


def mean_over(values: dict[Any, float], kept: set[Any]) -> float:
    """The mean over some of the queries, NaN for none."""
    return math.fsum(values[query_id] for query_id in kept) / len(kept) if kept else math.nan


# ---- comparisons in files that read back to an equal object ----------------------------------------------------------
KIND = "comparison"
READERS: dict[str, Callable[[Any], Any]] = {
    "float": lambda value: math.nan if value is None else float(value),
    "int": int,
    "bool": lambda value: value if isinstance(value, bool) else {"True": True, "False": False}[value],
}


def write_comparison(path: str | os.PathLike[str], comparison: Any) -> None:
    """Write all of a comparison; see `Comparison.save`."""
    whole = result_json(comparison)
    head = {KIND: {name: value for name, value in whole.items() if name != "pairs"}}

    def table() -> dict[str, list[Any]]:
        columns = {field: [getattr(pair, field) for pair in comparison.pairs] for field in Pair._fields}
        return {**columns, "a": list(map(str, columns["a"])), "b": list(map(str, columns["b"]))}

    write(path, KIND, {} if os.fsdecode(path).lower().endswith(".json") else head, lambda: whole, table)


def load_fields(path: str | os.PathLike[str]) -> tuple[Any, ...]:
    """Read what a Comparison is made from; see `Comparison.load`."""
    path, head, body, table = read(path, "a comparison", KIND)
    with convert_errors(path, KIND):
        data = body if body is not None else head[KIND]
        rows = (
            data["pairs"]
            if body is not None
            else [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
        )
        return comparison_fields(data, rows)


def comparison_fields(data: dict[str, Any], rows: list[dict[str, Any]]) -> tuple[Any, ...]:
    """The fields of a Comparison, from the pairs and the rest of `Comparison.to_json`."""
    import numpy as np

    custom = {name: restore_metric(name, meaning) for name, meaning in data.get("own_metrics", {}).items()}
    runs, values = data["runs"], data["per_query"]
    metrics = [custom.get(metric, metric) for metric in data["metrics"]]
    query_ids = data["query_ids"]
    matrix = [
        [[READERS["float"](values[run][metric][str(query_id)]) for run in runs] for query_id in query_ids]
        for metric in metrics
    ]
    method = record(Method, {**data["method"], "baseline": tuple(data["method"]["baseline"])})
    pairs, systems = (
        [record(kind, {**row, "metric": custom.get(row["metric"], row["metric"])}) for row in records]
        for kind, records in ((Pair, rows), (System, data["systems"]))
    )
    return (
        runs,
        metrics,
        query_ids,
        np.array(matrix, np.float64).reshape(len(metrics), len(query_ids), len(runs)),
        lambda: (pairs, systems, method),
        lambda: pairs,
        lambda: systems,
        {part["segment"]: comparison_fields(part, part["pairs"]) for part in data.get("segments", [])},
    )


def record(kind: Any, row: dict[str, Any]) -> Any:
    """A Pair, System or Method of the values of its fields."""
    if set(row) != set(kind._fields):
        raise ValueError(f"a {kind.__name__} has the fields {', '.join(kind._fields)}")
    return kind(**{name: READERS.get(kind.__annotations__[name].__forward_arg__, identity)(row[name]) for name in row})


def identity(value: Any) -> Any:
    return value
