"""Tables: data frames, Arrow data, dicts of arrays and rows of tuples, as batches of three columns.

Nothing here imports what the caller's table comes from, but for pyarrow behind pandas columns that are Arrow's anyway:
a shape is known by its methods. Ids stay where they are (_ids); numbers become float64.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, NamedTuple, SupportsIndex

import numpy as np

from fastir._arrow import Batches
from fastir._columns import Columns, find_duplicates
from fastir._ids import Ids, joined, of_arena, of_codes, of_integers, of_strings
from fastir._judged import Judged
from fastir._scatter import Scattered
from fastir.errors import DuplicateError, quote
from fastir.plan import Settings
from fastir.rows import Arena, without_duplicates
from fastir.threads import WORTH, share, share_all, thread_count

# The field's names of each column, the first that a table has is taken.
QUERY = ("query_id", "qid", "q_id", "user_id", "query-id")
DOC = ("doc_id", "docno", "docid", "item_id", "corpus-id")
NUMBER = {"run": ("score",), "qrels": ("label", "relevance", "rating", "score")}
ROLES = ("query_id", "doc_id", "score", "label")
ARROW = ("__arrow_c_stream__", "__arrow_c_array__")
ROWS = 1 << 16      # of Python objects at a time
STRETCH = 1 << 16   # rows that a thread takes at a time
WINDOW = 1 << 20    # rows of a table that can be read only once that are kept, should their queries come back


class Batch(NamedTuple):
    """Some rows: ids, ids, and float64 numbers."""

    queries: Ids
    docs: Ids
    numbers: np.ndarray


class Table:
    """A caller's table, its three columns found.

    Parameters
    ----------
    what : {"run", "qrels"}
    names : sequence
        The names of its columns.
    columns : dict or None
        {"query_id", "doc_id", "score" or "label": name} for columns that are called otherwise.
    read : function of three names
        Iterates over the rows as triples of readers, which have ids(what, name, row) and numbers(what, name, row).
    again : bool
        Whether it can be read a second time.
    n_rows : int or None
        None if only reading tells.
    """

    def __init__(self, what, names, columns, read, again, n_rows=None):
        self.what = what
        self.again = again
        self.n_rows = n_rows
        self.names = find_columns(what, list(names), columns or {})
        self.read = read

    def __iter__(self) -> Iterator[Batch]:
        """All batches that have rows; the kinds of ids do not change."""
        row = 0
        kinds = None
        for readers in self.read(self.names):
            queries, docs = (reader.ids(self.what, name, row) for reader, name in zip(readers[:2], self.names, strict=False))
            batch = Batch(queries, docs, readers[2].numbers(self.what, self.names[2], row))
            if kinds is None or row == 0:
                kinds = queries.integers, docs.integers
            elif kinds != (queries.integers, docs.integers) and len(docs):
                raise TypeError(f"{self.what}: row {row}: ids are of another type than those before: strings and integers")
            if len(docs):
                yield batch
            row += len(docs)


def find_columns(what: str, names: list, columns: Mapping) -> tuple:
    """The names of the query, document and number columns."""
    number = "score" if what == "run" else "label"
    for role in columns:
        if role not in ROLES:
            raise ValueError(f"columns: unknown role {quote(role)}; expected {', '.join(ROLES)}")
    found = []
    for role, usual in (("query_id", QUERY), ("doc_id", DOC), (number, NUMBER[what])):
        wanted = [columns[role]] if role in columns else usual
        name = next((name for name in wanted if name in names), None)
        if name is None:
            raise ValueError(f"{what}: the table has no column {' or '.join(map(repr, wanted))}; it has "
                             f"{', '.join(map(repr, names[:20])) or 'none'}; columns={{{role!r}: name}} tells which it is")
        if names.count(name) > 1:
            raise ValueError(f"{what}: the table has several columns called {name!r}")
        found.append(name)
    return tuple(found)


def table(data: Any, what: str, columns: Mapping | None = None) -> Table | None:
    """The caller's table, or None if this is none.

    Raises
    ------
    TypeError, ValueError
        It is one, but lacks a column or cannot be read.
    """
    if not is_table(data):
        return None
    if hasattr(data, "iloc") and hasattr(data, "columns"):
        return Table(what, data.columns, columns, lambda names: read_frame(data, names), True, len(data))
    if hasattr(data, "collect") and hasattr(data, "collect_schema"):
        raise TypeError(f"{what}: got a {type(data).__name__}, which holds no rows yet; expected {what}.collect()")
    if any(hasattr(data, name) for name in ARROW):
        again = not hasattr(data, "read_next_batch") and not hasattr(data, "__next__")
        n_rows = getattr(data, "num_rows", getattr(data, "height", None))
        opened = [Batches(data)]
        return Table(what, opened[0].names, columns, lambda names: read_arrow(data, names, opened), again, n_rows)
    if isinstance(data, Mapping):
        return Table(what, data, columns, lambda names: read_arrays([data[name] for name in names]), True)
    names = (QUERY[0], DOC[0], NUMBER[what][0])
    return Table(what, names, None, lambda _: read_tuples(data, what), isinstance(data, (list, tuple)))


def is_table(data: Any) -> bool:
    """Whether table() would take it, or say what it lacks."""
    if isinstance(data, Mapping):
        return bool(data) and all(isinstance(name, str) and is_column(column) for name, column in data.items())
    return not isinstance(data, (str, bytes)) and (
        isinstance(data, Iterable) or any(hasattr(data, name) for name in ("iloc", "collect", *ARROW)))


def is_column(value: Any) -> bool:
    return hasattr(value, "__len__") and hasattr(value, "__getitem__") and not isinstance(value, (Mapping, str, bytes))


# ---- from a table to columns, or straight into the evaluation ----------------------------------------------------


def read(data: Any, what: str, columns: Mapping | None, duplicates: str | None) -> tuple:
    """All rows of a caller's table, grouped by query, as Rows takes them."""
    found = table(data, what, columns)
    if found is None:
        raise TypeError(f"{what}: expected a table, got {type(data).__name__}")
    return grouped(found, duplicates)


