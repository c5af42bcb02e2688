"""TREC run files: evaluated block by block while they are read, in one thread or several."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from fastir.columns._trec import last_group
from fastir.evaluation.coverage import Coverage
from fastir.evaluation.held_runs import from_whole_file
from fastir.inputs.places import name_of, on_disk
from fastir.inputs.trec import CHUNK, ROW, Block, Blocks, empty, show
from fastir.join._trec_stream import Stream
from fastir.threads import interruptible, share, thread_count

if TYPE_CHECKING:
    from fastir.evaluation.prepared import Prepared


def from_trec_file(
    prepared: Prepared,
    path: Any,
    values: np.ndarray,
    status: np.ndarray,
    n_threads: SupportsIndex | None,
    watch: Callable[..., Any] | None,
) -> Coverage:
    """Evaluate a file while it is read, filling values and status; watch(position) is called at every block.

    A file is read as a whole instead if it cannot be opened twice, or once the rows of some query turn out not to stand
    together.
    """
    if not on_disk(path):
        return from_whole_file(prepared, path, values, status, n_threads, watch)
    settings = prepared.settings
    threads = thread_count(n_threads, os.path.getsize(path) // ROW)
    stream = Stream(
        name_of(path),
        prepared.judged,
        settings.plan,
        values,
        status,
        settings.ties,
        settings.single,
        settings.options.validate == "judged",
        threads,
        *prepared.rules(),
    )
    lines, wrong = {}, {}
    buffers = [Block() for _ in range(threads)]

    def take(t: int) -> int | None:
        return blocks.fill(buffers[t]) or None

    def work(t: int, size: int, number: int) -> bool:
        block = buffers[t].array
        rows = size // ROW if size > CHUNK else 0  # a larger block is of one query
        lines[number], problem = interruptible(lambda: stream.read(t, number, block, size), rows)
        if problem is not None:
            wrong[number] = problem
        return problem is not None or stream.ungrouped

    with Blocks(path, last_group, watch) as blocks:
        problems = share(take, work, threads)
    if stream.ungrouped:
        return from_whole_file(prepared, path, values, status, n_threads, watch)
    if wrong and min(wrong) < min(problems, default=len(lines)):
        first = min(wrong)
        raise wrong[first](sum(lines[number] for number in range(first)))
    if problems:
        raise problems[min(problems)]
    if not stream.n_rows:
        raise empty(stream)
    tally = stream.finish()
    foreign = [show(query) for query in sorted(stream.foreign, key=stream.foreign.__getitem__)]
    return Coverage(prepared, status, tally, tally.found + len(foreign), foreign, {**stream.repairs, **blocks.repairs})
