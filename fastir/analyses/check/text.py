"""A file as lines of bytes, whatever its encoding: what is not UTF-8 with LF is named, and read all the same."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import Any

from fastir.analyses.check.findings import Findings
from fastir.errors import FormatError
from fastir.inputs.files import ByteReader, Watch
from fastir.inputs.trec import MAX_LINE_BYTES

BLOCK = 1 << 20  # bytes that are read at a time
UTF_16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}  # by the mark at the beginning


def read_lines(place: Any, findings: Findings, watch: Watch | None = None) -> Iterator[bytes]:
    """The lines of a file without LF; what is wrong with the file as a whole goes to the findings.

    Raises
    ------
    OSError, FormatError
        It cannot be opened, or not unpacked.
    """
    rest = b""
    end = b"\n"
    decoder: codecs.IncrementalDecoder | None = None
    with ByteReader(place) as source:
        if "byte order mark" in source.repairs:
            findings.add("byte order mark", "the file begins with a byte order mark", 1)
        for number, block in enumerate(read_blocks(source, findings, watch)):
            text = block
            if number == 0 and (encoding := wide_encoding(block)):
                findings.add("UTF-16", "the file is UTF-16; expected UTF-8", 1)
                decoder = codecs.getincrementaldecoder(encoding)("replace")
            if decoder is not None:
                text = decoder.decode(block).removeprefix("\ufeff").encode("utf-8", "surrogatepass")
            if number == 0 and b"\n" not in text and b"\r" in text.rstrip(b"\r"):
                findings.add("CR line ends", "lines end in a carriage return alone; expected LF or CRLF", 1)
                end = b"\r"
            *whole, rest = (rest + text).split(end)
            yield from whole
            if len(rest) > MAX_LINE_BYTES:
                findings.add("long line", f"a line has more than {MAX_LINE_BYTES >> 20} MiB; what follows is not read")
                return
    if rest and "damaged file" not in findings.numbers:
        yield rest


def read_blocks(source: ByteReader, findings: Findings, watch: Watch | None) -> Iterator[bytes]:
    """The bytes of a file up to its end, or to where compressed data are damaged."""
    head = source.carried
    while True:
        if watch is not None:
            watch(source.position())
        try:
            with source.naming():
                block = source.file.read1(BLOCK)  # which returns what comes before the damage
        except FormatError as error:
            findings.add("damaged file", str(error.args[0]))
            block = b""
        if not head + block:
            return
        yield head + block
        head = b""


def wide_encoding(head: bytes) -> str | None:
    """The name of the UTF-16 in which a file begins, with a mark or with an ASCII character."""
    if head[:2] in UTF_16:
        return UTF_16[head[:2]]
    if len(head) > 3 and head[1] == head[3] == 0 and head[0] and head[2]:
        return "utf-16-le"
    return "utf-16-be" if len(head) > 3 and head[0] == head[2] == 0 and head[1] and head[3] else None