def grouped(found: Table, duplicates: str | None) -> tuple:
    """All rows of a table, grouped by query, as Rows takes them."""
    what = found.what
    batches = list(found)
    if not batches:
        raise ValueError(f"the {what} is empty: the table has no rows")
    numbers = np.concatenate([batch.numbers for batch in batches])
    missing = np.isnan(numbers)
    if missing.any():
        row = int(missing.argmax())
        raise not_a_number(found, *ids_at(batches, row), row)
    if what == "qrels":
        check_labels(numbers, batches, found.names[2])
    query_ids, slots = codes_of(batches)
    offsets = np.concatenate(([0], np.cumsum(np.bincount(slots, minlength=len(query_ids)))))
    order = np.argsort(slots, kind="stable")
    docs = joined([(batch.docs, 0, len(batch.docs)) for batch in batches])
    arena = Arena(*docs.copy(0, len(docs)), docs.integers)
    arena = Arena(arena.text, arena.starts[order], arena.lengths[order], docs.integers)
    numbers = numbers[order]
    pairs = find_duplicates(of_arena(arena), offsets)
    if not pairs:
        return query_ids, offsets, arena, numbers, {}
    first, second = min(pairs, key=lambda pair: order[pair[1]])
    if duplicates is None:
        query = query_ids[int(np.searchsorted(offsets, second, "right")) - 1]
        raise repeated(what, query, arena[second:second + 1][0], int(order[first]), int(order[second]))
    offsets, kept, numbers = without_duplicates(offsets, numbers, pairs, duplicates)
    arena = Arena(arena.text, arena.starts[kept], arena.lengths[kept], arena.integers)
    return query_ids, offsets, arena, numbers, {"duplicates": (len(pairs), f"row {order[second]}")}


