"""TREC files: opened, unpacked and fed in chunks, to columns or straight into the evaluation."""

import gzip
import io
import os
import sys
import zlib

import numpy as np

from fastir._columns import find_duplicates
from fastir._stream import Stream, repeated
from fastir._trec import Reader
from fastir.errors import FormatError
from fastir.threads import thread_count

CHUNK = 1 << 19     # bytes per thread: a chunk and what is made of it stay in the second-level cache
ROW = 40            # bytes of a usual line
BOM = b"\xef\xbb\xbf"


def read(path, is_run, duplicates):
    """Read a TREC file as columns.

    Returns
    -------
    query_ids : list of str
    offsets : int64 array of shape (n_queries + 1,)
    arena, starts, lengths : uint8, int64, int64 arrays
        Document ids as bytes.
    numbers : float64 array
    repairs : dict
    """
    if not is_run and path == "-":
        raise ValueError("qrels cannot be read from standard input; expected a path")
    reader = Reader(name_of(path), is_run)
    repairs = feed(reader, path, CHUNK)
    arena, starts, lengths, numbers, group_rows, group_ids = reader.columns()
    rows = None
    slots = {}
    slot_of_group = [slots.setdefault(group, len(slots)) for group in group_ids]
    sizes = np.diff(np.append(group_rows, len(starts)))
    if len(slots) < len(group_ids):
        slot_of_row = np.repeat(np.array(slot_of_group), sizes)
        rows = np.argsort(slot_of_row, kind="stable")
        starts, lengths, numbers = starts[rows], lengths[rows], numbers[rows]
        sizes = np.bincount(slot_of_row, minlength=len(slots))
    offsets = np.zeros(len(slots) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    pairs = find_duplicates(arena, starts, lengths, offsets)
    if pairs:
        line = lambda row: reader.line_of(int(row if rows is None else rows[row]))  # noqa: E731
        if duplicates is None:
            first, second = min(pairs, key=lambda pair: line(pair[1]))
            query = list(slots)[int(np.searchsorted(offsets, second, "right")) - 1]
            document = arena[starts[second]:starts[second] + lengths[second]].tobytes()
            raise repeated(document, query, line(first), line(second), reader.path)
        repairs["duplicates"] = (len(pairs), f"{reader.path}:{line(pairs[0][1])}")
        numbers = numbers.copy()
        drop = np.zeros(len(starts), bool)
        for first, second in pairs:
            drop[second] = True
            if duplicates == "last" or (duplicates == "max" and numbers[second] > numbers[first]):
                numbers[first] = numbers[second]
        kept = np.concatenate(([0], np.cumsum(~drop)))
        offsets = kept[offsets]
        starts, lengths, numbers = starts[~drop], lengths[~drop], numbers[~drop]
    return [show(query) for query in slots], offsets, arena, starts, lengths, numbers, repairs


def evaluate(path, judged, plan, values, status, ties, single, n_threads):
    """Evaluate a run file while it is read, filling values and status.

    Returns
    -------
    None, or tuple
        None if this file needs `read`: it cannot be read twice, or the rows of some query do not stand together.
        Else what _columns.judge_columns returns, the ids of the queries that the qrels do not have in their order, and
        the repairs.
    """
    if not os.path.isfile(path):
        return None
    threads = thread_count(n_threads, os.path.getsize(path) // ROW)
    stream = Stream(name_of(path), judged, plan, values, status, ties, single, threads)
    repairs = feed(stream, path, CHUNK * threads)
    if stream.ungrouped:
        return None
    return stream.finish(), [show(query) for query in stream.foreign], repairs


def name_of(path):
    return "standard input" if path == "-" else os.fsdecode(path)


def show(text):
    return text.decode("utf-8", "surrogateescape")


def feed(reader, path, size):
    """Feed a file to a reader in chunks of about `size` bytes; returns the repairs."""
    repairs = {}
    if path == "-":
        feed_stream(reader, sys.stdin.buffer, size, repairs)
    else:
        with open(path, "rb") as file:
            feed_stream(reader, file, size, repairs)
    if reader.n_rows == 0:
        kind = "run is empty: no result" if reader.is_run else "qrels are empty: no judgment"
        raise FormatError(f"the {kind} lines", reader.path)
    return {**reader.repairs, **repairs}


def feed_stream(reader, file, size, repairs):
    """Feed an open file, unpacking gzip by its magic bytes; whole groups of lines are left to the reader to find."""
    if not hasattr(file, "peek"):
        file = io.BufferedReader(file)
    head = file.peek(2)[:2]
    if head == b"\x1f\x8b":
        file = gzip.GzipFile(fileobj=file)
    elif reader.path.endswith(".gz") and head:
        raise FormatError("the file is named .gz but is not gzip compressed", reader.path)
    buffer = np.empty(size + 16, np.uint8)
    used = 0
    begun = False
    while True:
        last = False
        while used < len(buffer) - 16 and not last:
            try:
                got = file.readinto(memoryview(buffer)[used:len(buffer) - 16])
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise FormatError(f"the gzip data is damaged or truncated: {error}", reader.path) from None
            used += got
            last = not got
        if not begun and buffer[:3].tobytes() == BOM and used >= 3:
            buffer[:used - 3] = buffer[3:used].copy()
            used -= 3
            repairs["byte order mark"] = (1, f"{reader.path}:1")
        begun = True
        taken = reader.feed(buffer, used, last)
        if last:
            return
        used -= taken
        if taken:
            buffer[:used] = buffer[taken:taken + used].copy()
        else:
            buffer = np.concatenate((buffer, np.empty(len(buffer), np.uint8)))
