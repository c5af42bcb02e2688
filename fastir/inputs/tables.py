"""Tables: data frames, Arrow data, dicts of arrays and rows of tuples, as batches of three columns.

A shape is recognised by its methods, so that the caller's library is not imported (except pyarrow, for pandas columns
that are Arrow data anyway). Ids stay where they are (_ids); numbers become float64.

The last section reads tables with a query, a label and a score or a rank in each row, for `evaluate_scores`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.declared import Record
from fastir.engine.columns._arrow import Batches
from fastir.engine.columns._ids import Ids
from fastir.engine.columns._objects import fields_from_rows, objects_from_list, read_floats, read_integers
from fastir.engine.columns.id_lists import first_value
from fastir.engine.columns.rows import ROUNDED, UNLABELLED, rounded_place
from fastir.errors import FormatError, quote
from fastir.inputs import library_tables, misread, roles
from fastir.inputs.arrays import equal_float_rows, is_masked_array, is_wide
from fastir.inputs.column_readers import ArrayReader, ArrowReader, CodeReader, FileColumn, as_objects
from fastir.inputs.library_tables import ARROW_METHODS, is_arrow_text
from fastir.inputs.roles import DOC, NUMBER, QUERY, RANK, find_columns, is_rank, usual_columns
from fastir.inputs.source import IR_DATASETS, PLACE, TUPLES, UNKNOWN, Source, as_source

if TYPE_CHECKING:
    from fastir.inputs.files import Repairs

MAX_SMALL_ROWS = 256  # rows of a frame with strings that are read as Python objects
NUMBER_POSITION = 2  # the position of the numbers among the columns
LIST_KINDS = list, tuple, np.ndarray  # of values of a column that has lists
OBJECT_ROWS = 1 << 13  # rows of Python objects that are read at a time


class Batch(Record):
    """Some rows: ids, ids, and float64 numbers."""

    queries: Ids
    docs: Ids
    numbers: np.ndarray


class Table:
    """A caller's table with its three columns; `columns` are {role: name} for columns that have other names.

    read(names) iterates over batches as readers of these columns, with ids(what, name, row) and numbers(what, name,
    row). `again` says whether it can be read a second time; `n_rows` is None if it is known only after reading.
    """

    def __init__(
        self,
        what: str,
        names: Iterable[Any],
        columns: Mapping[Any, Any] | None,
        read: Callable[[tuple[Any, ...]], Iterator[Sequence[Any]]],
        again: bool,
        n_rows: int | None = None,
    ) -> None:
        self.what = what
        self.again = again
        self.n_rows = n_rows
        names = tuple(names)
        chosen = usual_columns(what, names) if not columns else find_columns(what, list(names), columns)
        self.names: tuple[Any, ...] = chosen
        # of qrels without a column of labels: the label of all that is listed
        self.label: float | None = None if number_names(chosen) else roles.label_of_all(columns)
        # of qrels: whether their fourth column has sets or hops
        self.evidence: str = roles.evidence_column(names, columns or {})[0] if what == "qrels" else ""
        self.ranks: bool = what != "qrels" and is_rank(self.names[2], columns or {})
        beside = (columns or {}).get("rank", RANK)  # the column of ranks beside the scores
        self.rank: Any = beside if what != "qrels" and not self.ranks and names.count(beside) == 1 else None
        # (name, readers of a batch, its first row, n): the ranks of n of its rows, at least of the table's first ones
        self.read_ranks: Callable[[Any, Sequence[Any], int, int], Any] | None = None
        self.found: Repairs = {}  # what `misread` found
        self.ranks_by_batch: list[np.ndarray] = []  # of several runs
        self.read = read
        self.split: Any = None  # a Split of `parquet_files`, for threads that read row groups
        self.kinds: tuple[bool, bool] | None = None  # of the ids, once rows were read: whether they are integers
        self.first: Ids | None = None  # names of runs
        self.starts: dict[str, int] = {}  # of several files that were read: the row where each begins
        self.rounded: dict[Any, tuple[Any, Any]] = {}  # {query: two documents with integers that are one float64}
        self.row_numbers: np.ndarray | None = None  # the original numbers of its rows, if they were selected

    def __iter__(self) -> Generator[Batch, None, None]:
        """All batches that have rows; the kinds of ids do not change."""
        for batch, _ in self.with_runs():
            yield batch

    def with_runs(
        self, read: Iterator[Sequence[Any]] | None = None, row: int = 0
    ) -> Iterator[tuple[Batch, Ids | None]]:
        """All batches, or those of what was `read` from `row` on; each with the names of its runs, if there are any."""
        for readers in self.read(self.names) if read is None else read:
            ids = zip(readers[:2], self.names, strict=False)
            queries, docs = (reader.ids(self.what, name, row) for reader, name in ids)
            if self.label is not None:
                numbers = np.full(len(docs), self.label)
            else:
                numbers = readers[2].numbers(self.what, self.names[2], row)
            batch = Batch(queries, docs, 0.0 - numbers if self.ranks else numbers)
            integers = None if self.what == "qrels" else readers[2].wide_integers()
            if integers is not None and is_wide(numbers if integers.dtype == object else integers):
                self.note_rounded(batch, integers)
            if len(docs):
                self.kinds = self.kinds or (queries.integers, docs.integers)
                if self.kinds != (queries.integers, docs.integers):
                    raise self.wrong(row, "ids are of another type than those before: strings and integers", TypeError)
                runs = readers[3].ids(self.what, self.names[3], row) if self.names[3:] else None
                if self.what == "run" and runs is not None:
                    self.first = self.first or runs
                    self.check_one_run(self.first, runs)
                if self.ranks or self.rank is not None:
                    self.look_at_ranks(batch, readers, row)
                yield batch, runs
            row += len(docs)

    def note_rounded(self, batch: Batch, integers: np.ndarray) -> None:
        """Note the queries in which different integers of a batch are one float64."""
        met: dict[Any, Any] = {}
        for row in equal_float_rows(integers, batch.numbers).tolist():
            query_id, doc_id, number = batch.queries[row], batch.docs[row], int(integers[row])
            other, other_id = met.setdefault((query_id, float(number)), (number, doc_id))
            if other != number:
                self.rounded.setdefault(query_id, (other_id, doc_id))

    def look_at_ranks(self, batch: Batch, readers: Sequence[Any], row: int) -> None:
        """Note what `misread` says of the ranks of the first rows; keep those of several runs, until they are apart."""
        several = self.what == "runs"
        if self.rank is not None and (row == 0 or several):
            ranks = self.ranks_beside(readers, row, len(batch.docs) if several else misread.SAMPLE_ROWS)
            if several:
                self.ranks_by_batch.append(np.full(len(batch.docs), np.nan) if ranks is None else ranks)
            elif ranks is not None:
                self.found = misread.misread_rows(batch.queries, batch.numbers, ranks)
        elif row == 0 and not several:
            self.found = misread.misread_rows(batch.queries, batch.numbers, None)

    def ranks_beside(self, readers: Sequence[Any], row: int, n: int) -> np.ndarray | None:
        """The ranks of n rows that were read; None if they are no numbers, which say nothing, as in TREC files."""
        try:
            ranks = np.asarray(self.read_ranks(self.rank, readers, row, n), float) if self.read_ranks else None
        except (TypeError, ValueError, OverflowError):
            return None
        return ranks if ranks is not None and ranks.ndim == 1 and len(ranks) else None

    def row_location(self, row: int) -> tuple[str | None, int]:
        """The file of a row, if there are several, and the row in it."""
        if self.row_numbers is not None:
            return None, int(self.row_numbers[row])
        for name, first in reversed(list(self.starts.items())):
            if first <= row:
                return name, row - first
        return None, row

    def wrong(self, row: int, problem: str, kind: type[Exception] = ValueError) -> Exception:
        """The error that a row is wrong."""
        file, row = self.row_location(row)
        message = f"{self.what}: row {row}: {problem}"
        return kind(message) if file is None else FormatError(message, file)

    def check_one_run(self, first: Ids, runs: Ids) -> None:
        """Refuse rows of several runs, where one is to be evaluated."""
        other = 0 if not first.same(0, runs, 0) else runs.change(0, len(runs))
        if other < len(runs):
            raise ValueError(
                f"run: the table has several runs in its column {self.names[3]!r}, such as {quote(first[0])} and "
                f"{quote(runs[other])}; evaluate_many evaluates each of them"
            )

    def repairs(self, rows: int) -> dict[str, tuple[int, str]]:
        """What the reading changed in so many rows, as the Report has it."""
        made = {**self.found, "ranks as scores": (rows, "the run")} if self.ranks else self.found.copy()
        if self.label is not None:
            made[UNLABELLED] = rows, f"label {self.label:g}"
        if self.rounded:
            made[ROUNDED] = len(self.rounded), rounded_place(*next(iter(self.rounded.items())))
        return made


def number_names(names: tuple[Any, ...]) -> tuple[Any, ...]:
    """The name of the column of numbers; none if it has the sets of qrels without labels, as the fourth has."""
    numbers = names[NUMBER_POSITION : NUMBER_POSITION + 1]
    return () if numbers == names[NUMBER_POSITION + 1 :] else numbers


def table(data: Any, what: str, columns: Mapping[Any, Any] | None = None) -> Any:
    """The caller's table, as a Table; as ListColumns, if it has a list of ids in each row."""
    names = (QUERY[0], DOC[0], NUMBER["qrels" if what == "qrels" else "run"][0])
    source = as_source(data)
    kind, data = (source.kind, source.data) if isinstance(source, Source) else (UNKNOWN, source)
    if kind == TUPLES and data and all(type(row) is dict for row in data):
        kind, data = UNKNOWN, columns_of_records(data, what)
    if kind == IR_DATASETS:
        rows = library_tables.rows_of_ir_datasets(data, what)
        return Table(what, names, None, lambda _: read_tuples(rows(), what), True)
    if kind in (UNKNOWN, PLACE):
        library_tables.refuse(data, what)
        if kind == PLACE or not is_table(data):
            raise TypeError(f"{what}: expected a table, got {type(data).__name__}")
        if library_tables.is_library_table(data):
            library = library_tables.library_table(data)
            return Table(
                what,
                library.names,
                columns,
                lambda names: read_library_table(library, names),
                library.again,
                library.n_rows,
            )
    if hasattr(data, "iloc") and hasattr(data, "columns"):
        series: dict[Any, Any] = {}
        names_of_lists = frame_lists(data, what, columns, series)
        return list_columns(data, names_of_lists, what) if names_of_lists else frame_table(data, what, columns, series)
    if any(hasattr(data, name) for name in ARROW_METHODS):
        again = not hasattr(data, "read_next_batch") and not hasattr(data, "__next__")
        n_rows = getattr(data, "num_rows", getattr(data, "height", None))
        opened = [Batches(data)]
        all_names = opened[0].names
        lists = roles.list_roles(what, all_names, columns, opened[0].list_columns)
        if lists is not None:
            from fastir.inputs.id_lists import columns_from_batches, lists_by_query

            named = {role: (name, all_names.index(name)) for role, name in lists.items()}
            return lists_by_query(columns_from_batches(opened.pop(), named), what)
        made = Table(what, all_names, columns, lambda names: read_arrow(data, names, opened), again, n_rows)
        made.read_ranks = lambda name, readers, row, n: readers[0].head(all_names.index(name), n)
        return made
    if isinstance(data, Mapping):
        listed = [name for name, column in data.items() if isinstance(first_value(column), LIST_KINDS)]
        lists = roles.list_roles(what, list(data), columns, listed)
        if lists is not None:
            return list_columns(data, lists, what)
        made = Table(what, data, columns, lambda names: read_arrays(data, names, what), True)
        made.read_ranks = lambda name, _, row, n: data[name][row : row + n]
        return made
    return tuple_table(data, what, columns)