def codes_of(batches: list[Batch]) -> tuple[list, np.ndarray]:
    """The query ids in order of first appearance, and each row's position among them."""
    known: dict = {}
    sizes, codes = [], []
    for batch in batches:
        start, n = 0, len(batch.queries)
        while start < n:
            stop = batch.queries.change(start, n)
            codes.append(known.setdefault(batch.queries[start], len(known)))
            sizes.append(stop - start)
            start = stop
    return list(known), np.repeat(np.array(codes, np.int64), sizes)


def check_labels(numbers: np.ndarray, batches: list[Batch], name: str) -> None:
    """Raise the error that names the first label that is not an integer of 32 bits."""
    wrong = (numbers != np.trunc(numbers)) | (np.abs(numbers) >= 2**31) & (numbers != -(2**31))
    if not wrong.any():
        return
    row = at = int(wrong.argmax())
    for batch in batches:
        if at < len(batch.docs):
            break
        at -= len(batch.docs)
    kind = OverflowError if numbers[row] == np.trunc(numbers[row]) else TypeError
    raise kind(f"qrels: row {row}: {quote(name)} {numbers[row]:g} is not an integer from -2^31 to 2^31 - 1 "
               f"(query {batch.queries[at]}, document {batch.docs[at]})")


def not_a_number(found: Table, query: Any, doc: Any, row: int) -> ValueError:
    return ValueError(f"{found.what}: row {row}: {quote(found.names[2])} is NaN, missing or not a number "
                      f"(query {query}, document {doc})")


def repeated(what: str, query: Any, doc: Any, first: int, later: int) -> DuplicateError:
    return DuplicateError(f"{what}: document {quote(doc)} stands twice for query {quote(query)}, in rows {first} and "
                          f"{later}; duplicates='first', 'last' or 'max' would repair it")


def evaluate(found: Table, judged: Judged, integers: bool, settings: Settings, values: np.ndarray,
             status: np.ndarray, n_threads: SupportsIndex | None) -> tuple:
    """Evaluate a table while it is read, filling values and status.

    Rows grouped by query need no memory but that of the longest query. Rows that turn out not to be are read again, or,
    where that cannot be done, taken from memory, which holds the first WINDOW rows.

    Returns
    -------
    tuple
        What Join.finish returns, the ids of the queries that the qrels do not have, as text, and the repairs.
    """
    batches = iter(found)
    head = deque(until(batches, WORTH if found.n_rows is None else 1))
    if not head:
        return (0, 0, -1, 0, -1, 0, 0), [], {}
    integer_docs = head[0].docs.integers
    threads = thread_count(n_threads, sum(len(batch.docs) for batch in head) if found.n_rows is None else found.n_rows)
    make = (judged, settings.plan, values, status, settings.ties, settings.single, settings.only_judged, threads,
            integer_docs)
    kept: list[Batch] | None = None if found.again else []
    source = chain((head.popleft() for _ in range(len(head))), batches)
    join = Columns(*make)
    tasks = stretches(remember(source, kept))

    def work(t, task, number):
        queries, docs, numbers, first, stop, row = task
        pair = join.read(t, number, queries, docs, numbers, first, stop)
        if pair is not None:
            first, later = pair
            if first == later:
                raise not_a_number(found, queries[first], docs[first], first + row)
            raise repeated("run", queries[later], docs[later], first + row, later + row)
        return join.ungrouped

    problems = share(lambda t: next(tasks, None), work, threads)
    if problems and not join.ungrouped:
        raise problems[min(problems)]
    if join.ungrouped:
        if kept is not None and len(kept) and kept[-1] is None:
            raise ValueError("run: the rows of a query do not stand together, and the table can be read only once; "
                             "sort it by query, or pass a table in memory")
        if found.again:
            batches.close()         # lets go of the stream behind it: some sources have only one at a time
        join = Scattered(*make)
        scatter(found, iter(found) if found.again else chain(kept, source), join, threads)
    tally = join.finish()
    repairs = {"integer ids read as text": (tally[5], "the run")} if integer_docs and not integers else {}
    foreign = sorted(join.foreign, key=join.foreign.__getitem__)
    return tally, [query.decode("utf-8", "surrogateescape") for query in foreign], repairs


