"""The runs that a caller brings to be evaluated together, with their names: mappings, pairs, folders and tables."""

from __future__ import annotations

import glob
import os
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from fastir.errors import FormatError, quote
from fastir.inputs import formats, places, roles, table_files, table_rows, tables
from fastir.inputs.foreign_tables import is_foreign, refuse
from fastir.inputs.places import is_visible
from fastir.run import Run


def named_runs(runs: Any, columns: Mapping[str, str] | None, duplicates: str | None) -> Iterator[tuple[Hashable, Any]]:
    """The (name, run) pairs of what `evaluate_many` takes, one at a time.

    Raises
    ------
    TypeError, ValueError
        It is something else, or two runs have one name.
    FormatError, DuplicateError
        Of a long table.
    """
    if isinstance(runs, Run):
        raise TypeError(f"{EXPECTED} {type(runs).__name__}")
    if places.is_place(runs):
        runs = of_place(runs, columns, duplicates)
    elif is_long(runs, columns):
        runs = of_columns(table_rows.by_run(tables.table(runs, "runs", columns), duplicates))
    yield from pairs(runs)


EXPECTED = (
    "runs must be a mapping of name to run, an iterable of (name, run) pairs, a folder, or a table with a column of "
    "runs, got"
)


def is_long(runs: Any, columns: Mapping[str, str] | None) -> bool:
    """Whether it is a table, whose rows say which run they are of."""
    if isinstance(runs, Mapping):
        return len(runs) > 1 and tables.is_table(runs) and tables.has_columns(runs, "runs", columns)
    if not isinstance(runs, (list, tuple)):
        refuse(runs, "runs")
    return is_foreign(runs) or any(hasattr(runs, name) for name in ("iloc", *tables.ARROW))


def of_columns(found: Mapping[Any, tuple[Any, ...]]) -> dict[Any, Run]:
    return {name: Run(*columns) for name, columns in found.items()}


def of_place(place: Any, columns: Mapping[str, str] | None, duplicates: str | None) -> Mapping[Any, Any]:
    """The runs of a folder, of a pattern, or of a file that holds a table of them."""
    if places.is_many(place):
        files = runs_in(place)
        return dict(zip(run_names(files), files, strict=True))
    form = formats.format_of(place)
    if form not in formats.TABLES:
        raise TypeError(f"{EXPECTED} the file {places.name_of(place)} of a single run")
    with table_files.opened(place, "runs", form, columns, None) as (table, _):
        return of_columns(table_rows.by_run(table, duplicates))


def runs_in(place: Any) -> list[Any]:
    """The files of a folder or a pattern, each of which is a run; or its hive partitions.

    A folder whose partitions begin with one by runs has a run for each value; other partitions are those of one run.

    Raises
    ------
    FormatError
        There is none.
    """
    if places.is_local(place):
        path = os.fsdecode(place)
        names = (
            [os.path.join(path, name) for name in os.listdir(path)]
            if os.path.isdir(path)
            else glob.glob(path, recursive=True)
        )
        folders = sorted(name for name in names if os.path.isdir(name) and "=" in os.path.basename(name))
        if folders:
            by_run = all(os.path.basename(name).partition("=")[0] in roles.RUN for name in folders)
            return folders if by_run else [place]
        files: list[Any] = sorted(name for name in names if os.path.isfile(name) and is_visible(os.path.basename(name)))
    else:
        files = places.files_of(place)
    if not files:
        raise FormatError("no file is there", places.name_of(place))
    return files


def run_names(runs: Sequence[Any]) -> list[str]:
    """A name for every run: its file's, the path if two files share a name, with a number if a path comes twice."""
    paths = [run.rstrip("/") if isinstance(run, str) else places.name_of(run) for run in runs]
    files = [os.path.basename(path) for path in dict.fromkeys(paths)]
    wanted = [path if files.count(os.path.basename(path)) > 1 else shown(os.path.basename(path)) for path in paths]
    names: list[str] = []
    for name in wanted:
        tries = (name, *(f"{name} ({number})" for number in range(2, len(runs) + 1)))
        names.append(next(name for name in tries if name not in names))
    return names


def shown(name: str) -> str:
    """The name of a file, or the value of a partition by runs."""
    return places.partition_of(name + os.sep).get(name.partition("=")[0], name)


def pairs(runs: Any) -> Iterator[tuple[Hashable, Any]]:
    """The (name, run) pairs of a mapping or iterable, one at a time."""
    if not isinstance(runs, (Mapping, Iterable)):
        raise TypeError(f"{EXPECTED} {type(runs).__name__}")
    names = set()
    for pair in runs.items() if isinstance(runs, Mapping) else runs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(f"{EXPECTED} {type(pair).__name__} {quote(pair)} among them")
        if pair[0] in names:
            raise ValueError(f"two runs are named {quote(pair[0])}; expected every name once")
        names.add(pair[0])
        yield tuple(pair)
