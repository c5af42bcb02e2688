"""evaluate_ranked() and evaluate_scores(): rankings without ids, as labels in rank order or with scores."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, SupportsFloat, SupportsIndex

import numpy as np

from fastir.data.results.report import Report
from fastir.engine.columns.rows import LOW, UNDIVIDED, equal_offsets, list_of_each, offsets_from_sizes
from fastir.engine.measure._codes import STATUS_CODES
from fastir.engine.measure._grades import MOST_ROWS, coded, count_fractions, few_coded, has_fractions
from fastir.engine.rank._labels_by_query import Groups
from fastir.engine.threads import LONG_QUERY_ROWS, longest_query, run
from fastir.errors import warn_caller
from fastir.evaluation import array_call
from fastir.evaluation.array_call import (
    ArrayCall,
    Collecting,
    counts_of,
    empty_values,
    example_of,
    make_call,
    repairs_of,
)
from fastir.evaluation.drivers.coverage import SWAPPED_TEXT
from fastir.evaluation.drivers.suspect_runs import are_swapped
from fastir.inputs import arrays, label_arrays, pairing
from fastir.inputs.query_groups import QueryGroups, offset_array, query_groups, refuse_tables, refuse_undivided
from fastir.request.options import RANKED, TIES, TIES_BY_ID, TIES_WITHOUT_IDS, TiesWithoutIds, check_options
from fastir.request.plan import NO_LIMIT, Settings

if TYPE_CHECKING:
    from typing import Unpack

    from numpy.typing import ArrayLike, DTypeLike

    from fastir.data.results.results import Results
    from fastir.request.conventions import Convention
    from fastir.request.keywords import ConventionName, MetricOptions

INPUT_TIES = TIES.index("input")
MIN_CODED_LABELS = 1 << 17  # labels with scores that are worth a plan for their grades, where rows could be read
Counts = list[int]  # three: how many labels are below 0 and queries have ties, and the first of these


def evaluate_ranked(
    labels: ArrayLike | Sequence[ArrayLike],
    offsets: ArrayLike | None = None,
    metrics: str | Iterable[str] | None = None,
    *,
    ideal_labels: ArrayLike | Sequence[ArrayLike] | None = None,
    ideal_offsets: ArrayLike | None = None,
    rel_level: SupportsIndex | SupportsFloat = 1,
    judged_only: bool = False,
    max_depth: SupportsIndex | None = None,
    n_threads: SupportsIndex | None = None,
    weights: Mapping[int, float] | ArrayLike | None = None,
    convention: ConventionName | str | Convention = "fastir",
    **choices: Unpack[MetricOptions],
) -> Results:
    """Evaluate rankings given as labels in rank order, without ids.

    Parameters
    ----------
    labels : array of shape (n_documents,) or (n_queries, depth), of numbers of any dtype and stride
        The label at each rank, as for `evaluate_scores`. Flat labels are query after query, or one ranking if there
        are no offsets. With two dimensions each row is a ranking; a short one is padded with -1, and these ranks hold
        documents that are not in the qrels. The rows of a list of lists may differ in length, without padding.
    offsets : integer array of shape (n_queries + 1,), or None
        The position at which each query begins, and the end; from 0 to n_documents, never decreasing. None for
        labels with two dimensions, or for one ranking.
    ideal_labels, ideal_offsets : arrays like labels and offsets, or None
        All judged labels of each query, in any order; None: the labels of the list are all judgments. They should
        contain the labels of the list, which is not checked: otherwise recall or nDCG can exceed 1.
    metrics, rel_level, judged_only, max_depth, n_threads, convention, **choices
        As in `evaluate`; the query_ids are 0 to n_queries - 1.
    weights : array of shape (n_queries,), mapping of query_id to float, or None
        As in `evaluate`.

    Returns
    -------
    Results
        As from `evaluate`, with query_ids 0 to n_queries - 1. Without queries a mean is NaN.

    Raises
    ------
    UnknownMetricError, TypeError, ValueError, OverflowError, RuntimeError
        As by `evaluate_scores`; `metrics` is missing; or `offsets` has ideal labels beside it, and these no offsets.

    Notes
    -----
    Undefined cases are as in `evaluate`; an empty list is an empty ranking. The arrays are never changed, and any
    number of threads can call this at once.

    Examples
    --------
    >>> import fastir
    >>> results = fastir.evaluate_ranked([0, 2, 1, 1, 0], [0, 3, 5], ["mrr", "recall@2"])
    >>> results.per_query("mrr")
    {0: 0.5, 1: 1.0}
    >>> results["recall@2"]
    0.75
    >>> fastir.evaluate_ranked([[0, 2, 1], [1, 0, -1]], metrics="mrr").per_query("mrr")
    {0: 0.5, 1: 1.0}
    """
    if metrics is None:
        raise TypeError(
            "metrics is missing: evaluate_ranked takes labels, offsets and metrics; offsets are where each query "
            "begins, and the end; without them labels are one ranking, or a matrix with a ranking in each row"
        )
    options = check_options(
        rel_level=rel_level,
        ties=RANKED,
        judged_only=judged_only,
        max_depth=max_depth,
        n_threads=n_threads,
        convention=convention,
        choices=choices,
    )
    call = make_call(options, metrics, weights)
    undivided = offsets is None and not label_arrays.is_matrix(labels)
    if (ideal_labels is None) if ideal_offsets is not None else (ideal_labels is not None and offsets is not None):
        raise ValueError("ideal_labels and ideal_offsets must be given together")
    labels, offsets = ranked_rows(labels, offsets, "labels", "offsets")
    ideal = None
    if ideal_labels is not None:
        ideal = ranked_rows(ideal_labels, ideal_offsets, "ideal_labels", "ideal_offsets")
        if len(ideal[1]) != len(offsets):
            raise ValueError(
                f"ideal_offsets has {len(ideal[1])} entries but offsets {len(offsets)}; lengths must match"
            )
    rows = LabelLists(labels, None, QueryGroups(range(len(offsets) - 1), offsets), ideal)
    rows.undivided = undivided
    return make_results(call, rows)


def ranked_rows(labels: Any, offsets: ArrayLike | None, name: str, of_offsets: str) -> tuple[np.ndarray, np.ndarray]:
    """Labels and offsets, of one ranking or of the rows of a matrix if there are none."""
    if not label_arrays.is_matrix(labels):
        if offsets is None:
            refuse_undivided(labels, name)
        flat = label_arrays.column(labels, name)
        return flat, offset_array((0, len(flat)) if offsets is None else offsets, len(flat), of_offsets, name)
    if offsets is not None:
        raise ValueError(f"{name} has 2 dimensions, so that its rows are the queries; expected no {of_offsets}")
    sizes = [len(row) if hasattr(row, "__len__") else -1 for row in labels] if isinstance(labels, (list, tuple)) else []
    if len(set(sizes)) > 1 and min(sizes) >= 0:
        return label_arrays.column(list(itertools.chain(*labels)), name), offsets_from_sizes(sizes)
    matrix = arrays.numbers(labels, name, 2)
    if name == "labels":  # one ideal label for each query is usual
        refuse_column(matrix, name)
    return label_arrays.column(matrix.reshape(-1), name), equal_offsets(*matrix.shape)


def evaluate_scores(
    labels: ArrayLike,
    scores: ArrayLike,
    metrics: str | Iterable[str],
    *,
    group: ArrayLike | None = None,
    qid: ArrayLike | Sequence[str] | None = None,
    offsets: ArrayLike | None = None,
    ties: TiesWithoutIds | None = None,
    rel_level: SupportsIndex | SupportsFloat = 1,
    judged_only: bool = False,
    max_depth: SupportsIndex | None = None,
    min_score: SupportsFloat | None = None,
    score_dtype: DTypeLike | None = None,
    n_threads: SupportsIndex | None = None,
    weights: Mapping[Any, float] | ArrayLike | None = None,
    convention: ConventionName | str | Convention = "fastir",
    **choices: Unpack[MetricOptions],
) -> Results:
    """Evaluate documents given as arrays of labels and scores, without ids, as in learning to rank.

    Arrays can be NumPy arrays, or tensors, columns and sequences of numbers of any library, in host memory. They are
    not copied, but half precision is widened. Labels and scores are paired by position, as in scikit-learn; a warning
    says if their pandas indexes differ.

    Parameters
    ----------
    labels : array of shape (n_documents,) or (n_queries, n_documents), of numbers of any dtype and stride
        From -2^31 to 2^31 - 1; fractions are not rounded. -1: the document is not in the qrels; any other negative
        label: it was in the pool but not judged. With two dimensions, as in scikit-learn and torchmetrics, each row is
        a query, and group, qid and offsets are not allowed.
    scores : array of the shape of labels, of numbers of any dtype and stride
        Infinite scores are allowed, NaN is not. Integers are compared as float32 if it can hold all numbers of their
        dtype, else as float64.
    metrics : str or iterable of str
        Such as ``"ndcg@10"``; `metrics` lists them.
    group : integer array of shape (n_queries,), or None
        The number of documents of each query, as in LightGBM; the documents of a query are contiguous.
    qid : array of shape (n_documents,), of integers or strings, or None
        The query of each document, as in XGBoost and CatBoost, in any order. The arrays are copied unless the documents
        of each query are contiguous.
    offsets : integer array of shape (n_queries + 1,), or None
        The position at which each query begins, and the end; from 0 to n_documents, never decreasing. Without group,
        qid and offsets, all documents of a one-dimensional array belong to one query. A pandas index that names several
        queries is then an error; ids held elsewhere are not seen.
    ties : {None, "input", "input_reversed", "optimistic", "pessimistic", "average"}
        Order of documents with equal scores: the order of the input or its reverse, the best or the worst
        labels first, or the expected value over all orders, for metrics with a formula for it. None: the
        convention's, or "input" if the convention compares document ids. The rules that compare ids ("trec",
        "doc_id_asc") are errors here.
    min_score : float or None
        Documents with scores below it are not retrieved, and stay judgments; float32 scores are compared as such.
    rel_level, judged_only, max_depth, score_dtype, n_threads, convention, **choices
        As in `evaluate`.
    weights : array of shape (n_queries,), mapping of query_id to float, or None
        How much each query counts in the means, from 0 up, in the order of the queries or by their ids.

    Returns
    -------
    Results
        As from `evaluate`. The query_ids are 0 to n_queries - 1, or the ids in `qid` in order of first appearance.
        Without queries a mean is NaN.

    Raises
    ------
    UnknownMetricError
        As by `evaluate`; or a metric needs document ids.
    TypeError
        An array has the wrong dtype or is on a GPU; an option has the wrong type or name.
    ValueError
        An array has the wrong shape; a label is not finite; a score is NaN; the index of a column names several
        queries, and group, qid and offsets are missing; sizes or offsets do not add up to the number of labels; an
        option is out of range. The message names the row.
    OverflowError
        A label is out of range or too large for a metric's formula.
    RuntimeError
        The arrays changed while they were read, perhaps in another thread.

    Notes
    -----
    The documents of a query are all its judgments, from which the ideal ranking is made. Undefined cases are as in
    `evaluate`; a query without documents is an empty ranking. The arrays are never changed, and any number of threads
    can call this at once.

    Examples
    --------
    >>> import fastir
    >>> labels, scores = [2, 0, 1, 0, 1], [0.3, 0.9, 0.1, 0.4, 0.2]
    >>> results = fastir.evaluate_scores(labels, scores, ["ndcg@10", "mrr"], group=[3, 2])
    >>> results.per_query("mrr")
    {0: 0.5, 1: 0.5}
    >>> fastir.evaluate_scores(labels, scores, "mrr", qid=["a", "b", "a", "b", "a"]).per_query("mrr")
    {'a': 1.0, 'b': 0.0}
    """
    if ties in TIES_BY_ID:
        raise ValueError(
            f"ties={ties!r} needs document ids, and there are none here; expected one of "
            f"{', '.join(map(repr, TIES_WITHOUT_IDS))}"
        )
    options = check_options(
        ties=ties,
        rel_level=rel_level,
        judged_only=judged_only,
        max_depth=max_depth,
        min_score=min_score,
        score_dtype=score_dtype,
        n_threads=n_threads,
        convention=convention,
        choices=choices,
    )
    call = make_call(options, metrics, weights)
    plain = type(labels) is np.ndarray is type(scores)  # neither a table nor a column of one
    undivided = group is None and qid is None and offsets is None
    if not plain:
        refuse_tables(labels, "labels")
        refuse_tables(scores, "scores")
        pairing.warn_of_order(labels, scores, ("labels", "scores"))
        pairing.warn_of_order(labels, qid, ("labels", "qid"))
    if label_arrays.is_matrix(labels) and label_arrays.is_matrix(scores):
        return make_results(call, matrix_rows(labels, scores, group, qid, offsets))
    if undivided and not plain:
        refuse_undivided(labels, "labels")
        refuse_undivided(scores, "scores")
    labels = label_arrays.column(labels, "labels")
    scores = arrays.scores(scores, "scores")
    if len(scores) != len(labels):
        raise ValueError(f"scores has {len(scores)} entries but labels has {len(labels)}; lengths must match")
    if scores.strides[0] % scores.itemsize:
        scores = scores.copy()
    rows = LabelLists(labels, scores, query_groups(len(labels), group, qid, offsets))
    rows.undivided = undivided
    return make_results(call, rows)


class LabelLists:
    """The rows of all queries, as the kernels read them; without scores the labels come in rank order.

    `ideal` are labels and offsets of all judgments, if there are more than the labels.
    """

    __slots__ = ("fractions", "groups", "ideal", "inputs", "labels", "scores", "undivided")

    def __init__(
        self,
        labels: np.ndarray,
        scores: np.ndarray | None,
        rows: QueryGroups,
        ideal: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> None:
        self.groups: QueryGroups = rows
        self.inputs: tuple[np.ndarray, np.ndarray | None] = labels, scores
        self.labels: np.ndarray = labels if rows.order is None else labels[rows.order]
        self.scores: np.ndarray | None = scores if scores is None or rows.order is None else scores[rows.order]
        self.ideal: tuple[np.ndarray, np.ndarray] | None = ideal
        self.undivided: bool = False  # flat labels that are one query because nothing says otherwise
        self.fractions: tuple[int, int] = 0, 0  # the number of real-valued labels, and the row of the first one's query

    def with_custom(self, call: ArrayCall, results: Results) -> Results:
        """Results of these rows with custom metrics."""
        groups, ideal = self.groups, self.ideal
        grades, (labels, *others) = array_call.encode_labels(self.labels, *(() if ideal is None else ideal[:1]))
        collecting = Collecting(call.parts[0][1], len(labels))
        rows = LabelLists(labels, self.scores, QueryGroups(groups.query_ids, groups.offsets))
        values, _, _ = rows.measure(collecting)
        judged = (labels, groups.offsets) if ideal is None else (others[0], ideal[1])
        return call.with_custom(results, collecting, groups.offsets, values, grades, judged)

    def measure(self, settings: Settings) -> tuple[np.ndarray, np.ndarray, Counts]:
        """Values, status codes and Counts."""
        values, status = empty_values(settings, self.groups.offsets), np.zeros(len(self.groups.query_ids), np.uint8)
        limit, ideal, into = settings.largest_label, None if self.ideal is None else self.ideal[0], (values, status)
        failed, *counts, _, _ = self.measure_labels(into, settings, self.labels, ideal, limit)
        by_row = self.by_row(settings) if failed else None
        if failed and (by_row is None or (self.scores is not None and len(self.labels) >= MIN_CODED_LABELS)):
            failed, *counts = self.measure_few(into, settings) or (failed, *counts)
        if failed and by_row is not None:
            failed, *counts, n, first = self.measure_labels(into, by_row, self.labels, ideal, limit)
            self.fractions = n, first
        if failed and self.has_fractions(settings):
            grades, codes = coded(*([self.labels] if ideal is None else [self.labels, ideal]))
            settings = settings.for_grades(
                grades, lambda: label_arrays.first_fraction(self.labels, self.groups.offsets, self.ideal)
            )
            self.fractions = count_fractions(*(self.ideal or (self.labels, self.groups.offsets)))
            ideal = codes[1] if codes[1:] else None
            failed, *counts, _, _ = self.measure_labels(into, settings, codes[0], ideal, NO_LIMIT)
        if failed:
            raise RuntimeError("the arrays were changed while they were read")
        return values, status, counts

    def measure_few(self, into: tuple[np.ndarray, np.ndarray], settings: Settings) -> tuple[int, ...] | None:
        """Failed and Counts of labels that are fractions of few distinct values; None if they are not measured so."""
        found = None
        if settings.fractions is None:
            found = few_coded(self.labels, *(() if self.ideal is None else self.ideal[:1]))
        if found is None or found[0].largest > settings.largest_label:
            return None
        grades, (labels, *ideal), fractions = found
        into_codes = settings.for_grades(grades)
        failed, *counts, _, _ = self.measure_labels(into, into_codes, labels, ideal[0] if ideal else None, NO_LIMIT)
        n, first = fractions[-1]
        offsets = self.groups.offsets if self.ideal is None else self.ideal[1]
        self.fractions = (n, int(np.searchsorted(offsets, first, "right")) - 1) if n else (0, 0)
        return failed, *counts

    def measure_labels(
        self,
        into: tuple[np.ndarray, np.ndarray],
        settings: Settings,
        labels: np.ndarray,
        ideal: np.ndarray | None,
        limit: int,
    ) -> Any:
        """Fill values and status codes; what `Groups.outcome` returns."""
        rows, offsets = settings.rows, self.groups.offsets
        kernel = Groups(
            settings.plan,
            labels,
            self.scores,
            offsets,
            ideal,
            None if self.ideal is None else self.ideal[1],
            *into,
            settings.level,
            limit if rows is None else NO_LIMIT,
            settings.ties,
            settings.single,
            None if rows is None else rows.levels,
            2**31 - 1 if limit > 2**31 - 1 else limit,
            -math.inf if self.scores is None else settings.least_of(self.scores),
        )
        run(kernel, settings.n_threads, longest_query(offsets) if len(labels) > LONG_QUERY_ROWS else 0)
        return kernel.outcome()

    def by_row(self, settings: Settings) -> Settings | None:
        """Return the settings for labels that the kernel reads as is; None if they become codes first.

        They become codes if a metric reads more of them than a level and the best ones: if they decide ties, or
        the ideal ranking has only some of the documents.
        """
        columns = [self.labels] if self.ideal is None else [self.labels, self.ideal[0]]
        offsets = [self.groups.offsets] if self.ideal is None else [self.groups.offsets, self.ideal[1]]
        whole = all(column.dtype.kind != "f" for column in columns)
        if (
            whole
            or (self.scores is not None and settings.ties != INPUT_TIES)
            or max(map(longest_query, offsets)) >= MOST_ROWS
        ):
            return None
        partial = self.ideal is not None or settings.options.max_depth is not None
        if partial and any(values.get("ideal") == "retrieved" for values in settings.values):
            return None
        return settings.for_rows()

    def largest(self) -> float:
        """The largest label."""
        return float((self.labels if self.ideal is None else self.ideal[0]).max())

    def has_fractions(self, settings: Settings) -> bool:
        """Return whether the kernel met real-valued labels; raise any other error that it met."""
        input_labels, input_scores = self.inputs
        columns = [(input_labels, self.labels, self.groups.offsets, "labels")]
        if self.ideal is not None:
            columns.append((self.ideal[0], *self.ideal, "ideal_labels"))
        for original, labels, offsets, name in columns:
            label_arrays.refuse_infinite(original, name)
            label_arrays.refuse_labels(labels, offsets, name, settings)
        if input_scores is not None:
            arrays.refuse_nan(input_scores, "scores")
        return any(has_fractions(labels) for _, labels, _, _ in columns)


def matrix_rows(labels: ArrayLike, scores: ArrayLike, *groups: ArrayLike | None) -> LabelLists:
    """The rows of two matrices, each of which is a query."""
    if any(argument is not None for argument in groups):
        raise ValueError("labels has 2 dimensions, so that its rows are the queries; expected no group, qid or offsets")
    matrices = arrays.numbers(labels, "labels", 2), arrays.scores(scores, "scores", 2)
    (n, width), other = matrices[0].shape, matrices[1].shape
    if other != (n, width):
        raise ValueError(f"scores has the shape {other} but labels {(n, width)}; shapes must match")
    refuse_column(matrices[0], "labels")
    flat = label_arrays.column(matrices[0].reshape(-1), "labels"), matrices[1].reshape(-1)
    rows = LabelLists(*flat, QueryGroups(range(n), equal_offsets(n, width)))
    rows.inputs = matrices
    return rows


def refuse_column(matrix: np.ndarray, name: str) -> None:
    """Raise ValueError for one column, which is rather the documents of one query."""
    n, width = matrix.shape
    if width == 1 < n:
        raise ValueError(
            f"{name} has the shape {(n, 1)}, which is a query with one document in each row; expected {(n,)} for the "
            "documents of one query"
        )


def make_results(call: ArrayCall, rows: LabelLists) -> Results:
    """The Results of the metrics of a call on these rows."""
    parts, settings = call.parts, call.settings
    ids, n_rows = rows.groups.query_ids, len(rows.labels)
    if len(parts) == 1:
        values, status, counts = rows.measure(parts[0][1])
    else:
        values = np.empty((len(ids), len(settings.names)))
        for columns, part in parts:
            values[:, columns], status, counts = rows.measure(part)
    fractions, first_fraction = rows.fractions
    if fractions and (status == STATUS_CODES["no_relevant"]).all():
        settings.warn_of_fractions(fractions, rows.largest())
    if fractions and rows.scores is not None:
        offsets = rows.groups.offsets
        if are_swapped(rows.labels, offsets, rows.scores, offsets):
            warn_caller(SWAPPED_TEXT)

    def report() -> Report:
        negative, tied, first_tied = counts
        n_ranked, first_low = n_rows, 0
        if rows.scores is not None and settings.options.min_score is not None:
            kept = rows.scores >= np.float64(settings.least_of(rows.scores))
            negative, n_ranked = int((rows.labels[kept] < 0).sum()), int(kept.sum())
            first_low = int(list_of_each(rows.groups.offsets)[kept.argmin()]) if n_rows else 0
        return Report(
            **example_of("in_both", len(ids), 0, ids),
            **counts_of("no_relevant", status == STATUS_CODES["no_relevant"], ids),
            **example_of("queries_with_ties", tied, first_tied, ids),
            **example_of("fractions", fractions, first_fraction, ids),
            unjudged_share=negative / n_ranked if n_ranked else None,
            repairs=repairs_of(ids, (UNDIVIDED, n_rows * rows.undivided, 0), (LOW, n_rows - n_ranked, first_low)),
        )

    results = call.results(ids, values, status, report)
    return results if call.custom is None else rows.with_custom(call, results)
