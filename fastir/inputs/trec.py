"""Files with a row per line, as TREC, BEIR and MS MARCO have them: read in blocks, into columns."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.engine.columns._trec import Reader, last_line
from fastir.engine.columns.ids import Arena
from fastir.engine.columns.line_formats import PAIRS, TREC_QRELS, LineFormat
from fastir.engine.columns.rows import LIKE_SCORES, UNLABELLED
from fastir.engine.threads import interruptible
from fastir.errors import DuplicateError, FormatError, warn_caller
from fastir.inputs import misread, roles
from fastir.inputs.files import ByteReader
from fastir.inputs.grouping import gather
from fastir.inputs.places import place_name

if TYPE_CHECKING:
    from fastir.engine.join._trec_stream import Stream
    from fastir.inputs.files import Path, Repairs, Watch

BLOCK_BYTES = 1 << 20  # bytes: a block and what is made of it stay in the second-level cache
MAX_LINE_BYTES = 1 << 24  # bytes
ROW_BYTES = 40  # bytes of a usual line
PIECE_BYTES = 1 << 24  # bytes that are read at a time
SPARE_BYTES = 9  # bytes behind a block: for a line end, and for the kernel to look at words


def read(
    path: Path,
    is_run: bool,
    duplicates: str | None,
    watch: Watch | None,
    line_format: LineFormat,
    only: bytes | None = None,
    columns: Mapping[Any, Any] | None = None,
) -> tuple[list[str], np.ndarray, Arena, np.ndarray, Repairs]:
    """Read a file as columns, perhaps only the rows of one query; watch(position) is called at every block.

    Of pairs `columns` may have the label of all rows.

    Returns
    -------
    query_ids : list of str
    offsets : int64 array of shape (n_queries + 1,)
    ids : Arena
        Of documents.
    numbers : float64 array
    repairs : dict
    """
    reader = Reader(place_name(path), is_run, line_format, only)
    wrong, head = None, b""
    is_trec = line_format is TREC_QRELS
    with Blocks(path, whole_lines, watch) as blocks:
        block = Block()
        while not wrong and (size := blocks.fill(block)):
            if is_trec and not head:
                head = block.array[: min(size, misread.SAMPLE_BYTES)].tobytes()
            try:
                reader.read(block.array, size)
            except FormatError as error:  # raised below, unless a document stood twice before it
                wrong = error
    if reader.is_empty:
        raise wrong or empty_error(reader)
    arena, starts, lengths, numbers, first_rows, query_ids, is_grouped = reader.columns()
    if line_format.query > 1:  # a blank is between query and group
        query_ids = [" ".join(query.split()) for query in query_ids]
        is_grouped = False
    problem = misread.misread_qrels(head, numbers) if line_format.what == "label" else None
    rows = Arena(arena, starts, lengths), numbers, is_run, duplicates, reader.path, reader.line_number, watch
    try:
        grouped_ids, offsets, ids, grouped_numbers, repairs = gather(query_ids, first_rows, *rows, is_grouped)
    except DuplicateError as error:
        raise misread.explain_duplicate(error, path, problem) if is_trec else error from None
    if wrong:
        raise wrong
    if problem is not None:
        warn_caller(f"{reader.path}: {problem}")
    if line_format.what == "rank" and (found := misread.misread_ranks(-grouped_numbers, offsets.tolist())):
        repairs = {**repairs, LIKE_SCORES: (found[0], f"{reader.path}, such as {found[1]}")}
    if line_format is PAIRS:
        label = roles.label_of_all(columns)
        grouped_numbers = np.full(len(grouped_numbers), label)
        repairs = {**repairs, UNLABELLED: (len(grouped_numbers), f"label {label:g}")}
    return grouped_ids, offsets, ids, grouped_numbers, {**reader.repairs, **blocks.repairs, **repairs}


def show(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


def empty_error(reader: Reader | Stream) -> FormatError:
    kind = "run is empty: no result" if reader.is_run else "qrels are empty: no judgment"
    return FormatError(f"the {kind} lines", reader.path)


def whole_lines(array: np.ndarray, size: int, one_query: int) -> int:
    return last_line(array, size)


class Block:
    """A buffer that grows if one query fills it."""

    def __init__(self) -> None:
        self.array: np.ndarray = np.empty(BLOCK_BYTES + SPARE_BYTES, np.uint8)

    def grow(self) -> None:
        self.array = np.concatenate((self.array[:-SPARE_BYTES], np.empty(len(self.array), np.uint8)))


class Blocks(ByteReader):
    """A file in blocks that end where `cut` says.

    Parameters
    ----------
    path : str or path
        ``-`` is standard input.
    cut : function of (array, size, known)
        The position in array[:size] from which on rows may belong to a query that goes on; 0 if all of them may, as it
        said of array[:known].
    watch : function of (position), or None
        Called before every block with the number of bytes read of the file, 0 if unknown; may raise.
    """

    carried: bytes

    def __init__(self, path: Path, cut: Callable[[np.ndarray, int, int], int], watch: Watch | None = None) -> None:
        self.cut: Callable[[np.ndarray, int, int], int] = cut
        self.watch: Watch | None = watch
        self.ended: bool = False
        super().__init__(path)

    def fill(self, block: Block) -> int:
        """Put the next whole queries into block.array, with SPARE_BYTES behind; returns their size, 0 at the end."""
        if self.watch is not None:
            self.watch(self.position())
        if self.ended:
            return 0
        used = seen = 0
        while len(self.carried) >= len(block.array) - SPARE_BYTES:
            block.grow()
        while True:
            used += self.read_pieces(block.array.data[used:-SPARE_BYTES])
            if used < len(block.array) - SPARE_BYTES:
                size = used
                self.ended = True
                break
            size = interruptible(functools.partial(self.cut, block.array, used, seen), (used - seen) // ROW_BYTES)
            if size:
                break
            if (block.array[seen:used] == 0).any():  # whoever reads it, names the line
                size = used
                break
            if used - last_line(block.array, used) > MAX_LINE_BYTES:
                raise FormatError(
                    f"a line has more than {MAX_LINE_BYTES >> 20} MiB; expected a row per line", self.path
                )
            seen = used
            interruptible(block.grow, used // ROW_BYTES)
        self.carried = block.array[size:used].tobytes()
        return size

    def read_pieces(self, view: memoryview) -> int:
        """Like readinto, with a look for Ctrl-C, which Python has between two lines, at every PIECE."""
        used = 0
        while used < len(view):
            read = self.readinto(view[used : used + PIECE_BYTES])
            used += read
            if read < PIECE_BYTES:
                break
        return used
