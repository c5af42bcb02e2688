"""custom_metric(): a caller's metric, for lists of metrics together with fastir's names.

Nothing is registered: the object is a str, its name, and carries its function. If such metrics are requested, a run
is judged once, and its JudgedRankings go to these functions and to the kernel of the named metrics; metrics that need
the documents themselves (weights, samples) join them with judgments of their own. `CustomMetric.values` checks what
functions return. Results and their files have the names alone, each of which knows which of its values are better.
"""

from __future__ import annotations

import _thread
import math
import numbers
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, SupportsFloat

import numpy as np

from fastir.checks import flag, number
from fastir.errors import UnknownMetricError, quote
from fastir.rendering.text import UNPRINTABLE
from fastir.request.names import is_metric, refuse_mapping
from fastir.request.options import metric_tuple
from fastir.request.plan import ORDER_RULES, order_rules

if TYPE_CHECKING:
    from typing import Self

    from fastir.request.plan import Settings


COLUMNS = ("query_id", "run", "segment", "convention")  # of tables that have a column for each metric
RUNNING_FUNCTIONS = _thread._local()  # the functions of custom metrics that run, the outermost one first
MEANING = "the caller's own metric, (higher|lower) is better(?:: (?s:(.*)))?"


def no_function(judged: Any) -> Any:
    """The function of a metric with a name from saved results, which raises."""
    raise ValueError("results have only the name of a custom metric, not its function")


class CustomMetric(str):
    """A custom metric; made by `custom_metric`. Its attributes are the parameters of that function.

    It is a str, its name, which is the key of results. It can be pickled if its function can.

    Attributes
    ----------
    function : callable
    higher_is_better : bool
    low, high : float
        The smallest and the largest value.
    about : str
        What it measures, in words.
    """

    __slots__ = ("about", "function", "high", "higher_is_better", "low")

    function: Callable[[Any], Any]
    higher_is_better: bool
    low: float
    high: float
    about: str

    def __new__(
        cls, name: str, function: Callable[[Any], Any], higher_is_better: bool, low: float, high: float, about: str
    ) -> Self:
        self = str.__new__(cls, name)
        self.function, self.higher_is_better = function, higher_is_better
        self.low, self.high, self.about = low, high, about
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return CustomMetric, (self.name, self.function, self.higher_is_better, self.low, self.high, self.about)

    @property
    def name(self) -> str:
        """The name as a plain str."""
        return str.__str__(self)

    def meaning(self) -> str:
        """Its description in the record of an evaluation."""
        better = "higher" if self.higher_is_better else "lower"
        about = f": {self.about}" if self.about else ""
        return f"the caller's own metric, {better} is better{about}"

    def bare(self) -> CustomMetric:
        """The metric without its function, as results hold it."""
        return CustomMetric(self.name, no_function, self.higher_is_better, self.low, self.high, self.about)

    def values(self, judged: Any) -> np.ndarray:
        """The value of each query; ValueError or TypeError if the function fails, or its numbers do not fit."""
        returned = self.call_function(judged) if len(judged) else []
        try:
            values = numbers_by_query(returned, judged.query_ids)
        except Exception as error:  # what converts the numbers may be the caller's code
            raise TypeError(f"metric {quote(self.name)}: the function must return numbers: {error}") from error
        if values.shape != (len(judged),):
            raise ValueError(
                f"metric {quote(self.name)}: the function must return one value for each query, an array of shape "
                f"({len(judged)},), got shape {values.shape} (query {judged.query_ids[0]} and the following)"
            )
        low, high = self.low, self.high
        wrong = np.flatnonzero(np.isinf(values) | (values < low) | (values > high))
        if len(wrong):
            where = "a finite number" if math.inf == -low == high else f"from {low:g} to {high:g}"
            raise ValueError(
                f"metric {quote(self.name)}: the value {float(values[wrong[0]])!r} is not {where} "
                f"(query {judged.query_ids[wrong[0]]})"
            )
        return values

    def call_function(self, judged: Any) -> Any:
        """What the function returns. If it fails, the first query on which it fails by itself is found.

        A custom metric that evaluates other ones is named where they fail: only the outermost one looks at the queries.
        """
        calls = vars(RUNNING_FUNCTIONS).setdefault("functions", [])
        if any(function is self.function for function in calls):
            raise ValueError(f"metric {quote(self.name)}: the function evaluates its own metric")
        calls.append(self.function)
        try:
            return self.function(judged)
        except Exception as error:
            cause, place = (error, "") if len(calls) > 1 else first_failure(self.function, judged, error)
        finally:
            calls.pop()
        raise ValueError(f"metric {quote(self.name)}: {type(cause).__name__}: {cause}{place}") from cause


