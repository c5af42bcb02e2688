"""What an evaluation returns: one matrix, queries × metrics, read as means, per query, or as a file.

A Results is made at every call and is often asked for one number, so making it keeps what the kernels filled in and
does nothing else: means, statuses, tables and texts are computed when somebody asks. Beside the numbers stands the
Report: how the two sides met and what was repaired on the way, in counts with an example each.
"""

from __future__ import annotations

import contextlib
import errno
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from fastir.measure._codes import STATUS_CODES

if TYPE_CHECKING:
    import decimal
    import os

    import numpy as np
    import pandas

    from fastir.request.conventions import Convention
    from fastir.results.changes import ResultsDiff

STATUSES = tuple(STATUS_CODES)
SUFFIXES = (".tsv", ".json")


class Results:
    """The values of one run, read like a dict: from the metric as the caller typed it to its mean over the queries.

    ``results["ndcg@10"]`` is a float: the exact sum of the queries' values, rounded once, divided by how many there
    are. Metrics that count (``num_ret``, ``num_q``) are not divided; ``gm_map`` and ``gm_bpref`` have their geometric
    mean, rounded once. NaN values are left out, and a mean of none is NaN. With weights, a mean is the sum of weight
    times value, divided by the sum of the weights; counts do not change. A name that was not asked for is a KeyError
    that lists those that were. Made by `evaluate`; immutable, can be pickled. It is no `collections.abc.Mapping`, whose
    `values` is a method: libraries that see one look no further, and would miss that this is a table
    (``polars.DataFrame(results)``, ``pyarrow.table(results)``).

    Parameters
    ----------
    query_ids : sequence of str (int for rankings without ids)
        The queries, in the order of the qrels.
    names : sequence of str
        The metrics as they were asked for, each once.
    values : float64 array of shape (n_queries, n_names)
        NaN where a metric is undefined and its ``empty`` asked for that. Made read-only here.
    status_codes : uint8 array of shape (n_queries,)
        An index into `STATUSES` per query.
    aggregates : sequence of {"mean", "geometric", "sum", "count", "mean_or_nan", "geometric_or_nan"}
        How each metric becomes one number: "sum" and "count" add up, "mean" divides by the number of values,
        "geometric" takes the root of the product; "_or_nan": NaN if one of the values is.
    report : Report, or a function of no arguments that makes it
        The function is called when somebody reads `report`.
    weights : dict of query_id to float, or None
        How much each query counts in a mean; None is 1 for all.
    convention : Convention, or a function of no arguments that makes it, or None
        The function is called when somebody reads `convention`.
    """

    __slots__ = (
        "_aggregates",
        "_convention",
        "_means",
        "_names",
        "_query_ids",
        "_report",
        "_status_codes",
        "_values",
        "_weights",
    )

    def __init__(
        self,
        query_ids: Sequence[str] | Sequence[int],
        names: Sequence[str],
        values: np.ndarray,
        status_codes: np.ndarray,
        aggregates: Sequence[str],
        report: Report | Callable[[], Report],
        weights: dict[Any, float] | None = None,
        convention: Convention | Callable[[], Convention] | None = None,
    ) -> None:
        values.setflags(False)  # type: ignore[call-arg]  # by keyword it takes twice as long
        self._query_ids: Sequence[Any] = query_ids
        self._names = names
        self._values = values
        self._status_codes = status_codes
        self._aggregates = aggregates
        self._report = report
        self._weights = weights
        self._convention = convention
        self._means: dict[str, float] | None = None  # made when it is needed: an empty dict costs 20 ns

    # ---- the mapping: metric name -> mean ----------------------------------------------------------------------

    def __getitem__(self, name: str) -> float:
        if self._means is None:
            self._means = {}
        mean = self._means.get(name)
        if mean is None:
            mean = self._means[name] = self._aggregate(self._column(name))
        return mean

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def keys(self) -> list[str]:
        """The names, as `dict` asks for them."""
        return self.names

    def items(self) -> list[tuple[str, float]]:
        """(name, mean) of every metric."""
        return [(name, self[name]) for name in self._names]

    def get(self, name: str, default: Any = None) -> Any:
        """The mean of a metric, `default` where it was not asked for."""
        return self[name] if name in self else default

    def _column(self, name: str) -> int:
        try:
            return self._names.index(name)
        except ValueError:
            known = ", ".join(map(repr, self._names))
            raise KeyError(f"{name!r} was not evaluated; the metrics here are {known}") from None

    def _aggregate(self, column: int) -> float:
        """The correctly rounded sum of what is not NaN, divided by how many those are if the metric is a mean."""
        values = self._values[:, column].tolist()
        total = math.fsum(values)
        how = self._aggregates[column]
        weights = None if self._weights is None else [self._weights[query_id] for query_id in self._query_ids]
        if total != total:
            if how.endswith("_or_nan"):
                return math.nan
            if weights is not None:
                weights = [weight for weight, value in zip(weights, values, strict=True) if value == value]
            values = [value for value in values if value == value]
            total = math.fsum(values)
        if how in ("sum", "count"):
            return total
        if not values:
            return math.nan
        if how.startswith("geometric"):
            return geometric_mean(values, weights)
        return total / len(values) if weights is None else weighted_mean(values, weights)

    # ---- per query ---------------------------------------------------------------------------------------------

    @property
    def query_ids(self) -> list[str] | list[int]:
        """The queries, in the order of the qrels; 0 to n - 1 for rankings without ids. A new list."""
        return list(self._query_ids)

    @property
    def names(self) -> list[str]:
        """The metrics as they were asked for. A new list."""
        return list(self._names)

    @property
    def values(self) -> np.ndarray:
        """All values: float64 of shape (n_queries, n_names), read-only, NaN where a metric left a query out."""
        return self._values

    @property
    def aggregates(self) -> dict[str, str]:
        """How each metric becomes one number, {name: "mean", "geometric", "sum", "count", or one with "_or_nan"}."""
        return dict(zip(self._names, self._aggregates, strict=True))

    @property
    def status(self) -> dict[str, str]:
        """What became of each query, {query_id: status}.

        "missing": the run lacks it, and it counts as an empty ranking; "no_relevant": the run has it, but no document
        of the qrels reaches ``rel_level``; "evaluated": anything else.
        """
        return {query: STATUSES[code] for query, code in zip(self._query_ids, self._status_codes.tolist(), strict=True)}

    @property
    def report(self) -> Report:
        """How qrels and run met, and what was repaired: a `Report`."""
        if not isinstance(self._report, Report):
            self._report = self._report()
        return self._report

    @property
    def convention(self) -> Convention:
        """Whose numbers these are: the choices behind them, as a record that `evaluate` takes, too."""
        if callable(self._convention):
            self._convention = self._convention()
        return self._convention  # type: ignore[return-value]

    def _convention_text(self) -> str:
        """The convention in words, nothing where all choices are fastir's own."""
        text = str(self.convention or "")
        return "" if text == "fastir" else text

    def per_query(self, name: str) -> dict[str, float]:
        """The values of one metric, {query_id: value}; NaN where ``empty=skip`` left a query out.

        Raises
        ------
        KeyError
            The metric was not asked for, in this spelling.
        """
        return dict(zip(self._query_ids, self._values[:, self._column(name)].tolist(), strict=True))

    def to_dict(self) -> dict[str, dict[str, float]]:
        """All values, {query_id: {name: value}}, as new dicts of Python floats."""
        names = self._names
        return {
            query: dict(zip(names, row, strict=True))
            for query, row in zip(self._query_ids, self._values.tolist(), strict=True)
        }

    def to_pandas(self) -> pandas.DataFrame:
        """All values as a new frame: float64, a row per query (index ``query_id``), a column per metric.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        import pandas

        index = pandas.Index(self.query_ids, name="query_id")
        return pandas.DataFrame(self._values.copy(), index=index, columns=self.names)

    def by_group(self, groups: Mapping[Any, Hashable]) -> ResultsByGroup:
        """The results of groups of queries, such as their segments.

        Parameters
        ----------
        groups : mapping of query_id to group
            Every query of these results must have one; those of other queries are ignored.

        Returns
        -------
        ResultsByGroup
            A dict {group: Results}, groups in the order of their first query. Their `report` is that of all queries.

        Raises
        ------
        ValueError
            A query has no group.
        TypeError
            `groups` is no mapping, or a group cannot be a key of a dict.

        Examples
        --------
        >>> import fastir
        >>> qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
        >>> run = {"q1": {"a": 1.0}, "q2": {"b": 2.0, "a": 1.0}, "q3": {"a": 1.0}}
        >>> fastir.evaluate(qrels, run, "mrr").by_group({"q1": "short", "q2": "long", "q3": "short"})
        group     mrr
        short  1.0000
        long   0.5000
        micro  0.8333
        macro  0.7500
        """
        if not isinstance(groups, Mapping):
            raise TypeError(f"groups must map query ids to groups, got {type(groups).__name__}")
        rows: dict[Any, list[int]] = {}
        for row, query_id in enumerate(self._query_ids):
            if query_id not in groups:
                raise ValueError(f"groups: query {query_id!r} has none")
            rows.setdefault(groups[query_id], []).append(row)
        return ResultsByGroup(self, {group: self._rows(chosen) for group, chosen in rows.items()})

    def diff(self, other: Results, metric: str, top: int = 20) -> ResultsDiff:
        """The queries that gain and lose against other results, those of another run, say.

        Parameters
        ----------
        other : Results
        metric : str
            Both must have it.
        top : int
            How many of each to list, the largest changes first.

        Returns
        -------
        ResultsDiff
            Prints as a table; counts are of all queries that both have. Which documents make the difference for one of
            them is what `Evaluator.explain` and `Explanation.diff` say.

        Raises
        ------
        KeyError
            One of the two lacks the metric.
        TypeError, ValueError
            `other` is no Results; no query is in both, or `top` is not positive.

        Examples
        --------
        >>> import fastir
        >>> qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
        >>> old = fastir.evaluate(qrels, {"q1": {"a": 1.0}, "q2": {"b": 2.0, "a": 1.0}, "q3": {"a": 1.0}}, "mrr")
        >>> new = fastir.evaluate(qrels, {"q1": {"a": 1.0}, "q2": {"a": 1.0}, "q3": {"a": 1.0}}, "mrr")
        >>> new.diff(old, "mrr")
        mrr: 1.0000 against 0.8333, +0.1667; 1 gain, 2 equal, 0 lose
        query_id   value     was   change
        q2        1.0000  0.5000  +0.5000
        """
        from fastir.results.changes import differences

        return differences(self, other, metric, top)

    def _rows(self, rows: list[int]) -> Results:
        """The same for some of the queries."""
        query_ids = [self._query_ids[row] for row in rows]
        return Results(
            query_ids,
            self._names,
            self._values[rows],
            self._status_codes[rows],
            self._aggregates,
            lambda: self.report,
            self._weights,
            self._convention,
        )

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """All values as Arrow data, for whatever reads such: a row per query, ``query_id`` (text or int64), then a
        column per metric (float64, NaN where it is undefined). The schema asked for does not matter.

        Raises
        ------
        ValueError
            A query id is not UTF-8.
        """
        from fastir.columns._arrow import export_array

        return export_array(self._table())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The same as a stream of one batch."""
        from fastir.columns._arrow import export_stream

        return export_stream(self._table())

    def _table(self) -> dict[str, list | np.ndarray]:
        return {"query_id": self.query_ids, **dict(zip(self._names, self._values.T, strict=True))}

    # ---- as text -----------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike) -> None:
        """Write the values of every query to a file; the numbers read back exactly.

        Parameters
        ----------
        path : str or path
            ``.tsv``: a line per query under the header ``query_id`` and the metric names. ``.json``: ``{"mean":
            {name: value}, "per_query": {query_id: {name: value}}}``, with null for NaN, and ``"convention"`` where it
            is not fastir's own.

        Raises
        ------
        ValueError
            The path ends otherwise.
        OSError
            The file cannot be written; what was there before is untouched.
        """
        import os

        path = os.fsdecode(path)
        suffix = os.path.splitext(path)[1].lower()
        if suffix not in SUFFIXES:
            raise ValueError(f"cannot save results as {path!r}: the name must end in {' or '.join(SUFFIXES)}")
        text = self._tsv() if suffix == ".tsv" else json_text(self.to_json())
        with replacing(path) as file:
            file.write(text.encode("utf-8", "surrogateescape"))  # an id that was not UTF-8 comes out as it came in

    def _tsv(self) -> str:
        rows = zip(self._query_ids, self._values.tolist(), strict=True)
        return tsv_text([["query_id", *self._names], *([str(query), *map(repr, row)] for query, row in rows)])

    def to_json(self, per_query: bool = True) -> dict[str, Any]:
        """The means and, if wanted, the values of every query, in types that JSON has: None for NaN."""
        data: dict[str, Any] = {"mean": {name: without_nan(mean) for name, mean in self.items()}}
        if self._convention_text():
            data["convention"] = self._convention_text()
        if per_query:
            data["per_query"] = {
                query: {name: without_nan(value) for name, value in row.items()}
                for query, row in self.to_dict().items()
            }
        return data

    def __repr__(self) -> str:
        means = [(name, rounded(self[name], how)) for name, how in self.aggregates.items()]
        name_width = max((len(name) for name, _ in means), default=0)
        width = max((len(mean) for _, mean in means), default=0)
        return "\n".join([*(f"{name:<{name_width}}  {mean:>{width}}" for name, mean in means), self._footer()])

    def _footer(self) -> str:
        convention = self._convention_text()
        codes = self._status_codes.tolist()
        words = ("", "missing", "without relevant documents")
        notes = [f"{codes.count(code)} {words[code]}" for code in (1, 2) if code in codes]
        queries = "1 query" if len(codes) == 1 else f"{len(codes)} queries"
        coverage = f"{queries} ({', '.join(notes)})" if notes else queries
        return f"{coverage}\nconvention {convention}" if convention else coverage

    # ---- equality, pickling ------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        """Same queries, metrics, values and statuses; NaN equals NaN. Any other mapping is compared with the means."""
        if not isinstance(other, Results):
            return dict(self) == dict(other) if isinstance(other, Mapping) else NotImplemented
        import numpy as np

        return (
            self.query_ids == other.query_ids
            and self.aggregates == other.aggregates
            and self.names == other.names
            and np.array_equal(self._values, other._values, equal_nan=True)
            and np.array_equal(self._status_codes, other._status_codes)
            and self._weights == other._weights
        )

    def __reduce__(self):
        fields = (self._query_ids, self._names, self._values, self._status_codes, self._aggregates, self.report)
        return Results, (*fields, self._weights, self.convention)


