"""What pictures of a comparison know: one metric of it, which pairs are significant, and what the runs are called.

Results of several runs are compared first, as by `compare_scores` without options.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import cached_property
from typing import Any

from fastir.analyses.compare.comparison import Comparison
from fastir.analyses.compare.records import Pair, System
from fastir.analyses.compare.tables import default_level, find_beaten, level_text, mark_labels, p_text, resamples_text
from fastir.errors import quote
from fastir.plots.style import highest_first, short_names
from fastir.request.directions import SIGNS, higher_is_better


class MetricComparison:
    """A comparison on one metric, the first if None."""

    runs: list[Any]
    sign: int
    places: dict[Any, int]
    level: float

    def __init__(self, comparison: Comparison | Mapping[Any, Any], metric: str | None) -> None:
        if not isinstance(comparison, Comparison):
            from fastir.analyses.compare.compare_scores import compare_scores

            comparison = compare_scores(comparison, metric)
        if metric is None:
            metric = comparison.metrics[0]
        if metric not in comparison.metrics:
            raise KeyError(f"{quote(metric)} was not compared; there are {', '.join(map(repr, comparison.metrics))}")
        self.whole = comparison
        self.runs = comparison.runs
        self.metric = metric
        self.sign = SIGNS[higher_is_better(metric)]  # of a difference that is better
        self.places = {run: place for place, run in enumerate(self.runs)}
        self.systems: dict[Any, System] = {one.run: one for one in comparison.systems if one.metric == metric}
        self.pairs: list[Pair] = [pair for pair in comparison.pairs if pair.metric == metric]
        self.level = default_level(comparison.method)

    @cached_property
    def names(self) -> dict[Any, str]:
        """The name of each run on a picture."""
        return dict(zip(self.runs, short_names(self.runs)[0], strict=True))

    @property
    def note(self) -> str:
        """The parts of names that were left out."""
        return short_names(self.runs)[1]

    @property
    def labels(self) -> list[str]:
        """The letter of each run, as in the table."""
        return mark_labels(len(self.runs))

    @property
    def significant(self) -> str:
        return level_text(self.whole.method, self.level)

    def p_text(self, pair: Pair) -> str:
        """The p-value that counts, as in the table."""
        return p_text(pair, pair.adjusted_p, resamples_text(self.whole.method))

    @property
    def p_name(self) -> str:
        return "corrected p" if self.whole.method.correction else "p"

    def find_beaten_runs(self) -> dict[Any, list[int]]:
        """{run: the positions of the runs that it is significantly better than}."""
        return {run: places for (run, _), places in find_beaten(self.pairs, self.places, self.level).items()}

    def order_runs(self, sort: bool) -> list[Any]:
        """The runs in the caller's order, or the best first; the largest, where neither more nor less is better."""
        if not sort:
            return list(self.runs)
        places = highest_first([(self.sign or 1) * self.systems[run].mean for run in self.runs])
        return [self.runs[place] for place in places]

    def pair(self, a: Hashable, b: Hashable) -> tuple[Pair | None, int]:
        """The pair, and 1, or -1 if it was compared the other way round; None if it was not."""
        for pair in self.pairs:
            if (pair.a, pair.b) in ((a, b), (b, a)):
                return pair, 1 if pair.a == a else -1
        return None, 1