def first_failure(function: Callable[[Any], Any], judged: Any, error: Exception) -> tuple[Exception, str]:
    """The error of the first query on which a function fails, else the error of all queries together."""
    for row, query_id in enumerate(judged.query_ids):
        try:
            function(judged._query(row))
        except Exception as alone:
            return alone, f" (query {query_id})"
    return error, " (all queries together)"


def numbers_by_query(returned: Any, query_ids: list[Any]) -> np.ndarray:
    """What a function returns as floats, with NaN for masked values; a Series of all queries is put in their order."""
    if hasattr(returned, "reindex") and len(returned) == len(query_ids) and set(returned.index) == set(query_ids):
        returned = returned.reindex(query_ids)
    array = np.asanyarray(returned)
    if array.dtype.kind not in "biuf":
        check_numbers(array, query_ids)
    values = array.astype(float)
    return np.ma.filled(values, np.nan) if isinstance(values, np.ma.MaskedArray) else np.asarray(values)


def check_numbers(values: np.ndarray, query_ids: list[Any]) -> None:
    """Refuse an array of another dtype unless it holds real numbers."""
    for place, value in enumerate(values.flat):
        if not isinstance(value, numbers.Real) or isinstance(value, np.timedelta64):
            query = query_ids[min(place, len(query_ids) - 1)]
            raise TypeError(f"got {type(value).__name__} {quote(value)} (query {query})")


def custom_metric(
    name: str,
    function: Callable[[Any], Any],
    *,
    higher_is_better: bool = True,
    low: SupportsFloat = -math.inf,
    high: SupportsFloat = math.inf,
    about: str = "",
) -> CustomMetric:
    """Make a custom metric, for any list of metrics, for rankings with or without ids.

    Parameters
    ----------
    name : str
        The key of its results. It is neither the name of a fastir metric nor a column of tables of results, such as
        ``query_id`` or ``run``, and it has no control characters.
    function : function of JudgedRankings
        Returns one value per query, an array of shape (n_queries,), or a Series of pandas with the query ids as its
        index. NaN or a masked value means undefined, and the mean leaves it out. The function may be called with any
        subset of the queries, in any order and in any thread, but never without queries. It gets whole rankings,
        whatever ``max_depth`` and ``judged_only`` say.
    higher_is_better : bool
        Whether `compare`, tables and gates treat larger values as better; otherwise smaller ones.
    low, high : float
        The smallest and the largest possible value; other values are errors.
    about : str
        What it measures, for the record of a result.

    Returns
    -------
    CustomMetric
        A str. Nothing is registered: the bare name has no meaning elsewhere.

    Raises
    ------
    TypeError, ValueError
        An argument has the wrong type, or the name is taken.

    Notes
    -----
    Undefined: what the function says. The metric needs a single order of documents: it does not work with
    ``ties="average"``, conventions with several tie rules, preferences or groups. In Spark and in parts (`Partial`) it
    is called where the parts are merged, once for all queries. `bounds`, `explain` and `fastir.spark.evaluate_many` do
    not take custom metrics.

    Examples
    --------
    >>> import fastir
    >>> found = fastir.custom_metric("found", lambda judged: judged.offsets[1:] - judged.offsets[:-1], about="judged")
    >>> fastir.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"b": 2.0, "a": 1.0}}, ["mrr", found])
    mrr    0.5000
    found  2.0000
    1 query
    """
    if not isinstance(name, str) or not name.strip():
        raise TypeError(f"name must be a str with characters, got {type(name).__name__} {quote(name)}")
    if re.search(f"{UNPRINTABLE}|[\ud800-\udfff]", name):
        raise ValueError(f"name: {quote(name)} has a character that cannot be printed or saved; choose another name")
    if is_metric(name):
        raise ValueError(f"name: {quote(name)} is a fastir metric; choose another name")
    if name in COLUMNS:
        raise ValueError(f"name: {quote(name)} is a column of tables of results; choose another name")
    if not callable(function):
        raise TypeError(f"function must be callable, got {type(function).__name__}")
    if not isinstance(about, str):
        raise TypeError(f"about must be a str, got {type(about).__name__}")
    low, high = number("low", low), number("high", high)
    if low > high:
        raise ValueError(f"low must be at most high, got {low!r} and {high!r}")
    return CustomMetric(str.__str__(name), function, flag("higher_is_better", higher_is_better), low, high, about)


def restore_metric(name: str, meaning: str) -> str:
    """A name from a file, which says what it means: one of the caller's own knows which of its values are better."""
    match = re.fullmatch(MEANING, meaning)
    if match is None:
        return name
    return CustomMetric(name, no_function, match[1] == "higher", -math.inf, math.inf, match[2] or "")


