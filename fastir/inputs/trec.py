"""TREC files: opened, unpacked and read in blocks, into columns or straight into the evaluation."""

import gzip
import io
import os
import sys
import zlib

import numpy as np

from fastir._columns import find_duplicates
from fastir._ids import of_arena
from fastir._stream import Stream, repeated
from fastir._trec import Reader, last_group, last_line
from fastir.errors import FormatError
from fastir.rows import Arena
from fastir.threads import share, thread_count

CHUNK = 1 << 20     # bytes: a block and what is made of it stay in the second-level cache
ROW = 40            # bytes of a usual line
BOM = b"\xef\xbb\xbf"


def read(path, is_run, duplicates, watch=None):
    """Read a TREC file as columns; watch(position) is called at every block.

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
    with Blocks(path, last_line, watch) as blocks:
        block = Block()
        while size := blocks.fill(block):
            reader.read(block.array, size)
    refuse_empty(reader)
    repairs = {**reader.repairs, **blocks.repairs}
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
    pairs = find_duplicates(of_arena(Arena(arena, starts, lengths)), offsets, watch)
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


def evaluate(path, judged, settings, values, status, n_threads, watch=None):
    """Evaluate a run file while it is read, filling values and status; watch(position) is called at every block.

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
    stream = Stream(name_of(path), judged, settings.plan, values, status, settings.ties, settings.single,
                    settings.only_judged, threads)
    lines, wrong = {}, {}
    buffers = [Block() for _ in range(threads)]

    def take(t):
        return blocks.fill(buffers[t]) or None

    def work(t, size, number):
        lines[number], problem = stream.read(t, buffers[t].array, size)
        if problem is not None:
            wrong[number] = problem
        return problem is not None or stream.ungrouped

    with Blocks(path, last_group, watch) as blocks:
        problems = share(take, work, threads)
    if wrong and min(wrong) < min(problems, default=len(lines)):
        first = min(wrong)
        raise wrong[first](sum(lines[number] for number in range(first)))
    if problems:
        raise problems[min(problems)]
    if stream.ungrouped:
        return None
    refuse_empty(stream)
    return stream.finish(), [show(query) for query in stream.foreign], {**stream.repairs, **blocks.repairs}


def name_of(path):
    return "standard input" if path == "-" else os.fsdecode(path)


def show(text):
    return text.decode("utf-8", "surrogateescape")


def refuse_empty(reader):
    if reader.n_rows == 0:
        kind = "run is empty: no result" if reader.is_run else "qrels are empty: no judgment"
        raise FormatError(f"the {kind} lines", reader.path)


class Block:
    """A buffer that grows where one query fills it."""

    def __init__(self):
        self.array = np.empty(CHUNK + 1, np.uint8)

    def grow(self):
        self.array = np.concatenate((self.array[:-1], np.empty(len(self.array), np.uint8)))


class Blocks:
    """A file in blocks that end where `cut` says, unpacked if it is gzip.

    Parameters
    ----------
    path : str or path
        ``-`` is standard input.
    cut : function of (array, size)
        Where the part of array[:size] begins that may go on behind it; 0 if that is all.
    watch : function of (position), or None
        Called before every block with how much of the file was read, 0 where that is unknown; may raise.
    """

    def __init__(self, path, cut, watch=None):
        self.path = name_of(path)
        self.cut = cut
        self.watch = watch
        self.repairs = {}
        self.carried = b""
        self.ended = False
        self.file = self.opened = sys.stdin.buffer if path == "-" else open(path, "rb")
        try:
            self.unpack()
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.opened is not sys.stdin.buffer:
            self.opened.close()

    def unpack(self):
        """Look at the first bytes: gzip, or a byte order mark."""
        if not hasattr(self.file, "peek"):
            self.file = io.BufferedReader(self.file)
        head = self.file.peek(3)[:3]
        if head[:2] == b"\x1f\x8b":
            self.file = gzip.GzipFile(fileobj=self.file)
            head = self.read(3)
        elif self.path.endswith(".gz") and head:
            raise FormatError("the file is named .gz but is not gzip compressed", self.path)
        else:
            head = self.read(3)
        if head == BOM:
            self.repairs["byte order mark"] = (1, f"{self.path}:1")
        else:
            self.carried = head

    def read(self, n):
        buffer = bytearray(n)
        return bytes(buffer[:self.readinto(memoryview(buffer))])

    def readinto(self, view):
        """Fill the view as far as the file goes; returns how far."""
        used = 0
        try:
            while used < len(view) and (got := self.file.readinto(view[used:])):
                used += got
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise FormatError(f"the gzip data is damaged or truncated: {error}", self.path) from None
        return used

    def fill(self, block):
        """Put the next whole part into block.array, leaving a byte behind it; returns its size, 0 at the end."""
        if self.watch is not None:
            self.watch(self.opened.tell() if self.opened.seekable() else 0)
        if self.ended:
            return 0
        used = len(self.carried)
        while used >= len(block.array) - 1:
            block.grow()
        block.array[:used] = np.frombuffer(self.carried, np.uint8)
        while True:
            used += self.readinto(memoryview(block.array)[used:-1])
            if used < len(block.array) - 1:
                size = used
                self.ended = True
                break
            size = self.cut(block.array, used)
            if size:
                break
            block.grow()
        self.carried = block.array[size:used].tobytes()
        return size
