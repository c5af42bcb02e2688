"""Numbers and tables as text, and the one way to write a file: shared by Results, comparisons and the command line.

Imports nothing of fastir. A number for reading has four decimals; a number for a program reads back exactly.
"""

from __future__ import annotations

import contextlib
import errno
import math
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, BinaryIO

if sys.platform == "win32":
    fcntl = None
else:
    import fcntl


def rounded(value: float, aggregate: str, digits: int = 4) -> str:
    """A value for reading: with some decimals, or a whole number where the metric counts."""
    return f"{value:.0f}" if aggregate in ("sum", "count") and value == value else f"{value:.{digits}f}"


def counted(n: int, one: str, more: str) -> str:
    """How many there are, in words that agree with the number: "1 query", "2 queries"."""
    return f"1 {one}" if n == 1 else f"{n} {more}"


def without_nan(value: float) -> float | None:
    """The value, or None for NaN, which JSON cannot write."""
    return value if value == value else None


def decimals(value: float | None, digits: int = 4) -> str:
    """A value for reading; "-" where there is none."""
    return "-" if value is None or value != value else f"{value:.{digits}f}"


def signed(value: float, digits: int = 4) -> str:
    """A difference for reading; nothing where it is 0."""
    return "" if value == 0 else f"{value:+.{digits}f}" if value == value else "-"


def json_types(data: Any) -> Any:
    """A value in types that JSON has: NaN is None, infinity text, records are dicts, arrays lists, the rest its str().

    Two keys of a dict that have one text, such as 1 and "1", are refused with a ValueError: one would be lost.
    """
    if isinstance(data, dict):
        named = {key if isinstance(key, str) else str(key): json_types(value) for key, value in data.items()}
        if len(named) < len(data):
            raise ValueError(f"cannot write {len(data)} names as JSON, which are {len(named)} different texts")
        return named
    if hasattr(data, "_asdict"):
        return json_types(data._asdict())
    if isinstance(data, list):
        return [json_types(value) for value in data]
    if isinstance(data, float):
        return data if math.isfinite(data) else str(data) if data == data else None
    if hasattr(data, "tolist"):
        return json_types(data.tolist())
    return data if data is None or isinstance(data, (bool, int, str)) else str(data)


def json_text(data: object, default: Callable[[Any], object] | None = None) -> str:
    """JSON in ASCII, so that any id can be written; floats read back exactly. `default` as for `json.dumps`."""
    import json

    return json.dumps(data, indent=2, default=default) + "\n"


def aligned(rows: list[list[str]], left: int) -> str:
    """Columns padded to their widest cell, the first `left` of them to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(f"{cell:{'<' if column < left else '>'}{widths[column]}}" for column, cell in enumerate(row))
        for row in rows
    )
    return "".join(f"{line.rstrip()}\n" for line in lines)


QUOTED = re.compile('[\t"\r\n]').search


def tsv_text(rows: Iterable[Sequence[str]]) -> str:
    """Rows as tab-separated lines that any csv reader accepts; the csv module itself leaves a lone \\r unquoted."""
    return "".join("\t".join(map(tsv_field, row)) + "\n" for row in rows)


def tsv_field(text: str) -> str:
    """A cell, in quotation marks where a csv reader needs them."""
    if QUOTED(text):
        return '"' + text.replace('"', '""') + '"'
    return text


# ---- files ---------------------------------------------------------------------------------------------------------

DRAFT = ".fastir-"  # what the name of a draft begins with


@contextlib.contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """A new file to write to, which takes the place of `path` in one step at the end of the block.

    A reader sees the old content or the new, never a part, even after a loss of power; an exception in the block leaves
    the old. If `path` exists, it must be a regular file or a link to one, and its mode is kept. Drafts that a killed
    process left in the folder are removed.
    """
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    try:
        if os.path.exists(target) and not os.path.isfile(target):
            raise OSError(errno.EINVAL, "cannot be replaced, because it is not a regular file", path)
        remove_drafts(folder)
        file, draft = new_draft(folder, target)
        try:
            with file:
                yield file
                file.flush()
                os.fsync(file.fileno())
                if fcntl is not None:  # still locked, so that nobody takes it for one that was left behind
                    os.replace(draft, target)
            if fcntl is None:  # Windows replaces no file that is open
                os.replace(draft, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(draft)
            raise
        sync_folder(folder)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None


def new_draft(folder: str, target: str) -> tuple[BinaryIO, str]:
    """A draft and its path; it has the mode of the file that it will replace, never a wider one, and is locked.

    No path is used twice: a thread that found an earlier draft without a lock may still be about to remove its path.
    """
    mode = stat.S_IMODE(os.stat(target).st_mode) if os.path.exists(target) else None
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        draft = os.path.join(folder, f"{DRAFT}{os.urandom(8).hex()}.tmp")
        file = os.fdopen(os.open(draft, flags, 0o666 if mode is None else mode & 0o600), "wb")
        try:
            if fcntl is not None:
                with contextlib.suppress(OSError):  # not every file system has locks
                    fcntl.flock(file, fcntl.LOCK_EX)
            if os.fstat(file.fileno()).st_nlink > 0:  # else another process took it for one that was left behind
                if mode is not None:
                    os.chmod(draft, mode)
                return file, draft
        except BaseException:
            file.close()
            raise
        file.close()


def remove_drafts(folder: str) -> None:
    """Remove the drafts in a folder that nobody writes any more.

    Who writes a draft holds a lock on it, or on Windows has it open, which is as good.
    """
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(DRAFT) and entry.name.endswith(".tmp"):
                with contextlib.suppress(OSError), open(entry.path, "rb") as file:
                    if fcntl is not None:
                        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        os.unlink(entry.path)
                if fcntl is None:
                    with contextlib.suppress(OSError):
                        os.unlink(entry.path)


def sync_folder(folder: str) -> None:
    """Have the new name of a file written to the disk, where the system can do that."""
    if fcntl is not None:
        with contextlib.suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
