"""How rankings of numbered items reach the kernels of `rank`, and how the errors that kernels find are raised."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsFloat

import numpy as np

from fastir.checks import number
from fastir.data.results.report import Report
from fastir.data.results.results import set_best
from fastir.engine.columns.rows import LISTED_TWICE, LOW, list_of_each, repeat
from fastir.engine.measure._codes import PROBLEM_CODES, STATUS_CODES
from fastir.engine.rank._matrix import Matrix
from fastir.engine.rank._topk import TopK
from fastir.engine.threads import run
from fastir.errors import DuplicateError, quote
from fastir.evaluation import array_call
from fastir.evaluation.array_call import ArrayCall, Collecting, counts_of, empty_values, example_of, repairs_of
from fastir.evaluation.composites.weights import WeightedPart, check_query_weights, weighted_parts
from fastir.inputs import arrays
from fastir.inputs.csr import Items
from fastir.inputs.item_rows import ItemRows
from fastir.inputs.mappings import align, read_weight
from fastir.request.options import TIES_BY_ID, Options
from fastir.request.plan import Settings

if TYPE_CHECKING:
    from fastir.data.results.results import Results
    from fastir.engine.measure._grades import Grades

CHUNK_ITEMS = 1 << 21  # items that are converted at a time, where they are not contiguous int64
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
        "indices: item {item} of row {row} follows -1, which must fill the end of a row",
    ),
}


class ItemCall(ArrayCall):
    """The metrics of a call on numbered items; blocks of rows are measured one after the other."""

    rows: ItemRows
    wanted: Items
    excluded: Items
    measured: list[ItemPart]
    collecting: Collecting
    grades: Grades | None
    labels: np.ndarray

    def __init__(self, options: Options, metrics: str | Iterable[str], weights: Any, doc_weights: Any) -> None:
        super().__init__(options, metrics, weights, doc_weights is not None)
        self.doc_weights: Any = doc_weights
        self.n_rows: int = 0
        self.blocks: list[list[tuple[np.ndarray, ...]]] = []  # (values, status, counts) of each part

    def read_items(self, rows: ItemRows, threshold: SupportsFloat | None) -> None:
        """Read the judged items, checked against the limits of the metrics, and the excluded ones."""
        if threshold is not None:
            threshold = number("threshold", threshold)
            if self.settings.level != 1:
                level = self.settings.options.rel_level
                raise ValueError(f"threshold makes labels of 1 and 0; expected rel_level=1 with it, got {level}")
        self.rows, wanted = rows, rows.judged_items(threshold)
        wanted.check_labels(self.settings.label_limits)
        self.wanted, self.excluded = wanted, rows.excluded_items()
        if self.custom is not None or self.doc_weights is not None:
            wanted.repair()
        if self.custom is not None:
            ones = np.ones(len(wanted.numbers), np.int32)
            self.grades, (self.labels,) = array_call.encode_labels(ones if wanted.labels is None else wanted.labels)
            self.collecting = Collecting(self.parts[0][1], len(wanted.numbers))
        weights = rows.item_weights(self.doc_weights)
        self.measured = item_parts(weights, self.weights, wanted, self.settings, self.parts)

    def check(self, n_rows: int, name: str) -> None:
        """Raise ValueError if the number of rows does not fit the items."""
        self.wanted.check(n_rows, name)
        self.excluded.check(n_rows, name)

    def measure(
        self, read: Callable[..., tuple[np.ndarray, ...]], excluded: Items, n_threads: Any, *block: Any
    ) -> None:
        """Measure a block of rows by `read_block` or `read_lists`."""
        first = self.n_rows
        done = [read(part.settings, part.wanted, excluded, n_threads, first, *block) for part in self.measured]
        if self.custom is not None:
            done.append(read(self.collecting, self.wanted, excluded, n_threads, first, *block))
        self.blocks.append(done)
        self.n_rows += len(block[0])

    def finish(self) -> Results:
        """The Results of all blocks."""
        n, rows, whole = self.n_rows, self.rows, self.settings
        values, status = np.empty((n, len(whole.names))), np.empty(n, np.uint8)
        counts, tied = np.empty((n, 4), np.int64), np.zeros(n, bool)
        start = 0
        for done in self.blocks:
            block = slice(start, start + len(done[0][1]))
            for part, part_result in zip(self.measured, done, strict=False):  # without what was collected
                part_values, part_status, part_counts = part.add_divided(part_result, n)
                values[block, part.columns] = part_values
                status[block], counts[block] = part_status, part_counts
                tied[block] |= part_counts[:, 2] > 0
            start = block.stop
        query_ids: Any = range(n) if rows.query_ids is None else rows.query_ids
        status[n - rows.n_missing :] = STATUS_CODES["missing"]  # nothing if no row is missing
        whole.warn_of_fractions(self.wanted.fractions[0], self.wanted.largest)

        def report() -> Report:
            ranked, hits, low = counts[:, 0], counts[:, 1], counts[:, 3]
            total, (repeats, first_repeat) = int(ranked.sum()), self.wanted.repeats
            first_low = int((low > 0).argmax()) if n else 0
            return Report(
                **counts_of("in_both", status != STATUS_CODES["missing"], query_ids),
                **counts_of("no_relevant", status == STATUS_CODES["no_relevant"], query_ids),
                **counts_of("nothing_judged", (ranked > 0) & (hits == 0), query_ids),
                **counts_of("queries_with_ties", tied, query_ids),
                **example_of("fractions", *self.wanted.fractions, query_ids),
                **example_of("only_in_qrels", rows.n_missing, n - rows.n_missing, query_ids),
                **example_of("only_in_run", len(rows.only_in_run), 0, rows.only_in_run),
                unjudged_share=(total - int(hits.sum())) / total if total else None,
                repairs=repairs_of(query_ids, (LISTED_TWICE, repeats, first_repeat), (LOW, int(low.sum()), first_low)),
            )

        results = self.results(query_ids, values, status, report)
        set_best(results, {whole.names[at]: best for part in self.measured for at, best in part.best_values(n)})
        if self.custom is None:
            return results
        collected = np.concatenate([np.empty((0, 2)), *(done[-1][0] for done in self.blocks)])
        offsets = self.wanted.offsets_between(0, n)
        labels = np.where(self.labels < 0, array_call.POOLED, self.labels).astype(np.int32)
        return self.with_custom(results, self.collecting, offsets, collected, self.grades, (labels, offsets))


def read_block(
    settings: Settings, wanted: Items, excluded: Items, n_threads: Any, first: int, block: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return values, status and counts of the rows of a block, which begins at row `first` of all."""
    n = len(block)
    offsets = wanted.offsets_between(first, first + n)
    values, status, counts = outputs(settings, offsets)
    kernel = Matrix(
        settings.plan,
        block,
        settings.single or block.dtype == np.float32,
        settings.least_of(block),
        max(settings.ties, len(TIES_BY_ID)),
        wanted.numbers,
        wanted.labels,
        offsets,
        excluded.numbers,
        excluded.offsets_between(first, first + n),
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
            return read_block(settings, wanted, excluded, n_threads, first, block)
        raise failure(
            kind, first + row, int(np.isnan(block[row]).argmax()) if kind == PROBLEM_CODES["not a number"] else item
        )
    return values, status, counts


def read_lists(
    settings: Settings,
    wanted: Items,
    excluded: Items,
    n_threads: Any,
    first: int,
    rows: np.ndarray,
    scores: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return values, status and counts of rows of items, which begin at row `first` of all."""
    n, width = rows.shape
    offsets = wanted.offsets_between(first, first + n)
    values, status, counts = outputs(settings, offsets)
    in_place = rows.dtype == np.int64 and rows.flags.c_contiguous and not len(excluded.numbers)
    step = max(1, n if in_place else CHUNK_ITEMS // max(1, width))
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
            -math.inf if scores is None else settings.least_of(scores),
            max(settings.ties, len(TIES_BY_ID)),
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
                return read_lists(settings, wanted, excluded, n_threads, first, rows, scores)
            raise failure(kind, first + start + row, item)
    return values, status, counts


def without(
    rows: np.ndarray, scores: np.ndarray | None, excluded: Items, first: int
) -> tuple[np.ndarray, np.ndarray | None]:
    """Rows of items and their scores, without the excluded items: the others move up, -1 fills the end.

    The first of the rows is row `first` of all. The kernel decides what -1 and smaller numbers mean otherwise.
    """
    if scores is not None:
        absent = np.isnan(scores) & (rows >= 0)
        if absent.any():
            row, column = np.argwhere(absent)[0].tolist()
            raise failure(PROBLEM_CODES["not a number"], first + row, column)
    n = len(rows)
    offsets = excluded.offsets_between(first, first + n)
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
    return empty_values(settings, offsets), np.empty(n, np.uint8), np.empty((n, 4), np.int64)


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


# ---- weights of items ------------------------------------------------------------------------------------------------
class ItemPart(NamedTuple):
    """Metrics that are measured together: their columns, their Settings, and the judged items with their labels."""

    columns: list[int]
    settings: Settings
    wanted: Items
    weighted: WeightedPart | None = None
    best: np.ndarray | None = None

    def add_divided(self, done: tuple[Any, ...], n: int) -> tuple[Any, ...]:
        """(values, status, counts) of a block of n rows in all, with what is known of all rows."""
        if self.weighted is None or self.best is None:
            return done
        return self.weighted.divide(done[0], self.best, n), *done[1:]

    def best_values(self, n: int) -> list[tuple[int, np.ndarray]]:
        """(column, what the best ranking of each of n rows has) of metrics that divide means."""
        if self.weighted is None or self.best is None:
            return []
        best = np.zeros((n, self.best.shape[1]))
        best[self.wanted.rows] = self.best
        columns = [self.columns[place] for place in self.weighted.by_means]
        return list(zip(columns, best.T, strict=True))


def item_parts(
    doc_weights: Any, weights: Any, wanted: Items, whole: Settings, parts: list[tuple[list[int], Settings]]
) -> list[ItemPart]:
    """Return the parts of metrics, each with its labels; weighted items first."""
    weighted, plain = [], []
    if doc_weights is not None:
        item_weights = read_item_weights(doc_weights, wanted)
        if weights is not None:
            check_query_weights(whole.requests)
    for columns, part in parts:
        if part.requests[0].card.sampled != "weights":
            plain.append((columns, part))
            continue
        for weighted_part in reversed(weighted_parts(part)):
            labels = weighted_part.labels(labels_or_ones(wanted), item_weights)
            items = Items(wanted.rows, wanted.offsets, wanted.numbers, labels, wanted.shape, wanted.name)
            best = (
                weighted_part.best(wanted.offsets, labels)
                if weighted_part.by_means
                else np.empty((len(wanted.rows), 0))
            )
            settings = weighted_part.settings.for_grades(items.code_labels())
            weighted.append(
                ItemPart([columns[place] for place in weighted_part.columns], settings, items, weighted_part, best)
            )
    grades = wanted.code_labels()
    where = None if grades is None else functools.partial(wanted.first_fraction, grades)
    return weighted + [ItemPart(columns, part.for_grades(grades, where), wanted) for columns, part in plain]


def labels_or_ones(wanted: Items) -> np.ndarray:
    return np.ones(len(wanted.numbers)) if wanted.labels is None else wanted.labels


def read_item_weights(doc_weights: Any, wanted: Items) -> np.ndarray:
    """The weight of each judged item."""
    owners = repeat(wanted.rows, np.diff(wanted.offsets))
    labels = labels_or_ones(wanted)
    if hasattr(doc_weights, "items"):
        rows = zip(owners.tolist(), wanted.numbers.tolist(), labels.tolist(), strict=True)
        return align(doc_weights, rows, "row", "item")
    by_item = arrays.numbers(doc_weights, "doc_weights", 1)
    within = (wanted.numbers >= 0) & (wanted.numbers < len(by_item))
    item_weights = np.full(len(wanted.numbers), np.nan)
    item_weights[within] = by_item[wanted.numbers[within]]
    wrong = np.flatnonzero((labels > 0) & ~((item_weights > 0) & (item_weights < np.inf)))
    if len(wrong):
        row, item = int(owners[wrong[0]]), int(wanted.numbers[wrong[0]])
        if not within[wrong[0]]:
            raise ValueError(
                f"doc_weights: item {quote(item)} of row {quote(row)} has no weight; there are {len(by_item)} weights"
            )
        read_weight(float(item_weights[wrong[0]]), f"(row {row}, item {item})")
    return item_weights
