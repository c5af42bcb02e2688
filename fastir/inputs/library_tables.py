"""Objects of other libraries that say where rows are: some are read batch by batch, the others name what reads them.

Each is recognised by its methods; ir_datasets alone is imported, for an id that begins with its name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from fastir.declared import Record
from fastir.errors import quote

BATCH_ROWS = 1 << 16  # rows that are requested at a time
IR_DATASETS = "ir_datasets:"
IR_DATASET = ("dataset_id", "has_qrels", "has_scoreddocs")
ITERATORS = {"qrels": ("qrels_iter", "relevance"), "run": ("scoreddocs_iter", "score")}  # of ir_datasets
FILE_COLUMN = "__filename"  # the column of pyarrow's datasets with the file of each row
ARROW_METHODS = ("__arrow_c_stream__", "__arrow_c_array__")

# What makes a table of an object, by the methods that it has: of polars, Dask, Spark, Ray, xarray, pyarrow and pandas.
CALLS_BY_LIBRARY = {
    ("collect", "collect_schema"): "collect()",
    ("compute", "npartitions"): "compute()",
    ("toPandas", "mapInPandas"): "toPandas()",
    ("take_all", "iter_batches"): "to_pandas()",
    ("data_vars", "to_dataframe"): "to_dataframe().reset_index()",
    ("iter_batches", "read_row_group"): "read()",
    ("ngroups", "obj"): "obj",
}
# The same of what has neither columns nor Arrow data, by the first of these names that it has.
USUAL_CALLS = (
    "reset_index",
    "to_arrow",
    "to_pyarrow",
    "to_pyarrow_table",
    "to_table",
    "to_pandas",
    "toPandas",
    "to_df",
)


class LibraryTable(Record):
    """A table that is read later."""

    names: list[str]  # of its columns
    # batches(names) iterates over (Arrow data with these columns, name of the file that they are from or None).
    batches: Callable[[tuple[Any, ...]], Iterator[tuple[Any, str | None]]]
    again: bool  # whether it can be read a second time
    n_rows: int | None  # None if it is unknown


def has_attrs(data: Any, *names: str) -> bool:
    return all(hasattr(data, name) for name in names)


def is_in_memory(data: Any) -> bool:
    """Whether an object is a table in memory by its class alone.

    A missing attribute of a pandas frame takes longer to look up than a query to evaluate, because it may be a column.
    """
    kind: Any = type(data)
    return is_table_class(kind)


@lru_cache(maxsize=64)
def is_table_class(kind: type[Any]) -> bool:
    frame = has_attrs(kind, "iloc", "columns")
    if not frame and (hasattr(kind, "reset_index") or not any(hasattr(kind, name) for name in ARROW_METHODS)):
        return False
    place = any(hasattr(kind, name) for name in ("read", "path", "__fspath__")) or issubclass(kind, (str, bytes, tuple))
    later = (
        any(has_attrs(kind, *marks) for marks in CALLS_BY_LIBRARY)
        or is_library_table(kind)
        or has_attrs(kind, *IR_DATASET)
    )
    return not (place or later or issubclass(kind, Mapping))


def is_library_table(data: Any) -> bool:
    """Whether `library_table` knows how to read an object."""
    return (
        has_attrs(data, "schema", "get_fragments")
        or has_attrs(data, "projected_schema", "to_batches")
        or is_hugging(data)
    )


def is_hugging(data: Any) -> bool:
    return has_attrs(data, "with_format", "select_columns", "iter", "column_names") and not isinstance(data, Mapping)


def library_table(data: Any) -> LibraryTable:
    """A pyarrow Dataset or Scanner, or a Dataset of Hugging Face, as a table."""
    if is_hugging(data):
        names = data.column_names or list(next(iter(data), ()))
        return LibraryTable(names, lambda names: hugging_batches(data, names), True, getattr(data, "num_rows", None))
    if hasattr(data, "get_fragments"):
        return LibraryTable(data.schema.names, lambda names: dataset_batches(data, names), True, None)
    return LibraryTable(
        data.projected_schema.names, lambda _: ((batch, None) for batch in data.to_batches()), False, None
    )


def hugging_batches(data: Any, names: tuple[Any, ...]) -> Iterator[tuple[Any, None]]:
    for batch in data.select_columns(list(names)).with_format("arrow").iter(BATCH_ROWS):
        yield batch, None


def dataset_batches(data: Any, names: tuple[Any, ...]) -> Iterator[tuple[Any, str | None]]:
    for batch in data.to_batches(columns=[*names, FILE_COLUMN], batch_size=BATCH_ROWS):
        if batch.num_rows:
            file = batch.column(FILE_COLUMN)[0].as_py()
            yield batch.drop_columns([FILE_COLUMN]), None if file == "in-memory" else file


# ---- ir_datasets -------------------------------------------------------------------------------------------------
def is_of_ir_datasets(data: Any) -> bool:
    """Whether it is an id of ir_datasets, or what that makes of one."""
    if isinstance(data, str):
        return data.startswith(IR_DATASETS)
    return has_attrs(data, *IR_DATASET)


def rows_of_ir_datasets(data: Any, what: str) -> Callable[[], Iterable[tuple[Any, ...]]]:
    """A function that iterates over the qrels, or the scored documents, of a dataset of ir_datasets."""
    name = data if isinstance(data, str) else IR_DATASETS + data.dataset_id()
    if isinstance(data, str):
        import ir_datasets

        try:
            data = ir_datasets.load(data[len(IR_DATASETS) :])
        except KeyError:
            raise ValueError(f"{what}: ir_datasets has no dataset {quote(name)}") from None
    method, number = ITERATORS[what]
    if not hasattr(data, method):
        raise ValueError(f"{what}: the dataset {quote(name)} has no {method.removesuffix('_iter')}")
    return lambda: ((row.query_id, row.doc_id, getattr(row, number)) for row in getattr(data, method)())


def is_of_ranx(data: Any) -> bool:
    """Whether it is a Qrels or a Run of ranx, or of its drop-in replacement."""
    return "ranx" in type(data).__module__.split(".") and hasattr(data, "to_dict")


def plain_dict(data: Any) -> Any:
    """A dict of dicts of a Qrels or a Run of ranx; other data unchanged."""
    return dict(data.to_dict()) if is_of_ranx(data) else data


def convert(data: Any) -> Any:
    """A table of what is one but for its form: a lazy frame, a structured array, a Series by query and document.

    Of a Qrels or a Run of ranx a dict of dicts.
    """
    if (plain := plain_dict(data)) is not data:
        return plain
    if has_attrs(data, "collect_schema", "collect"):
        return data.collect()
    if names := getattr(getattr(data, "dtype", None), "names", None):
        return {name: data[name] for name in names} if np.ndim(data) == 1 else data
    if has_attrs(data, "reset_index", "to_frame", "index") and getattr(data.index, "nlevels", 1) == 2:
        names = [name or usual for name, usual in zip(data.index.names, ("query_id", "doc_id"), strict=True)]
        return data.rename_axis(names).rename(data.name or "score").reset_index()
    return data


# ---- what is nearly a table --------------------------------------------------------------------------------------
def refuse(data: Any, what: str) -> None:
    """Raise the TypeError that names the call which makes a table of an object, if it is nearly one."""
    call = next((f"{what}.{call}" for marks, call in CALLS_BY_LIBRARY.items() if has_attrs(data, *marks)), None)
    if call is None and isinstance(data, Mapping):
        if has_attrs(data, "with_format", "column_names") and data:
            call = f"{what}[{next(iter(data))!r}]"
    elif call is None and getattr(getattr(data, "dtype", None), "names", None):
        call = f"pandas.DataFrame({what})"
    elif call is None and not (has_attrs(data, "iloc", "columns") or is_library_table(data)):
        arrow = any(hasattr(data, name) for name in ARROW_METHODS)
        named = next((name for name in USUAL_CALLS[:1] if hasattr(data, name)), None) if arrow else usual_call(data)
        call = named and f"{what}.{named}()"
    if call:
        library = type(data).__module__.partition(".")[0]
        raise TypeError(f"{what}: got a {library} {type(data).__name__}, which is not a table yet; expected {call}")


def usual_call(data: Any) -> str | None:
    return next((name for name in USUAL_CALLS if callable(getattr(data, name, None))), None)


def remedy_for_rows(row: Any, what: str) -> str:
    """What an iterable of such rows is to become, as the end of a message; nothing if that is unknown."""
    if isinstance(row, (str, os.PathLike)):
        return "; for the parts of one file give their folder or a pattern, and several runs to evaluate_many"
    if isinstance(row, Mapping):
        return f"; expected pyarrow.Table.from_pylist({what})"
    if has_attrs(row, "iloc", "columns"):
        return f"; expected pandas.concat({what})"
    if any(hasattr(row, name) for name in ARROW_METHODS):
        return f"; expected pyarrow.Table.from_batches({what})"
    return ""


def is_arrow_text(dtype: Any) -> bool:
    """Whether the strings of a pandas column lie in Arrow's memory."""
    return getattr(dtype, "storage", None) == "pyarrow" or hasattr(dtype, "pyarrow_dtype")
