"""evaluate_nuggets: how many of the nuggets that an answer should have are in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from fastir.analyses.verdicts.rows import (
    NO_TEXT,
    SUPPORT,
    Coded,
    DistinctRows,
    RowNames,
    VerdictMetric,
    distinct_rows,
    quotients,
    read_columns,
    read_metrics,
    refuse_empty,
    results_of_runs,
    runs_of,
)
from fastir.checks import check_choice
from fastir.data.results.by_run import ResultsByRun
from fastir.declared import Table
from fastir.engine.columns.rows import occurrences
from fastir.errors import quote

Missing = Literal["error", "zero"]
MISSING = get_args(Missing)
IMPORTANCE = {"vital": 2, "okay": 1, "ok": 1, "v": 2, "o": 1}  # twice the weight of a nugget
ASSIGNMENTS, IMPORTANCES = "support, partial_support or not_support", "vital or okay"
NO_ROW = -2  # of a run on a nugget; NO_TEXT is an empty cell


class NuggetCounts(NamedTuple):
    """Twice the worth of the assignments, of all and of some nuggets, and how many there are: (n_runs, n_queries)."""

    all: np.ndarray
    all_strict: np.ndarray
    vital: np.ndarray
    vital_strict: np.ndarray
    n: np.ndarray
    n_vital: np.ndarray


# fmt: off
NUGGET_METRICS = Table("metric of nuggets", (
    VerdictMetric("nugget_recall", "fraction of nuggets, half of one for partial support",
                  lambda c: quotients(c.all, 2 * c.n), ("all", "all_score")),
    VerdictMetric("nugget_recall_strict", "fraction of nuggets that are supported in full",
                  lambda c: quotients(c.all_strict, 2 * c.n), ("strict_all", "strict_all_score")),
    VerdictMetric("vital_recall", "fraction of vital nuggets, half of one for partial support",
                  lambda c: quotients(c.vital, 2 * c.n_vital), ("vital", "vital_score")),
    VerdictMetric("vital_recall_strict", "fraction of vital nuggets that are supported in full",
                  lambda c: quotients(c.vital_strict, 2 * c.n_vital), ("strict_vital", "strict_vital_score")),
    VerdictMetric("weighted_nugget_recall", "all nuggets, an okay one counts half, and half of one for partial support",
                  lambda c: quotients(c.all + c.vital, 2 * (c.n + c.n_vital)), ("weighted", "weighted_score")),
), columns=("summary", "aliases"))
# fmt: on


class Expected(NamedTuple):
    """The nuggets that answers should have; arrays are int64 of shape (n_nuggets,)."""

    query_ids: list[Any]
    queries: np.ndarray  # the query of each, by its position
    texts: list[Any]
    weights: np.ndarray  # twice the weight of each


def evaluate_nuggets(
    rows: Any,
    metrics: str | Iterable[str],
    *,
    expected: Any = None,
    missing: Missing = "error",
) -> ResultsByRun:
    """Evaluate answers by the nuggets in them: recall over the nuggets that are expected of each query.

    Parameters
    ----------
    rows : table, list of records, or path
        A row for each verdict: query_id, nugget, importance ("vital" or "okay"), assignment ("support",
        "partial_support", "not_support", or 1, 0.5, 0), and run, unless there is one. A frame, Arrow table, dict of
        columns or list of dicts; or a file in CSV, TSV, Parquet, JSON or JSON Lines. Records of nuggetizer, with a list
        of nuggets each, are rows, too. The importance may be missing where `expected` has it.
    metrics : str or iterable of str
        ``nugget_recall``, ``nugget_recall_strict``, ``vital_recall``, ``vital_recall_strict`` and
        ``weighted_nugget_recall``; nuggetizer's ``all``, ``strict_all``, ``vital`` and ``strict_vital`` are names of
        the first four.
    expected : {query_id: {nugget: importance}}, table as `rows` without run and assignment, path, or None
        The nuggets that every run's answer is held to. None: all nuggets of a query in any row.
    missing : {"error", "zero"}
        What an expected nugget without a verdict is: an error, or a nugget that is not supported. None is ever left out
        of the denominator.

    Returns
    -------
    ResultsByRun
        {run: Results}, with a value from 0 to 1 for each expected query. **Undefined**: a query without nuggets, or
        without vital ones, has the value 0, as in nuggetizer.

    Raises
    ------
    ValueError
        A nugget has no verdict or two, is not expected, or has two importances; a word is not one of those above.
        FormatError, which is one, names the file.
    UnknownMetricError
        A metric does not exist.
    TypeError, OSError, ImportError
        The rows are no table; a file cannot be read; Parquet needs pyarrow.

    Notes
    -----
    Pradeep et al. (2024), arXiv 2411.09607, and castorini/nuggetizer: support is worth 1, partial support ½; strict
    metrics count support alone. In ``weighted_nugget_recall`` a vital nugget weighs 1, an okay one ½.

    Examples
    --------
    >>> import fastir
    >>> rows = [
    ...     {"query_id": "q1", "nugget": "made in 1991", "importance": "vital", "assignment": "support"},
    ...     {"query_id": "q1", "nugget": "named after a show", "importance": "okay", "assignment": "partial_support"},
    ... ]
    >>> fastir.evaluate_nuggets(rows, ["nugget_recall", "vital_recall", "weighted_nugget_recall"])["run"]
    nugget_recall           0.7500
    vital_recall            1.0000
    weighted_nugget_recall  0.8333
    1 query
    """
    wanted = read_metrics(NUGGET_METRICS, metrics)
    check_choice("missing", missing, MISSING)
    needed = ("query_id", "nugget", "assignment", *(("importance",) if expected is None else ()))
    columns, path = read_columns(rows, needed, ("run", "importance"))
    where = RowNames(path, columns)
    refuse_empty(columns, ("query_id", "run", "nugget"), where)
    worth = columns["assignment"].worth(SUPPORT, where, ASSIGNMENTS)
    weights = columns["importance"].worth(IMPORTANCE, where, IMPORTANCES) if "importance" in columns else None
    pairs = distinct_rows(columns["query_id"], columns["nugget"])
    if expected is None:
        nuggets, numbers = make_expected(columns, pairs, weights, where), pairs.numbers
    else:
        nuggets = read_expected(expected)
        numbers = expected_numbers(columns, pairs, nuggets, where)
        if weights is not None and (other := (weights != NO_TEXT) & (weights != nuggets.weights[numbers])).any():
            raise where.error(int(other.argmax()), "the nugget has another importance in `expected`")
    runs, n_queries = runs_of(columns), len(nuggets.query_ids)
    verdicts = np.full((len(runs.texts), len(nuggets.texts)), NO_ROW, np.int64)
    verdicts[runs.codes, numbers] = worth
    if (verdicts != NO_ROW).sum() < len(numbers):
        row, before = distinct_rows(runs, Coded(numbers, nuggets.texts)).repeat() or (0, 0)
        raise where.error(row, f"the nugget has a verdict already, in row {before}")
    there = verdicts >= 0
    if missing == "error" and not there.all():
        raise missing_verdict(runs.texts, nuggets, there)
    verdicts[~there] = 0
    counts = count_nuggets(verdicts, nuggets.weights > 1, nuggets.queries, n_queries)
    present = np.stack([occurrences(nuggets.queries[row], minlength=n_queries) > 0 for row in there])
    return ResultsByRun(results_of_runs(runs.texts, nuggets.query_ids, wanted, counts, present))


def count_nuggets(verdicts: np.ndarray, vital: np.ndarray, of_query: np.ndarray, n_queries: int) -> NuggetCounts:
    """The counts of verdicts, of shape (n_runs, n_nuggets)."""

    def by_query(row: np.ndarray) -> np.ndarray:
        return occurrences(of_query, row.astype(np.float64), n_queries)  # exact: whole numbers

    def by_run(table: np.ndarray) -> np.ndarray:
        return np.stack([by_query(row) for row in table])

    strict = np.where(verdicts == 2, 2, 0)
    every = np.ones(len(of_query))
    return NuggetCounts(
        *(by_run(verdicts), by_run(strict), by_run(verdicts * vital), by_run(strict * vital)),
        *(by_query(every), by_query(vital)),
    )


# ---- the expected nuggets --------------------------------------------------------------------------------------------
def make_expected(
    columns: dict[str, Coded], pairs: DistinctRows, weights: np.ndarray | None, where: RowNames
) -> Expected:
    """The Expected of rows, in which a nugget may stand several times, always with the same weight."""
    kept = np.empty(0, np.int64) if weights is None else weights[pairs.rows]
    if weights is not None:
        if (weights == NO_TEXT).any():
            raise where.error(int((weights == NO_TEXT).argmax()), "the nugget has no importance")
        if (other := weights != kept[pairs.numbers]).any():
            raise where.error(int(other.argmax()), "the nugget has another importance in a row before")
    query, nugget = columns["query_id"], columns["nugget"]
    codes = query.codes[pairs.rows].tolist()
    numbers = {code: number for number, code in enumerate(dict.fromkeys(codes))}
    texts = [nugget.texts[code] for code in nugget.codes[pairs.rows].tolist()]
    queries = np.fromiter(map(numbers.__getitem__, codes), np.int64, len(codes))
    return Expected([query.texts[code] for code in numbers], queries, texts, kept)


def read_expected(expected: Any) -> Expected:
    """The expected nuggets as a caller gave them."""
    names = ("query_id", "nugget", "importance")
    if isinstance(expected, Mapping) and all(isinstance(nuggets, Mapping) for nuggets in expected.values()):
        empty = [query for query, nuggets in expected.items() if not nuggets]
        if empty:
            raise ValueError(f"expected: query {quote(empty[0])} has no nugget")
        triples = [(query, *pair) for query, nuggets in expected.items() for pair in nuggets.items()]
        expected = {name: [triple[place] for triple in triples] for place, name in enumerate(names)}
    columns, path = read_columns(expected, names, what="expected")
    where = RowNames(path, columns, "expected: ")
    refuse_empty(columns, names, where)
    pairs = distinct_rows(columns["query_id"], columns["nugget"])
    if repeat := pairs.repeat():
        raise where.error(repeat[0], f"the nugget stands already in row {repeat[1]}")
    return make_expected(columns, pairs, columns["importance"].worth(IMPORTANCE, where, IMPORTANCES), where)


def expected_numbers(columns: dict[str, Coded], pairs: DistinctRows, nuggets: Expected, where: RowNames) -> np.ndarray:
    """The number of each row's nugget among the expected ones."""
    known = {
        (str(nuggets.query_ids[query]), str(text)): number
        for number, (query, text) in enumerate(zip(nuggets.queries.tolist(), nuggets.texts, strict=True))
    }
    query, nugget = columns["query_id"], columns["nugget"]
    numbers = [known.get((str(query.text(row)), str(nugget.text(row))), NO_TEXT) for row in pairs.rows.tolist()]
    found: np.ndarray = np.array(numbers, np.int64)[pairs.numbers]
    if (found == NO_TEXT).any():
        row = int((found == NO_TEXT).argmax())
        is_known = str(query.text(row)) in map(str, nuggets.query_ids)
        raise where.error(row, "the nugget is not expected" if is_known else "nothing is expected of this query")
    return found


def missing_verdict(runs: list[Any], nuggets: Expected, there: np.ndarray) -> ValueError:
    """The error about the first nugget without a verdict, with how many there are."""
    run, number = np.argwhere(~there)[0].tolist()
    query, nugget = nuggets.query_ids[nuggets.queries[number]], nuggets.texts[number]
    count = int((~there).sum())
    others = f", and {count - 1} more have none" if count > 1 else ""
    return ValueError(
        f"run {quote(runs[run])}, query {quote(query)}: nugget {quote(nugget)} has no verdict{others}; missing='zero' "
        "counts such nuggets as not supported"
    )
