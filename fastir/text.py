"""Numbers and tables as text, and the one way to write a file: shared by Results, comparisons and the command line.

Imports nothing of fastir. A number for reading has four decimals; a number for a program reads back exactly.
"""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO


def rounded(value: float, aggregate: str) -> str:
    """A value for reading: four decimals, or a whole number where the metric counts."""
    return f"{value:.0f}" if aggregate in ("sum", "count") and value == value else f"{value:.4f}"


def counted(n: int, one: str, more: str) -> str:
    """How many there are, in words that agree with the number: "1 query", "2 queries"."""
    return f"1 {one}" if n == 1 else f"{n} {more}"


def without_nan(value: float) -> float | None:
    """The value, or None for NaN, which JSON has no number for."""
    return value if value == value else None


def decimals(value: float | None) -> str:
    """A value for reading; "-" where there is none."""
    return "-" if value is None or value != value else f"{value:.4f}"


def signed(value: float) -> str:
    """A difference for reading; nothing where it is 0."""
    return "" if value == 0 else f"{value:+.4f}" if value == value else "-"


def json_text(data: object) -> str:
    """JSON in ASCII, so that any id can be written; floats read back exactly."""
    import json

    return json.dumps(data, indent=2) + "\n"


def aligned(rows: list[list[str]], left: int) -> str:
    """Columns padded to their widest cell, the first `left` of them to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(f"{cell:{'<' if column < left else '>'}{widths[column]}}" for column, cell in enumerate(row))
        for row in rows
    )
    return "".join(f"{line.rstrip()}\n" for line in lines)


def tsv_text(rows: Iterable[Sequence[str]]) -> str:
    """Rows as tab-separated lines that any csv reader takes; the csv module itself leaves a lone \\r unquoted."""
    return "".join("\t".join(map(tsv_field, row)) + "\n" for row in rows)


def tsv_field(text: str) -> str:
    """A cell, in quotation marks where a csv reader needs them."""
    if any(mark in text for mark in '\t"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


@contextlib.contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """A new file to write to, which takes the place of `path` in one step at the end of the block.

    A reader sees the old content or the new, never a part; an exception in the block leaves the old. If `path` exists,
    it must be a regular file or a link to one.
    """
    import os
    import threading

    target = os.path.realpath(path)
    draft = f"{target}.{os.getpid()}-{threading.get_ident()}.tmp"
    try:
        if os.path.exists(target) and not os.path.isfile(target):
            raise OSError(errno.EINVAL, "cannot be replaced, because it is not a regular file", path)
        with open(draft, "xb") as file:
            yield file
        os.replace(draft, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, path) from None
        raise
