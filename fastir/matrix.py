"""evaluate_matrix() and evaluate_topk(): rankings of numbered items, as recommenders and embedding models have them.

Rows are queries, columns or numbers are items. Rows are divided into chunks that threads share; blocks of rows that
come from an iterator are evaluated one after the other, and nothing of them is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

import numpy as np

from fastir._matrix import Matrix
from fastir._topk import TopK
from fastir.arrays import BY_ID, weights_of
from fastir.errors import DuplicateError, UnknownMetricError, quote
from fastir.inputs import arrays
from fastir.inputs.items import Items, items
from fastir.plan import RANKED, TIES, WHOLE, Settings, metric_tuple, one_of, positive, settings
from fastir.results import Report, Results
from fastir.threads import share_all, thread_count

if TYPE_CHECKING:
    from fastir.conventions import Convention
    from numpy.typing import ArrayLike, DTypeLike

Ties = Literal["input", "optimistic", "pessimistic", "average"]

OWN_TIES = TIES[len(BY_ID):]
CHUNK = 1 << 21     # scores that a thread takes at a time
WORK = 16           # scores that take as long as a row elsewhere
TILE = 16           # rows that are read together where they do not lie in one piece
PROBLEMS = {
    2: (DuplicateError, "relevant: item {item} stands twice in row {row}"),
    3: (ValueError, "relevant: item {item} of row {row} is no column of scores; out of range"),
    4: (ValueError, "exclude: item {item} of row {row} is no column of scores; out of range"),
    5: (ValueError, "scores: NaN in row {row}, column {item}"),
    6: (DuplicateError, "indices: item {item} stands twice in row {row}"),
    7: (ValueError, "indices: {item} in row {row}; must be an item from 0 up, or -1 for none"),
    8: (ValueError, "indices: item {item} of row {row} stands behind -1, which must fill the end of a row"),
}


class Asked:
    """What was asked of rankings of items: Settings for each set of rules that the metrics follow.

    Parameters
    ----------
    metrics, convention, rel_level, judged_only, n_threads, choices
        As for `evaluate_matrix`.
    depth, ties, score_dtype
        The options that evaluate() calls max_depth, ties and score_dtype; ties of RANKED: the items are in rank order.
    """

    def __init__(
        self, metrics: Any, convention: Any, rel_level: Any, ties: Any, judged_only: Any, depth: Any, score_dtype: Any,
        n_threads: Any, choices: dict[str, Any],
    ) -> None:
        if ties is not RANKED:
            one_of("ties", ties, (None, *OWN_TIES))
        self.n_threads = n_threads
        self.whole = settings(metric_tuple(metrics), convention, rel_level, None, ties, judged_only, depth, score_dtype,
                              n_threads, None, "full", choices)
        self.parts = [(list(range(len(self.whole.names))), self.whole)]
        if self.whole.parts:
            self.parts = []
            for requests, rules, pooled in self.whole.parts:
                if pooled:
                    raise UnknownMetricError(f"metric {quote(requests[0].text)} asks whether an item was judged for "
                                             "any query, for which it needs qrels")
                own = settings(tuple(request.text for request in requests), convention, rel_level, None,
                               "input" if rules["ties"] in BY_ID else rules["ties"], rules["judged_only"], depth,
                               rules["score_dtype"], n_threads, None, "full", choices)
                self.parts.append(([self.whole.requests.index(request) for request in requests], own))

    def results(self, blocks: list[list[tuple]], weights: Any) -> Results:
        """The Results, from (values, status, counts) of every block and part."""
        n = sum(len(parts[0][1]) for parts in blocks)
        values, status = np.empty((n, len(self.whole.names))), np.empty(n, np.uint8)
        counts, tied = np.empty((n, 3), np.int64), np.zeros(n, bool)
        start = 0
        for parts in blocks:
            rows = slice(start, start + len(parts[0][1]))
            for (columns, _), (own_values, own_status, own_counts) in zip(self.parts, parts, strict=True):
                values[rows, columns] = own_values
                status[rows], counts[rows] = own_status, own_counts
                tied[rows] |= own_counts[:, 2] > 0
            start = rows.stop
        query_ids = range(n)
        return Results(query_ids, self.whole.names, values, status, self.whole.aggregates,
                       lambda: report(status, counts[:, 0], counts[:, 1], tied), weights_of(weights, query_ids),
                       self.whole.convention)


def evaluate_matrix(
    scores: ArrayLike | Iterable[ArrayLike], relevant: Any, metrics: str | Iterable[str], *,
    k: SupportsIndex | None = None, exclude: Any = None, rel_level: SupportsIndex = 1, ties: Ties | None = None,
    judged_only: bool = False, score_dtype: DTypeLike | None = None, n_threads: SupportsIndex | None = None,
    weights: Any = None, convention: str | Convention = "fastir", **choices: Any,
) -> Results:
    """Evaluate a matrix of scores: each row is a query (a user), and ranks all columns, the items.

    Parameters
    ----------
    scores : array of shape (n_queries, n_items), or iterator of arrays of shape (any, n_items)
        float32 or float64 in any order and with any strides, read where it lies; float16, bfloat16 and integers are
        copied as floats. An array or tensor of any library, in host memory. Blocks of rows from an iterator, or from
        another object that is neither an array nor a list of numbers, are evaluated one after the other, each in the
        thread of the caller's, and given back.
    relevant : sparse matrix, tuple, dict or list
        The judged items of each row. A SciPy matrix of labels; the same as a tuple of arrays (indptr, indices) or
        (indptr, indices, labels); a list with an array of items, or a dict {item: label}, for each row; or a dict of
        these by the number of the row, where a row that it lacks has none. Without labels all are 1; labels are whole
        numbers as in `evaluate`.
    metrics : str or iterable of str
        As in `evaluate`.
    k : int or None
        Read only so many items of each ranking, from 1 up; everywhere else called max_depth. Not needed for metrics
        with a cutoff, which are as quick without it.
    exclude : like relevant, or None
        Items that are not ranked, such as those that a user has seen; a relevant item among them counts as not
        retrieved. Labels do not matter, and items may stand twice.
    ties : {None, "input", "optimistic", "pessimistic", "average"}
        Order of equal scores: by number, the best or the worst labels first, or the expected value over all orders.
        None: what the convention says, by number where that goes by ids.
    rel_level, judged_only, score_dtype, n_threads, convention, **choices
        As in `evaluate`.
    weights : array of shape (n_queries,), mapping of row to float, or None
        As in `evaluate`.

    Returns
    -------
    Results
        As of `evaluate`, with query_ids 0 to n_queries - 1; without queries a mean is NaN.

    Raises
    ------
    UnknownMetricError
        As by `evaluate`.
    DuplicateError
        An item stands twice among the relevant ones of a row.
    TypeError
        An array has the wrong dtype or is on a device; an option has the wrong type or name.
    ValueError
        A score is NaN, also one that is excluded; an array has the wrong shape, a row has more or fewer entries than
        it should, an item is no column, a label is not a whole number; an option is out of its range. The first two are
        ValueErrors, too.
    OverflowError
        A label is out of its range or too large for a metric's formula.

    Notes
    -----
    No row is sorted: metrics that read the first few items keep those, others count for each relevant item the scores
    above it. What is undefined comes out as in `evaluate`. The arrays are never changed, and any number of threads may
    call this at once.

    Recommenders' names mean these: hit rate is ``hit_rate@k``, recall over at most k items ``relative_precision@k``,
    MAP over at most k items ``map(ap_norm=min_kR)@k``; ``ndcg@k`` has the k best items as its ideal. Users without
    relevant items count as 0, and not with ``empty="skip"``.

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
    depth = None if k is None else positive("k", "the depth", k, WHOLE)
    asked = Asked(metrics, convention, rel_level, ties, judged_only, depth, score_dtype, n_threads, choices)
    wanted, excluded = items(relevant, "relevant"), items(exclude, "exclude")
    wanted.check_labels(asked.whole.label_limits)
    done, n, n_columns = [], 0, None
    for block in blocks_of(scores):
        block = arrays.scores(block, "scores", 2)
        if n_columns not in (None, block.shape[1]):
            raise ValueError(f"scores: a block has {block.shape[1]} columns but the first has {n_columns}; shapes must "
                             "match")
        n_columns = block.shape[1]
        for side in (wanted, excluded):
            side.check_columns(n_columns, "scores")
            if side.shape[0] is not None and side.shape[0] < n + len(block):
                side.check(n + len(block), "scores")
        done.append([read_block(part, block, n, wanted, excluded, asked.n_threads) for _, part in asked.parts])
        n += len(block)
    for side in (wanted, excluded):
        side.check(n, "scores")
    return asked.results(done, weights)


