"""The metadata of a run: `ir_metadata` in comments at the head of a TREC file (Breuer and others, 2022).

    # ir_metadata.start
    # tag: bm25-tuned
    # platform:
    #   software: ...
    # ir_metadata.end
    301 Q0 ...

The lines between are YAML and are kept unchanged; fields of the outermost level are read, too, if each is one line.
"""

from __future__ import annotations

import re
from typing import Any

from fastir.errors import FormatError
from fastir.inputs import places
from fastir.inputs.files import BOM, MAGIC_BYTES, ByteReader, packing_from_bytes
from fastir.inputs.source import as_source

START, END = "ir_metadata.start", "ir_metadata.end"
BLOCK_BYTES = 1 << 16  # bytes that are read at a time
MAX_COMMENT_BYTES = 1 << 20  # bytes of comments that are looked through
FLAT_FIELD = r"(\w[^:#]*):[ \t]+([^\s\[{|>&*!%@`#-].*|-\d.*)"  # a key and a value that is a plain word or quoted


def ir_metadata(place: Any) -> dict[str, Any] | None:
    """The metadata of a local file: its "lines", and {key: text} of the "fields" that have a value of one line.

    None if the file does not begin with comments that hold any.
    """
    if not places.on_disk(place):
        return None
    try:
        head = as_source(place).head
        if not head.removeprefix(BOM).startswith(b"#") and packing_from_bytes(head[:MAGIC_BYTES]) is None:
            return None
        with ByteReader(place) as source:
            lines = head_comments(source)
    except (FormatError, OSError):
        return None  # whoever reads the run, says it
    return metadata_lines(lines)


def head_comments(source: ByteReader) -> list[str]:
    """The comments at the head of a file, without their sign."""
    text = b""
    while len(text) < MAX_COMMENT_BYTES and (block := source.read(BLOCK_BYTES)):
        text += block
        if any(line and line[:1] != b"#" for line in map(bytes.rstrip, text.split(b"\n")[:-1])):
            break
    comments = []
    for line in text.decode("utf-8", "replace").split("\n"):
        if line.strip() and not line.startswith("#"):
            break
        if line.strip():
            comments.append(line.rstrip()[1:])
    return comments


def metadata_lines(lines: list[str]) -> dict[str, Any] | None:
    """The lines from the start of the metadata to their end, and their fields."""
    words = [line.strip() for line in lines]
    if START not in words:
        return None
    first = words.index(START) + 1
    last = words.index(END, first) if END in words[first:] else len(words)
    indent = lines[first - 1].partition(START)[0]
    kept = [line.removeprefix(indent) for line in lines[first:last]]
    matches = filter(None, (re.fullmatch(FLAT_FIELD, line) for line in kept))
    return {"lines": kept, "fields": {field[1].strip(): unquote(field[2].strip()) for field in matches}}


def unquote(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text
