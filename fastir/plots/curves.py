"""Pictures of runs and metrics: precision against recall, a metric against its cutoff, what a rank is worth."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from operator import itemgetter
from statistics import fmean
from typing import TYPE_CHECKING, Any

from fastir.analyses.curves.curves import POINTS, check_options, precision_recall_curve, roc_curve
from fastir.analyses.explain.ranked import rank_weights as worth
from fastir.checks import refuse_options
from fastir.engine.measure import IPREC, PRECISION, RECALL
from fastir.errors import quote
from fastir.evaluation.evaluate import evaluate_many
from fastir.evaluation.labels import evaluate_ranked
from fastir.evaluation.run_collections import pairs, with_names
from fastir.inputs.label_arrays import column
from fastir.plots.style import hairline, ink, lines, plain_text

if TYPE_CHECKING:
    from typing import Unpack

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from fastir.data.qrels import QrelsLike
    from fastir.data.run import RunsLike
    from fastir.evaluation.keywords import CollectionOptions, EvaluateOptions
    from fastir.evaluation.run_collections import RunNames
    from fastir.request.keywords import ValueOptions

RATES = tuple(step / 100 for step in range(101))  # at which ROC curves are averaged
CUTOFFS = (1, 2, 3, 5, 10, 20, 50, 100)
MAX_TICKS = 12  # cutoffs up to which each is written below


def precision_recall(
    qrels: QrelsLike,
    runs: RunsLike,
    ax: Axes | None = None,
    *,
    raw: bool = False,
    sort: bool = False,
    **options: Unpack[CollectionOptions],
) -> Axes:
    """Plot precision against recall, averaged over the queries, with a line for each run.

    Parameters
    ----------
    qrels, runs, **options
        As for `evaluate_many`.
    raw : bool
        True: each rank is a point, with its precision and recall, as in `PrecisionRecallCurve.at_ranks`. False:
        precision is interpolated at eleven recall points.
    sort : bool
        Whether the legend begins with the run with the highest line on average.
    ax : as for `means`

    Raises what `evaluate_many` raises.
    """
    check_options("plots.precision_recall", options, (PRECISION, RECALL, IPREC) if raw else (IPREC,))
    curves: dict[Hashable, tuple[Any, Any]]
    if raw:
        rest: dict[str, Any] = {**options}
        runs = with_names(runs, rest.pop("names", "stem"), [qrels])
        averages = {name: precision_recall_curve(qrels, run, **rest).at_ranks() for name, run in pairs(runs)}
        curves = {name: (points.recall, points.precision) for name, points in averages.items()}
    else:
        names = [f"iprec@{level:g}" for level in POINTS]
        results = evaluate_many(qrels, runs, names, **options)
        curves = {run: (POINTS, [result[name] for name in names]) for run, result in results.items()}
    ax = lines(curves, ax, "recall", "precision" if raw else "interpolated precision", by=fmean if sort else None)
    ax.set_xlim(0, 1)
    ax.set_ylim(bottom=0)
    return ax


def roc(
    qrels: QrelsLike,
    runs: RunsLike,
    ax: Axes | None = None,
    *,
    sort: bool = False,
    names: RunNames = "stem",
    **options: Unpack[EvaluateOptions],
) -> Axes:
    """Plot ROC curves, averaged over the queries: the fractions of relevant and of other documents that were found.

    There is a line for each run. Both are fractions of the documents that a query retrieved, averaged at a hundred
    false positive rates; see `roc_curve`. The legend gives the mean auc. The thin diagonal shows random rankings.

    Parameters
    ----------
    qrels, runs, names, **options
        As for `evaluate_many`.
    sort : bool
        Whether the legend begins with the run with the highest line on average.
    ax : as for `means`

    Raises what `evaluate_many` raises.
    """
    runs, rest = with_names(runs, names, [qrels]), dict[str, Any](options)
    roc_curves = {name: roc_curve(qrels, run, RATES, **rest) for name, run in pairs(runs)}
    curves: dict[Hashable, tuple[Any, Any]] = {
        f"{name}  {curve.area():.3f}": ((0.0, *RATES), (0.0, *curve.interpolated().true_positive_rate))
        for name, curve in roc_curves.items()
    }
    ax = lines(curves, ax, "false positive rate", "true positive rate", marked=False, by=fmean if sort else None)
    ax.plot((0, 1), (0, 1), color=ink(ax), linewidth=hairline(), alpha=0.5, zorder=1)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1.02)
    return ax


def cutoffs(
    qrels: QrelsLike,
    runs: RunsLike,
    metric: str = "ndcg",
    cutoffs: Iterable[int] = CUTOFFS,
    ax: Axes | None = None,
    *,
    sort: bool = False,
    **options: Unpack[CollectionOptions],
) -> Axes:
    """Plot a metric against its cutoff, with a line for each run.

    Parameters
    ----------
    qrels, runs, **options
        As for `evaluate_many`.
    metric : str
        Without a cutoff, such as "ndcg" or "recall".
    cutoffs : iterable of int
    sort : bool
        Whether the legend begins with the run with the largest value at the last cutoff.
    ax : as for `means`

    Raises
    ------
    UnknownMetricError
        The metric does not exist, or takes no cutoff.
    ValueError
        `cutoffs` is empty.
    FormatError, DuplicateError, NoOverlapError, TypeError, OverflowError, OSError
        As by `evaluate_many`.
    """
    refuse_options("cutoffs", options, ("ties_report",), "evaluate_many reports ties")
    depths = sorted(set(cutoffs))
    if not depths:
        raise ValueError(f"metric {quote(metric)}: no cutoff given")
    names = [f"{metric}@{depth}" for depth in depths]
    results = evaluate_many(qrels, runs, names, **options)
    curves = {run: (depths, [result[name] for name in names]) for run, result in results.items()}
    ax = lines(curves, ax, "k", plain_text(f"{metric}@k"), by=itemgetter(-1) if sort else None)
    ax.set_xscale("log")
    if len(depths) <= MAX_TICKS:
        ax.set_xticks(depths, map(str, depths))
        ax.minorticks_off()
    return ax


def ranked_cutoffs(
    lists: Mapping[Hashable, ArrayLike],
    metric: str = "ndcg",
    ax: Axes | None = None,
    *,
    ideal_labels: ArrayLike | None = None,
    sort: bool = False,
    **options: Unpack[ValueOptions],
) -> Axes:
    """Plot a metric of lists of labels against its cutoff, up to the length of the longest, with a line for each list.

    Parameters
    ----------
    lists : mapping of name to labels
        The label at each rank, as for `evaluate_ranked`.
    metric : str
        Without a cutoff.
    ideal_labels : array or None
        All judged labels, the same for all lists; None: the labels of each list.
    sort : bool
        Whether the legend begins with the list with the largest value at the end.
    **options
        As for `evaluate_ranked`, without weights.
    ax : as for `means`

    Raises
    ------
    UnknownMetricError
        The metric does not exist, or takes no cutoff.
    ValueError
        There are no lists, or all are empty.
    TypeError, OverflowError
        As by `evaluate_ranked`.
    """
    refuse_options("ranked_cutoffs", options, ("weights",), "each line is the values of one list")
    labels = {name: column(labels_of_list, "labels") for name, labels_of_list in lists.items()}
    longest = max(map(len, labels.values()), default=0)
    if not longest:
        raise ValueError("lists holds no label; expected a list of labels for each name")
    names = [f"{metric}@{k}" for k in range(1, longest + 1)]
    judged: dict[str, Any] = {}
    if ideal_labels is not None:
        ideal = column(ideal_labels, "ideal_labels")
        judged = {"ideal_labels": ideal, "ideal_offsets": [0, len(ideal)]}
    curves: dict[Hashable, tuple[Any, Any]] = {}
    for name, labels_of_list in labels.items():
        results = evaluate_ranked(labels_of_list, [0, len(labels_of_list)], names, **judged, **options)
        curves[name] = range(1, longest + 1), results.values[0]
    return by_rank(lines(curves, ax, "k", plain_text(f"{metric}@k"), by=itemgetter(-1) if sort else None), longest)


def rank_weights(metrics: str | Iterable[str], ax: Axes | None = None, *, k: int = 20) -> Axes:
    """Plot what each rank is worth to a metric, with a line for each metric; 1 / rank for the reciprocal rank.

    The worth of a rank is the value of a list of k labels with a single relevant document, of label 1, at this rank; it
    is divided by the value with that document at rank 1. Lines that coincide differ in dashes.

    Parameters
    ----------
    metrics : str or iterable of str
        Such as ``["mrr", "dcg", "rbp.8", "err"]``.
    k : int
        The last rank, from 1.
    ax : as for `means`

    Raises
    ------
    UnknownMetricError
        The metric does not exist, or needs document ids.
    ValueError
        k is below 1, or the document at rank 1 has no value.
    TypeError
        k is not an int.
    """
    weights = worth(metrics, k)
    curves = {name: (range(1, k + 1), values) for name, values in weights.items()}
    ax = by_rank(lines(curves, ax, "rank", "worth, relative to rank 1", dashed=True), k)
    ax.set_ylim(bottom=0)
    return ax


def by_rank(ax: Axes, last: int) -> Axes:
    """Whole numbers below, one for each rank where there is room."""
    if last <= MAX_TICKS:
        ax.set_xticks(range(1, last + 1))
    else:
        from matplotlib.ticker import MaxNLocator

        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_xlim(left=0.5)
    return ax
