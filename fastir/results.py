"""What an evaluation returns: one matrix, queries × metrics, read as means, per query, or as a file.

A Results is made at every call and is often asked for one number, so making it keeps what the kernels filled in and
does nothing else: means, statuses, tables and texts are computed when somebody asks. Beside the numbers stands the
Report: how the two sides met and what was repaired on the way, in counts with an example each.
"""

from __future__ import annotations

import contextlib
import errno
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    import os

    import numpy as np
    import pandas

STATUSES = ("evaluated", "missing", "no_relevant")
SUFFIXES = (".tsv", ".json")


class Results:
    """The values of one run, read like a dict: from the metric as the caller typed it to its mean over the queries.

    ``results["ndcg@10"]`` is a float: the exact sum of the queries' values, rounded once, divided by how many there
    are. Metrics that count (``num_ret``, ``num_q``) are not divided; ``gm_map`` and ``gm_bpref`` have their geometric
    mean, rounded once. NaN values are left out, and a mean of none is NaN. A name that was not asked for is a KeyError
    that lists those that were. Made by `evaluate`; immutable, can be pickled. It is no
    `collections.abc.Mapping`, whose `values` is a method: libraries that see one look no further, and would miss that
    this is a table (``polars.DataFrame(results)``, ``pyarrow.table(results)``).

    Parameters
    ----------
    query_ids : sequence of str (int for rankings without ids)
        The queries, in the order of the qrels.
    names : sequence of str
        The metrics as they were asked for, each once.
    values : float64 array of shape (n_queries, n_names)
        NaN where a metric is undefined and its ``empty=skip`` asked to leave it out. Made read-only here.
    status_codes : uint8 array of shape (n_queries,)
        An index into `STATUSES` per query.
    aggregates : sequence of {"mean", "geometric", "sum", "count"}
        How each metric becomes one number: "sum" and "count" add up, "mean" divides by the number of values,
        "geometric" takes the root of the product.
    report : Report, or a function of no arguments that makes it
        The function is called when somebody reads `report`.
    """

    __slots__ = ("_aggregates", "_means", "_names", "_query_ids", "_report", "_status_codes", "_values")

    def __init__(
        self,
        query_ids: Sequence[str] | Sequence[int],
        names: Sequence[str],
        values: np.ndarray,
        status_codes: np.ndarray,
        aggregates: Sequence[str],
        report: Report | Callable[[], Report],
    ) -> None:
        values.setflags(False)  # type: ignore[call-arg]  # by keyword it takes twice as long
        self._query_ids: Sequence[Any] = query_ids
        self._names = names
        self._values = values
        self._status_codes = status_codes
        self._aggregates = aggregates
        self._report = report
        self._means: dict[str, float] = {}

    # ---- the mapping: metric name -> mean ----------------------------------------------------------------------

    def __getitem__(self, name: str) -> float:
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
        if total != total:
            values = [value for value in values if value == value]
            total = math.fsum(values)
        how = self._aggregates[column]
        if how in ("sum", "count"):
            return total
        if not values:
            return math.nan
        return geometric_mean(values) if how == "geometric" else total / len(values)

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
        """How each metric becomes one number, {name: "mean", "geometric", "sum" or "count"}."""
        return dict(zip(self._names, self._aggregates, strict=True))

    @property
    def status(self) -> dict[str, str]:
        """What became of each query, {query_id: status}.

        "missing": the run lacks it, and it counts as an empty ranking; "no_relevant": the run has it, but no document
        of the qrels reaches ``rel_level``; "evaluated": anything else.
        """
        return {
            query: STATUSES[code] for query, code in zip(self._query_ids, self._status_codes.tolist(), strict=True)
        }

    @property
    def report(self) -> Report:
        """How qrels and run met, and what was repaired: a `Report`."""
        if not isinstance(self._report, Report):
            self._report = self._report()
        return self._report

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

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """All values as Arrow data, for whatever reads such: a row per query, ``query_id`` (text or int64), then a
        column per metric (float64, NaN where it is undefined). The schema asked for does not matter.

        Raises
        ------
        ValueError
            A query id is not UTF-8.
        """
        from fastir._arrow import export_array

        return export_array(self._table())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The same as a stream of one batch."""
        from fastir._arrow import export_stream

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
            {name: value}, "per_query": {query_id: {name: value}}}``, with null for NaN.

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

    def to_json(self, per_query: bool = True) -> dict[str, dict]:
        """The means and, if wanted, the values of every query, in types that JSON has: None for NaN."""
        data: dict[str, dict] = {"mean": {name: without_nan(mean) for name, mean in self.items()}}
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
        return "\n".join([*(f"{name:<{name_width}}  {mean:>{width}}" for name, mean in means), self._coverage()])

    def _coverage(self) -> str:
        codes = self._status_codes.tolist()
        words = ("", "missing", "without relevant documents")
        notes = [f"{codes.count(code)} {words[code]}" for code in (1, 2) if code in codes]
        queries = "1 query" if len(codes) == 1 else f"{len(codes)} queries"
        return f"{queries} ({', '.join(notes)})" if notes else queries

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
        )

    def __reduce__(self):
        fields = (self._query_ids, self._names, self._values, self._status_codes, self._aggregates, self.report)
        return Results, fields


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
        "in_both", "in_both_example",
        "only_in_qrels", "only_in_qrels_example",
        "only_in_run", "only_in_run_example",
        "no_relevant", "no_relevant_example",
        "nothing_judged", "nothing_judged_example",
        "queries_with_ties", "queries_with_ties_example",
        "unjudged_share", "repairs",
    )  # fmt: skip

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


def geometric_mean(values: Sequence[float]) -> float:
    """The n-th root of the product of positive numbers, computed to 50 digits and rounded once."""
    import decimal
    import functools

    digits = decimal.Context(prec=50, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
    product = functools.reduce(digits.multiply, map(digits.create_decimal, values))
    return float(digits.exp(digits.divide(digits.ln(product), len(values))))


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
