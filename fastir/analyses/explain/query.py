"""explain(): where the values of one query of a run come from."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastir.analyses.explain.records import Document, Explanation
from fastir.checks import refuse_options
from fastir.data.results.exportable import Exportable
from fastir.data.run import Run
from fastir.errors import FastirWarning
from fastir.evaluation.evaluator import Evaluator
from fastir.rendering import Cell, Table, number_cell
from fastir.rendering.text import decimals, signed_text
from fastir.request.options import OF_DOCUMENTS

if TYPE_CHECKING:
    from typing import Unpack

    from fastir.analyses.explain.records import Explanation
    from fastir.data.qrels import QrelsLike
    from fastir.data.run import RunLike
    from fastir.evaluation.keywords import EvaluateOptions, ExplainOptions
    from fastir.request.conventions import Convention
    from fastir.request.keywords import ConventionName


def explain(
    qrels: QrelsLike, run: RunLike, query_id: str | int, metrics: str | Iterable[str], **options: Unpack[ExplainOptions]
) -> Explanation:
    """Show where the values of one ranking come from: the label and the contribution of each document.

    For several queries or runs with the same qrels, use `Evaluator.explain`, which prepares the qrels once.

    Parameters
    ----------
    qrels, run : as for `evaluate`
        Other queries in a file of lines are read but not kept, and not checked for duplicates.
    query_id : str or int
        A query of the qrels; its ranking is empty if the query is missing from the run.
    metrics : str or iterable of str
        As for `evaluate`.
    **options
        Options of `evaluate`, except `weights`, `doc_weights`, `unanswerable`, `doc_costs`, `doc_groups`, `target` and
        `ties_report`: one query has no mean, and labels do not show the others.
        ``queries="strict"`` reads the whole run.

    Returns
    -------
    Explanation
        The documents in the evaluated order, with ties, labels, gains, discounts and contributions; and the missing
        relevant documents. Its method `diff` compares it with the Explanation of another run.

    Raises
    ------
    KeyError
        The qrels have no such query.
    NoOverlapError
        With ``queries="intersection"`` the query does not count, because it is missing from the run.
    ValueError
        There is no single ranking: the query has equal scores, and the convention orders them differently for different
        metrics, or the tie rule orders them differently for different groups of the qrels.
    UnknownMetricError, NoOverlapError, FormatError, DuplicateError, TypeError, ValueError, OverflowError, OSError
        As by `evaluate`.

    Examples
    --------
    >>> import fastir
    >>> fastir.explain({"q": {"a": 1, "b": 2}}, {"q": {"x": 3.0, "b": 2.0}}, "q", ["mrr", "ndcg"])
    query q: mrr 0.5000, ndcg 0.4796
    rank     doc_id  score  tied  label      mrr     ndcg
    1        x           3            -
    2        b           2            2  +0.5000  +0.4796
    missing  a                        1
    """
    refuse_options("explain", options, ("weights",), "one query has no mean that weights of queries could change")
    others = [name for name in (*OF_DOCUMENTS, "ties_report") if not name.startswith("forbidden")]
    refuse_options("explain", options, others, "labels do not show it")
    return Evaluator(qrels, metrics, **options).explain(run, query_id)


# ---- two conventions -------------------------------------------------------------------------------------------------
PRINTED_QUERIES = 10  # queries that are printed
ABSENT_TEXT = "left out"  # of a query that does not count


class QueryPair(NamedTuple):
    """The values of a query under two conventions; NaN where it does not count.

    Attributes
    ----------
    query_id : str or int
    value, other : float
    change : float
        The other value less the first; a value that does not count is taken for 0.
    """

    query_id: str | int
    value: float
    other: float
    change: float


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class ConventionsDiff(Exportable):
    """Why two conventions give a run different values; made by `explain_conventions`, prints as a table.

    Attributes
    ----------
    metric : str
    conventions : tuple of str
        The two, in words.
    means : tuple of float
    queries : list of QueryPair
        The queries with different values, the largest changes first; among them queries that count under one convention
        only.
    step : str
        The step at which the two rankings of the explained query first differ, in words; empty if no query differs.
    explained : tuple of Explanation, or None
        The explained query under both.
    """

    metric: str
    conventions: tuple[str, str]
    means: tuple[float, float]
    queries: list[QueryPair]
    step: str
    explained: tuple[Explanation, Explanation] | None

    def _columns(self) -> dict[str, list[Any]]:
        return {name: [getattr(each, name) for each in self.queries] for name in QueryPair._fields}

    def _title(self) -> str:
        (one, other), (mean, other_mean) = self.conventions, self.means
        number = f"{len(self.queries)} {'query differs' if len(self.queries) == 1 else 'queries differ'}"
        return f"{self.metric}: {decimals(mean)} by {one}, {decimals(other_mean)} by {other}; {number}"

    def _table(self, digits: int = 4) -> Table:
        rows = [
            [
                Cell(str(each.query_id)),
                *(Cell(ABSENT_TEXT) if math.isnan(value) else number_cell(value, digits) for value in each[1:3]),
                Cell(signed_text(each.change, digits), exact=repr(each.change)),
            ]
            for each in self.queries[:PRINTED_QUERIES]
        ]
        hidden = len(self.queries) - len(rows)
        notes = [f"{hidden} more"] * (hidden > 0) + [self.step] * bool(self.step)
        return Table(["query", *self.conventions, "change"], rows, 1, notes, self._title())


def explain_conventions(
    qrels: QrelsLike,
    run: RunLike,
    query_id: str | int | None,
    metric: str,
    pair: tuple[ConventionName | str | Convention, ConventionName | str | Convention],
    **options: Unpack[EvaluateOptions],
) -> ConventionsDiff:
    """Show on which queries two conventions differ most, and for one query the step where they first differ.

    Parameters
    ----------
    qrels, run : as for `evaluate`
    query_id : str, int or None
        The query to compare step by step; None: the query that differs most.
    metric : str
        The name of one metric; each convention reads it as its tool does.
    pair : tuple of (str or Convention)
        Two conventions.
    **options
        Options of `evaluate`, without `convention`, `doc_weights`, `forbidden`, `forbidden_level`, `unanswerable`,
        `doc_costs`, `doc_groups` and `target`; they hold for both.

    Returns
    -------
    ConventionsDiff
        A step is a rank with different documents, or with the same document but another gain, discount or share. If no
        rank differs, it is whether the query counts, or its value.

    Raises
    ------
    KeyError
        The qrels have no such query.
    ValueError
        The name means several metrics, or `pair` is not a pair.
    UnknownMetricError, NoOverlapError, FormatError, DuplicateError, TypeError, ValueError, OverflowError, OSError
        As by `evaluate` and `explain`.

    Examples
    --------
    >>> import fastir
    >>> qrels, run = {"q1": {"a": 2, "b": 1}, "q2": {"c": 1}}, {"q1": {"b": 2.0, "a": 1.0}, "q2": {"c": 1.0}}
    >>> found = fastir.explain_conventions(qrels, run, None, "ndcg@10", ("trec_eval-9", "lightgbm"))
    >>> [(each.query_id, round(each.change, 4)) for each in found.queries]
    [('q1', -0.063)]
    >>> found.step  # doctest: +ELLIPSIS
    'query q1 parts at rank 1: b, label 1, adds 0.3801 by trec_eval-9 and 1.0000 by lightgbm; its gain is 1 in ...'
    """
    refuse_options("explain_conventions", options, ("convention",), "pair names the conventions")
    refuse_options("explain_conventions", options, (*OF_DOCUMENTS, "ties_report"), "labels do not show it")
    if isinstance(pair, str) or len(pair) != 2:
        raise ValueError(f"pair must be two conventions, such as ('beir', 'ranx'), got {pair!r}")
    if isinstance(run, (str, os.PathLike)):
        run = Run.from_file(run)  # which two evaluations read
    chosen_options: dict[str, Any] = dict(options)
    evaluators = [Evaluator(qrels, metric, **(chosen_options | {"convention": each})) for each in pair]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FastirWarning)  # of what both have, such as missing queries
        results = [evaluator.evaluate(run) for evaluator in evaluators]
    names = [each.names for each in results]
    if max(map(len, names)) > 1:
        raise ValueError(f"metric {metric!r} means several metrics; expected one")
    by_query = [each.per_query(name[0]) for each, name in zip(results, names, strict=True)]
    queries = find_differences(*by_query)
    one, other = (each.convention for each in results)
    # the names of the conventions, or all that they choose if both have one name
    texts = (one.name, other.name) if one.name != other.name else (str(one), f"{other} (the second)")
    chosen = queries[0].query_id if query_id is None and queries else query_id
    explained, step = None, ""
    if chosen is not None:
        explained = evaluators[0].explain(run, chosen), evaluators[1].explain(run, chosen)
        step = f"query {chosen} {describe_step(explained, texts, by_query)}"
    means = results[0][names[0][0]], results[1][names[1][0]]
    return ConventionsDiff(metric, texts, means, queries, step, explained)


def find_differences(ours: dict[Any, float], theirs: dict[Any, float]) -> list[QueryPair]:
    """The queries with different values, the largest changes first."""
    found = []
    for query_id in dict.fromkeys([*ours, *theirs]):
        value, other = ours.get(query_id, math.nan), theirs.get(query_id, math.nan)
        if value != other and not (math.isnan(value) and math.isnan(other)):
            change = float(np.nan_to_num(other) - np.nan_to_num(value))
            found.append(QueryPair(query_id, value, other, change))
    return sorted(found, key=lambda each: -abs(each.change))


def describe_step(
    explained: tuple[Explanation, Explanation], names: tuple[str, str], by_query: list[dict[Any, float]]
) -> str:
    """Where two explanations of a query part, in words."""
    one, other = explained
    ours, theirs = names
    counts = [
        not math.isnan(values.get(each.query_id, math.nan)) for values, each in zip(by_query, explained, strict=True)
    ]
    if counts[0] != counts[1]:
        return f"counts by {names[counts.index(True)]} alone ({one.status})"
    metric, other_metric = next(iter(one.values)), next(iter(other.values))
    for place, (here, there) in enumerate(zip(one.documents, other.documents, strict=False)):
        if here.doc_id != there.doc_id:
            tie = f", {here.tied} documents have its score" if here.tied > 1 or there.tied > 1 else ""
            return f"parts at rank {here.rank or place + 1}: {here.doc_id} by {ours}, {there.doc_id} by {theirs}{tie}"
        adds, other_adds = here.contribution[metric], there.contribution[other_metric]
        if adds != other_adds:
            label = "no label" if here.label is None else f"label {here.label}"
            added = f"{decimals(adds)} by {ours} and {decimals(other_adds)} by {theirs}"
            return f"parts at rank {here.rank}: {here.doc_id}, {label}, adds {added}{gains(here, there)}"
    lengths = len(one.documents), len(other.documents)
    if lengths[0] != lengths[1]:
        return f"parts at rank {min(lengths) + 1}: the ranking has {lengths[0]} and {lengths[1]} documents"
    if one.values[metric] != other.values[other_metric]:
        before = decimals(one.base[metric]), decimals(other.base[other_metric])
        return f"has the same ranking, and is {before[0]} and {before[1]} before it"
    return "has the same value"


def gains(here: Document, there: Document) -> str:
    """Say whether the gain differs, or its factor or divisor."""
    [one], [other] = here.gain.values(), there.gain.values()
    if one != other:
        return f"; its gain is {one:g} and {other:g}"
    return f"; its gain is {one:g} in both, not so its discount or what divides it" if one else ""
