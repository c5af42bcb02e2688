"""Where the bytes of qrels and runs lie: paths, file objects, URLs, paths in file systems, folders and patterns.

File systems of pyarrow and fsspec, and paths in them, are recognised by their methods; they are imported for URLs only.
"""

from __future__ import annotations

import io
import os
import re
import stat
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from fastir.declared import Record
from fastir.errors import FormatError, quote
from fastir.inputs.library_tables import is_in_memory

if TYPE_CHECKING:
    from typing_extensions import TypeIs

WILDCARD = r"[*?\[]"
PATH_SEPARATORS = re.escape(os.sep) + "/"  # what parts the steps of a path
ANY_FOLDERS = rf"(?:(?<=[{PATH_SEPARATORS}])|^)\*\*(?:[{PATH_SEPARATORS}]+|$)"
HIDDEN_PREFIXES = (".", "_")  # how the names of files begin that hold no rows: _SUCCESS, _metadata
NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"  # a missing value of a hive partition
PARQUET_SUFFIX = ".parquet"
COMPRESSED_SUFFIXES = (".gz", ".zst")  # endings of files that are unpacked
RUN_ENDINGS = frozenset(  # what is no part of a run's name
    f".{end}"
    for end in ("run", "res", "results", "txt", "trec", "tsv", "csv", "json", "jsonl", "ndjson", "parquet", "npz")
)


class Remote(Record):
    """A path in a file system, which has the methods of pyarrow's."""

    system: Any
    path: str


class LocalPath:
    """A path of this machine, such as a FileSource's; not an ABC, because isinstance takes longer for these."""

    data: Any
    is_file: bool
    n_bytes: int

    def __fspath__(self) -> Any:
        return os.fspath(self.data)


class Part(Record):
    """One of the files that make a table."""

    place: Any
    partition: dict[str, str]  # {column: text}, from folders named column=text


class KeptFile:
    """A caller's file object, which only the caller closes: not what reads from it, nor the end of that."""

    def __init__(self, file: Any) -> None:
        self.file = file

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

    def close(self) -> None:
        pass


def is_file_object(data: Any) -> bool:
    """Whether `data.read` gives bytes; a pyarrow ParquetFile's gives a table."""
    if isinstance(data, (str, LocalPath)):
        return False
    return callable(getattr(data, "read", None)) and not hasattr(data, "read_row_group")


def is_path(data: Any) -> TypeIs[str | bytes | os.PathLike[Any]]:
    """Whether an object is a path as Python's `open` takes it."""
    return isinstance(data, (str, bytes)) or hasattr(type(data), "__fspath__")  # as os.PathLike, which takes long


def is_place(data: Any) -> bool:
    """Whether an object says where bytes lie."""
    if type(data) is dict or is_in_memory(data):
        return False
    return is_path(data) or is_file_object(data) or is_remote(data)


def is_remote(data: Any) -> bool:
    """Whether an object is a path in a file system: a pair of both, or what fsspec and its kin make of one."""
    if isinstance(data, (str, LocalPath)):
        return False
    if isinstance(data, tuple):
        return len(data) == 2 and isinstance(data[1], str) and is_system(data[0])
    return hasattr(data, "path") and is_system(getattr(data, "fs", None))


def is_system(data: Any) -> bool:
    return hasattr(data, "get_file_info") or (hasattr(data, "ls") and hasattr(data, "open"))


def place_name(place: Any) -> str:
    """The name of a place in messages."""
    if isinstance(place, LocalPath):
        return os.fsdecode(place.data)
    if isinstance(place, (str, bytes)):
        return "standard input" if place == "-" else os.fsdecode(place)
    if isinstance(place, tuple):
        return str(place[1])
    if is_file_object(place) or is_remote(place):
        name = getattr(place, "name", None) or getattr(place, "path", None)
        return os.fsdecode(name) if isinstance(name, (str, bytes)) else f"<{type(place).__name__}>"
    return os.fsdecode(place)


