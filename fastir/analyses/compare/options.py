"""The options of a comparison: their vocabulary, and the record that carries them from a caller to the tests.

`compare`, `compare_scores`, the command and Spark's `compare` make one record of what they were given. `checked` looks
at each of its options once, before a run is read; no option is checked again behind it.
"""

from __future__ import annotations

from typing import Any, Literal, SupportsIndex, get_args

from fastir.analyses.compare.records import TESTS
from fastir.analyses.compare.segments import read_segments
from fastir.checks import check_choice, flag, proportion, whole_number
from fastir.declared import Record
from fastir.engine.threads import thread_count
from fastir.inputs.mappings import CLUSTERS, read_mapping
from fastir.stats._checks import N_RESAMPLES, check_scipy
from fastir.stats.corrections import Correction
from fastir.stats.effects import Effect

Test = Literal["t", "wilcoxon", "sign", "randomization", "bootstrap", "tukey", "randomized_tukey"]
CorrectionOfPairs = Literal[Correction, "max_t", "auto"]
Family = Literal["metric", "all"]
IntervalMethod = Literal["t", "percentile", "bca"]
Seeds = Literal["mean", "crossed", "folds"]

CORRECTIONS = get_args(CorrectionOfPairs)
FAMILIES = get_args(Family)
INTERVALS = get_args(IntervalMethod)
EFFECTS = get_args(Effect)
SEEDS = get_args(Seeds)


class Options(Record):
    """A caller's options; the docstrings of `compare` and `compare_scores` say what each field means.

    `correction` is "auto" until it is checked: then it is "holm", or None for a test that corrects for the runs itself.
    With two runs and one metric Holm's correction changes nothing; with more, p-values that are not corrected find
    differences by chance.
    """

    baseline: Any = None
    test: Test = "t"
    n_resamples: Any = N_RESAMPLES  # an int once it is checked, as random_state
    correction: Any = "auto"
    family: Family = "metric"
    confidence: float = 0.95
    interval: IntervalMethod = "t"
    effect: Effect = "d_z"
    queries: Any = None
    seeds: Seeds | None = None
    segments: Any = None  # a mapping once they are checked, as clusters
    random_state: Any = 0
    n_threads: SupportsIndex | None = None
    bounds: bool = False
    clusters: Any = None

    def validate(self) -> Options:
        """The options, checked one by one and against each other.

        The baseline and the queries are looked at where the runs are known.
        """
        card, interval = TESTS.find(self.test), check_choice("interval", self.interval, INTERVALS)
        test: Any = card.name
        correction = check_choice("correction", self.correction, (None, *CORRECTIONS))
        if correction == "auto":
            correction = None if card.simultaneous else "holm"
        if correction == "max_t" and not card.joint:
            joint = " or ".join(repr(name) for name, each in TESTS.items() if each.joint)
            raise ValueError(f"correction='max_t' is for test={joint}, got test={test!r}")
        if correction is not None and card.simultaneous:
            raise ValueError(f"test={test!r} corrects for the runs itself; correction must be None, got {correction!r}")
        if self.seeds == "crossed" and (test, interval) != ("bootstrap", "percentile"):
            raise ValueError(
                "seeds='crossed' is for test='bootstrap' with interval='percentile', "
                f"got test={test!r} and interval={interval!r}"
            )
        if self.clusters is not None and not card.clustered:
            clustered = " or ".join(repr(name) for name, each in TESTS.items() if each.clustered)
            raise ValueError(f"clusters are for test={clustered}, got test={test!r}")
        if self.clusters is not None and self.seeds == "crossed":
            raise ValueError("clusters cannot be drawn with seeds='crossed'; seeds='mean' averages the seeds first")
        if self.segments is not None and correction == "max_t":
            raise ValueError("correction='max_t' is for one segment; with several there is correction='holm'")
        thread_count(self.n_threads, 0)
        return self._replace(
            test=test,
            n_resamples=whole_number("n_resamples", self.n_resamples, 1),
            correction=correction,
            family=check_choice("family", self.family, FAMILIES),
            confidence=proportion("confidence", self.confidence),
            effect=check_choice("effect", self.effect, EFFECTS),
            seeds=check_choice("seeds", self.seeds, (None, *SEEDS)),
            segments=None if self.segments is None else read_segments(self.segments),
            random_state=whole_number("random_state", self.random_state, 0),
            bounds=flag("bounds", self.bounds),
            clusters=None if self.clusters is None else read_mapping(CLUSTERS, self.clusters),
        )

    def check_scipy(self) -> None:
        """Say what to install where these options take SciPy, which is not there."""
        needed = self.interval == "bca" or self.effect == "anova"
        if not (needed or TESTS[self.test].needs_scipy):
            return
        try:
            check_scipy()
        except ImportError as error:
            others = " or ".join(f"test={name!r}" for name, card in TESTS.items() if not card.needs_scipy)
            raise ImportError(f"{error}{'' if needed else f'; without it there is {others}'}") from None

    def resampling(self) -> tuple[Any, ...]:
        return self.n_resamples, self.random_state, self.n_threads
