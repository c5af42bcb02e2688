"""Paired tests, intervals, effect sizes and corrections on plain arrays.

    differences of two runs    t_test  wilcoxon  sign_test  randomization_test  bootstrap_test  equivalence_test
    their mean, an interval    t_interval  bootstrap_interval
    many runs                  two_way_anova  tukey_test  randomized_tukey_test
    many p-values              adjust  max_t
    size and power             effect_size  power  sample_size  detectable

Values come as one array per run, aligned by query, or as a table of queries × runs; `fastir.compare_scores` aligns by
query id. Most of them need SciPy: ``pip install fastir[stats]``. What is resampled depends on `random_state` and on the
order of the queries, and is the same for any number of threads and on every machine; distributions are SciPy's, whose
last digits may differ between machines.
"""

from fastir.stats._checks import Interval, Test
from fastir.stats.anova import Anova, Source, Tukey, randomized_tukey_test, tukey_test, two_way_anova
from fastir.stats.bootstrap import bootstrap_interval, bootstrap_test
from fastir.stats.corrections import adjust
from fastir.stats.effects import EFFECTS, detectable, effect_size, hedges_factor, power, sample_size
from fastir.stats.numeric import studentized_range_ppf, studentized_range_sf
from fastir.stats.paired import equivalence_test, sign_test, t_interval, t_test, welch_test, wilcoxon
from fastir.stats.randomization import max_t, randomization_test

__all__ = [
    "EFFECTS",
    "Anova",
    "Interval",
    "Source",
    "Test",
    "Tukey",
    "adjust",
    "bootstrap_interval",
    "bootstrap_test",
    "detectable",
    "effect_size",
    "equivalence_test",
    "hedges_factor",
    "max_t",
    "power",
    "randomization_test",
    "randomized_tukey_test",
    "sample_size",
    "sign_test",
    "studentized_range_ppf",
    "studentized_range_sf",
    "t_interval",
    "t_test",
    "tukey_test",
    "two_way_anova",
    "welch_test",
    "wilcoxon",
]