def list_columns(data: Any, names: dict[str, Any], what: str) -> Any:
    """A frame or mapping with a list of ids in each row, as ListColumns; `names` of its columns by their roles."""
    from fastir.inputs.id_lists import lists_of_columns

    return lists_of_columns(data, names, what)


def columns_of_records(records: Sequence[dict[Any, Any]], what: str) -> dict[Any, list[Any]]:
    """The columns that all dicts of a list have; a row that lacks one of the first row's is an error."""
    if what == "run" and records[0] and all(isinstance(value, dict) for value in records[0].values()):
        raise ValueError("run: it is a list of runs; evaluate_many and compare take several")
    for row, record in enumerate(records):
        if record.keys() != records[0].keys():
            missing = next(iter(records[0].keys() ^ record.keys()))
            raise ValueError(f"{what}: row {row}: {quote(missing)} is not in this row and in row 0 alike")
    return {name: [record[name] for record in records] for name in records[0]}


def tuple_table(data: Iterable[Any], what: str, columns: Mapping[Any, Any] | None) -> Table:
    """Tuples of a query, a document and a number; of qrels those of two fields have no labels."""
    names: tuple[Any, ...] = (QUERY[0], DOC[0], NUMBER["qrels" if what == "qrels" else "run"][0])
    again, label = isinstance(data, (list, tuple)), None
    if what == "qrels":
        rows = iter(data)
        head = list(islice(rows, 1))
        data = data if again else chain(head, rows)
        if head and isinstance(head[0], (tuple, list)) and len(head[0]) == 2:
            names, label = names[:2], (columns or {}).get("label")
        else:
            roles.refuse_label(columns, "tuples with labels")
    of_all = {"label": label} if isinstance(label, roles.Everything) else None
    return Table(what, names, of_all, lambda names: read_tuples(data, what, min(len(names), 3)), again)