def custom_among(metrics: str | Iterable[str]) -> tuple[Any, tuple[CustomMetric, ...]]:
    """The metrics, each once where some are the caller's own, and these."""
    if type(metrics) is str:
        return metrics, ()
    if type(metrics) is list or type(metrics) is tuple:
        for metric in metrics:  # a set of their types takes twice as long
            if type(metric) is not str:
                break
        else:
            return metrics, ()
    if isinstance(metrics, CustomMetric):
        return (metrics,), (metrics,)
    if isinstance(metrics, str) or not isinstance(metrics, Iterable):
        return metrics, ()
    listed = metrics
    if not isinstance(metrics, (list, tuple)):
        refuse_mapping(metrics)
        listed = list(metrics)
    if set(map(type, listed)) == {str}:
        return listed, ()
    custom = tuple(metric for metric in listed if isinstance(metric, CustomMetric))
    if not custom:
        return listed, ()
    for metric in dict.fromkeys(custom):
        if any(other is not metric and other == metric for other in listed):
            raise UnknownMetricError(f"metric {quote(metric.name)}: two metrics have this name")
    return list(dict.fromkeys(listed)), tuple(dict.fromkeys(custom))


def custom_columns(metrics: str | Iterable[str], otherwise: str) -> tuple[tuple[str, ...], CustomColumns | None]:
    """The metrics of fastir's, or `otherwise` where there are none, and what is known of the caller's own, if any."""
    listed, custom = custom_among(metrics)
    if not custom:
        return metric_tuple(listed), None
    plain = [metric for metric in listed if not isinstance(metric, CustomMetric)]
    return metric_tuple(plain or [otherwise]), CustomColumns(listed, custom)


def one_order(several: Iterable[Settings]) -> dict[str, Any]:
    """The rules, by the names of RULES, that order the documents under all of these settings."""
    first, *others = map(order_rules, several)
    if any(rules != first for rules in others):
        raise ValueError(f"the convention has several rules for the order of documents; give {', '.join(ORDER_RULES)}")
    if first["ties"] == "average":
        raise ValueError("ties='average' has no single order of documents; give another rule")
    return first


class CustomColumns:
    """The columns of custom metrics among fastir's columns; `metrics` are all, in the order of the call."""

    def __init__(self, metrics: Iterable[Any], custom: tuple[CustomMetric, ...]) -> None:
        self.metrics: list[Any] = list(metrics)
        self.custom: tuple[CustomMetric, ...] = custom
        self.judges_all: bool = False  # whether fastir's metrics follow from judged rankings, too

    def check_rules(self, rules: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The rules that order documents; raises if a rule is missing that must be there."""
        try:
            return rules()
        except ValueError as error:
            name = quote(self.custom[0].name)
            raise ValueError(f"metric {name}: a custom metric needs judged rankings; {error}") from None

    def order(self, names: list[str]) -> list[str]:
        """The names of all columns, in the order of the call; a name of several metrics keeps these before its own."""
        plain = [str.__str__(m) for m in self.metrics if isinstance(m, str) and not isinstance(m, CustomMetric)]
        if len(plain) == len(self.metrics):
            return names
        if len(self.custom) == len(self.metrics):
            return list(self.custom)
        shown, counts = names[: len(plain)], names[len(plain) :]  # counts of micro averages, if any, follow
        return [*self.metrics, *counts] if plain == shown else [*names, *self.custom]

    def join_columns(
        self, names: list[str], aggregates: list[str], values: np.ndarray, query_ids: list[Any], judged: Any
    ) -> tuple[list[str], list[str], np.ndarray]:
        """Names, aggregates and values of all metrics, for these queries."""
        places = {query_id: row for row, query_id in enumerate(judged.query_ids)}
        rows = [places[query_id] for query_id in query_ids]
        columns = dict(zip(names, zip(aggregates, values.T, strict=True), strict=True))
        columns.update((metric, ("mean", metric.values(judged)[rows])) for metric in self.custom)
        order = self.order(names)
        table = np.array([columns[name][1] for name in order], float).reshape(len(order), len(rows))
        named = [name.bare() if isinstance(name, CustomMetric) else name for name in order]
        return named, [columns[name][0] for name in order], np.ascontiguousarray(table.T)

    def record(self, provenance: Callable[[], Any]) -> Any:
        """The Provenance of an evaluation, which says that these metrics were the caller's."""
        base = provenance()
        meanings = {**base.metrics, **{metric.name: metric.meaning() for metric in self.custom}}
        return base._replace(metrics={str.__str__(name): meanings[name] for name in self.order(list(base.metrics))})
