"""evaluate_matrix() and evaluate_topk(): rankings of numbered items, as recommenders and embedding models have them.

Rows are queries, columns or numbers are items. Both functions check their arguments and hand them to an ItemCall.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, SupportsFloat, SupportsIndex

import numpy as np

from fastir.checks import check_choice
from fastir.errors import quote
from fastir.evaluation.items import ItemCall, read_block, read_lists, row_blocks
from fastir.inputs import arrays
from fastir.inputs.csr import items
from fastir.inputs.item_rows import ItemRows, align_scores
from fastir.request.options import RANKED, TIES_WITHOUT_IDS, TiesWithoutIds, check_options

if TYPE_CHECKING:
    from typing import Unpack

    from numpy.typing import ArrayLike, DTypeLike

    from fastir.data.results.results import Results
    from fastir.request.conventions import Convention
    from fastir.request.keywords import ConventionName, MetricOptions


NO_ITEMS = items(None, "exclude")


def evaluate_matrix(
    scores: ArrayLike | Iterable[ArrayLike],
    relevant: Any,
    metrics: str | Iterable[str],
    *,
    max_depth: SupportsIndex | None = None,
    min_score: SupportsFloat | None = None,
    exclude: Any = None,
    threshold: SupportsFloat | None = None,
    rel_level: SupportsIndex | SupportsFloat = 1,
    ties: TiesWithoutIds | None = None,
    judged_only: bool = False,
    score_dtype: DTypeLike | None = None,
    n_threads: SupportsIndex | None = None,
    weights: Any = None,
    doc_weights: Any = None,
    convention: ConventionName | str | Convention = "fastir",
    **choices: Unpack[MetricOptions],
) -> Results:
    """Evaluate a matrix of scores: each row is a query (a user) that ranks all columns (the items).

    Rows and columns are numbered from 0. If both sides are frames with labels, rows are joined by the index and columns
    by their names, in any order; rows of only one side are treated as queries in `evaluate`. A Series or a dict of
    row labels joins the index of `scores` in the same way, and may list items by the names of columns. If only one side
    has labels, rows and columns are paired by position, and their numbers must be equal. A default RangeIndex is no
    label. Beside rows without labels, an index that permutes their numbers says them, and a warning tells so.

    Parameters
    ----------
    scores : array of shape (n_queries, n_items), or iterator of arrays of shape (any, n_items)
        An array or tensor of any library, in host memory. float32 and float64 are not copied, in any order and with
        any strides; float16, bfloat16 and integers are copied as floats. An iterator, a list of arrays or another
        iterable gives blocks of rows, which are evaluated one after the other and not kept. It runs in the caller's
        thread.
    relevant : sparse matrix, tuple, dict, list, mask or array
        The judged items of each row. A SciPy matrix of labels, or the same as a tuple of arrays (indptr, indices) or
        (indptr, indices, labels). A list with an array of items, or a dict {item: label}, for each row; or a dict of
        these by row number, where a missing row has no items. An item listed twice without labels counts once, as the
        report says. An array in the shape of `scores`, of any dtype, has a label for each item, and 0 or False where
        an item is not judged. An array or list of shape (n_queries,) with the one relevant item of each row, as in
        leave-one-out. Without labels all are 1; labels are numbers as in `evaluate`.
    metrics : str or iterable of str
        As in `evaluate`.
    max_depth : int or None
        As in `evaluate`. Metrics with a cutoff do not need it and are as fast without it.
    min_score : float or None
        Items with scores below it are not retrieved; float32 scores are compared as such.
    exclude : like relevant, or None
        Items that are not ranked, such as those that a user has seen. A relevant item among them counts as not
        retrieved. Labels are ignored; duplicate items are allowed.
    threshold : float or None
        The labels in `relevant` are ratings, which may be fractions such as half stars. A rating of at least the
        threshold makes an item relevant (label 1); a lower one makes it judged and not relevant (label 0).
    ties : {None, "input", "input_reversed", "optimistic", "pessimistic", "average"}
        Order of items with equal scores: by item number, rising or ("input_reversed") falling, the best or the
        worst labels first, or the expected value over all orders. None: the convention's order, or "input" if the
        convention compares ids.
    rel_level, judged_only, score_dtype, n_threads, convention, **choices
        As in `evaluate`.
    weights : array of shape (n_queries,), mapping of query_id to float, or None
        As in `evaluate`.
    doc_weights : array of shape (n_items,), mapping of item to float, or None
        As in `evaluate`; or ``{row: {item: weight}}``.

    Returns
    -------
    Results
        As from `evaluate`, with query_ids 0 to n_queries - 1, or the labels of rows. Without queries a mean is NaN.

    Raises
    ------
    UnknownMetricError
        As by `evaluate`.
    DuplicateError
        A row has a duplicate relevant item with labels, or a label by which rows are joined is there twice.
    NoOverlapError
        Rows or columns that are joined have no label in common.
    TypeError
        An array has the wrong dtype, is on a device or is sparse; an option has the wrong type or name.
    ValueError
        A score is NaN, even of an excluded item; an array has the wrong shape; a row has too many or too few entries;
        an item is not a column; a label is not finite; an option is out of range. fastir's errors are ValueErrors, too.
    OverflowError
        A label is out of range or too large for a metric's formula.

    Notes
    -----
    Rows are not sorted. For metrics that read only the first few items, those are selected; for other metrics, the
    scores above each relevant item are counted. Undefined cases are as in `evaluate`. The arrays are never changed, and
    any number of threads can call this at once.

    Metrics of recommender systems: hit rate is ``hit_rate@k``; recall over at most k items is ``relative_precision@k``;
    MAP over at most k items is ``map(ap_norm=min_kR)@k``; the ideal of ``ndcg@k`` is the k best items. Users without
    relevant items count as 0; with ``empty="skip"`` they are left out.

    Examples
    --------
    >>> import fastir
    >>> scores = [[0.1, 0.9, 0.5, 0.3], [0.8, 0.2, 0.4, 0.6]]
    >>> results = fastir.evaluate_matrix(scores, [[2, 3], [0]], ["mrr", "recall@2"], exclude={0: [1]})
    >>> results.per_query("recall@2")
    {0: 1.0, 1: 1.0}
    >>> fastir.evaluate_matrix(scores, [[2, 3], [0]], "mrr")["mrr"]
    0.75
    """
    check_choice("ties", ties, (None, *TIES_WITHOUT_IDS))
    options = check_options(
        rel_level=rel_level,
        ties=ties,
        judged_only=judged_only,
        max_depth=max_depth,
        min_score=min_score,
        score_dtype=score_dtype,
        n_threads=n_threads,
        convention=convention,
        choices=choices,
    )
    call = ItemCall(options, metrics, weights, doc_weights)
    rows = ItemRows(scores, relevant, exclude, "scores", True)
    call.read_items(rows, threshold)
    n_columns = None
    for block in row_blocks(scores):
        block = arrays.scores(block, "scores", 2)
        if rows.scored is not None:
            block = block[rows.scored]
        if n_columns not in (None, block.shape[1]):
            raise ValueError(
                f"scores: a block has {block.shape[1]} columns but the first has {n_columns}; shapes must match"
            )
        n_columns = block.shape[1]
        for side in (call.wanted, call.excluded):
            side.check_columns(n_columns, "scores")
            if side.shape[0] is not None and side.shape[0] < call.n_rows + len(block):
                side.check(call.n_rows + len(block), "scores")
        call.measure(read_block, call.excluded, options.n_threads, block)
    if rows.n_missing:
        empty = np.full((rows.n_missing, 1), -1)  # rows without items, as evaluate_topk takes them
        call.measure(read_lists, NO_ITEMS, 1, empty, None)
    call.check(call.n_rows, "scores")
    return call.finish()


def evaluate_topk(
    indices: ArrayLike,
    relevant: Any,
    metrics: str | Iterable[str],
    *,
    scores: ArrayLike | None = None,
    max_depth: SupportsIndex | None = None,
    min_score: SupportsFloat | None = None,
    exclude: Any = None,
    threshold: SupportsFloat | None = None,
    rel_level: SupportsIndex | SupportsFloat = 1,
    ties: TiesWithoutIds | None = None,
    judged_only: bool = False,
    score_dtype: DTypeLike | None = None,
    n_threads: SupportsIndex | None = None,
    weights: Any = None,
    doc_weights: Any = None,
    convention: ConventionName | str | Convention = "fastir",
    **choices: Unpack[MetricOptions],
) -> Results:
    """Evaluate lists of items with a row per query, as returned by FAISS, usearch, hnswlib or torch.topk.

    Rows with labels (the index of a frame, of a Series, the keys of a dict) are joined as in `evaluate_matrix`.

    Parameters
    ----------
    indices : integer array of shape (n_queries, width)
        The items in rank order; -1 fills the end of a shorter row. An array or tensor of any library.
    relevant : sparse matrix, tuple, dict, list or array
        The judged items of each row, as in `evaluate_matrix`; they need not be in the row. An array of bools or floats
        has a label for each item, as has one of integers with a column for every item in `indices` and an integer twice
        in a row.
    scores : array like indices, or None
        The scores that rank the items, the highest first: similarities, or negated distances. None: the items are in
        rank order.
    ties : {None, "input", "input_reversed", "optimistic", "pessimistic", "average"}
        Order of items with equal scores, as in `evaluate_matrix`; "input": by position in the row.
    min_score : float or None
        As in `evaluate_matrix`; needs scores.
    exclude : like relevant, or None
        Items that are not ranked, as in `evaluate_matrix`; the items behind them move up.
    metrics, max_depth, rel_level, judged_only, score_dtype, n_threads, convention, **choices
        As in `evaluate`.
    threshold, weights, doc_weights
        As in `evaluate_matrix`.

    Returns
    -------
    Results
        As from `evaluate_matrix`.

    Raises
    ------
    UnknownMetricError, NoOverlapError
        As by `evaluate_matrix`.
    DuplicateError
        As by `evaluate_matrix`; or a row has a duplicate item that is not excluded.
    TypeError
        As by `evaluate_matrix`; or an array holds ids (use `evaluate_lists`).
    ValueError
        A number is below -1; an item follows -1; a score is NaN; the shapes of the arrays do not match; `ties`,
        `min_score` or `score_dtype` is given without scores; an option is out of range.
    OverflowError
        As by `evaluate_matrix`; or an index is above 2^63 - 1.

    Notes
    -----
    A metric of the whole ranking reads the whole row: an item that the search did not return counts as not retrieved.
    The arrays are never changed, and any number of threads can call this at once.

    Examples
    --------
    >>> import fastir
    >>> results = fastir.evaluate_topk([[7, 4, 9], [3, 8, -1]], [[4, 5], [3]], ["mrr", "recall@3"])
    >>> results.per_query("recall@3")
    {0: 0.5, 1: 1.0}
    >>> results["mrr"]
    0.75
    """
    if ties is not None and scores is None:
        raise ValueError("ties needs scores: without scores the items are in rank order")
    if score_dtype is not None and scores is None:
        raise ValueError("score_dtype needs scores: without scores the items are in rank order")
    if min_score is not None and scores is None:
        raise ValueError("min_score needs scores: without scores the items are in rank order")
    check_choice("ties", ties, (None, *TIES_WITHOUT_IDS))
    options = check_options(
        max_depth=max_depth,
        min_score=min_score,
        rel_level=rel_level,
        ties=ties if scores is not None else RANKED if doc_weights is None else "input",
        judged_only=judged_only,
        score_dtype=score_dtype,
        n_threads=n_threads,
        convention=convention,
        choices=choices,
    )
    call = ItemCall(options, metrics, weights, doc_weights)
    refuse_ids(indices, "indices")
    refuse_ids(relevant, "relevant")
    rows = ItemRows(indices, relevant, exclude, "indices", False)
    call.read_items(rows, threshold)
    ranked = arrays.numbers(indices, "indices", 2)
    if ranked.size and ranked.dtype.kind not in "iu":
        raise TypeError(f"indices must be integers, got dtype {ranked.dtype}")
    ranked_by = None if scores is None else arrays.scores(align_scores(scores, indices), "scores", 2)
    if ranked_by is not None and ranked_by.shape != ranked.shape:
        raise ValueError(f"indices has the shape {ranked.shape} but scores {ranked_by.shape}; shapes must match")
    ranked, ranked_by = rows.align_rows(ranked, -1), None if ranked_by is None else rows.align_rows(ranked_by, 0)
    call.check(len(ranked), "indices")
    call.measure(read_lists, call.excluded, options.n_threads, ranked, ranked_by)
    return call.finish()


def refuse_ids(data: Any, name: str) -> None:
    """Raise TypeError for ids where numbers of items are expected."""
    first = data
    while isinstance(first, (list, tuple)) and first:
        first = first[0]
    if isinstance(first, np.ndarray) and first.dtype.kind in "OUS" and first.size:
        first = first.flat[0]
    if isinstance(first, (str, bytes)):
        raise TypeError(
            f"{name} must hold the numbers of items, got ids such as {quote(first)}; fastir.evaluate_lists takes ids"
        )
