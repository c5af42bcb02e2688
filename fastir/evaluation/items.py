"""How rankings of numbered items reach the kernels of `rank`, and how the errors that kernels find are raised."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from fastir.data.results.report import Report
from fastir.data.results.results import Results, set_best
from fastir.engine.columns.rows import LISTED_TWICE, list_of_each
from fastir.engine.measure._codes import PROBLEM_CODES, STATUS_CODES
from fastir.engine.rank._matrix import Matrix
from fastir.engine.rank._topk import TopK
from fastir.engine.threads import run
from fastir.errors import DuplicateError
from fastir.evaluation.collected import empty_values
from fastir.evaluation.labels import weights_by_query
from fastir.evaluation.weighted_items import ItemPart
from fastir.inputs import arrays
from fastir.inputs.csr import Items
from fastir.inputs.item_rows import ItemRows
from fastir.request.options import BY_ID
from fastir.request.plan import Settings
from fastir.request.sizes import refuse_small

CHUNK = 1 << 21  # items that are converted at a time, where they are not contiguous int64
PROBLEMS: dict[int, tuple[type[Exception], str]] = {
    PROBLEM_CODES["repeated"]: (DuplicateError, "relevant: duplicate item {item} in row {row}"),
    PROBLEM_CODES["outside"]: (ValueError, "relevant: item {item} of row {row} is no column of scores; out of range"),
    PROBLEM_CODES["excluded outside"]: (
        ValueError,
        "exclude: item {item} of row {row} is no column of scores; out of range",
    ),
    PROBLEM_CODES["changed"]: (RuntimeError, "the arrays were changed while they were read, seen in row {row}"),
    PROBLEM_CODES["not a number"]: (ValueError, "scores: NaN in row {row}, column {item}"),
    PROBLEM_CODES["ranked twice"]: (DuplicateError, "indices: duplicate item {item} in row {row}"),
    PROBLEM_CODES["negative"]: (ValueError, "indices: {item} in row {row}; must be an item from 0 up, or -1 for none"),
    PROBLEM_CODES["padded inside"]: (
        ValueError,
        "indices: item {item} of row {row} stands behind -1, which must fill the end of a row",
    ),
}


def item_results(
    whole: Settings,
    parts: list[ItemPart],
    blocks: list[list[tuple[Any, ...]]],
    wanted: Items,
    weights: Any,
    rows: ItemRows,
) -> Results:
    """The Results, from (values, status, counts) of every block and part."""
    n = sum(len(done[0][1]) for done in blocks)
    values, status = np.empty((n, len(whole.names))), np.empty(n, np.uint8)
    counts, tied = np.empty((n, 3), np.int64), np.zeros(n, bool)
    start = 0
    for done in blocks:
        block = slice(start, start + len(done[0][1]))
        for part, part_result in zip(parts, done, strict=True):
            part_values, part_status, part_counts = part.finished(part_result, n)
            values[block, part.columns] = part_values
            status[block], counts[block] = part_status, part_counts
            tied[block] |= part_counts[:, 2] > 0
        start = block.stop
    query_ids: Any = range(n) if rows.query_ids is None else rows.query_ids
    status[n - rows.n_missing :] = STATUS_CODES["missing"]  # nothing if no row is missing
    refuse_small(whole.sizes, values, query_ids)
    whole.warn_of_fractions(wanted.fractions[0], wanted.largest)
    results = Results(
        query_ids,
        whole.names,
        values,
        status,
        whole.aggregates,
        lambda: report(status, counts, tied, wanted, rows, query_ids),
        weights_by_query(weights, query_ids),
        whole.provenance,
    )
    set_best(results, {whole.names[column]: best for part in parts for column, best in part.best_values(n)})
    return results


def read_block(
    settings: Settings, block: np.ndarray, first: int, wanted: Items, excluded: Items, n_threads: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, status and counts of the rows of a block, whose first is row `first` of all."""
    n = len(block)
    offsets = wanted.between(first, first + n)
    values, status, counts = outputs(settings, offsets)
    kernel = Matrix(
        settings.plan,
        block,
        settings.single or block.dtype == np.float32,
        max(settings.ties, len(BY_ID)),
        wanted.numbers,
        wanted.labels,
        offsets,
        excluded.numbers,
        excluded.between(first, first + n),
        values,
        status,
        counts,
        settings.level,
    )
    run(kernel, n_threads, block.shape[1])
    problem = kernel.problem()
    if problem is not None:
        kind, row, item = problem
        if kind == PROBLEM_CODES["repeated"] and wanted.repair():
            return read_block(settings, block, first, wanted, excluded, n_threads)
        raise failure(
            kind, first + row, int(np.isnan(block[row]).argmax()) if kind == PROBLEM_CODES["not a number"] else item
        )
    return values, status, counts


