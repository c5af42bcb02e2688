"""Rows as a file gives them, to columns grouped by query; a document that stands twice is refused or repaired."""

import numpy as np

from fastir._columns import find_duplicates
from fastir._ids import of_arena
from fastir._judged import encode
from fastir._stream import repeated
from fastir.rows import Arena, without_duplicates


def gather(queries, first_rows, arena, starts, lengths, numbers, duplicates, path, line_of=None, watch=None):
    """Group rows by query.

    Parameters
    ----------
    queries : list of str
        The query id of each run of rows; one may come back.
    first_rows : int array of shape (len(queries),)
    arena, starts, lengths, numbers
        A row's document, as bytes, and its number.
    duplicates : None, "first", "last" or "max"
    path : str
        For messages.
    line_of : function of a row, or None
        Its line, where the file has lines.
    watch : function of (position), or None
        Called now and then; may raise.

    Returns
    -------
    query_ids, offsets, arena, starts, lengths, numbers
        As from a reader: see `formats`.
    repairs : dict
    """
    repairs = {}
    slots = {}
    slot_of_group = [slots.setdefault(query, len(slots)) for query in queries]
    sizes = np.diff(np.append(first_rows, len(starts)))
    rows = range(len(starts))
    if len(slots) < len(queries):
        slot_of_row = np.repeat(np.array(slot_of_group), sizes)
        rows = np.argsort(slot_of_row, kind="stable")
        starts, lengths, numbers = starts[rows], lengths[rows], numbers[rows]
        sizes = np.bincount(slot_of_row, minlength=len(slots))
    offsets = np.zeros(len(slots) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    query_ids = list(slots)
    pairs = find_duplicates(of_arena(Arena(arena, starts, lengths)), offsets, watch)
    if pairs:
        line = (lambda row: line_of(int(rows[row]))) if line_of else (lambda row: None)
        if duplicates is None:
            first, second = min(pairs, key=lambda pair: rows[pair[1]])
            query = query_ids[int(np.searchsorted(offsets, second, "right")) - 1]
            document = arena[starts[second]:starts[second] + lengths[second]].tobytes()
            raise repeated(document, encode(query), line(first), line(second), path)
        repairs["duplicates"] = (len(pairs), f"{path}:{line(pairs[0][1])}" if line_of else path)
        offsets, kept, numbers = without_duplicates(offsets, numbers, pairs, duplicates)
        starts, lengths = starts[kept], lengths[kept]
    return query_ids, offsets, arena, starts, lengths, numbers, repairs
