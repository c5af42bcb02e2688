"""Files with a row per line, as TREC, BEIR and MS MARCO have them: read in blocks, into columns."""

import numpy as np

from fastir.columns._trec import Reader, last_line
from fastir.columns.ids import Arena
from fastir.columns.line_formats import WITH_GROUPS
from fastir.errors import FormatError
from fastir.inputs.files import Source, name_of
from fastir.inputs.grouping import gather

CHUNK = 1 << 20  # bytes: a block and what is made of it stay in the second-level cache
LONGEST_LINE = 1 << 24  # bytes
ROW = 40  # bytes of a usual line
SPARE = 9  # bytes behind a block: for a line end, and for the kernel to look at words


def read(path, is_run, duplicates, watch=None, format="trec"):
    """Read a file as columns; watch(position) is called at every block.

    Returns
    -------
    query_ids : list of str
    offsets : int64 array of shape (n_queries + 1,)
    ids : Arena
        Of documents.
    numbers : float64 array
    repairs : dict
    """
    reader = Reader(name_of(path), is_run, format)
    wrong = None
    with Blocks(path, last_line, watch) as blocks:
        block = Block()
        while not wrong and (size := blocks.fill(block)):
            try:
                reader.read(block.array, size)
            except FormatError as error:  # raised below, unless a document stood twice before it
                wrong = error
    if not reader.n_rows:
        raise wrong or empty(reader)
    arena, starts, lengths, numbers, first_rows, queries = reader.columns()
    queries = list(map(show, queries))
    if format in WITH_GROUPS:  # what stands between query and group is a blank
        queries = [" ".join(query.split()) for query in queries]
    *columns, repairs = gather(
        queries, first_rows, Arena(arena, starts, lengths), numbers, duplicates, reader.path, reader.line_of, watch
    )
    if wrong:
        raise wrong
    return *columns, {**reader.repairs, **blocks.repairs, **repairs}


def show(text):
    return text.decode("utf-8", "surrogateescape")


def empty(reader):
    kind = "run is empty: no result" if reader.is_run else "qrels are empty: no judgment"
    return FormatError(f"the {kind} lines", reader.path)


class Block:
    """A buffer that grows where one query fills it."""

    def __init__(self):
        self.array = np.empty(CHUNK + SPARE, np.uint8)

    def grow(self):
        self.array = np.concatenate((self.array[:-SPARE], np.empty(len(self.array), np.uint8)))


class Blocks(Source):
    """A file in blocks that end where `cut` says.

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
        self.cut = cut
        self.watch = watch
        self.ended = False
        super().__init__(path)

    def fill(self, block):
        """Put the next whole part into block.array, leaving SPARE bytes behind it; returns its size, 0 at the end."""
        if self.watch is not None:
            self.watch(self.position())
        if self.ended:
            return 0
        used = seen = 0
        while len(self.carried) >= len(block.array) - SPARE:
            block.grow()
        while True:
            used += self.readinto(memoryview(block.array)[used:-SPARE])
            if used < len(block.array) - SPARE:
                size = used
                self.ended = True
                break
            size = self.cut(block.array, used)
            if size:
                break
            if (block.array[seen:used] == 0).any():  # whoever reads it, names the line
                size = used
                break
            if used - last_line(block.array, used) > LONGEST_LINE:
                raise FormatError(f"a line has more than {LONGEST_LINE >> 20} MiB; expected a row per line", self.path)
            seen = used
            block.grow()
        self.carried = block.array[size:used].tobytes()
        return size