class ResultsTable(dict):
    """{name: Results}, which prints as a table of the means; `label` is the head of the column of names."""

    __slots__ = ()
    label = "name"

    def _means(self) -> dict[Any, dict[str, float]]:
        """The rows below the head."""
        return {name: dict(results) for name, results in self.items()}

    def to_pandas(self) -> pandas.DataFrame:
        """The means as a new frame: float64, a row for each line of the table, a column per metric.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        import pandas

        names = next(iter(self.values())).names if self else []
        means = self._means()
        rows = [[row[name] for name in names] for row in means.values()]
        return pandas.DataFrame(rows, pandas.Index(list(means), name=self.label, tupleize_cols=False), names, float)

    def __repr__(self) -> str:
        hows = next(iter(self.values())).aggregates if self else {}
        rows = (
            [str(name), *(rounded(row[metric], how) for metric, how in hows.items())]
            for name, row in self._means().items()
        )
        return aligned([[self.label, *hows], *rows], left=1).rstrip("\n")


class ResultsByGroup(ResultsTable):
    """What `Results.by_group` returns: {group: Results}, and below them in the table the two means over all.

    Attributes
    ----------
    micro : dict of str to float
        {metric: its mean over all queries}.
    macro : dict of str to float
        {metric: the mean of the groups' means}; a group whose mean is NaN is left out, unless ``empty=nan``.
    """

    __slots__ = ("macro", "micro")
    label = "group"

    def __init__(self, whole: Results, groups: dict[Any, Results]) -> None:
        super().__init__(groups)
        self.micro = dict(whole)
        self.macro = {name: self._macro(name, how) for name, how in whole.aggregates.items()}

    def _macro(self, name: str, how: str) -> float:
        means = [results[name] for results in self.values()]
        if not how.endswith("_or_nan"):
            means = [mean for mean in means if mean == mean]
        return math.fsum(means) / len(means) if means else math.nan

    def _means(self) -> dict[Any, dict[str, float]]:
        return {**super()._means(), "micro": self.micro, "macro": self.macro}


class Report:
    """How qrels and run met: counts, with an example of each.

    Attributes
    ----------
    in_both, only_in_qrels, only_in_run : int
        Queries that both sides have, or only one of them.
    no_relevant : int
        Queries of both sides without a relevant document in the qrels.
    nothing_judged : int
        Queries of both sides whose ranking holds no judged document at all.
    queries_with_ties : int
        Queries in which a document that counts for the metrics has the same score as another document of the ranking,
        so that the tie rule may have decided a value.
    *_example : str or None
        A query id for each of these counts, None where it is 0.
    unjudged_share : float or None
        The share of the ranked documents that are not in the qrels, 0 to 1; None if nothing was ranked.
    repairs : dict of str to (int, str)
        Kind of repair -> how often it was made and where, for example ``{"blank lines": (3, "run.txt:7")}``.
    """

    __slots__ = (
        "in_both",
        "in_both_example",
        "no_relevant",
        "no_relevant_example",
        "nothing_judged",
        "nothing_judged_example",
        "only_in_qrels",
        "only_in_qrels_example",
        "only_in_run",
        "only_in_run_example",
        "queries_with_ties",
        "queries_with_ties_example",
        "repairs",
        "unjudged_share",
    )

    def __init__(
        self,
        *,
        in_both: int = 0,
        in_both_example: str | None = None,
        only_in_qrels: int = 0,
        only_in_qrels_example: str | None = None,
        only_in_run: int = 0,
        only_in_run_example: str | None = None,
        no_relevant: int = 0,
        no_relevant_example: str | None = None,
        nothing_judged: int = 0,
        nothing_judged_example: str | None = None,
        queries_with_ties: int = 0,
        queries_with_ties_example: str | None = None,
        unjudged_share: float | None = None,
        repairs: dict[str, tuple[int, str]] | None = None,
    ) -> None:
        self.in_both = in_both
        self.in_both_example = in_both_example
        self.only_in_qrels = only_in_qrels
        self.only_in_qrels_example = only_in_qrels_example
        self.only_in_run = only_in_run
        self.only_in_run_example = only_in_run_example
        self.no_relevant = no_relevant
        self.no_relevant_example = no_relevant_example
        self.nothing_judged = nothing_judged
        self.nothing_judged_example = nothing_judged_example
        self.queries_with_ties = queries_with_ties
        self.queries_with_ties_example = queries_with_ties_example
        self.unjudged_share = unjudged_share
        self.repairs = {} if repairs is None else repairs

    def __repr__(self) -> str:
        rows: list[tuple[str, object, str | None]] = [
            ("queries in both", self.in_both, self.in_both_example),
            ("queries only in the qrels", self.only_in_qrels, self.only_in_qrels_example),
            ("queries only in the run", self.only_in_run, self.only_in_run_example),
            ("queries without relevant documents", self.no_relevant, self.no_relevant_example),
            ("queries with nothing judged in the ranking", self.nothing_judged, self.nothing_judged_example),
            ("queries where ties could matter", self.queries_with_ties, self.queries_with_ties_example),
        ]
        if self.unjudged_share is not None:
            rows.append(("share of unjudged documents", f"{self.unjudged_share:.4f}", None))
        rows += [(f"repaired: {kind}", count, place) for kind, (count, place) in self.repairs.items()]
        width = max(len(what) for what, _, _ in rows)
        examples = ("" if example is None else f"  (as in {example})" for _, _, example in rows)
        return "\n".join(
            f"{what:<{width}}  {count:>8}{example}" for (what, count, _), example in zip(rows, examples, strict=True)
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Report):
            return NotImplemented
        return all(getattr(self, field) == getattr(other, field) for field in Report.__slots__)


# ---- numbers -------------------------------------------------------------------------------------------------------


UNIT = 2 * 1074  # a product of two floats is a whole number of 2^-UNIT


def exact_total(values: Iterable[float], weights: Iterable[float]) -> int:
    """The exact sum of weight times value, in units of 2^-UNIT."""
    total = 0
    for value, weight in zip(values, weights, strict=True):
        a, b = value.as_integer_ratio()
        c, d = weight.as_integer_ratio()
        total += a * c << UNIT + 2 - b.bit_length() - d.bit_length()
    return total


def weighted_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    """The correctly rounded exact sum of weight times value, over that of the weights; NaN where nothing counts."""
    count = math.fsum(weights)
    return exact_total(values, weights) / (1 << UNIT) / count if count else math.nan


def digits() -> decimal.Context:
    """What logarithms are computed with."""
    import decimal

    return decimal.Context(prec=50, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)


def total_log(values: Sequence[float], weights: Sequence[float] | None = None) -> decimal.Decimal:
    """The sum of weight times logarithm of positive numbers."""
    import functools

    to = digits()
    exact = to.create_decimal
    if weights is None:
        return to.ln(functools.reduce(to.multiply, map(exact, values)))
    logs = (to.multiply(exact(weight), to.ln(exact(value))) for weight, value in zip(weights, values, strict=True))
    return functools.reduce(to.add, logs)


def geometric_mean(values: Sequence[float], weights: Sequence[float] | None = None) -> float:
    """The weighted geometric mean of positive numbers, computed to 50 digits and rounded once."""
    count = float(len(values)) if weights is None else math.fsum(weights)
    to = digits()
    return float(to.exp(to.divide(total_log(values, weights), to.create_decimal(count)))) if count else math.nan


# ---- numbers and tables as text, for files and for the command line ------------------------------------------------


def rounded(value: float, aggregate: str) -> str:
    """A value for reading: four decimals, or a whole number where the metric counts."""
    return f"{value:.0f}" if aggregate in ("sum", "count") and value == value else f"{value:.4f}"


def without_nan(value: float) -> float | None:
    return value if value == value else None


def json_text(data: object) -> str:
    """JSON in ASCII, so that any id can be written; floats read back exactly."""
    import json

    return json.dumps(data, indent=2) + "\n"


def aligned(rows: list[list[str]], left: int) -> str:
    """Columns padded to their widest cell, the first `left` of them to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(f"{cell:{'<' if column < left else '>'}{widths[column]}}" for column, cell in enumerate(row))
        for row in rows
    )
    return "".join(f"{line.rstrip()}\n" for line in lines)


def tsv_text(rows: Iterable[Sequence[str]]) -> str:
    """Rows as tab-separated lines that any csv reader takes; the csv module itself leaves a lone \\r unquoted."""
    return "".join("\t".join(map(tsv_field, row)) + "\n" for row in rows)


def tsv_field(text: str) -> str:
    if any(mark in text for mark in '\t"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


@contextlib.contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """A new file to write to, which takes the place of `path` in one step at the end of the block.

    Whoever reads sees the old content or the new, never a part; what stops the block leaves the old. What is there must
    be a regular file, or a link to one.
    """
    import os
    import threading

    target = os.path.realpath(path)
    draft = f"{target}.{os.getpid()}-{threading.get_ident()}.tmp"
    try:
        if os.path.exists(target) and not os.path.isfile(target):
            raise OSError(errno.EINVAL, "cannot be replaced, because it is not a regular file", path)
        with open(draft, "xb") as file:
            yield file
        os.replace(draft, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, path) from None
        raise
