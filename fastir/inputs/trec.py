"""TREC files: opened, unpacked, read in chunks into columns."""

import gzip
import io
import os
import sys
import zlib

import numpy as np

from fastir._judge import find_duplicates
from fastir._trec import Reader
from fastir.errors import DuplicateError, FormatError, quote

CHUNK = 1 << 20
BOM = b"\xef\xbb\xbf"


def read(path, is_run, duplicates):
    """Read a TREC file.

    Returns
    -------
    query_ids : list of str
    offsets : int64 array of shape (n_queries + 1,)
    arena, starts, lengths : uint8, int64, int64 arrays
        Document ids as bytes.
    numbers : float64 array
    repairs : dict
    """
    name = "standard input" if path == "-" else os.fsdecode(path)
    if not is_run and path == "-":
        raise ValueError("qrels cannot be read from standard input; expected a path")
    reader = Reader(name, is_run)
    repairs = {}
    if path == "-":
        fill(reader, sys.stdin.buffer, repairs)
    else:
        with open(path, "rb") as file:
            fill(reader, file, repairs)
    if reader.n_rows == 0:
        kind = "run is empty: no result" if is_run else "qrels are empty: no judgment"
        raise FormatError(f"the {kind} lines", name)
    for kind, count in (("blank lines", reader.blank_lines), ("comment lines", reader.comments), ("CRLF line ends", reader.crlf)):
        if count:
            repairs[kind] = (count, name)
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
            raise DuplicateError(
                f"document {quote(show(document))} stands twice for query {quote(show(query))}, first on line {line(first)}; "
                "duplicates='first', 'last' or 'max' would repair it", name, line(second))
        repairs["duplicates"] = (len(pairs), f"{name}:{line(pairs[0][1])}")
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


def show(text):
    return text.decode("utf-8", "surrogateescape")


def fill(reader, file, repairs):
    """Feed a file's chunks to the reader, unpacking gzip by its magic bytes."""
    if not hasattr(file, "peek"):
        file = io.BufferedReader(file)
    head = file.peek(2)[:2]
    if head == b"\x1f\x8b":
        file = gzip.GzipFile(fileobj=file)
    elif reader.path.endswith(".gz") and head:
        raise FormatError("the file is named .gz but is not gzip compressed", reader.path)
    buffer = np.empty(2 * CHUNK, np.uint8)
    used = 0
    started = False
    while True:
        if len(buffer) - used < CHUNK:
            buffer = np.concatenate((buffer[:used], np.empty(2 * used + CHUNK, np.uint8)))
        try:
            got = file.readinto(memoryview(buffer)[used:])
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise FormatError(f"the gzip data is damaged or truncated: {error}", reader.path) from None
        used += got
        if not started and used >= 3 or not got:
            if not started and bytes(buffer[:3]) == BOM:
                buffer[:used - 3] = buffer[3:used].copy()
                used -= 3
                repairs["byte order mark"] = (1, f"{reader.path}:1")
            started = True
        taken = reader.feed(buffer, used, not got)
        buffer[:used - taken] = buffer[taken:used].copy()
        used -= taken
        if not got:
            return