def read_lists(
    settings: Settings,
    rows: np.ndarray,
    scores: np.ndarray | None,
    wanted: Items,
    excluded: Items,
    n_threads: Any,
    first: int = 0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, status and counts of rows of items, whose first is row `first` of all."""
    n, width = rows.shape
    offsets = wanted.between(first, first + n)
    values, status, counts = outputs(settings, offsets)
    in_place = rows.dtype == np.int64 and rows.flags.c_contiguous and not len(excluded.numbers)
    step = max(1, n if in_place else CHUNK // max(1, width))
    for start in range(0, n, step):
        part = slice(start, start + step)
        ranked, ranked_by = arrays.integers(rows[part], "indices", 2), None if scores is None else scores[part]
        if len(excluded.numbers):
            ranked, ranked_by = without(ranked, ranked_by, excluded, start)
        kernel = TopK(
            settings.plan,
            np.ascontiguousarray(ranked),
            ranked_by,
            settings.single,
            max(settings.ties, len(BY_ID)),
            wanted.numbers,
            wanted.labels,
            offsets[start : start + step + 1],
            values[part],
            status[part],
            counts[part],
            settings.level,
        )
        run(kernel, n_threads, width)
        problem = kernel.problem()
        if problem is not None:
            kind, row, item = problem
            if kind == PROBLEM_CODES["repeated"] and wanted.repair():
                return read_lists(settings, rows, scores, wanted, excluded, n_threads, first)
            raise failure(kind, first + start + row, item)
    return values, status, counts


def without(
    rows: np.ndarray, scores: np.ndarray | None, excluded: Items, first: int
) -> tuple[np.ndarray, np.ndarray | None]:
    """Rows of items and their scores, without the excluded items: the others move up, -1 fills the end.

    The first of the rows is row `first` of all. What else -1 and smaller numbers stand for is left to the kernel.
    """
    if scores is not None:
        absent = np.isnan(scores) & (rows >= 0)
        if absent.any():
            row, column = np.argwhere(absent)[0].tolist()
            raise failure(PROBLEM_CODES["not a number"], first + row, column)
    n = len(rows)
    offsets = excluded.between(first, first + n)
    numbers = excluded.numbers[offsets[0] : offsets[-1]]
    owners = list_of_each(offsets)
    owners, numbers = owners[numbers >= 0], numbers[numbers >= 0]
    items = rows
    most = int(max(rows.max(initial=0), numbers.max(initial=0))) + 1
    if most * n >= 2**63:
        excluded_items = np.unique(numbers)
        items = np.where(np.isin(rows, excluded_items), np.searchsorted(excluded_items, rows), -1)
        numbers, most = np.searchsorted(excluded_items, numbers), len(excluded_items)
    gone = (items >= 0) & np.isin(items + most * np.arange(n)[:, None], numbers + most * owners)
    order = np.argsort(gone, axis=1, kind="stable")
    moved = np.take_along_axis(rows, order, axis=1)
    moved[np.take_along_axis(gone, order, axis=1)] = -1
    return moved, None if scores is None else np.take_along_axis(scores, order, axis=1)


def outputs(settings: Settings, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Empty arrays for the values, status and counts of rows, for a kernel to fill; their items have these offsets."""
    n = len(offsets) - 1
    return empty_values(settings, offsets), np.empty(n, np.uint8), np.empty((n, 3), np.int64)


def row_blocks(scores: Any) -> Iterable[Any]:
    """The matrices in a caller's scores: one array, or each array that an iterator gives."""
    whole = any(hasattr(scores, name) for name in ("__array__", "__dlpack__", "tocsr"))
    if whole or not hasattr(scores, "__iter__"):
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


def report(
    status: np.ndarray, counts: np.ndarray, tied: np.ndarray, wanted: Items, rows: ItemRows, query_ids: Any
) -> Report:
    """The Report of rankings of items."""
    ranked, hits = counts[:, 0], counts[:, 1]
    total, (fractions, first_fraction), (repeats, first_repeat) = int(ranked.sum()), wanted.fractions, wanted.repeats
    n = len(query_ids)

    def counted(name: str, mask: np.ndarray) -> dict[str, Any]:
        n = int(mask.sum())
        return {name: n, f"{name}_example": str(query_ids[int(mask.argmax())]) if n else None}

    return Report(
        **counted("in_both", status != STATUS_CODES["missing"]),
        **counted("no_relevant", status == STATUS_CODES["no_relevant"]),
        **counted("nothing_judged", (ranked > 0) & (hits == 0)),
        **counted("queries_with_ties", tied > 0),
        unjudged_share=(total - int(hits.sum())) / total if total else None,
        fractions=fractions,
        fractions_example=str(query_ids[first_fraction]) if fractions else None,
        only_in_qrels=rows.n_missing,
        only_in_qrels_example=str(query_ids[n - rows.n_missing]) if rows.n_missing else None,
        only_in_run=len(rows.only_in_run),
        only_in_run_example=str(rows.only_in_run[0]) if rows.only_in_run else None,
        repairs={LISTED_TWICE: (repeats, f"query {query_ids[first_repeat]}")} if repeats else None,
    )