def frame_table(data: Any, what: str, columns: Mapping[Any, Any] | None, series: dict[Any, Any]) -> Table:
    """A pandas frame; if a column is missing that its index has, the error says so. `series` are columns by name."""
    try:
        made = Table(what, data.columns, columns, lambda names: read_frame(data, names, what, series), True, len(data))
        made.read_ranks = lambda name, _, row, n: plain_array(data[name])[row : row + n]
        return made
    except ValueError as error:
        index = [name for name in getattr(data.index, "names", ()) if name is not None]
        if not index:
            raise
        raise ValueError(f"{error}; or {what}.reset_index(), as the index is {', '.join(map(repr, index))}") from None


def frame_lists(data: Any, what: str, columns: Mapping[Any, Any] | None, made: dict[Any, Any]) -> dict[str, Any] | None:
    """{role: name} of a pandas frame with a list of ids in each row, else None; looks at no more than one column.

    It puts that column into `made`, as pandas makes one in 20 us.
    """
    names = list(data.columns)
    doc = (columns or {}).get("doc_id") or next((name for name in DOC if name in names), None)
    if doc is not None and names.count(doc) == 1:
        made[doc] = data[doc]
    is_listed = doc is None or (doc in made and has_lists(made[doc]))
    if not is_listed and roles.LISTED.get(what) not in (columns or ()):
        return None
    listed = [name for name in names if names.count(name) == 1 and has_lists(data[name])]
    return roles.list_roles(what, names, columns, listed)


