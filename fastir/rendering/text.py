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
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, BinaryIO


def round_text(value: float, aggregate: str, digits: int = 4) -> str:
    """A value for reading: with some decimals, or a whole number where the metric counts."""
    return f"{value:.0f}" if aggregate in ("sum", "count") and value == value else f"{value:.{digits}f}"


def counted(n: int, one: str, more: str) -> str:
    """How many there are, in words that agree with the number: "1 query", "2 queries"."""
    return f"1 {one}" if n == 1 else f"{n} {more}"


def build_day() -> str:
    """The day on which a page is written, which SOURCE_DATE_EPOCH fixes."""
    import datetime

    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    now = datetime.datetime.now() if epoch is None else datetime.datetime.fromtimestamp(int(epoch), datetime.UTC)
    return now.date().isoformat()


def without_nan(value: float) -> float | None:
    """The value, or None for NaN, which JSON cannot write."""
    return value if value == value else None


def decimals(value: float | None, digits: int = 4) -> str:
    """A value for reading; "-" where there is none."""
    return "-" if value is None or value != value else f"{value:.{digits}f}"


def signed_text(value: float, digits: int = 4) -> str:
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


def align_columns(rows: list[list[str]], left: int) -> str:
    """Columns padded to their widest cell, the first `left` of them to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(f"{cell:{'<' if column < left else '>'}{widths[column]}}" for column, cell in enumerate(row))
        for row in rows
    )
    return "".join(f"{line.rstrip()}\n" for line in lines)


# control characters, what has no width (except joiners, which scripts need), turns the direction of text or breaks
# lines, and bytes that are controls outside of UTF-8
UNPRINTABLE = r"[\x00-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2060-\u2069\ufeff\udc80-\udc9f]"


def printable(text: str) -> str:
    """Text for a terminal or a page: control characters are escaped as in Python, such as \\x1b."""
    return re.sub(UNPRINTABLE, lambda match: repr(match[0])[1:-1], text)


def distinct_texts(
    names: Iterable[Hashable], taken: Iterable[str] = (), shown: Callable[[str], str] = str
) -> dict[Any, str]:
    """{name: its text}, no two of which are the same, nor one of those that are taken.

    Names that have one text, such as 1 and "1", are written by repr(); a number separates those that are still alike.
    """
    names = list(names)
    texts = {name: shown(str(name)) for name in names}
    counts = Counter([*taken, *texts.values()])
    texts = {name: text if counts[text] == 1 else shown(repr(name)) for name, text in texts.items()}
    used = {*taken}
    for name, text in texts.items():
        unique, number = text, 2
        while unique in used:
            unique, number = f"{text} ({number})", number + 1
        texts[name] = unique
        used.add(unique)
    return texts


QUOTED = re.compile('[\t"\r\n]').search


def tsv_text(rows: Iterable[Sequence[str]]) -> str:
    """Rows as tab-separated lines that any csv reader accepts; the csv module itself leaves a lone \\r unquoted."""
    return "".join("\t".join(map(tsv_field, row)) + "\n" for row in rows)


def tsv_field(text: str) -> str:
    """A cell, in quotation marks if a csv reader needs them."""
    return quote_cell(text) if QUOTED(text) else text


def quote_cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


# ---- files ---------------------------------------------------------------------------------------------------------
def input_at(path: Any, inputs: Iterable[Any]) -> Any:
    """The first of some inputs that is the file at a path, by whatever link; None if none is, or no file is there.

    The path is resolved as `replacing` resolves it: ``q/`` and ``missing/../q`` are q there, and nothing to the system.
    Inputs are paths or descriptors; what is neither, or cannot be found, is no file.
    """
    with contextlib.suppress(OSError, ValueError, TypeError):
        written = os.stat(os.path.realpath(path))
        for each in inputs:
            with contextlib.suppress(OSError, ValueError, TypeError):
                if os.path.samestat(written, os.stat(each)):
                    return each
    return None


def refuse_inputs(path: Any, inputs: Iterable[Any]) -> None:
    """Refuse to write over a file that was read."""
    if (read := input_at(path, inputs)) is not None:
        raise ValueError(f"{os.fsdecode(path)}: {os.fsdecode(read)!r} is an input and would be overwritten")


DRAFT_PREFIX = ".fastir-"  # what the name of a draft begins with
UNNAMED_FLAG = getattr(os, "O_TMPFILE", None)  # how a file without a name is opened, where the system has them
OPEN_FILES = "/proc/self/fd"


@contextlib.contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """A new file to write to; it replaces `path` atomically at the end of the block.

    A reader sees the old content or the new, never a part, even after a loss of power; an exception in the block leaves
    the old. If `path` exists, it must be a regular file or a link to one, and its mode is kept. No other file of the
    folder is opened, listed or removed, whatever its name. On Linux the draft has no name until it is whole, so that a
    killed process leaves none; elsewhere it leaves its own, ``.fastir-<16 digits>.tmp``.
    """
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    try:
        if os.path.exists(target) and not os.path.isfile(target):
            raise OSError(errno.EINVAL, "cannot be replaced, because it is not a regular file", path)
        mode = stat.S_IMODE(os.stat(target).st_mode) if os.path.exists(target) else None
        file, draft = new_draft(folder, mode)
        try:
            with file:
                yield file
                file.flush()
                os.fsync(file.fileno())
                if draft is None:
                    draft = name_for(file, folder, mode)
            os.replace(draft, target)
        except BaseException:
            if draft is not None:
                with contextlib.suppress(OSError):
                    os.unlink(draft)
            raise
        sync_folder(folder)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None


def new_draft(folder: str, mode: int | None) -> tuple[BinaryIO, str | None]:
    """A draft with the mode of the file that it will replace, never a wider one, and its path if it has one."""
    permissions = 0o666 if mode is None else mode & 0o600
    if UNNAMED_FLAG is not None and os.path.isdir(OPEN_FILES):
        with contextlib.suppress(OSError):  # not every file system has such files
            file = os.fdopen(os.open(folder, UNNAMED_FLAG | os.O_RDWR, permissions | 0o600), "w+b")
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            return file, None
    return named_draft(folder, permissions, mode)


def named_draft(folder: str, permissions: int, mode: int | None) -> tuple[BinaryIO, str]:
    draft = draft_path(folder)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(draft, flags, permissions), "wb")
    if mode is not None:
        os.chmod(draft, mode)
    return file, draft


def draft_path(folder: str) -> str:
    return os.path.join(folder, f"{DRAFT_PREFIX}{os.urandom(8).hex()}.tmp")


def name_for(file: BinaryIO, folder: str, mode: int | None) -> str:
    """A path for a draft that is whole and has none."""
    draft = draft_path(folder)
    try:
        os.link(f"{OPEN_FILES}/{file.fileno()}", draft, src_dir_fd=file.fileno())  # which makes it follow the link
    except OSError:  # such as in a sandbox that links no open files
        file.seek(0)
        copy, draft = named_draft(folder, 0o666 if mode is None else mode & 0o600, mode)
        with copy:
            import shutil

            shutil.copyfileobj(file, copy)
            copy.flush()
            os.fsync(copy.fileno())
    return draft


def sync_folder(folder: str) -> None:
    """Have the new name of a file written to the disk, where the system can do that."""
    if sys.platform != "win32":
        with contextlib.suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
