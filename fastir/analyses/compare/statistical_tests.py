"""The statistical tests of a comparison, each declared once, as a card; `run_pairs` has a function of each name."""

from __future__ import annotations

from typing import NamedTuple

from fastir.declared import Table


class StatisticalTest(NamedTuple):
    """A paired, two-sided test of the difference of two runs."""

    name: str
    summary: str
    aliases: tuple[str, ...] = ()
    needs_scipy: bool = True
    distributed: bool = False  # p-values come from a formula; none is called exact
    resampled: bool = False  # `n_resamples` may be drawn
    simultaneous: bool = False  # it corrects for the number of runs itself, and has intervals of its own
    of_means: bool = True  # a test of ranks or signs finds small differences in many queries
    joint: bool = False  # its function takes all metrics at once, which share resamples and have the correction max_t


HSD = "honestly significant differences"

# fmt: off
TESTS = Table("test", (
    StatisticalTest("t", "Student's t of the differences", ("t_test", "student", "paired_t"),
                    needs_scipy=False, distributed=True),
    StatisticalTest("wilcoxon", "Wilcoxon's signed ranks", ("signed_rank", "wilcoxon_signed_rank"), of_means=False),
    StatisticalTest("sign", "how many queries are better", ("sign_test",), of_means=False),
    StatisticalTest("randomization", "Fisher's: signs of the differences at random, exact for few queries",
                    ("permutation", "fisher"), needs_scipy=False, resampled=True, joint=True),
    StatisticalTest("bootstrap", "shift of the studentized mean, queries drawn with replacement", resampled=True),
    StatisticalTest("tukey", f"{HSD}, over the residual of the two-way analysis of variance", ("hsd",),
                    distributed=True, simultaneous=True),
    StatisticalTest("randomized_tukey", f"{HSD}, values of each query permuted", resampled=True, simultaneous=True),
), columns=("summary",))
# fmt: on
