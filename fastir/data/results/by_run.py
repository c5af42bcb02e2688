"""Results by the name of the run (of `evaluate_many`) or of the convention (of `JudgedRankings.by_convention`)."""

from __future__ import annotations

import itertools
import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.data.results.exportable import frame_from_columns, result_json, result_title
from fastir.data.results.results import Results, count_without_relevant, restore_results
from fastir.data.results.saved import QUERY_COLUMN, head_of_results, table_of_results
from fastir.data.results.saved_files import KEY, ColumnDict, convert_errors, file_head, read, save, write
from fastir.data.results.tables import ResultsTable, objects
from fastir.engine.columns.rows import repeat
from fastir.errors import quote
from fastir.rendering.text import json_types, refuse_inputs
from fastir.request.directions import best_mean
from fastir.request.provenance import paths_of_inputs

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from fastir.data.results.statistics import IntervalOptions, Method
    from fastir.rendering import Table
KIND_BY_RUN = "results by run"  # the kind of a file that holds them
RUN_COLUMN = "run"  # the first column of its table


class ResultsByRun(ResultsTable[Results]):
    """The result of `evaluate_many`: {name: Results} in the order of the runs; prints as a table of means."""

    __slots__ = ()
    _index = "run"

    def _best(self, metrics: list[str]) -> dict[str, float]:
        if len(self) < 2:
            return {}
        return {metric: best_mean((results[metric] for results in self.values()), metric) for metric in metrics}

    def to_table(
        self,
        format: str = "text",
        *,
        interval: Method | None = None,
        confidence: float = 0.95,
        digits: int = 4,
        transpose: bool = False,
        caption: str | None = None,
        label: str | None = None,
        formulas: bool = False,
    ) -> str:
        """A table to print, with a row per run and its means; parameters and errors as for `Results.to_table`."""
        view: dict[str, Any] = {}
        if interval is not None:
            from fastir.data.results.statistics import interval_options

            view = {"interval": interval_options(interval, confidence), "columns": format == "csv"}
        return self._rendered(self._table, format, digits, transpose, caption, label, formulas, **view)

    def to_json(self, per_query: bool = True, interval: Method | None = None, confidence: float = 0.95) -> str:
        """Everything as JSON; see `Results.to_json`."""
        from fastir.data.results.saved_files import json_document
        from fastir.data.results.statistics import interval_options

        return json_document(self._json(per_query, interval_options(interval, confidence)))

    def _table(self, digits: int = 4, interval: IntervalOptions | None = None, columns: bool = False) -> Table:
        most = max(self.values(), key=count_without_relevant, default=None)
        table = super()._table(digits)._replace(title="" if most is None else result_title(most))
        if interval is None:
            return table
        from fastir.data.results.statistics import add_intervals, mean_intervals

        intervals = [list(mean_intervals(results, interval).values()) for results in self.values()]
        return add_intervals(table, intervals, interval, digits, columns)

    def to_pandas(self, per_query: bool = False) -> pandas.DataFrame:
        """The means of each run, or the values of each query, as a new frame.

        Parameters
        ----------
        per_query : bool
            False: the means, with a row per run (index ``run``) and a column per metric. True: all values, with a row
            for each run, query and metric, and the columns of `to_arrow`.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        return frame_from_columns(self._long()) if per_query else super().to_pandas()

    def to_arrow(self, per_query: bool = False) -> pyarrow.Table:
        """The means of each run, or the values of each query, as an Arrow table.

        Parameters
        ----------
        per_query : bool
            False: the means, with a row per run. True: a row for each run, query and metric, in this order, with the
            columns run (the name; text, unless all names are integers), query_id, metric, and value (float64, NaN where
            the metric is undefined for the query).

        Raises
        ------
        ImportError
            pyarrow is not installed.
        ValueError
            An id is not UTF-8.
        """
        if not per_query:
            return super().to_arrow()
        import pyarrow

        from fastir.engine.columns._arrow_out import export_array

        return pyarrow.Table.from_batches([pyarrow.RecordBatch._import_from_c_capsule(*export_array(self._long()))])

    def _long(self) -> dict[str, np.ndarray]:
        """The columns of a row for each value."""
        parts = [(name, results.query_ids, results.names, results.values) for name, results in self.items()]
        sizes = [values.size for *_, values in parts]
        return {
            "run": repeat(objects([name for name, *_ in parts]), sizes),
            "query_id": join_objects([repeat(objects(queries), len(names)) for _, queries, names, _ in parts]),
            "metric": join_objects([np.tile(objects(names), len(queries)) for _, queries, names, _ in parts]),
            "value": np.concatenate([np.empty(0), *(values.ravel() for *_, values in parts)]),
        }

    def _json(self, per_query: bool = True, interval: IntervalOptions | None = None) -> dict[str, Any]:
        runs = {
            f"{self._index}s": {str(name): result_json(results, per_query, interval) for name, results in self.items()}
        }
        return {KEY: file_head(KIND_BY_RUN, {"runs": {}}), **runs} if per_query else runs

    def save(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the results of all runs to one file (atomically), in the formats and with the errors of `Results.save`.

        `load_results` reads ``.json``, ``.tsv`` and ``.parquet`` back. ``.json``: ``{"runs": {name: the output of
        Results.to_json}}``; the other two: one table with ``run`` as the first column. A name that is not a str is a
        ValueError. `options` are the arguments of `to_table`.
        """
        refuse_inputs(path, [read for results in self.values() for read in paths_of_inputs(results.provenance)])
        save(path, KIND_BY_RUN, self._write, self.to_table, **options)

    def _write(self, path: str) -> None:
        """Write the file that `load_results` reads back."""
        for name in self:
            if not isinstance(name, str):
                raise ValueError(f"cannot save results of the run {quote(name)}: the name must be a str")

        def body() -> dict[str, Any]:
            return super(ResultsByRun, self)._json()

        def table() -> ColumnDict:
            parts: dict[str, list[Any]] = {}
            for name, results in self.items():
                rows = table_of_results(results)
                for column, cells in {RUN_COLUMN: [name] * len(rows[QUERY_COLUMN]), **rows}.items():
                    parts.setdefault(column, []).append(cells)
            return {
                column: list(itertools.chain.from_iterable(cells))
                if column in (RUN_COLUMN, QUERY_COLUMN)
                else np.concatenate(cells)
                for column, cells in parts.items()
            }

        heads = {} if path.lower().endswith(".json") else {n: head_of_results(r) for n, r in self.items()}
        write(path, KIND_BY_RUN, {"runs": heads}, body, table)


