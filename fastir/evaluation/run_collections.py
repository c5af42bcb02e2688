"""The runs that a caller brings to be evaluated together, with their names: mappings, pairs, files and tables."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from fastir.data.run import Run
from fastir.errors import FastirError, FormatError, quote, warn_caller
from fastir.evaluation.run_names import RunNames, run_names
from fastir.inputs import formats, places, roles
from fastir.inputs.library_tables import ARROW_METHODS, is_library_table, is_of_ranx, refuse
from fastir.inputs.places import is_visible
from fastir.inputs.source import as_file

PATH_TYPES = (str, bytes, os.PathLike)


def runs_by_name(
    runs: Any,
    columns: Mapping[str, str] | None,
    duplicates: str | None,
    names: RunNames = "stem",
    judgments: Sequence[Any] = (),
) -> Iterator[tuple[Hashable, Any]]:
    """The (name, run) pairs of what `evaluate_many` takes, one at a time; files of judgments are no runs."""
    runs = with_names(runs, names, judgments)
    if places.is_place(runs):
        runs = runs_in_file(runs, columns, duplicates)
    elif is_long(runs, columns):
        from fastir.inputs import table_rows, tables

        runs = make_runs(table_rows.group_by_run(tables.table(runs, "runs", columns), duplicates))
    yield from pairs(runs)


EXPECTED_TEXT = (
    "runs must be a mapping of name to run, a list of runs, an iterable of (name, run) pairs or of paths, a folder, "
    "or a table with a column of runs, got"
)


def with_names(runs: Any, names: RunNames = "stem", judgments: Sequence[Any] = ()) -> Any:
    """Return {name: file} for a folder, a pattern, or several files, folders and patterns; other runs unchanged."""
    if isinstance(runs, Run) or is_of_ranx(runs):
        raise TypeError(f"{EXPECTED_TEXT} {type(runs).__name__}")
    if is_list_of_runs(runs):
        runs = name_listed_runs(runs)
    run_files: list[Any] = []
    if places.is_place(runs):
        run_files = runs_without(judgments, runs) if places.is_many(runs) else []
    elif isinstance(runs, Iterable) and not isinstance(runs, Mapping) and not is_long(runs, None):
        items = iter(runs)
        head = list(itertools.islice(items, 1))
        runs = itertools.chain(head, items)
        if head and places.is_place(head[0]):
            run_files = [file for place in runs for file in expand_path(place, judgments)]
    if run_files:
        run_files = list(map(as_file, run_files))
        return dict(zip(run_names(run_files, names), run_files, strict=True))
    if not isinstance(names, str) or names != "stem":
        raise ValueError(f"names={quote(names)}: it is only for runs that are files")
    return runs


def is_list_of_runs(runs: Any) -> bool:
    """Whether it is a list of runs without names, of which some are no paths."""

    def is_run(each: Any) -> bool:
        return isinstance(each, (Run, Mapping)) or is_of_ranx(each) or is_table(each) or places.is_place(each)

    return isinstance(runs, (list, tuple)) and all(map(is_run, runs)) and not all(map(places.is_place, runs))


def name_listed_runs(runs: Sequence[Any]) -> dict[str, Any]:
    """Runs by the names that they have; where one has none, its number; where two have one name, all their numbers."""
    numbers = list(map(str, range(1, len(runs) + 1)))
    named = [isinstance(run, Run) or is_of_ranx(run) for run in runs]
    own = [
        places.stem(r) if places.is_place(r) else r.name if has else None for r, has in zip(runs, named, strict=True)
    ]
    names = [name or number for name, number in zip(own, numbers, strict=True)]
    return dict(zip(names if len(set(names)) == len(names) else numbers, runs, strict=True))


def expand_path(place: Any, judgments: Sequence[Any] = ()) -> list[Any]:
    """The files of one of several paths."""
    if not places.is_place(place):
        raise TypeError(f"{EXPECTED_TEXT} {type(place).__name__} {quote(place)} among paths")
    one = (isinstance(place, str) and place == "-") or not places.is_many(place)
    return [place] if one else runs_without(judgments, place)


def is_long(runs: Any, columns: Mapping[str, str] | None) -> bool:
    """Whether it is a table with a column of run names."""
    if isinstance(runs, Mapping):
        if len(runs) < 2 or not roles.has_columns(runs, "runs", columns):
            return False
        from fastir.inputs import tables

        return tables.is_table(runs)
    if not isinstance(runs, (list, tuple)):
        refuse(runs, "runs")
    return is_table(runs)


def is_table(runs: Any) -> bool:
    """Whether it is a table of a library."""
    return is_library_table(runs) or any(hasattr(runs, name) for name in ("iloc", *ARROW_METHODS))


def make_runs(columns_by_run: Mapping[Any, tuple[Any, ...]]) -> dict[Any, Run]:
    return {name: Run(*columns) for name, columns in columns_by_run.items()}


def runs_in_file(place: Any, columns: Mapping[str, str] | None, duplicates: str | None) -> Mapping[Any, Any]:
    """The runs of a file that holds a table of them."""
    form = formats.file_format(place)
    if form not in formats.TABLE_FORMATS:
        raise TypeError(f"{EXPECTED_TEXT} the file {places.place_name(place)} of a single run")
    from fastir.inputs import table_files, table_rows

    with table_files.open_table(place, "runs", form, columns, None) as (table, _):
        return make_runs(table_rows.group_by_run(table, duplicates))


def runs_in(place: Any) -> list[Any]:
    """The files of a folder or a pattern, each of which is a run; or its hive partitions.

    A folder with partitions by run first has a run for each value; any other partitions belong to one run.
    """
    if places.is_local(place):
        path = os.fsdecode(place)
        names = (
            [os.path.join(path, name) for name in os.listdir(path)]
            if os.path.isdir(path)
            else places.matching_paths(os.path.join(path, "*") if os.path.basename(path) == "**" else path)
        )
        folders = sorted(name for name in names if os.path.isdir(name) and "=" in os.path.basename(name))
        if folders:
            by_run = all(os.path.basename(name).partition("=")[0] in roles.RUN for name in folders)
            return folders if by_run else [place]
        visible = sorted(name for name in dict.fromkeys(names) if is_visible(os.path.basename(name)))
        for name in visible:
            places.check_link(name)
        files: list[Any] = list(filter(os.path.isfile, visible))
    else:
        files = places.place_files(place)
    if not files:
        raise FormatError("no file was found", places.place_name(place))
    return files


def input_files(data: Any) -> Iterator[Any]:
    """Yield the local files of judgments or runs: each file of a folder, a pattern, a mapping, a list.

    Standard input is its descriptor.
    """
    if isinstance(data, Mapping):
        data = list(data.values())
    if isinstance(data, (list, tuple)):
        for each in data:
            file = each[1] if isinstance(each, tuple) and len(each) == 2 else each  # a name and its run
            several = isinstance(file, list) and bool(file) and isinstance(file[0], PATH_TYPES)  # seeds of one run
            if several or isinstance(file, PATH_TYPES):
                yield from input_files(file)
    elif isinstance(data, str) and data == "-":
        with contextlib.suppress(OSError, ValueError, AttributeError):  # it is closed, or no file
            yield sys.stdin.fileno()
    elif isinstance(data, PATH_TYPES):
        with contextlib.suppress(OSError, ValueError, FastirError):
            for file in runs_in(data) if places.is_many(data) else [data]:
                if places.on_disk(file):
                    yield file
                elif places.is_local(file):
                    yield from (os.path.join(folder, name) for folder, _, names in os.walk(file) for name in names)


def paths_in(*inputs: Any) -> list[str]:
    """Return the absolute paths of the files of judgments and runs."""
    files = itertools.chain.from_iterable(map(input_files, inputs))
    return [os.path.abspath(os.fsdecode(file)) for file in files if not isinstance(file, int)]


def runs_without(judgments: Sequence[Any], place: Any, warn: Callable[[str], None] = warn_caller) -> list[Any]:
    """What `runs_in` finds, but the files of judgments that lie there, which a warning names."""
    files = runs_in(place)
    judged = [file for file in files if any(is_same(file, other) for other in judgments)]
    if len(judged) == len(files):
        raise FormatError("no file was found except the judgments", places.place_name(place))
    for file in judged:
        warn(f"{places.place_name(file)} holds the judgments, and is not taken for a run of {places.place_name(place)}")
    return [file for file in files if file not in judged]


def is_same(file: Any, other: Any) -> bool:
    """Whether both are paths of one file of this machine."""
    return places.on_disk(file) and places.on_disk(other) and os.path.samefile(file, other)


def pairs(runs: Any) -> Iterator[tuple[Hashable, Any]]:
    """The (name, run) pairs of a mapping or iterable, one at a time."""
    if not isinstance(runs, (Mapping, Iterable)):
        raise TypeError(f"{EXPECTED_TEXT} {type(runs).__name__}")
    names = set()
    for pair in runs.items() if isinstance(runs, Mapping) else runs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(f"{EXPECTED_TEXT} {type(pair).__name__} {quote(pair)} among them")
        if pair[0] in names:
            raise ValueError(f"two runs are named {quote(pair[0])}; expected every name once")
        names.add(pair[0])
        yield pair[0], as_file(pair[1])
