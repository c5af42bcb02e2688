"""write_report(): a comparison of runs as one file of HTML."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any, SupportsIndex

from fastir.checks import whole_number
from fastir.evaluation.run_collections import input_files
from fastir.rendering.text import refuse_inputs, replacing
from fastir.report.gather import gathered
from fastir.report.page import page
from fastir.stats._checks import N_RESAMPLES

if TYPE_CHECKING:
    from typing import Unpack

    from fastir.analyses.compare.options import CorrectionOfPairs, Family, IntervalMethod, Test
    from fastir.analyses.compare.segments import SegmentsLike
    from fastir.data.qrels import QrelsLike
    from fastir.data.run import RunsLike
    from fastir.evaluation.keywords import CompareOptionsButDepth
    from fastir.evaluation.run_names import RunNames
    from fastir.request.options import Queries
    from fastir.stats.effects import Effect


def write_report(
    path: str | os.PathLike[str],
    qrels: QrelsLike,
    runs: RunsLike,
    metrics: str | Iterable[str],
    *,
    names: RunNames = "stem",
    depth: SupportsIndex = 10,
    baseline: Hashable | list[Hashable] = None,
    test: Test = "t",
    n_resamples: SupportsIndex = N_RESAMPLES,
    correction: CorrectionOfPairs | None = "auto",
    family: Family = "metric",
    confidence: float = 0.95,
    interval: IntervalMethod = "t",
    effect: Effect = "d_z",
    queries: Queries | Iterable[Any] | None = None,
    segments: SegmentsLike | None = None,
    random_state: SupportsIndex = 0,
    n_threads: SupportsIndex | None = None,
    notice: Callable[[Hashable, int], object] | None = None,
    **options: Unpack[CompareOptionsButDepth],
) -> None:
    """Write a report of runs as one file of HTML, which works in any browser, offline.

    It shows the leaderboard with intervals and significance, any two runs query by query, the rankings of a query side
    by side with labels, gains and contributions, how much of them is judged, and where the numbers come from.

    Parameters
    ----------
    path : str or path
        The file; it is written in one step.
    qrels, runs, metrics, names
        As for `compare`: two runs or more. Saved results have no rankings and are refused.
    depth : int
        How many ranks of each ranking are shown, 1 or more.
    baseline, test, n_resamples, correction, family, confidence, interval, effect, queries, segments, random_state
        As for `compare`; but where `interval` is "t", only differences have Student's intervals. Those of the means are
        percentile bootstrap intervals, which lie within the values of the metric.
    n_threads, notice, **options
        As for `compare`.

    Raises
    ------
    UnknownMetricError, FormatError, DuplicateError, NoOverlapError, TypeError, ValueError, OverflowError, ImportError
        As by `compare`; `depth` is no positive int; or the report would be written over one of the files that it reads.
    OSError
        A file cannot be read, or the report not be written; its old content is untouched.

    Warns
    -----
    FastirWarning
        As `compare` does; the report shows these warnings, too.

    Notes
    -----
    Runs are read once and held in memory. Where the documents of a query have no single order, or no contributions (see
    `explain`), the report says why, and has no rankings.

    Examples
    --------
    >>> import fastir
    >>> qrels = {f"q{i}": {"a": 1} for i in range(6)}
    >>> runs = {"first": {f"q{i}": {"a": 1.0} for i in range(6)},
    ...         "often": {f"q{i}": {"a": 1.0, "b": float(i > 3) * 2} for i in range(6)}}
    >>> fastir.write_report("report.html", qrels, runs, ["mrr", "ndcg@10"])  # doctest: +SKIP
    """
    shown = whole_number("depth", depth, 1)
    statistics: dict[str, Any] = {
        "baseline": baseline,
        "test": test,
        "n_resamples": n_resamples,
        "correction": correction,
        "family": family,
        "confidence": confidence,
        "interval": interval,
        "effect": effect,
        "segments": segments,
        "random_state": random_state,
    }
    rules: dict[str, Any] = {**options, "queries": queries, "n_threads": n_threads}
    others = [segments, *(options.get(name) for name in ("parents", "exclude", "doc_weights"))]
    refuse_inputs(path, itertools.chain.from_iterable(map(input_files, ([qrels], runs, others))))
    text = page(gathered(qrels, runs, metrics, names, shown, statistics, rules, notice))
    with replacing(os.fsdecode(path)) as file:
        file.write(text.encode("utf-8", "replace"))
