"""The records of a comparison, which only hold data: Pair, System and Method.

A Verdict and a Mean are what a table of the runs needs of them: intervals and powers, which take long, can wait.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

from fastir.declared import Record, Table
from fastir.rendering.text import counted


class StatisticalTest(Record):
    """A paired, two-sided test of the difference of two runs."""

    name: str
    summary: str
    aliases: tuple[str, ...] = ()
    needs_scipy: bool = True
    distributed: bool = False  # p-values come from a formula; none is called exact
    resampled: bool = False  # `n_resamples` may be drawn
    simultaneous: bool = False  # it corrects for the number of runs itself, and has intervals of its own
    of_means: bool = True  # a test of ranks or signs finds small differences in many queries
    clustered: bool = False  # it takes clusters of queries
    joint: bool = False  # its function takes all metrics at once, which share resamples and have the correction max_t


HSD = "honestly significant differences"

# fmt: off
TESTS = Table("test", (
    StatisticalTest("t", "Student's t of the differences", ("t_test", "student", "paired_t"),
                    needs_scipy=False, distributed=True, clustered=True),
    StatisticalTest("wilcoxon", "Wilcoxon's signed ranks", ("signed_rank", "wilcoxon_signed_rank"), of_means=False),
    StatisticalTest("sign", "how many queries are better", ("sign_test",), of_means=False),
    StatisticalTest("randomization", "Fisher's: signs of the differences at random, exact for few queries",
                    ("permutation", "fisher"), needs_scipy=False, resampled=True, clustered=True, joint=True),
    StatisticalTest("bootstrap", "shift of the studentized mean, queries drawn with replacement", resampled=True,
                    clustered=True),
    StatisticalTest("tukey", f"{HSD}, over the residual of the two-way analysis of variance", ("hsd",),
                    distributed=True, simultaneous=True),
    StatisticalTest("randomized_tukey", f"{HSD}, values of each query permuted", resampled=True, simultaneous=True),
), columns=("summary",))
# fmt: on


# ---- the records -----------------------------------------------------------------------------------------------------
SIGN_CAN_CHANGE = "unjudged documents could change its sign"  # in the note of a pair
IN_SEGMENTS = ", segments"  # of a family to which the pairs of all segments of the queries belong


class Pair(NamedTuple):
    """Two runs on one metric, query by query.

    Attributes
    ----------
    a, b : name of a run
        With a baseline, b is the baseline.
    metric : str
    difference : float
        The mean of a minus b over the queries.
    p_value : float
        Above 0 and at most 1; NaN if the test cannot be computed, and `note` then says why.
    adjusted_p : float
        The p-value corrected over its family; equal to p_value without a correction. NaN if p_value is.
    low, high : float
        The confidence interval of the difference.
    effect : float
        The effect size named by `Method.effect`; NaN where it is undefined.
    wins, ties, losses : int
        The number of queries on which a is better than b, equal up to rounding, and worse. For a metric of which less
        is better, such as ``mean_rank``, the smaller value is better; `difference` and `effect` keep the sign of
        a minus b.
    n_queries : int
        The number of compared queries: those without a NaN in any run.
    exact : bool
        Whether the p-value is counted over all arrangements of the data. A p-value is not exact if it is resampled or
        approximated, or comes from an assumed distribution, as in a t or Tukey test.
    detectable : float
        The smallest true difference that a paired t-test at level 1 - confidence finds in 80 % of such samples.
    note : str
        Why the case is degenerate, or "". With ``bounds=True`` also the range of the difference, if labels of unjudged
        documents could change its sign.
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
    """A run on one metric.

    Attributes
    ----------
    run : hashable
        Its name.
    metric : str
    mean : float
        Over the compared queries.
    low, high : float
        The confidence interval of the mean.
    n_queries : int
        The number of compared queries.
    """

    run: Hashable
    metric: str
    mean: float
    low: float
    high: float
    n_queries: int


class Verdict(Record):
    """The first fields of a Pair: the better run, and how sure that is."""

    a: Hashable
    b: Hashable
    metric: str
    difference: float
    adjusted_p: float


class Mean(Record):
    """A System without its interval."""

    run: Hashable
    metric: str
    mean: float


class Method(NamedTuple):
    """How a comparison was made; str() is a sentence.

    Attributes
    ----------
    test : str
    n_resamples : int
        The number of resamples drawn or arrangements enumerated; 0 if none.
    pairs, exact_pairs : int
        The number of pairs over all metrics, and how many of their p-values are exact.
    random_state : int
    correction : str or None
    family : {"metric", "all", "metric, segments", "all, segments"}
        Which p-values are corrected together: the p-values of these queries, or of all segments.
    family_size : int
        The number of p-values in the largest family, without NaN.
    confidence : float
    interval : str
        The interval of the differences: the one requested, or the test's own if it has one.
    effect : str
        The full name of the effect size.
    queries : {"strict", "intersection", "qrels", "chosen"}
        The rule by which the compared queries were chosen.
    n_queries : int
    unshared : int
        The number of queries that are missing from some run; they are left out, or count as 0 for that run.
    left_out : dict of str to int
        {metric: number of queries left out because a value is NaN}, without zeros.
    seeds : str or None
        What several values of a run for one query mean.
    baseline : tuple
    convention : str
        The convention of the metric values; "" if unknown.
    version : str
        Of fastir.
    n_clusters : int
        The number of clusters of queries; 0 if each query counts by itself.
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
    baseline: tuple[Any, ...]
    convention: str
    version: str
    n_clusters: int = 0

    @property
    def corrected(self) -> str:
        """The correction and its family."""
        of_pairs = {"metric": "the pairs of each metric", "all": "all pairs and metrics"}
        adjusted_family = of_pairs[self.family.removesuffix(IN_SEGMENTS)]
        in_segments = " in all segments" if self.family.endswith(IN_SEGMENTS) else ""
        return f"{self.correction} over {adjusted_family}{in_segments} ({self.family_size})"

    def __str__(self) -> str:
        sure = ", exact" if self.exact_pairs == self.pairs else f", {self.exact_pairs} of {self.pairs} p-values exact"
        if TESTS[self.test].distributed:
            sure = ""
        drawn = f"; {self.n_resamples} resamples (random_state {self.random_state})" if self.n_resamples else ""
        corrected = f"; {self.corrected}" if self.correction else ""
        queries = {
            "strict": "",
            "intersection": f" that all runs have, {self.unshared} left out",
            "qrels": f", {self.unshared} of them 0 for a run without them",
            "chosen": " that were chosen",
        }
        of_queries = counted(self.n_queries, "query", "queries")
        if self.n_clusters:
            of_queries += f" in {counted(self.n_clusters, 'cluster', 'clusters')}"
        left_out = ", ".join(f"{count} undefined in {metric}" for metric, count in self.left_out.items())
        return (
            f"{self.test} test, paired, two-sided{sure}{drawn}{corrected}; {100 * self.confidence:g} % intervals "
            f"({self.interval}); effect: {self.effect}; {of_queries}{queries[self.queries]}"
            f"{', ' + left_out if left_out else ''}{'; seeds: ' + self.seeds if self.seeds else ''}"
            f"{'; convention ' + self.convention if self.convention else ''}; fastir {self.version}"
        )