def stem(place: Any) -> str | None:
    """The name of a file without folders and known endings: "bm25" for runs/bm25.trec.gz; None for what has no name."""
    name = os.path.basename(place_name(place).rstrip("/" + os.sep))
    if place == "-" or name.startswith("<"):
        return None
    root, end = os.path.splitext(name)
    name = root if end.lower() in COMPRESSED_SUFFIXES else name
    root, end = os.path.splitext(name)
    return (root if end.lower() in RUN_ENDINGS else name) or None


def on_disk(place: Any) -> bool:
    """Whether it is the path of a regular file of this machine."""
    if isinstance(place, LocalPath):
        return place.is_file
    return is_path(place) and not is_remote(place) and os.path.isfile(place)


def place_size(place: Any) -> int:
    """The bytes of a file of this machine, or of the parts in a folder or a pattern; 0 if they are unknown."""
    if on_disk(place):
        return place.n_bytes if isinstance(place, LocalPath) else os.path.getsize(place)
    many = isinstance(place, (str, os.PathLike)) and is_local(place) and is_many(place)
    return sum(map(place_size, parquet_in(place))) if many else 0


def reopens(place: Any) -> bool:
    """Whether it can be read a second time."""
    if is_file_object(place):
        return callable(getattr(place, "seekable", None)) and bool(place.seekable())
    return not is_local(place) or os.path.isfile(place) or is_many(place)


def is_local(place: Any) -> bool:
    """Whether it is a path that the system knows, be it one of several files."""
    if isinstance(place, LocalPath):
        return True
    return not is_file_object(place) and not is_remote(place) and not is_url(place)


def is_url(place: Any) -> bool:
    return isinstance(place, str) and re.match(r"[A-Za-z][\w+.-]+://", place) is not None


def remote(place: Any) -> Remote:
    """A URL or a path in a file system, with a file system as pyarrow has it."""
    name = place_name(place)
    try:
        from pyarrow import ArrowInvalid, fs
    except ImportError:
        raise FormatError("URLs and file systems need pyarrow: pip install 'fastir[arrow]'", name) from None
    if is_url(place):
        try:
            return Remote(*fs.FileSystem.from_uri(place))
        except ArrowInvalid:  # it does not know the scheme
            system, path = open_fsspec(place)
    else:
        system, path = place if isinstance(place, tuple) else (place.fs, str(place.path))
    return Remote(system if hasattr(system, "get_file_info") else fs.PyFileSystem(fs.FSSpecHandler(system)), path)


