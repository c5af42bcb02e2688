"""The names of runs that are files: by their names, by their tags, or as the caller says."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal, get_args

from fastir.checks import check_choice
from fastir.errors import FormatError, quote
from fastir.inputs import files, formats, places, roles
from fastir.rendering.text import counted

NamesOfFiles = Literal["stem", "tag", "file"]
RunNames = NamesOfFiles | Sequence[Hashable]  # the caller's option
NAMES_OF_FILES = get_args(NamesOfFiles)
TAG_FIELD = 5  # its position among the fields of a line: query, Q0, document, rank, score, tag
BLOCK_BYTES = 1 << 12  # bytes that are read at a time for a first line


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