def evaluate_topk(
    indices: ArrayLike, relevant: Any, metrics: str | Iterable[str], *, scores: ArrayLike | None = None,
    max_depth: SupportsIndex | None = None, rel_level: SupportsIndex = 1, ties: Ties | None = None,
    judged_only: bool = False, score_dtype: DTypeLike | None = None, n_threads: SupportsIndex | None = None,
    weights: Any = None, convention: str | Convention = "fastir", **choices: Any,
) -> Results:
    """Evaluate lists of items, as FAISS, usearch, hnswlib or torch.topk return them: a row for each query.

    Parameters
    ----------
    indices : integer array of shape (n_queries, width)
        The items in rank order; -1 fills the end of a row that has fewer. An array or tensor of any library.
    relevant : sparse matrix, tuple, dict or list
        The judged items of each row, as in `evaluate_matrix`; they need not be in the row.
    scores : array like indices, or None
        To rank the items by, the highest first: similarities, or distances with a minus. Without scores they are
        ranked as they come.
    ties : {None, "input", "optimistic", "pessimistic", "average"}
        Order of equal scores, as in `evaluate_matrix`: by place in the row, or by label.
    metrics, max_depth, rel_level, judged_only, score_dtype, n_threads, convention, **choices
        As in `evaluate`.
    weights : array of shape (n_queries,), mapping of row to float, or None
        As in `evaluate`.

    Returns
    -------
    Results
        As of `evaluate`, with query_ids 0 to n_queries - 1; without queries a mean is NaN.

    Raises
    ------
    UnknownMetricError
        As by `evaluate`.
    DuplicateError
        An item stands twice in a row, or among its relevant items.
    TypeError
        An array has the wrong dtype or is on a device; an option has the wrong type or name.
    ValueError
        A number below -1, an item behind -1, a score that is NaN, arrays whose shapes do not match, `ties` without
        scores; an option is out of its range. The first two are ValueErrors, too.
    OverflowError
        An index is above 2^63 - 1, or a label out of its range or too large for a metric's formula.

    Notes
    -----
    A metric that reads the whole ranking reads the row: what a search did not return is not retrieved. The arrays are
    never changed, and any number of threads may call this at once.

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
        raise ValueError("ties needs scores: without them the items are ranked as they come")
    asked = Asked(metrics, convention, rel_level, RANKED if scores is None else ties, judged_only, max_depth,
                  score_dtype, n_threads, choices)
    wanted = items(relevant, "relevant")
    wanted.check_labels(asked.whole.label_limits)
    rows = arrays.numbers(indices, "indices", 2)
    if rows.size and rows.dtype.kind not in "iu":
        raise TypeError(f"indices must be integers, got dtype {rows.dtype}")
    ranked_by = None if scores is None else arrays.scores(scores, "scores", 2)
    if ranked_by is not None and ranked_by.shape != rows.shape:
        raise ValueError(f"indices has the shape {rows.shape} but scores {ranked_by.shape}; shapes must match")
    wanted.check(len(rows), "indices")
    read = [read_lists(part, rows, ranked_by, wanted, asked.n_threads) for _, part in asked.parts]
    return asked.results([read], weights)


def read_block(
    asked: Settings, block: np.ndarray, first: int, wanted: Items, excluded: Items, n_threads: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, status and counts of the rows of a block, whose first is row `first` of all."""
    n, n_columns = block.shape
    single = asked.single or block.dtype == np.float32
    offsets, out = wanted.between(first, first + n), excluded.between(first, first + n)
    threads = thread_count(n_threads, block.size // WORK)
    kernel = Matrix(asked.plan, n_columns, single, max(asked.ties, len(BY_ID)), wanted.numbers, wanted.labels,
                    excluded.numbers, threads)
    values, status, counts = np.empty((n, len(asked.names))), np.empty(n, np.uint8), np.empty((n, 3), np.int64)

    def work(t: int, task: slice, number: int) -> None:
        start, stop = task.start, task.stop
        chunk = block[task]
        if single and chunk.dtype != np.float32:
            with np.errstate(over="ignore"):
                chunk = chunk.astype(np.float32)
        ends = slice(start, stop + 1)
        problem = kernel.read(t, chunk, offsets[ends], out[ends], values[task], status[task], counts[task], asked.level)
        if problem is not None:
            kind, row, item = problem
            raise failure(kind, first + start + row, int(np.isnan(chunk[row]).argmax()) if kind == 5 else item)

    in_one_piece = block.strides[1] == block.itemsize
    share_all(chunks(n, n_columns, 1 if in_one_piece else TILE), work, threads)
    return values, status, counts


def read_lists(
    asked: Settings, rows: np.ndarray, scores: np.ndarray | None, wanted: Items, n_threads: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, status and counts of rows of items."""
    n, width = rows.shape
    offsets = wanted.between(0, n)
    threads = thread_count(n_threads, rows.size)
    kernel = TopK(asked.plan, width, max(asked.ties, len(BY_ID)), wanted.numbers, wanted.labels, threads)
    values, status, counts = np.empty((n, len(asked.names))), np.empty(n, np.uint8), np.empty((n, 3), np.int64)

    def work(t: int, task: slice, number: int) -> None:
        ranked_by = None
        if scores is not None:
            with np.errstate(over="ignore"):
                ranked_by = np.ascontiguousarray(scores[task], np.float32 if asked.single else None)
            ranked_by = np.ascontiguousarray(ranked_by, np.float64)
        part = np.ascontiguousarray(arrays.integers(rows[task], "indices", 2))
        problem = kernel.read(t, part, ranked_by, offsets[task.start:task.stop + 1], values[task], status[task],
                              counts[task], asked.level)
        if problem is not None:
            kind, row, item = problem
            raise failure(kind, task.start + row, item)

    share_all(chunks(n, width, 1), work, threads)
    return values, status, counts


def chunks(n: int, width: int, least: int) -> Iterator[slice]:
    """So many rows in slices of about CHUNK entries, whatever the number of threads."""
    step = max(least, CHUNK // max(1, width))
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def blocks_of(scores: Any) -> Iterable[Any]:
    """The matrices that a caller's scores are: one, or those that come out of it."""
    if hasattr(scores, "__array__") or hasattr(scores, "__dlpack__") or not hasattr(scores, "__iter__"):
        return (scores,)
    if isinstance(scores, (list, tuple)) and not (len(scores) and getattr(scores[0], "ndim", 0) == 2):
        return (scores,)
    return scores


def failure(kind: int, row: int, item: int) -> Exception:
    """The exception for what a kernel found."""
    if kind == 1:
        return MemoryError()
    error, text = PROBLEMS[kind]
    return error(text.format(row=row, item=item))


def report(status: np.ndarray, ranked: np.ndarray, found: np.ndarray, tied: np.ndarray) -> Report:
    """The Report of rankings of items."""
    total = int(ranked.sum())

    def counted(name: str, mask: np.ndarray) -> dict[str, Any]:
        n = int(mask.sum())
        return {name: n, f"{name}_example": str(int(mask.argmax())) if n else None}

    return Report(**counted("in_both", status < 3), **counted("no_relevant", status == 2),
                  **counted("nothing_judged", (ranked > 0) & (found == 0)), **counted("queries_with_ties", tied > 0),
                  unjudged_share=(total - int(found.sum())) / total if total else None)
