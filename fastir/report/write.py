"""write_report(): a comparison of runs as one file of HTML."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any, SupportsIndex

from fastir.checks import whole_number
from fastir.errors import quote
from fastir.evaluation.run_collections import input_files
from fastir.rendering.text import refuse_inputs, replacing
from fastir.report.gather import gather
from fastir.report.page import page
from fastir.request.names import is_metric, split

if TYPE_CHECKING:
    from typing import Unpack

    from fastir.analyses.compare.keywords import ReportOptions
    from fastir.data.qrels import QrelsLike
    from fastir.data.run import RunsLike
    from fastir.evaluation.run_names import RunNames

STATISTICS = (
    *("baseline", "test", "n_resamples", "correction", "family", "confidence", "interval", "effect", "segments"),
    "random_state",
)


def write_report(
    qrels: QrelsLike,
    runs: RunsLike,
    metrics: str | Iterable[str],
    path: str | os.PathLike[str],
    *,
    names: RunNames = "stem",
    k: SupportsIndex = 10,
    progress: Callable[[Hashable, int], object] | None = None,
    **options: Unpack[ReportOptions],
) -> None:
    """Write a report of runs as one file of HTML, which works in any browser, offline.

    It shows the leaderboard with intervals and significance, any two runs query by query, the rankings of a query side
    by side with labels, gains and contributions, how much of them is judged, and where the numbers come from.

    Parameters
    ----------
    qrels, runs, metrics, names
        As for `compare`: two runs or more. Saved results have no rankings and are refused.
    path : str or path
        The file, which is written atomically.
    k : int
        How many ranks of each ranking are shown, 1 or more.
    progress, **options
        As for `compare`, without `seeds` and `bounds`.

    Raises
    ------
    UnknownMetricError, FormatError, DuplicateError, NoOverlapError, TypeError, ValueError, OverflowError, ImportError
        As by `compare`; `k` is no positive int; or the report would be written over one of the files that it reads.
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
    >>> fastir.write_report(qrels, runs, ["mrr", "ndcg@10"], "report.html")  # doctest: +SKIP
    """
    if not isinstance(path, (str, bytes, os.PathLike)) or all(map(is_metric, split(os.fsdecode(path)) or ["."])):
        raise TypeError(
            f"path must be the file to write, got {type(path).__name__} {quote(path)}; the order is "
            "write_report(qrels, runs, metrics, path)"
        )
    shown = whole_number("k", k, 1)
    rules: dict[str, Any] = {**options}
    statistics = {name: rules.pop(name) for name in STATISTICS if name in rules}
    others = [options.get(name) for name in ("segments", "parents", "exclude", "doc_weights")]
    refuse_inputs(path, itertools.chain.from_iterable(map(input_files, ([qrels], runs, others))))
    text = page(gather(qrels, runs, metrics, names, shown, statistics, rules, progress))
    with replacing(os.fsdecode(path)) as file:
        file.write(text.encode("utf-8", "replace"))
