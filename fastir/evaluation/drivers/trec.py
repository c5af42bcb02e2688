"""TREC run files: evaluated block by block while they are read, in one thread or several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastir.engine.columns._trec import last_group
from fastir.engine.join._trec_stream import Stream
from fastir.engine.threads import interruptible, share, thread_count
from fastir.evaluation.drivers.coverage import Coverage
from fastir.evaluation.drivers.in_memory import from_whole_file
from fastir.inputs import formats
from fastir.inputs.places import on_disk, place_name, place_size
from fastir.inputs.trec import BLOCK_BYTES, ROW_BYTES, Block, Blocks, empty_error, show

if TYPE_CHECKING:
    from fastir.evaluation.drivers.prepared import Task


def from_trec_file(task: Task) -> Coverage:
    """Evaluate a file while it is read.

    A file is read as a whole instead if it cannot be opened twice, or once the rows of some query turn out not to be
    contiguous.
    """
    prepared, path = task.prepared, task.run
    if not on_disk(path):
        return from_whole_file(task)
    threads = thread_count(task.n_threads, place_size(path) // ROW_BYTES)
    lines = formats.FORMATS[prepared.settings.lines].lines[True]
    stream = Stream(place_name(path), lines, prepared.join_rules(), task.values, task.status, threads)
    n_lines, wrong = {}, {}
    buffers = [Block() for _ in range(threads)]

    def take(t: int) -> int | None:
        return blocks.fill(buffers[t]) or None

    def work(t: int, size: int, number: int) -> bool:
        block = buffers[t].array
        rows = size // ROW_BYTES if size > BLOCK_BYTES else 0  # a larger block is of one query
        n_lines[number], problem = interruptible(lambda: stream.read(t, number, block, size), rows)
        if problem is not None:
            wrong[number] = problem
        return problem is not None or stream.ungrouped

    with Blocks(path, last_group, task.watch) as blocks:
        problems = share(take, work, threads)
    if stream.ungrouped:
        return from_whole_file(task)
    if wrong and min(wrong) < min(problems, default=len(n_lines)):
        first = min(wrong)
        raise wrong[first](sum(n_lines[number] for number in range(first)))
    if problems:
        raise problems[min(problems)]
    if not stream.n_rows:
        raise empty_error(stream)
    counts = stream.finish()
    unknown_queries = [show(query) for query in sorted(stream.unknown_queries, key=stream.unknown_queries.__getitem__)]
    n_run, repairs = counts.n_matched_queries + len(unknown_queries), {**stream.repairs, **blocks.repairs}
    return Coverage(prepared, task.status, counts, n_run, unknown_queries, repairs)
