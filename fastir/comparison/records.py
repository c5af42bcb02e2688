"""What a comparison of runs returns: records of numbers, which know nothing of how they were computed."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import os

    import numpy as np
    import pandas

    from fastir.results.changes import ResultsDiff
    from fastir.stats import Anova

DISTRIBUTED = ("t", "tukey")  # whose p-values come from a formula: to call them exact would say nothing


class Pair(NamedTuple):
    """Two runs on one metric, query by query.

    Attributes
    ----------
    a, b : name of a run
        With a baseline, b is the baseline.
    metric : str
    difference : float
        The mean over the queries of a minus b.
    p_value : float
        Of the test, above 0 and at most 1; NaN where it cannot be had, and then `note` says why.
    adjusted_p : float
        Corrected over the family; p_value itself without a correction. NaN with p_value.
    low, high : float
        The interval of the difference.
    effect : float
        The effect size that `Method.effect` names; NaN where it is undefined.
    wins, ties, losses : int
        Queries on which a is above b, equal to it but for rounding, below it.
    n_queries : int
        Queries that took part: those whose value is NaN in some run did not.
    exact : bool
        The p-value is neither resampled nor an approximation.
    detectable : float
        The smallest true difference that a paired t-test at level 1 - confidence would find in 80 % of such samples.
    note : str
        What is degenerate, "" if nothing is.
    """

    a: Hashable
    b: Hashable
    metric: str
    difference: float
    p_value: float
    adjusted_p: float
    low: float
    high: float
    effect: float
    wins: int
    ties: int
    losses: int
    n_queries: int
    exact: bool
    detectable: float
    note: str


class System(NamedTuple):
    """A run on one metric: the mean over the queries that took part, and its interval."""

    run: Hashable
    metric: str
    mean: float
    low: float
    high: float
    n_queries: int


class Method(NamedTuple):
    """How a comparison was made; str() is a sentence.

    Attributes
    ----------
    test : str
    n_resamples : int
        Of whatever is random or enumerated; 0 if nothing is.
    pairs, exact_pairs : int
        How many, over all metrics, and how many of their p-values are exact.
    random_state : int
    correction : str or None
    family : {"metric", "all"}
        Which p-values are corrected together.
    family_size : int
        p-values in the largest family, without those that are NaN.
    confidence : float
    interval : str
        Of the differences: the one asked for, or that of the test, where it has its own.
    effect : str
        The effect size in full.
    queries : {"same", "intersection", "zero", "chosen"}
        By what rule queries were compared.
    n_queries : int
    unshared : int
        Queries that some run lacks: left out, or counted as 0 where it does.
    left_out : dict of str to int
        {metric: queries left out because a value is NaN}, without zeros.
    seeds : str or None
        What several values of a run for one query are.
    baseline : tuple
    convention : str
        Of the metric values, "" if unknown.
    version : str
        Of fastir.
    """

    test: str
    n_resamples: int
    pairs: int
    exact_pairs: int
    random_state: int
    correction: str | None
    family: str
    family_size: int
    confidence: float
    interval: str
    effect: str
    queries: str
    n_queries: int
    unshared: int
    left_out: dict[str, int]
    seeds: str | None
    baseline: tuple
    convention: str
    version: str

    def __str__(self) -> str:
        sure = ", exact" if self.exact_pairs == self.pairs else f", {self.exact_pairs} of {self.pairs} p-values exact"
        if self.test in DISTRIBUTED:
            sure = ""
        drawn = f"; {self.n_resamples} resamples (random_state {self.random_state})" if self.n_resamples else ""
        of_family = {"metric": "the pairs of each metric", "all": "all pairs and metrics"}[self.family]
        corrected = f"; {self.correction} over {of_family} ({self.family_size})" if self.correction else ""
        queries = {
            "same": "",
            "intersection": f" that all runs have, {self.unshared} left out",
            "zero": f", {self.unshared} of them 0 where a run lacks them",
            "chosen": " that were chosen",
        }
        left_out = ", ".join(f"{count} undefined in {metric}" for metric, count in self.left_out.items())
        return (
            f"{self.test} test, paired, two-sided{sure}{drawn}{corrected}; {100 * self.confidence:g} % intervals "
            f"({self.interval}); effect: {self.effect}; {self.n_queries} queries{queries[self.queries]}"
            f"{', ' + left_out if left_out else ''}{'; seeds: ' + self.seeds if self.seeds else ''}"
            f"{'; convention ' + self.convention if self.convention else ''}; fastir {self.version}"
        )


class Comparison:
    """Runs compared pair by pair.

    Attributes
    ----------
    runs : list
        The names, as they came.
    metrics : list of str
    pairs : list of Pair
        Metric by metric; within one all pairs in the order of the runs, or every run against each baseline.
    systems : list of System
        Metric by metric, then run by run.
    method : Method
    query_ids : list
        Sorted by their text.
    values : float64 array of shape (n_metrics, n_queries, n_runs)
        Read-only; several seeds are averaged here.
    """

    def __init__(
        self,
        runs: list,
        metrics: list[str],
        query_ids: list,
        values: np.ndarray,
        pairs: list[Pair],
        systems: list[System],
        method: Method,
    ) -> None:
        values.flags.writeable = False
        self.runs = runs
        self.metrics = metrics
        self.query_ids = query_ids
        self.values = values
        self.pairs = pairs
        self.systems = systems
        self.method = method

    def anova(self) -> dict[str, Anova]:
        """The two-way analysis of variance of each metric: do the runs differ at all?

        Raises
        ------
        ValueError
            There are not two runs, or a metric has not two queries on which all have a value.
        """
        import numpy as np

        from fastir.stats import two_way_anova

        return {
            metric: two_way_anova(values[~np.isnan(values).any(axis=1)])
            for metric, values in zip(self.metrics, self.values, strict=True)
        }

    @property
    def per_query(self) -> dict[Hashable, dict[str, dict[Any, float]]]:
        """The values, {run: {metric: {query_id: value}}}, as `compare_scores` takes them."""
        columns = self.values.transpose(2, 0, 1).tolist()
        return {
            run: {
                metric: dict(zip(self.query_ids, values, strict=True))
                for metric, values in zip(self.metrics, of_run, strict=True)
            }
            for run, of_run in zip(self.runs, columns, strict=True)
        }

    # ---- as text and files (tables.py) ----------------------------------------------------------------------------

    def to_table(
        self,
        format: str = "text",
        *,
        rows: str = "runs",
        intervals: bool = False,
        digits: int = 4,
        alpha: float | None = None,
    ) -> str:
        """A table to print.

        Parameters
        ----------
        format : {"text", "markdown", "html", "latex"}
            LaTeX needs the package booktabs.
        rows : {"runs", "pairs"}
            "runs": a row for each run with its means; the best are bold, and raised letters name the runs that it is
            significantly better than (numbers, from 26 runs up). "pairs": a row for each pair and metric, with the
            difference, its interval, p-values, effect size, and wins, ties and losses.
        intervals : bool
            Whether to show the interval of each mean.
        digits : int
            Decimals, from 1 to 17.
        alpha : float or None
            Significant is a corrected p-value up to this; None is 1 - confidence.

        Raises
        ------
        ValueError
            An argument is none of these.

        Notes
        -----
        Better is a larger value: of metrics such as ``unjudged``, compare the negated values.
        """
        from fastir.comparison.tables import table_text

        return table_text(self, format, rows, intervals, digits, alpha)

    def __repr__(self) -> str:
        return self.to_table()

    def _repr_html_(self) -> str:
        return self.to_table("html")

    def to_json(self, per_query: bool = False) -> dict[str, Any]:
        """Systems, pairs, method and, if wanted, the values of every query, in types that JSON has: None for NaN."""
        from fastir.comparison.tables import plain

        return plain(self, per_query)

    def to_pandas(self, rows: str = "pairs") -> pandas.DataFrame:
        """The pairs, or the systems with ``rows="runs"``, as a new frame: a row for each record, a column per field.

        Raises
        ------
        ImportError
            pandas is not installed.
        ValueError
            `rows` is neither.
        """
        import pandas

        from fastir.request.options import one_of

        one_of("rows", rows, ("runs", "pairs"))
        return pandas.DataFrame(self.systems if rows == "runs" else self.pairs)

    def save(self, path: str | os.PathLike, **options: Any) -> None:
        """Write a file, in one step.

        Parameters
        ----------
        path : str or path
            ``.json``: what `to_json` gives; ``.tsv``: the pairs, a line for each, the numbers exact; ``.txt``, ``.md``,
            ``.html``, ``.tex``: what `to_table` gives.
        **options
            As for `to_json` or `to_table`.

        Raises
        ------
        ValueError
            The path ends otherwise.
        OSError
            The file cannot be written; what was there before is untouched.
        """
        from fastir.comparison.tables import saved

        saved(self, path, options)

    def diff(self, a: Hashable, b: Hashable, metric: str, top: int = 20) -> ResultsDiff:
        """The queries on which run a gains and loses against run b, as by `Results.diff`.

        Raises
        ------
        KeyError
            There is no such run or metric.
        """
        from fastir.results.changes import changes_between

        return changes_between(self, a, b, metric, top)