def join_objects(arrays: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.empty(0, object), *arrays])


def load_results(path: str | os.PathLike[str]) -> Results | ResultsByRun:
    """Read what `Results.save` or `ResultsByRun.save` wrote, as an equal object.

    Parameters
    ----------
    path : str or path
        A ``.tsv``, ``.json`` or ``.parquet`` file.

    Returns
    -------
    Results or ResultsByRun

    Raises
    ------
    FormatError
        The file holds something else, or was truncated or changed.
    FastirError
        The file is Parquet, and pyarrow is not installed.
    OSError
        The file cannot be read.

    Examples
    --------
    >>> import fastir, os, tempfile
    >>> results = fastir.evaluate({"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}, "mrr")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results.save(os.path.join(folder, "results.json"))
    ...     fastir.load_results(os.path.join(folder, "results.json")) == results
    True
    """
    path, head, body, table = saved = read(path, "results", "results", KIND_BY_RUN)
    if head["kind"] == "results":
        return restore_results(*saved)
    with convert_errors(path, "results"):
        if body is not None:
            return ResultsByRun(
                (name, restore_results(path, part[KEY], part, {})) for name, part in body["runs"].items()
            )
        rows: dict[str, list[int]] = {name: [] for name in head["runs"]}
        for row, name in enumerate(table.pop(RUN_COLUMN)):
            rows[name].append(row)
        tables = {
            name: {key: [cells[row] for row in places] for key, cells in table.items()} for name, places in rows.items()
        }
        return ResultsByRun(
            (name, restore_results(path, head["runs"][name], None, some)) for name, some in tables.items()
        )


# ---- results of one run under many conventions -----------------------------------------------------------------------
class ResultsByConvention(ResultsTable[Results]):
    """{convention: Results} for each convention under which judged rankings have values. Prints as a table of means.

    Attributes
    ----------
    refused : dict of str to dict of str to str
        {convention: {metric: why these rankings do not give its value}}. A convention can be here with some metrics and
        among the Results with the others. Refused metrics are NaN in tables and arrays.
    """

    __slots__ = ("refused",)
    _index = "convention"

    def __init__(self, results: dict[str, Results], refused: dict[str, dict[str, str]]) -> None:
        super().__init__(results)
        self.refused: dict[str, dict[str, str]] = refused

    def _metrics(self) -> dict[str, str]:
        return {name: how for results in self.values() for name, how in results.aggregates.items()}

    def _means(self) -> dict[Any, dict[str, float]]:
        nothing = dict.fromkeys(self._metrics(), math.nan)
        return {name: nothing | means for name, means in super()._means().items()}

    def _table(self, digits: int = 4) -> Table:
        conventions: dict[str, dict[str, None]] = {}
        for convention, by_metric in self.refused.items():
            for why in by_metric.values():
                conventions.setdefault(why.removeprefix(f"convention {convention}: "), {})[convention] = None
        notes = [f"{', '.join(some)}: {why}" for why, some in conventions.items()]
        return super()._table(digits)._replace(notes=notes)

    def _json(self, per_query: bool = True) -> dict[str, Any]:
        return {**super()._json(per_query), "refused": json_types(self.refused)}

    def _state(self) -> Any:
        return self._results, self.refused
