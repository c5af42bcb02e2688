"""judge_bias(): where does a judge err, by rank, length, group or run? Its error is its label less the human one."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastir.analyses.agreement.judgments import MAX_LABELS, judgment_columns, shared_rows
from fastir.checks import mapping, proportion
from fastir.data.results.exportable import Exportable, columns_from_records
from fastir.engine.columns._objects import pick
from fastir.engine.columns.rows import occurrences
from fastir.errors import DuplicateError, quote
from fastir.evaluation.run_collections import check_depth, first_documents, read_runs
from fastir.inputs.mappings import from_file
from fastir.inputs.places import is_path
from fastir.rendering import Cell, Table, number_cell
from fastir.rendering.text import counted, decimals, json_types
from fastir.stats import student
from fastir.stats._checks import proper
from fastir.stats.corrections import adjust

if TYPE_CHECKING:
    from fastir.data.qrels import QrelsLike
    from fastir.data.run import RunsLike

MAX_GROUPS = 5  # different numbers up to which each is a group; more are divided at their quartiles
RANKS = (5, 10, 20, 50, 100, 1000)  # the last ranks of bands
EPSILON = 1e-12  # of the largest error: what a standard error of rounding is below
EVERYWHERE, NOT_RETRIEVED = "all", "not retrieved"


class BiasGroup(NamedTuple):
    """The errors of a judge in one group of documents.

    Attributes
    ----------
    by, group : str
        What the documents are grouped by, and which group it is; "all" for all documents.
    n, n_queries : int
    error, low, high : float
        The mean of the judge's label less the human one, and its interval. **Undefined** (NaN) for one query.
    over, under : float
        The fractions of documents that the judge labels higher, and lower, than people.
    difference : float
        The mean error less that of the other documents with a value.
    p_value, adjusted_p : float
        Of a true difference of 0; the second corrected for all tests of the result. **Undefined** (NaN) if the group
        or the other documents are of a single query.
    """

    by: str
    group: str
    n: int
    n_queries: int
    error: float
    low: float
    high: float
    over: float
    under: float
    difference: float = math.nan
    p_value: float = math.nan
    adjusted_p: float = math.nan


class BiasSlope(NamedTuple):
    """How the mean error changes with a number.

    Attributes
    ----------
    by : str
    slope, low, high : float
        The slope of a line of least squares, for each 1 of the number, and its interval.
    p_value, adjusted_p : float
        Of a true slope of 0, as in `BiasGroup`.
    """

    by: str
    slope: float
    low: float
    high: float
    p_value: float
    adjusted_p: float = math.nan


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class JudgeBias(Exportable):
    """Where a judge errs; made by `judge_bias`, prints as a table.

    Attributes
    ----------
    groups : list of BiasGroup
        All documents first, then group by group.
    slopes : list of BiasSlope
        One for each number in `by` and for the rank in each run.
    without_value : dict of str to int
        The number of documents that `by` has no value for; they are in none of its groups.
    confidence : float
    method : str
    """

    groups: list[BiasGroup]
    slopes: list[BiasSlope]
    without_value: dict[str, int]
    confidence: float
    method: str

    def _columns(self) -> dict[str, list[Any]]:
        return columns_from_records(BiasGroup._fields, self.groups)

    def _json(self, per_query: bool = True) -> dict[str, Any]:
        records = {name: [row._asdict() for row in getattr(self, name)] for name in ("groups", "slopes")}
        return json_types({**records, "without_value": self.without_value, "confidence": self.confidence})

    def _table(self, digits: int = 4) -> Table:
        rows = []
        for row in self.groups:
            interval = Cell(f"[{decimals(row.low, digits)}, {decimals(row.high, digits)}]")
            rest = (row.over, row.under, row.difference, row.adjusted_p)
            rows.append([Cell(row.by), Cell(row.group), Cell(str(row.n)), number_cell(row.error, digits), interval,
                         *(number_cell(value, digits) for value in rest)])  # fmt: skip
        notes = [
            f"{row.by}: the error changes by {row.slope:+.3g} for each 1, "
            + ("without an interval." if math.isnan(row.low) else f"from {row.low:+.3g} to {row.high:+.3g}; ")
            + ("" if math.isnan(row.low) else f"p {decimals(row.adjusted_p, digits)}.")
            for row in self.slopes
        ]
        notes += [f"{name}: {counted(n, 'document has', 'documents have')} no value."
                  for name, n in self.without_value.items() if n]  # fmt: skip
        head = ["by", "group", "documents", "error", f"{self.confidence:.0%} interval", "over", "under"]
        return Table([*head, "from others", "p"], rows, 2, [*notes, self.method])


def judge_bias(
    judge: QrelsLike,
    human: QrelsLike,
    by: Mapping[str, Any] | None = None,
    runs: RunsLike = (),
    *,
    confidence: float = 0.95,
) -> JudgeBias:
    """Measure the errors of a judge, its label minus the human one, on the documents that both judged.

    Parameters
    ----------
    judge, human : as for `evaluate`
        The labels of the judge, such as a model, and the truth. A negative label is not a judgment. With groups, the
        largest label of each document counts.
    by : mapping of name to values, or None
        What errors may depend on, such as ``{"length": lengths, "source": sources}``. Values are ``{doc_id: value}``,
        ``{query_id: {doc_id: value}}``, or the path of a file with a document and a number on each line, or a query
        before them. More than five different numbers are divided at their quartiles, and have a slope; other values are
        names of groups. NaN is no value.
    runs : as for `evaluate_many`
        Errors by the rank of the document in each run, in bands, and of documents that the run has not retrieved.
    confidence : float

    Returns
    -------
    JudgeBias
        Documents of one query are not independent: intervals and tests are by queries as clusters, with Student's t.
        A group is compared with the other documents, with one degree of freedom less than the queries of the smaller
        side. p-values are corrected by Holm over all groups and slopes.

    Raises
    ------
    NoOverlapError
        The two sides have no judged query, or no judged document of a query, in common.
    ValueError
        No document has a value; a number is infinite; there are more than 100 groups; confidence is out of range.
    FormatError, DuplicateError, TypeError, OverflowError, OSError
        As by `evaluate_many`; or `by` is no mapping.

    Examples
    --------
    >>> import fastir
    >>> human = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"a": 0, "d": 1, "c": 0}, "q3": {"b": 1, "c": 1}}
    >>> model = {"q1": {"a": 2, "b": 1, "c": 1}, "q2": {"a": 1, "d": 1, "c": 1}, "q3": {"b": 2, "c": 1}}
    >>> bias = fastir.judge_bias(model, human, {"source": {"a": "web", "b": "web", "c": "news", "d": "news"}})
    >>> [(row.group, row.n, round(row.error, 4), row.over) for row in bias.groups]
    [('all', 8, 0.5, 0.5), ('web', 4, 0.75, 0.75), ('news', 4, 0.25, 0.25)]
    """
    confidence = proportion("confidence", confidence)
    sides = judgment_columns(human), judgment_columns(judge)
    in_both = np.array([query_id in sides[1].places() for query_id in sides[0].query_ids], bool)
    stacked, later = shared_rows(sides, in_both)
    labels, of_query = np.concatenate(stacked.labels).astype(float), stacked.of_query[later]
    tests = Tests(labels[later] - labels[stacked.firsts[later]], of_query, confidence)
    pairs = list(zip(pick(stacked.query_ids, of_query), pick(stacked.doc_ids, later), strict=True))
    groups, slopes, without = tests.groups("", [EVERYWHERE], np.zeros(len(later), np.int64)), [], {}
    for name, values, ranked in each_value(by, runs, pairs):
        codes, names, numbers = divide(name, values, ranked)
        without[name] = int((codes < 0).sum())
        groups += tests.groups(name, names, codes)
        if numbers is not None:
            slopes.append(tests.slope(name, numbers))
    adjusted = adjust([*(row.p_value for row in groups), *(row.p_value for row in slopes)], "holm").tolist()
    p_values = iter(adjusted)
    n_tests = len(adjusted) - sum(map(math.isnan, adjusted))
    method = (
        "error: label of the judge less that of people; over, under: fractions labelled higher, lower; from others: "
        f"error less that of the other documents; p: holm over {counted(n_tests, 'test', 'tests')}. Intervals and "
        f"tests by {counted(groups[0].n_queries, 'query', 'queries')} as clusters."
    )
    return JudgeBias(
        [row._replace(adjusted_p=next(p_values)) for row in groups],
        [row._replace(adjusted_p=next(p_values)) for row in slopes],
        without,
        confidence,
        method,
    )


class Tests:
    """Means and slopes of errors, by queries as clusters."""

    def __init__(self, errors: np.ndarray, clusters: np.ndarray, confidence: float) -> None:
        self.errors, self.clusters, self.confidence = errors, clusters, confidence
        self.n_clusters, self.largest = int(clusters.max()) + 1, float(np.abs(errors).max())

    def by_cluster(self, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return occurrences(self.clusters[rows], weights, self.n_clusters)

    def groups(self, by: str, names: list[str], codes: np.ndarray) -> list[BiasGroup]:
        """The groups with these codes, in which rows of code -1 are not."""
        n = len(names)
        cells = codes * self.n_clusters + self.clusters
        valued = codes >= 0
        counts, sums = (
            occurrences(cells[valued], weights, n * self.n_clusters).reshape(n, -1)
            for weights in (None, self.errors[valued])
        )
        over, under = (
            occurrences(codes[valued & wrong], minlength=n).tolist() for wrong in (self.errors > 0, self.errors < 0)
        )
        found = []
        for code, name in enumerate(names):
            sides = [(counts[code], sums[code])]
            if n > 1:
                sides.append((counts.sum(axis=0) - counts[code], sums.sum(axis=0) - sums[code]))
            sizes = [float(count.sum()) for count, _ in sides]
            means = [float(total.sum()) / size for (_, total), size in zip(sides, sizes, strict=True)]
            added = [
                (total - mean * count) / size for (count, total), mean, size in zip(sides, means, sizes, strict=True)
            ]
            n_queries = [int(np.count_nonzero(count)) for count, _ in sides]
            mean, low, high, _ = self.test(means[0], added[0], n_queries[0])
            size = sizes[0]
            row = BiasGroup(by, name, int(size), n_queries[0], mean, low, high, over[code] / size, under[code] / size)
            if n > 1:
                difference, _, _, p = self.test(means[0] - means[1], added[0] - added[1], min(n_queries))
                row = row._replace(difference=difference, p_value=p)
            found.append(row)
        return found

    def slope(self, by: str, x: np.ndarray) -> BiasSlope:
        """The slope of least squares of the errors on x, where x is a number."""
        rows = np.flatnonzero(~np.isnan(x))
        x, y = x[rows] - x[rows].mean(), self.errors[rows] - self.errors[rows].mean()
        squares = float((x * x).sum())
        slope = float((x * y).sum()) / squares
        added = self.by_cluster(rows, x * (y - slope * x) / squares)
        return BiasSlope(by, *self.test(slope, added, int(np.count_nonzero(self.by_cluster(rows, np.ones(len(rows)))))))

    def test(self, value: float, added: np.ndarray, n: int) -> tuple[float, float, float, float]:
        """A value, its bounds and p-value, from what each of n clusters adds to it less its expectation."""
        if n < 2:
            return value, math.nan, math.nan, math.nan
        error = math.sqrt(float((added * added).sum()) * n / (n - 1))
        if error <= EPSILON * max(self.largest, abs(value)):  # nothing varies, but by rounding
            return value, value, value, 1.0 if abs(value) <= error else math.nan
        margin = student.quantile(n - 1, (1 + self.confidence) / 2) * error
        p = float(proper(np.asarray(2 * student.tail(abs(value) / error, n - 1))))
        return value, value - margin, value + margin, p


# ---- what errors may depend on ---------------------------------------------------------------------------------------
def each_value(by: Any, runs: Any, pairs: list[tuple[Any, Any]]) -> Iterator[tuple[str, list[Any], bool]]:
    """Yield a name, the value of each pair of ids or None, and whether values are ranks, 0 for not retrieved."""
    for name, given in mapping("by", {} if by is None else by, "map names to values of documents").items():
        values: Any = from_file(given, "number") if is_path(given) else given
        values = mapping(f"by[{quote(name)}]", values, "map ids to values")
        by_text = keys_as_text(f"by[{quote(name)}]", values)
        nested = any(isinstance(value, Mapping) for value in by_text.values())
        if nested:
            expected = "map documents to values, as other queries do"
            for key, docs in by_text.items():
                of_query = f"by[{quote(name)}][{quote(key)}]"
                by_text[key] = keys_as_text(of_query, mapping(of_query, docs, expected))
        found = [(by_text.get(str(query_id), {}) if nested else by_text).get(str(doc_id)) for query_id, doc_id in pairs]
        if all(value is None or value != value for value in found):
            one = " ".join(map(quote, pairs[0] if nested else pairs[0][1:]))
            raise ValueError(f"by[{quote(name)}] has no value for any document that both judged, such as {one}")
        yield str(name), found, False
    for name, run in ({} if isinstance(runs, tuple) and not runs else read_runs(runs)).items():
        rankings = first_documents(run, check_depth(None))
        ranks = {query_id: dict(zip(docs, range(1, len(docs) + 1), strict=True)) for query_id, docs in rankings.items()}
        yield f"rank in {name}", [ranks.get(query_id, {}).get(doc_id, 0) for query_id, doc_id in pairs], True


def keys_as_text(name: str, values: Mapping[Any, Any]) -> dict[str, Any]:
    """Values by the text of their ids, which must be distinct."""
    by_text = {str(key): value for key, value in values.items()}
    if len(by_text) < len(values):
        twice = next(key for key in values if not isinstance(key, str) and str(key) in values)
        raise DuplicateError(f"{name} has the id {quote(twice)} twice, as {type(twice).__name__} and as str")
    return by_text


def divide(name: str, values: list[Any], ranked: bool) -> tuple[np.ndarray, list[str], np.ndarray | None]:
    """The group of each document, -1 without a value; the names of the groups; the values, if a line fits them."""
    if not all(
        issubclass(kind, (int, float, np.number)) and kind is not bool for kind in {*map(type, values)} - {NoneType}
    ):
        names: dict[Hashable, int] = {}
        for value in values:
            if not isinstance(value, Hashable):
                raise TypeError(
                    f"by[{quote(name)}] has the value {quote(value)}; expected a number, or the name of a group"
                )
        codes = [-1 if value is None or value != value else names.setdefault(value, len(names)) for value in values]
        if len(names) > MAX_LABELS:
            raise ValueError(f"by[{quote(name)}] has {len(names)} groups, expected numbers, or {MAX_LABELS} at most")
        return np.array(codes), list(map(str, names)), None
    try:
        numbers = np.array([math.nan if value is None else value for value in values], float)
    except OverflowError:
        raise ValueError(f"by[{quote(name)}] has an int beyond all floats") from None
    if np.isinf(numbers).any():
        raise ValueError(f"by[{quote(name)}] has an infinite value")
    numbers[ranked & (numbers == 0)] = np.nan
    known = ~np.isnan(numbers)
    different = np.unique(numbers[known])
    edges: Any = different[:-1] if len(different) <= MAX_GROUPS else np.quantile(numbers[known], [0.25, 0.5, 0.75])
    bands = np.where(known, np.searchsorted(RANKS if ranked else edges, numbers), MAX_LABELS)
    found, codes_found = np.unique(bands, return_inverse=True)
    groups = []
    for code in range(len(found)):
        low, high = (f"{side(numbers[codes_found == code]):g}" for side in (np.min, np.max))
        groups.append(low if low == high else f"{low} to {high}")
    if not known.all():
        groups[-1] = NOT_RETRIEVED
    if not ranked and not known.all():
        codes_found[~known] = -1
        groups.pop()
    return codes_found, groups, numbers if len(different) > 1 else None