def has_lists(series: Any) -> bool:
    """Whether a pandas column has a list in its first row; to read a value of text takes long."""
    return getattr(series.dtype, "type", None) is not str and isinstance(first_value(series), LIST_KINDS)


def is_table(data: Any) -> bool:
    """Whether table() takes the data for a table, be it a faulty one."""
    if isinstance(data, Mapping):
        return bool(data) and all(isinstance(name, str) and is_column(column) for name, column in data.items())
    if isinstance(data, (str, bytes)):
        return False
    return (
        isinstance(data, Iterable)
        or any(hasattr(data, name) for name in ("iloc", *ARROW_METHODS))
        or library_tables.is_library_table(data)
    )


def is_column(value: Any) -> bool:
    """Whether a value of a dict can be a column."""
    return hasattr(value, "__len__") and hasattr(value, "__getitem__") and not isinstance(value, (Mapping, str, bytes))


# ---- shapes of tables --------------------------------------------------------------------------------------------
def read_arrow(data: Any, names: tuple[Any, ...], opened: list[Batches]) -> Iterator[list[ArrowReader]]:
    """Batches of Arrow data; `opened` holds the stream that gave the names, which the first reading uses up."""
    text = convert_categoricals(data, names[1])
    batches = opened.pop() if opened and text is data else Batches(text)
    places = [batches.names.index(name) for name in names]
    for batch in batches:
        yield [ArrowReader(batch, place) for place in places]


def convert_categoricals(data: Any, name: str) -> Any:
    """A frame of polars with a Categorical column as text, which polars makes sooner than its Arrow dictionary."""
    if getattr(data, "height", 0) <= MAX_SMALL_ROWS or not hasattr(data, "with_columns"):
        return data
    return data.cast({name: str}) if type(data.schema[name]).__name__ == "Categorical" else data


def read_library_table(library: library_tables.LibraryTable, names: tuple[Any, ...]) -> Iterator[list[Any]]:
    """Batches that are read now; an error names the file that they are from, if there is one, and its row."""
    last, row = None, 0
    for batch, file in library.batches(names):
        row = row if file == last else 0
        last = file
        for readers in read_arrow(batch, names, []):
            yield readers if file is None else [FileColumn(reader, file, row) for reader in readers]
        row += batch.num_rows


