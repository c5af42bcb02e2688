"""The statistical tests of a comparison, each declared once, as a card; `run_pairs` has a function of each name."""

from __future__ import annotations

from typing import NamedTuple

from fastir.declared import Table


class StatisticalTest(NamedTuple):
    """A paired, two-sided test of the difference of two runs.

    Attributes
    ----------
    name : str
    summary : str
    aliases : tuple of str
    needs_scipy : bool
    distributed : bool
        Whether p-values come from a formula; then none is called exact.
    resampled : bool
        Whether `n_resamples` may be drawn.
    simultaneous : bool
        Whether it corrects for the number of runs itself, and has intervals of its own.
    of_means : bool
        Whether it is about means; a test of ranks or signs finds small differences in many queries.
    joint : bool
        Whether its function takes all metrics at once, which then share the resamples and have the correction max_t.
    """

    name: str
    summary: str
    aliases: tuple[str, ...] = ()
    needs_scipy: bool = True
    distributed: bool = False
    resampled: bool = False
    simultaneous: bool = False
    of_means: bool = True
    joint: bool = False

    def names(self) -> tuple[str, ...]:
        return self.name, *self.aliases

    def cells(self) -> tuple[str, ...]:
        return f"`{self.name}`", self.summary


TESTS = Table(
    "test",
    (
        StatisticalTest("t", "Student's t of the differences", ("t_test",), distributed=True),
        StatisticalTest("wilcoxon", "Wilcoxon's signed ranks", ("signed_rank",), of_means=False),
        StatisticalTest("sign", "how many queries are better", ("sign_test",), of_means=False),
        StatisticalTest(
            "randomization",
            "Fisher's: signs of the differences at random, exact for few queries",
            ("permutation",),
            needs_scipy=False,
            resampled=True,
            joint=True,
        ),
        StatisticalTest("bootstrap", "shift of the studentized mean, queries drawn with replacement", resampled=True),
        StatisticalTest(
            "tukey",
            "honestly significant differences, over the residual of the two-way analysis of variance",
            ("hsd",),
            distributed=True,
            simultaneous=True,
        ),
        StatisticalTest(
            "randomized_tukey",
            "honestly significant differences, values of each query permuted",
            resampled=True,
            simultaneous=True,
        ),
    ),
)