def open_fsspec(url: str) -> tuple[Any, str]:
    """The file system of fsspec that knows a URL, and the path in it."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise FormatError("pyarrow does not know URLs of this kind; the others need fsspec", url) from None
    try:
        return url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise FormatError(str(error), url) from None


def open_bytes(place: Any) -> Any:
    """Open a source of bytes as a file with readinto; the caller closes it.

    A file object is read from its beginning, if it can be, and stays open.
    """
    if not is_file_object(place):
        if is_local(place):
            return open(place, "rb")
        system, path = place if isinstance(place, Remote) else remote(place)
        return system.open_input_file(path)
    if isinstance(place, io.TextIOBase):
        raise FormatError("the file was opened as text; expected open(path, 'rb')", place_name(place))
    if reopens(place):
        place.seek(0)
    return KeptFile(place) if hasattr(place, "readinto") else io.BytesIO(place.read())


# ---- several files -----------------------------------------------------------------------------------------------
def is_many(place: Any) -> bool:
    """Whether it is a folder or a pattern, and not one file."""
    if (isinstance(place, LocalPath) and place.is_file) or is_file_object(place):
        return False
    if is_local(place):
        return os.path.isdir(place) or (bool(re.search(WILDCARD, os.fsdecode(place))) and not os.path.exists(place))
    system, path = remote(place)
    return bool(re.search(WILDCARD, path)) or system.get_file_info(path).type.name == "Directory"


def place_files(place: Any) -> list[Any]:
    """The visible files of a folder and the folders in it, or those that a pattern fits, in order of their names."""
    if is_local(place):
        path = os.fsdecode(place)
        entries = sorted(matching_paths(path)) if not os.path.isdir(path) else [path]
        return [*dict.fromkeys(file for one in entries for file in visible_files(one))]
    system, path = remote(place)
    from pyarrow.fs import FileSelector

    wild = re.search(WILDCARD, path)
    base = path if wild is None else path[: wild.start()].rpartition("/")[0]
    entries = system.get_file_info(FileSelector(base, recursive=True))
    files = sorted(info.path for info in entries if info.type.name == "File")
    pattern = path.strip("/").split("/")
    return [
        Remote(system, file)
        for file in files
        if is_visible(os.path.relpath(file, base or "."))
        and (wild is None or matches_pattern(file.strip("/").split("/"), pattern))
    ]


def matching_paths(pattern: str) -> list[str]:
    """The files and folders that a pattern fits; ** is any number of folders, each once, though links lead back."""
    import glob

    if (several := re.search(ANY_FOLDERS, pattern)) is None:
        return glob.glob(pattern)
    base, rest = pattern[: several.start()], pattern[several.end() :]
    paths = []
    for first in glob.glob(base) if re.search(WILDCARD, base) else [base]:
        for folder in folders(first):
            paths += matching_paths(os.path.join(glob.escape(folder), rest)) if rest else [folder]
    return paths


def folders(base: str) -> Iterator[str]:
    """A folder and the visible ones below it, those behind links last, and each that exists once."""
    seen, starts = set(), [base or os.curdir]
    while starts:
        links = []
        for start in starts:
            for folder, below, _ in os.walk(start):  # it lists links, and does not follow them
                info = os.stat(folder)
                if (info.st_dev, info.st_ino) in seen:
                    below.clear()
                    continue
                seen.add((info.st_dev, info.st_ino))
                yield folder if base else os.path.relpath(folder).removeprefix(os.curdir)
                below[:] = sorted(name for name in below if not name.startswith("."))
                links += [path for name in below if os.path.islink(path := os.path.join(folder, name))]
        starts = links


def matches_pattern(path: list[str], pattern: list[str]) -> bool:
    """Whether a pattern fits a path or a folder of it, step by step; ** is any number of steps."""
    if not pattern:
        return True
    if pattern[0] == "**":
        return matches_pattern(path, pattern[1:]) or (bool(path) and matches_pattern(path[1:], pattern))
    import fnmatch

    return bool(path) and fnmatch.fnmatchcase(path[0], pattern[0]) and matches_pattern(path[1:], pattern[1:])


def visible_files(path: str) -> list[str]:
    """The visible files in a folder and in those below it, or the file itself."""
    if not os.path.isdir(path):
        return [path]
    files = (os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
    return sorted(file for file in files if is_visible(os.path.relpath(file, path)))


def is_visible(path: str) -> bool:
    return not any(step.startswith(HIDDEN_PREFIXES) and "=" not in step for step in path.split(os.sep))


def check_link(file: Any) -> None:
    """Refuse a link that leads to no file."""
    if is_local(file) and os.path.islink(file) and not os.path.exists(file):
        raise FormatError(f"the link leads to {quote(os.readlink(file))}, which does not exist", place_name(file))


def parquet_in(place: Any) -> list[Any]:
    """The Parquet files of a folder or a pattern."""
    parquet = [file for file in place_files(place) if place_name(file).lower().endswith(PARQUET_SUFFIX)]
    for file in parquet:
        check_link(file)
        if is_local(file) and not stat.S_ISREG(os.stat(file).st_mode):
            raise FormatError("not a regular file; a folder must hold regular files only", place_name(file))
    return parquet


def place_parts(place: Any) -> list[Part]:
    """The Parquet files of a folder or a pattern, with the values of hive partitions; or the one file itself."""
    if not is_many(place):
        return [Part(place, {})]
    files = parquet_in(place)
    if not files:
        raise FormatError(
            "no Parquet file (.parquet) was found; for files of other formats use evaluate_many, which takes each file "
            "as a run",
            place_name(place),
        )
    return [Part(file, partition_values(place_name(file))) for file in files]


def partition_values(file: str) -> dict[str, str]:
    """{column: text} from the folders of a file that are named column=text, as hive does."""
    from urllib.parse import unquote

    pairs = (step.partition("=") for step in file.split(os.sep)[:-1] if "=" in step)
    return {name: unquote(text) for name, _, text in pairs}