def read_arrays(data: Mapping[Any, Any], names: tuple[Any, ...], what: str) -> Iterator[list[ArrayReader | CodeReader]]:
    """Columns that NumPy understands, in stretches where they hold Python objects."""
    for name in names:
        masked = np.ravel(data[name].mask) if is_masked_array(data[name]) else np.empty(0)
        if masked.any():
            raise ValueError(f"{what}: row {int(masked.argmax())}: {quote(name)} is masked, its value is missing")
    arrays = [dict_column(data[name], place == NUMBER_POSITION) for place, name in enumerate(names)]
    if any(np.ndim(array) != 1 for array in arrays if not isinstance(array, list)):
        shapes = ", ".join(str(np.shape(array)) for array in arrays)
        raise ValueError(f"columns must have one dimension, got shapes {shapes}")
    yield from read_columns(arrays)


def dict_column(values: Any, of_numbers: bool) -> np.ndarray | list[Any]:
    """A column as an array; a list of text stays one, of which NumPy would make an array of as many characters each."""
    if type(values) is not list or not values or not isinstance(values[0], (str, int, float, np.generic)):
        return np.asarray(values)
    read = None if isinstance(values[0], str) else read_floats(values) if of_numbers else read_integers(values)
    return values if read is None or (of_numbers and is_wide(read)) else read


def read_columns(
    columns: Sequence[np.ndarray | list[Any] | tuple[np.ndarray, np.ndarray]],
) -> Iterator[list[ArrayReader | CodeReader]]:
    """Arrays, lists, or (codes, values) pairs, of one length."""
    sizes = {len(column[0] if isinstance(column, tuple) else column) for column in columns}
    if len(sizes) > 1:
        raise ValueError(f"columns differ in length: {', '.join(map(str, sorted(sizes)))}")
    n = sizes.pop()
    objects = any(isinstance(one, list) or (not isinstance(one, tuple) and one.dtype.kind in "OUT") for one in columns)
    step = OBJECT_ROWS if objects else max(n, 1)
    for a in range(0, n, step):
        yield [slice_reader(column, a, min(a + step, n)) for column in columns]


def slice_reader(
    column: np.ndarray | list[Any] | tuple[np.ndarray, np.ndarray], first: int, stop: int
) -> ArrayReader | CodeReader:
    """The reader of some rows of a column."""
    if isinstance(column, tuple):
        return CodeReader(column[0][first:stop], column[1])
    return ArrayReader(objects_from_list(column, first, stop) if isinstance(column, list) else column[first:stop])


def read_frame(frame: Any, names: tuple[Any, ...], what: str, made: dict[Any, Any]) -> Iterator[Sequence[Any]]:
    """A pandas frame: through Arrow where its strings lie there, else as arrays; columns that were made are let go."""
    series = [made.pop(name) if name in made else frame[name] for name in names]
    if any(one.ndim != 1 for one in series):
        raise ValueError("a column name stands for several columns of the frame")
    if len(frame) <= MAX_SMALL_ROWS and (columns := small_columns(series)):
        yield from read_columns(columns)
        return
    arrow = [hasattr(one.array, "__arrow_array__") and is_arrow_text(one.dtype) for one in series]
    values = [plain_array(one) for one in series]
    if (
        any(arrow)
        and len(series) > NUMBER_POSITION
        and series[NUMBER_POSITION].dtype == object
        and (numbers := read_floats(values[NUMBER_POSITION])) is not None
    ):
        values[NUMBER_POSITION] = values[NUMBER_POSITION] if is_wide(numbers) else numbers
    if any(arrow) and not any(one.dtype == object for one in values):
        import pyarrow

        columns = [
            one.array.__arrow_array__() if flag else pyarrow.array(value, from_pandas=True)
            for one, value, flag in zip(series, values, arrow, strict=True)
        ]
        places = range(len(columns))
        for batch in Batches(pyarrow.table(columns, names=list(map(str, places)))):
            yield [ArrowReader(batch, place) for place in places]
        return
    yield from read_columns([pandas_column(one, what) for one in series])


def small_columns(series: Sequence[Any]) -> list[np.ndarray]:
    """Columns of a small frame as arrays: numbers, and strings in Arrow's memory, whose objects are sooner made.

    Empty if a column is of another kind, or lacks a value, which the Arrow table will then say.
    """
    arrays = []
    for place, one in enumerate(series):
        kind = one.dtype.kind if isinstance(one.dtype, np.dtype) else None
        if kind == "i" or (kind == "f" and place == NUMBER_POSITION and not np.isnan(one.values).any()):
            arrays.append(one.values)
        elif place != NUMBER_POSITION and getattr(one.dtype, "storage", None) == "pyarrow":
            text = one.array.__arrow_array__()
            if text.null_count:
                return []
            arrays.append(text.to_numpy())
        else:
            return []
    return arrays


