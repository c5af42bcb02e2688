"""Files as bytes: read and decompressed, or compressed and written atomically."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Self

from fastir.errors import FormatError
from fastir.inputs import places
from fastir.inputs.places import place_name
from fastir.inputs.source import PLACE, FileSource, Source, as_source
from fastir.rendering.text import replacing

Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]  # "-" is standard input
Watch = Callable[[int], object]  # called now and then with how much was read, 0 where that is unknown; may raise
Repairs = dict[str, tuple[int, str]]  # kind of repair -> how often it was made, and where

BOM = b"\xef\xbb\xbf"
GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
SKIPPED_FRAME = b"\x2a\x4d\x18"  # from the second byte: a frame of zstd that holds no data
MAGIC_BYTES = 4
BLOCK_BYTES = 1 << 16  # bytes that are unpacked at a time; more leave the second-level cache


class FileRecord(dict[str, Any]):
    """The fields of a file in a record of provenance, and its path while the process lives."""

    path: str | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


def describe_file(what: str, data: Any) -> dict[str, dict[str, Any]]:
    """{what: {"name": file name, "bytes": size}} of an input that is a file, else nothing; without its folder."""
    source = as_source(data)
    if not isinstance(source, Source) or source.kind != PLACE:
        return {}
    record = FileRecord(name="-" if source.data == "-" else os.path.basename(place_name(source.data).rstrip("/")))
    if isinstance(source, FileSource) and source.is_file:
        record["bytes"] = source.n_bytes
        record.path = os.path.abspath(os.fsdecode(source))
    return {what: record}


def packing_from_bytes(head: bytes) -> str | None:
    """ "gzip", "zstd" or None, from the first bytes of a file."""
    if head.startswith(GZIP):
        return "gzip"
    if head.startswith(ZSTD) or (head[1:] == SKIPPED_FRAME and head[0] >> 4 == 5):
        return "zstd"
    return None


def file_packing(path: str) -> str | None:
    """ "gzip", "zstd" or None, from the end of a file's name."""
    return {".gz": "gzip", ".zst": "zstd"}.get(os.path.splitext(path)[1].lower())


def zstd_module(path: str) -> Any:
    """Python's own zstd, or the package that older versions need."""
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
    except ImportError:
        needed = "a Python built with it" if sys.version_info >= (3, 14) else "the package: pip install backports.zstd"
        raise FormatError(f"zstd compression needs {needed}", path) from None
    return zstd


class NonBlockingReader:
    """A file that reads more than it is requested, except for a header.

    Python's gzip asks for 8 KB up to CPython 3.11. To unpack so little lets the GIL go for too short a time: a thread
    that waits for it gets it only after sys.getswitchinterval(), and two threads are as slow as one.
    """

    def __init__(self, file: Any) -> None:
        self.file = file

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

    def read(self, n: int) -> bytes:
        return self.file.read(BLOCK_BYTES if n >= io.DEFAULT_BUFFER_SIZE else n)


class ByteReader:
    """The bytes of a file, decompressed if they are gzip or zstd, without byte order mark; ``-`` is standard input."""

    def __init__(self, path: Any) -> None:
        self.place: Any = path
        self.path: str = place_name(path)
        self.repairs: Repairs = {}
        self.carried: bytes = b""
        self.damaged: tuple[type[Exception], ...] = ()  # exceptions that mean bad data
        self.is_standard: bool = isinstance(path, str) and path == "-"
        if self.is_standard and sys.stdin is None:
            raise OSError(errno.EBADF, "the stream is closed", self.path)
        self.opened: BinaryIO = sys.stdin.buffer if self.is_standard else places.open_bytes(path)
        self.file: Any = self.opened
        try:
            self.unpack()
            head = self.read(len(BOM))
        except BaseException:
            self.__exit__()
            raise
        if head == BOM:
            self.repairs["byte order mark"] = (1, f"{self.path}:1")
        else:
            self.carried = head

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self.is_standard:
            self.opened.close()

    def unpack(self) -> None:
        """Put the right decompressor, if the first bytes need one, before the file."""
        if not hasattr(self.file, "peek"):
            self.file = io.BufferedReader(self.file)
        with self.naming():
            head = self.file.peek(MAGIC_BYTES)[:MAGIC_BYTES]
        packed, expected = packing_from_bytes(head), file_packing(self.path)
        if expected and not packed and head:
            ending = os.path.splitext(self.path)[1]
            raise FormatError(f"the file is named {ending} but is not {expected} compressed", self.path)
        if packed == "gzip":
            import gzip
            import zlib

            self.damaged = (EOFError, zlib.error, gzip.BadGzipFile)
            try:
                from isal import igzip, isal_zlib
            except ImportError:
                self.file = gzip.GzipFile(fileobj=NonBlockingReader(self.file))
            else:
                damage: Any = isal_zlib.error  # its stubs say that this is no class
                self.damaged = (*self.damaged, damage)
                self.file = igzip.IGzipFile(fileobj=self.file)
        elif packed == "zstd":
            zstd = zstd_module(self.path)
            self.damaged = (EOFError, zstd.ZstdError)
            self.file = zstd.ZstdFile(self.file)

    def readinto(self, view: memoryview) -> int:
        """Fill the view up to the end of the file; returns the number of bytes."""
        used = min(len(self.carried), len(view))
        if used:
            view[:used] = self.carried[:used]
            self.carried = self.carried[used:]
        with self.naming():
            while used < len(view) and (got := self.file.readinto(view[used:])):
                used += got
        return used

    @contextlib.contextmanager
    def naming(self) -> Iterator[None]:
        """Errors of reading and unpacking with the path, which neither the system nor a decompressor knows."""
        try:
            yield
        except self.damaged as error:
            raise FormatError(f"the compressed data is damaged or truncated: {error}", self.path) from None
        except OSError as error:
            raise OSError(error.errno, error.strerror, self.path) from None

    def read(self, n: int) -> bytes:
        """The next n bytes, fewer at the end."""
        buffer = bytearray(n)
        return bytes(buffer[: self.readinto(memoryview(buffer))])

    def position(self) -> int:
        """The number of bytes that were read of the file; 0 if unknown."""
        return self.opened.tell() if self.opened.seekable() else 0

    def read_all(self, watch: Watch | None = None) -> bytes:
        """The rest of the file."""
        blocks = []
        while block := self.read(1 << 20):
            blocks.append(block)
            if watch is not None:
                watch(self.position())
        return b"".join(blocks)


@contextlib.contextmanager
def create_file(path: str) -> Iterator[Any]:
    """A file to write bytes to, which appears atomically; compressed if its name ends in .gz or .zst."""
    packing = file_packing(path)
    zstd: Any = zstd_module(path) if packing == "zstd" else None
    with replacing(path) as file:
        if packing == "gzip":
            import gzip

            packed: Any = gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=6, mtime=0)
        elif packing == "zstd":
            packed = zstd.ZstdFile(file, "wb", options={zstd.CompressionParameter.checksum_flag: 1})
        else:
            packed = contextlib.nullcontext(file)  # it is closed by its own block
        with packed as opened:
            yield opened
