"""The runs that a caller brings to be evaluated together, with their names: mappings, pairs, files and tables."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, get_args

import numpy as np

from fastir.checks import check_choice, number, positive_integer
from fastir.data.run import Run, as_run
from fastir.engine.columns._ids import ids_from_arena
from fastir.engine.columns.rows import repeat
from fastir.engine.rank._order import in_rank_order
from fastir.errors import FastirError, FormatError, quote, warn_caller
from fastir.inputs import files, formats, places, roles
from fastir.inputs.library_tables import ARROW_METHODS, is_library_table, is_of_ranx, refuse
from fastir.inputs.places import is_visible
from fastir.inputs.source import as_file
from fastir.rendering.text import counted
from fastir.request.options import MAX_DEPTH
from fastir.request.plan import least_double

if TYPE_CHECKING:
    from fastir.data.rankings import JudgedRankings
    from fastir.inputs.parents import AnyParents
    from fastir.request.options import Duplicates

NamesOfFiles = Literal["stem", "tag", "file"]
RunNames = NamesOfFiles | Sequence[Hashable]  # the caller's option
NAMES_OF_FILES = get_args(NamesOfFiles)
TAG_FIELD = 5  # its position among the fields of a line: query, Q0, document, rank, score, tag
BLOCK_BYTES = 1 << 12  # bytes that are read at a time for a first line
PATH_TYPES = (str, bytes, os.PathLike)


def runs_by_name(
    runs: Any,
    columns: Mapping[str, str] | None,
    duplicates: str | None,
    names: RunNames = "stem",
    judgments: Sequence[Any] = (),
) -> Iterator[tuple[Hashable, Any]]:
    """The (name, run) pairs of what `evaluate_many` takes, one at a time; files of judgments are no runs."""
    plain = type(runs) is dict and columns is None and not judgments and isinstance(names, str) and names == "stem"
    if plain and set(map(type, runs.values())) == {dict}:  # neither files nor the columns of a table
        yield from runs.items()
        return
    runs = with_names(runs, names, judgments)
    if places.is_place(runs):
        runs = runs_in_file(runs, columns, duplicates)
    elif is_long(runs, columns):
        from fastir.inputs import table_rows, tables

        runs = make_runs(table_rows.group_by_run(tables.table(runs, "runs", columns), duplicates))
    yield from refusing_names(pairs(runs), columns)


def refusing_names(runs: Iterable[tuple[Any, Any]], columns: Mapping[str, str] | None) -> Iterator[tuple[Any, Any]]:
    """The runs, and an error after the last one if names were given for runs alone, none of which has columns."""
    if type(columns) is not roles.OneSided:
        yield from runs
        return
    kinds: list[str | None] = []
    for name, run in runs:
        kinds.append(None if isinstance(run, Run) else formats.without_names(run, Run, columns, True))
        yield name, run
    if kinds and (got := kinds[0]) and all(kinds):
        roles.refuse_names(columns, "run", got)


EXPECTED_TEXT = (
    "runs must be a mapping of name to run, a list of runs, an iterable of (name, run) pairs or of paths, a folder, "
    "or a table with a column of runs, got"
)


def with_names(runs: Any, names: RunNames = "stem", judgments: Sequence[Any] = ()) -> Any:
    """Return {name: file} for a folder, a pattern, or several files, folders and patterns; other runs unchanged."""
    for data in judgments:
        refuse_swapped(data, runs)
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


def refuse_swapped(judgments: Any, runs: Any) -> None:
    """Refuse a dict of judgments or of one run in the place of runs."""
    if not is_dict_of_numbers(runs):
        return
    if isinstance(judgments, dict) and all(map(is_dict_of_numbers, judgments.values())):
        raise ValueError("runs is {query: {document: number}}, as qrels are: are qrels and runs swapped?")
    raise ValueError("runs is one run, {query: {document: number}}; several are expected, as {'name': run}")


def is_dict_of_numbers(data: Any) -> bool:
    """Whether it is {query: {document: number}}, by its first entries."""
    row = next(iter(data.values()), None) if isinstance(data, dict) else None
    return isinstance(row, dict) and isinstance(next(iter(row.values()), None), (int, float))


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


# ---- the names of runs that are files --------------------------------------------------------------------------------
def run_names(runs: Sequence[Any], names: RunNames = "stem", format: str | None = None) -> list[Any]:
    """A name for each of several files, as `evaluate_many` says; a format of None is what the files' names say."""
    if isinstance(names, (list, tuple)):
        if len(names) != len(runs):
            raise ValueError(f"names: expected {len(runs)}, one for each run, got {len(names)}")
        chosen = list(names)
    elif check_choice("names", names, NAMES_OF_FILES) == "tag":
        chosen = [tag(run, format) for run in runs]
    else:
        chosen = distinct_names(runs, stem if names == "stem" else file_name)
    first: dict[Hashable, Any] = {}
    for name, run in zip(chosen, runs, strict=True):
        if name in first:
            both = f"{places.place_name(first[name])} and {places.place_name(run)}"
            raise ValueError(f"two runs are named {quote(name)}: {both}; expected every name once")
        first[name] = run
    return chosen


def file_name(run: Any) -> str:
    """Return the name of a file with its endings, or the value of a hive partition by runs."""
    name = steps(run)[-1]
    return places.partition_values(name + os.sep)[name.partition("=")[0]] if is_partition(name) else name


def stem(run: Any) -> str:
    """Return a file's name without its endings, unless nothing would be left; for a pattern, its folder's name."""
    name, folders = file_name(run), steps(run)[:-1]
    if "*" in name:
        return next((folder for folder in reversed(folders) if "*" not in folder), name)
    return name if is_partition(steps(run)[-1]) else places.stem(name) or name