def plain_array(series: Any) -> Any:
    """The NumPy array of a pandas column that is one, which is read in a quarter of the time; else the column."""
    return series.values if isinstance(series.dtype, np.dtype) else series


def pandas_column(series: Any, what: str) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
    """A pandas column as an array, or as (codes, values)."""
    if hasattr(series.dtype, "categories"):
        return series.cat.codes.to_numpy(), series.cat.categories.to_numpy()
    if isinstance(series.dtype, np.dtype):
        return series.values
    if getattr(series.dtype, "kind", "O") in "iufb":  # nullable numbers
        missing = series.isna().to_numpy()
        if missing.any():
            raise ValueError(f"{what}: row {int(missing.argmax())}: {quote(series.name)} is missing (NA)")
        return series.to_numpy(series.dtype.numpy_dtype)
    return series.to_numpy(object)


def read_tuples(data: Iterable[Any], what: str, width: int = 3) -> Iterator[list[ArrayReader]]:
    """Tuples of query id, document id and, of width 3, a number; of longer named tuples the fields of these names."""
    rows = iter(data)
    done, places = 0, tuple(range(width))
    while chunk := tuple(islice(rows, OBJECT_ROWS)):
        fields = getattr(chunk[0], "_fields", ())
        if not done and len(fields) > 3:
            width, places = len(fields), tuple(fields.index(name) for name in find_columns(what, list(fields), {}))
        columns = fields_from_rows(chunk, places, width)
        if columns is None:
            columns = columns_from_rows(chunk, places, width, what, done)
        done += len(chunk)
        yield list(map(ArrayReader, columns))


def columns_from_rows(
    rows: Sequence[Any], places: tuple[int, ...], width: int, what: str, first: int
) -> list[np.ndarray]:
    """The columns of rows that are not all tuples; the first of them has the number `first`."""
    for row, one in enumerate(rows, first):
        if not isinstance(one, (tuple, list)) or len(one) != width:
            number = "" if width == 2 else ", score" if what == "run" else ", label"
            raise TypeError(
                f"{what}: row {row}: expected a tuple (query_id, doc_id{number}), got {type(one).__name__} {quote(one)}"
                + library_tables.remedy_for_rows(one, what)
            )
    columns = list(zip(*rows, strict=True))
    return [as_objects(columns[place]) for place in places]


# ---- tables with labels in rank order --------------------------------------------------------------------------------
def is_label_table(data: Any) -> bool:
    """Whether labels are a table, and not an array or a column."""
    if isinstance(data, Mapping) or library_tables.is_library_table(data):
        return True
    named = any(hasattr(data, name) for name in ("columns", "column_names", "schema"))
    return named and any(hasattr(data, name) for name in ("iloc", *ARROW_METHODS))


def read_label_table(data: Any, columns: Mapping[str, str] | None) -> dict[str, Any]:
    """The columns of a table by the names of the arguments: qid, labels and scores."""
    columns = columns or {}
    number, usual = roles.number_of_run(columns)
    wanted = {"query_id": roles.QUERY, "label": roles.LABEL, number: usual}
    if not isinstance(data, Mapping) and not hasattr(data, "iloc"):
        data = arrow_table(data)
    names = list(getattr(data, "column_names", data if isinstance(data, Mapping) else getattr(data, "columns", ())))
    names_by_role = roles.columns_by_role("labels", names, wanted, columns, ("query_id", "label", "score", "rank"))
    qid, labels, scores = (data[name] for name in names_by_role.values())
    if roles.is_rank(names_by_role[number], columns):
        scores = 0.0 - np.asarray(scores, float)
    return {"qid": qid, "labels": labels, "scores": scores}


def arrow_table(data: Any) -> Any:
    """All rows of Arrow data, or of a dataset."""
    import pyarrow

    if library_tables.is_library_table(data):
        library = library_tables.library_table(data)
        batches = [pyarrow.table(batch) for batch, _ in library.batches(tuple(library.names))]
        return pyarrow.concat_tables(batches) if batches else pyarrow.table({name: [] for name in library.names})
    return pyarrow.table(data)