def until(batches: Iterator[Batch], rows: int) -> Iterator[Batch]:
    """The first batches that have so many rows together."""
    for batch in batches:
        yield batch
        rows -= len(batch.docs)
        if rows <= 0:
            return


def remember(batches: Iterable[Batch], kept: list | None) -> Iterator[Batch]:
    """Pass batches on and keep them, up to WINDOW rows; a None at the end of `kept` says that there were more."""
    rows = 0
    for batch in batches:
        if kept is not None:
            rows += len(batch.docs)
            if rows > WINDOW:
                kept[:] = [None]
                kept = None
            else:
                kept.append(batch)
        yield batch


def stretches(batches: Iterable[Batch]) -> Iterator[tuple]:
    """Cut batches into stretches of whole queries: queries, docs, numbers, first, stop, row of the batch's first."""
    carried: list[tuple[Batch, int, int]] = []      # the rows of one query, which may go on in the next batch
    row = begun = 0
    size = STRETCH >> 6     # at first, because rows that are not grouped show it at once
    for batch in batches:
        start, n = 0, len(batch.docs)
        if carried and batch.queries.same(0, carried[0][0].queries, carried[0][1]):
            start = batch.queries.change(0, n)
            carried.append((batch, 0, start))
        if start < n:
            if carried:
                yield *together(carried), begun
            last = batch.queries.begin(n - 1, start)
            while start < last:
                stop = last if last - start <= size else batch.queries.change(start + size - 1, last)
                size = min(2 * size, STRETCH)
                yield *batch, start, stop, row
                start = stop
            carried = [(batch, last, n)]
            begun = row + last
        row += n
    if carried:
        yield *together(carried), begun


def together(pieces: list[tuple[Batch, int, int]]) -> tuple:
    """Rows of several batches as one stretch."""
    queries = joined([(batch.queries, first, stop) for batch, first, stop in pieces])
    docs = joined([(batch.docs, first, stop) for batch, first, stop in pieces])
    return queries, docs, np.concatenate([batch.numbers[first:stop] for batch, first, stop in pieces]), 0, len(docs)


def scatter(found: Table, batches: Iterable[Batch], join: Scattered, threads: int) -> None:
    """Evaluate rows in any order."""
    kept: list[Batch] = []
    looked: list[list] = [[] for _ in range(threads)]

    def pieces():
        for batch in batches:
            n = len(batch.docs)
            codes, hashes = np.empty(n, np.int32), np.empty(0 if join.only_judged else n, np.uint64)
            kept.append(batch)
            piece = join.add(batch.queries, batch.docs, batch.numbers, codes, hashes)
            for start in range(0, n, STRETCH):
                yield piece, start, min(start + STRETCH, n)

    def look(t, task, number):
        if join.look(t, *task):
            piece, first, stop = task
            at = first + int(np.isnan(kept[piece].numbers[first:stop]).argmax())
            row = at + sum(len(batch.docs) for batch in kept[:piece])
            raise not_a_number(found, kept[piece].queries[at], kept[piece].docs[at], row)
        looked[t].append(task)

    def count(_, t, number):
        for task in looked[t]:
            join.count(t, *task)

    share_all(pieces(), look, threads)
    join.gather(kept[0].queries.integers)
    share_all(range(threads), count, threads)
    borders = join.ranges(threads)

    def work(t, task, number):
        pair = join.settle(t, *task)
        if pair is not None:
            raise repeated("run", *ids_at(kept, pair[1]), *pair)

    share_all(zip(borders, borders[1:], strict=False), work, threads)


def ids_at(batches: list[Batch], row: int) -> tuple:
    """The query id and the document id of a row."""
    for batch in batches:
        if row < len(batch.docs):
            return batch.queries[row], batch.docs[row]
        row -= len(batch.docs)
    raise IndexError(row)