def is_partition(name: str) -> bool:
    column, mark, _ = name.partition("=")
    return bool(mark) and column in roles.RUN


def distinct_names(runs: Sequence[Any], short: Callable[[Any], str]) -> list[str]:
    """The short names of files; where several have one, with as many of their folders as tell them apart."""
    names = [short(run) for run in runs]
    places_by_name: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        places_by_name.setdefault(name, []).append(place)
    for name, alike in places_by_name.items():
        if len(alike) > 1:
            for place, path in zip(alike, with_folders([steps(runs[place]) for place in alike], name), strict=True):
                names[place] = path
    return names


def with_folders(paths: list[list[str]], name: str) -> list[str]:
    """Paths that end in this name, cut as short as they differ; with their own last steps if only these differ."""
    for ends in ([name] * len(paths), [path[-1] for path in paths]):
        for n_folders in range(max(map(len, paths))):
            cut = [
                "/".join([*path[:-1][-n_folders:] * bool(n_folders), end])
                for path, end in zip(paths, ends, strict=True)
            ]
            if len(set(cut)) == len(cut):
                return cut
    return [name] * len(paths)


def steps(run: Any) -> list[str]:
    """The folders and the name of a file."""
    path = "-" if isinstance(run, str) and run == "-" else places.place_name(run)
    return [step for step in path.replace(os.sep, "/").split("/") if step not in ("", ".")] or [path]


def tag(run: Any, format: str | None = None) -> str:
    """The last field of the first line of a TREC file."""
    name = places.place_name(run)
    form = format or formats.file_format(run)
    if form != "trec":
        raise FormatError(f"names='tag': the file is {form}, and only TREC files have tags", name)
    if not places.reopens(run):
        raise ValueError(f"names='tag': {name} can be read only once; give it a name")
    line = b""
    with files.ByteReader(run) as source:
        while b"\n" not in line and (block := source.read(BLOCK_BYTES)):
            line = (line + block).lstrip()
    fields = line.partition(b"\n")[0].split()
    if len(fields) <= TAG_FIELD:
        raise FormatError(
            f"names='tag': the first line has {counted(len(fields), 'field', 'fields')}, the tag is the sixth", name, 1
        )
    return fields[TAG_FIELD].decode("utf-8", "surrogateescape")


def name_the_run(error: Exception, name: Hashable) -> None:
    """Put the run's name in front of the message, unless the message already names the run's file."""
    path = getattr(error, "path", None) or getattr(error, "filename", None)
    if path is None and error.args and isinstance(error.args[0], str):
        error.args = (f"run {quote(name)}: {error.args[0]}", *error.args[1:])


# ---- several runs, read for analyses of documents ------------------------------------------------------------------

Rankings = dict[Any, list[Any]]  # {query_id: document ids in rank order}


def read_runs(
    runs: Any,
    columns: Mapping[str, str] | None = None,
    duplicates: Duplicates | None = None,
    parents: AnyParents | None = None,
    names: RunNames = "stem",
    lines: str = "trec",
    judgments: Any = None,
    min_score: SupportsFloat | None = None,
    single: bool = False,
) -> dict[Hashable, Run]:
    """The runs of a caller by name, each read once, with the options of `evaluate`; their ids are of one kind.

    With `single` scores are compared with `min_score` as float32. A file of `judgments`, as the caller gave them, is no
    run where it lies in a folder of them.
    """
    read: dict[Hashable, Run] = {}
    least = least_double(None if min_score is None else number("min_score", min_score), single)
    if columns is not None and judgments is None:
        columns = roles.one_sided(columns)
    for name, rankings in runs_by_name(runs, columns, duplicates, names, [judgments]):
        try:
            held = read[name] = as_run(rankings, columns, duplicates, parents, lines)
            if min_score is not None:
                from fastir.evaluation.drivers.min_score import without_low

                read[name] = without_low(held, least)
        except Exception as error:
            name_the_run(error, name)
            raise
    if not read:
        raise ValueError("there are no runs")
    kinds = {name: id_kinds(run) for name, run in read.items() if run.columns.n_rows}
    for name, kind in kinds.items():
        first = next(iter(kinds))
        if kind != kinds[first]:
            raise TypeError(f"run {quote(name)} has ids of type {kind}, run {quote(first)} of {kinds[first]}")
    return read


def id_kinds(run: Run) -> str:
    return f"({type(next(iter(run))).__name__}, {'int' if run.columns.ids.integers else 'str'})"


def check_depth(pool_depth: Any) -> int:
    """How many documents of a ranking count; None is all."""
    if pool_depth is None:
        return MAX_DEPTH
    return positive_integer("pool_depth", "the number of documents of a ranking", pool_depth, MAX_DEPTH)


def first_documents(run: Run, depth: int, without: JudgedRankings | None = None) -> Rankings:
    """Return the first `depth` documents of each ranking, except the judged ones."""
    ids, offsets, scores = run.columns.arrays()
    wanted = np.arange(len(ids)) - repeat(offsets[:-1], np.diff(offsets)) < depth
    if without is not None:
        places = run.columns.places()
        starts = offsets[[places.get(query_id, 0) for query_id in without.query_ids]]
        wanted[repeat(starts, np.diff(without.offsets)) + without.ranks - 1] = False
    rows = in_rank_order(ids_from_arena(ids), offsets, scores)[wanted]
    doc_ids = ids.take(rows)[:]
    ends = np.append(0, np.cumsum(wanted))[offsets].tolist()
    return {query_id: doc_ids[start:end] for query_id, (start, end) in zip(run, itertools.pairwise(ends), strict=True)}
