"""Paired tests, intervals, effect sizes and corrections on plain arrays.

    differences of two runs    t_test  wilcoxon  sign_test  randomization_test  bootstrap_test  equivalence_test
    their mean, an interval    t_interval  bootstrap_interval
    looked at again and again  confidence_sequence
    few judged by people       ppi_mean  ppi_difference  corrected_rate
    many runs                  two_way_anova  tukey_test  randomized_tukey_test
    many p-values              adjust  max_t
    size and power             effect_size  power  sample_size  detectable  labels_needed

Values come as one array per run, aligned by query, or as a table of queries × runs; `fastir.compare_scores` aligns by
query id. Student's t, power and randomization need NumPy alone; ranks, signs, "bca", Tukey and the analysis of variance
need SciPy: ``pip install fastir[stats]``. Resamples depend on `random_state` and on the order in which queries come;
they are the same for any number of threads and on every machine. The last digits of distributions can differ between
machines.

In        plain arrays of finite float64 values, as above
Out       named tuples: Test, Interval, PredictionPowered, Anova, Tukey; arrays of p-values
Validates _checks the shapes and finite values, fastir.checks the options. Kernels get values only as whole
          numbers of a common unit
Allocates each call its own arrays; resamples are drawn in blocks
Raises    ValueError and TypeError for arguments. What cannot be computed is NaN, and the result's `note` says why

paired_tests    t, Wilcoxon, sign and equivalence tests of two runs
randomization   sign flips, exact where they can be enumerated; max_t
bootstrap       intervals and tests by resampling queries; intervals of weighted means, for Results
anova           two-way analysis of variance, Tukey's tests
predictions     means of which few values are known and many predicted: prediction-powered inference
judges          error rates of a judge, a rate corrected for them; how many human labels are needed
sequences       intervals that hold at every look
clusters        queries that are not independent, such as repeats of a question
effects         effect sizes, power, sample size
corrections     of many p-values
numeric         the studentized range, and the root of a function
grid            values as whole numbers of one unit, so that sums are exact and ties are seen; exact p-values
resampling      seeds, and resamples shared among threads in blocks
_checks         shared by the files: reading arguments, Test, Interval
_resample       the loops over resamples
"""

from fastir.stats._checks import Interval, Test
from fastir.stats.anova import Anova, Source, Tukey, randomized_tukey_test, tukey_test, two_way_anova
from fastir.stats.bootstrap import bootstrap_interval, bootstrap_test
from fastir.stats.corrections import adjust
from fastir.stats.effects import EFFECTS, detectable, effect_size, hedges_factor, power, sample_size
from fastir.stats.judges import CorrectedRate, corrected_rate, labels_needed
from fastir.stats.numeric import studentized_range_ppf, studentized_range_sf
from fastir.stats.paired_tests import equivalence_test, sign_test, t_interval, t_test, welch_test, wilcoxon
from fastir.stats.predictions import PredictionPowered, ppi_difference, ppi_mean
from fastir.stats.randomization import max_t, randomization_test
from fastir.stats.sequences import ConfidenceSequence, confidence_sequence

__all__ = [
    "EFFECTS", "Anova", "ConfidenceSequence", "CorrectedRate", "Interval", "PredictionPowered", "Source", "Test",
    "Tukey", "adjust", "bootstrap_interval", "bootstrap_test", "confidence_sequence", "corrected_rate", "detectable",
    "effect_size", "equivalence_test", "hedges_factor", "labels_needed", "max_t", "power", "ppi_difference",
    "ppi_mean", "randomization_test", "randomized_tukey_test", "sample_size", "sign_test", "studentized_range_ppf",
    "studentized_range_sf", "t_interval", "t_test", "tukey_test", "two_way_anova", "welch_test", "wilcoxon",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__