# ---- readers: one column of some rows ----------------------------------------------------------------------------


class ArrowReader:
    """A column of an Arrow batch."""

    def __init__(self, batch, place):
        self.batch = batch
        self.place = place

    def present(self, what, name, row):
        if (null := self.batch.null(self.place)) >= 0:
            raise ValueError(f"{what}: row {row + null}: {quote(name)} is null, its value is missing")

    def ids(self, what, name, row):
        self.present(what, name, row)
        ids = self.batch.ids(self.place)
        if ids is None:
            raise TypeError(f"{what}: column {quote(name)} must hold strings or integers, got Arrow type "
                            f"{quote(self.batch.type_of(self.place))}")
        return ids

    def numbers(self, what, name, row):
        self.present(what, name, row)
        numbers = self.batch.numbers(self.place)
        if numbers is None:
            raise TypeError(f"{what}: column {quote(name)} must be numeric, got Arrow type "
                            f"{quote(self.batch.type_of(self.place))}")
        return numbers


class ArrayReader:
    """A NumPy array of shape (n,)."""

    def __init__(self, array):
        self.array = array

    def ids(self, what, name, row):
        array = self.array
        if array.dtype.kind == "u" and array.size and array.max() >= 2**63:
            array = array.astype(str)
        if array.dtype.kind in "iu":
            return of_integers(np.ascontiguousarray(array, np.int64))
        if array.dtype.kind not in "OUT":
            raise TypeError(f"{what}: column {quote(name)} must hold strings or integers, got dtype {array.dtype}")
        objects = np.ascontiguousarray(array, object)
        ids, odd = of_strings(objects)
        if ids is None:
            ids, odd = of_objects(objects.tolist())
        if ids is None:
            value = objects[odd]
            if value is None or value != value:
                raise ValueError(f"{what}: row {row + odd}: {quote(name)} is missing, got {value!r}")
            raise TypeError(f"{what}: row {row + odd}: {quote(name)} must be a str or an int like the ids before it, "
                            f"got {type(value).__name__} {quote(value)}")
        return ids

    def numbers(self, what, name, row):
        array = self.array
        if array.dtype.kind == "O":
            odd = next((i for i, value in enumerate(array) if isinstance(value, (str, bytes)) or value is None), None)
            if odd is not None:
                kind = ValueError if array[odd] is None else TypeError
                raise kind(f"{what}: row {row + odd}: {quote(name)} must be numeric, got {type(array[odd]).__name__} "
                           f"{quote(array[odd])}; missing or of another type")
        elif array.dtype.kind not in "iufb" or array.dtype.itemsize > 8:
            raise TypeError(f"{what}: column {quote(name)} must be numeric, got dtype {array.dtype}")
        try:
            return np.ascontiguousarray(array, np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{what}: column {quote(name)} must be numeric: {error}") from None


class CodeReader:
    """A categorical column: positions in a list of values; -1 is a missing one."""

    def __init__(self, codes, values):
        self.codes = codes
        self.values = values

    def ids(self, what, name, row):
        if len(self.codes) and self.codes.min() < 0:
            raise ValueError(f"{what}: row {row + int(self.codes.argmin())}: {quote(name)} is missing")
        return of_codes(np.ascontiguousarray(self.codes, np.int64), ArrayReader(self.values).ids(what, name, 0))

    def numbers(self, what, name, row):
        return ArrayReader(self.values).numbers(what, name, 0)[self.codes]


def of_objects(objects: list) -> tuple[Ids | None, int]:
    """Ids of Python objects that are not all exact strings; (None, row) for the first that cannot be an id here."""
    strings = isinstance(objects[0], str)
    plain = []
    for row, value in enumerate(objects):
        if strings and isinstance(value, str):
            plain.append(str.__str__(value))
        elif not strings and isinstance(value, (int, np.integer)) and not isinstance(value, bool):
            plain.append(int(value))
        else:
            return None, row
    if strings or any(not -(2**63) <= value < 2**63 for value in plain):
        return of_strings(as_objects(list(map(str, plain))))
    return of_integers(np.array(plain, np.int64)), -1


# ---- shapes of tables --------------------------------------------------------------------------------------------


def read_arrow(data, names, opened):
    """Batches of Arrow data; `opened` holds the stream that told the names, for whoever reads first."""
    batches = opened.pop() if opened else Batches(data)
    places = [batches.names.index(name) for name in names]
    for batch in batches:
        yield [ArrowReader(batch, place) for place in places]


def read_arrays(arrays):
    """Columns that NumPy understands, in stretches where they hold Python objects."""
    arrays = [np.asarray(array) for array in arrays]
    if any(array.ndim != 1 for array in arrays):
        raise ValueError(f"columns must have one dimension, got shapes {', '.join(str(array.shape) for array in arrays)}")
    yield from read_columns(arrays)


def read_columns(columns):
    """Arrays, or (codes, values) pairs, of one length."""
    sizes = {len(column[0] if isinstance(column, tuple) else column) for column in columns}
    if len(sizes) > 1:
        raise ValueError(f"columns differ in length: {', '.join(map(str, sorted(sizes)))}")
    n = sizes.pop()
    step = ROWS if any(not isinstance(column, tuple) and column.dtype.kind in "OUT" for column in columns) else max(n, 1)
    for a in range(0, n, step):
        rows = slice(a, a + step)
        yield [CodeReader(column[0][rows], column[1]) if isinstance(column, tuple) else ArrayReader(column[rows])
               for column in columns]


def read_frame(frame, names):
    """A pandas frame: through Arrow where its strings lie there, else as arrays."""
    series = [frame[name] for name in names]
    if any(one.ndim != 1 for one in series):
        raise ValueError("a column name stands for several columns of the frame")
    arrow = [hasattr(one.array, "__arrow_array__") and is_arrow_text(one.dtype) for one in series]
    if any(arrow) and not any(one.dtype == object for one in series):
        import pyarrow

        columns = [one.array.__arrow_array__() if flag else pyarrow.array(one) for one, flag in zip(series, arrow, strict=True)]
        batches = Batches(pyarrow.table(dict(zip("qdn", columns, strict=True))))
        for batch in batches:
            yield [ArrowReader(batch, place) for place in range(3)]
        return
    yield from read_columns([pandas_column(one) for one in series])


def is_arrow_text(dtype):
    return getattr(dtype, "storage", None) == "pyarrow" or hasattr(dtype, "pyarrow_dtype")


def pandas_column(series):
    """A pandas column as an array, or as (codes, values)."""
    if hasattr(series, "cat"):
        return series.cat.codes.to_numpy(), series.cat.categories.to_numpy()
    if isinstance(series.dtype, np.dtype):
        return series.to_numpy()
    if getattr(series.dtype, "kind", "O") in "iuf":     # nullable numbers
        missing = series.isna().to_numpy()
        if missing.any():
            raise ValueError(f"row {int(missing.argmax())}: {quote(series.name)} is missing (NA)")
        return series.to_numpy(series.dtype.numpy_dtype)
    return series.to_numpy(object)


def read_tuples(data, what):
    """Tuples of query id, document id and number."""
    rows = iter(data)
    done = 0
    while chunk := list(islice(rows, ROWS)):
        for row, one in enumerate(chunk, done):
            if not isinstance(one, (tuple, list)) or len(one) != 3:
                raise TypeError(f"{what}: row {row}: expected a tuple (query_id, doc_id, "
                                f"{'score' if what == 'run' else 'label'}), got {type(one).__name__} {quote(one)}")
        done += len(chunk)
        yield [ArrayReader(as_objects(column)) for column in zip(*chunk, strict=True)]


def as_objects(values):
    array = np.empty(len(values), object)
    array[:] = values
    return array
