"""How rankings of numbered items are evaluated: what was asked, rows in chunks that threads share, what is wrong.

Chunks do not depend on the number of threads, and threads take them in order: so the first wrong row is the one that is
named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from fastir.errors import DuplicateError
from fastir.evaluation.label_lists import weights_of
from fastir.inputs import arrays
from fastir.inputs.csr import Items
from fastir.measure._codes import PROBLEM_CODES, STATUS_CODES
from fastir.rank._matrix import Matrix
from fastir.rank._topk import TopK
from fastir.request.options import BY_ID
from fastir.request.plan import Settings
from fastir.results.report import Report
from fastir.results.results import Results
from fastir.threads import share_all, thread_count

CHUNK = 1 << 21  # scores that a thread takes at a time
WORK = 16  # scores that take as long as a row elsewhere
COUNTED = 32  # relevant items of a row for which it is read as if once more
TILE = 16  # rows that are read together where they do not lie in one piece
PROBLEMS = {
    PROBLEM_CODES["repeated"]: (DuplicateError, "relevant: item {item} stands twice in row {row}"),
    PROBLEM_CODES["outside"]: (ValueError, "relevant: item {item} of row {row} is no column of scores; out of range"),
    PROBLEM_CODES["excluded outside"]: (
        ValueError,
        "exclude: item {item} of row {row} is no column of scores; out of range",
    ),
    PROBLEM_CODES["not a number"]: (ValueError, "scores: NaN in row {row}, column {item}"),
    PROBLEM_CODES["ranked twice"]: (DuplicateError, "indices: item {item} stands twice in row {row}"),
    PROBLEM_CODES["negative"]: (ValueError, "indices: {item} in row {row}; must be an item from 0 up, or -1 for none"),
    PROBLEM_CODES["padded inside"]: (
        ValueError,
        "indices: item {item} of row {row} stands behind -1, which must fill the end of a row",
    ),
}


def results_of(
    whole: Settings, parts: list[tuple[list[int], Settings]], blocks: list[list[tuple]], weights: Any
) -> Results:
    """The Results, from (values, status, counts) of every block and part; `parts` are those of `without_ids`."""
    n = sum(len(done[0][1]) for done in blocks)
    values, status = np.empty((n, len(whole.names))), np.empty(n, np.uint8)
    counts, tied = np.empty((n, 3), np.int64), np.zeros(n, bool)
    start = 0
    for done in blocks:
        rows = slice(start, start + len(done[0][1]))
        for (columns, _), (own_values, own_status, own_counts) in zip(parts, done, strict=True):
            values[rows, columns] = own_values
            status[rows], counts[rows] = own_status, own_counts
            tied[rows] |= own_counts[:, 2] > 0
        start = rows.stop
    query_ids = range(n)
    return Results(
        query_ids,
        whole.names,
        values,
        status,
        whole.aggregates,
        lambda: report(status, counts[:, 0], counts[:, 1], tied),
        weights_of(weights, query_ids),
        whole.convention,
    )


def read_block(
    asked: Settings, block: np.ndarray, first: int, wanted: Items, excluded: Items, n_threads: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, status and counts of the rows of a block, whose first is row `first` of all."""
    n, n_columns = block.shape
    single = asked.single or block.dtype == np.float32
    offsets, out = wanted.between(first, first + n), excluded.between(first, first + n)
    work_of_row = n_columns * (1 + (offsets[-1] - offsets[0]) // (COUNTED * max(1, n)))
    threads = thread_count(n_threads, n * work_of_row // WORK)
    kernel = Matrix(
        asked.plan,
        n_columns,
        single,
        max(asked.ties, len(BY_ID)),
        wanted.numbers,
        wanted.labels,
        excluded.numbers,
        threads,
    )
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
            if kind == PROBLEM_CODES["not a number"]:
                item = int(np.isnan(chunk[row]).argmax())
            raise failure(kind, first + start + row, item)

    in_one_piece = block.strides[1] == block.itemsize
    share_all(chunks(n, int(work_of_row), 1 if in_one_piece else TILE), work, threads)
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
        problem = kernel.read(
            t,
            part,
            ranked_by,
            offsets[task.start : task.stop + 1],
            values[task],
            status[task],
            counts[task],
            asked.level,
        )
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
    if kind == PROBLEM_CODES["no memory"]:
        return MemoryError()
    error, text = PROBLEMS[kind]
    return error(text.format(row=row, item=item))


def report(status: np.ndarray, ranked: np.ndarray, found: np.ndarray, tied: np.ndarray) -> Report:
    """The Report of rankings of items."""
    total = int(ranked.sum())

    def counted(name: str, mask: np.ndarray) -> dict[str, Any]:
        n = int(mask.sum())
        return {name: n, f"{name}_example": str(int(mask.argmax())) if n else None}

    return Report(
        **counted("in_both", status != STATUS_CODES["missing"]),
        **counted("no_relevant", status == STATUS_CODES["no_relevant"]),
        **counted("nothing_judged", (ranked > 0) & (found == 0)),
        **counted("queries_with_ties", tied > 0),
        unjudged_share=(total - int(found.sum())) / total if total else None,
    )
