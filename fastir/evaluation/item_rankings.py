"""How rankings of numbered items are evaluated: what was asked, the kernels that do it, and what can be wrong."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from fastir.errors import DuplicateError, UnknownMetricError, quote
from fastir.evaluation.label_lists import weights_of
from fastir.inputs import arrays
from fastir.inputs.csr import Items
from fastir.rank._matrix import Matrix
from fastir.rank._topk import TopK
from fastir.request.plan import BY_ID, RANKED, TIES, Settings, metric_tuple, one_of, settings
from fastir.results.results import Report, Results
from fastir.threads import run

OWN_TIES = TIES[len(BY_ID) :]
CHUNK = 1 << 21  # items that are converted at a time, where they are not contiguous int64
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
        self,
        metrics: Any,
        convention: Any,
        rel_level: Any,
        ties: Any,
        judged_only: Any,
        depth: Any,
        score_dtype: Any,
        n_threads: Any,
        choices: dict[str, Any],
    ) -> None:
        if ties is not RANKED:
            one_of("ties", ties, (None, *OWN_TIES))
        self.n_threads = n_threads
        self.whole = settings(
            metric_tuple(metrics),
            convention,
            rel_level,
            None,
            ties,
            judged_only,
            depth,
            score_dtype,
            n_threads,
            None,
            "full",
            choices,
        )
        self.parts = [(list(range(len(self.whole.names))), self.whole)]
        if self.whole.parts:
            self.parts = []
            for requests, rules, pooled in self.whole.parts:
                if pooled:
                    raise UnknownMetricError(
                        f"metric {quote(requests[0].text)} asks whether an item was judged for "
                        "any query, for which it needs qrels"
                    )
                own = settings(
                    tuple(request.text for request in requests),
                    convention,
                    rel_level,
                    None,
                    "input" if rules["ties"] in BY_ID else rules["ties"],
                    rules["judged_only"],
                    depth,
                    rules["score_dtype"],
                    n_threads,
                    None,
                    "full",
                    choices,
                )
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
        return Results(
            query_ids,
            self.whole.names,
            values,
            status,
            self.whole.aggregates,
            lambda: report(status, counts[:, 0], counts[:, 1], tied),
            weights_of(weights, query_ids),
            self.whole.convention,
        )


def read_block(
    asked: Settings, block: np.ndarray, first: int, wanted: Items, excluded: Items, n_threads: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, status and counts of the rows of a block, whose first is row `first` of all."""
    n = len(block)
    values, status, counts = outputs(asked, n)
    kernel = Matrix(
        asked.plan,
        block,
        asked.single or block.dtype == np.float32,
        max(asked.ties, len(BY_ID)),
        wanted.numbers,
        wanted.labels,
        wanted.between(first, first + n),
        excluded.numbers,
        excluded.between(first, first + n),
        values,
        status,
        counts,
        asked.level,
    )
    run(kernel, n_threads)
    problem = kernel.problem()
    if problem is not None:
        kind, row, item = problem
        raise failure(kind, first + row, int(np.isnan(block[row]).argmax()) if kind == 5 else item)
    return values, status, counts


def read_lists(
    asked: Settings, rows: np.ndarray, scores: np.ndarray | None, wanted: Items, n_threads: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, status and counts of rows of items."""
    n, width = rows.shape
    offsets = wanted.between(0, n)
    values, status, counts = outputs(asked, n)
    in_place = rows.dtype == np.int64 and rows.flags.c_contiguous
    step = max(1, n if in_place else CHUNK // max(1, width))
    for start in range(0, n, step):
        part = slice(start, start + step)
        kernel = TopK(
            asked.plan,
            np.ascontiguousarray(arrays.integers(rows[part], "indices", 2)),
            None if scores is None else scores[part],
            asked.single,
            max(asked.ties, len(BY_ID)),
            wanted.numbers,
            wanted.labels,
            offsets[start : start + step + 1],
            values[part],
            status[part],
            counts[part],
            asked.level,
        )
        run(kernel, n_threads)
        problem = kernel.problem()
        if problem is not None:
            kind, row, item = problem
            raise failure(kind, start + row, item)
    return values, status, counts


def outputs(asked: Settings, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, status and counts of n rows, for a kernel to fill."""
    return np.empty((n, len(asked.names))), np.empty(n, np.uint8), np.empty((n, 3), np.int64)


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

    return Report(
        **counted("in_both", status < 3),
        **counted("no_relevant", status == 2),
        **counted("nothing_judged", (ranked > 0) & (found == 0)),
        **counted("queries_with_ties", tied > 0),
        unjudged_share=(total - int(found.sum())) / total if total else None,
    )
